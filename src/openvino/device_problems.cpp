#include "openvino/device_problems.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string_view>
#include <system_error>

#include "base/paths.h"

namespace pteron {
namespace {

namespace fs = std::filesystem;

bool is_listed(const std::vector<DeviceReport>& devices, std::string_view kind) {
  return std::any_of(devices.begin(), devices.end(), [&](const DeviceReport& device) {
    return device.error.empty() && device.name.substr(0, kind.size()) == kind;
  });
}

bool has_file_with(const fs::path& folder, std::string_view prefix, std::string_view suffix) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = path_to_utf8(entry->path().filename());
    if (name.size() >= prefix.size() + suffix.size() && name.substr(0, prefix.size()) == prefix &&
        name.substr(name.size() - suffix.size()) == suffix) {
      return true;
    }
  }
  return false;
}

// What is wrong with the device nodes /dev/FOLDER/PREFIX*; empty if one of them can be opened.
std::string node_problem(const fs::path& root, std::string_view folder, std::string_view prefix) {
  const std::string shown = "/dev/" + std::string(folder);
  const fs::path place = root / "dev" / folder;
  std::error_code error;
  if (!fs::exists(place, error)) {
    return shown + " is not there (no such device, no driver for it, or a container that was not " +
           "started with --device " + shown + ")";
  }
  std::string problem = shown + " has no " + std::string(prefix) + "*";
  for (fs::directory_iterator entry(place, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = path_to_utf8(entry->path().filename());
    if (name.substr(0, prefix.size()) != prefix) continue;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> node(
        std::fopen(path_to_utf8(entry->path()).c_str(), "r+b"), &std::fclose);
    if (node) return "";
    problem = shown + "/" + name + " cannot be opened (" + std::generic_category().message(errno) +
              "); add the user to the group that owns it (render), in a container with --group-add";
  }
  return problem;
}

void add(std::vector<std::string>& problems, const char* kind, const std::string& first,
         const std::string& second) {
  if (first.empty() && second.empty()) return;
  problems.push_back("no " + std::string(kind) + ": " + first +
                     (first.empty() || second.empty() ? "" : "; and ") + second);
}

}  // namespace

std::vector<std::string> explain_missing_devices(const std::vector<DeviceReport>& devices,
                                                 const fs::path& root, bool has_level_zero) {
  std::vector<std::string> problems;
  if (!is_listed(devices, "GPU")) {
    const bool has_driver = has_file_with(root / "etc" / "OpenCL" / "vendors", "", ".icd");
    add(problems, "GPU", node_problem(root, "dri", "renderD"),
        has_driver ? ""
                   : "no OpenCL driver (/etc/OpenCL/vendors has no .icd file): install "
                     "intel-opencl-icd");
  }
  if (!is_listed(devices, "NPU")) {
    add(problems, "NPU", node_problem(root, "accel", "accel"),
        has_level_zero ? ""
                       : "libze_loader.so.1 cannot be loaded: install Level Zero and Intel's NPU "
                         "driver");
  }
  return problems;
}

}  // namespace pteron
