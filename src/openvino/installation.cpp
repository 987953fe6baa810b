#include "openvino/installation.h"

#include <string>

#include "base/paths.h"
#include "openvino/handle.h"
#include "openvino/status.h"

namespace pteron {
namespace {

// y = x, of one float32.
constexpr char kSmallestModel[] =
    R"(<?xml version="1.0"?><net name="smallest" version="11"><layers>)"
    R"(<layer id="0" name="x" type="Parameter" version="opset1">)"
    R"(<data shape="1" element_type="f32"/>)"
    R"(<output><port id="0" precision="FP32"><dim>1</dim></port></output></layer>)"
    R"(<layer id="1" name="y" type="Result" version="opset1">)"
    R"(<input><port id="0" precision="FP32"><dim>1</dim></port></input></layer></layers>)"
    R"(<edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges></net>)";

constexpr const char* kReinstall = "install OpenVINO anew (pip install --force-reinstall openvino)";

// "libopenvino_ir_frontend.so.2541" beside "libopenvino_c.so.2541".
std::string part_beside(const std::string& c_library, const char* part) {
  std::string path = path_to_utf8(path_from_utf8(c_library).filename());
  const std::string c_name = "openvino_c";
  if (const size_t at = path.find(c_name); at != std::string::npos)
    path.replace(at, c_name.size(), part);
  return path;
}

}  // namespace

Result<void> check_reads_models(const OpenvinoLibrary& library, const ov::ov_core_t* core) {
  ov::ov_model_t* raw = nullptr;
  const auto status = library->ov_core_read_model_from_memory_buffer(
      core, kSmallestModel, sizeof kSmallestModel - 1, nullptr, &raw);
  const ModelHandle model(library, raw);
  if (status == ov::ov_status_e::Ok) return {};
  return openvino_error(library, Code::Missing,
                        "this OpenVINO reads no model, not even the smallest: " +
                            part_beside(library.file(), "openvino_ir_frontend") + " beside " +
                            library.file() + " is missing or broken; " + kReinstall,
                        status);
}

std::string explain_missing_cpu(const OpenvinoLibrary& library) {
  std::string plugin = part_beside(library.file(), "openvino_intel_cpu_plugin");
  // Plugins have no version in their names, unlike the library.
  if (const size_t at = plugin.find(".so."); at != std::string::npos) plugin.resize(at + 3);
  return "this OpenVINO has no CPU, which every machine has: " + plugin + " beside " +
         library.file() + " is missing or broken; " + kReinstall;
}

}  // namespace pteron
