#include "lowering/attention_form.h"

#include <cmath>
#include <cstring>
#include <string_view>

namespace pteron {
namespace {

using ir::Node;
using ir::Output;
using ir::Shape;

const Node& node_of(const Call& call, Output output) { return call.graph.nodes()[output.node]; }

// The input of a node of this operation; nothing if it is another.
std::optional<Output> input_of(const Call& call, Output output, std::string_view operation) {
  const Node& node = node_of(call, output);
  if (node.operation != operation) return {};
  return node.inputs[0];
}

Output behind_reshapes(const Call& call, Output output) {
  while (const auto input = input_of(call, output, "Reshape")) output = *input;
  return output;
}

// A constant of one element.
std::optional<float> number_of(const Call& call, Output output) {
  const Node& node = node_of(call, output);
  float number = 0;
  if (node.operation != "Const" || node.outputs[0] != DType::Float32 ||
      node.data.size() != sizeof number)
    return {};
  std::memcpy(&number, node.data.data(), sizeof number);
  return number;
}

std::optional<int64_t> axis_of(const Call& call, Output reduction) {
  const Node& axes = node_of(call, node_of(call, reduction).inputs[1]);
  int64_t axis = 0;
  if (axes.operation != "Const" || axes.data.size() != sizeof axis) return {};
  std::memcpy(&axis, axes.data.data(), sizeof axis);
  return axis;
}

std::string_view attribute(const Node& node, std::string_view key) {
  for (const auto& [name, value] : node.attributes) {
    if (name == key) return value;
  }
  return {};
}

bool has_heads(const Call& call, Output output) {
  const Shape* shape = call.graph.shape(output);
  return shape != nullptr && shape->size() == 4;
}

// What is a matrix in its last two dimensions, without the factors that scale all of it and what
// takes its heads together.
struct Scaled {
  Output matrix;
  double factor = 1;
};
Scaled unscaled(const Call& call, Output output) {
  Scaled found{output, 1};
  for (;;) {
    const Node& node = node_of(call, found.matrix);
    if (node.operation == "Multiply") {
      const auto factor = number_of(call, node.inputs[1]);
      if (!factor) return found;
      found.factor *= *factor;
    } else if (node.operation != "Reshape" || has_heads(call, found.matrix)) {
      return found;
    }
    found.matrix = node.inputs[0];
  }
}

// [batch, heads, rows, columns], if the output's shape is known and of rank 4, and its matrices are
// `like`'s.
std::optional<Shape> heads_of(const Call& call, Output output, const Shape& like) {
  const Shape* shape = call.graph.shape(output);
  if (shape == nullptr || shape->size() != 4 || like.size() < 2) return {};
  if ((*shape)[2] != like[like.size() - 2] || (*shape)[3] != like[like.size() - 1]) return {};
  return *shape;
}

}  // namespace

std::optional<Output> without_guard(Call& call, Output condition, Output otherwise,
                                    Output softmax) {
  const auto scores = input_of(call, softmax, "SoftMax");
  if (!scores || call.graph.dtype(softmax) != DType::Float32) return {};
  const auto some = input_of(call, condition, "LogicalNot");
  const auto finite = some ? input_of(call, *some, "ReduceLogicalOr") : std::nullopt;
  const auto infinite = finite ? input_of(call, *finite, "LogicalNot") : std::nullopt;
  if (!infinite || input_of(call, *infinite, "Equal") != scores) return {};
  const auto number = number_of(call, node_of(call, *infinite).inputs[1]);
  if (number != -HUGE_VALF) return {};
  const auto axis = axis_of(call, *some);
  if (!axis || std::to_string(*axis) != attribute(node_of(call, softmax), "axis")) return {};
  const auto filling = input_of(call, otherwise, "Broadcast");
  if (!filling || number_of(call, *filling) != 0.0f) return {};
  if (node_of(call, behind_reshapes(call, *scores)).operation != "MatMul") return {};
  return softmax;
}

std::optional<Output> as_attention(Call& call, Output weights, Output values, size_t out) {
  if (call.graph.dtype(weights) != DType::Float32 || !call.is_static(out)) return {};
  const Output softmax = behind_reshapes(call, weights);
  const auto scores = input_of(call, softmax, "SoftMax");
  if (!scores) return {};
  const Output product = behind_reshapes(call, *scores);
  const Node& matmul = node_of(call, product);
  const Shape* shape = call.graph.shape(product);
  const Shape* softmax_shape = call.graph.shape(softmax);
  if (matmul.operation != "MatMul" || attribute(matmul, "transpose_a") == "true" ||
      shape == nullptr || softmax_shape == nullptr || shape->size() < 3)
    return {};
  const bool is_transposed = attribute(matmul, "transpose_b") == "true";
  const auto axis = static_cast<int64_t>(softmax_shape->size()) - 1;
  if (attribute(node_of(call, softmax), "axis") != std::to_string(axis)) return {};
  // Its matrices are the product's.
  const int64_t rows = (*shape)[shape->size() - 2];
  const int64_t keys = (*shape)[shape->size() - 1];
  if (softmax_shape->size() < 3 || (*softmax_shape)[softmax_shape->size() - 2] != rows ||
      softmax_shape->back() != keys)
    return {};

  const Shape* value_shape = call.graph.shape(values);
  if (value_shape == nullptr || value_shape->size() < 3 ||
      (*value_shape)[value_shape->size() - 2] != keys)
    return {};
  const Scaled q = unscaled(call, matmul.inputs[0]);
  const Scaled k = unscaled(call, matmul.inputs[1]);
  const Output v = unscaled(call, values).factor == 1 ? unscaled(call, values).matrix : values;
  const Shape* q_own = call.graph.shape(q.matrix);
  if (q_own == nullptr || q_own->size() != 4) return {};
  const int64_t width = (*q_own)[3];
  const auto q_shape = heads_of(call, q.matrix, {rows, width});
  const auto k_shape =
      heads_of(call, k.matrix, is_transposed ? Shape{keys, width} : Shape{width, keys});
  const auto v_shape = heads_of(call, v, {keys, value_shape->back()});
  if (!q_shape || !k_shape || !v_shape || width < 1) return {};
  for (const size_t d : {0, 1}) {
    if ((*k_shape)[d] != (*q_shape)[d] || (*v_shape)[d] != (*q_shape)[d]) return {};
  }
  // The operation's own factor is the usual one.
  const double usual = 1 / std::sqrt(static_cast<double>(width));
  Output query = q.matrix;
  const double factor = q.factor * k.factor / usual;
  if (!std::isfinite(factor)) return {};
  if (std::fabs(factor - 1) > 1e-6)
    query = call.node("Multiply", {query, call.scalar(factor, DType::Float32)}, DType::Float32);
  const int64_t swapped[] = {0, 1, 3, 2};
  const Output key = is_transposed ? k.matrix : call.transposed(k.matrix, swapped);
  const Output attention = call.node("ScaledDotProductAttention", {query, key, v}, DType::Float32,
                                     "opset13", {{"causal", "false"}});
  return call.reshaped(attention, call.shape(out));
}

}  // namespace pteron
