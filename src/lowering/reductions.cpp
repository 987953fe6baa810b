// Operators over dimensions.
#include <numeric>

#include "lowering/call.h"
#include "lowering/rules.h"

namespace pteron {
namespace {

using Sizes = std::vector<int64_t>;

// The dimensions named by argument 1, or all.
template <Text kOperation>
Reason reduce(Call& call) {
  if (Reason reason = require_floats(call, {0, 4}); !reason.empty()) return reason;
  const size_t rank = call.rank(0);
  if (rank == 0) return "it has no dimension";
  Sizes axes = call.has(1) ? call.ints(1) : Sizes();
  for (int64_t& dim : axes) {
    if (!is_dim(dim, rank)) return "a dimension is out of range";
    dim = static_cast<int64_t>(wrapped(dim, rank));
  }
  if (axes.empty()) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), 0);
  }
  call.set(4, call.node(kOperation.view(), {call.tensor(0), call.indices(axes)}, call.dtype(4),
                        "opset1", {{"keep_dims", call.boolean(2) ? "true" : "false"}}));
  return {};
}

Reason cumsum(Call& call) {
  if (Reason reason = require_floats(call, {0, 3}); !reason.empty()) return reason;
  // Each sum is rounded to the dtype, where PyTorch rounds once.
  if (call.dtype(3) != DType::Float32) return refuse_dtype(call, 3);
  const size_t rank = call.rank(0);
  if (rank == 0 || !is_dim(call.integer(1), rank)) return "its dimension is out of range";
  const auto dim = static_cast<int64_t>(wrapped(call.integer(1), rank));
  call.set(3, call.node("CumSum",
                        {call.tensor(0), call.indices(std::span<const int64_t>(&dim, 1), true)},
                        call.dtype(3), "opset3", {{"exclusive", "false"}, {"reverse", "false"}}));
  return {};
}

constexpr LoweringRow kRows[] = {
    {"aten::cumsum.out", cumsum, Shapes::Dynamic},
    {"aten::mean.out", reduce<"ReduceMean">, Shapes::Dynamic},
    {"aten::sum.IntList_out", reduce<"ReduceSum">, Shapes::Dynamic},
};

}  // namespace

std::span<const LoweringRow> reduction_rows() { return kRows; }

}  // namespace pteron
