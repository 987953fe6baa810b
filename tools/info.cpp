#include "commands.h"
#include "session.h"
#include "table.h"

namespace tools {
namespace {

std::string describe_value(const Json& value) {
  if (value["kind"] != "tensor")
    return value["kind"].get<std::string>() +
           (value.contains("value") ? " " + value["value"].dump() : "");
  std::string text = value["dtype"].get<std::string>() + " [";
  bool first = true;
  for (const Json& size : value["shape"]) {
    text +=
        std::string(first ? "" : ", ") + (value["dynamic"].get<bool>() ? "<=" : "") + size.dump();
    first = false;
  }
  return text + "]";
}

std::string where_it_runs(const Json& part, const char* available) {
  return part["available"].get<bool>() ? available : "MISSING";
}

std::string describe_method(const Json& method) {
  std::string out = "method " + method["name"].get<std::string>() + "\n";
  for (const char* side : {"inputs", "outputs"}) {
    for (const Json& value : method[side]) {
      out += std::string("  ") + (side[0] == 'i' ? "in   " : "out  ") +
             value["name"].get<std::string>() + "  " + describe_value(value) + "\n";
    }
  }
  std::vector<std::vector<std::string>> rows = {{"  part", "calls", "size", "runs on"}};
  for (const Json& delegate : method["delegates"]) {
    std::string specs;
    for (const auto& [key, value] : delegate["compile_specs"].items())
      specs += " " + key + "=" + value.get<std::string>();
    rows.push_back({"  " + delegate["id"].get<std::string>(), delegate["calls"].dump(),
                    format_bytes(delegate["payload_bytes"]),
                    where_it_runs(delegate, "OpenVINO") + specs});
  }
  for (const Json& op : method["operators"]) {
    rows.push_back({"  " + op["name"].get<std::string>(), op["calls"].dump(), "",
                    where_it_runs(op, "kernel")});
  }
  if (rows.size() > 1) out += format_table(rows);
  double planned = 0;
  for (const Json& buffer : method["planned_memory_bytes"]) planned += buffer.get<double>();
  out += "  planned memory " + format_bytes(planned) + ", constants " +
         format_bytes(method["constant_bytes"]) + "\n";
  for (const Json& weights : method["external_weights"]) {
    out += "  external weights " + weights["key"].get<std::string>() +
           (weights["found"].get<bool>() ? "" : "  MISSING (--weights)") + "\n";
  }
  return out;
}

}  // namespace

void info_command(const Options& options) {
  const ProgramHandle program = open_program(options);
  const Json info = call_json([&](char** json, pteron_error** error) {
    return pteron_program_info(program.get(), json, error);
  });
  if (options.json) return print_json(info);
  std::string out =
      info["file"].get<std::string>() + "  " + format_bytes(info["file_bytes"]) + "\n";
  for (const Json& method : info["methods"]) out += describe_method(method);
  for (const Json& data : info["named_data"]) {
    out +=
        "named data " + data["key"].get<std::string>() + "  " + format_bytes(data["bytes"]) + "\n";
  }
  print(out);
}

}  // namespace tools
