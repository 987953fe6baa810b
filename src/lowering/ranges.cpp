#include "lowering/ranges.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>

namespace pteron {
namespace {

// Past it, sums and products count as anything.
constexpr int64_t kMost = int64_t{1} << 62;

int64_t clamped(double value) {
  if (value >= static_cast<double>(kMost)) return INT64_MAX;
  if (value <= -static_cast<double>(kMost)) return INT64_MIN;
  return static_cast<int64_t>(value);
}

// In double: what is not exact there is far beyond what any row demands.
Range sum(const Range& a, const Range& b) {
  return {clamped(static_cast<double>(a.low) + static_cast<double>(b.low)),
          clamped(static_cast<double>(a.high) + static_cast<double>(b.high))};
}
Range negated(const Range& a) {
  return {clamped(-static_cast<double>(a.high)), clamped(-static_cast<double>(a.low))};
}
Range product(const Range& a, const Range& b) {
  const double corners[] = {static_cast<double>(a.low) * static_cast<double>(b.low),
                            static_cast<double>(a.low) * static_cast<double>(b.high),
                            static_cast<double>(a.high) * static_cast<double>(b.low),
                            static_cast<double>(a.high) * static_cast<double>(b.high)};
  return {clamped(*std::min_element(corners, corners + 4)),
          clamped(*std::max_element(corners, corners + 4))};
}
Range hull(const Range& a, const Range& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

Range range_of(DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return {0, 1};
    case DType::UInt8:
      return {0, UINT8_MAX};
    case DType::Int8:
      return {INT8_MIN, INT8_MAX};
    case DType::Int16:
      return {INT16_MIN, INT16_MAX};
    case DType::Int32:
      return kInt32;
    default:
      return {};
  }
}

template <typename T>
Range range_of(ir::Bytes data) {
  Range range{INT64_MAX, INT64_MIN};
  for (size_t at = 0; at + sizeof(T) <= data.size(); at += sizeof(T)) {
    T element;
    std::memcpy(&element, data.data() + at, sizeof element);
    range = hull(range, {element, element});
  }
  return range.low > range.high ? Range{0, 0} : range;
}

Range range_of(const ir::Node& constant) {
  switch (constant.outputs[0]) {
    case DType::Int32:
      return range_of<int32_t>(constant.data);
    case DType::Int64:
      return range_of<int64_t>(constant.data);
    default:
      return range_of(constant.outputs[0]);
  }
}

bool is_any(std::string_view operation, std::initializer_list<std::string_view> of) {
  return std::find(of.begin(), of.end(), operation) != of.end();
}

// Operations whose results have elements of their first input alone.
bool moves_first(std::string_view operation) {
  return is_any(operation, {"Reshape", "Transpose", "Broadcast", "Slice", "StridedSlice", "Gather",
                            "GatherElements", "GatherND", "Tile", "VariadicSplit", "Split",
                            "Squeeze", "Unsqueeze", "ReduceMax", "ReduceMin", "DepthToSpace",
                            "SpaceToDepth", "ReverseSequence", "Roll"});
}

// Integers that are divided: quotients towards 0, and what they leave.
Range of_division(std::string_view operation, const Range& a, const Range& b, const Range& all) {
  if (b.low <= 0 && b.high >= 0) return all;
  const bool is_positive = b.low > 0;
  if (operation == "FloorMod")
    return is_positive ? Range{0, b.high - 1} : Range{sum(b, {1, 1}).low, 0};
  if (operation == "Mod") {
    const Range greatest = is_positive ? b : negated(b);
    return hull({0, greatest.high - 1}, negated({0, greatest.high - 1}));
  }
  if (is_positive) return hull({0, 0}, a);
  const Range either = hull({0, 0}, hull(a, negated(a)));
  return either.within(all) ? either : all;
}

Range of_bits(std::string_view operation, const Range& a, const Range& b, const Range& all) {
  if (operation == "BitwiseAnd" && b.low >= 0) return {0, b.high};
  if (operation == "BitwiseAnd" && a.low >= 0) return {0, a.high};
  return a.within(kInt32) && b.within(kInt32)
             ? Range{std::max(all.low, kInt32.low), std::min(all.high, kInt32.high)}
             : all;
}

}  // namespace

Range Ranges::known(ir::Output output) const {
  // Places beside values: TopK's and a pool's second output.
  if (output.port > 0 &&
      is_any(graph_.nodes()[output.node].operation, {"TopK", "MaxPool", "AdaptiveMaxPool"}))
    return {0, INT32_MAX};
  return known_[output.node];
}

Range Ranges::find(const ir::Node& node) const {
  const DType dtype = node.outputs[0];
  const std::string_view operation = node.operation;
  const Range all = range_of(dtype);
  if (operation == "Const") return range_of(node);
  // What wraps may be anything.
  const auto unless_wrapped = [&](const Range& range) { return range.within(all) ? range : all; };
  if (moves_first(operation)) return input(node, 0);
  if (operation == "BitwiseAnd" && input(node, 1).low >= 0) return {0, input(node, 1).high};
  if (operation == "Concat" || operation == "Maximum" || operation == "Minimum") {
    Range range = input(node, 0);
    for (size_t i = 1; i < node.inputs.size(); ++i) range = hull(range, input(node, i));
    return range;
  }
  if (operation == "Select") return hull(input(node, 1), input(node, 2));
  if (operation == "Pad")
    return node.inputs.size() > 3 ? hull(input(node, 0), input(node, 3))
                                  : hull(input(node, 0), {0, 0});
  if (operation == "ScatterNDUpdate" || operation == "ScatterUpdate" ||
      operation == "ScatterElementsUpdate") {
    const auto reduction = std::find_if(node.attributes.begin(), node.attributes.end(),
                                        [](const auto& a) { return a.first == "reduction"; });
    const bool replaces = reduction == node.attributes.end() || reduction->second == "none";
    return replaces ? hull(input(node, 0), input(node, 2)) : all;
  }
  if (operation == "Convert") {
    const DType from = graph_.dtype(node.inputs[0]);
    const bool is_int = range_of(from) != Range{} || from == DType::Int64;
    return is_int && dtype != DType::Bool ? unless_wrapped(input(node, 0)) : all;
  }
  if (operation == "Add") return unless_wrapped(sum(input(node, 0), input(node, 1)));
  if (operation == "Subtract") return unless_wrapped(sum(input(node, 0), negated(input(node, 1))));
  if (operation == "Multiply") return unless_wrapped(product(input(node, 0), input(node, 1)));
  if (operation == "Negative") return unless_wrapped(negated(input(node, 0)));
  if (operation == "Abs") {
    const Range range = input(node, 0);
    return unless_wrapped({0, std::max(range.high, negated(range).high)});
  }
  if (is_any(operation, {"FloorMod", "Mod", "Divide"}))
    return of_division(operation, input(node, 0), input(node, 1), all);
  if (is_any(operation, {"BitwiseAnd", "BitwiseOr", "BitwiseXor"}))
    return of_bits(operation, input(node, 0), input(node, 1), all);
  // Sizes and places in a tensor: OpenVINO's own are no greater.
  if (is_any(operation, {"ShapeOf", "NonZero"})) return {0, INT32_MAX};
  if (operation == "Range") return hull(input(node, 0), input(node, 1));
  return all;
}

Range Ranges::of(ir::Output output) {
  const auto& nodes = graph_.nodes();
  while (known_.size() <= output.node) {
    const auto at = static_cast<uint32_t>(known_.size());
    const auto check = checks_.find(at);
    known_.push_back(check != checks_.end() ? check->second : find(nodes[at]));
  }
  return known(output);
}

std::vector<uint32_t> Ranges::parameters_of(ir::Output output) const {
  std::vector<uint32_t> found;
  std::set<uint32_t> seen{output.node};
  std::vector<uint32_t> open{output.node};
  while (!open.empty()) {
    const uint32_t at = open.back();
    open.pop_back();
    const ir::Node& node = graph_.nodes()[at];
    const DType dtype = node.outputs[0];
    if (dtype != DType::Int32 && dtype != DType::Int64) continue;
    if (node.operation == "Parameter") found.push_back(at);
    for (const ir::Output& input : node.inputs) {
      if (seen.insert(input.node).second) open.push_back(input.node);
    }
  }
  return found;
}

uint32_t Ranges::moved_from(ir::Output output) const {
  for (;;) {
    const ir::Node& node = graph_.nodes()[output.node];
    if (node.operation == "Parameter") return output.node;
    const bool moves = moves_first(node.operation) || node.operation == "Convert";
    if (!moves) return UINT32_MAX;
    const DType from = graph_.dtype(node.inputs[0]);
    if (from != DType::Int32 && from != DType::Int64) return UINT32_MAX;
    output = node.inputs[0];
  }
}

void Ranges::restrict(uint32_t parameter, const Range& to) {
  const Range was = of({parameter, 0});
  checks_[parameter] = {std::max(was.low, to.low), std::min(was.high, to.high)};
  known_.resize(parameter);
}

bool Ranges::demand(ir::Output output, const Range& within) {
  if (of(output).within(within)) return true;
  if (const uint32_t source = moved_from(output); source != UINT32_MAX) {
    restrict(source, within);
    return true;
  }
  const auto before = checks_;
  for (const uint32_t parameter : parameters_of(output)) restrict(parameter, kExactInFloat);
  if (of(output).within(within)) return true;
  checks_ = before;
  known_.clear();
  return false;
}

}  // namespace pteron
