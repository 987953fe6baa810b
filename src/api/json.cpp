#include "api/json.h"

#include <algorithm>
#include <map>
#include <set>

using namespace pteron;

namespace {

Json tensor_json(const TensorDef& tensor) {
  Json json{{"kind", "tensor"}, {"dtype", dtype_name(tensor.dtype)}, {"shape", tensor.sizes}};
  json["dynamic"] = tensor.dynamism == Dynamism::Bounded;
  json["dim_order"] = tensor.dim_order;
  return json;
}

Json values_json(const Plan& plan, const std::vector<ValueIndex>& indices, const char* what) {
  Json list = Json::array();
  for (size_t i = 0; i < indices.size(); ++i) {
    const ValueDef& def = plan.values[indices[i]];
    Json json{{"name", what + std::to_string(i)}};
    if (const auto* tensor = std::get_if<TensorDef>(&def)) {
      if (!tensor->name.empty()) json["name"] = tensor->name;
      json.update(tensor_json(*tensor));
    } else {
      json["kind"] = value_kind_name(value_kind(def));
      if (const auto* integer = std::get_if<int64_t>(&def)) json["value"] = *integer;
      if (const auto* real = std::get_if<double>(&def)) json["value"] = *real;
      if (const auto* boolean = std::get_if<bool>(&def)) json["value"] = *boolean;
    }
    list.push_back(std::move(json));
  }
  return list;
}

// A compile spec's value, where it is text.
Json spec_value(Bytes value) {
  const std::string text(reinterpret_cast<const char*>(value.data()),
                         std::min<size_t>(value.size(), 200));
  const bool printable =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= 32 && c < 127; });
  return printable ? Json(text) : Json(std::to_string(value.size()) + " bytes");
}

Json operators_json(const LoadedProgram& program, const Plan& plan) {
  std::map<std::string, size_t> counts;
  for (const Chain& chain : plan.chains) {
    for (const Instruction& instruction : chain.instructions) {
      if (const auto* call = std::get_if<KernelCall>(&instruction))
        ++counts[plan.operators[call->op]];
    }
  }
  Json list = Json::array();
  for (const auto& [name, count] : counts) {
    list.push_back(
        {{"name", name}, {"calls", count}, {"available", program.find_kernel(name) != nullptr}});
  }
  return list;
}

Json delegates_json(const LoadedProgram& program, const Plan& plan) {
  std::vector<size_t> calls(plan.delegates.size());
  for (const Chain& chain : plan.chains) {
    for (const Instruction& instruction : chain.instructions) {
      if (const auto* call = std::get_if<DelegateCall>(&instruction)) ++calls[call->delegate];
    }
  }
  Json list = Json::array();
  for (size_t i = 0; i < plan.delegates.size(); ++i) {
    const DelegateDef& def = plan.delegates[i];
    Json specs = Json::object();
    for (const CompileSpec& spec : def.specs) specs[spec.key] = spec_value(spec.value);
    list.push_back({{"id", def.id},
                    {"calls", calls[i]},
                    {"payload_bytes", def.payload.size()},
                    {"compile_specs", std::move(specs)},
                    {"available", program.find_delegate(def.id) != nullptr}});
  }
  return list;
}

Json method_json(const LoadedProgram& program, const Plan& plan) {
  Json json{{"name", plan.name},
            {"inputs", values_json(plan, plan.inputs, "input")},
            {"outputs", values_json(plan, plan.outputs, "output")}};
  size_t instructions = 0;
  for (const Chain& chain : plan.chains) instructions += chain.instructions.size();
  json["instructions"] = instructions;
  json["operators"] = operators_json(program, plan);
  json["delegates"] = delegates_json(program, plan);
  json["planned_memory_bytes"] = plan.buffers;
  uint64_t constants = 0;
  std::set<const std::byte*> seen;
  std::set<std::string> external;
  for (const ValueDef& def : plan.values) {
    const auto* tensor = std::get_if<TensorDef>(&def);
    if (tensor == nullptr) continue;
    if (tensor->data && seen.insert(tensor->data->data()).second) constants += tensor->data->size();
    if (tensor->external) external.insert(tensor->name);
  }
  json["constant_bytes"] = constants;
  json["external_weights"] = Json::array();
  for (const std::string& key : external) {
    json["external_weights"].push_back(
        {{"key", key}, {"found", program.find_weights(key) != nullptr}});
  }
  return json;
}

Json report_json(const ExecutionReport& report) {
  Json json{{"ran_by", report.ran_by}, {"device", report.device}, {"precision", report.precision}};
  if (!report.library.empty()) json["library"] = report.library;
  Json properties = Json::object();
  for (const auto& [key, value] : report.properties) properties[key] = value;
  json["properties"] = std::move(properties);
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
    for (const Plan& plan : decoded.plans)
      out["methods"].push_back(method_json(*program->loaded, plan));
    out["named_data"] = Json::array();
    for (const NamedData& data : decoded.named_data) {
      out["named_data"].push_back({{"key", data.key}, {"bytes", data.data.size()}});
    }
    *json = json_string(out);
    return {};
  });
}

pteron_status pteron_method_execution(pteron_method* method, char** json, pteron_error** error) {
  return guarded(error, [&]() -> Result<void> {
    if (method == nullptr) return null_argument("method");
    if (json == nullptr) return null_argument("json");
    Json out{{"format", 1}, {"method", method->method->name()}, {"execution", Json::array()}};
    for (const ExecutionReport& report : method->method->execution())
      out["execution"].push_back(report_json(report));
    *json = json_string(out);
    return {};
  });
}

pteron_status pteron_method_profile(pteron_method* method, char** json, pteron_error** error) {
  return guarded(error, [&]() -> Result<void> {
    if (method == nullptr) return null_argument("method");
    if (json == nullptr) return null_argument("json");
    if (!method->program->options().profile) {
      return Error{Code::InvalidArgument,
                   "the program was not opened for profiling; set the option profile"};
    }
    if (method->in_use->taken) return Error{Code::Busy, "the method is in use"};
    Json out{{"format", 1}, {"method", method->method->name()}, {"instructions", Json::array()}};
    for (const InstructionTime& time : method->method->profile()) {
      Json row{{"chain", time.chain},
               {"instruction", time.instruction},
               {"name", time.name},
               {"start_us", static_cast<double>(time.start_ns) / 1e3},
               {"total_us", static_cast<double>(time.total_ns) / 1e3},
               {"count", time.count},
               {"operators", Json::array()}};
      for (const DelegateProfileRow& inside : time.inside) {
        row["operators"].push_back({{"name", inside.name},
                                    {"type", inside.type},
                                    {"implementation", inside.implementation},
                                    {"wall_us", inside.wall_us},
                                    {"cpu_us", inside.cpu_us}});
      }
      out["instructions"].push_back(std::move(row));
    }
    *json = json_string(out);
    return {};
  });
}
