// The loop over a method's instructions.
#include "runtime/method.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "base/process.h"
#include "base/text.h"
#include "runtime/method_state.h"

namespace pteron {
namespace {

template <typename T>
bool all_within(const Tensor& tensor, int64_t low, int64_t high) {
  const T* data = tensor.data<T>();
  return data != nullptr && std::all_of(data, data + tensor.numel(), [&](T element) {
           return low <= element && element <= high;
         });
}

// Of a tensor of int32 or int64.
bool is_within(const Tensor& tensor, int64_t low, int64_t high) {
  return tensor.dtype() == DType::Int32 ? all_within<int32_t>(tensor, low, high)
                                        : all_within<int64_t>(tensor, low, high);
}

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// ExecuTorch jumps if the condition is false, or if any element of a bool tensor is.
bool is_false(const Value& condition) {
  if (condition.kind == ValueKind::Bool) return !condition.boolean;
  const Tensor& tensor = *condition.tensor;
  const auto* data = tensor.data<const uint8_t>();
  return std::any_of(data, data + tensor.numel(), [](uint8_t element) { return element == 0; });
}

}  // namespace

void* MethodContext::scratch(size_t bytes) {
  if (bytes > memory_limit_ - taken_) throw ScratchLimit();
  taken_ += bytes;
  blocks_.emplace_back(allocator_, std::max<size_t>(bytes, 1));
  return blocks_.back().data();
}

void MethodContext::parallel_for(size_t count, size_t grain, ParallelBody body, void* argument) {
  if (count == 0) return;
  if (threads_.run == nullptr || count <= grain) {
    body(argument, 0, count);
  } else {
    threads_.run(threads_.context, count, std::max<size_t>(grain, 1), body, argument);
  }
}

// SplitMix64 (Steele, Lea and Flood, 2014): any seed will do, and neighbours have nothing in
// common.
uint64_t MethodContext::random() {
  uint64_t z = random_state_ += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

Method::Method(std::unique_ptr<State> state) : state_(std::move(state)) {}
Method::~Method() = default;

const std::string& Method::name() const { return state_->plan->name; }
const std::vector<ValueSpec>& Method::inputs() const { return state_->input_specs; }
const std::vector<ValueSpec>& Method::outputs() const { return state_->output_specs; }
const std::vector<ValueSpec>& Method::states() const { return state_->state_specs; }

// A kernel may read an input after it has begun to write: an index that was checked, say. Only
// memory that is planned, moved and bound as it is now tells what overlaps.
Result<void> Method::State::check_overlaps(const Step& step) {
  places.clear();
  const auto add = [&](ValueIndex index, bool is_target) {
    const Tensor& tensor = *values[index].tensor;
    // A dynamic tensor that is written may grow while the step runs; one that is read, which may be
    // the caller's memory, is no longer than it is now.
    const size_t bytes = is_target ? tensor.capacity() : tensor.nbytes();
    if (tensor.raw() == nullptr || bytes == 0) return;
    const auto begin = reinterpret_cast<uintptr_t>(tensor.raw());
    places.push_back({{begin, begin + bytes}, index, is_target});
  };
  for (const ValueIndex index : step.targets) add(index, true);
  if (places.empty()) return {};
  for (const ValueIndex index : step.sources) add(index, false);
  // By address, so that many arguments cost no more than sorting them.
  std::sort(places.begin(), places.end(),
            [](const Place& a, const Place& b) { return a.extent.begin < b.extent.begin; });
  // What reaches furthest of those that came before, of all and of what is written.
  const Place* furthest = nullptr;
  const Place* target = nullptr;
  for (const Place& place : places) {
    const Place* before = place.is_target ? furthest : target;
    if (before != nullptr && place.extent.begin < before->extent.end) {
      const bool this_one = place.is_target;
      return Error{Code::Malformed, "it writes value " +
                                        std::to_string((this_one ? place : *before).index) +
                                        ", which shares memory with value " +
                                        std::to_string((this_one ? *before : place).index) +
                                        ", another of its arguments"};
    }
    if (furthest == nullptr || place.extent.end > furthest->extent.end) furthest = &place;
    if (place.is_target && (target == nullptr || place.extent.end > target->extent.end))
      target = &place;
  }
  return {};
}

Result<void> Method::State::run_step(Step& step) {
  for (const ValueIndex index : step.unsure) {
    const Tensor& tensor = *values[index].tensor;
    if (tensor.raw() == nullptr && tensor.numel() > 0) {
      return Error{Code::Malformed, "value " + std::to_string(index) + " has no memory here"};
    }
  }
  PTERON_TRY(check_overlaps(step));
  if (step.kind == StepKind::Delegate) {
    for (const ValueIndex index : step.replaced) {
      if (values[index].tensor->is_like(tensors[index])) continue;
      return Error{Code::Malformed, "value " + std::to_string(index) + " is " +
                                        values[index].tensor->describe(true) +
                                        " here, but the delegate was made for " +
                                        tensors[index].describe(true)};
    }
    return step.delegate->execute(context, Args(step.args, values.data()));
  }
  return call_kernel(*step.kernel, context, Args(step.args, values.data()));
}

Result<void> Method::State::run_step_in_scratch(Step& step) {
  // However the call ends.
  struct Reset {
    ~Reset() { context.reset(); }
    MethodContext& context;
  };
  const Reset reset{context};
  try {
    return run_step(step);
  } catch (const RunStopped&) {
    return stop.error();
  } catch (const ScratchLimit&) {
    return Error{Code::ResourceLimit, "it needs more memory while it runs than the limit of " +
                                          counted(program->options().memory_limit, "byte") +
                                          "; raise memory_limit if the file is trusted"};
  }
}

void Method::State::note_time(size_t chain, size_t step, int64_t start) {
  StepTime& time = times[chain][step];
  if (time.count++ == 0) time.start_ns = start;
  time.total_ns += now_ns() - start;
}

Result<bool> Method::State::run_region(size_t chain, RegionStep& region) {
  const auto leave_for_good = [&](const std::string& reason) {
    region.has_failed = true;
    region_refusals.push_back({chain, region.begin, reason});
    return false;
  };
  // The threads of what was compiled are not in a child.
  if (region.generation != fork_generation())
    return leave_for_good("it was compiled before this process was forked");
  for (const Region::Check& check : region.checks) {
    if (is_within(*values[region.args[check.input]].tensor, check.low, check.high)) continue;
    if (!region.was_left) {
      region_refusals.push_back({chain, region.begin,
                                 "in some runs: an integer that it reads is not within " +
                                     std::to_string(check.low) + " to " +
                                     std::to_string(check.high)});
    }
    region.was_left = true;
    return false;
  }
  auto ran = run_step_in_scratch(region.step);
  if (!ran.ok()) {
    if (stop.is_due()) return stop.error();
    // It wrote nothing that its instructions read.
    return leave_for_good(ran.error().message);
  }
  for (const size_t i : region.steps_after) PTERON_TRY(run_step_in_scratch(chains[chain][i]));
  return true;
}

Result<void> Method::State::run_chain(size_t number, uint64_t& left) {
  std::vector<Step>& steps = chains[number];
  const bool profile = program->options().profile;
  for (size_t i = 0; i < steps.size();) {
    if (left-- == 0) {
      return error(Code::ResourceLimit, "it ran more instructions than the limit of " +
                                            std::to_string(program->options().instruction_limit) +
                                            "; raise instruction_limit if its loops are that long");
    }
    if (stop.is_due()) {
      const Error due = stop.error();
      return error(due.code, "before instruction " + std::to_string(i) + ": " + due.message);
    }
    const int64_t start = profile ? now_ns() : 0;
    RegionStep* region = region_at.empty() ? nullptr : region_at[number][i];
    if (region != nullptr && !region->has_failed) {
      auto ran = run_region(number, *region);
      if (!ran.ok()) {
        return error(ran.error().code,
                     "instruction " + std::to_string(i) + ": " + ran.error().message);
      }
      if (*ran) {
        if (profile) note_time(number, i, start);
        i = region->end;
        continue;
      }
    }
    Step& step = steps[i];
    size_t next = i + 1;
    switch (step.kind) {
      case StepKind::Kernel:
      case StepKind::Delegate: {
        auto result = run_step_in_scratch(step);
        if (!result.ok()) {
          return error(result.error().code, "instruction " + std::to_string(i) + " (" +
                                                step.name.substr(0, 80) +
                                                "): " + result.error().message);
        }
        break;
      }
      case StepKind::Move:
        values[step.to] = values[step.from];
        break;
      case StepKind::JumpFalse:
        for (const ValueIndex index : step.unsure) {
          const Tensor& tensor = *values[index].tensor;
          if (tensor.raw() == nullptr && tensor.numel() > 0) {
            return error(Code::Malformed, "instruction " + std::to_string(i) + " jumps on value " +
                                              std::to_string(index) + ", which has no memory here");
          }
        }
        if (is_false(values[step.from])) next = step.to;
        break;
      case StepKind::Free:
        if (values[step.from].kind == ValueKind::Tensor) values[step.from].tensor->set_raw(nullptr);
        break;
    }
    if (profile) note_time(number, i, start);
    i = next;
  }
  return {};
}

Result<void> Method::State::run_chains() {
  int64_t start = 0;
  if (program->options().profile) {
    start = now_ns();
    for (auto& chain : times) std::fill(chain.begin(), chain.end(), StepTime());
  }
  uint64_t left = program->options().instruction_limit;
  for (size_t chain = 0; chain < chains.size(); ++chain) PTERON_TRY(run_chain(chain, left));
  if (program->options().profile) {
    for (auto& chain : times) {
      for (auto& time : chain) time.start_ns -= time.count > 0 ? start : 0;
    }
  }
  if (stop.is_due()) {
    const Error due = stop.error();
    return error(due.code, due.message);
  }
  return {};
}

void Method::announce() { state_->stop.announce(); }
void Method::withdraw() { state_->stop.end(); }
void Method::cancel() { state_->stop.cancel(); }

Result<void> Method::execute() {
  State& s = *state_;
  struct Running {
    explicit Running(Stop& s) : stop(s) { stop.begin(); }
    ~Running() { stop.end(); }
    Stop& stop;
  };
  const Running running(s.stop);
  s.has_result = false;
  PTERON_TRY(s.prepare_run());
  PTERON_TRY(s.run_chains());
  for (size_t i = 0; i < s.outputs.size(); ++i) {
    const Value& value = s.values[s.plan->outputs[i]];
    if (value.kind == ValueKind::Tensor && value.tensor->raw() == nullptr &&
        value.tensor->numel() > 0) {
      return s.error(Code::Malformed, describe_position("output", i, s.output_specs[i]) +
                                          " has no memory at the end");
    }
  }
  PTERON_TRY(s.finish_run());
  s.has_result = true;
  // What is compiled has weights of its own, made by the end of its first run.
  if (!s.regions.empty() && !s.gave_file_back && s.program->options().give_file_back) {
    s.program->options().give_file_back();
    s.gave_file_back = true;
  }
  return {};
}

AccelerationReport Method::acceleration() const {
  AccelerationReport report;
  for (size_t c = 0; c < state_->region_at.size(); ++c) {
    for (const RegionStep* region : state_->region_at[c]) {
      if (region != nullptr && !region->has_failed)
        report.regions.push_back({c, region->begin, region->end});
    }
  }
  for (const RegionRefusal& refusal : state_->region_refusals) {
    const Step& step = state_->chains[refusal.chain][refusal.instruction];
    report.kept.push_back({refusal.chain, refusal.instruction, step.name, refusal.reason});
  }
  std::map<std::string, AccelerationReport::Operator> operators;
  for (size_t c = 0; c < state_->region_at.size(); ++c) {
    size_t compiled_to = 0;
    for (size_t i = 0; i < state_->chains[c].size(); ++i) {
      const RegionStep* region = state_->region_at[c][i];
      if (region != nullptr && !region->has_failed) compiled_to = region->end;
      const Step& step = state_->chains[c][i];
      if (step.kind != StepKind::Kernel) continue;
      auto& row = operators[step.name];
      row.name = step.name;
      ++(i < compiled_to ? row.compiled : row.kernels);
    }
  }
  for (const auto& kept : report.kept) {
    auto& reasons = operators[kept.name].reasons;
    if (std::find(reasons.begin(), reasons.end(), kept.reason) == reasons.end())
      reasons.push_back(kept.reason);
  }
  for (auto& [name, row] : operators) report.operators.push_back(std::move(row));
  return report;
}

std::vector<ExecutionReport> Method::execution() const {
  std::vector<ExecutionReport> reports;
  std::vector<const CompiledDelegate*> seen;
  bool kernels = false;
  for (const auto& region : state_->regions) {
    if (region->has_failed) continue;
    reports.push_back(region->step.compiled->report());
    break;  // The others are on the same device.
  }
  for (size_t c = 0; c < state_->chains.size(); ++c) {
    const auto& chain = state_->chains[c];
    for (size_t i = 0; i < chain.size(); ++i) {
      const RegionStep* region = state_->region_at.empty() ? nullptr : state_->region_at[c][i];
      if (region != nullptr && !region->has_failed) {
        i = region->end - 1;
        continue;
      }
      const Step& step = chain[i];
      kernels |= step.kind == StepKind::Kernel;
      if (step.kind != StepKind::Delegate) continue;
      if (std::find(seen.begin(), seen.end(), step.compiled.get()) != seen.end()) continue;
      seen.push_back(step.compiled.get());
      reports.push_back(step.compiled->report());
    }
  }
  if (kernels) {
    ExecutionReport report;
    report.ran_by = "kernels";
    report.device = "CPU";
    report.precision = "program";
    reports.insert(reports.begin(), report);
  }
  return reports;
}

std::vector<InstructionTime> Method::profile() const {
  std::vector<InstructionTime> rows;
  for (size_t c = 0; c < state_->chains.size(); ++c) {
    size_t compiled_to = 0;
    for (size_t i = 0; i < state_->chains[c].size(); ++i) {
      const Step& step = state_->chains[c][i];
      const State::StepTime& time = state_->times[c][i];
      // Inside of a region, unless that was left to the kernels.
      if (i < compiled_to && time.count == 0) continue;
      const RegionStep* region = state_->region_at.empty() ? nullptr : state_->region_at[c][i];
      if (region != nullptr && !region->has_failed) {
        const std::string last = std::to_string(region->end - 1);
        rows.push_back({static_cast<uint32_t>(c), static_cast<uint32_t>(i),
                        "instructions " + std::to_string(i) + " to " + last + ", compiled",
                        time.start_ns, time.total_ns, time.count,
                        region->step.delegate->profile()});
        compiled_to = region->end;
        continue;
      }
      rows.push_back(
          {static_cast<uint32_t>(c), static_cast<uint32_t>(i), step.name, time.start_ns,
           time.total_ns, time.count,
           step.delegate ? step.delegate->profile() : std::vector<DelegateProfileRow>()});
    }
  }
  return rows;
}

}  // namespace pteron
