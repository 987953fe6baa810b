#include "openvino/port.h"

#include <algorithm>

#include "openvino/convert.h"
#include "openvino/handle.h"
#include "openvino/status.h"

namespace pteron {
namespace {

using Status = ov::ov_status_e;

bool is_fixed(const ov::ov_dimension_t& dim) { return dim.min == dim.max && dim.min >= 0; }

Result<Port> read_port(const OpenvinoLibrary& library, const ov::ov_output_const_port_t* port,
                       std::string name) {
  Port out;
  out.name = std::move(name);
  if (const Status status = library->ov_port_get_element_type(port, &out.type);
      status != Status::Ok) {
    return openvino_error(library, Code::Failed, out.name + "'s element type cannot be read",
                          status);
  }
  out.dtype = dtype_of(out.type);
  ov::ov_partial_shape_t shape{};
  if (const Status status = library->ov_port_get_partial_shape(port, &shape);
      status != Status::Ok) {
    return openvino_error(library, Code::Failed, out.name + "'s shape cannot be read", status);
  }
  out.has_rank = is_fixed(shape.rank);
  if (out.has_rank) out.dims.assign(shape.dims, shape.dims + shape.rank.min);
  library->ov_partial_shape_free(&shape);
  return out;
}

// A 0-d tensor and a port of one element are alike, and so are a tensor and a port of unknown rank.
Result<void> check_shape(const Port& port, const Tensor& tensor) {
  const auto mismatch = [&] {
    return Error{Code::Malformed, "the model's " + port.name + " is " + port.describe() +
                                      ", but the program has " + tensor.describe(true) + " there"};
  };
  if (!port.has_rank) return {};
  if (static_cast<size_t>(tensor.rank()) != port.dims.size()) {
    const bool single = tensor.numel() == 1 && !tensor.is_dynamic() && port.is_single();
    return single ? Result<void>() : mismatch();
  }
  for (size_t i = 0; i < port.dims.size(); ++i) {
    const int64_t bound = tensor.bounds()[i];
    const ov::ov_dimension_t& dim = port.dims[i];
    if (tensor.is_dynamic()) {
      // Sizes up to the bound may come; each is held against the model when it does.
      if (bound < dim.min) return mismatch();
    } else if (bound < dim.min || (dim.max >= 0 && bound > dim.max)) {
      return mismatch();
    }
  }
  return {};
}

}  // namespace

bool Port::is_static() const { return has_rank && std::all_of(dims.begin(), dims.end(), is_fixed); }

bool Port::is_single() const {
  return has_rank && std::all_of(dims.begin(), dims.end(), [](const ov::ov_dimension_t& dim) {
           return dim.min == 1 && dim.max == 1;
         });
}

std::string Port::describe() const {
  std::string text = std::string(element_type_name(type)) + " ";
  if (!has_rank) return text + "of any shape";
  text += "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) text += ", ";
    if (is_fixed(dims[i])) {
      text += std::to_string(dims[i].min);
    } else if (dims[i].max < 0) {
      text += "?";
    } else {
      text += std::to_string(dims[i].min) + ".." + std::to_string(dims[i].max);
    }
  }
  return text + "]";
}

Result<Ports> read_ports(const OpenvinoLibrary& library, const ov::ov_compiled_model_t* model) {
  Ports ports;
  size_t inputs = 0;
  size_t outputs = 0;
  Status status = library->ov_compiled_model_inputs_size(model, &inputs);
  if (status == Status::Ok) status = library->ov_compiled_model_outputs_size(model, &outputs);
  if (status != Status::Ok)
    return openvino_error(library, Code::Failed, "the model's ports cannot be counted", status);
  for (size_t i = 0; i < inputs + outputs; ++i) {
    const bool is_input = i < inputs;
    const size_t index = is_input ? i : i - inputs;
    const std::string name = (is_input ? "input " : "output ") + std::to_string(index);
    ov::ov_output_const_port_t* raw = nullptr;
    status = is_input ? library->ov_compiled_model_input_by_index(model, index, &raw)
                      : library->ov_compiled_model_output_by_index(model, index, &raw);
    if (status != Status::Ok)
      return openvino_error(library, Code::Failed, name + " cannot be read", status);
    const PortHandle handle(library, raw);
    PTERON_ASSIGN(Port port, read_port(library, handle.get(), name));
    (is_input ? ports.inputs : ports.outputs).push_back(std::move(port));
  }
  return ports;
}

Result<void> check_input(const Port& port, const Value& value) {
  if (!port.dtype) {
    return Error{Code::Unsupported,
                 "the model's " + port.name + " has " + element_type_name(port.type)};
  }
  switch (value.kind) {
    case ValueKind::Tensor: {
      const Tensor& tensor = *value.tensor;
      if (!is_convertible(tensor.dtype(), *port.dtype)) {
        return Error{Code::Unsupported,
                     "the model's " + port.name + " is " + port.describe() +
                         ", and the program's " + tensor.describe(true) +
                         " cannot be converted without changing values; export the model again"};
      }
      return check_shape(port, tensor);
    }
    case ValueKind::Int:
    case ValueKind::Double:
    case ValueKind::Bool:
      if (!takes_scalar(*port.dtype, value.kind)) {
        return Error{Code::Unsupported, "the model's " + port.name + " is " + port.describe() +
                                            ", which cannot hold the program's " +
                                            value_kind_name(value.kind)};
      }
      if (!port.is_single()) {
        return Error{Code::Malformed, "the model's " + port.name + " is " + port.describe() +
                                          ", but the program gives it one number"};
      }
      return {};
    default:
      return Error{Code::Malformed, "the model's " + port.name + " is " + port.describe() +
                                        ", but the program gives " + value_kind_name(value.kind)};
  }
}

Result<void> check_output(const Port& port, const Value& value) {
  if (value.kind != ValueKind::Tensor) {
    return Error{Code::Malformed, "the model's " + port.name + " is " + port.describe() +
                                      ", but the program keeps it in " +
                                      value_kind_name(value.kind)};
  }
  const Tensor& tensor = *value.tensor;
  if (!port.dtype || !is_convertible(*port.dtype, tensor.dtype())) {
    return Error{Code::Unsupported,
                 "the model's " + port.name + " is " + port.describe() +
                     ", but the program wants " + tensor.describe(true) +
                     "; the blob is wrong in itself (its exporter dropped an operator), and "
                     "converting would hide it: "
                     "leave quantize and dequantize out of the partition, and export again"};
  }
  return check_shape(port, tensor);
}

}  // namespace pteron
