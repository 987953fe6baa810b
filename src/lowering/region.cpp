#include "lowering/region.h"

#include <algorithm>
#include <set>

#include "lowering/numbers.h"

namespace pteron {
namespace {

// How far an instruction's number is followed back through those that it is computed of.
constexpr int kMostDepth = 64;

ir::Shape shape_of(const TensorDef& def) {
  ir::Shape shape(def.sizes.begin(), def.sizes.end());
  if (def.dynamism == Dynamism::Static) return shape;
  // The file does not say which sizes vary; one of at most 1 does not.
  for (int64_t& size : shape) size = size > 1 ? ir::kAnySize : size;
  return shape;
}

bool is_static(const TensorDef& def) { return def.dynamism == Dynamism::Static; }

Reason known_only_as_it_runs(size_t i) {
  return "argument " + std::to_string(i) + " is known only as it runs";
}

}  // namespace

// ---- Instructions

Reason RegionBuilder::add(size_t index, const Step& step) {
  graph_.set_name(std::to_string(index) + " " + step.name);
  if (step.kind != StepKind::Kernel) return "it is no operator";
  if (is_view(step)) return add_view(step);
  if (is_of_numbers(step)) {
    add_number(step);
    return {};
  }
  return add_operator(step);
}

Reason RegionBuilder::add_operator(const Step& step) {
  const LoweringRow* row = find_row(step.kernel->name);
  if (row == nullptr) return "no row for it";
  std::vector<Call::Argument> arguments(step.args.size());
  const Signature signature(step.kernel->signature);
  for (size_t i = 0; i < step.args.size(); ++i) {
    if (Reason reason = resolve(step, i, signature.is_output(i), arguments[i]); !reason.empty())
      return reason;
  }
  Call call(graph_, ranges_, std::move(arguments));
  if (row->shapes == Shapes::Known && !call.has_known_shapes()) return "a run decides its shapes";
  if (row->shapes != Shapes::Any && !call.has_known_numbers()) return "a run decides its numbers";
  std::vector<ir::Output> before(step.args.size());
  for (size_t i = 0; i < step.args.size(); ++i) before[i] = call.tensor(i);
  try {
    if (Reason reason = row->emit(call); !reason.empty()) return reason;
  } catch (const std::bad_variant_access&) {
    return "an argument of it is none";  // The kernel says which, if that is wrong.
  }
  const auto is_written = [&](size_t i) {
    return signature.is_output(i) || signature.letter(i) == 'M';
  };
  for (size_t i = 0; i < step.args.size(); ++i) {
    if (!is_written(i)) continue;
    if (Reason reason = check_output(step, call, i); !reason.empty()) return reason;
  }
  for (size_t i = 0; i < step.args.size(); ++i) {
    if (!is_written(i)) continue;
    if (facts_.tensor_def(step.args[i])) {
      // What is changed in place is its own result too.
      if (call.tensor(i) != before[i]) define(step.args[i], call.tensor(i));
    } else {
      const auto& items = std::get<TensorList>(facts_.plan().values[step.args[i]]).items;
      for (size_t k = 0; k < items.size(); ++k) define(items[k], call.list(i)[k].output);
    }
  }
  has_work_ = true;
  note_work(step, call);
  return {};
}

// The pointer's new shape, of the same elements.
Reason RegionBuilder::add_view(const Step& step) {
  std::vector<Call::Argument> arguments(step.args.size());
  for (size_t i = 0; i < step.args.size(); ++i) {
    if (Reason reason = resolve(step, i, i + 1 == step.args.size(), arguments[i]); !reason.empty())
      return reason;
  }
  Call call(graph_, ranges_, std::move(arguments));
  const ValueIndex view = step.args.back();
  const TensorDef& to = *facts_.tensor_def(view);
  if (call.dtype(0) != to.dtype || call.def(0).nbytes() != to.nbytes() || !is_row_major(to) ||
      !is_row_major(call.def(0)))
    return "its result has other elements";
  const ir::Output output = is_static(to)
                                ? call.reshaped(call.tensor(0), call.shape(2))
                                : call.node("Reshape", {call.tensor(0), call.numbers(1)}, to.dtype,
                                            "opset1", {{"special_zero", "false"}});
  const Stretch place = facts_.places().of(view);
  bool clear = false;
  const Memory::Held* held = memory_.find(place, view, clear);
  memory_.add({place, view, output, held != nullptr && held->is_made});
  tensors_[view] = output;
  return {};
}

void RegionBuilder::add_number(const Step& step) {
  const ValueIndex result = step.args.back();
  if (const auto output = lower_number_of(step, 0))
    numbers_[result] = *output;
  else
    numbers_.erase(result);
}

Reason RegionBuilder::check_output(const Step& step, const Call& call, size_t i) {
  const auto check = [&](ValueIndex value, ir::Output output) -> Reason {
    const TensorDef& def = *facts_.tensor_def(value);
    if (output == kUnset) {
      const bool is_needed = facts_.is_read(value) && def.nbytes() > 0;
      return is_needed ? "a result of it is read that has no row" : Reason();
    }
    if (graph_.dtype(output) != def.dtype) return "its result is of another dtype";
    if (def.dtype == DType::Int64 && !ranges_.demand(output, kInt32))
      return "its result of int64 may not fit in int32";
    return {};
  };
  if (facts_.tensor_def(step.args[i])) return check(step.args[i], call.tensor(i));
  const auto& items = std::get<TensorList>(facts_.plan().values[step.args[i]]).items;
  for (size_t k = 0; k < items.size(); ++k) {
    if (Reason reason = check(items[k], call.list(i)[k].output); !reason.empty()) return reason;
  }
  return {};
}

void RegionBuilder::define(ValueIndex value, ir::Output output) {
  if (facts_.tensor_def(value)->nbytes() == 0) return;
  if (output == kUnset) return;  // Nobody reads what it holds.
  const TensorDef& def = *facts_.tensor_def(value);
  if (is_static(def)) graph_.set_shape(output, ir::Shape(def.sizes.begin(), def.sizes.end()));
  memory_.define({facts_.places().of(value), value, output, true});
  tensors_[value] = output;
}

// ---- Arguments

Reason RegionBuilder::resolve(const Step& step, size_t i, bool is_output,
                              Call::Argument& argument) {
  const ValueIndex index = step.args[i];
  argument.value = &facts_.plan().values[index];
  if (facts_.tensor_def(index)) return resolve_tensor(step, index, is_output, argument.tensor);
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
  if (const auto* list = std::get_if<OptionalTensorList>(argument.value)) {
    for (const int32_t item : list->items) {
      argument.list.emplace_back();
      if (item < 0 ||
          std::holds_alternative<NoneDef>(facts_.plan().values[static_cast<size_t>(item)]))
        continue;
      if (Reason reason =
              resolve_tensor(step, static_cast<ValueIndex>(item), false, argument.list.back());
          !reason.empty())
        return reason;
    }
    return {};
  }
  if (const auto* list = std::get_if<IntList>(argument.value)) {
    bool all_known = true;
    for (const ValueIndex item : list->items) {
      argument.ints.emplace_back();
      argument.numbers.emplace_back();
      if (Reason reason = resolve_number(item, argument.ints.back(), argument.numbers.back());
          !reason.empty())
        return known_only_as_it_runs(i);
      all_known = all_known && !argument.numbers.back();
    }
    if (all_known) argument.numbers.clear();
    return {};
  }
  if (!facts_.is_changed(index)) return {};
  int64_t known = 0;
  if (Reason reason = resolve_number(index, known, argument.number); !reason.empty())
    return known_only_as_it_runs(i);
  return {};
}

Reason RegionBuilder::resolve_number(ValueIndex value, int64_t& known,
                                     std::optional<ir::Output>& unknown) {
  if (!facts_.is_changed(value)) {
    const auto* number = std::get_if<int64_t>(&facts_.plan().values[value]);
    if (number == nullptr) return "it is no int";
    known = *number;
    return {};
  }
  unknown = number_of(value, 0);
  return unknown ? Reason() : "it is known only as it runs";
}

Reason RegionBuilder::resolve_tensor(const Step& step, ValueIndex value, bool is_output,
                                     LoweredTensor& tensor) {
  const TensorDef* def = facts_.tensor_def(value);
  if (def == nullptr) return "its list has something that is no tensor";
  tensor.def = def;
  tensor.output = kUnset;
  if (facts_.is_unclear(value)) return "a tensor of it is moved or freed";
  if (!ir::has_element_type(def->dtype))
    return "a tensor of it is " + std::string(dtype_name(def->dtype));
  if (is_output) {
    const bool is_pointer = is_view(step);
    if (!is_pointer && facts_.places().root(value) != value) return "it writes to a view";
    return {};
  }
  if (def->nbytes() == 0) return "a tensor of it has no elements";
  if (Reason reason = read(value, *def, tensor.output); !reason.empty()) return reason;
  // OpenVINO computes int64 in int32.
  if (def->dtype == DType::Int64 && !ranges_.demand(tensor.output, kInt32))
    return "a tensor of int64 may not fit in int32";
  return {};
}

Reason RegionBuilder::read(ValueIndex value, const TensorDef& def, ir::Output& output) {
  if (is_constant(def)) {
    if (!is_static(def)) return "a constant of it has no fixed shape";
    output = read_constant(def);
    return output == kUnset ? "a constant of it has other bytes than it should" : Reason();
  }
  const Stretch stretch = facts_.places().of(value);
  bool clear = false;
  const Memory::Held* held = memory_.find(stretch, value, clear);
  if (!clear) return "it reads memory that holds pieces of something else";
  if (held == nullptr) {
    output = add_parameter(value, def);
    memory_.add({stretch, value, output, false});
    return {};
  }
  if (held->value == value) {
    output = held->output;
    return {};
  }
  const TensorDef& was = *facts_.tensor_def(held->value);
  if (was.dtype != def.dtype) return "it reads memory that was written as another dtype";
  if (!is_static(was) || !is_static(def)) return "it reads memory that another tensor has sized";
  if (was.sizes == def.sizes && was.dim_order == def.dim_order) {
    output = held->output;
    return {};
  }
  if (!is_row_major(was) || !is_row_major(def))
    return "it reads memory that was written in another order";
  Call call(graph_, ranges_, {});
  output = call.reshaped(held->output, ir::Shape(def.sizes.begin(), def.sizes.end()));
  return {};
}

ir::Output RegionBuilder::add_parameter(ValueIndex value, const TensorDef& def) {
  const ir::Output output =
      graph_.parameter(def.dtype, shape_of(def), "value " + std::to_string(value));
  parameters_.emplace_back(value, output);
  tensors_[value] = output;
  return output;
}

ir::Output RegionBuilder::read_constant(const TensorDef& def) {
  ir::Bytes data;
  if (def.external) {
    for (const Weights& file : facts_.method().weights) {
      for (const WeightsEntry& entry : file.entries) {
        if (entry.key == def.name) data = entry.data;
      }
    }
  } else {
    data = *def.data;
  }
  if (data.size() != def.nbytes()) return kUnset;
  const ir::Shape shape(def.sizes.begin(), def.sizes.end());
  if (is_row_major(def)) return graph_.constant(def.dtype, shape, data);
  // As it lies, and turned back.
  ir::Shape physical(shape.size());
  std::vector<int64_t> order(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    physical[d] = shape[def.dim_order[d]];
    order[def.dim_order[d]] = static_cast<int64_t>(d);
  }
  Call call(graph_, ranges_, {});
  const ir::Output lies = graph_.constant(def.dtype, physical, data);
  return call.node("Transpose", {lies, call.indices(order)}, def.dtype);
}

// ---- Numbers

std::optional<ir::Output> RegionBuilder::number_of(ValueIndex value, int depth) {
  if (const auto found = numbers_.find(value); found != numbers_.end()) return found->second;
  // Computed before the region: it is computed again, if that is sure to give the same.
  if (depth > kMostDepth || facts_.has_loops() || facts_.writers(value).size() != 1) return {};
  const MethodFacts::Site site = facts_.writers(value)[0];
  const Step& step = facts_.step(site);
  if (site.chain != begin_.chain || site.step >= begin_.step || !is_of_numbers(step)) return {};
  const auto output = lower_number_of(step, depth + 1);
  if (output) numbers_[value] = *output;
  return output;
}

std::optional<ir::Output> RegionBuilder::lower_number_of(const Step& step, int depth) {
  std::vector<Call::Argument> arguments(step.args.size());
  for (size_t i = 0; i < step.args.size(); ++i) {
    const ValueIndex index = step.args[i];
    arguments[i].value = &facts_.plan().values[index];
    if (i + 1 == step.args.size()) break;
    if (const TensorDef* def = facts_.tensor_def(index)) {
      const auto source = source_of_sizes(index);
      if (!source) return {};
      arguments[i].tensor = {def, *source};
    } else if (facts_.is_changed(index)) {
      arguments[i].number = number_of(index, depth);
      if (!arguments[i].number) return {};
    }
  }
  Call call(graph_, ranges_, std::move(arguments));
  return lower_number(step.kernel->name, call);
}

std::optional<ir::Output> RegionBuilder::source_of_sizes(ValueIndex value) {
  if (const auto found = tensors_.find(value); found != tensors_.end()) return found->second;
  const TensorDef& def = *facts_.tensor_def(value);
  if (is_static(def)) return ir::Output();  // Nobody asks the graph for them.
  if (facts_.is_unclear(value) || is_constant(def) || !ir::has_element_type(def.dtype) ||
      def.nbytes() == 0)
    return {};
  const ir::Output output = add_parameter(value, def);
  const Stretch stretch = facts_.places().of(value);
  bool clear = false;
  if (memory_.find(stretch, value, clear) == nullptr && clear)
    memory_.add({stretch, value, output, false});
  return output;
}

// ---- The end

Reason RegionBuilder::finish(size_t end, Region& region, LoweredRegion& lowered) {
  region.chain = begin_.chain;
  region.begin = begin_.step;
  region.end = end;
  if (Reason reason = add_outputs(end, region); !reason.empty()) return reason;
  std::vector<ValueIndex> needed;
  if (Reason reason = find_steps_to_run(end, region, needed); !reason.empty()) return reason;
  for (const ValueIndex value : needed) {
    if (std::count(region.outputs.begin(), region.outputs.end(), value) > 0) continue;
    bool clear = false;
    const Memory::Held* held = memory_.find(facts_.places().of(value), value, clear);
    if (held == nullptr || held->value != value) return "the size of a tensor outlives it";
    region.outputs.push_back(value);
    graph_.result(held->output);
  }
  if (region.outputs.empty()) return {};
  const std::vector<bool> needed_nodes = graph_.needed();
  for (const auto& [value, output] : parameters_) {
    if (!needed_nodes[output.node]) continue;
    const auto check = ranges_.checks().find(output.node);
    if (check != ranges_.checks().end())
      region.checks.push_back({region.inputs.size(), check->second.low, check->second.high});
    region.inputs.push_back(value);
  }
  for (const ValueIndex output : region.outputs) {
    const Stretch place = facts_.places().of(output);
    lowered.staged.push_back(
        std::any_of(region.inputs.begin(), region.inputs.end(),
                    [&](ValueIndex input) { return facts_.places().of(input).overlaps(place); }));
  }
  lowered.model = ir::write(std::move(graph_), facts_.plan().name);
  return {};
}

Reason RegionBuilder::add_outputs(size_t end, Region& region) {
  Reason reason;
  std::set<ValueIndex> given;
  memory_.for_each([&](const Memory::Held& held) {
    // Under the name that has the memory; views of it hold the same.
    const ValueIndex value = facts_.places().root(held.value);
    if (!held.is_made || given.count(value) > 0 || !reason.empty() ||
        !facts_.is_read_later(held.stretch, {begin_.chain, end}))
      return;
    if (facts_.places().of(value) != held.stretch) {
      reason = "a part of a tensor outlives it";
      return;
    }
    given.insert(value);
    bool clear = false;
    const Memory::Held* own = memory_.find(held.stretch, value, clear);
    ir::Output output = own->output;
    if (own->value != value) {
      const TensorDef& def = *facts_.tensor_def(value);
      if (!is_static(def)) {
        reason = "a view of a tensor outlives it";
        return;
      }
      Call call(graph_, ranges_, {});
      output = call.reshaped(output, ir::Shape(def.sizes.begin(), def.sizes.end()));
    }
    region.outputs.push_back(value);
    graph_.result(output);
  });
  return reason;
}

// Views and numbers that others read have to be made nevertheless, after the region; tensors whose
// sizes they ask for are then among its outputs.
Reason RegionBuilder::find_steps_to_run(size_t end, Region& region,
                                        std::vector<ValueIndex>& needed) {
  const auto& chain = facts_.method().chains[begin_.chain];
  std::set<ValueIndex> wanted;
  for (size_t i = end; i-- > begin_.step;) {
    const Step& step = chain[i];
    if (!is_view(step) && !is_of_numbers(step)) continue;
    const ValueIndex result = step.args.back();
    if (wanted.count(result) == 0 && !is_read_outside(result, end)) continue;
    region.steps_after.push_back(i);
    for (size_t k = 0; k + 1 < step.args.size(); ++k) {
      wanted.insert(step.args[k]);
      if (const auto* list = std::get_if<IntList>(&facts_.plan().values[step.args[k]]))
        wanted.insert(list->items.begin(), list->items.end());
    }
    const TensorDef* sized = facts_.tensor_def(step.args[0]);
    if (sized == nullptr || is_view(step) || is_static(*sized)) continue;
    for (const MethodFacts::Site writer : facts_.writers(step.args[0])) {
      if (writer.chain == begin_.chain && writer.step >= begin_.step && writer.step < end &&
          !is_view(facts_.step(writer)))
        needed.push_back(step.args[0]);
    }
  }
  std::reverse(region.steps_after.begin(), region.steps_after.end());
  return {};
}

bool RegionBuilder::is_read_outside(ValueIndex value, size_t end) const {
  const auto& readers = facts_.readers(value);
  return facts_.is_output(value) ||
         std::any_of(readers.begin(), readers.end(), [&](MethodFacts::Site site) {
           return site.chain != begin_.chain || site.step < begin_.step || site.step >= end;
         });
}

// ---- What it is worth

void RegionBuilder::note_work(const Step& step, const Call& call) {
  const auto elements = [](const TensorDef& def) {
    return static_cast<double>(def.nbytes()) / static_cast<double>(dtype_size(def.dtype));
  };
  double most = 0;
  double result = 0;
  double weight = 0;
  const Signature signature(step.kernel->signature);
  for (size_t i = 0; i < step.args.size(); ++i) {
    const TensorDef* def = facts_.tensor_def(step.args[i]);
    if (def == nullptr) continue;
    most = std::max(most, elements(*def));
    if (signature.is_output(i))
      result = std::max(result, elements(*def));
    else if (i > 0 && def->sizes.size() > 1)
      weight = elements(*def) / static_cast<double>(std::max(1, def->sizes[0]));
  }
  const std::string_view name = step.kernel->name;
  const bool is_product = name.find("convolution") != std::string_view::npos ||
                          name.find("mm.") != std::string_view::npos ||
                          name.find("linear") != std::string_view::npos ||
                          name.find("sdpa") != std::string_view::npos;
  (void)call;
  constexpr double kProductsPerNs = 25;
  work_ += is_product ? result * weight / kProductsPerNs : most;
}

}  // namespace pteron
