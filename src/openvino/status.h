// OpenVINO's answers as Results, with OpenVINO's own words in every error.
#pragma once

#include <string>

#include "base/result.h"
#include "openvino/library.h"

namespace pteron {

// `what` failed with `status`: the message has OpenVINO's text for this failure, on one line.
Error openvino_error(const OpenvinoLibrary& library, Code code, const std::string& what,
                     ov::ov_status_e status);

// The same, with OpenVINO's text as take_last_error() gave it.
Error openvino_error(const OpenvinoLibrary& library, Code code, const std::string& what,
                     ov::ov_status_e status, const std::string& text);

// OpenVINO's own text for the failure that just happened, printable; its name for the status if it
// has no text. The text is the process's last one: another thread's failure may have replaced it.
std::string take_last_error(const OpenvinoLibrary& library, ov::ov_status_e status);

// One line of UTF-8 without control characters, of at most a thousand bytes: OpenVINO's texts quote
// whatever a damaged blob holds.
std::string printable(const std::string& text);

// A text of OpenVINO's to ov_free.
std::string take_text(const OpenvinoLibrary& library, char* text);

}  // namespace pteron
