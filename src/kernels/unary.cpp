// Operators on each element of one tensor.
#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/angle.h"
#include "kernels/element.h"
#include "kernels/tables.h"
#include "kernels/vector/functions.h"

namespace pteron {
namespace {

using Context = KernelContext;

// Functions of real numbers: integers are taken as float32, as in PyTorch.
template <typename Op>
Result<void> real_function(Context& context, const Args& args, Op op) {
  const Tensor& in = args.tensor(0);
  Tensor& out = args.tensor(args.size() - 1);
  const DType compute = is_float(in.dtype()) ? in.dtype() : DType::Float32;
  return map_unary(&context, in, out, compute, [op](auto x) {
    if constexpr (std::is_floating_point_v<decltype(x)>)
      return op(x);
    else
      return x;
  });
}

// The same for functions that have vector code for float32.
template <typename Op>
Result<void> vector_function(Context& context, const Args& args, RowFunction function, Op op) {
  const Tensor& in = args.tensor(0);
  Tensor& out = args.tensor(args.size() - 1);
  const DType compute = is_float(in.dtype()) ? in.dtype() : DType::Float32;
  return map_runs(&context, in, out, compute, [=](const auto* x, auto* y, int64_t n) {
    using C = std::remove_reference_t<decltype(*y)>;
    if constexpr (std::is_same_v<C, float>) {
      vector_functions().run(function, x, y, n);
    } else if constexpr (std::is_same_v<C, double>) {
      for (int64_t i = 0; i < n; ++i) y[i] = op(x[i]);
    }
  });
}

// Functions that keep integers what they are.
template <typename Op>
Result<void> same_function(Context& context, const Args& args, Op op) {
  const Tensor& in = args.tensor(0);
  return map_unary(&context, in, args.tensor(args.size() - 1), in.dtype(), op);
}

// Each is one function of a real number, or of any number.
#define PTERON_REAL(name, expression)                                                      \
  Result<void> name(Context& context, const Args& args, const Kernel&) {                   \
    return real_function(context, args, [](auto x) -> decltype(x) { return expression; }); \
  }
#define PTERON_VECTOR(name, function, expression)                        \
  Result<void> name(Context& context, const Args& args, const Kernel&) { \
    return vector_function(context, args, RowFunction::function,         \
                           [](double x) { return expression; });         \
  }
#define PTERON_ROUNDING(name, function, expression)                      \
  Result<void> name(Context& context, const Args& args, const Kernel&) { \
    if (!is_float(args.tensor(0).dtype()))                               \
      return same_function(context, args, [](auto x) { return x; });     \
    return vector_function(context, args, RowFunction::function,         \
                           [](double x) { return expression; });         \
  }

PTERON_REAL(acos_, std::acos(x))
PTERON_REAL(acosh_, std::acosh(x))
PTERON_REAL(asin_, std::asin(x))
PTERON_REAL(asinh_, std::asinh(x))
PTERON_REAL(atan_, std::atan(x))
PTERON_REAL(atanh_, std::atanh(x))
PTERON_REAL(cos_, of_angle(x, [](auto a) { return std::cos(a); }))
PTERON_REAL(cosh_, std::cosh(x))
PTERON_VECTOR(erf_, Erf, std::erf(x))
PTERON_VECTOR(exp_, Exp, std::exp(x))
PTERON_VECTOR(expm1_, Expm1, std::expm1(x))
PTERON_VECTOR(log_, Log, std::log(x))
PTERON_VECTOR(log10_, Log10, std::log10(x))
PTERON_VECTOR(log1p_, Log1p, std::log1p(x))
PTERON_VECTOR(log2_, Log2, std::log2(x))
PTERON_REAL(reciprocal_, 1 / x)
PTERON_REAL(rsqrt_, 1 / std::sqrt(x))
PTERON_VECTOR(sigmoid_, Sigmoid, 1 / (1 + std::exp(-x)))
PTERON_REAL(sin_, of_angle(x, [](auto a) { return std::sin(a); }))
PTERON_REAL(sinh_, std::sinh(x))
PTERON_REAL(sqrt_, std::sqrt(x))
PTERON_REAL(tan_, of_angle(x, [](auto a) { return std::tan(a); }))
PTERON_VECTOR(tanh_, Tanh, std::tanh(x))
PTERON_ROUNDING(ceil_, Ceil, std::ceil(x))
PTERON_ROUNDING(floor_, Floor, std::floor(x))
PTERON_ROUNDING(round_, Round, std::nearbyint(x))  // Half to even.
PTERON_ROUNDING(trunc_, Trunc, std::trunc(x))
#undef PTERON_REAL
#undef PTERON_VECTOR
#undef PTERON_ROUNDING

Result<void> abs_(Context& context, const Args& args, const Kernel&) {
  return same_function(context, args, [](auto x) -> decltype(x) {
    if constexpr (std::is_floating_point_v<decltype(x)>)
      return std::fabs(x);
    else
      return x < 0 ? static_cast<int64_t>(0 - static_cast<uint64_t>(x)) : x;
  });
}

Result<void> neg_(Context& context, const Args& args, const Kernel&) {
  return same_function(context, args, [](auto x) -> decltype(x) {
    if constexpr (std::is_floating_point_v<decltype(x)>)
      return -x;
    else
      return static_cast<int64_t>(0 - static_cast<uint64_t>(x));
  });
}

Result<void> relu_(Context& context, const Args& args, const Kernel&) {
  // NaN stays: the comparison with it is false.
  return same_function(context, args, [](auto x) -> decltype(x) { return x < 0 ? 0 : x; });
}

Result<void> logical_not_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  Tensor& out = args.tensor(1);
  if (in.dtype() != DType::Float32 || out.dtype() != DType::Bool)
    return same_function(context, args, [](auto x) -> decltype(x) { return x == 0; });
  PTERON_TRY(out.resize(in.sizes()));
  Walk walk(out.sizes());
  walk.add(out);
  walk.add(in);
  walk.share(&context, [&](const auto& at, const auto& stride, int64_t n) {
    const float* x = in.data<const float>() + at[1];
    uint8_t* y = out.data<uint8_t>() + at[0];
    if (stride[0] == 1 && stride[1] == 1) {
      for (int64_t i = 0; i < n; ++i) y[i] = x[i] == 0;
    } else {
      for (int64_t i = 0; i < n; ++i) y[i * stride[0]] = x[i * stride[1]] == 0;
    }
  });
  return {};
}

Result<void> bitwise_not_(Context& context, const Args& args, const Kernel&) {
  if (is_float(args.tensor(0).dtype()))
    return kernel_error("bitwise_not takes integers, not " + args.describe(0));
  if (args.tensor(0).dtype() == DType::Bool)
    return same_function(context, args, [](auto x) -> decltype(x) { return x == 0; });
  return same_function(context, args, [](auto x) -> decltype(x) {
    return static_cast<decltype(x)>(~static_cast<int64_t>(x));
  });
}

Result<void> gelu_(Context& context, const Args& args, const Kernel&) {
  const auto approximate = args.string(1);
  if (approximate && *approximate == "tanh") {
    return vector_function(context, args, RowFunction::GeluTanh, [](double x) {
      const double inner = 0.7978845608028654 * (x + 0.044715 * x * x * x);
      return 0.5 * x * (1 + std::tanh(inner));
    });
  }
  return vector_function(context, args, RowFunction::Gelu,
                         [](double x) { return x * 0.5 * (1 + std::erf(x * 0.7071067811865476)); });
}

Result<void> elu_(Context& context, const Args& args, const Kernel&) {
  const double alpha = args.scalar(1).real;
  const double scale = args.scalar(2).real;
  const double input_scale = args.scalar(3).real;
  return real_function(context, args, [=](auto x) {
    using T = decltype(x);
    return x <= 0 ? std::expm1(x * static_cast<T>(input_scale)) * static_cast<T>(alpha * scale)
                  : x * static_cast<T>(scale);
  });
}

Result<void> leaky_relu_(Context& context, const Args& args, const Kernel&) {
  const double slope = args.scalar(1).real;
  return real_function(context, args,
                       [=](auto x) { return x > 0 ? x : x * static_cast<decltype(x)>(slope); });
}

// min and max in the type to compute in; NaN stays, and a bound that is NaN makes all NaN.
Result<void> clamp_between(Context& context, const Tensor& in, Tensor& out,
                           std::optional<Scalar> low, std::optional<Scalar> high) {
  DType compute = in.dtype();
  for (const auto& bound : {low, high}) {
    if (bound) compute = promote(compute, result_type(in, *bound));
  }
  return map_runs(&context, in, out, compute, [=](const auto* x, auto* y, int64_t n) {
    using T = std::remove_reference_t<decltype(*y)>;
    using Limits = std::numeric_limits<T>;
    const auto bound = [](const std::optional<Scalar>& s, T otherwise) {
      if (!s) return otherwise;
      if constexpr (std::is_same_v<T, int64_t>)
        return s->integer;
      else
        return static_cast<T>(s->real);
    };
    T least = bound(low, Limits::has_infinity ? -Limits::infinity() : Limits::lowest());
    T greatest = bound(high, Limits::has_infinity ? Limits::infinity() : Limits::max());
    if (is_nan(least) || is_nan(greatest)) {
      std::fill_n(y, n, Limits::quiet_NaN());
      return;
    }
    for (int64_t i = 0; i < n; ++i) {
      const T above = least > x[i] ? least : x[i];
      y[i] = greatest < above ? greatest : above;
    }
  });
}

Result<void> clamp_(Context& context, const Args& args, const Kernel&) {
  return clamp_between(context, args.tensor(0), args.tensor(3), args.optional_scalar(1),
                       args.optional_scalar(2));
}

Result<void> pow_scalar(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const Scalar exponent = args.scalar(1);
  const DType type = result_type(in, exponent);
  const auto real = scalar_operand<double>(exponent, type);
  // PyTorch takes roots for these, but not of float16: they differ at infinity and at -0.
  const bool is_root = type != DType::Float16 && std::fabs(real) == 0.5;
  return map_unary(&context, in, args.tensor(2), type, [=](auto x) {
    using T = decltype(x);
    if constexpr (std::is_same_v<T, int64_t>) {
      // Wraps, like the integer multiplications that it stands for; of negative powers only those
      // of 1 and -1 are left.
      int64_t e = exponent.integer;
      if (e < 0)
        return x == 1 ? int64_t{1} : x == -1 ? (e % 2 != 0 ? int64_t{-1} : int64_t{1}) : int64_t{0};
      uint64_t result = 1;
      for (uint64_t base = static_cast<uint64_t>(x); e > 0; e >>= 1, base *= base) {
        if (e & 1) result *= base;
      }
      return static_cast<int64_t>(result);
    } else {
      if (real == 2) return x * x;
      if (is_root) return real > 0 ? std::sqrt(x) : 1 / std::sqrt(x);
      return static_cast<T>(std::pow(x, static_cast<T>(real)));
    }
  });
}

Result<void> nans(Context& context, const Args& args, const Kernel&) {
  return same_function(context, args, [](auto x) -> decltype(x) { return is_nan(x); });
}

Result<void> is_inf(Context& context, const Args& args, const Kernel&) {
  return same_function(context, args, [](auto x) -> decltype(x) {
    if constexpr (std::is_floating_point_v<decltype(x)>)
      return std::isinf(x);
    else
      return 0;
  });
}

template <typename T>
void conjugate(Context& context, const Tensor& in, Tensor& out) {
  Walk walk(out.sizes());
  walk.add(out);
  walk.add(in);
  walk.share(&context, [&](const auto& at, const auto& stride, int64_t n) {
    const T* from = in.data<const T>() + 2 * at[1];
    T* to = out.data<T>() + 2 * at[0];
    const auto run = [=](int64_t from_step, int64_t to_step) {
      for (int64_t i = 0; i < n; ++i) {
        to[i * to_step] = from[i * from_step];
        to[i * to_step + 1] = -from[i * from_step + 1];
      }
    };
    stride[0] == 1 && stride[1] == 1 ? run(2, 2) : run(2 * stride[1], 2 * stride[0]);
  });
}

// Of real numbers, a copy.
Result<void> conjugate_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  Tensor& out = args.tensor(1);
  if (in.dtype() == DType::Complex64 || in.dtype() == DType::Complex128) {
    if (out.dtype() != in.dtype())
      return kernel_error("_conj_physical of " + args.describe(0) + " into " + args.describe(1));
    PTERON_TRY(out.resize(in.sizes()));
    in.dtype() == DType::Complex64 ? conjugate<float>(context, in, out)
                                   : conjugate<double>(context, in, out);
    return {};
  }
  return same_function(context, args, [](auto x) { return x; });
}

Result<void> sign_(Context& context, const Args& args, const Kernel&) {
  return same_function(context, args, [](auto x) -> decltype(x) {
    return static_cast<decltype(x)>((x > 0) - (x < 0));
  });
}

// log(x / (1 - x)), x between eps and 1 - eps where eps is given.
Result<void> logit_(Context& context, const Args& args, const Kernel&) {
  const auto eps = args.optional_real(1);
  const Tensor& in = args.tensor(0);
  const DType compute = is_float(in.dtype()) ? in.dtype() : DType::Float32;
  return map_runs(&context, in, args.tensor(2), compute, [eps](const auto* x, auto* y, int64_t n) {
    using T = std::remove_reference_t<decltype(*y)>;
    if constexpr (std::is_floating_point_v<T>) {
      const T low = eps ? static_cast<T>(*eps) : -std::numeric_limits<T>::infinity();
      const T high = eps ? 1 - low : std::numeric_limits<T>::infinity();
      for (int64_t i = 0; i < n; ++i) {
        const T below = high < x[i] ? high : x[i];
        const T between = x[i] < low ? low : below;
        y[i] = between / (1 - between);
      }
      if constexpr (std::is_same_v<T, float>) {
        vector_functions().run(RowFunction::Log, y, y, n);
      } else {
        for (int64_t i = 0; i < n; ++i) y[i] = std::log(y[i]);
      }
    }
  });
}

Result<void> round_decimals(Context& context, const Args& args, const Kernel&) {
  const int64_t decimals = args.integer(1);
  return same_function(context, args, [decimals](auto x) -> decltype(x) {
    using T = decltype(x);
    if constexpr (std::is_floating_point_v<T>) {
      // A power of 10 with a positive exponent is exact for longer than one with a negative one.
      const T power = static_cast<T>(std::pow(10.0, std::fabs(static_cast<double>(decimals))));
      return decimals < 0 ? std::nearbyint(x / power) * power : std::nearbyint(x * power) / power;
    } else {
      return x;
    }
  });
}

// The first half of a dimension times the sigmoid of the second.
Result<void> glu_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  Tensor& out = args.tensor(2);
  PTERON_ASSIGN(const int dim, read_dim(args, 1, in.rank()));
  if (in.rank() == 0 || in.size(dim) % 2 != 0 || !is_float(in.dtype()) || !is_float(out.dtype()))
    return kernel_error("glu of " + args.describe(0) + " along dimension " + std::to_string(dim));
  std::array<int64_t, kMaxRank> shape{};
  std::copy(in.sizes().begin(), in.sizes().end(), shape.begin());
  const int64_t half = in.size(dim) / 2;
  shape[static_cast<size_t>(dim)] = half;
  PTERON_TRY(out.resize({shape.data(), static_cast<size_t>(in.rank())}));
  return with_compute_type(in.dtype(), [&](auto type) -> Result<void> {
    using C = decltype(type);
    if constexpr (std::is_floating_point_v<C>) {
      const C* x = elements<C>(context, in);
      Results<C> results(context, out);
      C* y = results.data();
      int64_t inner = half;
      for (int d = dim + 1; d < in.rank(); ++d) inner *= in.size(d);
      context.parallel(static_cast<size_t>(out.numel()), 8192, [=](size_t begin, size_t end) {
        for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end);) {
          const int64_t in_row = i % inner;
          const int64_t n = std::min(static_cast<int64_t>(end) - i, inner - in_row);
          const C* value = x + i / inner * 2 * inner + in_row;
          const C* gate = value + inner;
          if constexpr (std::is_same_v<C, float>) {
            vector_functions().run(RowFunction::Sigmoid, gate, y + i, n);
            for (int64_t k = 0; k < n; ++k) y[i + k] *= value[k];
          } else {
            for (int64_t k = 0; k < n; ++k) y[i + k] = value[k] / (1 + std::exp(-gate[k]));
          }
          i += n;
        }
      });
      results.store();
    }
    return {};
  });
}

constexpr Kernel kTable[] = {
    {"aten::_conj_physical.out", "T>T", conjugate_},
    {"aten::abs.out", "T>T", abs_},
    {"aten::acos.out", "T>T", acos_},
    {"aten::acosh.out", "T>T", acosh_},
    {"aten::asin.out", "T>T", asin_},
    {"aten::asinh.out", "T>T", asinh_},
    {"aten::atan.out", "T>T", atan_},
    {"aten::atanh.out", "T>T", atanh_},
    {"aten::bitwise_not.out", "T>T", bitwise_not_},
    {"aten::ceil.out", "T>T", ceil_},
    {"aten::clamp.out", "Tss>T", clamp_},
    {"aten::cos.out", "T>T", cos_},
    {"aten::cosh.out", "T>T", cosh_},
    {"aten::elu.out", "TSSS>T", elu_},
    {"aten::erf.out", "T>T", erf_},
    {"aten::exp.out", "T>T", exp_},
    {"aten::expm1.out", "T>T", expm1_},
    {"aten::floor.out", "T>T", floor_},
    {"aten::gelu.out", "TG>T", gelu_},
    {"aten::glu.out", "TI>T", glu_},
    {"aten::hardtanh.out", "TSS>T", clamp_},
    {"aten::isinf.out", "T>T", is_inf},
    {"aten::isnan.out", "T>T", nans},
    {"aten::leaky_relu.out", "TS>T", leaky_relu_},
    {"aten::log.out", "T>T", log_},
    {"aten::log10.out", "T>T", log10_},
    {"aten::log1p.out", "T>T", log1p_},
    {"aten::log2.out", "T>T", log2_},
    {"aten::logical_not.out", "T>T", logical_not_},
    {"aten::logit.out", "Td>T", logit_},
    {"aten::neg.out", "T>T", neg_},
    {"aten::pow.Tensor_Scalar_out", "TS>T", pow_scalar},
    {"aten::reciprocal.out", "T>T", reciprocal_},
    {"aten::relu.out", "T>T", relu_},
    {"aten::round.decimals_out", "TI>T", round_decimals},
    {"aten::round.out", "T>T", round_},
    {"aten::rsqrt.out", "T>T", rsqrt_},
    {"aten::sigmoid.out", "T>T", sigmoid_},
    {"aten::sign.out", "T>T", sign_},
    {"aten::sin.out", "T>T", sin_},
    {"aten::sinh.out", "T>T", sinh_},
    {"aten::sqrt.out", "T>T", sqrt_},
    {"aten::tan.out", "T>T", tan_},
    {"aten::tanh.out", "T>T", tanh_},
    {"aten::trunc.out", "T>T", trunc_},
};

}  // namespace

std::span<const Kernel> unary_kernels() { return kTable; }

}  // namespace pteron
