// The fake's C functions. src/openvino/functions.inc declares each first, so that the compiler
// proves that what is exported here has exactly the type that Pteron loads.
#include "fake_openvino.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdarg>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fake_model.h"
#include "fake_state.h"
#include "openvino/types.h"

#ifdef _WIN32
#define FAKE_EXPORT __declspec(dllexport)
#else
#define FAKE_EXPORT __attribute__((visibility("default")))
#endif

namespace pteron::ov {

extern "C" {
#define OV_REQUIRED(type, name, arguments) FAKE_EXPORT type name arguments;
#define OV_OPTIONAL OV_REQUIRED
#include "openvino/functions.inc"
#undef OV_OPTIONAL
#undef OV_REQUIRED
}

namespace {

using fake::Buffer;
using fake::Device;
using fake::Model;
using fake::Port;
using fake::Property;
using fake::State;
using Properties = std::map<std::string, std::string>;

State& state() { return State::get(); }

ov_status_e general_error(const std::string& text) {
  return state().fail(ov_status_e::GeneralError, text);
}

ov_status_e invalid() {
  return state().fail(ov_status_e::InvalidCParam, "invalid c input parameters");
}

#ifdef FAKE_OLD_NUMBERS
// Before 2025.1: 0 was another type, and all others stood one higher.
ov_element_type_e in(ov_element_type_e type) {
  return static_cast<ov_element_type_e>(static_cast<unsigned>(type) - 1);
}
ov_element_type_e out(ov_element_type_e type) {
  return static_cast<ov_element_type_e>(static_cast<unsigned>(type) + 1);
}
#else
ov_element_type_e in(ov_element_type_e type) { return type; }
ov_element_type_e out(ov_element_type_e type) { return type; }
#endif

char* new_text(const char* kind, const std::string& text) {
  char* copy = new char[text.size() + 1];
  std::memcpy(copy, text.c_str(), text.size() + 1);
  state().born(kind, copy);
  return copy;
}

void free_text(const char* kind, const char* text) {
  if (state().died(kind, text)) delete[] text;
}

// Whether a handle may be used. A dead one is recorded and not touched.
bool usable(const char* kind, const void* handle) {
  if (handle == nullptr) return false;
  if (state().is_alive(kind, handle)) return true;
  state().died(kind, handle);
  return false;
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

// Empty, or why the device does not take the property.
std::string refusal_of(const Device& device, const std::string& key, const std::string& value) {
  const auto found = device.properties.find(key);
  if (found == device.properties.end()) return "NotFound: Unsupported property " + key;
  const Property& property = found->second;
  if (!property.writable) return "property " + key + " is read-only";
  for (const std::string& allowed : property.allowed) {
    if (allowed == "*" || allowed == value || (allowed == "#" && is_number(value))) return "";
  }
  return "Wrong value " + value + " for property key " + key;
}

std::string keys_of(const Device& device) {
  std::string keys = "SUPPORTED_PROPERTIES";
  for (const auto& [key, property] : device.properties) keys += " " + key;
  return keys;
}

}  // namespace

struct ov_core_t {
  std::mutex mutex;
  std::map<std::string, Properties> set;  // By device.
  std::set<std::string> loaded;
};

struct ov_model_t {
  Model model;
};

namespace {

struct Compiled {
  Model model;
  std::string_view blob;  // Of a borrowed one: the caller's memory.
  Device device;
  Properties properties;
};

}  // namespace

struct ov_compiled_model_t {
  std::shared_ptr<const Compiled> compiled;
};

struct ov_output_const_port_t {
  Port port;
};

struct ov_tensor_t {
  std::shared_ptr<Buffer> buffer;
};

struct ov_infer_request_t {
  std::shared_ptr<const Compiled> compiled;
  std::vector<std::shared_ptr<Buffer>> inputs;
  std::vector<std::shared_ptr<Buffer>> outputs;
  int64_t runs = 0;
  std::atomic<bool> running{false};
  std::atomic<bool> cancelled{false};
  std::thread thread;
  ov_status_e result = ov_status_e::Ok;
};

namespace {

// The device, its plugin loaded with what was set before. Ok, or what OpenVINO would answer.
ov_status_e load_plugin(ov_core_t& core, const std::string& name, Device& device) {
  const auto found = state().device(name);
  if (!found) {
    return general_error("Device with \"" + name +
                         "\" name is not registered in the OpenVINO Runtime");
  }
  device = *found;
  if (!device.broken.empty()) return general_error("Cannot load library: " + device.broken);
  const std::lock_guard lock(core.mutex);
  if (core.loaded.count(name) > 0) return ov_status_e::Ok;
  for (const auto& [key, value] : core.set[name]) {
    const std::string problem = refusal_of(device, key, value);
    if (!problem.empty()) {
      return general_error("Failed to create plugin for device " + name +
                           "\nPlease, check your environment\n" + problem + "\n");
    }
  }
  core.loaded.insert(name);
  return ov_status_e::Ok;
}

std::string value_of(const Device& device, const Properties& set, const std::string& key) {
  const auto found = set.find(key);
  if (found != set.end()) return found->second;
  return device.properties.at(key).allowed.front();
}

// What a compiled model runs with.
Properties in_force(const Device& device, const Properties& set) {
  Properties values;
  for (const auto& [key, property] : device.properties) values[key] = value_of(device, set, key);
  const auto& capabilities = device.capabilities;
  const bool has_f32 =
      std::find(capabilities.begin(), capabilities.end(), "FP32") != capabilities.end();
  if (set.count("INFERENCE_PRECISION_HINT") == 0 && values["EXECUTION_MODE_HINT"] == "ACCURACY" &&
      has_f32) {
    values["INFERENCE_PRECISION_HINT"] = "f32";
  }
  if (values.count("INFERENCE_NUM_THREADS") > 0 && values["INFERENCE_NUM_THREADS"] == "0") {
    values["INFERENCE_NUM_THREADS"] = "2";
  }
  return values;
}

ov_status_e give_compiled(std::shared_ptr<const Compiled> compiled, ov_compiled_model_t** result) {
  auto* model = new ov_compiled_model_t{std::move(compiled)};
  state().born("compiled_model", model);
  *result = model;
  return ov_status_e::Ok;
}

ov_status_e give_port(const std::vector<Port>& ports, size_t index,
                      ov_output_const_port_t** result) {
  if (result == nullptr) return invalid();
  if (index >= ports.size()) return general_error("port index out of range");
  auto* port = new ov_output_const_port_t{ports[index]};
  state().born("port", port);
  *result = port;
  return ov_status_e::Ok;
}

ov_status_e give_tensor(std::shared_ptr<Buffer> buffer, ov_tensor_t** result) {
  auto* tensor = new ov_tensor_t{std::move(buffer)};
  state().born("tensor", tensor);
  *result = tensor;
  return ov_status_e::Ok;
}

bool read_shape(const ov_shape_t& shape, std::vector<int64_t>& dims) {
  if (shape.rank < 0 || (shape.rank > 0 && shape.dims == nullptr)) return false;
  dims.assign(shape.dims, shape.dims + shape.rank);
  return std::all_of(dims.begin(), dims.end(), [](int64_t dim) { return dim >= 0; });
}

ov_status_e set_tensor(ov_infer_request_t* request, const std::vector<Port>& ports,
                       std::vector<std::shared_ptr<Buffer>>& buffers, size_t index,
                       const ov_tensor_t* tensor, bool is_input) {
  if (!usable("tensor", tensor)) return invalid();
  if (request->running.load()) {
    state().count_overlap();
    return state().fail(ov_status_e::RequestBusy, "Infer Request is busy");
  }
  if (index >= ports.size()) return general_error("port index out of range");
  const Port& port = ports[index];
  if (tensor->buffer->type != port.type) {
    return general_error("The tensor element type is not matching with the model's");
  }
  // An output of the wrong size is found out when the result is there.
  if ((is_input || port.is_fixed()) && !port.accepts(tensor->buffer->shape)) {
    return general_error("The tensor size is not equal to the model's");
  }
  buffers[index] = tensor->buffer;
  if (request->compiled->model.op == "pass" && index < request->outputs.size())
    request->inputs[index] = request->outputs[index] = tensor->buffer;
  return ov_status_e::Ok;
}

ov_status_e run(ov_infer_request_t& request) {
  state().log("infer");
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(state().delay_ms());
  do {
    if (request.cancelled.load()) {
      return state().fail(ov_status_e::InferCancelled, "Infer Request was canceled");
    }
    if (state().delay_ms() > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  } while (std::chrono::steady_clock::now() < end);

  const Compiled& compiled = *request.compiled;
  if (!compiled.blob.empty() && !fake::parse_model(compiled.blob)) {
    return general_error("the borrowed blob has changed since its import");
  }
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    if (request.inputs[i]) continue;
    const Port& port = compiled.model.inputs[i];
    if (!port.is_fixed()) return general_error("an input of dynamic shape has not been set");
    request.inputs[i] = std::make_shared<Buffer>();
    request.inputs[i]->type = port.type;
    request.inputs[i]->reshape(port.fixed_shape());
  }
  ++request.runs;
  const std::string problem =
      fake::compute(compiled.model, request.inputs, request.outputs, request.runs);
  return problem.empty() ? ov_status_e::Ok : general_error(problem);
}

// False, and recorded, if the request runs already.
bool begin(ov_infer_request_t& request) {
  if (request.running.exchange(true)) {
    state().count_overlap();
    state().fail(ov_status_e::RequestBusy, "Infer Request is busy");
    return false;
  }
  request.cancelled = false;
  return true;
}

}  // namespace

// Each function counts its call, and fails if the script says so.
#define ENTER(function) \
  if (const auto scripted = state().enter(#function)) return *scripted

extern "C" {

ov_status_e ov_get_openvino_version(ov_version_t* version) {
  ENTER(ov_get_openvino_version);
  if (version == nullptr) return invalid();
  version->build_number = new_text("version", state().version());
  version->description = new_text("version", "Fake OpenVINO");
  return ov_status_e::Ok;
}

void ov_version_free(ov_version_t* version) {
  if (version == nullptr) return;
  free_text("version", version->build_number);
  free_text("version", version->description);
  *version = {};
}

const char* ov_get_error_info(ov_status_e status) {
  switch (status) {
    case ov_status_e::Ok:
      return "success";
    case ov_status_e::GeneralError:
      return "general error";
    case ov_status_e::NotImplemented:
      return "it's not implement";
    case ov_status_e::RequestBusy:
      return "request is busy";
    case ov_status_e::InferCancelled:
      return "inference is canceled";
    case ov_status_e::InvalidCParam:
      return "invalid c input parameters";
    default:
      return "another error";
  }
}

const char* ov_get_last_err_msg() { return new_text("string", state().last_error()); }

void ov_free(const char* content) { free_text("string", content); }

ov_status_e ov_core_create(ov_core_t** core) {
  ENTER(ov_core_create);
  if (core == nullptr) return invalid();
  *core = new ov_core_t;
  state().born("core", *core);
  state().log("core");
  return ov_status_e::Ok;
}

void ov_core_free(ov_core_t* core) {
  if (state().died("core", core)) delete core;
}

ov_status_e ov_core_set_property(const ov_core_t* core, const char* device_name, ...) {
  ENTER(ov_core_set_property);
  if (!usable("core", core) || device_name == nullptr) return invalid();
  va_list arguments;
  va_start(arguments, device_name);
  const char* key = va_arg(arguments, const char*);
  const char* value = key != nullptr ? va_arg(arguments, const char*) : nullptr;
  va_end(arguments);
  if (key == nullptr || value == nullptr) return invalid();
  const std::string name = device_name;
  state().log("set " + name + " " + key + "=" + value);
  auto& writable = const_cast<ov_core_t&>(*core);
  const std::lock_guard lock(writable.mutex);
  if (writable.loaded.count(name) > 0) {
    const auto device = state().device(name);
    if (!device) return general_error("the device is gone");
    const std::string problem = refusal_of(*device, key, value);
    if (!problem.empty()) return general_error(problem);
  }
  writable.set[name][key] = value;
  return ov_status_e::Ok;
}

ov_status_e ov_core_get_property(const ov_core_t* core, const char* device_name, const char* key,
                                 char** value) {
  ENTER(ov_core_get_property);
  if (!usable("core", core) || device_name == nullptr || key == nullptr || value == nullptr) {
    return invalid();
  }
  auto& writable = const_cast<ov_core_t&>(*core);
  Device device;
  const ov_status_e status = load_plugin(writable, device_name, device);
  if (status != ov_status_e::Ok) return status;
  if (key == std::string("SUPPORTED_PROPERTIES")) {
    *value = new_text("string", keys_of(device));
    return ov_status_e::Ok;
  }
  if (device.properties.count(key) == 0) {
    return general_error("Cannot get unsupported property: " + std::string(key));
  }
  const std::lock_guard lock(writable.mutex);
  *value = new_text("string", value_of(device, writable.set[device_name], key));
  return ov_status_e::Ok;
}

ov_status_e ov_core_get_available_devices(const ov_core_t* core, ov_available_devices_t* devices) {
  ENTER(ov_core_get_available_devices);
  if (!usable("core", core) || devices == nullptr) return invalid();
  std::vector<std::string> names;
  for (const std::string& name : state().device_names()) {
    // A plugin that does not load is left out without a word, as OpenVINO does.
    if (state().device(name)->broken.empty()) names.push_back(name);
  }
  devices->size = names.size();
  devices->devices = new char*[names.size() + 1];
  for (size_t i = 0; i < names.size(); ++i) devices->devices[i] = new_text("devices", names[i]);
  state().born("devices", devices->devices);
  return ov_status_e::Ok;
}

void ov_available_devices_free(ov_available_devices_t* devices) {
  if (devices == nullptr || !state().died("devices", devices->devices)) return;
  for (size_t i = 0; i < devices->size; ++i) free_text("devices", devices->devices[i]);
  delete[] devices->devices;
  *devices = {};
}

ov_status_e ov_core_import_model(const ov_core_t* core, const char* content, size_t content_size,
                                 const char* device_name, ov_compiled_model_t** compiled_model) {
  ENTER(ov_core_import_model);
  if (!usable("core", core) || content == nullptr || device_name == nullptr ||
      compiled_model == nullptr) {
    return invalid();
  }
  state().log("import " + std::string(device_name) + " " + std::to_string(content_size));
  auto& writable = const_cast<ov_core_t&>(*core);
  auto compiled = std::make_shared<Compiled>();
  const ov_status_e status = load_plugin(writable, device_name, compiled->device);
  if (status != ov_status_e::Ok) return status;
  if (!compiled->device.refusal.empty()) return general_error(compiled->device.refusal);
  const std::string_view blob(content, content_size);
  auto model = fake::parse_model(blob);
  if (!model) return general_error("Could not deserialize: this is no blob of the fake's");
  compiled->model = *std::move(model);
  if (state().borrows_blobs()) compiled->blob = blob;
  const std::lock_guard lock(writable.mutex);
  compiled->properties = in_force(compiled->device, writable.set[device_name]);
  return give_compiled(std::move(compiled), compiled_model);
}

ov_status_e ov_core_read_model_from_memory_buffer(const ov_core_t* core, const char* text,
                                                  size_t length, const ov_tensor_t* weights,
                                                  ov_model_t** model) {
  ENTER(ov_core_read_model_from_memory_buffer);
  if (!usable("core", core) || text == nullptr || model == nullptr) return invalid();
  if (weights != nullptr && !usable("tensor", weights)) return invalid();
  state().log("read " + std::to_string(length));
  // IR is read and not understood: it runs nowhere.
  auto parsed = text[0] == '<' ? Model() : fake::parse_model({text, length});
  if (!parsed) return general_error("Unable to read the model: this is no model of the fake's");
  *model = new ov_model_t{*std::move(parsed)};
  state().born("model", *model);
  return ov_status_e::Ok;
}

ov_status_e ov_core_compile_model(const ov_core_t* core, const ov_model_t* model,
                                  const char* device_name, size_t property_args_size,
                                  ov_compiled_model_t** compiled_model, ...) {
  ENTER(ov_core_compile_model);
  if (!usable("core", core) || !usable("model", model) || device_name == nullptr ||
      compiled_model == nullptr || property_args_size % 2 != 0) {
    return invalid();
  }
  Properties given;
  va_list arguments;
  va_start(arguments, compiled_model);
  for (size_t i = 0; i < property_args_size; i += 2) {
    const char* key = va_arg(arguments, const char*);
    const char* value = va_arg(arguments, const char*);
    given[key] = value;
  }
  va_end(arguments);
  state().log("compile " + std::string(device_name));
  auto& writable = const_cast<ov_core_t&>(*core);
  auto compiled = std::make_shared<Compiled>();
  const ov_status_e status = load_plugin(writable, device_name, compiled->device);
  if (status != ov_status_e::Ok) return status;
  for (const auto& [key, value] : given) {
    const std::string problem = refusal_of(compiled->device, key, value);
    if (!problem.empty()) return general_error(problem);
  }
  compiled->model = model->model;
  const std::lock_guard lock(writable.mutex);
  for (const auto& [key, value] : writable.set[device_name]) given.emplace(key, value);
  compiled->properties = in_force(compiled->device, given);
  return give_compiled(std::move(compiled), compiled_model);
}

void ov_model_free(ov_model_t* model) {
  if (state().died("model", model)) delete model;
}

ov_status_e ov_compiled_model_inputs_size(const ov_compiled_model_t* model, size_t* size) {
  ENTER(ov_compiled_model_inputs_size);
  if (!usable("compiled_model", model) || size == nullptr) return invalid();
  *size = model->compiled->model.inputs.size();
  return ov_status_e::Ok;
}

ov_status_e ov_compiled_model_outputs_size(const ov_compiled_model_t* model, size_t* size) {
  ENTER(ov_compiled_model_outputs_size);
  if (!usable("compiled_model", model) || size == nullptr) return invalid();
  *size = model->compiled->model.outputs.size();
  return ov_status_e::Ok;
}

ov_status_e ov_compiled_model_input_by_index(const ov_compiled_model_t* model, size_t index,
                                             ov_output_const_port_t** port) {
  ENTER(ov_compiled_model_input_by_index);
  if (!usable("compiled_model", model)) return invalid();
  return give_port(model->compiled->model.inputs, index, port);
}

ov_status_e ov_compiled_model_output_by_index(const ov_compiled_model_t* model, size_t index,
                                              ov_output_const_port_t** port) {
  ENTER(ov_compiled_model_output_by_index);
  if (!usable("compiled_model", model)) return invalid();
  return give_port(model->compiled->model.outputs, index, port);
}

ov_status_e ov_compiled_model_create_infer_request(const ov_compiled_model_t* model,
                                                   ov_infer_request_t** request) {
  ENTER(ov_compiled_model_create_infer_request);
  if (!usable("compiled_model", model) || request == nullptr) return invalid();
  auto* made = new ov_infer_request_t;
  made->compiled = model->compiled;
  made->inputs.resize(model->compiled->model.inputs.size());
  for (const Port& port : model->compiled->model.outputs) {
    auto buffer = std::make_shared<Buffer>();
    buffer->type = port.type;
    buffer->reshape(port.is_fixed() ? port.fixed_shape() : std::vector<int64_t>{0});
    if (model->compiled->model.op == "pass") made->inputs[made->outputs.size()] = buffer;
    made->outputs.push_back(std::move(buffer));
  }
  state().born("infer_request", made);
  *request = made;
  return ov_status_e::Ok;
}

ov_status_e ov_compiled_model_get_property(const ov_compiled_model_t* model, const char* key,
                                           char** value) {
  ENTER(ov_compiled_model_get_property);
  if (!usable("compiled_model", model) || key == nullptr || value == nullptr) return invalid();
  const Compiled& compiled = *model->compiled;
  if (key == std::string("SUPPORTED_PROPERTIES")) {
    *value = new_text("string", keys_of(compiled.device));
    return ov_status_e::Ok;
  }
  const auto found = compiled.properties.find(key);
  if (found == compiled.properties.end()) {
    return general_error("Cannot get unsupported property: " + std::string(key));
  }
  *value = new_text("string", found->second);
  return ov_status_e::Ok;
}

void ov_compiled_model_free(ov_compiled_model_t* model) {
  if (state().died("compiled_model", model)) delete model;
}

ov_status_e ov_port_get_any_name(const ov_output_const_port_t* port, char** name) {
  ENTER(ov_port_get_any_name);
  if (!usable("port", port) || name == nullptr) return invalid();
  if (port->port.name.empty()) {
    return general_error("Attempt to get a name for a Tensor without names");
  }
  *name = new_text("string", port->port.name);
  return ov_status_e::Ok;
}

ov_status_e ov_port_get_partial_shape(const ov_output_const_port_t* port,
                                      ov_partial_shape_t* shape) {
  ENTER(ov_port_get_partial_shape);
  if (!usable("port", port) || shape == nullptr) return invalid();
  const auto& dims = port->port.dims;
  const auto rank = static_cast<int64_t>(dims.size());
  *shape = {port->port.any_rank ? ov_rank_t{0, -1} : ov_rank_t{rank, rank}, nullptr};
  if (rank == 0) return ov_status_e::Ok;
  shape->dims = new ov_dimension_t[dims.size()];
  for (size_t i = 0; i < dims.size(); ++i) shape->dims[i] = {dims[i].min, dims[i].max};
  state().born("partial_shape", shape->dims);
  return ov_status_e::Ok;
}

ov_status_e ov_port_get_element_type(const ov_output_const_port_t* port, ov_element_type_e* type) {
  ENTER(ov_port_get_element_type);
  if (!usable("port", port) || type == nullptr) return invalid();
  *type = out(port->port.type);
  return ov_status_e::Ok;
}

void ov_output_const_port_free(ov_output_const_port_t* port) {
  if (state().died("port", port)) delete port;
}

void ov_partial_shape_free(ov_partial_shape_t* shape) {
  if (shape == nullptr) return;
  if (state().died("partial_shape", shape->dims)) delete[] shape->dims;
  *shape = {};
}

ov_status_e ov_shape_free(ov_shape_t* shape) {
  ENTER(ov_shape_free);
  if (shape == nullptr) return invalid();
  if (state().died("shape", shape->dims)) delete[] shape->dims;
  *shape = {};
  return ov_status_e::Ok;
}

ov_status_e ov_tensor_create(ov_element_type_e type, ov_shape_t shape, ov_tensor_t** tensor) {
  ENTER(ov_tensor_create);
  std::vector<int64_t> dims;
  if (tensor == nullptr || !read_shape(shape, dims)) return invalid();
  auto buffer = std::make_shared<Buffer>();
  buffer->type = in(type);
  if (!buffer->reshape(dims)) return general_error("no such tensor is possible");
  return give_tensor(std::move(buffer), tensor);
}

ov_status_e ov_tensor_create_from_host_ptr(ov_element_type_e type, ov_shape_t shape, void* host_ptr,
                                           ov_tensor_t** tensor) {
  ENTER(ov_tensor_create_from_host_ptr);
  std::vector<int64_t> dims;
  if (tensor == nullptr || host_ptr == nullptr || !read_shape(shape, dims)) return invalid();
  auto buffer = std::make_shared<Buffer>();
  buffer->type = in(type);
  buffer->borrowed = static_cast<std::byte*>(host_ptr);
  const auto bytes = fake::byte_size_of(buffer->type, dims);
  if (!bytes) return general_error("no such tensor is possible");
  buffer->capacity = *bytes;
  buffer->shape = std::move(dims);
  return give_tensor(std::move(buffer), tensor);
}

ov_status_e ov_tensor_set_shape(ov_tensor_t* tensor, ov_shape_t shape) {
  ENTER(ov_tensor_set_shape);
  std::vector<int64_t> dims;
  if (!usable("tensor", tensor) || !read_shape(shape, dims)) return invalid();
  if (!tensor->buffer->reshape(dims)) return general_error("the tensor cannot hold this shape");
  return ov_status_e::Ok;
}

ov_status_e ov_tensor_get_shape(const ov_tensor_t* tensor, ov_shape_t* shape) {
  ENTER(ov_tensor_get_shape);
  if (!usable("tensor", tensor) || shape == nullptr) return invalid();
  const auto& dims = tensor->buffer->shape;
  *shape = {static_cast<int64_t>(dims.size()), nullptr};
  if (dims.empty()) return ov_status_e::Ok;
  shape->dims = new int64_t[dims.size()];
  std::copy(dims.begin(), dims.end(), shape->dims);
  state().born("shape", shape->dims);
  return ov_status_e::Ok;
}

ov_status_e ov_tensor_get_element_type(const ov_tensor_t* tensor, ov_element_type_e* type) {
  ENTER(ov_tensor_get_element_type);
  if (!usable("tensor", tensor) || type == nullptr) return invalid();
  *type = out(tensor->buffer->type);
  return ov_status_e::Ok;
}

ov_status_e ov_tensor_get_byte_size(const ov_tensor_t* tensor, size_t* bytes) {
  ENTER(ov_tensor_get_byte_size);
  if (!usable("tensor", tensor) || bytes == nullptr) return invalid();
  *bytes = tensor->buffer->byte_size();
  return ov_status_e::Ok;
}

ov_status_e ov_tensor_data(const ov_tensor_t* tensor, void** data) {
  ENTER(ov_tensor_data);
  if (!usable("tensor", tensor) || data == nullptr) return invalid();
  *data = tensor->buffer->data();
  return ov_status_e::Ok;
}

void ov_tensor_free(ov_tensor_t* tensor) {
  if (state().died("tensor", tensor)) delete tensor;
}

ov_status_e ov_infer_request_set_input_tensor_by_index(ov_infer_request_t* request, size_t index,
                                                       const ov_tensor_t* tensor) {
  ENTER(ov_infer_request_set_input_tensor_by_index);
  if (!usable("infer_request", request)) return invalid();
  return set_tensor(request, request->compiled->model.inputs, request->inputs, index, tensor, true);
}

ov_status_e ov_infer_request_set_output_tensor_by_index(ov_infer_request_t* request, size_t index,
                                                        const ov_tensor_t* tensor) {
  ENTER(ov_infer_request_set_output_tensor_by_index);
  if (!usable("infer_request", request)) return invalid();
  return set_tensor(request, request->compiled->model.outputs, request->outputs, index, tensor,
                    false);
}

ov_status_e ov_infer_request_get_output_tensor_by_index(const ov_infer_request_t* request,
                                                        size_t index, ov_tensor_t** tensor) {
  ENTER(ov_infer_request_get_output_tensor_by_index);
  if (!usable("infer_request", request) || tensor == nullptr) return invalid();
  if (index >= request->outputs.size()) return general_error("port index out of range");
  return give_tensor(request->outputs[index], tensor);
}

ov_status_e ov_infer_request_infer(ov_infer_request_t* request) {
  ENTER(ov_infer_request_infer);
  if (!usable("infer_request", request)) return invalid();
  if (!begin(*request)) return ov_status_e::RequestBusy;
  const ov_status_e status = run(*request);
  request->running = false;
  return status;
}

ov_status_e ov_infer_request_start_async(ov_infer_request_t* request) {
  ENTER(ov_infer_request_start_async);
  if (!usable("infer_request", request)) return invalid();
  if (!begin(*request)) return ov_status_e::RequestBusy;
  if (request->thread.joinable()) request->thread.join();
  request->thread = std::thread([request] {
    request->result = run(*request);
    request->running = false;
  });
  return ov_status_e::Ok;
}

ov_status_e ov_infer_request_wait(ov_infer_request_t* request) {
  ENTER(ov_infer_request_wait);
  if (!usable("infer_request", request)) return invalid();
  if (!request->thread.joinable()) return ov_status_e::Ok;
  request->thread.join();
  return request->result;
}

ov_status_e ov_infer_request_wait_for(ov_infer_request_t* request, int64_t timeout) {
  ENTER(ov_infer_request_wait_for);
  if (!usable("infer_request", request) || timeout < 0) return invalid();
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout);
  while (request->running && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  return ov_status_e::Ok;
}

ov_status_e ov_infer_request_cancel(ov_infer_request_t* request) {
  ENTER(ov_infer_request_cancel);
  if (!usable("infer_request", request)) return invalid();
  request->cancelled = true;
  return ov_status_e::Ok;
}

ov_status_e ov_infer_request_get_profiling_info(const ov_infer_request_t* request,
                                                ov_profiling_info_list_t* list) {
  ENTER(ov_infer_request_get_profiling_info);
  if (!usable("infer_request", request) || list == nullptr) return invalid();
  if (request->compiled->properties.at("PERF_COUNT") != "YES") {
    return general_error("Performance counters were not enabled");
  }
  list->size = 1;
  list->profiling_infos = new ov_profiling_info_t[1];
  list->profiling_infos[0] = {ov_profiling_status_e::Executed,
                              1000,
                              900,
                              new_text("profile", "the_operation"),
                              new_text("profile", "fake_f32"),
                              new_text("profile", request->compiled->model.op)};
  state().born("profile", list->profiling_infos);
  return ov_status_e::Ok;
}

void ov_profiling_info_list_free(ov_profiling_info_list_t* list) {
  if (list == nullptr || !state().died("profile", list->profiling_infos)) return;
  for (size_t i = 0; i < list->size; ++i) {
    const ov_profiling_info_t& row = list->profiling_infos[i];
    for (const char* text : {row.node_name, row.exec_type, row.node_type}) {
      free_text("profile", text);
    }
  }
  delete[] list->profiling_infos;
  *list = {};
}

void ov_infer_request_free(ov_infer_request_t* request) {
  if (!state().died("infer_request", request)) return;
  if (request->thread.joinable()) request->thread.join();
  delete request;
}

FAKE_EXPORT fake_reset_t fake_reset;
FAKE_EXPORT fake_script_t fake_script;
FAKE_EXPORT fake_count_t fake_count;
FAKE_EXPORT fake_log_t fake_log;

void fake_reset() { state().reset(); }

const char* fake_script(const char* text) {
  static thread_local std::string problem;
  problem = state().run_script(text);
  return problem.empty() ? nullptr : problem.c_str();
}

long long fake_count(const char* what) { return state().count(what); }

const char* fake_log() {
  static thread_local std::string text;
  text = state().log_text();
  return text.c_str();
}

}  // extern "C"

}  // namespace pteron::ov
