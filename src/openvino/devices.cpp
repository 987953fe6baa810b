// What OpenVINO sees on this machine, and what stands in its way: for `pteron devices` and `pteron
// doctor`.
#include <cstdlib>
#include <memory>

#include "base/cpu.h"
#include "base/shared_library.h"
#include "openvino/core.h"
#include "openvino/device_problems.h"
#include "openvino/installation.h"
#include "openvino/openvino.h"
#include "openvino/status.h"

namespace pteron {
namespace {

DeviceReport describe_device(const OpenvinoLibrary& library, const ov::ov_core_t* core,
                             const std::string& name) {
  DeviceReport report;
  report.name = name;
  char* text = nullptr;
  const auto status = library->ov_core_get_property(core, name.c_str(), "FULL_DEVICE_NAME", &text);
  if (status != ov::ov_status_e::Ok) {
    report.error =
        openvino_error(library, Code::Failed, "it cannot be asked for its name", status).message;
    return report;
  }
  report.full_name = take_text(library, text);
  report.capabilities =
      split_words(device_property(library, core, name, "OPTIMIZATION_CAPABILITIES"));
  for (const char* key : {"GPU_DEVICE_TOTAL_MEM_SIZE", "NPU_DEVICE_TOTAL_MEM_SIZE"}) {
    if (name.rfind(std::string(key).substr(0, 3), 0) != 0) continue;
    report.memory_bytes =
        std::strtoll(device_property(library, core, name, key).c_str(), nullptr, 10);
  }
  return report;
}

using CorePointer = std::shared_ptr<ov::ov_core_t>;

Result<CorePointer> make_plain_core(const OpenvinoLibrary& library) {
  ov::ov_core_t* core = nullptr;
  if (const auto status = library->ov_core_create(&core); status != ov::ov_status_e::Ok) {
    return openvino_error(library, Code::Failed, "OpenVINO's core cannot be made", status);
  }
  return CorePointer(core, [&library](ov::ov_core_t* c) { library->ov_core_free(c); });
}

Result<std::vector<DeviceReport>> describe_devices(const OpenvinoLibrary& library,
                                                   const ov::ov_core_t* core) {
  PTERON_ASSIGN(const std::vector<std::string> names, available_devices(library, core));
  std::vector<DeviceReport> devices;
  devices.reserve(names.size());
  for (const std::string& name : names) devices.push_back(describe_device(library, core, name));
  return devices;
}

void explain_cores(OpenvinoReport& report) {
  const int usable = usable_cores();
  const int all = hardware_cores();
  if (usable >= all) return;
  report.problems.push_back(
      "this process may use " + std::string(usable == 1 ? "only " : "") + std::to_string(usable) +
      " of " + std::to_string(all) +
      " cores (its affinity, as taskset or KMP_AFFINITY set it, or a container's CPU quota): "
      "OpenVINO gets as many threads; widen the affinity or the quota, or set the threads "
      "yourself");
}

}  // namespace

Result<OpenvinoReport> list_devices(const std::string& library) {
  PTERON_ASSIGN(const OpenvinoLibrary* loaded, load_openvino(library));
  OpenvinoReport report;
  report.library = loaded->file();
  report.version = loaded->version_text();
  PTERON_ASSIGN(const CorePointer core, make_plain_core(*loaded));
  PTERON_ASSIGN(report.devices, describe_devices(*loaded, core.get()));
  report.ok = !report.devices.empty();
  return report;
}

OpenvinoReport inspect_openvino(const std::string& library) {
  OpenvinoReport report;
  OpenvinoSearch search = search_openvino(library);
  report.searched = std::move(search.steps);
  report.others = std::move(search.others);
  explain_cores(report);
  if (!search.library.ok()) {
    report.problems.push_back(search.library.error().message);
    return report;
  }
  const OpenvinoLibrary& loaded = **search.library;
  report.library = loaded.file();
  report.version = loaded.version_text();
  const auto core = make_plain_core(loaded);
  if (!core.ok()) {
    report.problems.push_back(core.error().message);
    return report;
  }
  auto devices = describe_devices(loaded, core->get());
  if (!devices.ok()) {
    report.problems.push_back(devices.error().message);
    return report;
  }
  report.devices = *std::move(devices);
  for (const DeviceReport& device : report.devices) {
    if (device.error.empty())
      report.ok = true;
    else
      report.problems.push_back("device " + device.name + ": " + device.error);
  }
  if (!report.ok)
    report.problems.push_back(
        "OpenVINO has no usable device; reinstall it with: pip install openvino");
  const bool has_cpu = std::any_of(
      report.devices.begin(), report.devices.end(),
      [](const DeviceReport& device) { return device.name == "CPU" && device.error.empty(); });
  if (!has_cpu) report.problems.push_back(explain_missing_cpu(loaded));
  if (const auto reads = check_reads_models(loaded, core->get()); !reads.ok()) {
    report.ok = false;
    report.problems.push_back(reads.error().message);
  }
  if (kThisOs == Os::Linux) {
    const bool has_level_zero = SharedLibrary::open("libze_loader.so.1").ok();
    for (std::string& problem : explain_missing_devices(report.devices, "/", has_level_zero))
      report.problems.push_back(std::move(problem));
  }
  return report;
}

}  // namespace pteron
