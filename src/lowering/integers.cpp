// Division that leaves whole numbers, what it leaves over, bits and shifts.
#include <cmath>

#include "lowering/promotion.h"

namespace pteron {
namespace {

using ir::Output;

// ---- Division

enum class Rounding : uint8_t { Floor, Trunc };

Output remainder(Call& call, Rounding rounding, Output a, Output b, DType type) {
  return call.node(rounding == Rounding::Floor ? "FloorMod" : "Mod", {a, b}, working_type(type));
}

// Integers of both are exact in float32, which OpenVINO divides in, and the divisor is not 0,
// which PyTorch refuses.
Reason require_division(Call& call, DType type) {
  if (type == DType::Bool) return "its operands are bools";
  if (Reason reason = require_comparable(call, {0, 1}, type); !reason.empty()) return reason;
  if (call.is_number(1)) {
    const int64_t divisor = call.integer(1);
    const Range range = call.ranges.of(integer_operand(call, divisor, type));
    return divisor == 0 || range.low == 0 ? "its divisor is zero" : Reason();
  }
  const auto excludes_zero = [](const Range& range) { return range.low > 0 || range.high < 0; };
  if (excludes_zero(call.ranges.of(call.tensor(1)))) return {};
  const bool may_demand = call.dtype(1) == DType::Int32 || call.dtype(1) == DType::Int64;
  if (may_demand && call.ranges.demand(call.tensor(1), {1, kExactInFloat.high})) return {};
  return "its divisor may be zero";
}

// A number by which floats are divided exactly.
bool is_power_of_two(double number) {
  int exponent = 0;
  return number > 0 && std::isfinite(number) && std::frexp(number, &exponent) == 0.5 &&
         std::abs(exponent) < 32;
}

// Of floats: a / b rounded to the next integer below, or towards 0.
Output rounded(Call& call, Rounding rounding, Output quotient, DType type) {
  const Output below = call.node("Floor", {quotient}, type);
  if (rounding == Rounding::Floor) return below;
  const Output is_negative = call.node("Less", {quotient, call.scalar(0, type)}, DType::Bool);
  return select(call, is_negative, call.node("Ceiling", {quotient}, type), below);
}
Output float_quotient(Call& call, Rounding rounding, DType type) {
  const Output inverse = call.scalar(1 / call.real(1), type);
  const Output quotient = call.node("Multiply", {operand(call, 0, type), inverse}, type);
  return rounded(call, rounding, quotient, type);
}

Reason divide(Call& call, Rounding rounding, size_t out) {
  const DType type = result_type(call, {0, 1});
  if (Reason reason = require_operands(call, {0, 1, out}, type); !reason.empty()) return reason;
  if (is_floating(type)) {
    if (call.is_number(1) && is_power_of_two(call.real(1)))
      return store(call, out, float_quotient(call, rounding, type), type);
    // Of quotients that are rounded to an integer, the one below may be right. PyTorch too
    // truncates what is rounded; of constants OpenVINO multiplies by the inverse.
    if (call.is_number(1) || rounding == Rounding::Floor || type != DType::Float32)
      return "its quotients may not be exact";
    const Output b = operand(call, 1, type);
    if (is_of_constants(call, b)) return "its quotients may not be exact";
    const Output quotient = call.node("Divide", {operand(call, 0, type), b}, type);
    return store(call, out, rounded(call, rounding, quotient, type), type);
  }
  if (Reason reason = require_division(call, type); !reason.empty()) return reason;
  const Output a = operand(call, 0, type);
  const Output b = operand(call, 1, type);
  const DType dtype = working_type(type);
  const Output whole = call.node("Subtract", {a, remainder(call, rounding, a, b, type)}, dtype);
  return store(call, out,
               call.node("Divide", {whole, b}, dtype, "opset1", {{"m_pythondiv", "false"}}), type);
}
Reason floor_divide(Call& call) { return divide(call, Rounding::Floor, 2); }
// The mode is none for true division.
Reason divide_by_mode(Call& call) {
  if (call.has(2)) {
    if (call.string(2) == "floor") return divide(call, Rounding::Floor, 3);
    if (call.string(2) == "trunc") return divide(call, Rounding::Trunc, 3);
    return "its mode is neither floor nor trunc";
  }
  const DType type = real_type(result_type(call, {0, 1}));
  if (Reason reason = require_operands(call, {0, 1, 3}, type); !reason.empty()) return reason;
  return store(call, 3, call.node("Divide", {operand(call, 0, type), operand(call, 1, type)}, type),
               type);
}

template <Rounding kRounding>
Reason rest(Call& call) {
  const DType type = result_type(call, {0, 1});
  if (Reason reason = require_operands(call, {0, 1, 2}, type); !reason.empty()) return reason;
  if (is_floating(type)) {
    if (!call.is_number(1) || !is_power_of_two(call.real(1)))
      return "its quotients may not be exact";
    const Output whole = call.node(
        "Multiply", {float_quotient(call, kRounding, type), operand(call, 1, type)}, type);
    return store(call, 2, call.node("Subtract", {operand(call, 0, type), whole}, type), type);
  }
  if (Reason reason = require_division(call, type); !reason.empty()) return reason;
  const Output a = operand(call, 0, type);
  return store(call, 2, remainder(call, kRounding, a, operand(call, 1, type), type), type);
}

// ---- Bits

template <Text kBits, Text kLogic>
Reason bitwise(Call& call) {
  const DType type = result_type(call, {0, 1});
  if (is_floating(type)) return "its operands are floats";
  if (Reason reason = require_operands(call, {0, 1, 2}, type); !reason.empty()) return reason;
  if (type == DType::Bool && !call.is_number(1))
    return store_truth(call, 2,
                       call.node(kLogic.view(), {call.tensor(0), call.tensor(1)}, DType::Bool));
  const Output result = call.node(kBits.view(), {operand(call, 0, type), operand(call, 1, type)},
                                  working_type(type), "opset13");
  return store(call, 2, result, type);
}
Reason bitwise_not(Call& call) {
  const DType type = call.dtype(0);
  if (is_floating(type)) return "its operand is of floats";
  if (Reason reason = require_operands(call, {0, 1}, type); !reason.empty()) return reason;
  if (type == DType::Bool)
    return store_truth(call, 1, call.node("LogicalNot", {call.tensor(0)}, DType::Bool));
  // -1 - x
  const Output minus_one = call.scalar(-1, working_type(type));
  return store(call, 1,
               call.node("Subtract", {minus_one, operand(call, 0, type)}, working_type(type)),
               type);
}

// By a number of bits: to the left a product, which wraps.
template <bool kLeft>
Reason shift(Call& call) {
  const DType type = result_type(call, {0, 1});
  if (Reason reason = require_operands(call, {0, 1, 2}, type); !reason.empty()) return reason;
  const DType dtype = working_type(type);
  const Output x = operand(call, 0, type);
  if (is_floating(type)) {
    if (!(std::fabs(call.real(1)) <= 64)) return "it shifts by too many bits";
    const double factor = std::exp2(kLeft ? call.real(1) : -call.real(1));
    return store(call, 2, call.node("Multiply", {x, call.scalar(factor, type)}, dtype), type);
  }
  const auto width = static_cast<int64_t>(dtype_size(type) * 8);
  const int64_t bits = call.integer(1);
  if (type == DType::Bool || bits < 0 || bits >= std::min<int64_t>(width, 31))
    return "it shifts by too many bits";
  const int64_t factor = int64_t{1} << bits;
  if (kLeft) {
    const Output by = call.scalar(static_cast<double>(factor), dtype);
    return store(call, 2, call.node("Multiply", {x, by}, dtype), type);
  }
  // What is cut off goes first, and the quotient is exact.
  if (Reason reason = require_comparable(call, {0}, type); !reason.empty()) return reason;
  const Output by = call.scalar(static_cast<double>(factor), dtype);
  const Output low = call.node(
      "BitwiseAnd", {x, call.scalar(static_cast<double>(factor - 1), dtype)}, dtype, "opset13");
  const Output whole = call.node("Subtract", {x, low}, dtype);
  return store(call, 2,
               call.node("Divide", {whole, by}, dtype, "opset1", {{"m_pythondiv", "false"}}), type);
}

constexpr LoweringRow kRows[] = {
    {"aten::__lshift__.Scalar_out", shift<true>, Shapes::Dynamic},
    {"aten::__rshift__.Scalar_out", shift<false>, Shapes::Dynamic},
    {"aten::bitwise_and.Scalar_out", bitwise<"BitwiseAnd", "LogicalAnd">, Shapes::Dynamic},
    {"aten::bitwise_and.Tensor_out", bitwise<"BitwiseAnd", "LogicalAnd">, Shapes::Dynamic},
    {"aten::bitwise_left_shift.Tensor_Scalar_out", shift<true>, Shapes::Dynamic},
    {"aten::bitwise_not.out", bitwise_not, Shapes::Dynamic},
    {"aten::bitwise_or.Scalar_out", bitwise<"BitwiseOr", "LogicalOr">, Shapes::Dynamic},
    {"aten::bitwise_or.Tensor_out", bitwise<"BitwiseOr", "LogicalOr">, Shapes::Dynamic},
    {"aten::bitwise_right_shift.Tensor_Scalar_out", shift<false>, Shapes::Dynamic},
    {"aten::bitwise_xor.Scalar_out", bitwise<"BitwiseXor", "LogicalXor">, Shapes::Dynamic},
    {"aten::bitwise_xor.Tensor_out", bitwise<"BitwiseXor", "LogicalXor">, Shapes::Dynamic},
    {"aten::div.out_mode", divide_by_mode, Shapes::Dynamic},
    {"aten::div.Scalar_mode_out", divide_by_mode, Shapes::Dynamic},
    {"aten::floor_divide.out", floor_divide, Shapes::Dynamic},
    {"aten::fmod.Scalar_out", rest<Rounding::Trunc>, Shapes::Dynamic},
    {"aten::fmod.Tensor_out", rest<Rounding::Trunc>, Shapes::Dynamic},
    {"aten::remainder.Scalar_out", rest<Rounding::Floor>, Shapes::Dynamic},
    {"aten::remainder.Tensor_out", rest<Rounding::Floor>, Shapes::Dynamic},
};

}  // namespace

std::span<const LoweringRow> integer_rows() { return kRows; }

}  // namespace pteron
