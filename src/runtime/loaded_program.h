// A decoded program with all that its methods share: operators, delegates, weights, compiled
// models.
//
// Immutable once made, but for the table of compiled delegates, which has a lock of its own: any
// thread may load methods from it.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "program/program.h"
#include "runtime/delegate.h"
#include "runtime/kernel.h"
#include "runtime/memory.h"

namespace pteron {

// The application's threads.
struct ParallelFor {
  void (*run)(void* context, size_t count, size_t grain, ParallelBody body,
              void* argument) = nullptr;
  void* context = nullptr;
};

class Accelerator;

struct RuntimeOptions {
  std::vector<std::span<const Kernel>> kernels;  // Earlier tables win.
  std::vector<std::shared_ptr<Delegate>> delegates;
  std::shared_ptr<Accelerator> accelerator;  // Null: operators run by their kernels.
  std::vector<Weights> weights;
  std::shared_ptr<Allocator> allocator;  // Null: the system's.
  ParallelFor parallel_for;              // None: a pool of our own, one a program,
  int threads = 0;  // of so many threads; 0: the cores that this process may use.
  uint64_t instruction_limit = 10'000'000;  // Instructions in one run, ExecuTorch's bound.
  // Bytes of a method's own buffers, and of the scratch memory of one call.
  uint64_t memory_limit = uint64_t{8} << 30;
  double time_limit = 0;  // Seconds of one run; 0: none.
  bool profile = false;
  // Gives memory that holds the program's file back to the system, which reads it again when it is
  // used; null if it holds nothing that could be. Thread-safe.
  std::function<void()> give_file_back;
  // Keeps alive what the tables point at (an application's operators).
  std::shared_ptr<const void> keep;
};

class LoadedProgram {
 public:
  // Fails with InvalidArgument if two weights files have the same key.
  static Result<std::shared_ptr<LoadedProgram>> make(Program program, RuntimeOptions options);
  ~LoadedProgram();

  const Program& program() const;
  const RuntimeOptions& options() const;

  const Kernel* find_kernel(std::string_view name) const;
  Delegate* find_delegate(std::string_view id) const;
  const WeightsEntry* find_weights(std::string_view key) const;

  // The compiled form of a delegate of the program, made at its first use and kept: delegates with
  // the same id, payload and compile specs share one, across methods too. One thread compiles it
  // while the others wait for that one only; a failure is not kept.
  Result<std::shared_ptr<CompiledDelegate>> compiled(const DelegateDef& def,
                                                     std::string_view method);

 private:
  struct State;
  explicit LoadedProgram(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pteron
