// What a Method is made of. Internal to src/runtime: method_load.cpp fills it, method_bind.cpp and
// method.cpp use it.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <vector>

#include "runtime/accelerator.h"
#include "runtime/data_flow.h"
#include "runtime/method.h"
#include "runtime/steps.h"
#include "runtime/strided_copy.h"

namespace pteron {

// A planned buffer; methods that share state share those of memory id 2 and up.
struct Arena {
  Buffer buffer;
  // Where initial data has been put: a method that joins later must not undo what has changed
  // since.
  std::map<uint64_t, uint64_t> initialized;  // offset -> size
};

// Strides of a tensor or array, in bytes.
class Strides {
 public:
  Strides() = default;
  explicit Strides(const Tensor& tensor);
  // Of a dense row-major array.
  Strides(std::span<const int64_t> shape, size_t element);
  // The caller's.
  explicit Strides(const ArrayView& array);

  std::span<const int64_t> span() const { return {values_.data(), rank_}; }
  operator std::span<const int64_t>() const { return span(); }  // NOLINT

 private:
  size_t rank_ = 0;
  std::array<int64_t, kMaxRank> values_{};
};

// Addresses [begin, end).
struct Extent {
  uintptr_t begin = 0;
  uintptr_t end = 0;

  bool overlaps(const Extent& other) const { return begin < other.end && other.begin < end; }
};

struct InputBinding {
  bool bound = false;
  void* own = nullptr;           // The tensor's own memory.
  void* data = nullptr;          // What the tensor points at during a run: own, or the caller's.
  const void* source = nullptr;  // The caller's array, if it is copied into `own` at each run.
  Extent extent;                 // The caller's array.
  std::vector<int64_t> shape;
  StridedCopy copy;
  // The caller's array is a view of this method's memory: taken aside before anything is written.
  Buffer aside;
  StridedCopy take_aside;
};

struct OutputBinding {
  bool bound = false;
  bool redirectable = false;  // The tensor may point at the caller's memory during a run,
  bool direct = false;        // and does with the inputs that are bound.
  void* own = nullptr;
  void* data = nullptr;
  size_t capacity = 0;
};

// A call asked for more scratch memory than the memory limit.
class ScratchLimit : public std::bad_alloc {};

// Scratch memory of one call, and the application's threads.
class MethodContext final : public KernelContext {
 public:
  MethodContext(Allocator& allocator, ParallelFor threads, uint64_t memory_limit, Stop& stop)
      : KernelContext(&stop),
        allocator_(allocator),
        threads_(threads),
        memory_limit_(memory_limit) {}
  // Throws ScratchLimit if the call would have more than the memory limit.
  void* scratch(size_t bytes) override;
  void parallel_for(size_t count, size_t grain, ParallelBody body, void* argument) override;
  uint64_t random() override;
  void set_seed(uint64_t seed) { random_state_ = seed; }
  void reset() {
    if (!blocks_.empty()) blocks_.clear();
    taken_ = 0;
  }

 private:
  Allocator& allocator_;
  ParallelFor threads_;
  uint64_t memory_limit_;
  uint64_t taken_ = 0;
  std::vector<Buffer> blocks_;
  uint64_t random_state_ = 0;
};

// A region of instructions that run as one: `step` is a call of what was compiled.
struct RegionStep {
  Step step;
  std::vector<ValueIndex> args;
  size_t begin = 0;
  size_t end = 0;
  std::vector<size_t> steps_after;
  std::vector<Region::Check> checks;
  uint32_t generation = 0;  // fork_generation() where it was compiled.
  bool was_left = false;    // A check has failed once.
  bool has_failed = false;  // From then on its instructions run by their kernels.
};

struct Method::State {
  explicit State(std::shared_ptr<LoadedProgram> loaded);

  std::shared_ptr<LoadedProgram> program;
  const Plan* plan = nullptr;
  Allocator& allocator;
  Stop stop;
  MethodContext context;

  std::vector<std::shared_ptr<Arena>> arenas;  // arenas[k] is memory id k + 1.
  std::vector<Buffer> own_memory;              // Of tensors that are written but not planned.
  std::vector<Tensor> tensors;  // By value index; unused where the value is no tensor.
  std::vector<Value> values;
  std::vector<std::vector<Step>> chains;
  DataFlow flow;
  // What runs instead of stretches of the chains' steps, and where, by chain and first step.
  std::vector<std::unique_ptr<RegionStep>> regions;
  std::vector<std::vector<RegionStep*>> region_at;
  std::vector<RegionRefusal> region_refusals;
  bool gave_file_back = false;

  // What a run may change, with what it was at load: put back before each run.
  struct ChangedValue {
    ValueIndex index;
    Value initial;
  };
  struct ChangedPointer {
    ValueIndex index;
    void* initial;
  };
  std::vector<ChangedValue> changed_values;
  std::vector<ChangedPointer> changed_pointers;
  std::vector<Tensor*> dynamic_tensors;

  std::vector<InputBinding> inputs;
  std::vector<OutputBinding> outputs;
  bool bindings_changed = true;
  // At their planned places, wherever instructions may have let their values point.
  std::vector<Tensor> states;
  std::vector<ValueSpec> input_specs;
  std::vector<ValueSpec> output_specs;
  std::vector<ValueSpec> state_specs;
  bool has_result = false;
  // By output: where the last run copied it to; null if it lies where its tensor points.
  std::vector<void*> copied_to;
  // Behind the views that output() and state() give.
  std::vector<Strides> output_strides;
  std::vector<Strides> state_strides;

  // Tensors whose memory a run may change, or that may have none.
  std::set<ValueIndex> unsure_tensors;
  bool is_unsure(ValueIndex index) const { return unsure_tensors.count(index) > 0; }

  struct StepTime {
    int64_t start_ns = 0;
    int64_t total_ns = 0;
    uint64_t count = 0;
  };
  std::vector<std::vector<StepTime>> times;

  // Errors with `method "forward": ` in front.
  Error error(Code code, const std::string& message) const;

  Result<void> load(const Method::State* shared);
  Result<void> plan_memory(const Method::State* shared);
  Result<void> place_tensors();
  Result<void> name_all_missing() const;
  Result<void> external_data(ValueIndex index, const TensorDef& def);
  Result<void> resolve_steps();
  Result<void> resolve_kernel(Step& step, const KernelCall& call, const std::string& where);
  Result<void> resolve_delegate(Step& step, const DelegateCall& call, const std::string& where);
  Result<void> check_move(ValueIndex from, ValueIndex to) const;
  Result<void> give_memory_to_unplanned_outputs();
  Result<void> take_memory(uint64_t bytes);
  void find_changes();
  void accelerate();
  void describe();

  Result<InputBinding> make_input_binding(size_t index, const HostValue& value);
  // Whether it reaches into a planned buffer or other memory of this method.
  bool owns(const Extent& extent) const;
  Result<void> choose_direct_outputs();
  Result<void> prepare_run();
  Result<void> run_chains();
  Result<void> run_chain(size_t number, uint64_t& left);
  Result<void> check_overlaps(const Step& step);
  void note_time(size_t chain, size_t step, int64_t start);
  // Runs it; false if it failed and its instructions have to run.
  Result<bool> run_region(size_t chain, RegionStep& region);
  Result<void> run_step(Step& step);
  Result<void> run_step_in_scratch(Step& step);
  Result<void> finish_run();
  void initialize_state(ValueIndex index);

  uint64_t memory_taken = 0;
  // Where the arguments of a step lie, while they are looked at.
  struct Place {
    Extent extent;
    ValueIndex index;
    bool is_target;
  };
  std::vector<Place> places;
};

}  // namespace pteron
