// Operators that make tensors from numbers.
#include <cmath>
#include <cstring>

#include "base/text.h"
#include "kernels/element.h"
#include "kernels/tables.h"
#include "kernels/vector/functions.h"
#include "kernels/view.h"

namespace pteron {
namespace {

using Context = KernelContext;

// Fills memory with copies of an element of 1, 2, 4 or 8 bytes.
void fill_with(Context& context, void* data, size_t size, const std::byte* element,
               size_t element_size) {
  std::byte pattern[kPattern];
  for (size_t i = 0; i < kPattern; ++i) pattern[i] = element[i % element_size];
  constexpr size_t kGrain = (size_t{1} << 20) / kPattern;
  const size_t whole = size / kPattern;
  auto* to = static_cast<std::byte*>(data);
  context.parallel(whole, kGrain, [&](size_t begin, size_t end) {
    vector_functions().fill(pattern, to + begin * kPattern, (end - begin) * kPattern);
  });
  std::copy_n(pattern, size - whole * kPattern, to + whole * kPattern);
}

}  // namespace

Result<void> fill(KernelContext& context, Tensor& out, const Scalar& value) {
  if (!is_number(out.dtype()))
    return kernel_error(out.describe() + " has a dtype that is not one to compute with");
  std::byte element[8];
  const int64_t integer = value.to<int64_t>();
  if (is_float(out.dtype()) || (out.dtype() == DType::Bool && value.kind == ValueKind::Double))
    store(out.dtype(), element, 0, 1, 1, &value.real);
  else
    store(out.dtype(), element, 0, 1, 1, &integer);
  fill_with(context, out.raw(), out.nbytes(), element, dtype_size(out.dtype()));
  return {};
}

namespace {

Result<void> full_(Context& context, const Args& args, const Kernel&) {
  PTERON_TRY(args.tensor(2).resize(args.ints(0).span()));
  return fill(context, args.tensor(2), args.scalar(1));
}
Result<void> full_like(Context& context, const Args& args, const Kernel&) {
  PTERON_TRY(args.tensor(3).resize(args.tensor(0).sizes()));
  return fill(context, args.tensor(3), args.scalar(1));
}
Result<void> scalar_tensor(Context& context, const Args& args, const Kernel&) {
  PTERON_TRY(args.tensor(1).resize({}));
  return fill(context, args.tensor(1), args.scalar(0));
}

Result<void> arange_between(Context& context, Tensor& out, const Scalar& start, const Scalar& end,
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
  constexpr int64_t kRun = 512;
  const auto first = static_cast<uint64_t>(start.to<int64_t>());
  const auto by = static_cast<uint64_t>(step.to<int64_t>());
  // What is added to the first number of a run; integers wrap.
  uint64_t steps[kRun];
  for (int64_t k = 0; k < kRun; ++k) steps[k] = static_cast<uint64_t>(k) * by;
  const auto runs = static_cast<size_t>((size[0] + kRun - 1) / kRun);
  context.parallel(runs, 32, [&](size_t begin, size_t past) {
    for (auto r = static_cast<int64_t>(begin); r < static_cast<int64_t>(past); ++r) {
      const int64_t i = r * kRun;
      const int64_t n = std::min(kRun, size[0] - i);
      if (is_float(out.dtype())) {
        double values[kRun];
        // Counted in int32_t, which vectors can convert.
        for (int32_t k = 0; k < static_cast<int32_t>(n); ++k)
          values[k] = start.real + (static_cast<double>(i) + static_cast<double>(k)) * step.real;
        store(out.dtype(), out.raw(), i, 1, n, values);
      } else {
        int64_t values[kRun];
        const uint64_t base = first + static_cast<uint64_t>(i) * by;
        for (int64_t k = 0; k < n; ++k) values[k] = static_cast<int64_t>(base + steps[k]);
        store(out.dtype(), out.raw(), i, 1, n, values);
      }
    }
  });
  return {};
}

Result<void> arange_start(Context& context, const Args& args, const Kernel&) {
  return arange_between(context, args.tensor(3), args.scalar(0), args.scalar(1), args.scalar(2));
}
Result<void> arange_(Context& context, const Args& args, const Kernel&) {
  return arange_between(context, args.tensor(1), {ValueKind::Int, 0, 0}, args.scalar(0),
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
Result<void> constant(Context& context, const Args& args, const Kernel&) {
  PTERON_TRY(args.tensor(1).resize(args.ints(0).span()));
  return fill(context, args.tensor(1), {ValueKind::Int, kValue, kValue});
}
Result<void> fill_scalar(Context& context, const Args& args, const Kernel&) {
  PTERON_TRY(args.tensor(2).resize(args.tensor(0).sizes()));
  return fill(context, args.tensor(2), args.scalar(1));
}
Result<void> fill_tensor(Context& context, const Args& args, const Kernel&) {
  const Tensor& value = args.tensor(1);
  if (value.numel() != 1 || !is_number(value.dtype()))
    return kernel_error("fill by " + args.describe(1) + "; one number is wanted");
  PTERON_TRY(args.tensor(2).resize(args.tensor(0).sizes()));
  Scalar scalar{ValueKind::Int, 0, 0};
  if (is_float(value.dtype())) {
    scalar.kind = ValueKind::Double;
    load(value.dtype(), value.raw(), 0, 1, 1, &scalar.real);
  } else {
    load(value.dtype(), value.raw(), 0, 1, 1, &scalar.integer);
    scalar.real = static_cast<double>(scalar.integer);
  }
  return fill(context, args.tensor(2), scalar);
}

// In [0, 1), each of the float's own steps as likely as its neighbour.
double uniform(Context& context, DType dtype) {
  const uint64_t bits = context.random();
  switch (dtype) {
    case DType::Float64:
      return static_cast<double>(bits >> 11) * 0x1p-53;
    case DType::Float32:
      return static_cast<double>(bits >> 40) * 0x1p-24;
    case DType::Float16:
      return static_cast<double>(bits >> 53) * 0x1p-11;
    default:
      return static_cast<double>(bits >> 56) * 0x1p-8;
  }
}

// Writes next() to each element, in order.
template <typename Next>
void fill_in_order(Tensor& out, Next&& next) {
  constexpr int64_t kRun = 512;
  double values[kRun];
  for (int64_t i = 0; i < out.numel(); i += kRun) {
    const int64_t n = std::min(kRun, out.numel() - i);
    for (int64_t k = 0; k < n; ++k) values[k] = next();
    store(out.dtype(), out.raw(), i, 1, n, values);
  }
}

Result<void> check_random(Tensor& out, const Ints& sizes) {
  if (!is_float(out.dtype())) return kernel_error("random numbers into " + out.describe());
  return out.resize(sizes.span());
}
Result<void> rand_(Context& context, const Args& args, const Kernel&) {
  Tensor& out = args.tensor(1);
  PTERON_TRY(check_random(out, args.ints(0)));
  fill_in_order(out, [&] { return uniform(context, out.dtype()); });
  return {};
}
// Box and Muller's two normal numbers of two uniform ones.
Result<void> randn_(Context& context, const Args& args, const Kernel&) {
  constexpr double kTurn = 6.283185307179586;
  Tensor& out = args.tensor(1);
  PTERON_TRY(check_random(out, args.ints(0)));
  double second = 0;
  bool has_second = false;
  fill_in_order(out, [&] {
    has_second = !has_second;
    if (!has_second) return second;
    const double radius = std::sqrt(-2 * std::log(1 - uniform(context, DType::Float64)));
    const double angle = kTurn * uniform(context, DType::Float64);
    second = radius * std::sin(angle);
    return radius * std::cos(angle);
  });
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
  return with_compute_type(in.dtype(), [&](auto type) -> Result<void> {
    using C = decltype(type);
    const C* x = elements<C>(context, in);
    Results<C> results(context, out);
    C* y = results.data();
    uint8_t* kept = context.scratch_array<uint8_t>(static_cast<size_t>(in.numel()));
    const auto grown = static_cast<C>(1 / (1 - p));
    // Two elements for each 64 random bits.
    const auto least = static_cast<uint64_t>(p * 0x1p32);
    uint64_t bits = 0;
    for (int64_t i = 0; i < in.numel(); ++i) {
      if (trains) bits = i % 2 == 0 ? context.random() : bits >> 32;
      kept[i] = !trains || (bits & UINT32_MAX) >= least;
      y[i] = !trains ? x[i] : kept[i] ? x[i] * grown : C(0);
    }
    results.store();
    walk_in_order(mask, [&](int64_t position, int64_t offset, int64_t stride, int64_t n) {
      int64_t values[512];
      for (int64_t i = 0; i < n; i += 512) {
        const int64_t m = std::min<int64_t>(512, n - i);
        std::copy_n(kept + position + i, m, values);
        store(mask.dtype(), mask.raw(), offset + i * stride, stride, m, values);
      }
    });
    return {};
  });
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
