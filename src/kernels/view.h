// Parts of a tensor's elements seen as other arrays, and copies between them.
#pragma once

#include "kernels/element.h"

namespace pteron {

// Strides in elements, of any sign.
struct View {
  int64_t offset = 0;
  size_t rank = 0;
  std::array<int64_t, kMaxRank> sizes{};
  std::array<int64_t, kMaxRank> strides{};

  explicit View(const Tensor& tensor) : rank(static_cast<size_t>(tensor.rank())) {
    std::copy(tensor.sizes().begin(), tensor.sizes().end(), sizes.begin());
    std::copy(tensor.strides().begin(), tensor.strides().end(), strides.begin());
  }
  std::span<const int64_t> shape() const { return {sizes.data(), rank}; }
};

// Copies a view of `in` to a view of `out`, of the same shape and dtype. None of them may be empty.
// With a context, its threads share the work.
void copy_between(KernelContext* context, const Tensor& in, const View& from, Tensor& out,
                  const View& to);

// Fails unless the dtypes agree.
Result<void> require_same_dtype(const Tensor& in, const Tensor& out);

// `out` takes the shape of a view of `in`, and its elements.
Result<void> copy_view(KernelContext& context, const Tensor& in, const View& view, Tensor& out);

// Gives `out` the shape `sizes` of a view of `in`; one size may be -1, for what is left.
Result<void> resize_to_view(const Tensor& in, const Ints& sizes, Tensor& out);

// The same elements in the same logical order, converted where dtypes differ.
Result<void> convert_copy(KernelContext& context, const Tensor& in, Tensor& out);

// Sets all elements.
Result<void> fill(KernelContext& context, Tensor& out, const Scalar& value);

}  // namespace pteron
