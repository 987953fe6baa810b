// A model that OpenVINO has compiled or imported, as the runtime calls it.
#pragma once

#include <memory>
#include <vector>

#include "openvino/core.h"
#include "openvino/handle.h"
#include "runtime/delegate.h"

namespace pteron {

// staged: by output, whether it must not be written before the model has run; may be shorter. keep:
// what the model reads as long as it lives. Fails if OpenVINO does not tell its ports.
Result<std::shared_ptr<CompiledDelegate>> make_compiled_model(const Core& core,
                                                              CompiledModelHandle model,
                                                              std::vector<bool> staged,
                                                              std::shared_ptr<const void> keep);

}  // namespace pteron
