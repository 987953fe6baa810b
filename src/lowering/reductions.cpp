// Operators that fold dimensions: sums, means, products, variances, truths; running sums.
#include <numeric>

#include "lowering/axes.h"

namespace pteron {
namespace {

using ir::Output;

// float32 of an int32's sum is exact to 2^24: no element may be greater than its part of it.
Reason require_sum(Call& call, const Axes& axes) {
  const int64_t most = kExactInFloat.high / folded_count(call, axes);
  const bool may_demand = call.dtype(0) == DType::Int32 || call.dtype(0) == DType::Int64;
  const Range part{-most, most};
  const bool fits = may_demand ? most > 0 && call.ranges.demand(call.tensor(0), part)
                               : call.ranges.of(call.tensor(0)).within(part);
  return fits ? Reason() : "its sum may be greater than float32 is exact";
}

// Of PyTorch's sums and products, whose result may be of a dtype that the caller chooses.
DType sum_type(const Call& call, size_t out) {
  const DType from = call.dtype(0);
  const DType to = call.dtype(out);
  return is_floating(from) && !is_floating(to) ? to : promoted(from, to);
}

Reason sum(Call& call) {
  Axes axes;
  if (Reason reason = read_axes(call, 1, axes); !reason.empty()) return reason;
  const DType type = sum_type(call, 4);
  if (Reason reason = require_operands(call, {0, 4}, type); !reason.empty()) return reason;
  Output x;
  if (is_floating(type)) {
    x = operand(call, 0, type);
  } else {
    if (is_floating(call.dtype(0))) return "its result is of another dtype";
    if (Reason reason = require_sum(call, axes); !reason.empty()) return reason;
    x = call.converted(operand(call, 0, type), DType::Int32);
  }
  return store(call, 4, folded(call, "ReduceSum", x, axes, call.boolean(2)), type);
}

Reason mean_of(Call& call, const Axes& axes, bool keep, size_t out) {
  const DType type = sum_type(call, out);
  if (!is_floating(type)) return "it is a mean of integers";
  if (Reason reason = require_operands(call, {0, out}, type); !reason.empty()) return reason;
  return store(call, out, folded(call, "ReduceMean", operand(call, 0, type), axes, keep), type);
}
Reason mean(Call& call) {
  Axes axes;
  if (Reason reason = read_axes(call, 1, axes); !reason.empty()) return reason;
  return mean_of(call, axes, call.boolean(2), 4);
}
Reason mean_of_all(Call& call) { return mean_of(call, all_axes(call), false, 2); }

Reason product_of(Call& call, const Axes& axes, bool keep, size_t out) {
  const DType type = sum_type(call, out);
  if (!is_floating(type)) return "it is a product of integers";
  if (Reason reason = require_operands(call, {0, out}, type); !reason.empty()) return reason;
  return store(call, out, folded(call, "ReduceProd", operand(call, 0, type), axes, keep), type);
}
Reason product(Call& call) {
  Axes axes;
  if (Reason reason = read_axis(call, 1, axes); !reason.empty()) return reason;
  return product_of(call, axes, call.boolean(2), 4);
}
Reason product_of_all(Call& call) { return product_of(call, all_axes(call), false, 2); }

// ---- Truths

template <Text kOperation>
Reason truth(Call& call, const Axes& axes, bool keep, size_t out) {
  if (Reason reason = require_operands(call, {0}, DType::Bool); !reason.empty()) return reason;
  return store_truth(call, out, folded(call, kOperation.view(), truth_of(call, 0), axes, keep));
}
template <Text kOperation>
Reason truth_along(Call& call) {
  Axes axes;
  if (Reason reason = read_axis(call, 1, axes); !reason.empty()) return reason;
  return truth<kOperation>(call, axes, call.boolean(2), 3);
}
template <Text kOperation>
Reason truth_of_all(Call& call) {
  return truth<kOperation>(call, all_axes(call), false, 1);
}
Reason any_of_dims(Call& call) {
  Axes axes;
  if (Reason reason = read_axes(call, 1, axes); !reason.empty()) return reason;
  // Of this operator alone an empty list means no dimension.
  if (call.has(1) && call.ints(1).empty()) axes.clear();
  return truth<"ReduceLogicalOr">(call, axes, call.boolean(2), 3);
}

// ---- Variances

// The mean of the squares of what is left when the mean is taken off, and the mean; dimensions
// kept.
struct Moments {
  Output mean;
  Output variance;
};
Moments moments(Call& call, Output x, const Axes& axes, double divisor, DType type) {
  const Output mean = folded(call, "ReduceMean", x, axes, true);
  const Output rest = call.node("Subtract", {x, mean}, type);
  const Output square = call.node("Multiply", {rest, rest}, type);
  const Output sum = folded(call, "ReduceSum", square, axes, true);
  return {mean, call.node("Divide", {sum, call.scalar(divisor, type)}, type)};
}
Output dropped(Call& call, Output x, const Axes& axes, bool keep) {
  if (keep || axes.empty()) return x;
  return call.node("Squeeze", {x, call.indices(axes)}, call.graph.dtype(x));
}

// input, dimensions, correction, keep
Reason variance(Call& call) {
  Axes axes;
  if (Reason reason = read_axes(call, 1, axes); !reason.empty()) return reason;
  const DType type = call.dtype(0);
  if (!is_floating(type)) return refuse_dtype(call, 0);
  if (Reason reason = require_operands(call, {0, 4}, type); !reason.empty()) return reason;
  const double divisor =
      static_cast<double>(folded_count(call, axes)) - (call.has(2) ? call.real(2) : 1);
  if (!(divisor > 0)) return "it has too few elements";
  const Moments found = moments(call, call.tensor(0), axes, divisor, type);
  const bool keep = call.boolean(3);
  if (call.size() > 5) {
    if (Reason reason = store(call, 5, dropped(call, found.mean, axes, keep), type);
        !reason.empty())
      return reason;
  }
  return store(call, 4, dropped(call, found.variance, axes, keep), type);
}

// input, weight, bias, training, momentum, epsilon; result, mean, 1 / deviation
Reason batch_norm(Call& call) {
  const DType type = call.dtype(0);
  const size_t rank = call.rank(0);
  if (!call.boolean(3)) return "it does not train";
  if (Reason reason = require_floats(call, {0, 6}); !reason.empty()) return reason;
  if (rank < 2) return "it is of rank " + std::to_string(rank);
  Axes axes(rank - 1);
  std::iota(axes.begin(), axes.end(), 1);
  axes[0] = 0;
  Axes shape(rank, 1);
  shape[1] = call.size_of(0, 1);
  const Output x = call.tensor(0);
  Output y = call.node("MVN", {x, call.indices(axes)}, type, "opset6",
                       {{"normalize_variance", "true"},
                        {"eps", ir::number_text(call.real(5))},
                        {"eps_mode", "INSIDE_SQRT"}});
  for (const size_t i : {1, 2}) {
    if (!call.has(i)) continue;
    if (call.dtype(i) != type || call.rank(i) != 1 || call.size_of(i, 0) != shape[1])
      return "its weight or bias does not fit its channels";
    const Output by = call.reshaped(call.tensor(i), shape);
    y = call.node(i == 1 ? "Multiply" : "Add", {y, by}, type);
  }
  call.set(6, y);
  const auto count = static_cast<double>(folded_count(call, axes));
  const Moments found = moments(call, x, axes, count, type);
  const Output variance = call.node("Add", {found.variance, call.scalar(call.real(5), type)}, type);
  const Output deviation = call.node("Sqrt", {variance}, type);
  const Output inverse = call.node("Divide", {call.scalar(1, type), deviation}, type);
  if (Reason reason = store(call, 7, dropped(call, found.mean, axes, false), type); !reason.empty())
    return reason;
  return store(call, 8, dropped(call, inverse, axes, false), type);
}

// ---- Running sums

Reason cumsum(Call& call) {
  Axes axes;
  if (Reason reason = read_axis(call, 1, axes); !reason.empty()) return reason;
  const DType type = sum_type(call, 3);
  if (Reason reason = require_operands(call, {0, 3}, type); !reason.empty()) return reason;
  // Each sum is rounded to the dtype, where PyTorch rounds once.
  if (is_floating(type) && type != DType::Float32) return refuse_dtype(call, 3);
  if (!is_floating(type) && is_floating(call.dtype(0))) return "its result is of another dtype";
  Output x = operand(call, 0, type);
  if (!is_floating(type)) {
    const int64_t most = INT32_MAX / folded_count(call, axes);
    if (type == DType::Int64 && !call.ranges.demand(x, {-most, most}))
      return "its sum may not fit in int32";
    x = call.converted(x, DType::Int32);
  }
  if (!axes.empty()) {
    x = call.node("CumSum", {x, call.indices(axes, true)}, call.graph.dtype(x), "opset3",
                  {{"exclusive", "false"}, {"reverse", "false"}});
  }
  return store(call, 3, x, type);
}

constexpr LoweringRow kRows[] = {
    {"aten::_native_batch_norm_legit.no_stats_out", batch_norm},
    {"aten::all.all_out", truth_of_all<"ReduceLogicalAnd">, Shapes::Dynamic},
    {"aten::all.out", truth_along<"ReduceLogicalAnd">, Shapes::Dynamic},
    {"aten::any.all_out", truth_of_all<"ReduceLogicalOr">, Shapes::Dynamic},
    {"aten::any.dims_out", any_of_dims, Shapes::Dynamic},
    {"aten::any.out", truth_along<"ReduceLogicalOr">, Shapes::Dynamic},
    {"aten::cumsum.out", cumsum, Shapes::Dynamic},
    {"aten::mean.dtype_out", mean_of_all, Shapes::Dynamic},
    {"aten::mean.out", mean, Shapes::Dynamic},
    {"aten::prod.int_out", product, Shapes::Dynamic},
    {"aten::prod.out", product_of_all, Shapes::Dynamic},
    {"aten::sum.IntList_out", sum, Shapes::Dynamic},
    {"aten::var.correction_out", variance},
    {"aten::var.out", variance},
    {"aten::var_mean.correction_out", variance},
};

}  // namespace

std::span<const LoweringRow> reduction_rows() { return kRows; }

}  // namespace pteron
