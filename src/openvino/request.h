// One infer request of a compiled model, serving one delegate call of a method.
#pragma once

#include <memory>
#include <vector>

#include "openvino/handle.h"
#include "openvino/port.h"
#include "runtime/delegate.h"
#include "runtime/memory.h"

namespace pteron {

// Makes the request for a call whose arguments have been checked against the ports. `ports` and the
// library outlive it; `model` is kept. `staged`: by output, whether it is written only when the
// model has run.
Result<std::unique_ptr<DelegateInstance>> make_request(
    const OpenvinoLibrary& library, std::shared_ptr<const CompiledModelHandle> model,
    const Ports& ports, const Args& args, const std::vector<bool>& staged = {});

}  // namespace pteron
