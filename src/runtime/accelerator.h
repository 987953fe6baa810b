// What may run a stretch of a method's instructions as one: a region, which is to the runtime like
// a call of a delegate.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "program/program.h"
#include "runtime/data_flow.h"
#include "runtime/delegate.h"
#include "runtime/steps.h"

namespace pteron {

// Instructions [begin, end) of a chain. No jump leads into them, but for one to `begin`.
struct Region {
  size_t chain = 0;
  size_t begin = 0;
  size_t end = 0;
  // Tensors: what is read of what the region did not make, and what others may read of what it
  // made.
  std::vector<ValueIndex> inputs;
  std::vector<ValueIndex> outputs;
  // Of inputs of int32 and int64: a run whose elements are not within [low, high] is left to the
  // kernels.
  struct Check {
    size_t input = 0;
    int64_t low = 0;
    int64_t high = 0;
  };
  std::vector<Check> checks;
  // Instructions of it that still have to run, after it: they give tensors their pointers (et_view)
  // and compute numbers of sizes, which others read.
  std::vector<size_t> steps_after;
  std::shared_ptr<CompiledDelegate> compiled;
};

// Why instructions stay with their kernels.
struct RegionRefusal {
  size_t chain = 0;
  size_t instruction = 0;
  std::string reason;
};

struct Acceleration {
  std::vector<Region> regions;  // In order, apart from each other.
  std::vector<RegionRefusal> refusals;
};

struct MethodView {
  const Program& program;
  const Plan& plan;
  const std::vector<std::vector<Step>>& chains;
  const DataFlow& flow;
  const std::vector<Weights>& weights;
  const std::function<void()>& give_file_back;  // RuntimeOptions'; may be null.
};

class Accelerator {
 public:
  virtual ~Accelerator() = default;
  // Never fails: what cannot be compiled is among the refusals. Thread-safe.
  virtual Acceleration accelerate(const MethodView& method) = 0;
};

}  // namespace pteron
