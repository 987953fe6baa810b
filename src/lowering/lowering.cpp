#include "lowering/lowering.h"

#include <algorithm>
#include <map>
#include <set>

#include "lowering/call.h"
#include "lowering/memory.h"

namespace pteron {
namespace {

// Stretches of memory that are looked at for one method are at most this many: past it what could
// be read later counts as read.
constexpr size_t kMostLooks = 20'000'000;

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
  return step.kind == StepKind::Kernel && step.kernel->signature.find('A') != std::string_view::npos;
}

// One method on its way.
class Lowering {
 public:
  Lowering(const MethodView& method, const CompileRegion& compile)
      : method_(method),
        plan_(method.plan),
        compile_(compile),
        places_(plan_, find_views()) {
    note_steps();
  }

  Acceleration run() {
    for (size_t c = 0; c < method_.chains.size(); ++c) {
      begin(c, 0);
      for (size_t i = 0; i < method_.chains[c].size(); ++i) {
        if (is_target_[c][i]) close(i);
        if (const Reason reason = lower(method_.chains[c][i]); !reason.empty()) {
          if (method_.chains[c][i].kind == StepKind::Kernel)
            out_.refusals.push_back({c, i, reason});
          close(i);
          begin(c, i + 1);
        } else {
          if (is_view(method_.chains[c][i])) views_.push_back(i);
          has_work_ = has_work_ || !is_view(method_.chains[c][i]);
        }
      }
      close(method_.chains[c].size());
    }
    return std::move(out_);
  }

 private:
  const TensorDef* tensor_def(ValueIndex value) const {
    return std::get_if<TensorDef>(&plan_.values[value]);
  }

  // ---- What the whole method does

  std::vector<ValueIndex> find_views() {
    std::vector<ValueIndex> views(plan_.values.size());
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

  void note_steps() {
    changed_.resize(plan_.values.size());
    readers_.resize(plan_.values.size());
    for (const auto& chain : method_.chains) {
      std::vector<bool> targets(chain.size() + 1);
      for (const Step& step : chain) {
        if (step.kind == StepKind::JumpFalse) targets[step.to] = true;
        if (step.kind == StepKind::Move) {
          changed_[step.to] = true;
          unclear_[step.from] = unclear_[step.to] = true;
        }
        if (step.kind == StepKind::Free) unclear_[step.from] = true;
        if (step.kind == StepKind::Kernel || step.kind == StepKind::Delegate) {
          for (size_t i = 0; i < step.args.size(); ++i) {
            if (step.writes(i)) changed_[step.args[i]] = true;
            if (step.reads(i))
              for_each_tensor(plan_, step.args[i], [&](ValueIndex v) { ++readers_[v]; });
          }
        }
        if (step.kind == StepKind::JumpFalse && tensor_def(step.from)) ++readers_[step.from];
      }
      is_target_.push_back(std::move(targets));
    }
    for (const ValueIndex output : plan_.outputs) ++readers_[output];
    // A view of what moves, moves.
    for (ValueIndex v = 0; v < unclear_.size(); ++v) {
      if (unclear_[places_.root(v)]) unclear_[v] = true;
    }
  }

  // ---- A region

  void begin(size_t chain, size_t first) {
    chain_ = chain;
    first_ = first;
    graph_ = ir::Graph();
    memory_ = Memory();
    parameters_.clear();
    views_.clear();
    has_work_ = false;
  }

  // Ends the region before instruction `end`, compiles it, and begins another there.
  void close(size_t end) {
    if (has_work_) finish(end);
    begin(chain_, end);
  }

  void finish(size_t end) {
    Region region;
    region.chain = chain_;
    region.begin = first_;
    region.end = end;
    std::set<ValueIndex> given;
    for (const Memory::Held& held : memory_.all()) {
      // Under the name that has the memory; views of it hold the same.
      const ValueIndex value = places_.root(held.value);
      if (!held.is_made || given.count(value) > 0 || !is_read_later(held.stretch, end)) continue;
      if (places_.of(value) != held.stretch) return refuse(end, "a part of a tensor outlives it");
      given.insert(value);
      region.outputs.push_back(value);
      ir::Output output = held.output;
      const TensorDef& def = *tensor_def(value);
      if (held.value != value) {
        Call call(graph_, {});
        output = call.reshaped(output, std::vector<int64_t>(def.sizes.begin(), def.sizes.end()));
      }
      graph_.result(output);
    }
    if (region.outputs.empty()) return;
    const std::vector<bool> needed = graph_.needed();
    for (const auto& [value, output] : parameters_) {
      if (needed[output.node]) region.inputs.push_back(value);
    }
    LoweredRegion lowered;
    for (const ValueIndex output : region.outputs) {
      const Stretch place = places_.of(output);
      lowered.staged.push_back(
          std::any_of(region.inputs.begin(), region.inputs.end(),
                      [&](ValueIndex input) { return places_.of(input).overlaps(place); }));
    }
    for (const size_t i : views_) {
      const ValueIndex view = method_.chains[chain_][i].args.back();
      if (readers_[view] > reads_inside(view, end)) region.views.push_back(i);
    }
    lowered.model = ir::write(std::move(graph_), plan_.name);
    auto compiled = compile_(std::move(lowered));
    if (!compiled.ok()) return refuse(end, compiled.error().message);
    region.compiled = *std::move(compiled);
    out_.regions.push_back(std::move(region));
  }

  void refuse(size_t end, const std::string& reason) {
    for (size_t i = first_; i < end; ++i) {
      if (!is_view(method_.chains[chain_][i])) out_.refusals.push_back({chain_, i, reason});
    }
  }

  size_t reads_inside(ValueIndex value, size_t end) const {
    size_t reads = 0;
    for (size_t i = first_; i < end; ++i) {
      const Step& step = method_.chains[chain_][i];
      for (size_t k = 0; k < step.args.size(); ++k) {
        if (step.reads(k))
          for_each_tensor(plan_, step.args[k], [&](ValueIndex v) { reads += v == value ? 1 : 0; });
      }
    }
    return reads;
  }

  // Whether anything may read these bytes after instruction `end` of this chain, before they are
  // written anew.
  bool is_read_later(const Stretch& stretch, size_t end) {
    for (size_t c = chain_; c < method_.chains.size(); ++c) {
      for (size_t i = c == chain_ ? end : 0; i < method_.chains[c].size(); ++i) {
        const Step& step = method_.chains[c][i];
        // Where a jump may lead is not followed.
        if (step.kind == StepKind::JumpFalse || is_target_[c][i]) return is_read_anywhere(stretch);
        const int reads = look(step, stretch);
        if (reads != 0) return reads > 0;
      }
    }
    return is_left(stretch);
  }

  bool is_read_anywhere(const Stretch& stretch) {
    for (const auto& chain : method_.chains) {
      for (const Step& step : chain) {
        if (step.kind == StepKind::JumpFalse && tensor_def(step.from) &&
            places_.of(step.from).overlaps(stretch))
          return true;
        if (look(step, stretch) > 0) return true;
      }
    }
    return is_left(stretch);
  }

  // 1: the step reads of the stretch; -1: it writes all of it; 0: neither.
  int look(const Step& step, const Stretch& stretch) {
    if (looks_ > kMostLooks) return 1;
    if (step.kind == StepKind::Move) return tensor_def(step.from) ? 1 : 0;
    if (step.kind != StepKind::Kernel && step.kind != StepKind::Delegate) return 0;
    bool reads = false;
    bool covers = false;
    for (size_t i = 0; i < step.args.size(); ++i) {
      for_each_tensor(plan_, step.args[i], [&](ValueIndex value) {
        ++looks_;
        if (is_constant(*tensor_def(value))) return;
        if (unclear_[value]) {
          reads = reads || step.reads(i);
          return;
        }
        const Stretch place = places_.of(value);
        // A view hands on what it views.
        if (step.reads(i) && place.overlaps(stretch) && !is_view(step)) reads = true;
        if (step.writes(i) && !is_view(step) && place.covers(stretch) &&
            tensor_def(value)->dynamism == Dynamism::Static)
          covers = true;
      });
    }
    return reads ? 1 : covers ? -1 : 0;
  }

  // Whether it is an output's or a state's when the method ends.
  bool is_left(const Stretch& stretch) const {
    const auto is_there = [&](ValueIndex value) {
      const TensorDef* def = tensor_def(value);
      return def && !is_constant(*def) &&
             (unclear_[value] || places_.of(value).overlaps(stretch));
    };
    return stretch.memory >= 2 && stretch.memory < (uint64_t{1} << 32)
               ? true  // Methods may share it.
               : std::any_of(plan_.outputs.begin(), plan_.outputs.end(), is_there) ||
                     std::any_of(method_.flow.states.begin(), method_.flow.states.end(), is_there);
  }

  // ---- An instruction

  Reason lower(const Step& step) {
    if (step.kind != StepKind::Kernel) return "it is no operator";
    const LoweringRow* row = find_row(step.kernel->name);
    if (row == nullptr && !is_view(step)) return "no row for it";
    std::vector<Call::Argument> arguments(step.args.size());
    const Signature signature(step.kernel->signature);
    for (size_t i = 0; i < step.args.size(); ++i) {
      if (signature.letter(i) == 'M') return "it changes an argument in place";
      if (Reason reason = resolve(step, i, signature.is_output(i), arguments[i]); !reason.empty())
        return reason;
    }
    Call call(graph_, std::move(arguments));
    if (is_view(step)) return lower_view(step, call);
    graph_.set_name(step.name);
    if (Reason reason = row->emit(call); !reason.empty()) return reason;
    for (size_t i = signature.inputs; i < step.args.size(); ++i) {
      if (Reason reason = check_output(step, call, i); !reason.empty()) return reason;
    }
    for (size_t i = signature.inputs; i < step.args.size(); ++i) {
      if (tensor_def(step.args[i])) {
        define(step.args[i], call.tensor(i));
      } else {
        const auto& items = std::get<TensorList>(plan_.values[step.args[i]]).items;
        for (size_t k = 0; k < items.size(); ++k) define(items[k], call.list(i)[k].output);
      }
    }
    return {};
  }

  // The pointer's new shape, of the same elements.
  Reason lower_view(const Step& step, Call& call) {
    const ValueIndex view = step.args.back();
    const TensorDef& to = *tensor_def(view);
    if (call.dtype(0) != to.dtype || call.def(0).nbytes() != to.nbytes() || !is_row_major(to) ||
        !is_row_major(call.def(0)))
      return "its result has other elements";
    const ir::Output output =
        call.reshaped(call.tensor(0), std::vector<int64_t>(to.sizes.begin(), to.sizes.end()));
    bool clear = false;
    const Memory::Held* held = memory_.find(places_.of(view), view, clear);
    memory_.add({places_.of(view), view, output, held != nullptr && held->is_made});
    return {};
  }

  // An output that the row did not set is one that nobody reads.
  static constexpr ir::Output kUnset{UINT32_MAX, 0};

  Reason check_output(const Step& step, const Call& call, size_t i) const {
    const auto check = [&](ValueIndex value, ir::Output output) -> Reason {
      const TensorDef& def = *tensor_def(value);
      if (output == kUnset)
        return readers_[value] == 0 || def.nbytes() == 0 ? Reason()
                                                         : "a result of it is read that has no row";
      return graph_.dtype(output) == def.dtype ? Reason() : "its result is of another dtype";
    };
    if (tensor_def(step.args[i])) return check(step.args[i], call.tensor(i));
    const auto& items = std::get<TensorList>(plan_.values[step.args[i]]).items;
    for (size_t k = 0; k < items.size(); ++k) {
      if (Reason reason = check(items[k], call.list(i)[k].output); !reason.empty()) return reason;
    }
    return {};
  }

  void define(ValueIndex value, ir::Output output) {
    if (tensor_def(value)->nbytes() == 0) return;
    if (output == kUnset) return;  // Nobody reads what it holds.
    memory_.define({places_.of(value), value, output, true});
  }

  Reason resolve(const Step& step, size_t i, bool is_output, Call::Argument& argument) {
    const ValueIndex index = step.args[i];
    argument.value = &plan_.values[index];
    if (tensor_def(index)) return resolve_tensor(step, index, is_output, argument.tensor);
    if (const auto* list = std::get_if<TensorList>(argument.value)) {
      for (const ValueIndex item : list->items) {
        argument.list.emplace_back();
        if (Reason reason = resolve_tensor(step, item, is_output, argument.list.back());
            !reason.empty())
          return reason;
      }
      return {};
    }
    if (is_output) return "its result is no tensor";
    if (std::holds_alternative<OptionalTensorList>(*argument.value))
      return "it has a list of tensors or none";
    if (changed_[index]) return "argument " + std::to_string(i) + " is known only as it runs";
    if (const auto* list = std::get_if<IntList>(argument.value)) {
      for (const ValueIndex item : list->items) {
        const auto* number = std::get_if<int64_t>(&plan_.values[item]);
        if (number == nullptr || changed_[item])
          return "argument " + std::to_string(i) + " is known only as it runs";
        argument.ints.push_back(*number);
      }
    }
    return {};
  }

  Reason resolve_tensor(const Step& step, ValueIndex value, bool is_output, LoweredTensor& tensor) {
    const TensorDef& def = *tensor_def(value);
    tensor.def = &def;
    tensor.output = kUnset;
    const bool is_pointer = is_output && is_view(step);
    if (def.dynamism != Dynamism::Static) return "a tensor of it has no fixed shape";
    if (unclear_[value]) return "a tensor of it is moved or freed";
    if (!ir::has_element_type(def.dtype))
      return "a tensor of it is " + std::string(dtype_name(def.dtype));
    if (is_output) {
      if (!is_pointer && places_.root(value) != value) return "it writes to a view";
      return {};
    }
    if (def.nbytes() == 0) return "a tensor of it has no elements";
    return read(value, def, tensor.output);
  }

  Reason read(ValueIndex value, const TensorDef& def, ir::Output& output) {
    ir::Shape shape(def.sizes.begin(), def.sizes.end());
    if (is_constant(def)) {
      const Bytes data = def.external ? external_data(def) : *def.data;
      if (is_row_major(def)) {
        output = graph_.constant(def.dtype, shape, data);
        return {};
      }
      // As it lies, and turned back.
      ir::Shape physical(shape.size());
      std::vector<int64_t> order(shape.size());
      for (size_t d = 0; d < shape.size(); ++d) {
        physical[d] = shape[def.dim_order[d]];
        order[def.dim_order[d]] = static_cast<int64_t>(d);
      }
      Call call(graph_, {});
      const ir::Output lies = graph_.constant(def.dtype, physical, data);
      output = call.node("Transpose", {lies, call.indices(order)}, def.dtype);
      return {};
    }
    const Stretch stretch = places_.of(value);
    bool clear = false;
    const Memory::Held* held = memory_.find(stretch, value, clear);
    if (!clear) return "it reads memory that holds pieces of something else";
    if (held == nullptr) {
      output = graph_.parameter(def.dtype, shape, "value " + std::to_string(value));
      parameters_.emplace_back(value, output);
      memory_.add({stretch, value, output, false});
      return {};
    }
    const TensorDef& was = *tensor_def(held->value);
    if (held->value == value) {
      output = held->output;
      return {};
    }
    if (was.dtype != def.dtype) return "it reads memory that was written as another dtype";
    if (was.sizes == def.sizes && was.dim_order == def.dim_order) {
      output = held->output;
      return {};
    }
    if (!is_row_major(was) || !is_row_major(def))
      return "it reads memory that was written in another order";
    Call call(graph_, {});
    output = call.reshaped(held->output, shape);
    return {};
  }

  Bytes external_data(const TensorDef& def) const {
    for (const Weights& file : method_.weights) {
      for (const WeightsEntry& entry : file.entries) {
        if (entry.key == def.name) return entry.data;
      }
    }
    return {};
  }

  const MethodView& method_;
  const Plan& plan_;
  const CompileRegion& compile_;
  std::vector<bool> unclear_;  // Tensors whose memory an instruction may change.
  Places places_;
  std::vector<bool> changed_;            // Values that an instruction writes.
  std::vector<size_t> readers_;          // How many instructions and outputs read a tensor.
  std::vector<std::vector<bool>> is_target_;  // By chain: where jumps lead.
  size_t looks_ = 0;
  Acceleration out_;

  size_t chain_ = 0;
  size_t first_ = 0;
  ir::Graph graph_;
  Memory memory_;
  std::vector<std::pair<ValueIndex, ir::Output>> parameters_;
  std::vector<size_t> views_;
  bool has_work_ = false;
};

class OpenvinoAccelerator final : public Accelerator {
 public:
  explicit OpenvinoAccelerator(CompileRegion compile) : compile_(std::move(compile)) {}
  Acceleration accelerate(const MethodView& method) override {
    return Lowering(method, compile_).run();
  }

 private:
  CompileRegion compile_;
};

}  // namespace

std::shared_ptr<Accelerator> make_accelerator(CompileRegion compile) {
  return std::make_shared<OpenvinoAccelerator>(std::move(compile));
}

}  // namespace pteron
