// The accelerator of a program: what src/lowering makes of its instructions, compiled by
// src/openvino.
#pragma once

#include <memory>

#include "openvino/openvino.h"
#include "runtime/accelerator.h"

namespace pteron {

// everywhere: also what does not repay the time that compiling takes. Null in a build without
// OpenVINO.
std::shared_ptr<Accelerator> make_openvino_accelerator(OpenvinoOptions options, bool everywhere);

}  // namespace pteron
