#include "ir/graph.h"

namespace pteron::ir {

bool has_element_type(DType dtype) {
  switch (dtype) {
    case DType::Bool:
    case DType::UInt8:
    case DType::Int8:
    case DType::Int16:
    case DType::Int32:
    case DType::Int64:
    case DType::UInt16:
    case DType::UInt32:
    case DType::UInt64:
    case DType::Float16:
    case DType::BFloat16:
    case DType::Float32:
    case DType::Float64:
      return true;
    default:
      return false;
  }
}

Output Graph::push(Node node) {
  nodes_.push_back(std::move(node));
  return {static_cast<uint32_t>(nodes_.size() - 1), 0};
}

Output Graph::parameter(DType dtype, Shape shape, std::string name) {
  return push({"Parameter", "opset1", std::move(name), {}, {}, {dtype}, std::move(shape), {}});
}

Output Graph::constant(DType dtype, Shape shape, Bytes data) {
  const auto key = std::tuple(data.data(), data.size(), dtype, shape);
  if (const auto found = constants_.find(key); found != constants_.end()) return found->second;
  const Output output = push({"Const", "opset1", name_, {}, {}, {dtype}, std::move(shape), data});
  constants_.emplace(key, output);
  return output;
}

Output Graph::owned_constant(DType dtype, Shape shape, std::vector<std::byte> data) {
  const auto& kept = copies_.emplace_back(std::move(data));
  return push({"Const", "opset1", name_, {}, {}, {dtype}, std::move(shape), kept});
}

Output Graph::copied_constant(DType dtype, Shape shape, Bytes data) {
  auto key = std::tuple(std::string(reinterpret_cast<const char*>(data.data()), data.size()), dtype,
                        shape);
  if (const auto found = copied_.find(key); found != copied_.end()) return found->second;
  const auto& copy = copies_.emplace_back(data.begin(), data.end());
  const Output output = push({"Const", "opset1", name_, {}, {}, {dtype}, std::move(shape), copy});
  copied_.emplace(std::move(key), output);
  return output;
}

Output Graph::add(std::string_view operation, std::string_view opset, std::vector<Output> inputs,
                  Attributes attributes, DType result) {
  return add(operation, opset, std::move(inputs), std::move(attributes),
             std::vector<DType>{result});
}

Output Graph::add(std::string_view operation, std::string_view opset, std::vector<Output> inputs,
                  Attributes attributes, std::vector<DType> results) {
  auto key = std::tuple(operation, inputs, attributes, results);
  if (const auto found = added_.find(key); found != added_.end()) return found->second;
  const Output output = push({operation,
                              opset,
                              name_,
                              std::move(inputs),
                              std::move(attributes),
                              std::move(results),
                              {},
                              {}});
  added_.emplace(std::move(key), output);
  return output;
}

void Graph::result(Output output) { results_.push_back(output); }

std::vector<bool> Graph::needed() const {
  std::vector<bool> needed(nodes_.size());
  for (const Output& output : results_) needed[output.node] = true;
  // Inputs come before the nodes that use them.
  for (size_t i = nodes_.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (const Output& input : nodes_[i].inputs) needed[input.node] = true;
  }
  return needed;
}

}  // namespace pteron::ir
