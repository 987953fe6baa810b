#include "runtime/loaded_program.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>

#include "base/thread_pool.h"

namespace pteron {
namespace {

// Id and compile specs, each part led by its length, so that no two differ and look alike.
std::string delegate_key(const DelegateDef& def) {
  std::string key;
  const auto add = [&key](std::string_view part) {
    key += std::to_string(part.size()) + ":";
    key += part;
  };
  add(def.id);
  for (const CompileSpec& spec : def.specs) {
    add(spec.key);
    add({reinterpret_cast<const char*>(spec.value.data()), spec.value.size()});
  }
  return key;
}

bool same_bytes(Bytes a, Bytes b) {
  return a.size() == b.size() &&
         (a.data() == b.data() || std::equal(a.begin(), a.end(), b.begin()));
}

struct CompiledEntry {
  explicit CompiledEntry(Bytes bytes) : payload(bytes) {}
  const Bytes payload;
  std::mutex mutex;
  std::shared_ptr<CompiledDelegate> compiled;
};

}  // namespace

struct LoadedProgram::State {
  Program program;
  RuntimeOptions options;
  std::unique_ptr<ThreadPool> pool;
  std::unordered_map<std::string_view, const Kernel*> kernels;
  std::unordered_map<std::string_view, const WeightsEntry*> weights;
  std::mutex mutex;  // Guards the table below, not its entries.
  std::map<std::string, std::vector<std::shared_ptr<CompiledEntry>>> compiled;
};

LoadedProgram::LoadedProgram(std::unique_ptr<State> state) : state_(std::move(state)) {}
LoadedProgram::~LoadedProgram() = default;

Result<std::shared_ptr<LoadedProgram>> LoadedProgram::make(Program program,
                                                           RuntimeOptions options) {
  auto state = std::make_unique<State>();
  state->program = std::move(program);
  state->options = std::move(options);
  if (state->options.parallel_for.run == nullptr) {
    state->pool = std::make_unique<ThreadPool>(state->options.threads);
    state->options.parallel_for = {
        [](void* pool, size_t count, size_t grain, ParallelBody body, void* argument) {
          static_cast<ThreadPool*>(pool)->run(count, grain, body, argument);
        },
        state->pool.get()};
  }
  for (const auto& table : state->options.kernels) {
    for (const Kernel& kernel : table) state->kernels.emplace(kernel.name, &kernel);
  }
  for (const Weights& weights : state->options.weights) {
    for (const WeightsEntry& entry : weights.entries) {
      if (!state->weights.emplace(entry.key, &entry).second) {
        return Error{Code::InvalidArgument, weights.origin + ": the weights \"" +
                                                entry.key.substr(0, 80) +
                                                "\" are in another file too; give each key once"};
      }
    }
  }
  return std::shared_ptr<LoadedProgram>(new LoadedProgram(std::move(state)));
}

const Program& LoadedProgram::program() const { return state_->program; }
const RuntimeOptions& LoadedProgram::options() const { return state_->options; }

const Kernel* LoadedProgram::find_kernel(std::string_view name) const {
  const auto found = state_->kernels.find(name);
  return found == state_->kernels.end() ? nullptr : found->second;
}

Delegate* LoadedProgram::find_delegate(std::string_view id) const {
  for (const auto& delegate : state_->options.delegates) {
    if (delegate->id() == id) return delegate.get();
  }
  return nullptr;
}

const WeightsEntry* LoadedProgram::find_weights(std::string_view key) const {
  const auto found = state_->weights.find(key);
  return found == state_->weights.end() ? nullptr : found->second;
}

Result<std::shared_ptr<CompiledDelegate>> LoadedProgram::compiled(const DelegateDef& def,
                                                                  std::string_view method) {
  std::shared_ptr<CompiledEntry> entry;
  {
    const std::lock_guard lock(state_->mutex);
    auto& entries = state_->compiled[delegate_key(def)];
    const auto known = std::find_if(entries.begin(), entries.end(), [&](const auto& other) {
      return same_bytes(other->payload, def.payload);
    });
    entry = known != entries.end()
                ? *known
                : entries.emplace_back(std::make_shared<CompiledEntry>(def.payload));
  }
  const std::lock_guard lock(entry->mutex);
  if (!entry->compiled) {
    Delegate* delegate = find_delegate(def.id);
    if (delegate == nullptr) {
      return Error{Code::Missing, "delegate \"" + def.id.substr(0, 80) + "\" is not there"};
    }
    PTERON_ASSIGN(entry->compiled, delegate->compile({def, state_->program, method}));
  }
  return entry->compiled;
}

}  // namespace pteron
