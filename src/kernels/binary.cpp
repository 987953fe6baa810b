// Operators on the elements of two tensors, or of a tensor and a number, and where.
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "kernels/element.h"
#include "kernels/tables.h"

namespace pteron {
namespace {

using Context = KernelContext;

template <typename T>
constexpr bool kIsInteger = std::is_same_v<T, int64_t>;

template <typename T>
T scalar_as(const Scalar& scalar) {
  if constexpr (kIsInteger<T>)
    return scalar.integer;
  else
    return static_cast<T>(scalar.real);
}

// The functions, on int64_t, float or double. Integers wrap.
struct Add {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (kIsInteger<T>)
      return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    else
      return a + b;
  }
};
struct Subtract {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (kIsInteger<T>)
      return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
    else
      return a - b;
  }
};
struct Multiply {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (kIsInteger<T>)
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else
      return a * b;
  }
};
// Of floats, quotients and what they leave can be had by a division of doubles, without branches
// and so in vectors, where both are exact: the quotient and its product with the divisor fit.
struct Quotient {
  double whole;  // Towards 0.
  double rest;   // Of the dividend's sign, or 0.
  bool exact;

  Quotient(float a, float b) {
    const auto x = static_cast<double>(a);
    const auto y = static_cast<double>(b);
    const double quotient = x / y;
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    // Neither NaN nor infinity is.
    exact = static_cast<bool>(static_cast<int>(std::fabs(quotient) < 0x1p29) &
                              static_cast<int>(std::fabs(y) < kInfinity));
    whole = static_cast<double>(static_cast<int32_t>(exact ? quotient : 0.0));
    rest = x - whole * y;
    // The quotient was rounded up to an integer.
    const bool over =
        static_cast<bool>(static_cast<int>(rest != 0) & static_cast<int>((rest < 0) != (x < 0)));
    const bool same = (x < 0) == (y < 0);
    whole -= over ? (same ? 1.0 : -1.0) : 0.0;
    rest += over ? (same ? y : -y) : 0.0;
  }
};
// Integer division by zero gives 0 here; the callers have refused it before.
struct TruncatingDivide {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (kIsInteger<T>) {
      if (b == 0) return 0;
      return b == -1 ? static_cast<T>(0 - static_cast<uint64_t>(a)) : a / b;
    } else {
      return std::trunc(a / b);
    }
  }
};
struct FloorDivide {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (kIsInteger<T>) {
      if (b == 0) return 0;
      if (b == -1) return static_cast<T>(0 - static_cast<uint64_t>(a));
      return a / b - (a % b != 0 && (a < 0) != (b < 0));
    } else {
      // As Python and PyTorch do it: the quotient of what fmod leaves is exact.
      if (b == 0) return a / b;
      const T mod = std::fmod(a, b);
      T div = (a - mod) / b;
      if (mod != 0 && (b < 0) != (mod < 0)) div -= 1;
      if (div == 0) return std::copysign(T(0), a / b);
      T floored = std::floor(div);
      if (div - floored > T(0.5)) floored += 1;
      return floored;
    }
  }
  static float quick(float a, float b, bool& exact) {
    const Quotient q(a, b);
    exact = q.exact;
    const bool down = static_cast<bool>(static_cast<int>(q.rest != 0) &
                                        static_cast<int>((q.rest < 0) != (b < 0)));
    return std::copysign(static_cast<float>(q.whole - (down ? 1.0 : 0.0)), a / b);  // 0 has a sign.
  }
};
struct Remainder {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (kIsInteger<T>) {
      if (b == 0 || b == -1) return 0;
      const T r = a % b;
      return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    } else {
      const T r = std::fmod(a, b);
      return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    }
  }
  static float quick(float a, float b, bool& exact) {
    const Quotient q(a, b);
    exact = q.exact;
    const float r = std::copysign(static_cast<float>(q.rest), a);
    const bool other =
        static_cast<bool>(static_cast<int>(r != 0) & static_cast<int>((r < 0) != (b < 0)));
    return other ? r + b : r;
  }
};
struct Fmod {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (kIsInteger<T>)
      return b == 0 || b == -1 ? 0 : a % b;
    else
      return std::fmod(a, b);
  }
  static float quick(float a, float b, bool& exact) {
    const Quotient q(a, b);
    exact = q.exact;
    return std::copysign(static_cast<float>(q.rest), a);
  }
};
// NaN in either is the result. Without branches, so that it can be done in vectors; what differs
// from itself is NaN.
struct Minimum {
  template <typename T>
  static T apply(T a, T b) {
    const T less = b < a ? b : a;  // a, if b is NaN.
    return b != b ? b : less;      // NOLINT(misc-redundant-expression)
  }
};
struct Maximum {
  template <typename T>
  static T apply(T a, T b) {
    const T greater = b > a ? b : a;
    return b != b ? b : greater;  // NOLINT(misc-redundant-expression)
  }
};
struct Power {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (kIsInteger<T>) {
      if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 != 0 ? -1 : 1) : 0;
      uint64_t result = 1;
      for (uint64_t base = static_cast<uint64_t>(a); b > 0; b >>= 1, base *= base) {
        if (b & 1) result *= base;
      }
      return static_cast<T>(result);
    } else {
      return std::pow(a, b);
    }
  }
};
#define PTERON_TRUTH(name, expression)   \
  struct name {                          \
    template <typename T>                \
    static T apply(T a, T b) {           \
      return static_cast<T>(expression); \
    }                                    \
  };
PTERON_TRUTH(Equal, a == b)
PTERON_TRUTH(NotEqual, a != b)
PTERON_TRUTH(Greater, a > b)
PTERON_TRUTH(GreaterEqual, a >= b)
PTERON_TRUTH(Less, a < b)
PTERON_TRUTH(LessEqual, a <= b)
PTERON_TRUTH(LogicalAnd, (a != 0) && (b != 0))
PTERON_TRUTH(LogicalOr, (a != 0) || (b != 0))
PTERON_TRUTH(LogicalXor, (a != 0) != (b != 0))
PTERON_TRUTH(BitwiseAnd, static_cast<int64_t>(a) & static_cast<int64_t>(b))
PTERON_TRUTH(BitwiseOr, static_cast<int64_t>(a) | static_cast<int64_t>(b))
PTERON_TRUTH(BitwiseXor, static_cast<int64_t>(a) ^ static_cast<int64_t>(b))
#undef PTERON_TRUTH

// r[i] = Op::apply(p[i * p_step], q[i * q_step]); by quick() as far as that is exact.
template <typename Op, typename T>
void row_of(const T* p, int64_t p_step, const T* q, int64_t q_step, T* r, int64_t n) {
  const auto apply = [](T a, T b) { return Op::apply(a, b); };
  if constexpr (std::is_same_v<T, float> && requires(bool exact) { Op::quick(T(), T(), exact); }) {
    constexpr int64_t kRun = 256;
    for (int64_t i = 0; i < n; i += kRun) {
      const int64_t m = std::min(kRun, n - i);
      const T* a = p + i * p_step;
      const T* b = q + i * q_step;
      T results[kRun];  // r may be p or q.
      int inexact = 0;
      apply_row(a, p_step, b, q_step, results, m, [&](T x, T y) {
        bool exact = false;
        const T result = Op::quick(x, y, exact);
        inexact |= static_cast<int>(!exact);
        return result;
      });
      if (inexact) apply_row(a, p_step, b, q_step, results, m, apply);
      std::copy_n(results, m, r + i);
    }
  } else {
    apply_row(p, p_step, q, q_step, r, n, apply);
  }
}

template <typename Op>
Result<void> rows_of(Context& context, const Args& args, Tensor& out) {
  const Tensor& a = args.tensor(0);
  const Tensor& b = args.tensor(1);
  return map_binary_runs(
      &context, a, b, out, result_type(a, b),
      [](const auto* p, int64_t p_step, const auto* q, int64_t q_step, auto* r, int64_t n) {
        row_of<Op>(p, p_step, q, q_step, r, n);
      },
      std::is_same_v<Op, Multiply>);
}

template <typename Op>
Result<void> tensors(Context& context, const Args& args, const Kernel&) {
  return rows_of<Op>(context, args, args.tensor(2));
}

// A number as an operand of each type that is computed in: wrapped or rounded to the tensors' type
// first. In products and quotients PyTorch does not round it to float16 or bfloat16.
struct Number {
  int64_t integer;
  float single;
  double real;

  Number(const Scalar& scalar, DType type, bool rounds = true)
      : integer(scalar_operand<int64_t>(scalar, type)),
        single(rounds ? scalar_operand<float>(scalar, type) : static_cast<float>(scalar.real)),
        real(scalar_operand<double>(scalar, type)) {}
  template <typename T>
  T as() const {
    if constexpr (kIsInteger<T>)
      return integer;
    else if constexpr (std::is_same_v<T, float>)
      return single;
    else
      return real;
  }
};

template <typename Op>
Result<void> with_scalar(Context& context, const Args& args, const Kernel&) {
  const Tensor& a = args.tensor(0);
  const DType type = result_type(a, args.scalar(1));
  const Number b(args.scalar(1), type, !std::is_same_v<Op, Multiply>);
  return map_runs(&context, a, args.tensor(2), type, [b](const auto* x, auto* y, int64_t n) {
    using T = std::remove_reference_t<decltype(*y)>;
    const T right = b.as<T>();
    row_of<Op>(x, 1, &right, 0, y, n);
  });
}

template <typename Op>
Result<void> bitwise_tensors(Context& context, const Args& args, const Kernel& self) {
  if (is_float(result_type(args.tensor(0), args.tensor(1))))
    return kernel_error("bitwise operators take integers, not " + args.describe(0) + " and " +
                        args.describe(1));
  return tensors<Op>(context, args, self);
}

template <typename Op>
Result<void> bitwise_scalar(Context& context, const Args& args, const Kernel& self) {
  if (is_float(result_type(args.tensor(0), args.scalar(1))))
    return kernel_error("bitwise operators take integers, not " + args.describe(0) + " and " +
                        args.describe(1));
  return with_scalar<Op>(context, args, self);
}

// add and sub: b is multiplied by alpha first.
template <typename Op>
Result<void> with_alpha(Context& context, const Args& args, const Kernel&) {
  const Tensor& a = args.tensor(0);
  const Tensor& b = args.tensor(1);
  const DType type = result_type(a, b);
  const Number alpha(args.scalar(2), type);
  return map_binary(&context, a, b, args.tensor(3), type, [alpha](auto x, auto y) {
    using T = decltype(x);
    return Op::apply(x, Multiply::apply(alpha.as<T>(), y));
  });
}

template <typename Op>
Result<void> scalar_with_alpha(Context& context, const Args& args, const Kernel&) {
  const Tensor& a = args.tensor(0);
  const Scalar b = args.scalar(1);
  const Scalar alpha = args.scalar(2);
  DType compute = result_type(a, b);
  if (alpha.kind == ValueKind::Double && !is_float(compute)) compute = DType::Float32;
  const Number number(b, compute);
  const Number factor(alpha, compute);
  return map_unary(&context, a, args.tensor(3), compute, [=](auto x) {
    using T = decltype(x);
    return Op::apply(x, Multiply::apply(factor.as<T>(), number.as<T>()));
  });
}

// Whether an element is 0 once it is of the type to divide in.
bool has_zero(const Tensor& tensor, DType type) {
  bool found = false;
  Walk walk(tensor.sizes());
  walk.add(tensor);
  walk.run([&](const auto& at, const auto& stride, int64_t n) {
    for (int64_t i = 0; i < n && !found; ++i) {
      int64_t value = 1;
      load(tensor.dtype(), tensor.raw(), at[0] + i * stride[0], 1, 1, &value);
      convert_operand(type, 1, &value);
      found = value == 0;
    }
  });
  return found;
}

// PyTorch raises on integer division by zero.
Result<void> refuse_zero(const Args& args, DType compute) {
  const Tensor& divisor = args.tensor(1);
  if (args.tensor(0).numel() > 0 && is_number(divisor.dtype()) && !is_float(compute) &&
      has_zero(divisor, compute)) {
    return kernel_error("integer division by zero, in " + args.describe(1));
  }
  return {};
}

Result<void> refuse_zero_number(const Args& args, DType compute) {
  if (args.tensor(0).numel() > 0 && !is_float(compute) &&
      scalar_operand<int64_t>(args.scalar(1), compute) == 0) {
    return kernel_error("integer division by zero, in " + args.describe(1));
  }
  return {};
}

template <typename Op>
Result<void> integer_safe(Context& context, const Args& args, const Kernel& self) {
  PTERON_TRY(refuse_zero(args, result_type(args.tensor(0), args.tensor(1))));
  return tensors<Op>(context, args, self);
}

template <typename Op>
Result<void> integer_safe_scalar(Context& context, const Args& args, const Kernel& self) {
  PTERON_TRY(refuse_zero_number(args, result_type(args.tensor(0), args.scalar(1))));
  return with_scalar<Op>(context, args, self);
}

struct Divide {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (kIsInteger<T>)
      return TruncatingDivide::apply(a, b);
    else
      return a / b;
  }
};

DType true_division_type(DType type) { return is_float(type) ? type : DType::Float32; }

Result<void> div_(Context& context, const Args& args, const Kernel&) {
  const Tensor& a = args.tensor(0);
  const Tensor& b = args.tensor(1);
  return map_binary(
      &context, a, b, args.tensor(2), true_division_type(result_type(a, b)),
      [](auto x, auto y) { return Divide::apply(x, y); }, true);
}

Result<void> div_scalar(Context& context, const Args& args, const Kernel&) {
  const Tensor& a = args.tensor(0);
  const Scalar b = args.scalar(1);
  return map_unary(&context, a, args.tensor(2), true_division_type(result_type(a, b)),
                   [b](auto x) { return Divide::apply(x, scalar_as<decltype(x)>(b)); });
}

Result<void> div_mode(Context& context, const Args& args, const Kernel&) {
  const auto mode = args.string(2);
  const Tensor& a = args.tensor(0);
  const Tensor& b = args.tensor(1);
  const DType type = result_type(a, b);
  if (!mode) {
    return map_binary(
        &context, a, b, args.tensor(3), true_division_type(type),
        [](auto x, auto y) { return Divide::apply(x, y); }, true);
  }
  PTERON_TRY(refuse_zero(args, type));
  if (*mode == "floor") return rows_of<FloorDivide>(context, args, args.tensor(3));
  if (*mode == "trunc") {
    // PyTorch rounds the quotient to the tensors' type first.
    return map_binary(&context, a, b, args.tensor(3), type, [type](auto x, auto y) {
      using T = decltype(x);
      if constexpr (kIsInteger<T>) {
        return TruncatingDivide::apply(x, y);
      } else {
        T quotient = x / y;
        convert_operand(type, 1, &quotient);
        return std::trunc(quotient);
      }
    });
  }
  return kernel_error("rounding mode " + args.describe(2) + " is neither floor nor trunc");
}

Result<void> atan2_(Context& context, const Args& args, const Kernel&) {
  const Tensor& a = args.tensor(0);
  const Tensor& b = args.tensor(1);
  return map_binary(&context, a, b, args.tensor(2), true_division_type(result_type(a, b)),
                    [](auto x, auto y) {
                      if constexpr (kIsInteger<decltype(x)>)
                        return x;
                      else
                        return std::atan2(x, y);
                    });
}

// Bits past the type's width fall out; a shift by that much or more, or by less than 0, gives 0 (or
// the sign, to the right).
template <bool kLeft>
int64_t shift(int64_t x, int64_t by, int64_t width) {
  const bool fits = by >= 0 && by < width;
  if (kLeft) return fits ? static_cast<int64_t>(static_cast<uint64_t>(x) << by) : 0;
  return x >> (fits ? by : 63);
}

template <bool kLeft>
Result<void> shift_tensors(Context& context, const Args& args, const Kernel&) {
  const Tensor& a = args.tensor(0);
  const Tensor& b = args.tensor(1);
  const DType type = result_type(a, b);
  if (is_float(type))
    return kernel_error("shifts take integers, not " + args.describe(0) + " and " +
                        args.describe(1));
  const auto width = static_cast<int64_t>(dtype_size(type) * 8);
  return map_binary(&context, a, b, args.tensor(2), type, [width](auto x, auto y) {
    return static_cast<decltype(x)>(
        shift<kLeft>(static_cast<int64_t>(x), static_cast<int64_t>(y), width));
  });
}

// __lshift__ and __rshift__ also take floats: times a power of 2.
template <bool kLeft>
Result<void> shift_scalar(Context& context, const Args& args, const Kernel&) {
  const Tensor& a = args.tensor(0);
  const Scalar by = args.scalar(1);
  const DType type = result_type(a, by);
  const auto width = static_cast<int64_t>(dtype_size(type) * 8);
  return map_runs(&context, a, args.tensor(2), type, [=](const auto* x, auto* y, int64_t n) {
    using T = std::remove_reference_t<decltype(*y)>;
    if constexpr (kIsInteger<T>) {
      const bool fits = by.integer >= 0 && by.integer < width;
      const int bits = fits ? static_cast<int>(by.integer) : 63;
      for (int64_t i = 0; i < n; ++i) {
        if constexpr (kLeft)
          y[i] = static_cast<int64_t>(static_cast<uint64_t>(x[i]) << bits);
        else
          y[i] = x[i] >> bits;
      }
      if (kLeft && !fits) std::fill_n(y, n, 0);
    } else {
      const T factor = static_cast<T>(std::exp2(kLeft ? by.real : -by.real));
      for (int64_t i = 0; i < n; ++i) y[i] = x[i] * factor;
    }
  });
}

Result<void> div_scalar_mode(Context& context, const Args& args, const Kernel&) {
  const auto mode = args.string(2);
  const Tensor& a = args.tensor(0);
  const Scalar b = args.scalar(1);
  const DType type = result_type(a, b);
  Tensor& out = args.tensor(3);
  if (!mode) {
    return map_unary(&context, a, out, true_division_type(type),
                     [b](auto x) { return Divide::apply(x, scalar_as<decltype(x)>(b)); });
  }
  PTERON_TRY(refuse_zero_number(args, type));
  const Number number(b, type, false);
  if (*mode == "floor") {
    return map_unary(&context, a, out, type,
                     [=](auto x) { return FloorDivide::apply(x, number.as<decltype(x)>()); });
  }
  if (*mode == "trunc") {
    return map_unary(&context, a, out, type,
                     [=](auto x) { return TruncatingDivide::apply(x, number.as<decltype(x)>()); });
  }
  return kernel_error("rounding mode " + args.describe(2) + " is neither floor nor trunc");
}

Result<void> rsub_scalar(Context& context, const Args& args, const Kernel&) {
  const Tensor& a = args.tensor(0);
  const DType type = result_type(a, args.scalar(1));
  const Number b(args.scalar(1), type);
  const Number alpha(args.scalar(2), type);
  return map_unary(&context, a, args.tensor(3), type, [=](auto x) {
    using T = decltype(x);
    return Subtract::apply(b.as<T>(), Multiply::apply(alpha.as<T>(), x));
  });
}

Result<void> pow_of_scalar(Context& context, const Args& args, const Kernel&) {
  const Tensor& exponent = args.tensor(1);
  const DType type = result_type(exponent, args.scalar(0));
  const Number base(args.scalar(0), type);
  return map_unary(&context, exponent, args.tensor(2), type,
                   [base](auto x) { return Power::apply(base.as<decltype(x)>(), x); });
}

// min, then max, each a tensor or none; NaN in any of them wins.
Result<void> clamp_tensors(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const Tensor* low = args.optional_tensor(1);
  const Tensor* high = args.optional_tensor(2);
  Tensor& out = args.tensor(3);
  if (!low && !high) return kernel_error("clamp without a bound: arguments 1 and 2 are none");
  std::vector<const Tensor*> operands{&in};
  DType type = in.dtype();
  for (const Tensor* bound : {low, high}) {
    if (!bound) continue;
    operands.push_back(bound);
  }
  PTERON_TRY(require_numbers(args, {0, 1, 2, 3}));
  type = result_type(operands);
  PTERON_ASSIGN(const Shape shape, broadcast_shapes(operands));
  PTERON_TRY(out.resize(shape.span()));
  return with_compute_type(type, [&](auto compute) -> Result<void> {
    using C = decltype(compute);
    Walk walk(out.sizes());
    bool fits = walk.add(out);
    for (const Tensor* operand : operands) fits = fits && walk.add(*operand);
    if (!fits) return kernel_error("shapes do not broadcast");
    walk.share(&context, [&](const auto& at, const auto& stride, int64_t n) {
      constexpr int64_t kRun = 256;
      C x[3][kRun];
      for (int64_t i = 0; i < n; i += kRun) {
        const int64_t m = std::min(kRun, n - i);
        for (size_t k = 0; k < operands.size(); ++k) {
          load(operands[k]->dtype(), operands[k]->raw(), at[k + 1] + i * stride[k + 1],
               stride[k + 1], m, x[k]);
          if (operands[k]->dtype() != type) convert_operand(type, m, x[k]);
        }
        const C* highs = x[low ? 2 : 1];
        for (int64_t e = 0; low && e < m; ++e) x[0][e] = Maximum::apply(x[0][e], x[1][e]);
        for (int64_t e = 0; high && e < m; ++e) x[0][e] = Minimum::apply(x[0][e], highs[e]);
        store(out.dtype(), out.raw(), at[0] + i * stride[0], stride[0], m, x[0]);
      }
    });
    return {};
  });
}

Result<void> where_(Context& context, const Args& args, const Kernel&) {
  const Tensor& condition = args.tensor(0);
  const Tensor& a = args.tensor(1);
  const Tensor& b = args.tensor(2);
  Tensor& out = args.tensor(3);
  PTERON_TRY(require_numbers(args, {0, 1, 2, 3}));
  const Tensor* operands[] = {&condition, &a, &b};
  PTERON_ASSIGN(const Shape shape, broadcast_shapes(operands));
  PTERON_TRY(out.resize(shape.span()));
  return with_compute_type(result_type(a, b), [&](auto type) -> Result<void> {
    using C = decltype(type);
    Walk walk(out.sizes());
    if (!walk.add(out) || !walk.add(condition) || !walk.add(a) || !walk.add(b))
      return kernel_error("shapes do not broadcast");
    walk.share(&context, [&](const auto& at, const auto& stride, int64_t n) {
      constexpr int64_t kRun = 256;
      int64_t c[kRun];
      C x[kRun];
      C y[kRun];
      for (int64_t i = 0; i < n; i += kRun) {
        const int64_t m = std::min(kRun, n - i);
        load(condition.dtype(), condition.raw(), at[1] + i * stride[1], stride[1], m, c);
        load(a.dtype(), a.raw(), at[2] + i * stride[2], stride[2], m, x);
        load(b.dtype(), b.raw(), at[3] + i * stride[3], stride[3], m, y);
        for (int64_t k = 0; k < m; ++k) x[k] = c[k] != 0 ? x[k] : y[k];
        store(out.dtype(), out.raw(), at[0] + i * stride[0], stride[0], m, x);
      }
    });
    return {};
  });
}

constexpr Kernel kTable[] = {
    {"aten::__lshift__.Scalar_out", "TS>T", shift_scalar<true>},
    {"aten::__rshift__.Scalar_out", "TS>T", shift_scalar<false>},
    {"aten::add.out", "TTS>T", with_alpha<Add>},
    {"aten::add.Scalar_out", "TSS>T", scalar_with_alpha<Add>},
    {"aten::atan2.out", "TT>T", atan2_},
    {"aten::bitwise_and.Scalar_out", "TS>T", bitwise_scalar<BitwiseAnd>},
    {"aten::bitwise_and.Tensor_out", "TT>T", bitwise_tensors<BitwiseAnd>},
    {"aten::bitwise_or.Scalar_out", "TS>T", bitwise_scalar<BitwiseOr>},
    {"aten::bitwise_or.Tensor_out", "TT>T", bitwise_tensors<BitwiseOr>},
    {"aten::bitwise_xor.Scalar_out", "TS>T", bitwise_scalar<BitwiseXor>},
    {"aten::bitwise_xor.Tensor_out", "TT>T", bitwise_tensors<BitwiseXor>},
    {"aten::bitwise_left_shift.Tensor_Scalar_out", "TS>T", shift_scalar<true>},
    {"aten::bitwise_left_shift.Tensor_out", "TT>T", shift_tensors<true>},
    {"aten::bitwise_right_shift.Tensor_Scalar_out", "TS>T", shift_scalar<false>},
    {"aten::bitwise_right_shift.Tensor_out", "TT>T", shift_tensors<false>},
    {"aten::clamp.Tensor_out", "Ttt>T", clamp_tensors},
    {"aten::div.Scalar_mode_out", "TSg>T", div_scalar_mode},
    {"aten::div.out", "TT>T", div_},
    {"aten::div.out_mode", "TTg>T", div_mode},
    {"aten::div.Scalar_out", "TS>T", div_scalar},
    {"aten::eq.Scalar_out", "TS>T", with_scalar<Equal>},
    {"aten::eq.Tensor_out", "TT>T", tensors<Equal>},
    {"aten::floor_divide.out", "TT>T", integer_safe<FloorDivide>},
    {"aten::fmod.Scalar_out", "TS>T", integer_safe_scalar<Fmod>},
    {"aten::fmod.Tensor_out", "TT>T", integer_safe<Fmod>},
    {"aten::ge.Scalar_out", "TS>T", with_scalar<GreaterEqual>},
    {"aten::ge.Tensor_out", "TT>T", tensors<GreaterEqual>},
    {"aten::gt.Scalar_out", "TS>T", with_scalar<Greater>},
    {"aten::gt.Tensor_out", "TT>T", tensors<Greater>},
    {"aten::le.Scalar_out", "TS>T", with_scalar<LessEqual>},
    {"aten::le.Tensor_out", "TT>T", tensors<LessEqual>},
    {"aten::logical_and.out", "TT>T", tensors<LogicalAnd>},
    {"aten::logical_or.out", "TT>T", tensors<LogicalOr>},
    {"aten::logical_xor.out", "TT>T", tensors<LogicalXor>},
    {"aten::lt.Scalar_out", "TS>T", with_scalar<Less>},
    {"aten::lt.Tensor_out", "TT>T", tensors<Less>},
    {"aten::maximum.out", "TT>T", tensors<Maximum>},
    {"aten::minimum.out", "TT>T", tensors<Minimum>},
    {"aten::mul.out", "TT>T", tensors<Multiply>},
    {"aten::mul.Scalar_out", "TS>T", with_scalar<Multiply>},
    {"aten::ne.Scalar_out", "TS>T", with_scalar<NotEqual>},
    {"aten::ne.Tensor_out", "TT>T", tensors<NotEqual>},
    {"aten::pow.Scalar_out", "ST>T", pow_of_scalar},
    {"aten::pow.Tensor_Tensor_out", "TT>T", tensors<Power>},
    {"aten::remainder.Scalar_out", "TS>T", integer_safe_scalar<Remainder>},
    {"aten::remainder.Tensor_out", "TT>T", integer_safe<Remainder>},
    {"aten::rsub.Scalar_out", "TSS>T", rsub_scalar},
    {"aten::sub.out", "TTS>T", with_alpha<Subtract>},
    {"aten::sub.Scalar_out", "TSS>T", scalar_with_alpha<Subtract>},
    {"aten::where.self_out", "TTT>T", where_},
};

}  // namespace

std::span<const Kernel> binary_kernels() { return kTable; }

}  // namespace pteron
