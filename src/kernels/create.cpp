// Operators that make tensors from numbers.
#include <cmath>

#include "kernels/element.h"
#include "kernels/tables.h"

namespace pteron {
namespace {

using Context = KernelContext;

Result<void> fill(Tensor& out, const Scalar& value) {
  if (!is_number(out.dtype())) return kernel_error("dtype not supported");
  // Memory order does not matter: all elements are alike.
  constexpr int64_t kRun = 512;
  const bool real = is_float(out.dtype());
  double reals[kRun];
  int64_t integers[kRun];
  std::fill_n(reals, kRun, value.real);
  std::fill_n(integers, kRun, value.to<int64_t>());
  for (int64_t i = 0; i < out.numel(); i += kRun) {
    const int64_t n = std::min(kRun, out.numel() - i);
    if (real || (out.dtype() == DType::Bool && value.kind == ValueKind::Double))
      store(out.dtype(), out.raw(), i, 1, n, reals);
    else
      store(out.dtype(), out.raw(), i, 1, n, integers);
  }
  return {};
}

Result<void> full_(Context&, const Args& args, const Kernel&) {
  PTERON_TRY(args.tensor(2).resize(args.ints(0).span()));
  return fill(args.tensor(2), args.scalar(1));
}
Result<void> full_like(Context&, const Args& args, const Kernel&) {
  PTERON_TRY(args.tensor(3).resize(args.tensor(0).sizes()));
  return fill(args.tensor(3), args.scalar(1));
}
Result<void> scalar_tensor(Context&, const Args& args, const Kernel&) {
  PTERON_TRY(args.tensor(1).resize({}));
  return fill(args.tensor(1), args.scalar(0));
}

Result<void> arange_between(Tensor& out, const Scalar& start, const Scalar& end,
                            const Scalar& step) {
  if (!is_number(out.dtype())) return kernel_error("dtype not supported");
  if (step.real == 0 || !std::isfinite(step.real) || !std::isfinite(start.real) ||
      !std::isfinite(end.real)) {
    return kernel_error("arange from " + std::to_string(start.real) + " to " +
                        std::to_string(end.real) + " by " + std::to_string(step.real));
  }
  const double count = std::max(0.0, std::ceil((end.real - start.real) / step.real));
  if (count > static_cast<double>(out.capacity()))
    return kernel_error("arange makes " + std::to_string(count) + " elements, more than " +
                        out.describe(true));
  const int64_t size[] = {static_cast<int64_t>(count)};
  PTERON_TRY(out.resize(size));
  for (int64_t i = 0; i < size[0]; ++i) {
    if (is_float(out.dtype())) {
      const double value = start.real + static_cast<double>(i) * step.real;
      store(out.dtype(), out.raw(), i, 1, 1, &value);
    } else {
      const auto value = static_cast<int64_t>(static_cast<uint64_t>(start.to<int64_t>()) +
                                              static_cast<uint64_t>(i) *
                                                  static_cast<uint64_t>(step.to<int64_t>()));
      store(out.dtype(), out.raw(), i, 1, 1, &value);
    }
  }
  return {};
}

Result<void> arange_start(Context&, const Args& args, const Kernel&) {
  return arange_between(args.tensor(3), args.scalar(0), args.scalar(1), args.scalar(2));
}
Result<void> arange_(Context&, const Args& args, const Kernel&) {
  return arange_between(args.tensor(1), {ValueKind::Int, 0, 0}, args.scalar(0),
                        {ValueKind::Int, 1, 1});
}

constexpr Kernel kTable[] = {
    {"aten::arange.out", "S>T", arange_},
    {"aten::arange.start_out", "SSS>T", arange_start},
    {"aten::full.out", "LS>T", full_},
    {"aten::full_like.out", "TSi>T", full_like},
    {"aten::scalar_tensor.out", "S>T", scalar_tensor},
};

}  // namespace

std::span<const Kernel> create_kernels() { return kTable; }

}  // namespace pteron
