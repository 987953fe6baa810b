#include "lowering/rules.h"

namespace pteron {
namespace {

bool is_float(DType dtype) {
  return dtype == DType::Float32 || dtype == DType::Float16 || dtype == DType::BFloat16;
}

template <typename Allowed>
Reason require(const Call& call, std::initializer_list<size_t> arguments, Allowed&& allowed) {
  const DType first = call.dtype(*arguments.begin());
  for (const size_t i : arguments) {
    if (!allowed(call.dtype(i))) return refuse_dtype(call, i);
    if (call.dtype(i) != first) return "its operands have several dtypes";
  }
  return {};
}

}  // namespace

Reason refuse_dtype(const Call& call, size_t i) {
  return "argument " + std::to_string(i) + " is " + std::string(dtype_name(call.dtype(i)));
}

Reason require_floats(const Call& call, std::initializer_list<size_t> arguments) {
  return require(call, arguments, is_float);
}

Reason require_arithmetic(const Call& call, std::initializer_list<size_t> arguments) {
  return require(call, arguments,
                 [](DType dtype) { return is_float(dtype) || dtype == DType::Int32; });
}

Reason require_moved(const Call& call, std::initializer_list<size_t> arguments) {
  return require(call, arguments, [](DType dtype) {
    return is_float(dtype) || dtype == DType::Int32 || dtype == DType::Int16 ||
           dtype == DType::Int8 || dtype == DType::UInt8 || dtype == DType::Bool ||
           dtype == DType::Int64;
  });
}

ir::Output keeping_nan(Call& call, ir::Output x, ir::Output y) {
  const ir::Output is_nan = call.node("NotEqual", {x, x}, DType::Bool);
  return call.node("Select", {is_nan, x, y}, call.graph.dtype(y), "opset1",
                   {{"auto_broadcast", "numpy"}});
}

bool follows_layer(const Call& call, ir::Output x) {
  const auto& nodes = call.graph.nodes();
  // A bias, or a residual, may lie between.
  for (int depth = 0; depth < 3; ++depth) {
    const ir::Node& node = nodes[x.node];
    const std::string_view operation = node.operation;
    if (operation.find("Convolution") != std::string_view::npos || operation == "MatMul" ||
        operation == "BatchNormInference" || operation == "MVN")
      return true;
    if (operation != "Add" && operation != "Multiply") return false;
    const bool first_is_constant = nodes[node.inputs[0].node].operation == "Const";
    x = node.inputs[first_is_constant ? 1 : 0];
  }
  return false;
}

bool holds_number(const Call& call, size_t i, DType dtype) {
  if (!call.is_number(i)) return false;
  const auto within = [&](double low, double high) {
    return call.real(i) >= low && call.real(i) <= high;
  };
  switch (dtype) {
    case DType::UInt8:
      return within(0, UINT8_MAX);
    case DType::Int8:
      return within(INT8_MIN, INT8_MAX);
    case DType::Int16:
      return within(INT16_MIN, INT16_MAX);
    case DType::Int32:
    case DType::Int64:
      return within(INT32_MIN, INT32_MAX);
    default:
      return dtype == DType::Bool || is_float(dtype);
  }
}

Reason require_exact(Call& call, std::initializer_list<size_t> arguments) {
  for (const size_t i : arguments) {
    const DType dtype = call.dtype(i);
    if (dtype != DType::Int32 && dtype != DType::Int64) continue;
    if (!call.ranges.demand(call.tensor(i), kExactInFloat))
      return "argument " + std::to_string(i) + " may be greater than float32 is exact";
  }
  return {};
}

Reason require_indices(Call& call, size_t i, int64_t size) {
  if (call.ranges.demand(call.tensor(i), {-size, size - 1})) return {};
  return "argument " + std::to_string(i) + " may be out of range";
}

}  // namespace pteron
