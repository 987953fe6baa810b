// OpenVINO's answers as Results, with OpenVINO's own words in every error.
#pragma once

#include <string>

#include "base/result.h"
#include "openvino/library.h"

namespace pteron {

// `what` failed with `status`: the message has OpenVINO's text for this failure, on one line.
Error openvino_error(const OpenvinoLibrary& library, Code code, const std::string& what,
                     ov::ov_status_e status);

// A text of OpenVINO's to ov_free.
std::string take_text(const OpenvinoLibrary& library, char* text);

}  // namespace pteron
