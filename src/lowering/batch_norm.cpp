// Batch normalization with the statistics of training. After a convolution it is a part of the
// convolution's weights: OpenVINO folds it too, but holds the weights twice while it does.
#include <cmath>
#include <cstring>

#include "ir/write.h"
#include "lowering/call.h"
#include "lowering/rules.h"

namespace pteron {
namespace {

using ir::Output;

// A vector of ones or zeros where none is given.
Output given_or(Call& call, size_t i, float otherwise, int64_t count, DType dtype) {
  if (call.has(i)) return call.tensor(i);
  const std::vector<float> numbers(static_cast<size_t>(count), otherwise);
  return call.converted(call.graph.numbers<float>(DType::Float32, numbers), dtype);
}

// The numbers of a constant, through reshapes of it; empty if it is none of float32.
ir::Bytes constant_bytes(const ir::Graph& graph, Output output) {
  const auto& nodes = graph.nodes();
  while (nodes[output.node].operation == "Reshape") output = nodes[output.node].inputs[0];
  const ir::Node& node = nodes[output.node];
  if (node.operation != "Const" || node.outputs[0] != DType::Float32) return {};
  return node.data;
}

float at(ir::Bytes data, size_t i) {
  float value;
  std::memcpy(&value, data.data() + i * sizeof value, sizeof value);
  return value;
}

Output owned(Call& call, ir::Shape shape, const std::vector<float>& numbers) {
  const auto bytes = std::as_bytes(std::span(numbers));
  return call.graph.owned_constant(DType::Float32, std::move(shape), {bytes.begin(), bytes.end()});
}

// The convolution that `x` is, with the bias that was added to it.
struct Layer {
  const ir::Node* convolution = nullptr;
  ir::Bytes weight;
  ir::Bytes bias;  // Empty: none.
};
std::optional<Layer> find_layer(const ir::Graph& graph, Output x, size_t channels) {
  const auto& nodes = graph.nodes();
  Layer layer;
  layer.convolution = &nodes[x.node];
  if (layer.convolution->operation == "Add") {
    layer.bias = constant_bytes(graph, layer.convolution->inputs[1]);
    if (layer.bias.size() != channels * sizeof(float)) return {};
    layer.convolution = &nodes[layer.convolution->inputs[0].node];
  }
  // Of transposed ones the channels do not come first.
  const std::string_view operation = layer.convolution->operation;
  if (operation != "Convolution" && operation != "GroupConvolution") return {};
  layer.weight = constant_bytes(graph, layer.convolution->inputs[1]);
  if (layer.weight.empty() || layer.weight.size() % (channels * sizeof(float)) != 0) return {};
  return layer;
}

// The shape of a constant or of what reshapes it, as the convolution takes it.
std::optional<ir::Shape> shape_of(const ir::Graph& graph, Output output) {
  const ir::Node& node = graph.nodes()[output.node];
  if (node.operation == "Const") return node.shape;
  const ir::Node& sizes = graph.nodes()[node.inputs[1].node];
  if (node.operation != "Reshape" || sizes.operation != "Const") return {};
  ir::Shape shape(sizes.data.size() / sizeof(int64_t));
  std::memcpy(shape.data(), sizes.data.data(), sizes.data.size());
  return shape;
}

// (w * x + b - mean) * s + beta, with s = gamma / sqrt(variance + epsilon), is
// (w * s) * x + (b - mean) * s + beta.
std::optional<Output> folded(Call& call, const std::vector<Output>& norm, double epsilon) {
  ir::Graph& graph = call.graph;
  ir::Bytes numbers[4];  // gamma, beta, mean, variance
  for (size_t i = 0; i < 4; ++i) {
    numbers[i] = constant_bytes(graph, norm[i]);
    if (numbers[i].empty() || numbers[i].size() != numbers[0].size()) return {};
  }
  const size_t channels = numbers[0].size() / sizeof(float);
  const auto layer = find_layer(graph, call.tensor(0), channels);
  if (!layer) return {};
  const auto shape = shape_of(graph, layer->convolution->inputs[1]);
  if (!shape) return {};
  const size_t each = layer->weight.size() / sizeof(float) / channels;
  std::vector<float> weight(channels * each);
  std::vector<float> bias(channels);
  for (size_t c = 0; c < channels; ++c) {
    const double scale = at(numbers[0], c) / std::sqrt(at(numbers[3], c) + epsilon);
    if (!std::isfinite(scale)) return {};
    for (size_t k = 0; k < each; ++k)
      weight[c * each + k] = static_cast<float>(at(layer->weight, c * each + k) * scale);
    const double was = layer->bias.empty() ? 0 : at(layer->bias, c);
    bias[c] = static_cast<float>((was - at(numbers[2], c)) * scale + at(numbers[1], c));
  }
  const std::string_view operation = layer->convolution->operation;
  const ir::Attributes attributes = layer->convolution->attributes;
  const Output x = layer->convolution->inputs[0];
  const Output scaled = owned(call, *shape, weight);
  const Output convolved = graph.add(operation, "opset1", {x, scaled}, attributes, DType::Float32);
  ir::Shape by_channel(call.rank(0), 1);
  by_channel[1] = static_cast<int64_t>(channels);
  const Output shift = owned(call, std::move(by_channel), bias);
  return call.node("Add", {convolved, shift}, DType::Float32);
}

// input, weight, bias, mean, variance, momentum, epsilon
Reason batch_norm(Call& call) {
  if (Reason reason = require_floats(call, {0, 3, 4, 7}); !reason.empty()) return reason;
  if (call.rank(0) < 2) return "it is of rank " + std::to_string(call.rank(0));
  if (!call.is_static(3) || call.rank(3) != 1) return "a run decides its channels";
  const int64_t channels = call.size_of(3, 0);
  const DType dtype = call.dtype(7);
  const Output weight = given_or(call, 1, 1, channels, dtype);
  const Output bias = given_or(call, 2, 0, channels, dtype);
  const std::vector<Output> norm{weight, bias, call.tensor(3), call.tensor(4)};
  if (const auto layer = folded(call, norm, call.real(6))) {
    call.set(7, *layer);
    return {};
  }
  call.set(7, call.node("BatchNormInference",
                        {call.tensor(0), weight, bias, call.tensor(3), call.tensor(4)}, dtype,
                        "opset5", {{"epsilon", ir::number_text(call.real(6))}}));
  return {};
}

constexpr LoweringRow kRows[] = {
    {"aten::_native_batch_norm_legit_no_training.out", batch_norm, Shapes::Dynamic},
};

}  // namespace

std::span<const LoweringRow> batch_norm_rows() { return kRows; }

}  // namespace pteron
