#include "runtime/data_flow.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace pteron {
namespace {

const TensorDef* tensor_def(const Plan& plan, ValueIndex value) {
  return std::get_if<TensorDef>(&plan.values[value]);
}

bool is_constant(const TensorDef& def) {
  return !def.allocation && (def.data.has_value() || def.external);
}

bool overlaps(const TensorDef& a, const TensorDef& b) {
  if (!a.allocation || !b.allocation || a.allocation->memory_id != b.allocation->memory_id)
    return false;
  const uint64_t a_begin = a.allocation->offset;
  const uint64_t b_begin = b.allocation->offset;
  return a_begin < b_begin + b.nbytes() && b_begin < a_begin + a.nbytes();
}

// Byte ranges of planned memory, joined where they touch.
class Ranges {
 public:
  void add(const TensorDef& def) {
    if (!def.allocation || def.nbytes() == 0) return;
    auto& ranges = by_memory_[def.allocation->memory_id];
    uint64_t begin = def.allocation->offset;
    uint64_t end = begin + def.nbytes();
    auto at = ranges.upper_bound(begin);
    if (at != ranges.begin() && std::prev(at)->second >= begin) --at;
    while (at != ranges.end() && at->first <= end) {
      begin = std::min(begin, at->first);
      end = std::max(end, at->second);
      at = ranges.erase(at);
    }
    ranges.emplace(begin, end);
  }
  bool overlaps(const TensorDef& def) const {
    if (!def.allocation || def.nbytes() == 0) return false;
    const auto ranges = by_memory_.find(def.allocation->memory_id);
    if (ranges == by_memory_.end()) return false;
    const uint64_t begin = def.allocation->offset;
    const auto after = ranges->second.lower_bound(begin + def.nbytes());
    return after != ranges->second.begin() && std::prev(after)->second > begin;
  }

 private:
  std::map<uint32_t, std::map<uint64_t, uint64_t>> by_memory_;  // begin -> end
};

// Instructions may share a long list, so that their accesses are many more than the file's bytes.
constexpr size_t kMostAccesses = 4'000'000;

struct Access {
  size_t step;  // Counted over all chains.
  ValueIndex value;
  bool reads;
  bool writes;
};

// In a step, reads come before writes.
std::vector<Access> list_accesses(const Plan& plan, const std::vector<std::vector<Step>>& chains) {
  std::vector<Access> accesses;
  size_t number = 0;
  for (const auto& chain : chains) {
    for (const Step& step : chain) {
      if (step.kind == StepKind::Kernel || step.kind == StepKind::Delegate) {
        for (size_t i = 0; i < step.args.size(); ++i) {
          const bool is_view = step.kernel && Signature(step.kernel->signature).letter(i) == 'A';
          if (is_view) continue;  // Gets a pointer, not contents.
          for_each_tensor(plan, step.args[i], [&](ValueIndex value) {
            if (accesses.size() <= kMostAccesses)
              accesses.push_back({number, value, step.reads(i), step.writes(i)});
          });
        }
      } else if (step.kind == StepKind::JumpFalse && tensor_def(plan, step.from)) {
        accesses.push_back({number, step.from, true, false});
      }
      ++number;
    }
  }
  return accesses;
}

// Pairs (a, b): b gets a's memory pointer when the instruction runs.
std::vector<std::pair<ValueIndex, ValueIndex>> list_pointer_moves(
    const Plan& plan, const std::vector<std::vector<Step>>& chains) {
  std::vector<std::pair<ValueIndex, ValueIndex>> moves;
  for (const auto& chain : chains) {
    for (const Step& step : chain) {
      if (step.kind == StepKind::Move && tensor_def(plan, step.from)) {
        moves.emplace_back(step.from, step.to);
      } else if (step.kind == StepKind::Kernel) {
        const Signature signature(step.kernel->signature);
        for (size_t i = 0; i < step.args.size(); ++i) {
          if (signature.letter(i) == 'A') moves.emplace_back(step.args[0], step.args[i]);
        }
      }
    }
  }
  return moves;
}

// The values that get their pointer from another as a view (signature letter A).
std::vector<bool> list_views(const Plan& plan, const std::vector<std::vector<Step>>& chains) {
  std::vector<bool> is_view(plan.values.size());
  for (const auto& chain : chains) {
    for (const Step& step : chain) {
      if (step.kind != StepKind::Kernel) continue;
      const Signature signature(step.kernel->signature);
      for (size_t i = 0; i < step.args.size(); ++i) {
        if (signature.letter(i) == 'A') is_view[step.args[i]] = true;
      }
    }
  }
  return is_view;
}

// Marks every value that may come to share memory with a marked one.
void spread(std::vector<bool>& marked,
            const std::vector<std::pair<ValueIndex, ValueIndex>>& moves) {
  std::multimap<ValueIndex, ValueIndex> targets(moves.begin(), moves.end());
  std::vector<ValueIndex> open;
  for (ValueIndex value = 0; value < marked.size(); ++value) {
    if (marked[value]) open.push_back(value);
  }
  while (!open.empty()) {
    const auto [first, last] = targets.equal_range(open.back());
    open.pop_back();
    for (auto at = first; at != last; ++at) {
      if (marked[at->second]) continue;
      marked[at->second] = true;
      open.push_back(at->second);
    }
    targets.erase(first, last);
  }
}

// Reads of planned tensors that nothing has written under their own name.
struct UnwrittenReads {
  std::vector<bool>
      is_state;  // Nothing has written their memory either: the contents are from the last run.
  // Something has, under another name: the exporter gave a view the place of what it views.
  Ranges views;
};

UnwrittenReads find_unwritten_reads(const Plan& plan, const std::vector<Access>& accesses,
                                    const std::vector<std::pair<ValueIndex, ValueIndex>>& moves) {
  UnwrittenReads out;
  out.is_state.resize(plan.values.size());
  std::vector<bool> written(plan.values.size());
  Ranges written_memory;
  const auto write = [&](ValueIndex value) {
    written[value] = true;
    if (const TensorDef* def = tensor_def(plan, value)) written_memory.add(*def);
  };
  const auto read = [&](ValueIndex value) {
    const TensorDef* def = tensor_def(plan, value);
    // A model's buffers have fixed sizes: a bounded tensor that is changed in place gathers the
    // results of a loop.
    if (!def || !def->allocation || def->dynamism == Dynamism::Bounded || written[value]) return;
    if (written_memory.overlaps(*def))
      out.views.add(*def);
    else
      out.is_state[value] = true;
  };
  for (const ValueIndex input : plan.inputs) write(input);
  // A view's or move's target has contents of its source's; they are no state of their own.
  for (const auto& move : moves) written[move.second] = true;
  for (size_t i = 0; i < accesses.size();) {
    size_t end = i;
    while (end < accesses.size() && accesses[end].step == accesses[i].step) ++end;
    for (size_t k = i; k < end; ++k) {
      if (accesses[k].reads) read(accesses[k].value);
    }
    for (size_t k = i; k < end; ++k) {
      if (accesses[k].writes) write(accesses[k].value);
    }
    i = end;
  }
  for (const auto& move : moves) read(move.first);
  for (ValueIndex value = 0; value < plan.values.size(); ++value) {
    const TensorDef* def = tensor_def(plan, value);
    // Exporters name buffers and weights, never intermediate results.
    if (def && def->allocation && (def->data || def->external || !def->name.empty()))
      out.is_state[value] = true;
  }
  for (const ValueIndex output : plan.outputs) read(output);
  for (const ValueIndex input : plan.inputs) out.is_state[input] = false;
  return out;
}

// What jumps leave of the program's order: a step after the last jump back, and outside of what
// jumps forward pass over, runs exactly once, after every earlier step that runs at all and before
// every later one.
class Order {
 public:
  explicit Order(const std::vector<std::vector<Step>>& chains) {
    for (const auto& chain : chains) {
      const size_t first = is_passed_over_.size();
      size_t reach = 0;  // Where the jumps forward so far go at most.
      for (size_t i = 0; i < chain.size(); ++i) {
        is_passed_over_.push_back(i < reach);
        if (chain[i].kind != StepKind::JumpFalse) continue;
        if (chain[i].to <= i) after_loops_ = first + i + 1;
        reach = std::max<size_t>(reach, chain[i].to);
      }
    }
  }
  // Whether an earlier step, or this one, may run after it.
  bool may_repeat(size_t step) const { return step < after_loops_; }
  bool runs_once(size_t step) const { return !may_repeat(step) && !is_passed_over_[step]; }

 private:
  size_t after_loops_ = 0;  // The first step after the last jump back.
  std::vector<bool> is_passed_over_;
};

// Of the states that lie in the same memory, one: the largest, then the first.
std::vector<ValueIndex> without_views(const Plan& plan, const std::vector<bool>& is_state) {
  std::vector<ValueIndex> all;
  for (ValueIndex value = 0; value < is_state.size(); ++value) {
    if (is_state[value]) all.push_back(value);
  }
  const auto place = [&](ValueIndex value) {
    const TensorDef& def = *tensor_def(plan, value);
    return std::tuple(def.allocation->memory_id, def.allocation->offset, UINT64_MAX - def.nbytes(),
                      value);
  };
  std::sort(all.begin(), all.end(),
            [&](ValueIndex a, ValueIndex b) { return place(a) < place(b); });
  std::vector<ValueIndex> kept;
  uint32_t memory_id = 0;
  uint64_t end = 0;
  for (const ValueIndex value : all) {
    const TensorDef& def = *tensor_def(plan, value);
    if (def.allocation->memory_id == memory_id && def.allocation->offset < end) continue;
    memory_id = def.allocation->memory_id;
    end = def.allocation->offset + def.nbytes();
    kept.push_back(value);
  }
  std::sort(kept.begin(), kept.end());
  return kept;
}

// Pairs of values to look at are at most this many; past it the answer is "no".
constexpr size_t kMostPairs = 10'000'000;

}  // namespace

Result<DataFlow> analyze_data_flow(const Plan& plan, const std::vector<std::vector<Step>>& chains) {
  const std::vector<Access> accesses = list_accesses(plan, chains);
  if (accesses.size() > kMostAccesses) {
    return Error{Code::ResourceLimit,
                 "its instructions name more than " + std::to_string(kMostAccesses) + " tensors"};
  }
  const auto moves = list_pointer_moves(plan, chains);
  const size_t count = plan.values.size();

  DataFlow flow;
  std::vector<bool> constant(count);
  std::vector<bool> moved(count);
  std::vector<bool> input(count);
  for (ValueIndex value = 0; value < count; ++value) {
    const TensorDef* def = tensor_def(plan, value);
    constant[value] = def && is_constant(*def);
    if (def && def->allocation && (def->data || def->external)) flow.initialized.push_back(value);
  }
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    if (constant[plan.inputs[i]]) {
      return Error{Code::Malformed, "input " + std::to_string(i) + " is value " +
                                        std::to_string(plan.inputs[i]) + ", which is a constant"};
    }
    input[plan.inputs[i]] = true;
  }
  std::vector<bool> input_memory = input;
  std::vector<bool> view = list_views(plan, chains);
  spread(constant, moves);
  spread(input_memory, moves);
  spread(view, moves);
  for (const auto& [from, to] : moves) moved[from] = moved[to] = true;

  UnwrittenReads unwritten = find_unwritten_reads(plan, accesses, moves);
  flow.states = without_views(plan, unwritten.is_state);
  std::vector<size_t> writes(count);
  std::vector<bool> changed_in_place(count);
  std::vector<size_t> writer(count, SIZE_MAX);
  std::vector<size_t> last_read(count, 0);
  bool writes_moved_input = false;
  for (const Access& access : accesses) {
    if (access.reads) last_read[access.value] = access.step;
    if (!access.writes) continue;
    // A view may be larger than what it views, so that writing to it could write past that.
    if (constant[access.value] || view[access.value]) {
      return Error{Code::Malformed,
                   "instruction " + std::to_string(access.step) + " writes to value " +
                       std::to_string(access.value) + ", which is " +
                       (constant[access.value] ? "a constant" : "a view of another value")};
    }
    if (input_memory[access.value] && !input[access.value]) writes_moved_input = true;
    ++writes[access.value];
    if (access.reads) changed_in_place[access.value] = true;
    writer[access.value] = access.step;
  }
  // An output that is an input has to outlast the caller's array.
  std::vector<bool> comes_out(count);
  for (const ValueIndex output : plan.outputs) comes_out[output] = true;
  auto origins = moves;
  for (auto& [from, to] : origins) std::swap(from, to);
  spread(comes_out, origins);

  const Order order(chains);
  for (const ValueIndex value : plan.inputs) {
    const TensorDef* def = tensor_def(plan, value);
    bool borrowable = def && !comes_out[value] && writes[value] == 0 &&
                      !(writes_moved_input && moved[value]) && !unwritten.views.overlaps(*def) &&
                      plan.inputs.size() * accesses.size() <= kMostPairs;
    // Read again after its planned place was written to: what was written counts, not the caller's
    // array.
    for (size_t i = 0; borrowable && i < accesses.size(); ++i) {
      const Access& access = accesses[i];
      const bool later_read = order.may_repeat(access.step) || access.step < last_read[value];
      borrowable = !(access.writes && later_read && access.value != value &&
                     overlaps(*def, *tensor_def(plan, access.value)));
    }
    flow.input_is_borrowable.push_back(borrowable);
  }

  std::vector<size_t> times_output(count);
  for (const ValueIndex output : plan.outputs) ++times_output[output];
  for (const ValueIndex value : plan.outputs) {
    const TensorDef* def = tensor_def(plan, value);
    // Methods may share planned memory 2 and up, and read there what this one leaves.
    const bool is_shared = def && def->allocation && def->allocation->memory_id >= 2;
    bool redirectable = def && !is_shared && !input[value] && !moved[value] &&
                        !unwritten.is_state[value] && writes[value] == 1 &&
                        order.runs_once(writer[value]) && !changed_in_place[value] &&
                        times_output[value] == 1 && plan.outputs.size() * count <= kMostPairs;
    for (ValueIndex other = 0; redirectable && other < count; ++other) {
      const TensorDef* other_def = other != value ? tensor_def(plan, other) : nullptr;
      if (!other_def || !overlaps(*def, *other_def)) continue;
      redirectable = last_read[other] <= writer[value] && times_output[other] == 0 &&
                     !moved[other] && !unwritten.is_state[other];
    }
    flow.output_is_redirectable.push_back(redirectable);
  }
  return flow;
}

}  // namespace pteron
