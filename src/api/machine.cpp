// Devices and the doctor: what this machine has for OpenVINO.
#include "api/json.h"

#ifdef PTERON_HAS_OPENVINO
#include "openvino/openvino.h"
#endif

using namespace pteron;

namespace {

#ifdef PTERON_HAS_OPENVINO
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
#else
constexpr const char* kNoOpenvino = "this library was built without OpenVINO (PTERON_OPENVINO=OFF)";
#endif

}  // namespace

pteron_status pteron_devices(const pteron_program_options* options, char** json,
                             pteron_error** error) {
  return guarded(error, [&]() -> Result<void> {
    if (json == nullptr) return null_argument("json");
    PTERON_ASSIGN(const std::string path, read_openvino_path(options));
#ifdef PTERON_HAS_OPENVINO
    PTERON_ASSIGN(const OpenvinoReport report, list_devices(path));
    *json = json_string(report_json(report));
    return {};
#else
    return Error{Code::Missing, kNoOpenvino};
#endif
  });
}

pteron_status pteron_doctor(const pteron_program_options* options, char** json,
                            pteron_error** error) {
  return guarded(error, [&]() -> Result<void> {
    if (json == nullptr) return null_argument("json");
    PTERON_ASSIGN(const std::string path, read_openvino_path(options));
#ifdef PTERON_HAS_OPENVINO
    const OpenvinoReport report = inspect_openvino(path);
    Json out = report_json(report);
    out["ok"] = report.ok;
    out["searched"] = Json::array();
    for (const SearchStep& step : report.searched) {
      out["searched"].push_back({{"place", step.place}, {"outcome", step.outcome}});
    }
    out["others"] = report.others;
    out["problems"] = report.problems;
#else
    Json out{{"format", 1}, {"ok", false}, {"problems", {kNoOpenvino}}, {"searched", Json::array()},
             {"devices", Json::array()}, {"others", Json::array()}};
#endif
    out["pteron"] = {{"version", PTERON_VERSION}, {"abi", PTERON_ABI_VERSION}};
    *json = json_string(out);
    return {};
  });
}

pteron_status pteron_add_openvino_path(const char* path, pteron_error** error) {
  return guarded(error, [&]() -> Result<void> {
    if (path == nullptr || *path == '\0') return null_argument("path");
#ifdef PTERON_HAS_OPENVINO
    add_openvino_path(path);
#endif
    return {};
  });
}
