// A loaded method: planned memory, bound inputs and outputs, and the loop over instructions.
//
// One thread at a time. A failed call leaves the method as usable as before it; of its state, what
// the instructions before the failure wrote stays written.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "runtime/loaded_program.h"

namespace pteron {

// An array of the caller's: strides in bytes, of any sign; null means dense row-major.
struct ArrayView {
  void* data = nullptr;
  DType dtype = DType::Float32;
  std::span<const int64_t> shape;
  const int64_t* strides = nullptr;
};
using HostValue = std::variant<std::monostate, ArrayView, int64_t, double, bool, std::string_view>;

// What an input, an output or a state buffer is.
struct ValueSpec {
  std::string name;
  ValueKind kind = ValueKind::None;
  DType dtype = DType::Float32;
  std::vector<int64_t> shape;  // Upper bounds if dynamic.
  std::vector<uint8_t> dim_order;
  bool dynamic = false;
};

// Where it stands in errors: input 0 "x".
std::string describe_position(const char* what, size_t index, const ValueSpec& spec);

// How long each instruction took in the last run.
struct InstructionTime {
  uint32_t chain = 0;
  uint32_t instruction = 0;
  std::string name;      // "aten::add.out", "OpenvinoBackend", "move", "jump_false", "free"
  int64_t start_ns = 0;  // Of its first execution, from the start of the run.
  int64_t total_ns = 0;
  uint64_t count = 0;  // More than 1 in loops.
  std::vector<DelegateProfileRow> inside;
};

struct AccelerationReport {
  struct Region {
    size_t chain = 0;
    size_t begin = 0;  // Instructions [begin, end).
    size_t end = 0;
  };
  struct Kept {
    size_t chain = 0;
    size_t instruction = 0;
    std::string name;  // The operator's.
    std::string reason;
  };
  struct Operator {
    std::string name;
    size_t compiled = 0;               // Calls in regions.
    size_t kernels = 0;                // Calls that run by kernels.
    std::vector<std::string> reasons;  // Why, each once.
  };
  std::vector<Region> regions;
  std::vector<Kept> kept;
  std::vector<Operator> operators;  // By name.
};

class Method {
 public:
  // Fails with InvalidArgument (no such method), Missing (naming every operator, delegate and
  // weights key that is not there), Malformed (arguments that do not fit an operator's signature),
  // ResourceLimit. `shares_state_with`: its buffers of memory id 2 and up serve this method too.
  // `seed`: where the numbers of random operators begin.
  static Result<std::unique_ptr<Method>> load(std::shared_ptr<LoadedProgram> program,
                                              std::string_view name,
                                              Method* shares_state_with = nullptr,
                                              uint64_t seed = 0);
  ~Method();

  const std::string& name() const;
  const std::vector<ValueSpec>& inputs() const;
  const std::vector<ValueSpec>& outputs() const;
  const std::vector<ValueSpec>& states() const;

  // See pteron_method_bind_input and pteron_method_bind_output in pteron.h.
  Result<void> bind_input(size_t index, const HostValue& value);
  Result<void> bind_output(size_t index, const HostValue& value);
  Result<void> execute();
  // The next execute() will be called, perhaps by another thread: cancel() reaches it from now on.
  void announce();
  // No execute() will come of it after all.
  void withdraw();
  // From any thread: the run that goes on, if any, fails with Cancelled as soon as it notices.
  void cancel();
  // Binds for one run, and puts back the bindings that were there.
  Result<void> run(std::span<const HostValue> inputs);

  // Output `index` of the last run: fails with InvalidArgument if there was none. A tensor's
  // strides (in bytes) are set where its memory is not row-major. Valid until the next run.
  Result<HostValue> output(size_t index);

  Result<HostValue> state(size_t index);
  Result<void> set_state(size_t index, const HostValue& value);
  void reset_state();

  // One report for kernels (if any ran or would run), then one a delegate.
  std::vector<ExecutionReport> execution() const;
  std::vector<InstructionTime> profile() const;
  // What runs as regions instead of by kernels, and what does not and why; empty without an
  // accelerator.
  AccelerationReport acceleration() const;

 private:
  struct State;
  explicit Method(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pteron
