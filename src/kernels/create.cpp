// Operators that make tensors from numbers.
#include <cmath>
#include <cstring>

#include "base/text.h"
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
  // For int64, PyTorch cuts the numbers to integers first.
  const bool is_cut = out.dtype() == DType::Int64;
  const auto number = [is_cut](const Scalar& scalar) {
    return is_cut ? std::trunc(scalar.real) : scalar.real;
  };
  if (number(step) == 0)
    return kernel_error("arange by " + std::to_string(step.real) + " as an integer");
  const double count = std::max(0.0, std::ceil((number(end) - number(start)) / number(step)));
  if (count > static_cast<double>(out.capacity()))
    return kernel_error("arange makes " + counted(count, "element") + ", more than " +
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

// The contents are undefined, but never what was in memory before.
Result<void> empty_(Context&, const Args& args, const Kernel&) {
  Tensor& out = args.tensor(args.size() - 1);
  PTERON_TRY(out.resize(args.ints(0).span()));
  if (out.nbytes() > 0) std::memset(out.raw(), 0, out.nbytes());
  return {};
}
template <int kValue>
Result<void> constant(Context&, const Args& args, const Kernel&) {
  PTERON_TRY(args.tensor(1).resize(args.ints(0).span()));
  return fill(args.tensor(1), {ValueKind::Int, kValue, kValue});
}
Result<void> fill_scalar(Context&, const Args& args, const Kernel&) {
  PTERON_TRY(args.tensor(2).resize(args.tensor(0).sizes()));
  return fill(args.tensor(2), args.scalar(1));
}
Result<void> fill_tensor(Context&, const Args& args, const Kernel&) {
  const Tensor& value = args.tensor(1);
  if (value.numel() != 1 || !is_number(value.dtype()))
    return kernel_error("argument 1 is " + args.describe(1) + "; one number is wanted");
  PTERON_TRY(args.tensor(2).resize(args.tensor(0).sizes()));
  Scalar scalar{ValueKind::Int, 0, 0};
  if (is_float(value.dtype())) {
    scalar.kind = ValueKind::Double;
    load(value.dtype(), value.raw(), 0, 1, 1, &scalar.real);
  } else {
    load(value.dtype(), value.raw(), 0, 1, 1, &scalar.integer);
    scalar.real = static_cast<double>(scalar.integer);
  }
  return fill(args.tensor(2), scalar);
}

// In [0, 1), each of the float's own steps as likely as its neighbour.
double uniform(Context& context, DType dtype) {
  const uint64_t bits = context.random();
  switch (dtype) {
    case DType::Float64:
      return std::ldexp(static_cast<double>(bits >> 11), -53);
    case DType::Float32:
      return std::ldexp(static_cast<double>(bits >> 40), -24);
    case DType::Float16:
      return std::ldexp(static_cast<double>(bits >> 53), -11);
    default:
      return std::ldexp(static_cast<double>(bits >> 56), -8);
  }
}

Result<void> check_random(Tensor& out, const Ints& sizes) {
  if (!is_float(out.dtype())) return kernel_error("random numbers into " + out.describe());
  return out.resize(sizes.span());
}
Result<void> rand_(Context& context, const Args& args, const Kernel&) {
  Tensor& out = args.tensor(1);
  PTERON_TRY(check_random(out, args.ints(0)));
  for (int64_t i = 0; i < out.numel(); ++i) {
    const double value = uniform(context, out.dtype());
    store(out.dtype(), out.raw(), i, 1, 1, &value);
  }
  return {};
}
// Box and Muller's two normal numbers of two uniform ones.
Result<void> randn_(Context& context, const Args& args, const Kernel&) {
  constexpr double kTurn = 6.283185307179586;
  Tensor& out = args.tensor(1);
  PTERON_TRY(check_random(out, args.ints(0)));
  double pair[2]{};
  for (int64_t i = 0; i < out.numel(); ++i) {
    if (i % 2 == 0) {
      const double radius = std::sqrt(-2 * std::log(1 - uniform(context, DType::Float64)));
      const double angle = kTurn * uniform(context, DType::Float64);
      pair[0] = radius * std::cos(angle);
      pair[1] = radius * std::sin(angle);
    }
    store(out.dtype(), out.raw(), i, 1, 1, &pair[i % 2]);
  }
  return {};
}

// In training each element is dropped with probability p and the others grow by 1 / (1 - p).
Result<void> dropout(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const double p = args.real(1);
  const bool trains = args.is_none(2) || args.boolean(2);
  Tensor& out = args.tensor(3);
  Tensor& mask = args.tensor(4);
  if (!(p >= 0 && p <= 1)) return kernel_error("dropout with probability " + args.describe(1));
  if (!is_float(in.dtype()) || out.dtype() != in.dtype() || !is_number(mask.dtype()))
    return kernel_error("dropout of " + args.describe(0) + " into " + args.describe(3) + " and " +
                        args.describe(4));
  PTERON_TRY(out.resize(in.sizes()));
  PTERON_TRY(mask.resize(in.sizes()));
  double* x = load_all<double>(context, in);
  int64_t* kept = context.scratch_array<int64_t>(static_cast<size_t>(in.numel()));
  for (int64_t i = 0; i < in.numel(); ++i) {
    kept[i] = !trains || uniform(context, DType::Float64) >= p;
    if (trains) x[i] = kept[i] ? x[i] / (1 - p) : 0;
  }
  store_all(x, out);
  store_all(kept, mask);
  return {};
}

constexpr Kernel kTable[] = {
    {"aten::arange.out", "S>T", arange_},
    {"aten::arange.start_out", "SSS>T", arange_start},
    {"aten::empty.out", "Li>T", empty_},
    {"aten::fill.Scalar_out", "TS>T", fill_scalar},
    {"aten::fill.Tensor_out", "TT>T", fill_tensor},
    {"aten::full.out", "LS>T", full_},
    {"aten::full_like.out", "TSi>T", full_like},
    {"aten::native_dropout.out", "TDb>TT", dropout},
    {"aten::ones.out", "L>T", constant<1>},
    {"aten::rand.out", "L>T", rand_},
    {"aten::randn.out", "L>T", randn_},
    {"aten::scalar_tensor.out", "S>T", scalar_tensor},
    {"aten::zeros.out", "L>T", constant<0>},
    {"dim_order_ops::_empty_dim_order.out", "Ll>T", empty_},
};

}  // namespace

std::span<const Kernel> create_kernels() { return kTable; }

}  // namespace pteron
