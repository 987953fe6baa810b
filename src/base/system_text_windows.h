// Windows's texts: UTF-8 to wide and back, and error numbers to words. Included by *_windows.cpp
// only.
#pragma once

#include <string>
#include <string_view>

namespace pteron {

std::wstring wide_from_utf8(std::string_view utf8);
std::string utf8_from_wide(std::wstring_view wide);

// The system's text for an error of GetLastError, with the number: "Access is denied (error 5)".
std::string system_error_text(unsigned long number);

}  // namespace pteron
