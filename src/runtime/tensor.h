// A tensor while a method runs: dtype, current sizes, memory order, and where its elements lie.
//
// The memory order is the program's dim_order, which never changes; strides follow from it and the
// sizes. A Tensor does not own its memory. Invariant: nbytes() <= capacity().
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/dtype.h"
#include "base/result.h"
#include "program/program.h"

namespace pteron {

class Tensor {
 public:
  Tensor() = default;

  // Takes dtype, bounds and memory order from a decoded definition. The data is unset.
  explicit Tensor(const TensorDef& def);

  DType dtype() const { return dtype_; }
  int rank() const { return rank_; }
  std::span<const int64_t> sizes() const { return {sizes_.data(), static_cast<size_t>(rank_)}; }
  int64_t size(int dim) const { return sizes_[static_cast<size_t>(dim)]; }
  // In elements, for the current sizes.
  std::span<const int64_t> strides() const { return {strides_.data(), static_cast<size_t>(rank_)}; }
  std::span<const uint8_t> dim_order() const { return {order_.data(), static_cast<size_t>(rank_)}; }
  // Dimension order is 0, 1, 2, ...: the elements lie in row-major order.
  bool is_row_major() const { return row_major_; }
  bool is_dynamic() const { return dynamism_ == Dynamism::Bounded; }
  // The sizes of the definition: what the tensor has if static, the upper bounds if dynamic.
  std::span<const int64_t> bounds() const { return {bounds_.data(), static_cast<size_t>(rank_)}; }

  int64_t numel() const { return numel_; }
  size_t nbytes() const { return static_cast<size_t>(numel_) * dtype_size(dtype_); }
  size_t capacity() const { return capacity_; }  // Bytes at the bounds.

  // Null if no memory is bound. Never null in a kernel's arguments, but for an empty tensor.
  void* raw() const { return data_; }
  template <typename T>
  T* data() const {
    return static_cast<T*>(data_);
  }
  void set_raw(void* data) { data_ = data; }

  // Changes the sizes. The rank is fixed; a static tensor takes only the sizes it has; a dynamic
  // one takes any whose elements fit its capacity. Fails with InvalidArgument.
  Result<void> resize(std::span<const int64_t> sizes);
  // Back to the sizes of the definition.
  void restore_bounds();

  // Whether the definitions agree: dtype, memory order, bounds, and whether they may be undercut.
  bool is_like(const Tensor& other) const;

  // "float32 [1, 3, 224, 224]"; with "<=" before each size of a dynamic tensor's bounds if
  // `bounds`.
  std::string describe(bool bounds = false) const;

 private:
  void compute_strides();

  void* data_ = nullptr;
  int64_t numel_ = 0;
  size_t capacity_ = 0;
  int rank_ = 0;
  DType dtype_ = DType::Float32;
  Dynamism dynamism_ = Dynamism::Static;
  bool row_major_ = true;
  std::array<uint8_t, kMaxRank> order_{};
  std::array<int64_t, kMaxRank> sizes_{};
  std::array<int64_t, kMaxRank> strides_{};
  std::array<int64_t, kMaxRank> bounds_{};
};

// "[1, 3, 224, 224]"
std::string describe_shape(std::span<const int64_t> shape);

}  // namespace pteron
