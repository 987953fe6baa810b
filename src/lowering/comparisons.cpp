// Comparisons, logic, and choices between elements.
#include <cmath>
#include <cstring>
#include <optional>

#include "lowering/attention_form.h"
#include "lowering/promotion.h"

namespace pteron {
namespace {

using ir::Output;

// OpenVINO's Greater and GreaterEqual hold of NaN; Less and LessEqual do not.
Output compared(Call& call, std::string_view operation, Output a, Output b) {
  if (operation == "Greater") return call.node("Less", {b, a}, DType::Bool);
  if (operation == "GreaterEqual") return call.node("LessEqual", {b, a}, DType::Bool);
  return call.node(operation, {a, b}, DType::Bool);
}
// Of two tensors, or a tensor and a number.
template <Text kOperation>
Reason compare(Call& call) {
  const DType type = result_type(call, {0, 1});
  if (Reason reason = require_operands(call, {0, 1, 2}, type); !reason.empty()) return reason;
  if (Reason reason = require_comparable(call, {0, 1}, type); !reason.empty()) return reason;
  return store_truth(
      call, 2, compared(call, kOperation.view(), operand(call, 0, type), operand(call, 1, type)));
}

template <Text kOperation>
Reason logical(Call& call) {
  if (Reason reason = require_operands(call, {0, 1}, DType::Bool); !reason.empty()) return reason;
  return store_truth(
      call, 2, call.node(kOperation.view(), {truth_of(call, 0), truth_of(call, 1)}, DType::Bool));
}
Reason logical_not(Call& call) {
  if (Reason reason = require_operands(call, {0}, DType::Bool); !reason.empty()) return reason;
  return store_truth(call, 1, call.node("LogicalNot", {truth_of(call, 0)}, DType::Bool));
}

bool is_zero(const ir::Node& node) {
  float value = 1;
  if (node.operation != "Const" || node.outputs[0] != DType::Float32 ||
      node.data.size() != sizeof value)
    return false;
  std::memcpy(&value, node.data.data(), sizeof value);
  return value == 0;
}

// where(x > 0, x, w * x) with a constant w for each channel: PReLU, which OpenVINO fuses.
std::optional<Output> as_prelu(Call& call) {
  const auto& nodes = call.graph.nodes();
  const Output x = call.tensor(1);
  const auto is_constant = [&](Output output) { return nodes[output.node].operation == "Const"; };
  const ir::Node& condition = nodes[call.tensor(0).node];
  const ir::Node& scaled = nodes[call.tensor(2).node];
  // 0 < x
  if (condition.operation != "Less" || condition.inputs[1] != x || scaled.operation != "Multiply" ||
      call.rank(1) < 2 || !is_zero(nodes[condition.inputs[0].node]))
    return {};
  const Output slope = scaled.inputs[0] == x ? scaled.inputs[1] : scaled.inputs[0];
  if (!is_constant(slope) || (scaled.inputs[0] != x && scaled.inputs[1] != x)) return {};
  // Aligned at the last dimension, all of it belongs to dimension 1.
  const ir::Shape& shape = nodes[slope.node].shape;
  const size_t rank = call.rank(1);
  int64_t channels = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    if (d + rank != shape.size() + 1) return {};
    channels = shape[d];
  }
  const int64_t shape_of_slope[] = {channels};
  return call.node("PReLU", {x, call.reshaped(slope, shape_of_slope)}, call.dtype(3));
}

Reason where(Call& call) {
  const DType type = result_type(call, {1, 2});
  if (Reason reason = require_operands(call, {0, 1, 2, 3}, type); !reason.empty()) return reason;
  const Output condition = truth_of(call, 0);
  if (call.dtype(1) == call.dtype(3) && call.dtype(2) == call.dtype(3)) {
    if (const auto prelu = as_prelu(call)) {
      call.set(3, *prelu);
      return {};
    }
    if (const auto softmax = without_guard(call, condition, call.tensor(1), call.tensor(2))) {
      call.set(3, *softmax);
      return {};
    }
    call.set(3, select(call, condition, call.tensor(1), call.tensor(2)));
    return {};
  }
  return store(call, 3, select(call, condition, operand(call, 1, type), operand(call, 2, type)),
               type);
}

// input, mask, number
Reason masked_fill(Call& call) {
  const DType type = call.dtype(0);
  if (call.dtype(1) != DType::Bool && call.dtype(1) != DType::UInt8) return refuse_dtype(call, 1);
  if (Reason reason = require_operands(call, {0, 1, 2, 3}, type); !reason.empty()) return reason;
  if (call.dtype(3) != type) return "its result is of another dtype";
  return store(call, 3,
               select(call, truth_of(call, 1), operand(call, 2, type), operand(call, 0, type)),
               type);
}

Reason isnan(Call& call) {
  const DType type = call.dtype(0);
  if (Reason reason = require_operands(call, {0}, type); !reason.empty()) return reason;
  const Output x = operand(call, 0, type);
  return store_truth(call, 1, call.node("NotEqual", {x, x}, DType::Bool));
}
Reason isinf(Call& call) {
  const DType type = call.dtype(0);
  if (Reason reason = require_operands(call, {0}, type); !reason.empty()) return reason;
  const Output x = operand(call, 0, type);
  // Integers are not.
  if (!is_floating(type)) return store_truth(call, 1, call.node("NotEqual", {x, x}, DType::Bool));
  const Output above = call.node("Equal", {x, call.scalar(HUGE_VAL, type)}, DType::Bool);
  const Output below = call.node("Equal", {x, call.scalar(-HUGE_VAL, type)}, DType::Bool);
  return store_truth(call, 1, call.node("LogicalOr", {above, below}, DType::Bool));
}

constexpr LoweringRow kRows[] = {
    {"aten::eq.Scalar_out", compare<"Equal">, Shapes::Dynamic},
    {"aten::eq.Tensor_out", compare<"Equal">, Shapes::Dynamic},
    {"aten::ge.Scalar_out", compare<"GreaterEqual">, Shapes::Dynamic},
    {"aten::ge.Tensor_out", compare<"GreaterEqual">, Shapes::Dynamic},
    {"aten::gt.Scalar_out", compare<"Greater">, Shapes::Dynamic},
    {"aten::gt.Tensor_out", compare<"Greater">, Shapes::Dynamic},
    {"aten::isinf.out", isinf, Shapes::Dynamic},
    {"aten::isnan.out", isnan, Shapes::Dynamic},
    {"aten::le.Scalar_out", compare<"LessEqual">, Shapes::Dynamic},
    {"aten::le.Tensor_out", compare<"LessEqual">, Shapes::Dynamic},
    {"aten::logical_and.out", logical<"LogicalAnd">, Shapes::Dynamic},
    {"aten::logical_not.out", logical_not, Shapes::Dynamic},
    {"aten::logical_or.out", logical<"LogicalOr">, Shapes::Dynamic},
    {"aten::logical_xor.out", logical<"LogicalXor">, Shapes::Dynamic},
    {"aten::lt.Scalar_out", compare<"Less">, Shapes::Dynamic},
    {"aten::lt.Tensor_out", compare<"Less">, Shapes::Dynamic},
    {"aten::masked_fill.Scalar_out", masked_fill, Shapes::Dynamic},
    {"aten::ne.Scalar_out", compare<"NotEqual">, Shapes::Dynamic},
    {"aten::ne.Tensor_out", compare<"NotEqual">, Shapes::Dynamic},
    {"aten::where.self_out", where, Shapes::Dynamic},
};

}  // namespace

std::span<const LoweringRow> comparison_rows() { return kRows; }

}  // namespace pteron
