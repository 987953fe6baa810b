// Operators on each element: OpenVINO computes them on the broadcast of its inputs, like PyTorch.
#include <algorithm>
#include <cmath>

#include "lowering/call.h"
#include "lowering/rules.h"

namespace pteron {
namespace {

using ir::Output;

// One input of floats, an operation of the same.
template <Text kOperation, Text kOpset = "opset1">
Reason unary(Call& call) {
  const size_t out = call.size() - 1;
  if (Reason reason = require_floats(call, {0, out}); !reason.empty()) return reason;
  call.set(out, call.node(kOperation.view(), {call.tensor(0)}, call.dtype(out), kOpset.view()));
  return {};
}

// Two inputs of one dtype, floats or those integers whose results wrap as PyTorch's do.
template <Text kOperation>
Reason binary(Call& call) {
  if (Reason reason = require_arithmetic(call, {0, 1, 2}); !reason.empty()) return reason;
  call.set(2, call.node(kOperation.view(), {call.tensor(0), call.tensor(1)}, call.dtype(2)));
  return {};
}
template <Text kOperation>
Reason float_binary(Call& call) {
  if (Reason reason = require_floats(call, {0, 1, 2}); !reason.empty()) return reason;
  call.set(2, call.node(kOperation.view(), {call.tensor(0), call.tensor(1)}, call.dtype(2)));
  return {};
}

// A tensor and a number, of floats.
template <Text kOperation>
Reason with_number(Call& call) {
  if (Reason reason = require_floats(call, {0, 2}); !reason.empty()) return reason;
  const Output number = call.scalar(call.real(1), call.dtype(2));
  call.set(2, call.node(kOperation.view(), {call.tensor(0), number}, call.dtype(2)));
  return {};
}

// a + alpha * b, b a tensor or a number.
template <Text kOperation>
Reason with_alpha(Call& call) {
  if (Reason reason = require_arithmetic(call, {0, 1, 3}); !reason.empty()) return reason;
  const DType dtype = call.dtype(3);
  if (call.is_double(2) && dtype == DType::Int32) return "alpha is no integer";
  Output b = call.tensor(1);
  if (call.real(2) != 1) b = call.node("Multiply", {b, call.scalar(call.real(2), dtype)}, dtype);
  call.set(3, call.node(kOperation.view(), {call.tensor(0), b}, dtype));
  return {};
}
template <Text kOperation>
Reason number_with_alpha(Call& call) {
  if (Reason reason = require_floats(call, {0, 3}); !reason.empty()) return reason;
  const Output number = call.scalar(call.real(1) * call.real(2), call.dtype(3));
  call.set(3, call.node(kOperation.view(), {call.tensor(0), number}, call.dtype(3)));
  return {};
}
// b - alpha * a
Reason rsub(Call& call) {
  if (Reason reason = require_floats(call, {0, 3}); !reason.empty()) return reason;
  const DType dtype = call.dtype(3);
  Output a = call.tensor(0);
  if (call.real(2) != 1) a = call.node("Multiply", {a, call.scalar(call.real(2), dtype)}, dtype);
  call.set(3, call.node("Subtract", {call.scalar(call.real(1), dtype), a}, dtype));
  return {};
}

// OpenVINO's GreaterEqual and LessEqual hold of NaN.
Output compared(Call& call, std::string_view operation, Output a, Output b) {
  const bool or_equal = operation == "GreaterEqual" || operation == "LessEqual";
  if (!or_equal) return call.node(operation, {a, b}, DType::Bool);
  const Output strictly =
      call.node(operation == "GreaterEqual" ? "Greater" : "Less", {a, b}, DType::Bool);
  const Output equal = call.node("Equal", {a, b}, DType::Bool);
  return call.node("LogicalOr", {strictly, equal}, DType::Bool);
}
template <Text kOperation>
Reason compare(Call& call) {
  if (Reason reason = require_floats(call, {0, 1}); !reason.empty()) return reason;
  if (call.dtype(2) != DType::Bool) return "the result is not bool";
  call.set(2, compared(call, kOperation.view(), call.tensor(0), call.tensor(1)));
  return {};
}
template <Text kOperation>
Reason compare_number(Call& call) {
  if (Reason reason = require_floats(call, {0}); !reason.empty()) return reason;
  if (call.dtype(2) != DType::Bool) return "the result is not bool";
  const Output number = call.scalar(call.real(1), call.dtype(0));
  call.set(2, compared(call, kOperation.view(), call.tensor(0), number));
  return {};
}
template <Text kOperation>
Reason logical(Call& call) {
  for (const size_t i : {0, 1, 2}) {
    if (call.dtype(i) != DType::Bool) return refuse_dtype(call, i);
  }
  call.set(2, call.node(kOperation.view(), {call.tensor(0), call.tensor(1)}, DType::Bool));
  return {};
}
Reason logical_not(Call& call) {
  if (call.dtype(0) != DType::Bool || call.dtype(1) != DType::Bool) return refuse_dtype(call, 0);
  call.set(1, call.node("LogicalNot", {call.tensor(0)}, DType::Bool));
  return {};
}

Reason where(Call& call) {
  if (call.dtype(0) != DType::Bool) return refuse_dtype(call, 0);
  if (call.dtype(1) != call.dtype(3) || call.dtype(2) != call.dtype(3))
    return "its operands have several dtypes";
  if (Reason reason = require_moved(call, {1, 2, 3}); !reason.empty()) return reason;
  call.set(3, call.node("Select", {call.tensor(0), call.tensor(1), call.tensor(2)}, call.dtype(3),
                        "opset1", {{"auto_broadcast", "numpy"}}));
  return {};
}

Reason relu(Call& call) {
  if (follows_layer(call, call.tensor(0))) return unary<"ReLU">(call);
  if (Reason reason = require_floats(call, {0, 1}); !reason.empty()) return reason;
  // Of OpenVINO's Maximum the second operand's NaNs come through.
  const DType dtype = call.dtype(1);
  call.set(1, call.node("Maximum", {call.scalar(0, dtype), call.tensor(0)}, dtype));
  return {};
}

Reason exp(Call& call) {
  if (Reason reason = unary<"Exp">(call); !reason.empty()) return reason;
  call.set(1, keeping_nan(call, call.tensor(0), call.tensor(1)));
  return {};
}

Reason clamp(Call& call) {
  if (Reason reason = require_floats(call, {0, 3}); !reason.empty()) return reason;
  const double infinity = HUGE_VAL;
  const double low = call.has(1) ? call.real(1) : -infinity;
  const double high = call.has(2) ? call.real(2) : infinity;
  if (!(low <= high)) return "its bounds are not in order";
  const Output x = call.tensor(0);
  const Output clamped = call.node("Clamp", {x}, call.dtype(3), "opset1",
                                   {{"min", ir::number_text(low)}, {"max", ir::number_text(high)}});
  call.set(3, follows_layer(call, x) ? clamped : keeping_nan(call, x, clamped));
  return {};
}

Reason gelu(Call& call) {
  if (Reason reason = require_floats(call, {0, 2}); !reason.empty()) return reason;
  const bool by_tanh = call.string(1) == "tanh";
  const Output x = call.tensor(0);
  const DType dtype = call.dtype(2);
  Output result =
      call.node("Gelu", {x}, dtype, "opset7", {{"approximation_mode", by_tanh ? "TANH" : "ERF"}});
  if (!by_tanh && !follows_layer(call, x)) {
    // OpenVINO makes NaN of infinity.
    const Output infinite = call.node("Equal", {x, call.scalar(HUGE_VAL, dtype)}, DType::Bool);
    result =
        call.node("Select", {infinite, x, result}, dtype, "opset1", {{"auto_broadcast", "numpy"}});
  }
  call.set(2, result);
  return {};
}

Reason leaky_relu(Call& call) {
  if (Reason reason = require_floats(call, {0, 2}); !reason.empty()) return reason;
  const int64_t one[] = {1};
  const DType dtype = call.dtype(2);
  const Output slope = call.reshaped(call.scalar(call.real(1), dtype), one);
  call.set(2, call.node("PReLU", {call.tensor(0), slope}, dtype));
  return {};
}

Reason reciprocal(Call& call) {
  if (Reason reason = require_floats(call, {0, 1}); !reason.empty()) return reason;
  const DType dtype = call.dtype(1);
  call.set(1, call.node("Divide", {call.scalar(1, dtype), call.tensor(0)}, dtype));
  return {};
}
Reason rsqrt(Call& call) {
  if (Reason reason = require_floats(call, {0, 1}); !reason.empty()) return reason;
  const DType dtype = call.dtype(1);
  const Output root = call.node("Sqrt", {call.tensor(0)}, dtype);
  call.set(1, call.node("Divide", {call.scalar(1, dtype), root}, dtype));
  return {};
}

Reason pow_number(Call& call) {
  if (Reason reason = require_floats(call, {0, 2}); !reason.empty()) return reason;
  const DType dtype = call.dtype(2);
  const double exponent = call.real(1);
  if (exponent == 2)
    call.set(2, call.node("Multiply", {call.tensor(0), call.tensor(0)}, dtype));
  else if (exponent == 0.5)
    call.set(2, call.node("Sqrt", {call.tensor(0)}, dtype));
  else
    call.set(2, call.node("Power", {call.tensor(0), call.scalar(exponent, dtype)}, dtype));
  return {};
}

constexpr LoweringRow kRows[] = {
    {"aten::abs.out", unary<"Abs">, Shapes::Dynamic},
    {"aten::add.out", with_alpha<"Add">, Shapes::Dynamic},
    {"aten::add.Scalar_out", number_with_alpha<"Add">, Shapes::Dynamic},
    {"aten::ceil.out", unary<"Ceiling">, Shapes::Dynamic},
    {"aten::clamp.out", clamp, Shapes::Dynamic},
    {"aten::cos.out", unary<"Cos">, Shapes::Dynamic},
    {"aten::div.out", float_binary<"Divide">, Shapes::Dynamic},
    {"aten::div.Scalar_out", with_number<"Divide">, Shapes::Dynamic},
    {"aten::eq.Scalar_out", compare_number<"Equal">, Shapes::Dynamic},
    {"aten::eq.Tensor_out", compare<"Equal">, Shapes::Dynamic},
    {"aten::erf.out", unary<"Erf">, Shapes::Dynamic},
    {"aten::exp.out", exp, Shapes::Dynamic},
    {"aten::floor.out", unary<"Floor">, Shapes::Dynamic},
    {"aten::ge.Scalar_out", compare_number<"GreaterEqual">, Shapes::Dynamic},
    {"aten::ge.Tensor_out", compare<"GreaterEqual">, Shapes::Dynamic},
    {"aten::gelu.out", gelu, Shapes::Dynamic},
    {"aten::gt.Scalar_out", compare_number<"Greater">, Shapes::Dynamic},
    {"aten::gt.Tensor_out", compare<"Greater">, Shapes::Dynamic},
    {"aten::hardtanh.out", clamp, Shapes::Dynamic},
    {"aten::le.Scalar_out", compare_number<"LessEqual">, Shapes::Dynamic},
    {"aten::le.Tensor_out", compare<"LessEqual">, Shapes::Dynamic},
    {"aten::leaky_relu.out", leaky_relu, Shapes::Dynamic},
    {"aten::log.out", unary<"Log">, Shapes::Dynamic},
    {"aten::logical_and.out", logical<"LogicalAnd">, Shapes::Dynamic},
    {"aten::logical_not.out", logical_not, Shapes::Dynamic},
    {"aten::logical_or.out", logical<"LogicalOr">, Shapes::Dynamic},
    {"aten::logical_xor.out", logical<"LogicalXor">, Shapes::Dynamic},
    {"aten::lt.Scalar_out", compare_number<"Less">, Shapes::Dynamic},
    {"aten::lt.Tensor_out", compare<"Less">, Shapes::Dynamic},
    {"aten::mul.out", binary<"Multiply">, Shapes::Dynamic},
    {"aten::mul.Scalar_out", with_number<"Multiply">, Shapes::Dynamic},
    {"aten::ne.Scalar_out", compare_number<"NotEqual">, Shapes::Dynamic},
    {"aten::ne.Tensor_out", compare<"NotEqual">, Shapes::Dynamic},
    {"aten::neg.out", unary<"Negative">, Shapes::Dynamic},
    {"aten::pow.Tensor_Scalar_out", pow_number, Shapes::Dynamic},
    {"aten::reciprocal.out", reciprocal, Shapes::Dynamic},
    {"aten::relu.out", relu, Shapes::Dynamic},
    {"aten::rsqrt.out", rsqrt, Shapes::Dynamic},
    {"aten::rsub.Scalar_out", rsub, Shapes::Dynamic},
    {"aten::sigmoid.out", unary<"Sigmoid">, Shapes::Dynamic},
    {"aten::sin.out", unary<"Sin">, Shapes::Dynamic},
    {"aten::sqrt.out", unary<"Sqrt">, Shapes::Dynamic},
    {"aten::sub.out", with_alpha<"Subtract">, Shapes::Dynamic},
    {"aten::sub.Scalar_out", number_with_alpha<"Subtract">, Shapes::Dynamic},
    {"aten::tanh.out", unary<"Tanh">, Shapes::Dynamic},
    {"aten::where.self_out", where, Shapes::Dynamic},
};

}  // namespace

std::span<const LoweringRow> elementwise_rows() { return kRows; }

}  // namespace pteron
