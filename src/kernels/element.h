// Elements as numbers: what dtype an operator computes in, how elements are read and written, and
// walks over broadcast arrays of any memory order.
//
// Operators compute in one of three types, whatever the tensors' dtypes: int64_t for integers and
// bool, float for float16, bfloat16 and float32, double for float64. Runs of elements are converted
// to and from it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "runtime/kernel.h"

namespace pteron {

inline Error kernel_error(std::string message) { return {Code::Malformed, std::move(message)}; }

bool is_float(DType dtype);     // float16, bfloat16, float32, float64
bool is_integral(DType dtype);  // Integers and bool.
// Whether kernels know the dtype at all (the packed, quantized and float8 ones they do not).
bool is_number(DType dtype);

// PyTorch's promotion of two dtypes of equal standing.
DType promote(DType a, DType b);
// PyTorch's result type of two tensors: one with dimensions outranks one without, within a
// category.
DType result_type(const Tensor& a, const Tensor& b);
// The same for any number of tensors.
DType result_type(std::span<const Tensor* const> tensors);
// The same for a tensor and a number.
DType result_type(const Tensor& a, const Scalar& b);

// Reads n elements, `stride` elements apart, as C (int64_t, float or double).
template <typename C>
void load(DType dtype, const void* data, int64_t offset, int64_t stride, int64_t n, C* out);
// Writes them: integers wrap, floats to integers saturate, anything but 0 is true.
template <typename C>
void store(DType dtype, void* data, int64_t offset, int64_t stride, int64_t n, const C* in);

// Rounds or wraps n numbers to what `dtype` can hold, as PyTorch does with an operand of another
// dtype before it computes.
template <typename C>
void convert_operand(DType dtype, int64_t n, C* values);
// The same for a number.
template <typename C>
C scalar_operand(const Scalar& scalar, DType dtype);

// Calls use(C()) with the type to compute in for `dtype`. Fails if kernels do not know the dtype.
template <typename Use>
Result<void> with_compute_type(DType dtype, Use&& use) {
  if (!is_number(dtype))
    return kernel_error("dtype " + std::string(dtype_name(dtype)) + " is not one to compute with");
  if (dtype == DType::Float64) return use(double());
  if (is_float(dtype)) return use(float());
  return use(int64_t());
}

template <typename C>
bool is_nan(C x) {
  if constexpr (std::is_floating_point_v<C>)
    return std::isnan(x);
  else
    return false;
}

constexpr int kMaxOperands = 4;

// Rows of an array with up to four operands: sizes, and each operand's strides in elements (0 where
// it is broadcast). Dimensions that are one in all operands are joined.
class Walk {
 public:
  explicit Walk(std::span<const int64_t> sizes) : rank_(sizes.size()) {
    std::copy(sizes.begin(), sizes.end(), sizes_.begin());
  }
  // Adds an operand of these sizes and strides, aligned to the last dimension. False if it does not
  // broadcast.
  bool add(std::span<const int64_t> sizes, std::span<const int64_t> strides);
  bool add(const Tensor& tensor) { return add(tensor.sizes(), tensor.strides()); }

  // Calls row(offsets, strides, n) for each innermost run: offsets and strides a number an operand.
  template <typename Row>
  void run(Row&& row);

 private:
  void join();
  size_t rank_;
  int operands_ = 0;
  std::array<int64_t, kMaxRank + 1> sizes_{};
  std::array<std::array<int64_t, kMaxRank + 1>, kMaxOperands> strides_{};
};

template <typename Row>
void Walk::run(Row&& row) {
  for (size_t d = 0; d < rank_; ++d) {
    if (sizes_[d] == 0) return;
  }
  join();
  std::array<int64_t, kMaxOperands> offsets{};
  std::array<int64_t, kMaxOperands> inner{};
  for (int k = 0; k < operands_; ++k)
    inner[static_cast<size_t>(k)] = strides_[static_cast<size_t>(k)][rank_ - 1];
  std::array<int64_t, kMaxRank + 1> index{};
  while (true) {
    row(offsets, inner, sizes_[rank_ - 1]);
    size_t d = rank_ - 1;
    while (true) {
      if (d == 0) return;
      --d;
      for (int k = 0; k < operands_; ++k)
        offsets[static_cast<size_t>(k)] += strides_[static_cast<size_t>(k)][d];
      if (++index[d] < sizes_[d]) break;
      for (int k = 0; k < operands_; ++k) {
        offsets[static_cast<size_t>(k)] -= strides_[static_cast<size_t>(k)][d] * sizes_[d];
      }
      index[d] = 0;
    }
  }
}

// The shape that `shapes` broadcast to; fails if they do not.
struct Shape {
  std::array<int64_t, kMaxRank> sizes{};
  size_t rank = 0;
  std::span<const int64_t> span() const { return {sizes.data(), rank}; }
};
Result<Shape> broadcast_shapes(std::span<const Tensor* const> tensors);

// dim counted from the end if negative; fails if it is out of range. A 0-d tensor has one dimension
// here.
Result<int> wrap_dim(int64_t dim, int rank);

// Applies op(C) -> C to each element of `in`, computing in `compute`, into `out` (resized to in's
// shape).
template <typename Op>
Result<void> map_unary(const Tensor& in, Tensor& out, DType compute, Op&& op) {
  if (!is_number(in.dtype()) || !is_number(out.dtype())) return kernel_error("dtype not supported");
  PTERON_TRY(out.resize(in.sizes()));
  return with_compute_type(compute, [&](auto type) -> Result<void> {
    using C = decltype(type);
    Walk walk(out.sizes());
    if (!walk.add(out) || !walk.add(in)) return kernel_error("shapes do not fit");
    walk.run([&](const auto& at, const auto& stride, int64_t n) {
      constexpr int64_t kRun = 512;
      C buffer[kRun];
      for (int64_t i = 0; i < n; i += kRun) {
        const int64_t m = std::min(kRun, n - i);
        load(in.dtype(), in.raw(), at[1] + i * stride[1], stride[1], m, buffer);
        for (int64_t k = 0; k < m; ++k) buffer[k] = static_cast<C>(op(buffer[k]));
        store(out.dtype(), out.raw(), at[0] + i * stride[0], stride[0], m, buffer);
      }
    });
    return {};
  });
}

// The same for two operands, which broadcast. keeps_scalars: an operand without dimensions is not
// rounded to float16 or bfloat16 first, as PyTorch's arithmetic does not.
template <typename Op>
Result<void> map_binary(const Tensor& a, const Tensor& b, Tensor& out, DType compute, Op&& op,
                        bool keeps_scalars = false) {
  if (!is_number(a.dtype()) || !is_number(b.dtype()) || !is_number(out.dtype()))
    return kernel_error("dtype not supported");
  const Tensor* operands[] = {&a, &b};
  PTERON_ASSIGN(const Shape shape, broadcast_shapes(operands));
  PTERON_TRY(out.resize(shape.span()));
  const auto converts = [=](const Tensor& operand) {
    return operand.dtype() != compute &&
           !(keeps_scalars && operand.rank() == 0 && is_float(compute));
  };
  return with_compute_type(compute, [&](auto type) -> Result<void> {
    using C = decltype(type);
    Walk walk(out.sizes());
    if (!walk.add(out) || !walk.add(a) || !walk.add(b))
      return kernel_error("shapes do not broadcast");
    walk.run([&](const auto& at, const auto& stride, int64_t n) {
      constexpr int64_t kRun = 512;
      C x[kRun];
      C y[kRun];
      for (int64_t i = 0; i < n; i += kRun) {
        const int64_t m = std::min(kRun, n - i);
        load(a.dtype(), a.raw(), at[1] + i * stride[1], stride[1], m, x);
        load(b.dtype(), b.raw(), at[2] + i * stride[2], stride[2], m, y);
        if (converts(a)) convert_operand(compute, m, x);
        if (converts(b)) convert_operand(compute, m, y);
        for (int64_t k = 0; k < m; ++k) x[k] = static_cast<C>(op(x[k], y[k]));
        store(out.dtype(), out.raw(), at[0] + i * stride[0], stride[0], m, x);
      }
    });
    return {};
  });
}

// Calls run(position, offset, stride, n) for runs of a tensor's elements in logical order, so that
// together they cover row-major positions 0, 1, 2, ...
template <typename Run>
void walk_in_order(const Tensor& tensor, Run&& run) {
  if (tensor.is_row_major()) {
    run(int64_t{0}, int64_t{0}, int64_t{1}, tensor.numel());
    return;
  }
  // A second operand in row-major order keeps dimensions from being joined in another one.
  std::array<int64_t, kMaxRank> dense{};
  int64_t stride = 1;
  for (int d = tensor.rank() - 1; d >= 0; --d) {
    dense[static_cast<size_t>(d)] = stride;
    stride *= tensor.size(d);
  }
  Walk walk(tensor.sizes());
  walk.add(tensor);
  walk.add(tensor.sizes(), {dense.data(), static_cast<size_t>(tensor.rank())});
  int64_t done = 0;
  walk.run([&](const auto& at, const auto& strides, int64_t n) {
    run(done, at[0], strides[0], n);
    done += n;
  });
}

// Whether C is how elements of the dtype are stored.
template <typename C>
constexpr bool is_stored_as(DType dtype) {
  if constexpr (std::is_same_v<C, float>)
    return dtype == DType::Float32;
  else if constexpr (std::is_same_v<C, double>)
    return dtype == DType::Float64;
  else
    return dtype == DType::Int64;
}

// A dense row-major copy of a tensor as C, in scratch memory.
template <typename C>
C* load_all(KernelContext& context, const Tensor& tensor) {
  C* out = context.scratch_array<C>(static_cast<size_t>(tensor.numel()));
  walk_in_order(tensor, [&](int64_t position, int64_t offset, int64_t stride, int64_t n) {
    load(tensor.dtype(), tensor.raw(), offset, stride, n, out + position);
  });
  return out;
}

// Writes a dense row-major array into a tensor of any memory order.
template <typename C>
void store_all(const C* in, Tensor& tensor) {
  walk_in_order(tensor, [&](int64_t position, int64_t offset, int64_t stride, int64_t n) {
    store(tensor.dtype(), tensor.raw(), offset, stride, n, in + position);
  });
}

// A tensor's elements as a dense row-major array of C: its own where they are that, else a copy in
// scratch memory.
template <typename C>
const C* elements(KernelContext& context, const Tensor& tensor) {
  if (is_stored_as<C>(tensor.dtype()) && tensor.is_row_major())
    return static_cast<const C*>(tensor.raw());
  return load_all<C>(context, tensor);
}

// The same for an output, which is written when all of it is there: store() at the end.
template <typename C>
class Results {
 public:
  Results(KernelContext& context, Tensor& tensor)
      : tensor_(tensor), own_(is_stored_as<C>(tensor.dtype()) && tensor.is_row_major()) {
    data_ = own_ ? static_cast<C*>(tensor.raw())
                 : context.scratch_array<C>(static_cast<size_t>(tensor.numel()));
  }
  C* data() const { return data_; }
  void store() {
    if (!own_) store_all(data_, tensor_);
  }

 private:
  Tensor& tensor_;
  bool own_;
  C* data_;
};

}  // namespace pteron
