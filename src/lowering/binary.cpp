// Arithmetic on the elements of two tensors, or of a tensor and a number: OpenVINO computes it on
// the broadcast of its inputs, like PyTorch.
#include <cmath>

#include "base/half.h"
#include "lowering/promotion.h"

namespace pteron {
namespace {

using ir::Output;

template <Text kOperation>
Reason binary(Call& call) {
  const DType type = result_type(call, {0, 1});
  if (Reason reason = require_operands(call, {0, 1, 2}, type); !reason.empty()) return reason;
  const Output result = call.node(
      kOperation.view(), {operand(call, 0, type), operand(call, 1, type)}, working_type(type));
  return store(call, 2, result, type);
}

// a and b times alpha.
Output scaled(Call& call, Output x, size_t alpha, DType type) {
  if (call.real(alpha) == 1) return x;
  return call.node("Multiply", {x, operand(call, alpha, type)}, working_type(type));
}

// a + alpha * b
template <Text kOperation>
Reason with_alpha(Call& call) {
  const DType type = result_type(call, {0, 1});
  if (Reason reason = require_operands(call, {0, 1, 2, 3}, type); !reason.empty()) return reason;
  const Output b = scaled(call, operand(call, 1, type), 2, type);
  const Output result =
      call.node(kOperation.view(), {operand(call, 0, type), b}, working_type(type));
  return store(call, 3, result, type);
}
template <Text kOperation>
Reason number_with_alpha(Call& call) {
  DType type = result_type(call, {0, 1});
  if (call.is_double(2)) type = real_type(type);
  if (Reason reason = require_operands(call, {0, 1, 2, 3}, type); !reason.empty()) return reason;
  Output number;
  if (is_floating(type)) {
    number = call.scalar(call.real(1) * call.real(2), type);
  } else {
    const int64_t product = call.integer(1) * call.integer(2);  // Of two that fit in int32.
    if (type == DType::Int64 && !Range{product, product}.within(kInt32))
      return "its number does not fit in int32";
    number = integer_operand(call, product, type);
  }
  const Output result =
      call.node(kOperation.view(), {operand(call, 0, type), number}, working_type(type));
  return store(call, 3, result, type);
}
// b - alpha * a
Reason rsub(Call& call) {
  const DType type = result_type(call, {0, 1});
  if (Reason reason = require_operands(call, {0, 1, 2, 3}, type); !reason.empty()) return reason;
  const Output a = scaled(call, operand(call, 0, type), 2, type);
  const Output result = call.node("Subtract", {operand(call, 1, type), a}, working_type(type));
  return store(call, 3, result, type);
}

// Whether a number is the same as float16 or bfloat16.
bool is_rounded(double number, DType type) {
  const auto single = static_cast<float>(number);
  if (type == DType::Float16) return half_to_float(float_to_half(single)) != single;
  if (type == DType::BFloat16) return bfloat_to_float(float_to_bfloat(single)) != single;
  return false;
}
// In products and quotients PyTorch does not round a number to float16 or bfloat16.
template <Text kOperation>
Reason with_factor(Call& call) {
  DType type = result_type(call, {0, 1});
  if (kOperation.view() == "Divide") type = real_type(type);
  if (Reason reason = require_operands(call, {0, 1, 2}, type); !reason.empty()) return reason;
  const DType compute = is_rounded(call.real(1), type) ? DType::Float32 : type;
  const Output a = operand(call, 0, compute);
  const Output result =
      call.node(kOperation.view(), {a, operand(call, 1, compute)}, working_type(compute));
  return store(call, 2, result, compute);
}

Reason divide(Call& call) {
  const DType type = real_type(result_type(call, {0, 1}));
  if (Reason reason = require_operands(call, {0, 1, 2}, type); !reason.empty()) return reason;
  return store(call, 2, call.node("Divide", {operand(call, 0, type), operand(call, 1, type)}, type),
               type);
}

// ---- Extremes

// NaN in either is the result. Of OpenVINO's Maximum the second operand's NaNs come through.
Output extreme(Call& call, std::string_view operation, Output a, Output b, DType type) {
  const Output result = call.node(operation, {a, b}, working_type(type));
  return is_floating(type) ? keeping_nan(call, a, result) : result;
}
template <Text kOperation>
Reason extreme(Call& call) {
  const DType type = result_type(call, {0, 1});
  if (Reason reason = require_operands(call, {0, 1, 2}, type); !reason.empty()) return reason;
  const Output a = operand(call, 0, type);
  const Output b = operand(call, 1, type);
  return store(call, 2, extreme(call, kOperation.view(), a, b, type), type);
}

// Between two tensors, of which one may be none.
Reason clamp_tensors(Call& call) {
  if (!call.has(1) && !call.has(2)) return "it has no bound";
  const DType type = !call.has(1)   ? result_type(call, {0, 2})
                     : !call.has(2) ? result_type(call, {0, 1})
                                    : result_type(call, {0, 1, 2});
  if (Reason reason = require_operands(call, {0, 3}, type); !reason.empty()) return reason;
  Output x = operand(call, 0, type);
  for (const size_t i : {1, 2}) {
    if (!call.has(i)) continue;
    if (Reason reason = require_operands(call, {i}, type); !reason.empty()) return reason;
    x = extreme(call, i == 1 ? "Maximum" : "Minimum", x, operand(call, i, type), type);
  }
  return store(call, 3, x, type);
}

// ---- Powers

// By multiplications, which wrap as PyTorch's do.
Output integer_power(Call& call, Output x, int64_t exponent, DType type) {
  Output result = integer_operand(call, 1, type);
  bool is_one = true;
  for (;; exponent >>= 1) {
    if (exponent & 1) {
      result = is_one ? x : call.node("Multiply", {result, x}, working_type(type));
      is_one = false;
    }
    if (exponent <= 1) break;
    x = call.node("Multiply", {x, x}, working_type(type));
  }
  return result;
}

Reason pow_number(Call& call) {
  const DType type = result_type(call, {0, 1});
  if (Reason reason = require_operands(call, {0, 1, 2}, type); !reason.empty()) return reason;
  const Output x = operand(call, 0, type);
  if (!is_floating(type)) {
    const int64_t exponent = call.integer(1);
    if (exponent < 1 || exponent > 64) return "its power is not one of 1 to 64";
    return store(call, 2, integer_power(call, x, exponent, type), type);
  }
  const double exponent = call.real(1);
  // PyTorch takes roots, but not of float16: they differ at infinity.
  const bool is_root = type != DType::Float16 && std::fabs(exponent) == 0.5;
  Output result;
  if (exponent == 2)
    result = call.node("Multiply", {x, x}, type);
  else if (is_root)
    result = call.node("Sqrt", {x}, type);
  else
    result = call.node("Power", {x, call.scalar(exponent, type)}, type);
  if (is_root && exponent < 0) result = call.node("Divide", {call.scalar(1, type), result}, type);
  return store(call, 2, result, type);
}

Reason pow_floats(Call& call) {
  const DType type = result_type(call, {0, 1});
  if (Reason reason = require_operands(call, {0, 1, 2}, type); !reason.empty()) return reason;
  if (!is_floating(type)) return "its powers are integers";
  return store(call, 2, call.node("Power", {operand(call, 0, type), operand(call, 1, type)}, type),
               type);
}

constexpr LoweringRow kRows[] = {
    {"aten::add.out", with_alpha<"Add">, Shapes::Dynamic},
    {"aten::add.Scalar_out", number_with_alpha<"Add">, Shapes::Dynamic},
    {"aten::clamp.Tensor_out", clamp_tensors, Shapes::Dynamic},
    {"aten::div.out", divide, Shapes::Dynamic},
    {"aten::div.Scalar_out", with_factor<"Divide">, Shapes::Dynamic},
    {"aten::maximum.out", extreme<"Maximum">, Shapes::Dynamic},
    {"aten::minimum.out", extreme<"Minimum">, Shapes::Dynamic},
    {"aten::mul.out", binary<"Multiply">, Shapes::Dynamic},
    {"aten::mul.Scalar_out", with_factor<"Multiply">, Shapes::Dynamic},
    {"aten::pow.Scalar_out", pow_floats, Shapes::Dynamic},
    {"aten::pow.Tensor_Scalar_out", pow_number, Shapes::Dynamic},
    {"aten::pow.Tensor_Tensor_out", pow_floats, Shapes::Dynamic},
    {"aten::rsub.Scalar_out", rsub, Shapes::Dynamic},
    {"aten::sub.out", with_alpha<"Subtract">, Shapes::Dynamic},
    {"aten::sub.Scalar_out", number_with_alpha<"Subtract">, Shapes::Dynamic},
};

}  // namespace

std::span<const LoweringRow> binary_rows() { return kRows; }

}  // namespace pteron
