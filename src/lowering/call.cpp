#include "lowering/call.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>

#include "base/half.h"

namespace pteron {

bool Call::is_number(size_t i) const {
  const ValueDef& value = *arguments_[i].value;
  return std::holds_alternative<int64_t>(value) || std::holds_alternative<double>(value) ||
         std::holds_alternative<bool>(value);
}

double Call::real(size_t i) const {
  const ValueDef& value = *arguments_[i].value;
  if (const auto* integer = std::get_if<int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
  return std::get<double>(value);
}

int64_t Call::integer(size_t i) const {
  const ValueDef& value = *arguments_[i].value;
  if (const auto* integer = std::get_if<int64_t>(&value)) return *integer;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
  const double real = std::get<double>(value);
  constexpr double kMost = 9.0e18;
  return std::isnan(real) ? 0 : static_cast<int64_t>(std::clamp(real, -kMost, kMost));
}

bool Call::has_known_shapes() const {
  const auto fixed = [](const LoweredTensor& tensor) {
    return tensor.def == nullptr || tensor.def->dynamism == Dynamism::Static;
  };
  return std::all_of(arguments_.begin(), arguments_.end(), [&](const Argument& argument) {
    return fixed(argument.tensor) && std::all_of(argument.list.begin(), argument.list.end(), fixed);
  });
}

bool Call::has_known_numbers() const {
  return std::all_of(arguments_.begin(), arguments_.end(), [&](const Argument& argument) {
    return !argument.number && argument.numbers.empty();
  });
}

ir::Output Call::number(size_t i) {
  if (arguments_[i].number) return *arguments_[i].number;
  const int64_t known = integer(i);
  return indices(std::span(&known, 1), true);
}

ir::Output Call::numbers(size_t i) {
  const Argument& argument = arguments_[i];
  if (argument.numbers.empty()) return indices(argument.ints);
  std::vector<ir::Output> parts;
  parts.reserve(argument.numbers.size());
  const int64_t one[] = {1};
  for (size_t k = 0; k < argument.numbers.size(); ++k) {
    parts.push_back(argument.numbers[k] ? reshaped(*argument.numbers[k], one)
                                        : indices(std::span(&argument.ints[k], 1)));
  }
  return node("Concat", parts, DType::Int64, "opset1", {{"axis", "0"}});
}

ir::Output Call::sizes(size_t i) {
  if (is_static(i)) return indices(shape(i));
  return node("ShapeOf", {tensor(i)}, DType::Int64, "opset3", {{"output_type", "i64"}});
}

ir::Output Call::size(size_t i, size_t dim) {
  const auto at = static_cast<int64_t>(dim);
  const int64_t zero = 0;
  return node("Gather",
              {sizes(i), indices(std::span(&at, 1), true), indices(std::span(&zero, 1), true)},
              DType::Int64, "opset8", {{"batch_dims", "0"}});
}

ir::Output Call::converted(ir::Output output, DType to) {
  if (graph.dtype(output) == to) return output;
  // "f32", ... as the attribute has it.
  const auto name = [](DType dtype) -> std::string {
    switch (dtype) {
      case DType::Bool:
        return "boolean";
      case DType::UInt8:
        return "u8";
      case DType::Int8:
        return "i8";
      case DType::Int16:
        return "i16";
      case DType::Int32:
        return "i32";
      case DType::Int64:
        return "i64";
      case DType::Float16:
        return "f16";
      case DType::BFloat16:
        return "bf16";
      case DType::Float64:
        return "f64";
      default:
        return "f32";
    }
  };
  return node("Convert", {output}, to, "opset1", {{"destination_type", name(to)}});
}

ir::Output Call::scalar(double value, DType dtype) {
  const auto keep = [&](auto number) {
    return graph.copied_constant(dtype, {}, std::as_bytes(std::span(&number, 1)));
  };
  switch (dtype) {
    case DType::Float16:
      return keep(float_to_half(static_cast<float>(value)));
    case DType::Float32:
      return keep(static_cast<float>(value));
    case DType::Float64:
      return keep(value);
    case DType::Int32:
      return keep(static_cast<int32_t>(value));
    case DType::Int64:
      return keep(static_cast<int64_t>(value));
    case DType::UInt8:
      return keep(static_cast<uint8_t>(value));
    case DType::Int8:
      return keep(static_cast<int8_t>(value));
    case DType::Int16:
      return keep(static_cast<int16_t>(value));
    case DType::Bool:
      return keep(static_cast<uint8_t>(value != 0 ? 1 : 0));
    default: {
      const ir::Output number = scalar(value, DType::Float32);
      return converted(number, dtype);
    }
  }
}

ir::Output Call::scalar_of(size_t i, DType dtype) {
  const int64_t known = is_int(i) ? integer(i) : 0;
  if (is_int(i) && dtype == DType::Int64)
    return graph.copied_constant(dtype, {}, std::as_bytes(std::span(&known, 1)));
  return scalar(real(i), dtype);
}

ir::Output Call::reshaped(ir::Output output, std::span<const int64_t> shape) {
  // Of reshapes one after another the last one counts.
  while (graph.nodes()[output.node].operation == "Reshape")
    output = graph.nodes()[output.node].inputs[0];
  const ir::Shape* own = graph.shape(output);
  if (own != nullptr && std::equal(own->begin(), own->end(), shape.begin(), shape.end()))
    return output;
  const ir::Output result = reshaped(output, indices(shape));
  const bool is_known = std::all_of(shape.begin(), shape.end(), [](int64_t n) { return n >= 0; });
  if (is_known) graph.set_shape(result, ir::Shape(shape.begin(), shape.end()));
  return result;
}

ir::Output Call::reshaped(ir::Output output, ir::Output shape) {
  return node("Reshape", {output, shape}, graph.dtype(output), "opset1",
              {{"special_zero", "false"}});
}

ir::Output Call::transposed(ir::Output output, std::span<const int64_t> order) {
  std::vector<int64_t> whole(order.begin(), order.end());
  const auto& nodes = graph.nodes();
  if (nodes[output.node].operation == "Transpose") {
    const ir::Node& before = nodes[nodes[output.node].inputs[1].node];
    std::vector<int64_t> first(before.data.size() / sizeof(int64_t));
    if (before.operation == "Const" && first.size() == whole.size()) {
      std::memcpy(first.data(), before.data.data(), before.data.size());
      for (int64_t& dim : whole) dim = first[static_cast<size_t>(dim)];
      output = nodes[output.node].inputs[0];
    }
  }
  bool moves = false;
  for (size_t d = 0; d < whole.size(); ++d) moves = moves || whole[d] != static_cast<int64_t>(d);
  return moves ? node("Transpose", {output, indices(whole)}, graph.dtype(output)) : output;
}

const LoweringRow* find_row(std::string_view name) {
  static const auto& rows = *[] {
    auto* all = new std::unordered_map<std::string_view, const LoweringRow*>;
    for (const auto& family :
         {elementwise_rows(), binary_rows(), comparison_rows(), creation_rows(), extreme_rows(),
          integer_rows(), layer_rows(), batch_norm_rows(), shape_rows(), reduction_rows(),
          indexing_rows(), copy_rows(), rearranging_rows(), pad_rows(), pool_rows(),
          resample_rows(), quantized_rows(), attention_rows()}) {
      for (const LoweringRow& row : family) all->emplace(row.name, &row);
    }
    return all;
  }();
  const auto found = rows.find(name);
  return found == rows.end() ? nullptr : found->second;
}

}  // namespace pteron
