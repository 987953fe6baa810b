// Why a GPU or an NPU is not listed on Linux: what its driver needs and this machine, or this
// container, lacks.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "openvino/openvino.h"

namespace pteron {

// Each kind of device that `devices` lacks, with all that is missing for it and the remedy. `root`
// is "/", but in tests.
std::vector<std::string> explain_missing_devices(const std::vector<DeviceReport>& devices,
                                                 const std::filesystem::path& root,
                                                 bool has_level_zero);

}  // namespace pteron
