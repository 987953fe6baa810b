// Method::load: memory, tensors, operators and delegates of a method.
#include <algorithm>
#include <cstring>
#include <set>

#include "base/checked.h"
#include "base/process.h"
#include "base/text.h"
#include "runtime/method_state.h"

namespace pteron {
namespace {

std::string join(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

ValueSpec spec_of(const std::string& fallback_name, const Value& value, const ValueDef& def) {
  ValueSpec spec;
  spec.name = fallback_name;
  spec.kind = value.kind;
  if (const auto* tensor = std::get_if<TensorDef>(&def)) {
    if (!tensor->name.empty()) spec.name = tensor->name;
    spec.dtype = tensor->dtype;
    spec.shape.assign(tensor->sizes.begin(), tensor->sizes.end());
    spec.dim_order = tensor->dim_order;
    spec.dynamic = tensor->dynamism == Dynamism::Bounded;
  }
  return spec;
}

}  // namespace

Method::State::State(std::shared_ptr<LoadedProgram> loaded)
    : program(std::move(loaded)),
      allocator(program->options().allocator ? *program->options().allocator : system_allocator()),
      stop(program->options().time_limit),
      context(allocator, program->options().parallel_for, program->options().memory_limit, stop) {}

Error Method::State::error(Code code, const std::string& message) const {
  return {code, "method \"" + plan->name + "\": " + message};
}

Result<void> Method::State::load(const Method::State* shared) {
  PTERON_TRY(name_all_missing());
  PTERON_TRY(plan_memory(shared));
  PTERON_TRY(place_tensors());
  PTERON_TRY(resolve_steps());
  auto analyzed = analyze_data_flow(*plan, chains);
  if (!analyzed.ok()) return error(analyzed.error().code, analyzed.error().message);
  flow = *std::move(analyzed);
  PTERON_TRY(give_memory_to_unplanned_outputs());
  find_changes();
  if (program->options().accelerator) accelerate();
  describe();
  return {};
}

// All that is missing is named at once.
Result<void> Method::State::name_all_missing() const {
  std::set<std::string> operators;
  std::set<std::string> delegates;
  std::set<std::string> weights;
  for (const Chain& chain : plan->chains) {
    for (const Instruction& instruction : chain.instructions) {
      if (const auto* call = std::get_if<KernelCall>(&instruction)) {
        const std::string& name = plan->operators[call->op];
        if (!program->find_kernel(name)) operators.insert(name.substr(0, 80));
      } else if (const auto* delegated = std::get_if<DelegateCall>(&instruction)) {
        const std::string& id = plan->delegates[delegated->delegate].id;
        if (!program->find_delegate(id)) delegates.insert(id.substr(0, 80));
      }
    }
  }
  for (const ValueDef& def : plan->values) {
    const auto* tensor = std::get_if<TensorDef>(&def);
    if (tensor && tensor->external && !program->find_weights(tensor->name))
      weights.insert("\"" + tensor->name.substr(0, 80) + "\"");
  }
  std::vector<std::string> parts;
  if (!delegates.empty()) {
    parts.push_back("the program needs a delegate that this library does not have: " +
                    join(delegates) + "; export it for OpenVINO or without a delegate");
  }
  if (!operators.empty()) parts.push_back("these operators are missing: " + join(operators));
  if (!weights.empty()) {
    std::string files;
    for (const Weights& file : program->options().weights)
      files += (files.empty() ? "" : ", ") + file.origin;
    parts.push_back(
        "its weights are in another file, and these keys were not found: " + join(weights) +
        (files.empty() ? "; give the .ptd file (--weights)" : "; looked in " + files));
  }
  if (parts.empty()) return {};
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ". Also, ") + part;
  return error(Code::Missing, text);
}

// Counts memory of the method's own against the limit, before it is allocated.
Result<void> Method::State::take_memory(uint64_t bytes) {
  const uint64_t limit = program->options().memory_limit;
  if (!checked_add(memory_taken, bytes, memory_taken) || memory_taken > limit ||
      memory_taken > SIZE_MAX) {
    return error(Code::ResourceLimit, "it needs more memory than the limit of " +
                                          counted(limit, "byte") +
                                          "; raise memory_limit if the file is trusted");
  }
  return {};
}

Result<void> Method::State::plan_memory(const Method::State* shared) {
  for (size_t k = 0; k < plan->buffers.size(); ++k) {
    const uint64_t size = plan->buffers[k];
    if (shared && k >= 1 && k < shared->arenas.size()) {
      if (shared->arenas[k]->buffer.size() < size) {
        return error(
            Code::InvalidArgument,
            "it plans " + counted(size, "byte") + " for shared buffer " + std::to_string(k + 1) +
                ", but method \"" + shared->plan->name + "\", whose state it is to share, has " +
                std::to_string(shared->arenas[k]->buffer.size()) + "; load the larger one first");
      }
      arenas.push_back(shared->arenas[k]);
      continue;
    }
    PTERON_TRY(take_memory(size));
    auto arena = std::make_shared<Arena>();
    arena->buffer = Buffer(allocator, static_cast<size_t>(size));
    arenas.push_back(std::move(arena));
  }
  return {};
}

// The data of a tensor that the program expects in a .ptd file.
Result<void> Method::State::external_data(ValueIndex index, const TensorDef& def) {
  const WeightsEntry* entry = program->find_weights(def.name);
  const std::string what = "the weights \"" + def.name.substr(0, 80) + "\" ";
  if (entry->layout && (entry->layout->dtype != def.dtype || entry->layout->sizes != def.sizes ||
                        entry->layout->dim_order != def.dim_order)) {
    const std::vector<int64_t> shape(entry->layout->sizes.begin(), entry->layout->sizes.end());
    return error(Code::Malformed, what + "are " + std::string(dtype_name(entry->layout->dtype)) +
                                      " " + describe_shape(shape) + ", but the program takes " +
                                      tensors[index].describe() + " in its own memory order");
  }
  if (entry->data.size() != def.nbytes()) {
    return error(Code::Malformed, what + "have " + counted(entry->data.size(), "byte") +
                                      ", but the program takes " + std::to_string(def.nbytes()));
  }
  if (!def.allocation &&
      reinterpret_cast<uintptr_t>(entry->data.data()) % dtype_size(def.dtype) != 0) {
    return error(Code::Malformed, what + "are not aligned to their dtype in the file");
  }
  return {};
}

Result<void> Method::State::place_tensors() {
  const size_t count = plan->values.size();
  tensors.resize(count);
  values.resize(count);
  for (ValueIndex i = 0; i < count; ++i) {
    const ValueDef& def = plan->values[i];
    Value& value = values[i];
    value.kind = value_kind(def);
    switch (value.kind) {
      case ValueKind::Int:
        value.integer = std::get<int64_t>(def);
        break;
      case ValueKind::Double:
        value.real = std::get<double>(def);
        break;
      case ValueKind::Bool:
        value.boolean = std::get<bool>(def);
        break;
      case ValueKind::String:
        value.string = &std::get<std::string>(def);
        break;
      case ValueKind::IntList:
        value.ints = &std::get<IntList>(def);
        break;
      case ValueKind::DoubleList:
        value.reals = &std::get<DoubleList>(def);
        break;
      case ValueKind::BoolList:
        value.booleans = &std::get<BoolList>(def);
        break;
      case ValueKind::TensorList:
        value.tensors = &std::get<TensorList>(def);
        break;
      case ValueKind::OptionalTensorList:
        value.optional_tensors = &std::get<OptionalTensorList>(def);
        break;
      case ValueKind::None:
        break;
      case ValueKind::Tensor: {
        const auto& tensor = std::get<TensorDef>(def);
        tensors[i] = Tensor(tensor);
        value.tensor = &tensors[i];
        if (tensor.external) PTERON_TRY(external_data(i, tensor));
        if (tensor.allocation) {
          tensors[i].set_raw(arenas[tensor.allocation->memory_id - 1]->buffer.data() +
                             tensor.allocation->offset);
          if (tensor.data || tensor.external) initialize_state(i);
        } else if (tensor.external) {
          tensors[i].set_raw(
              const_cast<std::byte*>(program->find_weights(tensor.name)->data.data()));
        } else if (tensor.data) {
          tensors[i].set_raw(const_cast<std::byte*>(tensor.data->data()));
        }
        break;
      }
    }
  }
  return {};
}

// Copies the initial bytes of a planned tensor, unless a method that shares the memory has done it.
void Method::State::initialize_state(ValueIndex index) {
  const auto& def = std::get<TensorDef>(plan->values[index]);
  Arena& arena = *arenas[def.allocation->memory_id - 1];
  if (!arena.initialized.emplace(def.allocation->offset, def.nbytes()).second) return;
  const Bytes data = def.external ? program->find_weights(def.name)->data : *def.data;
  if (!data.empty())
    std::memcpy(arena.buffer.data() + def.allocation->offset, data.data(), data.size());
}

Result<void> Method::State::resolve_steps() {
  for (const Chain& chain : plan->chains) {
    std::vector<Step> steps(chain.instructions.size());
    for (size_t i = 0; i < steps.size(); ++i) {
      Step& step = steps[i];
      const std::string where = "instruction " + std::to_string(i);
      const Instruction& instruction = chain.instructions[i];
      if (const auto* call = std::get_if<KernelCall>(&instruction)) {
        PTERON_TRY(resolve_kernel(step, *call, where));
      } else if (const auto* delegated = std::get_if<DelegateCall>(&instruction)) {
        PTERON_TRY(resolve_delegate(step, *delegated, where));
      } else if (const auto* move = std::get_if<MoveCall>(&instruction)) {
        auto checked = check_move(move->from, move->to);
        if (!checked.ok())
          return error(checked.error().code, where + ": " + checked.error().message);
        step.kind = StepKind::Move;
        step.from = move->from;
        step.to = move->to;
        step.name = "move";
      } else if (const auto* jump = std::get_if<JumpFalseCall>(&instruction)) {
        step.kind = StepKind::JumpFalse;
        step.from = jump->condition;
        step.to = jump->destination;
        step.name = "jump_false";
      } else {
        step.kind = StepKind::Free;
        step.from = std::get<FreeCall>(instruction).value;
        step.name = "free";
      }
    }
    times.emplace_back(steps.size());
    chains.push_back(std::move(steps));
  }
  return {};
}

Result<void> Method::State::resolve_kernel(Step& step, const KernelCall& call,
                                           const std::string& where) {
  step.kind = StepKind::Kernel;
  step.name = plan->operators[call.op];
  step.kernel = program->find_kernel(step.name);
  auto args = match_signature(*step.kernel, call.args, values.data());
  if (!args.ok())
    return error(args.error().code, where + " (" + step.name + "): " + args.error().message);
  step.args = *args;
  return {};
}

Result<void> Method::State::resolve_delegate(Step& step, const DelegateCall& call,
                                             const std::string& where) {
  const DelegateDef& def = plan->delegates[call.delegate];
  step.kind = StepKind::Delegate;
  step.name = def.id;
  step.args = call.args;
  const std::string place = where + " (delegate " + def.id.substr(0, 80) + "): ";
  auto compiled = program->compiled(def, plan->name);
  if (!compiled.ok()) return error(compiled.error().code, place + compiled.error().message);
  step.compiled = *std::move(compiled);
  auto instance = step.compiled->instantiate(Args(step.args, values.data()));
  if (!instance.ok()) return error(instance.error().code, place + instance.error().message);
  step.delegate = *std::move(instance);
  return {};
}

// The two become one tensor, so whoever reads the target must find what the file declares there.
Result<void> Method::State::check_move(ValueIndex from, ValueIndex to) const {
  assert(values[from].kind == values[to].kind);  // decode() has seen to it.
  if (values[from].kind != ValueKind::Tensor) return {};
  const Tensor& a = tensors[from];
  const Tensor& b = tensors[to];
  const bool fits = a.dtype() == b.dtype() && std::ranges::equal(a.dim_order(), b.dim_order()) &&
                    (a.is_dynamic() || b.is_dynamic() || std::ranges::equal(a.sizes(), b.sizes()));
  if (fits) return {};
  return Error{Code::Malformed, "it moves " + a.describe(true) + " (value " + std::to_string(from) +
                                    ") to " + b.describe(true) + " (value " + std::to_string(to) +
                                    "); dtype, memory order and fixed sizes must be the same"};
}

// A tensor that an instruction writes, and that the file gives no place, gets memory of its own.
Result<void> Method::State::give_memory_to_unplanned_outputs() {
  const auto give = [&](ValueIndex index) -> Result<void> {
    Tensor& tensor = tensors[index];
    if (tensor.raw() != nullptr || tensor.capacity() == 0) return {};
    PTERON_TRY(take_memory(tensor.capacity()));
    own_memory.emplace_back(allocator, tensor.capacity());
    tensor.set_raw(own_memory.back().data());
    return {};
  };
  for (const auto& chain : chains) {
    for (const Step& step : chain) {
      if (step.kind != StepKind::Kernel && step.kind != StepKind::Delegate) continue;
      for (size_t i = 0; i < step.args.size(); ++i) {
        if (!step.writes(i)) continue;
        if (step.kernel && Signature(step.kernel->signature).letter(i) == 'A') continue;
        const Value& value = values[step.args[i]];
        if (value.kind == ValueKind::Tensor) {
          PTERON_TRY(give(step.args[i]));
        } else if (value.kind == ValueKind::TensorList) {
          for (const ValueIndex item : value.tensors->items) PTERON_TRY(give(item));
        }
      }
    }
  }
  // Inputs without a place are pointed at the caller's memory; where that cannot be, they get a
  // copy.
  for (const ValueIndex index : plan->inputs) {
    if (values[index].kind == ValueKind::Tensor) PTERON_TRY(give(index));
  }
  return {};
}

void Method::State::find_changes() {
  std::set<ValueIndex> changed;
  std::set<ValueIndex> pointers;
  for (const auto& chain : chains) {
    for (const Step& step : chain) {
      if (step.kind == StepKind::Move) changed.insert(step.to);
      if (step.kind == StepKind::Free && values[step.from].kind == ValueKind::Tensor)
        pointers.insert(step.from);
      if (step.kind != StepKind::Kernel && step.kind != StepKind::Delegate) continue;
      for (size_t i = 0; i < step.args.size(); ++i) {
        if (!step.writes(i)) continue;
        if (values[step.args[i]].kind != ValueKind::Tensor) changed.insert(step.args[i]);
        if (step.kernel && Signature(step.kernel->signature).letter(i) == 'A')
          pointers.insert(step.args[i]);
      }
    }
  }
  for (const ValueIndex index : changed) changed_values.push_back({index, values[index]});
  // A FreeCall after a MoveCall clears the memory of the tensor that was moved.
  const bool has_moves = std::any_of(changed.begin(), changed.end(), [&](ValueIndex i) {
    return values[i].kind == ValueKind::Tensor;
  });
  if (has_moves && !pointers.empty()) {
    for (ValueIndex i = 0; i < values.size(); ++i) {
      if (values[i].kind == ValueKind::Tensor) pointers.insert(i);
    }
  }
  for (const ValueIndex index : pointers) changed_pointers.push_back({index, tensors[index].raw()});
  for (ValueIndex i = 0; i < values.size(); ++i) {
    if (values[i].kind == ValueKind::Tensor && tensors[i].is_dynamic())
      dynamic_tensors.push_back(&tensors[i]);
  }

  for (ValueIndex i = 0; i < values.size(); ++i) {
    if (values[i].kind == ValueKind::Tensor &&
        ((tensors[i].raw() == nullptr && tensors[i].capacity() > 0) || pointers.count(i) > 0 ||
         changed.count(i) > 0))
      unsure_tensors.insert(i);
  }
  for (auto& chain : chains) {
    for (Step& step : chain) {
      const auto note = [&](ValueIndex index) {
        if (is_unsure(index)) step.unsure.push_back(index);
        if (step.kind == StepKind::Delegate && changed.count(index) > 0 &&
            values[index].kind == ValueKind::Tensor)
          step.replaced.push_back(index);
      };
      for (size_t i = 0; i < step.args.size(); ++i) {
        if (step.kernel && Signature(step.kernel->signature).letter(i) == 'A') continue;
        for_each_tensor(*plan, step.args[i], note);
        auto& list = step.writes(i) ? step.targets : step.sources;
        for_each_tensor(*plan, step.args[i], [&](ValueIndex index) { list.push_back(index); });
      }
      if (step.kind == StepKind::JumpFalse) note(step.from);
    }
  }
}

void Method::State::accelerate() {
  const RuntimeOptions& options = program->options();
  Acceleration found = options.accelerator->accelerate(
      {program->program(), *plan, chains, flow, options.weights, options.give_file_back});
  region_refusals = std::move(found.refusals);
  for (const auto& chain : chains) region_at.emplace_back(chain.size());
  for (Region& region : found.regions) {
    auto made = std::make_unique<RegionStep>();
    made->args = region.inputs;
    made->args.insert(made->args.end(), region.outputs.begin(), region.outputs.end());
    made->begin = region.begin;
    made->end = region.end;
    made->steps_after = std::move(region.steps_after);
    made->checks = std::move(region.checks);
    made->generation = fork_generation();
    Step& step = made->step;
    step.kind = StepKind::Delegate;
    step.name = "accelerated";
    step.args = made->args;
    step.compiled = std::move(region.compiled);
    auto instance = step.compiled->instantiate(Args(step.args, values.data()));
    if (!instance.ok()) {
      region_refusals.push_back({region.chain, region.begin, instance.error().message});
      continue;
    }
    step.delegate = *std::move(instance);
    for (const ValueIndex index : made->args) {
      if (is_unsure(index)) step.unsure.push_back(index);
    }
    region_at[region.chain][region.begin] = made.get();
    regions.push_back(std::move(made));
  }
}

void Method::State::describe() {
  inputs.resize(plan->inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueIndex index = plan->inputs[i];
    input_specs.push_back(spec_of("input" + std::to_string(i), values[index], plan->values[index]));
    if (values[index].kind == ValueKind::Tensor) inputs[i].own = tensors[index].raw();
    if (values[index].kind == ValueKind::None) inputs[i].bound = true;
  }
  outputs.resize(plan->outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ValueIndex index = plan->outputs[i];
    output_specs.push_back(
        spec_of("output" + std::to_string(i), values[index], plan->values[index]));
    if (values[index].kind == ValueKind::Tensor) outputs[i].own = tensors[index].raw();
  }
  for (const ValueIndex index : flow.states) {
    const auto& def = std::get<TensorDef>(plan->values[index]);
    state_specs.push_back(
        spec_of("state" + std::to_string(states.size()), values[index], plan->values[index]));
    states.emplace_back(def);
    states.back().set_raw(arenas[def.allocation->memory_id - 1]->buffer.data() +
                          def.allocation->offset);
    state_strides.emplace_back(states.back());
  }
  copied_to.resize(outputs.size());
  output_strides.resize(outputs.size());
}

Result<std::unique_ptr<Method>> Method::load(std::shared_ptr<LoadedProgram> program,
                                             std::string_view name, Method* shares_state_with,
                                             uint64_t seed) {
  const std::vector<Plan>& plans = program->program().plans;
  const auto found =
      std::find_if(plans.begin(), plans.end(), [&](const Plan& plan) { return plan.name == name; });
  if (found == plans.end()) {
    std::string names;
    for (const Plan& plan : plans)
      names += (names.empty() ? "\"" : ", \"") + plan.name.substr(0, 80) + "\"";
    return Error{Code::InvalidArgument,
                 "no method \"" + std::string(name.substr(0, 80)) + "\"; the program has " + names};
  }
  if (shares_state_with && shares_state_with->state_->program != program) {
    return Error{Code::InvalidArgument,
                 "a method can share state with one of the same program only"};
  }
  auto state = std::make_unique<State>(std::move(program));
  state->plan = &*found;
  state->context.set_seed(seed);
  PTERON_TRY(state->load(shares_state_with ? shares_state_with->state_.get() : nullptr));
  return std::unique_ptr<Method>(new Method(std::move(state)));
}

}  // namespace pteron
