// Whether an OpenVINO that loaded has what it needs to run a model.
#pragma once

#include <string>

#include "base/result.h"
#include "openvino/library.h"

namespace pteron {

// Lets OpenVINO read the smallest model there is. Its reader is a library of its own, loaded only
// then; OpenVINO blames the model where it is missing. Takes under a millisecond once the reader is
// loaded. Fails with Missing, naming the library.
Result<void> check_reads_models(const OpenvinoLibrary& library, const ov::ov_core_t* core);

// Why an OpenVINO has no CPU, which every machine has, and what to do.
std::string explain_missing_cpu(const OpenvinoLibrary& library);

}  // namespace pteron
