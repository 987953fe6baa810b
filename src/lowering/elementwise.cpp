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

template <Text kOperation>
Reason compare(Call& call) {
  if (Reason reason = require_floats(call, {0, 1}); !reason.empty()) return reason;
  if (call.dtype(2) != DType::Bool) return "the result is not bool";
  call.set(2, call.node(kOperation.view(), {call.tensor(0), call.tensor(1)}, DType::Bool));
  return {};
}
template <Text kOperation>
Reason compare_number(Call& call) {
  if (Reason reason = require_floats(call, {0}); !reason.empty()) return reason;
  if (call.dtype(2) != DType::Bool) return "the result is not bool";
  const Output number = call.scalar(call.real(1), call.dtype(0));
  call.set(2, call.node(kOperation.view(), {call.tensor(0), number}, DType::Bool));
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

Reason relu(Call& call) { return unary<"ReLU">(call); }

Reason clamp(Call& call) {
  if (Reason reason = require_floats(call, {0, 3}); !reason.empty()) return reason;
  const double infinity = HUGE_VAL;
  const double low = call.has(1) ? call.real(1) : -infinity;
  const double high = call.has(2) ? call.real(2) : infinity;
  if (!(low <= high)) return "its bounds are not in order";
  call.set(3, call.node("Clamp", {call.tensor(0)}, call.dtype(3), "opset1",
                        {{"min", ir::number_text(low)}, {"max", ir::number_text(high)}}));
  return {};
}

Reason gelu(Call& call) {
  if (Reason reason = require_floats(call, {0, 2}); !reason.empty()) return reason;
  const bool by_tanh = call.string(1) == "tanh";
  call.set(2, call.node("Gelu", {call.tensor(0)}, call.dtype(2), "opset7",
                        {{"approximation_mode", by_tanh ? "TANH" : "ERF"}}));
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
    {"aten::abs.out", unary<"Abs">},
    {"aten::add.out", with_alpha<"Add">},
    {"aten::add.Scalar_out", number_with_alpha<"Add">},
    {"aten::ceil.out", unary<"Ceiling">},
    {"aten::clamp.out", clamp},
    {"aten::cos.out", unary<"Cos">},
    {"aten::div.out", float_binary<"Divide">},
    {"aten::div.Scalar_out", with_number<"Divide">},
    {"aten::eq.Scalar_out", compare_number<"Equal">},
    {"aten::eq.Tensor_out", compare<"Equal">},
    {"aten::erf.out", unary<"Erf">},
    {"aten::exp.out", unary<"Exp">},
    {"aten::floor.out", unary<"Floor">},
    {"aten::ge.Scalar_out", compare_number<"GreaterEqual">},
    {"aten::ge.Tensor_out", compare<"GreaterEqual">},
    {"aten::gelu.out", gelu},
    {"aten::gt.Scalar_out", compare_number<"Greater">},
    {"aten::gt.Tensor_out", compare<"Greater">},
    {"aten::hardtanh.out", clamp},
    {"aten::le.Scalar_out", compare_number<"LessEqual">},
    {"aten::le.Tensor_out", compare<"LessEqual">},
    {"aten::leaky_relu.out", leaky_relu},
    {"aten::log.out", unary<"Log">},
    {"aten::logical_and.out", logical<"LogicalAnd">},
    {"aten::logical_not.out", logical_not},
    {"aten::logical_or.out", logical<"LogicalOr">},
    {"aten::logical_xor.out", logical<"LogicalXor">},
    {"aten::lt.Scalar_out", compare_number<"Less">},
    {"aten::lt.Tensor_out", compare<"Less">},
    {"aten::mul.out", binary<"Multiply">},
    {"aten::mul.Scalar_out", with_number<"Multiply">},
    {"aten::ne.Scalar_out", compare_number<"NotEqual">},
    {"aten::ne.Tensor_out", compare<"NotEqual">},
    {"aten::neg.out", unary<"Negative">},
    {"aten::pow.Tensor_Scalar_out", pow_number},
    {"aten::reciprocal.out", reciprocal},
    {"aten::relu.out", relu},
    {"aten::rsqrt.out", rsqrt},
    {"aten::rsub.Scalar_out", rsub},
    {"aten::sigmoid.out", unary<"Sigmoid">},
    {"aten::sin.out", unary<"Sin">},
    {"aten::sqrt.out", unary<"Sqrt">},
    {"aten::sub.out", with_alpha<"Subtract">},
    {"aten::sub.Scalar_out", number_with_alpha<"Subtract">},
    {"aten::tanh.out", unary<"Tanh">},
    {"aten::where.self_out", where},
};

}  // namespace

std::span<const LoweringRow> elementwise_rows() { return kRows; }

}  // namespace pteron
