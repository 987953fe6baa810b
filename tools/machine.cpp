// pteron devices and pteron doctor.
#include "commands.h"
#include "session.h"
#include "table.h"
#include "text.h"

namespace tools {
namespace {

std::string join(const Json& list) {
  std::string text;
  for (const Json& item : list) {
    if (!text.empty()) text += " ";
    text += item.get<std::string>();
  }
  return text;
}

std::string device_table(const Json& devices) {
  std::vector<std::vector<std::string>> rows = {{"device", "name", "can do", "memory"}};
  for (const Json& device : devices) {
    rows.push_back({device["name"],
                    device.contains("error") ? device["error"] : device["full_name"],
                    join(device["capabilities"]),
                    device.contains("memory_bytes") ? format_bytes(device["memory_bytes"]) : ""});
  }
  return format_table(rows);
}

}  // namespace

void devices_command(const Options& options) {
  const ProgramOptions program_options(options);
  const Json json = call_json([&](char** text, pteron_error** error) {
    return pteron_devices(program_options.get(), text, error);
  });
  if (options.json) return print_json(json);
  print(device_table(json["devices"]) + "OpenVINO " +
        json["openvino"]["version"].get<std::string>() + "\n  " +
        escaped(json["openvino"]["file"].get<std::string>()) + "\n");
}

bool doctor_command(const Options& options) {
  const ProgramOptions program_options(options);
  const Json json = call_json([&](char** text, pteron_error** error) {
    return pteron_doctor(program_options.get(), text, error);
  });
  const bool ok = json["ok"];
  if (options.json) {
    print_json(json);
    return ok;
  }
  std::string out = "pteron " + json["pteron"]["version"].get<std::string>() + "\n";
  if (!json["searched"].empty()) {
    std::vector<std::vector<std::string>> rows = {{"looked for OpenVINO in", "and found"}};
    for (const Json& step : json["searched"]) rows.push_back({step["place"], step["outcome"]});
    out += format_table(rows);
  }
  if (json.contains("openvino") && !json["openvino"]["file"].get<std::string>().empty()) {
    out += "OpenVINO " + json["openvino"]["version"].get<std::string>() + "\n  " +
           escaped(json["openvino"]["file"].get<std::string>()) + "\n";
  }
  for (const Json& other : json["others"])
    out += "another copy, not used: " + escaped(other.get<std::string>()) + "\n";
  if (!json["devices"].empty()) out += device_table(json["devices"]);
  for (const Json& problem : json["problems"])
    out += "note: " + escaped(problem.get<std::string>()) + "\n";
  print(out +
        (ok ? "A program can run on OpenVINO here.\n" : "No program can run on OpenVINO here.\n"));
  return ok;
}

}  // namespace tools
