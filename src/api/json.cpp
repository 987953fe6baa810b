// A program's contents as JSON; see json.h.
#include "api/json.h"

#include <algorithm>
#include <map>
#include <set>

#include "api/handles.h"
#include "base/text.h"
#ifdef PTERON_HAS_OPENVINO
#include "openvino/blob.h"
#endif

using namespace pteron;

namespace {

#ifdef PTERON_HAS_OPENVINO
constexpr bool kHasOpenvino = true;
#else
constexpr bool kHasOpenvino = false;
#endif

bool is_openvino(const DelegateDef& def) { return def.id == "OpenvinoBackend"; }

Json tensor_json(const TensorDef& tensor) {
  Json json{{"kind", "tensor"},
            {"dtype", dtype_name(tensor.dtype)},
            {"shape", tensor.sizes},
            {"dynamic", tensor.dynamism == Dynamism::Bounded},
            {"dim_order", tensor.dim_order},
            {"planned", tensor.allocation.has_value()}};
  if (tensor.data && !tensor.allocation) json["constant"] = true;
  return json;
}

Json value_json(const ValueDef& def, std::string fallback_name) {
  Json json{{"name", std::move(fallback_name)}};
  if (const auto* tensor = std::get_if<TensorDef>(&def)) {
    if (!tensor->name.empty()) json["name"] = tensor->name;
    json.update(tensor_json(*tensor));
    return json;
  }
  json["kind"] = value_kind_name(value_kind(def));
  if (const auto* integer = std::get_if<int64_t>(&def)) json["value"] = *integer;
  if (const auto* real = std::get_if<double>(&def)) json["value"] = *real;
  if (const auto* boolean = std::get_if<bool>(&def)) json["value"] = *boolean;
  return json;
}

Json values_json(const Plan& plan, const std::vector<ValueIndex>& indices, const char* what) {
  Json list = Json::array();
  for (size_t i = 0; i < indices.size(); ++i)
    list.push_back(value_json(plan.values[indices[i]], what + std::to_string(i)));
  return list;
}

bool is_text(Bytes bytes) {
  return std::all_of(bytes.begin(), bytes.end(),
                     [](std::byte b) { return b >= std::byte{32} && b < std::byte{127}; });
}

// A compile spec's value where it is text, else its size.
std::string spec_text(Bytes value) {
  constexpr size_t kLongest = 200;
  if (value.size() > kLongest || !is_text(value)) return counted(value.size(), "byte");
  return std::string(reinterpret_cast<const char*>(value.data()), value.size());
}

struct CallCounts {
  std::map<std::string, size_t> operators;
  std::vector<size_t> delegates;
};

CallCounts count_calls(const Plan& plan) {
  CallCounts counts;
  counts.delegates.resize(plan.delegates.size());
  for (const Chain& chain : plan.chains) {
    for (const Instruction& instruction : chain.instructions) {
      if (const auto* kernel = std::get_if<KernelCall>(&instruction))
        ++counts.operators[plan.operators[kernel->op]];
      if (const auto* delegate = std::get_if<DelegateCall>(&instruction))
        ++counts.delegates[delegate->delegate];
    }
  }
  return counts;
}

bool is_available(const LoadedProgram& program, const DelegateDef& def) {
  return program.find_delegate(def.id) != nullptr && (kHasOpenvino || !is_openvino(def));
}

Json delegate_json(const LoadedProgram& program, const DelegateDef& def, size_t calls) {
  Json specs = Json::object();
  for (const CompileSpec& spec : def.specs) specs[spec.key] = spec_text(spec.value);
  Json json{{"id", def.id},
            {"calls", calls},
            {"payload_bytes", def.payload.size()},
            {"compile_specs", std::move(specs)},
            {"available", is_available(program, def)}};
#ifdef PTERON_HAS_OPENVINO
  if (is_openvino(def)) {
    const auto blob = inspect_blob(def.payload);
    json["made_by"] = blob.ok() ? blob->maker() : blob.error().message;
  }
#endif
  return json;
}

std::string device_of(const pteron_program& program, const DelegateDef& def) {
  if (!program.device.empty()) return program.device;
  for (const CompileSpec& spec : def.specs) {
    if (spec.key == "device" && !spec.value.empty()) return spec_text(spec.value);
  }
  return "CPU";
}

// Who would run the parts of a method, and what it lacks.
Json runs_json(const pteron_program& program, const Plan& plan, const CallCounts& counts,
               const std::set<std::string>& external) {
  const LoadedProgram& loaded = *program.loaded;
  std::set<std::string> operators;
  std::set<std::string> delegates;
  std::set<std::string> weights;
  Json parts = Json::array();
  size_t kernel_calls = 0;
  for (const auto& [name, calls] : counts.operators) {
    kernel_calls += calls;
    if (loaded.find_kernel(name) == nullptr) operators.insert(name);
  }
  if (kernel_calls > 0)
    parts.push_back({{"part", "operators"},
                     {"calls", kernel_calls},
                     {"ran_by", operators.empty() ? "kernels" : ""},
                     {"device", "CPU"}});
  for (size_t i = 0; i < plan.delegates.size(); ++i) {
    const DelegateDef& def = plan.delegates[i];
    if (counts.delegates[i] == 0) continue;
    const bool available = is_available(loaded, def);
    if (!available) delegates.insert(def.id);
    const char* by = !available ? "" : is_openvino(def) ? "OpenVINO" : "application";
    parts.push_back({{"part", def.id}, {"calls", counts.delegates[i]}, {"ran_by", by}});
    if (is_openvino(def)) parts.back()["device"] = device_of(program, def);
  }
  for (const std::string& key : external) {
    if (loaded.find_weights(key) == nullptr) weights.insert(key);
  }
  return {{"ready", operators.empty() && delegates.empty() && weights.empty()},
          {"missing_operators", operators},
          {"missing_delegates", delegates},
          {"missing_weights", weights},
          {"parts", std::move(parts)}};
}

Json method_json(const pteron_program& handle, const Plan& plan) {
  const LoadedProgram& program = *handle.loaded;
  const CallCounts counts = count_calls(plan);
  Json json{{"name", plan.name},
            {"inputs", values_json(plan, plan.inputs, "input")},
            {"outputs", values_json(plan, plan.outputs, "output")}};
  size_t instructions = 0;
  for (const Chain& chain : plan.chains) instructions += chain.instructions.size();
  json["instructions"] = instructions;
  json["operators"] = Json::array();
  for (const auto& [name, calls] : counts.operators) {
    json["operators"].push_back(
        {{"name", name}, {"calls", calls}, {"available", program.find_kernel(name) != nullptr}});
  }
  json["delegates"] = Json::array();
  for (size_t i = 0; i < plan.delegates.size(); ++i)
    json["delegates"].push_back(delegate_json(program, plan.delegates[i], counts.delegates[i]));
  json["planned_memory_bytes"] = plan.buffers;

  uint64_t constants = 0;
  std::set<const std::byte*> seen;
  std::set<std::string> external;
  Json state = Json::array();
  Json named = Json::array();
  for (const ValueDef& def : plan.values) {
    const auto* tensor = std::get_if<TensorDef>(&def);
    if (tensor == nullptr) continue;
    if (tensor->external) external.insert(tensor->name);
    if (!tensor->name.empty()) named.push_back(value_json(def, ""));
    if (tensor->allocation && (tensor->data || tensor->external)) {
      state.push_back(value_json(def, "state" + std::to_string(state.size())));
      state.back()["bytes"] = tensor->nbytes();
    } else if (tensor->data && seen.insert(tensor->data->data()).second) {
      constants += tensor->data->size();
    }
  }
  json["constant_bytes"] = constants;
  json["external_weights"] = Json::array();
  for (const std::string& key : external) {
    json["external_weights"].push_back(
        {{"key", key}, {"found", program.find_weights(key) != nullptr}});
  }
  json["state"] = std::move(state);
  json["named_tensors"] = std::move(named);
  json["runs"] = runs_json(handle, plan, counts, external);
  return json;
}

Json acceleration_json(const AccelerationReport& report) {
  Json regions = Json::array();
  for (const auto& region : report.regions) {
    regions.push_back({{"chain", region.chain},
                       {"first_instruction", region.begin},
                       {"last_instruction", region.end - 1}});
  }
  Json kept = Json::array();
  for (const auto& one : report.kept) {
    kept.push_back({{"chain", one.chain},
                    {"instruction", one.instruction},
                    {"operator", one.name},
                    {"reason", one.reason}});
  }
  Json operators = Json::array();
  for (const auto& one : report.operators) {
    operators.push_back({{"name", one.name},
                         {"compiled", one.compiled},
                         {"kernels", one.kernels},
                         {"reasons", one.reasons}});
  }
  return {{"regions", std::move(regions)},
          {"kept", std::move(kept)},
          {"operators", std::move(operators)}};
}

Json report_json(const ExecutionReport& report) {
  Json json{{"ran_by", report.ran_by}, {"device", report.device}, {"precision", report.precision}};
  if (!report.library.empty()) json["library"] = report.library;
  Json properties = Json::object();
  for (const auto& [key, value] : report.properties) properties[key] = value;
  json["properties"] = std::move(properties);
  if (!report.requested.empty()) {
    Json requested = Json::object();
    for (const auto& [key, value] : report.requested) requested[key] = value;
    json["requested"] = std::move(requested);
  }
  return json;
}

Json time_json(const InstructionTime& time) {
  Json json{{"chain", time.chain},
            {"instruction", time.instruction},
            {"name", time.name},
            {"start_us", static_cast<double>(time.start_ns) / 1e3},
            {"total_us", static_cast<double>(time.total_ns) / 1e3},
            {"count", time.count},
            {"operators", Json::array()}};
  for (const DelegateProfileRow& inside : time.inside) {
    json["operators"].push_back({{"name", inside.name},
                                 {"type", inside.type},
                                 {"implementation", inside.implementation},
                                 {"wall_us", inside.wall_us},
                                 {"cpu_us", inside.cpu_us}});
  }
  return json;
}

}  // namespace

pteron_status pteron_program_info(const pteron_program* program, char** json,
                                  pteron_error** error) {
  return guarded(error, [&]() -> Result<void> {
    if (program == nullptr) return null_argument("program");
    if (json == nullptr) return null_argument("json");
    const Program& decoded = program->loaded->program();
    Json out{{"format", 1},
             {"file", program->origin},
             {"file_bytes", decoded.file.size()},
             {"program_version", decoded.version}};
    out["methods"] = Json::array();
    for (const Plan& plan : decoded.plans) out["methods"].push_back(method_json(*program, plan));
    out["named_data"] = Json::array();
    for (const NamedData& data : decoded.named_data) {
      out["named_data"].push_back({{"key", data.key}, {"bytes", data.data.size()}});
    }
    out["weights_files"] = Json::array();
    for (const Weights& weights : program->loaded->options().weights) {
      out["weights_files"].push_back({{"file", weights.origin},
                                      {"file_bytes", weights.file.size()},
                                      {"entries", weights.entries.size()}});
    }
    *json = json_string(out);
    return {};
  });
}

pteron_status pteron_method_execution(pteron_method* method, char** json, pteron_error** error) {
  return with_method(method, error, [&](Method& m, Use&) -> Result<void> {
    if (json == nullptr) return null_argument("json");
    Json out{{"format", 1}, {"method", m.name()}, {"execution", Json::array()}};
    for (const ExecutionReport& report : m.execution())
      out["execution"].push_back(report_json(report));
    out["accelerated"] = acceleration_json(m.acceleration());
    *json = json_string(out);
    return {};
  });
}

pteron_status pteron_method_profile(pteron_method* method, char** json, pteron_error** error) {
  return with_method(method, error, [&](Method& m, Use&) -> Result<void> {
    if (json == nullptr) return null_argument("json");
    if (!method->program->options().profile) {
      return Error{Code::InvalidArgument, "method \"" + m.name() +
                                              "\": its program was not opened for profiling; set "
                                              "the option profile"};
    }
    Json out{{"format", 1}, {"method", m.name()}, {"instructions", Json::array()}};
    for (const InstructionTime& time : m.profile()) out["instructions"].push_back(time_json(time));
    *json = json_string(out);
    return {};
  });
}
