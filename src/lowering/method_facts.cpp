#include "lowering/method_facts.h"

#include <algorithm>

namespace pteron {
namespace {

// Places that are looked at for one method are at most this many: past it what could be read later
// counts as read.
constexpr size_t kMostLooks = 20'000'000;

// Calls visit(value) for what an argument names: itself, and what is in it if it is a list.
template <typename Visit>
void for_each_value(const Plan& plan, ValueIndex arg, Visit&& visit) {
  visit(arg);
  if (const auto* ints = std::get_if<IntList>(&plan.values[arg])) {
    for (const ValueIndex item : ints->items) visit(item);
  } else if (!std::holds_alternative<TensorDef>(plan.values[arg])) {
    for_each_tensor(plan, arg, visit);
  }
}

}  // namespace

bool is_constant(const TensorDef& def) {
  return !def.allocation && (def.data.has_value() || def.external);
}

bool is_row_major(const TensorDef& def) {
  for (size_t d = 0; d < def.dim_order.size(); ++d) {
    if (def.dim_order[d] != d) return false;
  }
  return true;
}

bool is_view(const Step& step) {
  return step.kind == StepKind::Kernel &&
         step.kernel->signature.find('A') != std::string_view::npos;
}

MethodFacts::MethodFacts(const MethodView& method)
    : method_(method), places_(method.plan, find_views()) {
  note_steps();
}

std::vector<ValueIndex> MethodFacts::find_views() {
  std::vector<ValueIndex> views(plan().values.size());
  for (ValueIndex v = 0; v < views.size(); ++v) views[v] = v;
  std::vector<int> times(views.size());
  for (const auto& chain : method_.chains) {
    for (const Step& step : chain) {
      if (!is_view(step)) continue;
      const ValueIndex view = step.args.back();
      ++times[view];
      views[view] = views[step.args[0]];
    }
  }
  // What is made a view of several things in turn has no one place.
  unclear_.resize(views.size());
  for (ValueIndex v = 0; v < views.size(); ++v) unclear_[v] = times[v] > 1;
  return views;
}

void MethodFacts::note_steps() {
  const size_t count = plan().values.size();
  changed_.resize(count);
  is_output_.resize(count);
  readers_.resize(count);
  writers_.resize(count);
  for (size_t c = 0; c < method_.chains.size(); ++c) {
    const auto& chain = method_.chains[c];
    std::vector<bool> targets(chain.size() + 1);
    for (size_t i = 0; i < chain.size(); ++i) {
      const Step& step = chain[i];
      const auto reads = [&](ValueIndex value) { readers_[value].push_back({c, i}); };
      const auto writes = [&](ValueIndex value) {
        changed_[value] = true;
        writers_[value].push_back({c, i});
      };
      switch (step.kind) {
        case StepKind::JumpFalse:
          targets[step.to] = true;
          has_loops_ = has_loops_ || step.to <= i;
          reads(step.from);
          break;
        case StepKind::Move:
          reads(step.from);
          writes(step.to);
          unclear_[step.from] = unclear_[step.to] = true;
          break;
        case StepKind::Free:
          unclear_[step.from] = true;
          break;
        case StepKind::Kernel:
        case StepKind::Delegate:
          for (size_t k = 0; k < step.args.size(); ++k) {
            if (step.reads(k)) for_each_value(plan(), step.args[k], reads);
            if (step.writes(k)) for_each_value(plan(), step.args[k], writes);
          }
          break;
      }
    }
    is_target_.push_back(std::move(targets));
  }
  for (const ValueIndex input : plan().inputs) changed_[input] = true;
  for (const ValueIndex output : plan().outputs) {
    for_each_value(plan(), output, [&](ValueIndex value) { is_output_[value] = true; });
  }
  // A view of what moves, moves.
  for (ValueIndex v = 0; v < count; ++v) {
    if (unclear_[places_.root(v)]) unclear_[v] = true;
  }
}

bool MethodFacts::is_read_later(const Stretch& stretch, Site site) {
  for (size_t c = site.chain; c < method_.chains.size(); ++c) {
    const size_t first = c == site.chain ? site.step : 0;
    for (size_t i = first; i < method_.chains[c].size(); ++i) {
      const Step& step = method_.chains[c][i];
      // Where a jump may lead is not followed.
      if (step.kind == StepKind::JumpFalse || is_target_[c][i]) return is_read_anywhere(stretch);
      const int reads = look(step, stretch);
      if (reads != 0) return reads > 0;
    }
  }
  return is_left(stretch);
}

bool MethodFacts::is_read_anywhere(const Stretch& stretch) {
  for (const auto& chain : method_.chains) {
    for (const Step& step : chain) {
      if (step.kind == StepKind::JumpFalse && tensor_def(step.from) &&
          (is_unclear(step.from) || places_.of(step.from).overlaps(stretch)))
        return true;
      if (look(step, stretch) > 0) return true;
    }
  }
  return is_left(stretch);
}

// 1: the step reads of the stretch; -1: it writes all of it; 0: neither.
int MethodFacts::look(const Step& step, const Stretch& stretch) {
  if (looks_ > kMostLooks) return 1;
  if (step.kind == StepKind::Move) return tensor_def(step.from) ? 1 : 0;
  if (step.kind != StepKind::Kernel && step.kind != StepKind::Delegate) return 0;
  bool reads = false;
  bool covers = false;
  for (size_t i = 0; i < step.args.size(); ++i) {
    for_each_tensor(plan(), step.args[i], [&](ValueIndex value) {
      ++looks_;
      const TensorDef& def = *tensor_def(value);
      if (is_constant(def)) return;
      if (unclear_[value]) {
        reads = reads || step.reads(i);
        return;
      }
      const Stretch place = places_.of(value);
      // A view hands on what it views.
      if (step.reads(i) && place.overlaps(stretch) && !is_view(step)) reads = true;
      if (step.writes(i) && !is_view(step) && place.covers(stretch) &&
          def.dynamism == Dynamism::Static)
        covers = true;
    });
  }
  return reads ? 1 : covers ? -1 : 0;
}

// Whether it is an output's or a state's when the method ends.
bool MethodFacts::is_left(const Stretch& stretch) const {
  // Methods may share what has a number of its own.
  if (stretch.memory >= 2 && stretch.memory < (uint64_t{1} << 32)) return true;
  const auto is_there = [&](ValueIndex value) {
    const TensorDef* def = tensor_def(value);
    return def && !is_constant(*def) && (unclear_[value] || places_.of(value).overlaps(stretch));
  };
  return std::any_of(plan().outputs.begin(), plan().outputs.end(), is_there) ||
         std::any_of(method_.flow.states.begin(), method_.flow.states.end(), is_there);
}

}  // namespace pteron
