// Binding of inputs and outputs, and the views of outputs and state.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/method_state.h"
#include "runtime/strided_copy.h"

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

// Strides in bytes of a dense row-major array.
std::vector<int64_t> row_major_strides(std::span<const int64_t> shape, size_t element) {
  std::vector<int64_t> strides(shape.size());
  auto stride = static_cast<int64_t>(element);
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(shape[i], 1);
  }
  return strides;
}

std::vector<int64_t> byte_strides(const Tensor& tensor) {
  std::vector<int64_t> strides(tensor.strides().begin(), tensor.strides().end());
  for (int64_t& stride : strides) stride *= static_cast<int64_t>(dtype_size(tensor.dtype()));
  return strides;
}

// Whether two layouts place every element alike: strides count only where there is more than one.
bool same_layout(std::span<const int64_t> shape, std::span<const int64_t> a,
                 std::span<const int64_t> b) {
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] > 1 && a[i] != b[i]) return false;
  }
  return true;
}

// ExecuTorch's rule for scalar inputs: a program was traced with one value, and has it built in.
bool is_traced_value(double given, double traced) {
  if (std::isnan(given) || std::isnan(traced)) return std::isnan(given) && std::isnan(traced);
  if (std::isinf(given) || std::isinf(traced)) return given == traced;
  return std::fabs(given - traced) <= 1e-4 + 1e-5 * std::fabs(traced);
}

}  // namespace

std::string describe_position(const char* what, size_t index, const ValueSpec& spec) {
  const std::string fallback = std::string(what) + std::to_string(index);
  return std::string(what) + " " + std::to_string(index) +
         (spec.name == fallback ? "" : " \"" + spec.name.substr(0, 80) + "\"");
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
    return error(Code::InvalidArgument, where + "dtype " + std::string(dtype_name(array->dtype)) +
                                            ", but the method takes " + tensor.describe(true) +
                                            "; convert it with .astype(\"" +
                                            std::string(dtype_name(tensor.dtype())) + "\")");
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
  binding.array = *array;
  binding.shape.assign(array->shape.begin(), array->shape.end());
  binding.strides = array->strides
                        ? std::vector<int64_t>(array->strides, array->strides + array->shape.size())
                        : row_major_strides(array->shape, element);
  Tensor shaped = tensor;
  PTERON_TRY(shaped.resize(binding.shape));
  const bool aligned = reinterpret_cast<uintptr_t>(array->data) % element == 0;
  binding.copies = !empty && !(flow.input_is_borrowable[index] && aligned &&
                               same_layout(binding.shape, binding.strides, byte_strides(shaped)));
  binding.data = binding.copies || empty ? binding.own : array->data;
  return binding;
}

Result<void> Method::bind_input(size_t index, const HostValue& value) {
  State& s = *state_;
  if (index >= s.inputs.size()) {
    return s.error(Code::InvalidArgument, "there is no input " + std::to_string(index) +
                                              "; it takes " + std::to_string(s.inputs.size()));
  }
  PTERON_ASSIGN(InputBinding binding, s.make_input_binding(index, value));
  s.inputs[index] = std::move(binding);
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
  if (wrong_rank || wrong_size) {
    return s.error(Code::InvalidArgument, where + "shape " + describe_shape(array->shape) +
                                              ", but the method gives " + tensor.describe(true));
  }
  if (array->strides) {
    const std::vector<int64_t> dense = row_major_strides(array->shape, element);
    if (!same_layout(array->shape, dense, std::span(array->strides, array->shape.size()))) {
      return s.error(Code::InvalidArgument, where + "its memory must be dense and row-major");
    }
  }
  if (array->data == nullptr && capacity > 0)
    return s.error(Code::InvalidArgument, where + "its data pointer is null");
  binding.bound = true;
  binding.data = array->data;
  binding.capacity = capacity;
  binding.direct = s.flow.output_is_redirectable[index] && tensor.is_row_major() &&
                   capacity >= tensor.capacity() &&
                   reinterpret_cast<uintptr_t>(array->data) % element == 0;
  s.outputs[index] = binding;
  return {};
}

Result<void> Method::run(std::span<const HostValue> values) {
  State& s = *state_;
  if (values.size() != s.inputs.size()) {
    std::string takes;
    for (size_t i = 0; i < s.input_specs.size(); ++i) {
      const ValueSpec& spec = s.input_specs[i];
      const Value& value = s.values[s.plan->inputs[i]];
      takes += (i > 0 ? ", " : ": ") + spec.name + " " +
               (value.kind == ValueKind::Tensor ? s.tensors[s.plan->inputs[i]].describe(true)
                                                : value_kind_name(value.kind));
    }
    return s.error(Code::InvalidArgument, "it takes " + std::to_string(s.inputs.size()) +
                                              " inputs, got " + std::to_string(values.size()) +
                                              takes);
  }
  std::vector<InputBinding> bindings;
  for (size_t i = 0; i < values.size(); ++i) {
    PTERON_ASSIGN(InputBinding binding, s.make_input_binding(i, values[i]));
    bindings.push_back(std::move(binding));
  }
  struct Restore {
    std::vector<InputBinding>& bound;
    std::vector<InputBinding>& saved;
    ~Restore() { bound.swap(saved); }
  };
  s.inputs.swap(bindings);
  const Restore restore{s.inputs, bindings};
  return execute();
}

Result<void> Method::State::prepare_run() {
  for (const ChangedValue& changed : changed_values) values[changed.index] = changed.initial;
  for (const ChangedPointer& changed : changed_pointers)
    tensors[changed.index].set_raw(changed.initial);
  for (size_t i = 0; i < outputs.size(); ++i) {
    OutputBinding& output = outputs[i];
    if (flow.output_is_redirectable[i]) {
      tensors[plan->outputs[i]].set_raw(output.direct ? output.data : output.own);
    }
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    InputBinding& input = inputs[i];
    if (!input.bound) {
      return error(Code::InvalidArgument, describe_position("input", i, input_specs[i]) +
                                              " is not bound; it takes " +
                                              std::to_string(inputs.size()) + " inputs");
    }
    if (input_specs[i].kind != ValueKind::Tensor) continue;
    Tensor& tensor = tensors[plan->inputs[i]];
    if (tensor.is_dynamic()) PTERON_TRY(tensor.resize(input.shape));
    tensor.set_raw(input.data);
    if (input.copies) {
      strided_copy(input.own, byte_strides(tensor), input.array.data, input.strides, input.shape,
                   dtype_size(tensor.dtype()));
    }
  }
  return {};
}

Result<void> Method::State::finish_run() {
  for (size_t i = 0; i < outputs.size(); ++i) {
    OutputBinding& output = outputs[i];
    if (!output.bound || output.direct) continue;
    const Tensor& tensor = *values[plan->outputs[i]].tensor;
    if (tensor.nbytes() > output.capacity) {
      return error(Code::InvalidArgument, describe_position("output", i, output_specs[i]) +
                                              ": its result is " + tensor.describe() +
                                              ", more than the bound memory of " +
                                              std::to_string(output.capacity) + " bytes holds");
    }
    strided_copy(output.data, row_major_strides(tensor.sizes(), dtype_size(tensor.dtype())),
                 tensor.raw(), byte_strides(tensor), tensor.sizes(), dtype_size(tensor.dtype()));
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
  const OutputBinding& output = s.outputs[index];
  ArrayView view{tensor.raw(), tensor.dtype(), tensor.sizes(), nullptr};
  if (output.bound && !output.direct) {
    view.data = output.data;  // Row-major there.
  } else if (!tensor.is_row_major()) {
    s.output_strides.resize(s.outputs.size());
    s.output_strides[index] = byte_strides(tensor);
    view.strides = s.output_strides[index].data();
  }
  return HostValue(view);
}

Result<HostValue> Method::state(size_t index) {
  State& s = *state_;
  if (index >= s.states.size()) {
    return s.error(Code::InvalidArgument, "there is no state " + std::to_string(index) +
                                              "; it has " + std::to_string(s.states.size()));
  }
  const Tensor& tensor = s.tensors[s.states[index]];
  ArrayView view{tensor.raw(), tensor.dtype(), tensor.sizes(), nullptr};
  if (!tensor.is_row_major()) {
    s.state_strides.resize(s.states.size());
    s.state_strides[index] = byte_strides(tensor);
    view.strides = s.state_strides[index].data();
  }
  return HostValue(view);
}

Result<void> Method::set_state(size_t index, const HostValue& value) {
  State& s = *state_;
  PTERON_TRY(state(index));
  const Tensor& tensor = s.tensors[s.states[index]];
  const std::string where = describe_position("state", index, s.state_specs[index]) + ": ";
  const auto* array = std::get_if<ArrayView>(&value);
  if (array == nullptr || array->dtype != tensor.dtype() ||
      !std::equal(array->shape.begin(), array->shape.end(), tensor.sizes().begin(),
                  tensor.sizes().end())) {
    return s.error(Code::InvalidArgument,
                   where + "got " + describe_host(value) + ", but it is " + tensor.describe());
  }
  if (array->data == nullptr && tensor.numel() > 0)
    return s.error(Code::InvalidArgument, where + "its data pointer is null");
  const size_t element = dtype_size(tensor.dtype());
  const std::vector<int64_t> strides =
      array->strides ? std::vector<int64_t>(array->strides, array->strides + array->shape.size())
                     : row_major_strides(array->shape, element);
  strided_copy(tensor.raw(), byte_strides(tensor), array->data, strides, tensor.sizes(), element);
  return {};
}

void Method::reset_state() {
  State& s = *state_;
  for (const ValueIndex index : s.states) {
    const auto& def = std::get<TensorDef>(s.plan->values[index]);
    Tensor& tensor = s.tensors[index];
    if (tensor.raw() != nullptr) std::memset(tensor.raw(), 0, tensor.capacity());
    if (def.data || def.external) {
      s.arenas[def.allocation->memory_id - 1]->initialized.erase(def.allocation->offset);
      s.initialize_state(index);
    }
  }
}

}  // namespace pteron
