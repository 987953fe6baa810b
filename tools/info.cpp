#include <algorithm>

#include "commands.h"
#include "session.h"
#include "table.h"
#include "text.h"

namespace tools {
namespace {

// A name out of the file, fit for one line.
std::string text_of(const Json& name) { return escaped(name.get<std::string>()); }

std::string describe_value(const Json& value) {
  if (value["kind"] != "tensor")
    return value["kind"].get<std::string>() +
           (value.contains("value") ? std::string(" ").append(value["value"].dump()) : "");
  std::string text = value["dtype"].get<std::string>() + " [";
  bool first = true;
  for (const Json& size : value["shape"]) {
    const bool is_bound = value["dynamic"].get<bool>() && size.get<int64_t>() > 1;
    text += std::string(first ? "" : ", ") + (is_bound ? "<=" : "") + size.dump();
    first = false;
  }
  return text + "]";
}

constexpr const char* kOpenvinoId = "OpenvinoBackend";

std::string where_it_runs(const Json& part, const std::string& available) {
  return part["available"].get<bool>() ? available : "MISSING";
}

bool has_openvino_part(const Json& info) {
  for (const Json& method : info["methods"]) {
    for (const Json& delegate : method["delegates"]) {
      if (delegate["id"] == kOpenvinoId) return true;
    }
  }
  return false;
}

// The library tells what it can run where OpenVINO is; here is none.
void take_openvino_away(Json& info) {
  for (Json& method : info["methods"]) {
    for (Json& delegate : method["delegates"]) {
      if (delegate["id"] == kOpenvinoId) delegate["available"] = false;
    }
    Json& runs = method["runs"];
    for (Json& part : runs["parts"]) {
      if (part["part"] != kOpenvinoId || part["ran_by"] == "") continue;
      part["ran_by"] = "";
      runs["ready"] = false;
      if (std::find(runs["missing_delegates"].begin(), runs["missing_delegates"].end(),
                    kOpenvinoId) == runs["missing_delegates"].end())
        runs["missing_delegates"].push_back(kOpenvinoId);
    }
  }
}

// Whether OpenVINO lists the device: "GPU" stands for "GPU.0" and its like. What it makes of
// several
// ("AUTO:GPU,CPU") is for it to say.
bool has_device(const Json& devices, const std::string& name) {
  if (name.find(':') != std::string::npos) return true;
  return std::any_of(devices.begin(), devices.end(), [&](const Json& device) {
    const std::string own = device["name"];
    return own == name || own.rfind(name + ".", 0) == 0 || name == own + ".0";
  });
}

void look_for_openvino(Json& info, const Options& options) {
  if (asked_device(options) == "NONE") return take_openvino_away(info);
  const ProgramOptions program_options(options);
  const Json found = call_json([&](char** json, pteron_error** error) {
    return pteron_doctor(program_options.get(), json, error);
  });
  info["openvino"] = found["openvino"];
  info["openvino"]["ok"] = found["ok"];
  info["openvino"]["problems"] = found["problems"];
  const std::string device = asked_device(options);
  if (found["ok"] && !device.empty() && !has_device(found["devices"], device)) {
    info["openvino"]["ok"] = false;
    info["openvino"]["problems"].push_back("there is no device " + device +
                                           "; pteron devices lists those there are");
  }
  if (!info["openvino"]["ok"]) take_openvino_away(info);
}

// What of the methods' own operators OpenVINO would run, found by compiling them. A method that
// does not load says so elsewhere.
void look_at_acceleration(Json& info, const ProgramHandle& program, const Options& options) {
  if (options.accelerate == "off" || asked_device(options) == "NONE") return;
  for (Json& method : info["methods"]) {
    if (method["operators"].empty() || !method["runs"]["ready"].get<bool>()) continue;
    Options one = options;
    one.method = method["name"];
    try {
      const MethodHandle loaded = load_method(program, one);
      const Json whole = call_json([&](char** json, pteron_error** error) {
        return pteron_method_execution(loaded.get(), json, error);
      });
      method["accelerated"] = whole["accelerated"];
    } catch (const std::exception&) {
    }
  }
}

bool is_any_accelerated(const Json& info) {
  const auto& methods = info["methods"];
  return std::any_of(methods.begin(), methods.end(), [](const Json& method) {
    return method.contains("accelerated") && !method["accelerated"]["regions"].empty();
  });
}

// "kernel", "compiled for OpenVINO", or how many of each; and why not all.
std::string where_operator_runs(const Json& method, const Json& op) {
  if (!op["available"].get<bool>()) return "MISSING";
  if (!method.contains("accelerated")) return "kernel";
  for (const Json& row : method["accelerated"]["operators"]) {
    if (row["name"] != op["name"]) continue;
    if (row["compiled"] == 0 && row["reasons"].empty()) return "kernel";
    std::string text = "compiled for OpenVINO";
    if (row["compiled"] == 0)
      text = "kernel";
    else if (row["kernels"] > 0)
      text =
          row["compiled"].dump() + " compiled for OpenVINO, " + row["kernels"].dump() + " kernel";
    for (size_t i = 0; i < row["reasons"].size(); ++i)
      text += (i == 0 ? ": " : "; ") + escaped(row["reasons"][i].get<std::string>());
    return text;
  }
  return "kernel";
}

// Why nothing of a method is compiled, if it is one thing for all of its operators.
std::string why_nothing_is_compiled(const Json& method) {
  if (!method.contains("accelerated") || !method["accelerated"]["regions"].empty()) return {};
  std::string why;
  for (const Json& row : method["accelerated"]["operators"]) {
    for (const Json& reason : row["reasons"]) {
      const auto text = reason.get<std::string>();
      if (!why.empty() && why != text) return {};
      why = text;
    }
  }
  return why;
}

std::string describe_method(const Json& method, const std::string& openvino) {
  std::string out = "method " + text_of(method["name"]) + "\n";
  for (const char* side : {"inputs", "outputs"}) {
    for (const Json& value : method[side]) {
      out += std::string("  ") + (side[0] == 'i' ? "in   " : "out  ") + text_of(value["name"]) +
             "  " + describe_value(value) + "\n";
    }
  }
  std::vector<std::vector<std::string>> rows = {{"  part", "calls", "size", "runs on"}};
  for (const Json& delegate : method["delegates"]) {
    std::string specs;
    for (const auto& [key, value] : delegate["compile_specs"].items())
      specs += " " + key + "=" + value.get<std::string>();
    // "OpenVINO 2026.4.1", "an OpenVINO before 2026", or what is wrong with the blob.
    const std::string made_by = delegate.value("made_by", "");
    rows.push_back({"  " + delegate["id"].get<std::string>(), delegate["calls"].dump(),
                    format_bytes(delegate["payload_bytes"]),
                    where_it_runs(delegate, openvino) + specs +
                        (made_by.find("OpenVINO") <= 3
                             ? " made by " + escaped(made_by.substr(0, made_by.find(" (")))
                             : "")});
  }
  const std::string why = why_nothing_is_compiled(method);
  for (const Json& op : method["operators"]) {
    rows.push_back({"  " + op["name"].get<std::string>(), op["calls"].dump(), "",
                    why.empty()                   ? where_operator_runs(method, op)
                    : op["available"].get<bool>() ? "kernel"
                                                  : "MISSING"});
  }
  if (rows.size() > 1) out += format_table(rows);
  if (!why.empty()) out += "  not compiled for OpenVINO: " + escaped(why) + "\n";
  double planned = 0;
  for (const Json& buffer : method["planned_memory_bytes"]) planned += buffer.get<double>();
  out += "  planned memory " + format_bytes(planned) + ", constants " +
         format_bytes(method["constant_bytes"]) + "\n";
  for (const Json& weights : method["external_weights"]) {
    out += "  external weights " + text_of(weights["key"]) +
           (weights["found"].get<bool>() ? "" : "  MISSING (--weights)") + "\n";
  }
  return out;
}

}  // namespace

void info_command(const Options& options) {
  const ProgramHandle program = open_program(options);
  Json info = call_json([&](char** json, pteron_error** error) {
    return pteron_program_info(program.get(), json, error);
  });
  info["notes"] = Json::array();
  look_at_acceleration(info, program, options);
  if (is_any_accelerated(info))
    look_for_openvino(info, options);
  else if (!has_openvino_part(info))
    info["notes"] = notes_without_openvino(options, "the program");
  else
    look_for_openvino(info, options);
  say_notes(options, info["notes"]);
  if (options.json) return print_json(info);
  std::string out = text_of(info["file"]) + "  " + format_bytes(info["file_bytes"]) + "\n";
  std::string openvino = "OpenVINO";
  if (info.contains("openvino")) {
    // Without the build's number and branch.
    const std::string version = info["openvino"]["version"];
    openvino += " " + version.substr(0, version.find('-'));
    if (!info["openvino"]["ok"]) say_notes(options, info["openvino"]["problems"]);
  }
  for (const Json& method : info["methods"]) out += describe_method(method, openvino);
  for (const Json& data : info["named_data"]) {
    out += "named data " + text_of(data["key"]) + "  " + format_bytes(data["bytes"]) + "\n";
  }
  print(out);
}

}  // namespace tools
