// Binding of inputs and outputs, and the views of outputs and state.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/text.h"
#include "runtime/method_state.h"

namespace pteron {
namespace {

std::string describe_host(const HostValue& value) {
  struct Visitor {
    std::string operator()(std::monostate) { return "none"; }
    std::string operator()(const ArrayView& a) {
      return std::string(dtype_name(a.dtype)) + " " + describe_shape(a.shape);
    }
    std::string operator()(int64_t v) { return "the int " + std::to_string(v); }
    std::string operator()(double v) { return "the double " + std::to_string(v); }
    std::string operator()(bool v) { return v ? "true" : "false"; }
    std::string operator()(std::string_view) { return "a string"; }
  };
  return std::visit(Visitor(), value);
}

// Whether two layouts place every element alike: strides count only where there is more than one.
bool same_layout(std::span<const int64_t> shape, std::span<const int64_t> a,
                 std::span<const int64_t> b) {
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] > 1 && a[i] != b[i]) return false;
  }
  return true;
}

Extent extent_of(const ArrayView& array, const Strides& strides) {
  auto begin = reinterpret_cast<uintptr_t>(array.data);
  uintptr_t end = begin + dtype_size(array.dtype);
  for (size_t i = 0; i < array.shape.size(); ++i) {
    if (array.shape[i] == 0) return {begin, begin};
    const int64_t reach = (array.shape[i] - 1) * strides.span()[i];
    (reach < 0 ? begin : end) += static_cast<uintptr_t>(reach);
  }
  return {begin, end};
}

Extent extent_of(const void* data, size_t size) {
  const auto begin = reinterpret_cast<uintptr_t>(data);
  return {begin, begin + size};
}

bool is_numpy_dtype(DType dtype) {
  const int number = static_cast<int>(dtype);
  return number <= static_cast<int>(DType::Bool) || number >= static_cast<int>(DType::UInt16);
}

// ExecuTorch's rule for scalar inputs: a program was traced with one value, and has it built in.
bool is_traced_value(double given, double traced) {
  if (std::isnan(given) || std::isnan(traced)) return std::isnan(given) && std::isnan(traced);
  if (std::isinf(given) || std::isinf(traced)) return given == traced;
  return std::fabs(given - traced) <= 1e-4 + 1e-5 * std::fabs(traced);
}

}  // namespace

Strides::Strides(const Tensor& tensor) : rank_(tensor.strides().size()) {
  const auto element = static_cast<int64_t>(dtype_size(tensor.dtype()));
  for (size_t i = 0; i < rank_; ++i) values_[i] = tensor.strides()[i] * element;
}

Strides::Strides(std::span<const int64_t> shape, size_t element) : rank_(shape.size()) {
  // A caller's shape may be any; unsigned, because one without elements may overflow.
  auto stride = static_cast<uint64_t>(element);
  for (size_t i = rank_; i-- > 0;) {
    values_[i] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(std::max<int64_t>(shape[i], 1));
  }
}

Strides::Strides(const ArrayView& array) : Strides(array.shape, dtype_size(array.dtype)) {
  if (array.strides) std::copy_n(array.strides, rank_, values_.begin());
}

std::string describe_position(const char* what, size_t index, const ValueSpec& spec) {
  return std::string(what) + " " + std::to_string(index) + " \"" + spec.name.substr(0, 80) + "\"";
}

Result<InputBinding> Method::State::make_input_binding(size_t index, const HostValue& host) {
  const std::string where = describe_position("input", index, input_specs[index]) + ": ";
  const ValueIndex value_index = plan->inputs[index];
  const Value& value = values[value_index];
  const auto wrong_kind = [&](const char* wanted) {
    return error(Code::InvalidArgument,
                 where + "got " + describe_host(host) + ", but the method takes " + wanted);
  };
  InputBinding binding;
  binding.own = inputs[index].own;
  binding.bound = true;
  switch (value.kind) {
    case ValueKind::None:
      if (!std::holds_alternative<std::monostate>(host)) return wrong_kind("none");
      return binding;
    case ValueKind::Int: {
      const auto* given = std::get_if<int64_t>(&host);
      const int64_t traced = std::get<int64_t>(plan->values[value_index]);
      if (given == nullptr || *given != traced) {
        return wrong_kind(
            ("the int " + std::to_string(traced) + ", with which it was exported").c_str());
      }
      return binding;
    }
    case ValueKind::Bool: {
      const auto* given = std::get_if<bool>(&host);
      const bool traced = std::get<bool>(plan->values[value_index]);
      if (given == nullptr || *given != traced) {
        return wrong_kind(traced ? "true, with which it was exported"
                                 : "false, with which it was exported");
      }
      return binding;
    }
    case ValueKind::Double: {
      const auto* real = std::get_if<double>(&host);
      const auto* integer = std::get_if<int64_t>(&host);
      const double traced = std::get<double>(plan->values[value_index]);
      if ((real == nullptr && integer == nullptr) ||
          !is_traced_value(real ? *real : static_cast<double>(*integer), traced)) {
        return wrong_kind(
            ("the double " + std::to_string(traced) + ", with which it was exported").c_str());
      }
      return binding;
    }
    case ValueKind::String: {
      const auto* given = std::get_if<std::string_view>(&host);
      if (given == nullptr || *given != *value.string) {
        return wrong_kind(
            ("the string \"" + value.string->substr(0, 80) + "\", with which it was exported")
                .c_str());
      }
      return binding;
    }
    case ValueKind::Tensor:
      break;
    default:
      return wrong_kind("a list, which cannot be bound");
  }

  const Tensor& tensor = tensors[value_index];
  const auto* array = std::get_if<ArrayView>(&host);
  if (array == nullptr) return wrong_kind(tensor.describe(true).c_str());
  if (array->dtype != tensor.dtype()) {
    return error(
        Code::InvalidArgument,
        where + "dtype " + std::string(dtype_name(array->dtype)) + ", but the method takes " +
            tensor.describe(true) +
            (is_numpy_dtype(tensor.dtype())
                 ? "; convert it with .astype(\"" + std::string(dtype_name(tensor.dtype())) + "\")"
                 : ""));
  }
  bool fits = array->shape.size() == static_cast<size_t>(tensor.rank());
  for (size_t i = 0; fits && i < array->shape.size(); ++i) {
    const int64_t bound = tensor.bounds()[i];
    fits = array->shape[i] >= 0 &&
           (tensor.is_dynamic() ? array->shape[i] <= bound : array->shape[i] == bound);
  }
  if (!fits) {
    return error(Code::InvalidArgument, where + "shape " + describe_shape(array->shape) +
                                            ", but the method takes " + tensor.describe(true));
  }
  const bool empty = std::find(array->shape.begin(), array->shape.end(), 0) != array->shape.end();
  if (array->data == nullptr && !empty) {
    return error(Code::InvalidArgument, where + "its data pointer is null");
  }

  const size_t element = dtype_size(tensor.dtype());
  const Strides given(*array);
  binding.shape.assign(array->shape.begin(), array->shape.end());
  Tensor shaped = tensor;
  PTERON_TRY(shaped.resize(binding.shape));
  binding.data = binding.own;
  if (empty) return binding;
  binding.extent = extent_of(*array, given);
  const Strides wanted(shaped);
  const bool is_own = owns(binding.extent);
  const bool aligned = reinterpret_cast<uintptr_t>(array->data) % element == 0;
  if (flow.input_is_borrowable[index] && aligned && !is_own &&
      same_layout(binding.shape, given, wanted)) {
    binding.data = array->data;
    return binding;
  }
  binding.source = array->data;
  binding.copy = StridedCopy(wanted, given, binding.shape, element);
  if (is_own) {
    binding.aside = Buffer(allocator, shaped.nbytes());
    binding.take_aside = binding.copy;
    binding.copy = StridedCopy(wanted, wanted, binding.shape, element);
  }
  return binding;
}

bool Method::State::owns(const Extent& extent) const {
  const auto reaches = [&](const Buffer& buffer) {
    return extent.overlaps(extent_of(buffer.data(), buffer.size()));
  };
  return std::any_of(arenas.begin(), arenas.end(),
                     [&](const auto& arena) { return reaches(arena->buffer); }) ||
         std::any_of(own_memory.begin(), own_memory.end(), reaches);
}

Result<void> Method::bind_input(size_t index, const HostValue& value) {
  State& s = *state_;
  if (index >= s.inputs.size()) {
    return s.error(Code::InvalidArgument, "there is no input " + std::to_string(index) +
                                              "; it takes " + std::to_string(s.inputs.size()));
  }
  PTERON_ASSIGN(InputBinding binding, s.make_input_binding(index, value));
  s.inputs[index] = std::move(binding);
  s.bindings_changed = true;
  return {};
}

Result<void> Method::bind_output(size_t index, const HostValue& value) {
  State& s = *state_;
  if (index >= s.outputs.size()) {
    return s.error(Code::InvalidArgument, "there is no output " + std::to_string(index) +
                                              "; it has " + std::to_string(s.outputs.size()));
  }
  const std::string where = describe_position("output", index, s.output_specs[index]) + ": ";
  OutputBinding binding;
  binding.own = s.outputs[index].own;
  if (std::holds_alternative<std::monostate>(value)) {
    s.outputs[index] = binding;
    s.bindings_changed = true;
    return {};
  }
  const ValueIndex value_index = s.plan->outputs[index];
  const auto* array = std::get_if<ArrayView>(&value);
  if (s.values[value_index].kind != ValueKind::Tensor || array == nullptr) {
    return s.error(Code::InvalidArgument, where + "only a tensor's memory can be bound");
  }
  const Tensor& tensor = s.tensors[value_index];
  if (array->dtype != tensor.dtype()) {
    return s.error(Code::InvalidArgument, where + "dtype " + std::string(dtype_name(array->dtype)) +
                                              ", but the method gives " + tensor.describe(true));
  }
  const size_t element = dtype_size(tensor.dtype());
  size_t capacity = element;
  for (const int64_t size : array->shape) {
    if (size < 0)
      return s.error(Code::InvalidArgument,
                     where + "shape " + describe_shape(array->shape) + " has a negative size");
    if (size > 0 && capacity > SIZE_MAX / static_cast<size_t>(size))
      capacity = SIZE_MAX;
    else
      capacity *= static_cast<size_t>(size);
  }
  const bool wrong_rank = array->shape.size() != static_cast<size_t>(tensor.rank());
  const bool wrong_size =
      !tensor.is_dynamic() && !wrong_rank &&
      !std::equal(array->shape.begin(), array->shape.end(), tensor.bounds().begin());
  if (wrong_rank || wrong_size || array->shape.size() > kMaxRank) {
    return s.error(Code::InvalidArgument, where + "shape " + describe_shape(array->shape) +
                                              ", but the method gives " + tensor.describe(true));
  }
  if (array->strides) {
    if (!same_layout(array->shape, Strides(array->shape, element), Strides(*array))) {
      return s.error(Code::InvalidArgument, where + "its memory must be dense and row-major");
    }
  }
  if (array->data == nullptr && capacity > 0)
    return s.error(Code::InvalidArgument, where + "its data pointer is null");
  const size_t reached = std::min(capacity, tensor.capacity());
  if (s.owns(extent_of(array->data, reached)))
    return s.error(Code::InvalidArgument, where + "its memory is this method's own");
  binding.bound = true;
  binding.data = array->data;
  binding.capacity = capacity;
  binding.redirectable = s.flow.output_is_redirectable[index] && tensor.is_row_major() &&
                         capacity >= tensor.capacity() &&
                         reinterpret_cast<uintptr_t>(array->data) % element == 0;
  s.outputs[index] = binding;
  s.bindings_changed = true;
  return {};
}

// An instruction may still read an input when it or an earlier one writes an output: where the
// caller let the two share memory, the result is copied there at the end.
Result<void> Method::State::choose_direct_outputs() {
  for (size_t i = 0; i < outputs.size(); ++i) {
    OutputBinding& output = outputs[i];
    output.direct = output.redirectable;
    for (size_t k = 0; output.bound && k < i; ++k) {
      if (!outputs[k].bound || !extent_of(output.data, output.capacity)
                                    .overlaps(extent_of(outputs[k].data, outputs[k].capacity)))
        continue;
      return error(Code::InvalidArgument, describe_position("output", i, output_specs[i]) +
                                              ": its memory overlaps that of " +
                                              describe_position("output", k, output_specs[k]) +
                                              "; give each output memory of its own");
    }
    if (!output.direct) continue;
    const Extent written = extent_of(output.data, output.capacity);
    for (const InputBinding& input : inputs) {
      if (input.bound && input.source == nullptr && input.extent.overlaps(written))
        output.direct = false;
    }
  }
  return {};
}

Result<void> Method::run(std::span<const HostValue> values) {
  State& s = *state_;
  s.has_result = false;
  if (values.size() != s.inputs.size()) {
    std::string takes;
    for (size_t i = 0; i < s.input_specs.size(); ++i) {
      const ValueSpec& spec = s.input_specs[i];
      const Value& value = s.values[s.plan->inputs[i]];
      takes += (i > 0 ? ", " : ": ") + spec.name + " " +
               (value.kind == ValueKind::Tensor ? s.tensors[s.plan->inputs[i]].describe(true)
                                                : value_kind_name(value.kind));
    }
    return s.error(Code::InvalidArgument, "it takes " + counted(s.inputs.size(), "input") +
                                              ", got " + std::to_string(values.size()) + takes);
  }
  std::vector<InputBinding> bindings;
  for (size_t i = 0; i < values.size(); ++i) {
    PTERON_ASSIGN(InputBinding binding, s.make_input_binding(i, values[i]));
    bindings.push_back(std::move(binding));
  }
  struct Restore {
    State& state;
    std::vector<InputBinding>& saved;
    ~Restore() {
      state.inputs.swap(saved);
      state.bindings_changed = true;
    }
  };
  s.inputs.swap(bindings);
  s.bindings_changed = true;
  const Restore restore{s, bindings};
  return execute();
}

Result<void> Method::State::prepare_run() {
  context.reset();  // An exception may have left something there.
  for (const ChangedValue& changed : changed_values) values[changed.index] = changed.initial;
  for (const ChangedPointer& changed : changed_pointers)
    tensors[changed.index].set_raw(changed.initial);
  for (Tensor* tensor : dynamic_tensors) tensor->restore_bounds();
  if (bindings_changed) {
    PTERON_TRY(choose_direct_outputs());
    bindings_changed = false;
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    OutputBinding& output = outputs[i];
    if (flow.output_is_redirectable[i])
      tensors[plan->outputs[i]].set_raw(output.direct ? output.data : output.own);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    InputBinding& input = inputs[i];
    if (!input.bound) {
      return error(Code::InvalidArgument, describe_position("input", i, input_specs[i]) +
                                              " is not bound; it takes " +
                                              counted(inputs.size(), "input"));
    }
    if (input.aside.size() > 0) input.take_aside.run(input.aside.data(), input.source);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    InputBinding& input = inputs[i];
    if (input_specs[i].kind != ValueKind::Tensor) continue;
    Tensor& tensor = tensors[plan->inputs[i]];
    if (tensor.is_dynamic()) PTERON_TRY(tensor.resize(input.shape));
    tensor.set_raw(input.data);
    if (input.source != nullptr)
      input.copy.run(input.own, input.aside.size() > 0 ? input.aside.data() : input.source);
  }
  return {};
}

Result<void> Method::State::finish_run() {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const OutputBinding& output = outputs[i];
    copied_to[i] = nullptr;
    if (!output.bound || output.direct) continue;
    const Tensor& tensor = *values[plan->outputs[i]].tensor;
    if (tensor.nbytes() > output.capacity) {
      return error(Code::InvalidArgument, describe_position("output", i, output_specs[i]) +
                                              ": its result is " + tensor.describe() +
                                              ", more than the bound memory of " +
                                              counted(output.capacity, "byte") + " holds");
    }
    const size_t element = dtype_size(tensor.dtype());
    const StridedCopy copy(Strides(tensor.sizes(), element), Strides(tensor), tensor.sizes(),
                           element);
    const size_t size = tensor.nbytes();
    if (size > 0 && extent_of(tensor.raw(), size).overlaps(extent_of(output.data, size))) {
      // The output is an input, and the caller let the two share memory.
      const Buffer between(allocator, size);
      copy.run(between.data(), tensor.raw());
      std::memcpy(output.data, between.data(), size);
    } else {
      copy.run(output.data, tensor.raw());
    }
    copied_to[i] = output.data;
  }
  return {};
}

Result<HostValue> Method::output(size_t index) {
  State& s = *state_;
  if (index >= s.outputs.size()) {
    return s.error(Code::InvalidArgument, "there is no output " + std::to_string(index) +
                                              "; it has " + std::to_string(s.outputs.size()));
  }
  if (!s.has_result) {
    return s.error(Code::InvalidArgument,
                   "there is no output yet: no run has succeeded since the last failure");
  }
  const Value& value = s.values[s.plan->outputs[index]];
  switch (value.kind) {
    case ValueKind::Int:
      return HostValue(value.integer);
    case ValueKind::Double:
      return HostValue(value.real);
    case ValueKind::Bool:
      return HostValue(value.boolean);
    case ValueKind::String:
      return HostValue(std::string_view(*value.string));
    case ValueKind::Tensor:
      break;
    default:
      return HostValue(std::monostate());
  }
  const Tensor& tensor = *value.tensor;
  ArrayView view{tensor.raw(), tensor.dtype(), tensor.sizes(), nullptr};
  if (s.copied_to[index] != nullptr) {
    view.data = s.copied_to[index];  // Row-major there.
  } else if (!tensor.is_row_major()) {
    s.output_strides[index] = Strides(tensor);
    view.strides = s.output_strides[index].span().data();
  }
  return HostValue(view);
}

Result<HostValue> Method::state(size_t index) {
  State& s = *state_;
  if (index >= s.states.size()) {
    return s.error(Code::InvalidArgument, "there is no state " + std::to_string(index) +
                                              "; it has " + std::to_string(s.states.size()));
  }
  const Tensor& tensor = s.states[index];
  ArrayView view{tensor.raw(), tensor.dtype(), tensor.sizes(), nullptr};
  if (!tensor.is_row_major()) view.strides = s.state_strides[index].span().data();
  return HostValue(view);
}

Result<void> Method::set_state(size_t index, const HostValue& value) {
  State& s = *state_;
  PTERON_TRY(state(index));
  const Tensor& tensor = s.states[index];
  const std::string where = describe_position("state", index, s.state_specs[index]) + ": ";
  const auto* array = std::get_if<ArrayView>(&value);
  if (array == nullptr || array->dtype != tensor.dtype() ||
      !std::ranges::equal(array->shape, tensor.sizes())) {
    return s.error(Code::InvalidArgument,
                   where + "got " + describe_host(value) + ", but it is " + tensor.describe());
  }
  if (array->data == nullptr && tensor.numel() > 0)
    return s.error(Code::InvalidArgument, where + "its data pointer is null");
  const Strides given(*array);
  const StridedCopy copy(s.state_strides[index], given, tensor.sizes(), dtype_size(tensor.dtype()));
  if (s.owns(extent_of(*array, given))) {
    // Perhaps a view of this very state, in another order.
    const Buffer between(s.allocator, tensor.nbytes());
    copy.run(between.data(), array->data);
    if (tensor.nbytes() > 0) std::memcpy(tensor.raw(), between.data(), tensor.nbytes());
  } else {
    copy.run(tensor.raw(), array->data);
  }
  return {};
}

void Method::reset_state() {
  State& s = *state_;
  for (size_t i = 0; i < s.states.size(); ++i) {
    if (s.states[i].nbytes() > 0) std::memset(s.states[i].raw(), 0, s.states[i].nbytes());
  }
  for (const ValueIndex index : s.flow.initialized) {
    const auto& def = std::get<TensorDef>(s.plan->values[index]);
    s.arenas[def.allocation->memory_id - 1]->initialized.erase(def.allocation->offset);
    s.initialize_state(index);
  }
}

}  // namespace pteron
