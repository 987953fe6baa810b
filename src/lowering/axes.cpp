#include "lowering/axes.h"

#include <numeric>

namespace pteron {

Axes all_axes(const Call& call) {
  Axes axes(call.rank(0));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

Reason read_axes(const Call& call, size_t i, Axes& axes) {
  const size_t rank = call.rank(0);
  if (!call.has(i) || call.ints(i).empty()) {
    axes = all_axes(call);
    return {};
  }
  for (const int64_t dim : call.ints(i)) {
    if (!is_dim(dim, rank)) return "a dimension is out of range";
    const auto axis = static_cast<int64_t>(wrapped(dim, rank));
    if (std::find(axes.begin(), axes.end(), axis) != axes.end())
      return "a dimension is there twice";
    if (rank > 0) axes.push_back(axis);
  }
  return {};
}

Reason read_axis(const Call& call, size_t i, Axes& axes) {
  const size_t rank = call.rank(0);
  if (!is_dim(call.integer(i), rank)) return "its dimension is out of range";
  if (rank > 0) axes.push_back(static_cast<int64_t>(wrapped(call.integer(i), rank)));
  return {};
}

int64_t folded_count(const Call& call, const Axes& axes) {
  int64_t count = 1;
  for (const int64_t axis : axes) {
    const int64_t size = call.size_of(0, static_cast<size_t>(axis));
    count = std::min<int64_t>(count * std::max<int64_t>(size, 1), INT32_MAX);
  }
  return count;
}

ir::Output folded(Call& call, std::string_view operation, ir::Output x, const Axes& axes,
                  bool keep) {
  if (axes.empty()) return x;
  return call.node(operation, {x, call.indices(axes)}, call.graph.dtype(x), "opset1",
                   {{"keep_dims", keep ? "true" : "false"}});
}

}  // namespace pteron
