#include "lowering/promotion.h"

#include <optional>
#include <set>

namespace pteron {
namespace {

using ir::Output;

bool is_computed(DType dtype) {
  switch (dtype) {
    case DType::Float32:
    case DType::Float16:
    case DType::BFloat16:
    case DType::Bool:
    case DType::UInt8:
    case DType::Int8:
    case DType::Int16:
    case DType::Int32:
    case DType::Int64:
      return true;
    default:
      return false;
  }
}

// bool, integers, floats.
int category(DType dtype) { return dtype == DType::Bool ? 0 : is_floating(dtype) ? 2 : 1; }

Range range_of(DType type) {
  switch (type) {
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

// Integers of at most this size are all exact.
int64_t exact_in(DType type) {
  return type == DType::BFloat16 ? 1 << 8 : type == DType::Float16 ? 1 << 11 : 1 << 24;
}

}  // namespace

bool is_floating(DType dtype) {
  return dtype == DType::Float32 || dtype == DType::Float16 || dtype == DType::BFloat16 ||
         dtype == DType::Float64;
}

DType promoted(DType a, DType b) {
  if (a == b) return a;
  if (category(a) != category(b)) return category(a) > category(b) ? a : b;
  if (is_floating(a))
    return a == DType::Float64 || b == DType::Float64 ? DType::Float64 : DType::Float32;
  if (dtype_size(a) != dtype_size(b)) return dtype_size(a) > dtype_size(b) ? a : b;
  return DType::Int16;  // Of uint8 and int8.
}

DType result_type(const Call& call, std::initializer_list<size_t> operands) {
  std::optional<DType> with_dimensions;
  std::optional<DType> without;
  int number = -1;
  for (const size_t i : operands) {
    if (call.is_number(i)) {
      number = std::max(number, call.is_double(i) ? 2 : call.is_int(i) ? 1 : 0);
      continue;
    }
    auto& group = call.rank(i) > 0 ? with_dimensions : without;
    group = group ? promoted(*group, call.dtype(i)) : call.dtype(i);
  }
  DType type = with_dimensions ? *with_dimensions : without.value_or(DType::Bool);
  if (without && category(*without) > category(type)) type = *without;
  if (number <= category(type)) return type;
  return number == 1 ? DType::Int64 : DType::Float32;
}

DType working_type(DType type) {
  const bool is_short =
      type == DType::Bool || type == DType::UInt8 || type == DType::Int8 || type == DType::Int16;
  return is_short ? DType::Int32 : type;
}

Reason require_operands(const Call& call, std::initializer_list<size_t> operands, DType type) {
  if (!is_computed(type)) return "it computes in " + std::string(dtype_name(type));
  for (const size_t i : operands) {
    if (!call.is_number(i)) {
      if (!is_computed(call.dtype(i))) return refuse_dtype(call, i);
      continue;
    }
    if (is_floating(type)) continue;
    if (call.is_double(i)) return "argument " + std::to_string(i) + " is no integer";
    const Range number{call.integer(i), call.integer(i)};
    if (!number.within(kInt32)) return "argument " + std::to_string(i) + " does not fit in int32";
  }
  return {};
}

Reason require_comparable(Call& call, std::initializer_list<size_t> operands, DType type) {
  for (const size_t i : operands) {
    const std::string name = "argument " + std::to_string(i);
    if (call.is_number(i)) {
      const Range number{call.integer(i), call.integer(i)};
      if (!is_floating(type) && !number.within(kExactInFloat))
        return name + " is greater than float32 is exact";
      continue;
    }
    const DType dtype = call.dtype(i);
    if (dtype == type && is_floating(dtype)) continue;
    if (is_floating(dtype)) {
      if (type != DType::Float32) return name + " is rounded";
      continue;
    }
    // PyTorch rounds too.
    if (type == DType::Float32) continue;
    const int64_t most = exact_in(type);
    const bool may_demand = dtype == DType::Int32 || dtype == DType::Int64;
    const bool is_exact = may_demand ? call.ranges.demand(call.tensor(i), {-most, most})
                                     : call.ranges.of(call.tensor(i)).within({-most, most});
    if (!is_exact) return name + " may be greater than float32 is exact";
  }
  return {};
}

Output integer_operand(Call& call, int64_t value, DType type) {
  switch (type) {
    case DType::Bool:
      value = value != 0 ? 1 : 0;
      break;
    case DType::UInt8:
      value = static_cast<uint8_t>(value);
      break;
    case DType::Int8:
      value = static_cast<int8_t>(value);
      break;
    case DType::Int16:
      value = static_cast<int16_t>(value);
      break;
    case DType::Int32:
      value = static_cast<int32_t>(value);
      break;
    case DType::Int64:
      return call.indices(std::span<const int64_t>(&value, 1), true);
    default:
      return call.scalar(static_cast<double>(value), type);
  }
  const auto kept = static_cast<int32_t>(value);
  return call.graph.numbers<int32_t>(DType::Int32, std::span<const int32_t>(&kept, 1), true);
}

Output operand(Call& call, size_t i, DType type) {
  if (call.is_number(i)) {
    return is_floating(type) ? call.scalar(call.real(i), type)
                             : integer_operand(call, call.integer(i), type);
  }
  const DType working = working_type(type);
  const DType dtype = call.dtype(i);
  Output x = call.tensor(i);
  if (!is_floating(type) && dtype != type) {
    x = call.converted(x, dtype == DType::Int64 ? DType::Int64 : DType::Int32);
    x = wrapped_to(call, x, type);
  }
  return call.converted(x, working);
}

Output wrapped_to(Call& call, Output x, DType type) {
  const DType dtype = call.graph.dtype(x);
  if (dtype == type || call.ranges.of(x).within(range_of(type))) return x;
  const auto number = [&](int64_t value) { return integer_operand(call, value, dtype); };
  const auto low_bits = [&](Output y, int64_t bits) {
    return call.node("BitwiseAnd", {y, number(bits)}, dtype, "opset13");
  };
  const auto with_sign = [&](int64_t half) {
    const Output shifted = call.node("Add", {x, number(half)}, dtype);
    return call.node("Subtract", {low_bits(shifted, 2 * half - 1), number(half)}, dtype);
  };
  switch (type) {
    case DType::Bool:
      return call.converted(call.node("NotEqual", {x, number(0)}, DType::Bool), dtype);
    case DType::UInt8:
      return low_bits(x, UINT8_MAX);
    case DType::Int8:
      return with_sign(INT8_MAX + 1);
    case DType::Int16:
      return with_sign(INT16_MAX + 1);
    default:
      return x;
  }
}

Reason store(Call& call, size_t out, Output result, DType type) {
  const DType to = call.dtype(out);
  Reason other = "its result is of another dtype";
  if (!is_computed(to)) return other;
  if (is_floating(type)) {
    if (!is_floating(to)) return other;
    call.set(out, call.converted(result, to));
    return {};
  }
  // Of what does not fit, only the lower half is right.
  const bool takes_half = to == DType::Int64 || (to != DType::Bool && !is_floating(to));
  if (type == DType::Int64 && !takes_half && !call.ranges.demand(result, kInt32))
    return "its int64 may not fit in int32";
  result = wrapped_to(call, result, type);
  if (to == DType::Bool) {
    const Output zero = integer_operand(call, 0, call.graph.dtype(result));
    call.set(out, call.node("NotEqual", {result, zero}, DType::Bool));
    return {};
  }
  if (!is_floating(to)) result = wrapped_to(call, result, to);
  call.set(out, call.converted(result, to));
  return {};
}

Reason store_truth(Call& call, size_t out, Output truth) {
  if (!is_computed(call.dtype(out))) return "its result is of another dtype";
  call.set(out, call.converted(truth, call.dtype(out)));
  return {};
}

Output truth_of(Call& call, size_t i) {
  const DType dtype = call.dtype(i);
  if (dtype == DType::Bool) return call.tensor(i);
  const Output x = call.converted(call.tensor(i), working_type(dtype));
  return call.node("NotEqual", {x, call.scalar(0, working_type(dtype))}, DType::Bool);
}

bool is_of_constants(const Call& call, Output x) {
  std::set<uint32_t> seen{x.node};
  std::vector<uint32_t> open{x.node};
  while (!open.empty()) {
    const ir::Node& node = call.graph.nodes()[open.back()];
    open.pop_back();
    if (node.operation == "Parameter") return false;
    for (const Output& input : node.inputs) {
      if (seen.insert(input.node).second) open.push_back(input.node);
    }
  }
  return true;
}

Output select(Call& call, Output condition, Output a, Output b) {
  return call.node("Select", {condition, a, b}, call.graph.dtype(a), "opset1",
                   {{"auto_broadcast", "numpy"}});
}

}  // namespace pteron
