// A program's own arithmetic on sizes: instructions whose results are numbers, not tensors.
#pragma once

#include <optional>

#include "lowering/call.h"
#include "runtime/steps.h"

namespace pteron {

// Whether an instruction computes numbers of sizes and other numbers alone: it costs nothing, has
// no effect but its results, and may run again.
bool is_of_numbers(const Step& step);

// The result as the graph computes it (0-d, int64); nothing where that would not be exact.
std::optional<ir::Output> lower_number(std::string_view name, Call& call);

}  // namespace pteron
