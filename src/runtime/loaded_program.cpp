#include "runtime/loaded_program.h"

#include <map>
#include <mutex>
#include <string>
#include <unordered_map>

namespace pteron {
namespace {

// What must be the same for two delegates to share a compiled model.
std::string delegate_key(const DelegateDef& def) {
  std::string key = def.id;
  const auto add = [&key](Bytes bytes) {
    key += '\0';
    key += std::to_string(reinterpret_cast<uintptr_t>(bytes.data())) + "+" +
           std::to_string(bytes.size());
  };
  add(def.payload);
  for (const CompileSpec& spec : def.specs) {
    key += '\0' + spec.key + '\0';
    key.append(reinterpret_cast<const char*>(spec.value.data()), spec.value.size());
  }
  return key;
}

struct CompiledEntry {
  std::mutex mutex;
  std::shared_ptr<CompiledDelegate> compiled;
};

}  // namespace

struct LoadedProgram::State {
  Program program;
  RuntimeOptions options;
  std::unordered_map<std::string_view, const Kernel*> kernels;
  std::unordered_map<std::string_view, const WeightsEntry*> weights;
  std::mutex mutex;  // Guards the table below, not its entries.
  std::map<std::string, std::shared_ptr<CompiledEntry>> compiled;
};

LoadedProgram::LoadedProgram(std::unique_ptr<State> state) : state_(std::move(state)) {}
LoadedProgram::~LoadedProgram() = default;

Result<std::shared_ptr<LoadedProgram>> LoadedProgram::make(Program program,
                                                           RuntimeOptions options) {
  auto state = std::make_unique<State>();
  state->program = std::move(program);
  state->options = std::move(options);
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
    std::shared_ptr<CompiledEntry>& slot = state_->compiled[delegate_key(def)];
    if (!slot) slot = std::make_shared<CompiledEntry>();
    entry = slot;
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
