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

// What a kernel refuses is the caller's affair: shapes, dtypes and numbers come with the inputs.
// What only a file can get wrong, the number and kinds of arguments, is refused before a kernel is
// called.
inline Error kernel_error(std::string message) {
  return {Code::InvalidArgument, std::move(message)};
}

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

// a + b; integers wrap.
template <typename C>
C wrapping_add(C a, C b) {
  if constexpr (std::is_integral_v<C>) {
    using U = std::make_unsigned_t<C>;
    return static_cast<C>(static_cast<U>(a) + static_cast<U>(b));
  } else {
    return a + b;
  }
}

// Calls use(C()) with the type to compute in for `dtype`. Fails if kernels do not know the dtype.
template <typename Use>
Result<void> with_compute_type(DType dtype, Use&& use) {
  if (!is_number(dtype))
    return kernel_error("dtype " + std::string(dtype_name(dtype)) + " is not one to compute with");
  if (dtype == DType::Float64) return use(double());
  if (is_float(dtype)) return use(float());
  return use(int64_t());
}

// The same for a dtype of floats, which the caller has checked.
template <typename Use>
auto with_float_type(DType dtype, Use&& use) {
  return dtype == DType::Float64 ? use(double()) : use(float());
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
  void run(Row&& row) {
    if (prepare()) run_rows(0, rows_, row);
  }
  // The same, shared among the context's threads where it is worth that (and there is a context):
  // runs may be cut, and come in any order.
  template <typename Row>
  void share(KernelContext* context, Row&& row);

 private:
  bool prepare();  // False if there is nothing to visit.
  void join();
  template <typename Row>
  void run_rows(int64_t begin, int64_t end, Row&& row) const;

  size_t rank_;
  int operands_ = 0;
  int64_t rows_ = 0;
  std::array<int64_t, kMaxRank + 1> sizes_{};
  std::array<std::array<int64_t, kMaxRank + 1>, kMaxOperands> strides_{};
};

template <typename Row>
void Walk::run_rows(int64_t begin, int64_t end, Row&& row) const {
  std::array<int64_t, kMaxOperands> offsets{};
  std::array<int64_t, kMaxOperands> inner{};
  const auto operands = static_cast<size_t>(operands_);
  for (size_t k = 0; k < operands; ++k) inner[k] = strides_[k][rank_ - 1];
  std::array<int64_t, kMaxRank + 1> index{};
  int64_t rest = begin;
  for (size_t d = rank_ - 1; d-- > 0;) {
    index[d] = rest % sizes_[d];
    rest /= sizes_[d];
    for (size_t k = 0; k < operands; ++k) offsets[k] += strides_[k][d] * index[d];
  }
  for (int64_t at = begin; at < end; ++at) {
    row(offsets, inner, sizes_[rank_ - 1]);
    for (size_t d = rank_ - 1; d-- > 0;) {
      for (size_t k = 0; k < operands; ++k) offsets[k] += strides_[k][d];
      if (++index[d] < sizes_[d]) break;
      for (size_t k = 0; k < operands; ++k) offsets[k] -= strides_[k][d] * sizes_[d];
      index[d] = 0;
    }
  }
}

template <typename Row>
void Walk::share(KernelContext* context, Row&& row) {
  if (!prepare()) return;
  constexpr int64_t kGrain = 16384;  // Elements that are worth a thread.
  const int64_t n = sizes_[rank_ - 1];
  if (context == nullptr || n <= kGrain / rows_) {
    run_rows(0, rows_, row);
  } else if (rows_ > 1) {
    context->parallel(static_cast<size_t>(rows_),
                      static_cast<size_t>(std::max<int64_t>(1, kGrain / n)),
                      [&](size_t begin, size_t end) {
                        run_rows(static_cast<int64_t>(begin), static_cast<int64_t>(end), row);
                      });
  } else {
    std::array<int64_t, kMaxOperands> inner{};
    for (size_t k = 0; k < static_cast<size_t>(operands_); ++k) inner[k] = strides_[k][rank_ - 1];
    context->parallel(static_cast<size_t>(n), static_cast<size_t>(kGrain),
                      [&](size_t begin, size_t end) {
                        std::array<int64_t, kMaxOperands> offsets{};
                        for (size_t k = 0; k < static_cast<size_t>(operands_); ++k)
                          offsets[k] = inner[k] * static_cast<int64_t>(begin);
                        row(offsets, inner, static_cast<int64_t>(end - begin));
                      });
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
// The same for argument i, an int.
Result<int> read_dim(const Args& args, size_t i, int rank);

// Fails unless kernels know the dtypes of these arguments, each a tensor or none.
Result<void> require_numbers(const Args& args, std::initializer_list<size_t> tensors);

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

// Calls run(x, y, n), which computes n elements y from x, both dense arrays of C, for all of `in`,
// computing in `compute`, into `out` (resized to in's shape). Shared among threads.
template <typename Run>
Result<void> map_runs(KernelContext* context, const Tensor& in, Tensor& out, DType compute,
                      Run&& run) {
  if (!is_number(in.dtype()) || !is_number(out.dtype())) return kernel_error("dtype not supported");
  PTERON_TRY(out.resize(in.sizes()));
  return with_compute_type(compute, [&](auto type) -> Result<void> {
    using C = decltype(type);
    Walk walk(out.sizes());
    if (!walk.add(out) || !walk.add(in)) return kernel_error("shapes do not fit");
    walk.share(context, [&](const auto& at, const auto& stride, int64_t n) {
      // Where elements lie as they are computed with, they are used where they lie.
      const bool reads = is_stored_as<C>(in.dtype()) && stride[1] == 1;
      const bool writes = is_stored_as<C>(out.dtype()) && stride[0] == 1;
      constexpr int64_t kRun = 512;
      const int64_t step = reads && writes ? n : kRun;
      C x[kRun];
      C y[kRun];
      for (int64_t i = 0; i < n; i += step) {
        const int64_t m = std::min(step, n - i);
        const C* from = x;
        C* to = writes ? static_cast<C*>(out.raw()) + at[0] + i : y;
        if (reads)
          from = static_cast<const C*>(in.raw()) + at[1] + i;
        else
          load(in.dtype(), in.raw(), at[1] + i * stride[1], stride[1], m, x);
        run(from, to, m);
        if (!writes) store(out.dtype(), out.raw(), at[0] + i * stride[0], stride[0], m, y);
      }
    });
    return {};
  });
}

// The same with op(C) -> C for each element.
template <typename Op>
Result<void> map_unary(KernelContext* context, const Tensor& in, Tensor& out, DType compute,
                       Op&& op) {
  return map_runs(context, in, out, compute, [&op](const auto* x, auto* y, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
      y[i] = static_cast<std::remove_reference_t<decltype(*y)>>(op(x[i]));
  });
}

// The same for two operands, which broadcast: row(p, p_step, q, q_step, r, n) computes n elements r
// from p and q, each a dense array (step 1) or one element (step 0). keeps_scalars: an operand
// without dimensions is not rounded to float16 or bfloat16 first, as PyTorch's arithmetic does not.
template <typename Row>
Result<void> map_binary_runs(KernelContext* context, const Tensor& a, const Tensor& b, Tensor& out,
                             DType compute, Row&& row, bool keeps_scalars = false) {
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
    const bool as_stored = is_stored_as<C>(compute) && a.dtype() == compute &&
                           b.dtype() == compute && out.dtype() == compute;
    walk.share(context, [&](const auto& at, const auto& stride, int64_t n) {
      const auto is_step = [](int64_t s) { return s == 0 || s == 1; };
      if (as_stored && stride[0] == 1 && is_step(stride[1]) && is_step(stride[2])) {
        row(static_cast<const C*>(a.raw()) + at[1], stride[1],
            static_cast<const C*>(b.raw()) + at[2], stride[2], static_cast<C*>(out.raw()) + at[0],
            n);
        return;
      }
      constexpr int64_t kRun = 512;
      C x[kRun];
      C y[kRun];
      for (int64_t i = 0; i < n; i += kRun) {
        const int64_t m = std::min(kRun, n - i);
        load(a.dtype(), a.raw(), at[1] + i * stride[1], stride[1], m, x);
        load(b.dtype(), b.raw(), at[2] + i * stride[2], stride[2], m, y);
        if (converts(a)) convert_operand(compute, m, x);
        if (converts(b)) convert_operand(compute, m, y);
        row(static_cast<const C*>(x), int64_t{1}, static_cast<const C*>(y), int64_t{1}, x, m);
        store(out.dtype(), out.raw(), at[0] + i * stride[0], stride[0], m, x);
      }
    });
    return {};
  });
}

// r[i] = op(p[i * p_step], q[i * q_step]), with steps of 0 and 1.
template <typename C, typename Op>
void apply_row(const C* p, int64_t p_step, const C* q, int64_t q_step, C* r, int64_t n, Op&& op) {
  if (p_step == 1 && q_step == 1) {
    for (int64_t i = 0; i < n; ++i) r[i] = static_cast<C>(op(p[i], q[i]));
  } else if (p_step == 1) {
    const C right = *q;
    for (int64_t i = 0; i < n; ++i) r[i] = static_cast<C>(op(p[i], right));
  } else {
    const C left = *p;
    for (int64_t i = 0; i < n; ++i) r[i] = static_cast<C>(op(left, q[i * q_step]));
  }
}

// The same with op(C, C) -> C for each pair.
template <typename Op>
Result<void> map_binary(KernelContext* context, const Tensor& a, const Tensor& b, Tensor& out,
                        DType compute, Op&& op, bool keeps_scalars = false) {
  return map_binary_runs(
      context, a, b, out, compute,
      [&op](const auto* p, int64_t p_step, const auto* q, int64_t q_step, auto* r, int64_t n) {
        apply_row(p, p_step, q, q_step, r, n, op);
      },
      keeps_scalars);
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
