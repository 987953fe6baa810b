// What this library has, and what this machine has for OpenVINO: devices and the doctor.
#include <algorithm>

#include "api/json.h"
#include "api/options.h"
#include "kernels/tables.h"
#include "openvino/openvino.h"

using namespace pteron;

namespace {

Json device_json(const DeviceReport& device) {
  Json json{{"name", device.name},
            {"full_name", device.full_name},
            {"capabilities", device.capabilities}};
  if (device.memory_bytes > 0) json["memory_bytes"] = device.memory_bytes;
  if (!device.error.empty()) json["error"] = device.error;
  return json;
}

Json report_json(const OpenvinoReport& report) {
  Json json{{"format", 1}, {"openvino", {{"version", report.version}, {"file", report.library}}}};
  json["devices"] = Json::array();
  for (const DeviceReport& device : report.devices) json["devices"].push_back(device_json(device));
  return json;
}

}  // namespace

pteron_status pteron_registered(char** json, pteron_error** error) {
  return guarded(error, [&]() -> Result<void> {
    if (json == nullptr) return null_argument("json");
    Json delegates = Json::array();
#ifdef PTERON_HAS_OPENVINO
    delegates.push_back("OpenvinoBackend");
#endif
    std::vector<std::string_view> operators;
    for (const auto& table : all_kernels()) {
      for (const Kernel& kernel : table) operators.push_back(kernel.name);
    }
    std::sort(operators.begin(), operators.end());
    *json = json_string({{"format", 1}, {"delegates", delegates}, {"operators", operators}});
    return {};
  });
}

pteron_status pteron_devices(const pteron_program_options* options, char** json,
                             pteron_error** error) {
  return guarded(error, [&]() -> Result<void> {
    if (json == nullptr) return null_argument("json");
    PTERON_ASSIGN(const std::string path, read_openvino_path(options));
    PTERON_ASSIGN(const OpenvinoReport report, list_devices(path));
    *json = json_string(report_json(report));
    return {};
  });
}

pteron_status pteron_doctor(const pteron_program_options* options, char** json,
                            pteron_error** error) {
  return guarded(error, [&]() -> Result<void> {
    if (json == nullptr) return null_argument("json");
    PTERON_ASSIGN(const std::string path, read_openvino_path(options));
    const OpenvinoReport report = inspect_openvino(path);
    Json out = report_json(report);
    out["ok"] = report.ok;
    out["searched"] = Json::array();
    for (const SearchStep& step : report.searched) {
      out["searched"].push_back({{"place", step.place}, {"outcome", step.outcome}});
    }
    out["others"] = report.others;
    out["problems"] = report.problems;
    out["pteron"] = {{"version", PTERON_VERSION}, {"abi", PTERON_ABI_VERSION}};
    *json = json_string(out);
    return {};
  });
}

pteron_status pteron_add_openvino_path(const char* path, pteron_error** error) {
  return guarded(error, [&]() -> Result<void> {
    if (path == nullptr) return null_argument("path");
    if (*path == '\0') return Error{Code::InvalidArgument, "the argument path is empty"};
    add_openvino_path(path);
    return {};
  });
}

pteron_status pteron_set_openvino_remedy(const char* remedy, pteron_error** error) {
  return guarded(error, [&]() -> Result<void> {
    set_openvino_remedy(remedy == nullptr ? "" : remedy);
    return {};
  });
}
