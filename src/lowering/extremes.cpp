// Operators that look for the greatest and the least elements, the middle ones, and some in order.
#include <cmath>
#include <limits>

#include "lowering/axes.h"

namespace pteron {
namespace {

using ir::Output;

constexpr float kGreatest = std::numeric_limits<float>::max();

Output is_nan(Call& call, Output x) { return call.node("NotEqual", {x, x}, DType::Bool); }

// OpenVINO's reductions lose NaNs.
template <Text kOperation>
Reason extreme(Call& call, const Axes& axes, bool keep, size_t out) {
  const DType type = call.dtype(0);
  if (Reason reason = require_operands(call, {0, out}, type); !reason.empty()) return reason;
  if (Reason reason = require_comparable(call, {0}, type); !reason.empty()) return reason;
  const Output x = operand(call, 0, type);
  Output result = folded(call, kOperation.view(), x, axes, keep);
  if (is_floating(type) && !follows_layer(call, x)) {
    const Output any = folded(call, "ReduceLogicalOr", is_nan(call, x), axes, keep);
    result = select(call, any, call.scalar(std::nan(""), type), result);
  }
  return store(call, out, result, type);
}
template <Text kOperation>
Reason extreme_of_dims(Call& call) {
  Axes axes;
  if (Reason reason = read_axes(call, 1, axes); !reason.empty()) return reason;
  return extreme<kOperation>(call, axes, call.boolean(2), 3);
}
template <Text kOperation>
Reason extreme_of_all(Call& call) {
  return extreme<kOperation>(call, all_axes(call), false, 1);
}

// ---- In order

// What OpenVINO orders as PyTorch orders x: NaN is greater than infinity, or less than -infinity.
// Of floats infinity becomes the greatest float and that the one before it, if need be.
Output ordered(Call& call, Output x, bool nan_is_greatest) {
  const DType dtype = call.graph.dtype(x);
  if (!is_floating(dtype)) return call.converted(x, DType::Int32);
  if (follows_layer(call, x)) return x;
  const double sign = nan_is_greatest ? 1 : -1;
  const auto number = [&](double value) { return call.scalar(sign * value, DType::Float32); };
  x = call.converted(x, DType::Float32);
  const Output below = number(std::nextafter(kGreatest, 0.0F));
  const Output cut = call.node(nan_is_greatest ? "Minimum" : "Maximum", {x, below}, DType::Float32);
  const Output infinite = call.node("Equal", {x, number(HUGE_VAL)}, DType::Bool);
  return select(call, is_nan(call, x), number(HUGE_VAL),
                select(call, infinite, number(kGreatest), cut));
}

// The places of the first k along an axis, int32; equal ones as they lie.
Output first_places(Call& call, Output x, int64_t k, int64_t axis, bool greatest) {
  const Output found =
      call.graph.add("TopK", "opset11", {x, call.indices(std::span<const int64_t>(&k, 1), true)},
                     {{"axis", std::to_string(axis)},
                      {"mode", greatest ? "max" : "min"},
                      {"sort", "value"},
                      {"index_element_type", "i32"},
                      {"stable", "true"}},
                     std::vector<DType>{call.graph.dtype(x), DType::Int32});
  return {found.node, 1};
}
Output at_places(Call& call, Output x, Output places, int64_t axis) {
  return call.node("GatherElements", {x, places}, call.graph.dtype(x), "opset6",
                   {{"axis", std::to_string(axis)}});
}

// Values and places along one dimension: find(x, axis) gives the places.
template <typename Find>
Reason values_and_places(Call& call, Find&& find) {
  const DType type = call.dtype(0);
  if (Reason reason = require_operands(call, {0, 3, 4}, type); !reason.empty()) return reason;
  Axes axes;
  if (Reason reason = read_axis(call, 1, axes); !reason.empty()) return reason;
  const Output x = operand(call, 0, type);
  if (axes.empty()) {
    call.set(4, call.converted(call.indices(Axes{0}, true), call.dtype(4)));
    return store(call, 3, x, type);
  }
  Output places = find(x, axes[0]);
  Output values = at_places(call, x, places, axes[0]);
  if (!call.boolean(2)) {
    places = call.node("Squeeze", {places, call.indices(axes)}, DType::Int32);
    values = call.node("Squeeze", {values, call.indices(axes)}, call.graph.dtype(values));
  }
  if (Reason reason = store(call, 3, values, type); !reason.empty()) return reason;
  return store(call, 4, places, DType::Int32);
}
template <bool kMax>
Reason extreme_of_dim(Call& call) {
  return values_and_places(call, [&](Output x, int64_t axis) {
    return first_places(call, ordered(call, x, kMax), 1, axis, kMax);
  });
}

// The place along a dimension, or in all of it.
template <bool kMax>
Reason extreme_place(Call& call) {
  const DType type = call.dtype(0);
  if (Reason reason = require_operands(call, {0, 3}, type); !reason.empty()) return reason;
  const bool keep = call.boolean(2);
  Output x = operand(call, 0, type);
  int64_t axis = 0;
  if (call.has(1)) {
    Axes axes;
    if (Reason reason = read_axis(call, 1, axes); !reason.empty()) return reason;
    axis = axes.empty() ? 0 : axes[0];
  }
  const bool is_whole = !call.has(1) || call.rank(0) == 0;
  if (is_whole) x = call.reshaped(x, call.one(-1));
  Output place = first_places(call, ordered(call, x, kMax), 1, axis, kMax);
  if (is_whole)
    place = call.reshaped(place, Axes(keep ? call.rank(0) : 0, 1));
  else if (!keep)
    place = call.node("Squeeze", {place, call.one(axis)}, DType::Int32);
  return store(call, 3, place, DType::Int32);
}

// input, k, dimension, largest, sorted; values, places
Reason topk(Call& call) {
  const DType type = call.dtype(0);
  if (Reason reason = require_operands(call, {0, 5, 6}, type); !reason.empty()) return reason;
  Axes axes;
  if (Reason reason = read_axis(call, 2, axes); !reason.empty()) return reason;
  if (axes.empty()) return "it has no dimension";
  const int64_t k = call.integer(1);
  if (k < 1 || k > call.size_of(0, static_cast<size_t>(axes[0]))) return "its k is out of range";
  const Output x = operand(call, 0, type);
  const Output places = first_places(call, ordered(call, x, true), k, axes[0], call.boolean(3));
  if (Reason reason = store(call, 5, at_places(call, x, places, axes[0]), type); !reason.empty())
    return reason;
  return store(call, 6, places, DType::Int32);
}

// ---- The middle

// The place of the lower of the two middle elements, or of the first NaN.
Output median_place(Call& call, Output x, int64_t size, int64_t axis) {
  const int64_t middle = (size - 1) / 2;
  const DType dtype = call.graph.dtype(x);
  const bool has_nan = is_floating(dtype);
  Output key = has_nan ? x : call.converted(x, DType::Int32);
  Output nan;
  if (has_nan) {
    nan = is_nan(call, x);
    key = select(call, nan, call.scalar(HUGE_VAL, dtype), x);
  }
  Output place = first_places(call, key, middle + 1, axis, false);
  place = call.node(
      "Gather", {place, call.one(middle), call.indices(std::span<const int64_t>(&axis, 1), true)},
      DType::Int32, "opset8", {{"batch_dims", "0"}});
  if (!has_nan) return place;
  const Output first = first_places(call, call.converted(nan, DType::Int32), 1, axis, true);
  return select(call, folded(call, "ReduceLogicalOr", nan, {axis}, true), first, place);
}
Reason median_of_dim(Call& call) {
  return values_and_places(call, [&](Output x, int64_t axis) {
    return median_place(call, x, call.size_of(0, static_cast<size_t>(axis)), axis);
  });
}
Reason median_of_all(Call& call) {
  const DType type = call.dtype(0);
  if (Reason reason = require_operands(call, {0, 1}, type); !reason.empty()) return reason;
  const Output x = call.reshaped(operand(call, 0, type), call.one(-1));
  const Output place = median_place(call, x, static_cast<int64_t>(call.numel(0)), 0);
  return store(call, 1, call.reshaped(at_places(call, x, place, 0), Axes()), type);
}

constexpr LoweringRow kRows[] = {
    {"aten::amax.out", extreme_of_dims<"ReduceMax">, Shapes::Dynamic},
    {"aten::amin.out", extreme_of_dims<"ReduceMin">, Shapes::Dynamic},
    {"aten::argmax.out", extreme_place<true>, Shapes::Dynamic},
    {"aten::argmin.out", extreme_place<false>, Shapes::Dynamic},
    {"aten::max.dim_max", extreme_of_dim<true>, Shapes::Dynamic},
    {"aten::max.unary_out", extreme_of_all<"ReduceMax">, Shapes::Dynamic},
    {"aten::median.dim_values", median_of_dim},
    {"aten::median.out", median_of_all},
    {"aten::min.dim_min", extreme_of_dim<false>, Shapes::Dynamic},
    {"aten::min.unary_out", extreme_of_all<"ReduceMin">, Shapes::Dynamic},
    {"aten::topk.values", topk},
};

}  // namespace

std::span<const LoweringRow> extreme_rows() { return kRows; }

}  // namespace pteron
