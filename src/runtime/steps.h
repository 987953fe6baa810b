// The instructions of a method, resolved: what the loop runs. For src/runtime, and for
// what accelerates methods.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/delegate.h"
#include "runtime/kernel.h"
#include "runtime/signature.h"

namespace pteron {

enum class StepKind : uint8_t { Kernel, Delegate, Move, JumpFalse, Free };

struct Step {
  StepKind kind = StepKind::Free;
  const Kernel* kernel = nullptr;
  std::unique_ptr<DelegateInstance> delegate;
  std::shared_ptr<CompiledDelegate> compiled;
  std::span<const ValueIndex> args;  // In the program; without the return slots.
  ValueIndex from = 0;               // Move: source. JumpFalse: condition. Free: the value.
  ValueIndex to = 0;                 // Move: target. JumpFalse: the step to go on with.
  std::string name;                  // The operator's or backend's, for messages.
  // Tensors among the arguments that may have no memory when the step comes: checked before it
  // runs.
  std::vector<ValueIndex> unsure;
  // Delegate: arguments that a MoveCall may have replaced by another tensor, which must be like the
  // one that the delegate was made for.
  std::vector<ValueIndex> replaced;
  // Kernel and Delegate: the tensors that it reads and those that it writes, which must not share
  // memory. What it changes in place is among the latter only.
  std::vector<ValueIndex> sources;
  std::vector<ValueIndex> targets;

  // Whether the step reads or writes argument i (Kernel and Delegate only).
  bool reads(size_t i) const {
    return kernel ? Signature(kernel->signature).reads(i) : i < delegate->input_count();
  }
  bool writes(size_t i) const {
    return kernel ? Signature(kernel->signature).writes(i) : i >= delegate->input_count();
  }
};

}  // namespace pteron
