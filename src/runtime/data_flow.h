// What a method's instructions do to its tensors' memory, found once at load: which tensors are
// state, which inputs may be used where they lie, which outputs may be written to the caller's
// memory directly.
//
// Every answer errs on the safe side: "no" only costs a copy. For src/runtime, and for what
// accelerates methods.
#pragma once

#include <variant>
#include <vector>

#include "base/result.h"
#include "program/program.h"
#include "runtime/steps.h"

namespace pteron {

// Calls visit(value) for the tensors that an argument names: itself, or its list's.
template <typename Visit>
void for_each_tensor(const Plan& plan, ValueIndex arg, Visit&& visit) {
  const ValueDef& def = plan.values[arg];
  if (std::holds_alternative<TensorDef>(def)) {
    visit(arg);
  } else if (const auto* list = std::get_if<TensorList>(&def)) {
    for (const ValueIndex item : list->items) visit(item);
  } else if (const auto* optional = std::get_if<OptionalTensorList>(&def)) {
    for (const int32_t item : optional->items) {
      if (item >= 0 && std::holds_alternative<TensorDef>(plan.values[static_cast<size_t>(item)]))
        visit(static_cast<ValueIndex>(item));
    }
  }
}

struct DataFlow {
  // The tensors whose contents outlive a run: those that have initial data or a name, or are read
  // (also to be changed in place) before anything has written them. One for each piece of memory,
  // however many values name it.
  std::vector<ValueIndex> states;
  // The planned tensors that have initial data, a .ptd file's or the program's.
  std::vector<ValueIndex> initialized;
  // By position among the inputs: nothing writes to the tensor or to one that may share its memory.
  std::vector<bool> input_is_borrowable;
  // By position among the outputs: one instruction writes the tensor, exactly once in each run,
  // and nobody reads its planned place by another name.
  std::vector<bool> output_is_redirectable;
};

// Fails with Malformed if an instruction writes to a constant of the file or to a view, or if a
// constant is an input: its memory may be a read-only mapping.
Result<DataFlow> analyze_data_flow(const Plan& plan, const std::vector<std::vector<Step>>& chains);

}  // namespace pteron
