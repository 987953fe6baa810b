// What a method's instructions do to its tensors' memory, found once at load: which tensors are
// state, which inputs may be used where they lie, which outputs may be written to the caller's
// memory directly.
//
// Every answer errs on the safe side: "no" only costs a copy. Internal to src/runtime.
#pragma once

#include <vector>

#include "base/result.h"
#include "program/program.h"
#include "runtime/steps.h"

namespace pteron {

struct DataFlow {
  // By value index. A tensor whose contents outlive a run: it has initial data, or is read before
  // anything has written it, or lies in memory that methods share and is changed.
  std::vector<bool> is_state;
  // By position among the inputs: nothing writes to the tensor or to one that may share its memory.
  std::vector<bool> input_is_borrowable;
  // By position among the outputs: one instruction writes the tensor, and nobody reads its planned
  // place by another name.
  std::vector<bool> output_is_redirectable;
};

// Fails with Malformed if an instruction writes to a constant of the file.
Result<DataFlow> analyze_data_flow(const Plan& plan, const std::vector<std::vector<Step>>& chains);

}  // namespace pteron
