// An OpenVINO core with a device and its properties set: one a configuration, for the whole
// process.
//
// Properties are proved when the core is made: the device's plugin is loaded first (before that
// OpenVINO takes any key), then they are set one by one; a core that refused one is thrown away.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "openvino/library.h"
#include "openvino/openvino.h"

namespace pteron {

struct Core {
  const OpenvinoLibrary& library;
  ov::ov_core_t* handle;
  std::string device;                                           // As OpenVINO spells it.
  std::vector<std::pair<std::string, std::string>> properties;  // As asked for.
};

// "gpu.1 " to "GPU.1": OpenVINO's names are upper case.
std::string normalize_device(const std::string& name);

// Cores are kept to the end of the process. Thread-safe. Fails with Missing (no such device; the
// message lists the devices) or InvalidArgument (a property or precision, with OpenVINO's text).
Result<const Core*> find_core(const OpenvinoLibrary& library, const std::string& device,
                              const OpenvinoOptions& options);

// The devices that OpenVINO lists.
Result<std::vector<std::string>> available_devices(const OpenvinoLibrary& library,
                                                   const ov::ov_core_t* core);

// The value of a device's property; empty if the device does not have it.
std::string device_property(const OpenvinoLibrary& library, const ov::ov_core_t* core,
                            const std::string& device, const char* key);

// OpenVINO's lists of words ("FP32 BF16 INT8"), split.
std::vector<std::string> split_words(const std::string& text);

}  // namespace pteron
