// The dimensions that reductions fold.
#pragma once

#include <vector>

#include "lowering/promotion.h"

namespace pteron {

// Each once, counted from the first; none of a tensor that has none.
using Axes = std::vector<int64_t>;

Axes all_axes(const Call& call);  // Of argument 0.
// Those of the list that is argument i; all, if it is none or empty.
Reason read_axes(const Call& call, size_t i, Axes& axes);
// The one that is argument i.
Reason read_axis(const Call& call, size_t i, Axes& axes);
// How many elements of argument 0 become one; the most, where a run decides. At least 1.
int64_t folded_count(const Call& call, const Axes& axes);
// x folded by one of OpenVINO's reductions.
ir::Output folded(Call& call, std::string_view operation, ir::Output x, const Axes& axes,
                  bool keep);

}  // namespace pteron
