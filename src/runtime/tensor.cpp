#include "runtime/tensor.h"

#include <algorithm>

#include "base/checked.h"

namespace pteron {

Tensor::Tensor(const TensorDef& def) : dtype_(def.dtype), dynamism_(def.dynamism) {
  assert(def.sizes.size() <= kMaxRank && def.dim_order.size() == def.sizes.size());
  rank_ = static_cast<int>(def.sizes.size());
  std::copy(def.sizes.begin(), def.sizes.end(), bounds_.begin());
  std::copy(def.dim_order.begin(), def.dim_order.end(), order_.begin());
  sizes_ = bounds_;
  row_major_ = std::is_sorted(def.dim_order.begin(), def.dim_order.end());
  compute_strides();
  capacity_ = nbytes();
}

void Tensor::compute_strides() {
  // Dimensions of size 0 count as 1 here, so that strides stay meaningful for empty tensors.
  int64_t stride = 1;
  for (int i = rank_ - 1; i >= 0; --i) {
    const size_t dim = order_[static_cast<size_t>(i)];
    strides_[dim] = stride;
    stride *= std::max<int64_t>(sizes_[dim], 1);
  }
  numel_ = 1;
  for (int i = 0; i < rank_; ++i) numel_ *= sizes_[static_cast<size_t>(i)];
}

Result<void> Tensor::resize(std::span<const int64_t> sizes) {
  if (std::equal(sizes.begin(), sizes.end(), sizes_.begin(), sizes_.begin() + rank_)) return {};
  if (sizes.size() != static_cast<size_t>(rank_)) {
    return Error{Code::InvalidArgument, "shape " + describe_shape(sizes) + " has rank " +
                                            std::to_string(sizes.size()) + ", but " +
                                            describe(true) + " is wanted"};
  }
  if (dynamism_ == Dynamism::Static) {
    return Error{Code::InvalidArgument,
                 "shape " + describe_shape(sizes) + ", but the program fixes " + describe()};
  }
  // ExecuTorch bounds the number of elements, not each dimension. The product below counts a size
  // of 0 as 1, as the strides do, so that those cannot overflow either.
  const uint64_t limit = std::max<uint64_t>(capacity_ / dtype_size(dtype_), 1);
  uint64_t product = 1;
  for (const int64_t size : sizes) {
    if (size < 0 ||
        !checked_mul(product, static_cast<uint64_t>(std::max<int64_t>(size, 1)), product) ||
        product > limit) {
      return Error{Code::InvalidArgument, "shape " + describe_shape(sizes) +
                                              " does not fit the program's upper bounds, " +
                                              describe(true)};
    }
  }
  // An empty tensor's capacity is 0, but the limit above is at least 1.
  const bool empty = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
  if (!empty && capacity_ == 0) {
    return Error{Code::InvalidArgument, "shape " + describe_shape(sizes) +
                                            " does not fit the program's upper bounds, " +
                                            describe(true)};
  }
  std::copy(sizes.begin(), sizes.end(), sizes_.begin());
  compute_strides();
  return {};
}

void Tensor::restore_bounds() {
  if (std::equal(sizes_.begin(), sizes_.begin() + rank_, bounds_.begin())) return;
  sizes_ = bounds_;
  compute_strides();
}

bool Tensor::is_like(const Tensor& other) const {
  return dtype_ == other.dtype_ && dynamism_ == other.dynamism_ &&
         std::ranges::equal(dim_order(), other.dim_order()) &&
         std::ranges::equal(bounds(), other.bounds());
}

std::string Tensor::describe(bool bounds) const {
  std::string text(dtype_name(dtype_));
  text += " [";
  const auto shown = bounds ? this->bounds() : sizes();
  for (size_t i = 0; i < shown.size(); ++i) {
    if (i > 0) text += ", ";
    // A size that may vary is exported with a bound over 1.
    if (bounds && is_dynamic() && shown[i] > 1) text += "<=";
    text += std::to_string(shown[i]);
  }
  return text + "]";
}

std::string describe_shape(std::span<const int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

}  // namespace pteron
