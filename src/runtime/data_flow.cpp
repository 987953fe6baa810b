#include "runtime/data_flow.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
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

// Calls visit(value) for the tensors that an argument names: itself, or its list's.
template <typename Visit>
void for_each_tensor(const Plan& plan, ValueIndex arg, Visit&& visit) {
  const ValueDef& def = plan.values[arg];
  if (std::holds_alternative<TensorDef>(def)) {
    visit(arg);
  } else if (const auto* list = std::get_if<TensorList>(&def)) {
    for (const ValueIndex item : list->items) visit(item);
  } else if (const auto* optional = std::get_if<OptionalTensorList>(&def)) {
    for (const int32_t item : optional->items) {
      if (item >= 0 && tensor_def(plan, static_cast<ValueIndex>(item)))
        visit(static_cast<ValueIndex>(item));
    }
  }
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

// Marks every value that may come to share memory with a marked one.
void spread(std::vector<bool>& marked,
            const std::vector<std::pair<ValueIndex, ValueIndex>>& moves) {
  // Each round but the last marks a value more, and only targets of moves can be marked.
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [from, to] : moves) {
      if (marked[from] && !marked[to]) changed = marked[to] = true;
    }
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
    if (!def || !def->allocation || written[value]) return;
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
      if (!accesses[k].writes) continue;
      const TensorDef* def = tensor_def(plan, accesses[k].value);
      // Planned memory 2 and up is for buffers that methods share.
      if (def->allocation && def->allocation->memory_id >= 2) read(accesses[k].value);
      write(accesses[k].value);
    }
    i = end;
  }
  for (const auto& move : moves) read(move.first);
  for (ValueIndex value = 0; value < plan.values.size(); ++value) {
    const TensorDef* def = tensor_def(plan, value);
    if (def && def->allocation && (def->data || def->external)) out.is_state[value] = true;
  }
  for (const ValueIndex output : plan.outputs) read(output);
  for (const ValueIndex input : plan.inputs) out.is_state[input] = false;
  return out;
}

// Pairs of values to look at are at most this many; past it the answer is "no".
constexpr size_t kMostPairs = 10'000'000;

}  // namespace

Result<DataFlow> analyze_data_flow(const Plan& plan, const std::vector<std::vector<Step>>& chains) {
  const std::vector<Access> accesses = list_accesses(plan, chains);
  const auto moves = list_pointer_moves(plan, chains);
  const size_t count = plan.values.size();

  std::vector<bool> constant(count);
  std::vector<bool> moved(count);
  std::vector<bool> input(count);
  for (ValueIndex value = 0; value < count; ++value) {
    const TensorDef* def = tensor_def(plan, value);
    constant[value] = def && is_constant(*def);
  }
  for (const ValueIndex value : plan.inputs) input[value] = true;
  std::vector<bool> input_memory = input;
  spread(constant, moves);
  spread(input_memory, moves);
  for (const auto& [from, to] : moves) moved[from] = moved[to] = true;

  DataFlow flow;
  UnwrittenReads unwritten = find_unwritten_reads(plan, accesses, moves);
  flow.is_state = std::move(unwritten.is_state);
  std::vector<bool> written(count);
  std::vector<size_t> writer(count, SIZE_MAX);
  std::vector<bool> written_twice(count);
  std::vector<size_t> last_read(count, 0);
  bool writes_moved_input = false;
  for (const Access& access : accesses) {
    if (access.reads) last_read[access.value] = access.step;
    if (!access.writes) continue;
    if (constant[access.value]) {
      return Error{Code::Malformed, "instruction " + std::to_string(access.step) +
                                        " writes to value " + std::to_string(access.value) +
                                        ", which is a constant"};
    }
    if (input_memory[access.value] && !input[access.value]) writes_moved_input = true;
    written_twice[access.value] = written[access.value];
    written[access.value] = true;
    writer[access.value] = access.step;
  }
  const bool has_jumps = std::any_of(chains.begin(), chains.end(), [](const auto& chain) {
    return std::any_of(chain.begin(), chain.end(), [](const Step& step) {
      return step.kind == StepKind::JumpFalse || step.kind == StepKind::Free;
    });
  });
  for (const ValueIndex value : plan.inputs) {
    const TensorDef* def = tensor_def(plan, value);
    bool borrowable = def && !written[value] && !(writes_moved_input && moved[value]) &&
                      !unwritten.views.overlaps(*def) &&
                      plan.inputs.size() * accesses.size() <= kMostPairs;
    // Read again after its planned place was written to: what was written counts, not the caller's
    // array.
    for (size_t i = 0; borrowable && i < accesses.size(); ++i) {
      const Access& access = accesses[i];
      const bool later_read = has_jumps || access.step < last_read[value];
      borrowable = !(access.writes && later_read && access.value != value &&
                     overlaps(*def, *tensor_def(plan, access.value)));
    }
    flow.input_is_borrowable.push_back(borrowable);
  }

  for (const ValueIndex value : plan.outputs) {
    const TensorDef* def = tensor_def(plan, value);
    bool redirectable = def && def->allocation && !has_jumps && !input[value] && !moved[value] &&
                        !flow.is_state[value] && written[value] && !written_twice[value] &&
                        std::count(plan.outputs.begin(), plan.outputs.end(), value) == 1 &&
                        plan.outputs.size() * count <= kMostPairs;
    for (ValueIndex other = 0; redirectable && other < count; ++other) {
      const TensorDef* other_def = other != value ? tensor_def(plan, other) : nullptr;
      if (!other_def || !overlaps(*def, *other_def)) continue;
      const bool is_output =
          std::find(plan.outputs.begin(), plan.outputs.end(), other) != plan.outputs.end();
      redirectable =
          last_read[other] <= writer[value] && !is_output && !moved[other] && !flow.is_state[other];
    }
    flow.output_is_redirectable.push_back(redirectable);
  }
  return flow;
}

}  // namespace pteron
