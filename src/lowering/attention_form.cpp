#include "lowering/attention_form.h"

#include <algorithm>
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

// A batch of matrices, and the factor that scales all of them.
struct Matrices {
  Output output;
  Shape shape;  // Of rank 3 or 4.
  double factor = 1;
};

std::optional<Shape> batch_shape(const Call& call, Output output) {
  const Shape* shape = call.graph.shape(output);
  if (shape == nullptr || shape->size() < 3 || shape->size() > 4) return {};
  return *shape;
}

// What an output is before it was scaled and its heads were taken together.
std::optional<Matrices> unscaled(const Call& call, Output output) {
  const auto shape = batch_shape(call, output);
  if (!shape) return {};
  Matrices found{output, *shape, 1};
  for (;;) {
    const Node& node = node_of(call, found.output);
    double factor = 1;
    if (node.operation == "Multiply") {
      const auto number = number_of(call, node.inputs[1]);
      if (!number) return found;
      factor = *number;
    } else if (node.operation != "Reshape") {
      return found;
    }
    const auto before = batch_shape(call, node.inputs[0]);
    // Of its two last dimensions nothing may change.
    if (!before || !std::equal(before->end() - 2, before->end(), found.shape.end() - 2))
      return found;
    found = {node.inputs[0], *before, found.factor * factor};
  }
}

int64_t batch_of(const Shape& shape) {
  int64_t count = 1;
  for (size_t d = 0; d + 2 < shape.size(); ++d) count *= shape[d];
  return count;
}

// Of rank 4: [1, batch, rows, columns], unless it is that already.
Output with_heads(Call& call, const Matrices& matrices, bool as_it_is) {
  if (as_it_is) return matrices.output;
  const Shape& shape = matrices.shape;
  const int64_t to[] = {1, batch_of(shape), shape[shape.size() - 2], shape[shape.size() - 1]};
  return call.reshaped(matrices.output, to);
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
  const auto q = unscaled(call, matmul.inputs[0]);
  const auto k = unscaled(call, matmul.inputs[1]);
  const auto v = unscaled(call, values);
  if (!q || !k || !v || v->factor != 1) return {};
  const int64_t width = q->shape.back();
  const auto fits = [&](const Matrices& matrices, int64_t height, int64_t columns) {
    const Shape& own = matrices.shape;
    return own[own.size() - 2] == height && own.back() == columns &&
           batch_of(own) == batch_of(q->shape);
  };
  if (width < 1 || !fits(*q, rows, width) || !fits(*v, keys, v->shape.back()) ||
      !(is_transposed ? fits(*k, keys, width) : fits(*k, width, keys)))
    return {};
  const auto same_heads = [&](const Matrices& matrices) {
    return matrices.shape.size() == 4 &&
           std::equal(q->shape.begin(), q->shape.begin() + 2, matrices.shape.begin());
  };
  const bool as_they_are = q->shape.size() == 4 && same_heads(*k) && same_heads(*v);
  // The operation's own factor is the usual one.
  const double usual = 1 / std::sqrt(static_cast<double>(width));
  Output query = with_heads(call, *q, as_they_are);
  const double factor = q->factor * k->factor / usual;
  if (!std::isfinite(factor)) return {};
  if (std::fabs(factor - 1) > 1e-6)
    query = call.node("Multiply", {query, call.scalar(factor, DType::Float32)}, DType::Float32);
  const int64_t swapped[] = {0, 1, 3, 2};
  Output key = with_heads(call, *k, as_they_are);
  if (!is_transposed) key = call.transposed(key, swapped);
  const Output attention =
      call.node("ScaledDotProductAttention", {query, key, with_heads(call, *v, as_they_are)},
                DType::Float32, "opset13", {{"causal", "false"}});
  return call.reshaped(attention, call.shape(out));
}

}  // namespace pteron
