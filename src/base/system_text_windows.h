// Windows's texts: UTF-8 to wide and back, paths for its functions, and error numbers to words.
// Included by *_windows.cpp only.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace pteron {

// What is no UTF-8, or no UTF-16, becomes U+FFFD.
std::wstring wide_from_utf8(std::string_view utf8);
std::string utf8_from_wide(std::wstring_view wide);

// The path for a function of the system, whatever its length: absolute, with backslashes, and from
// 260 characters on with \\?\ before it.
std::wstring system_path(const std::filesystem::path& path);

// A path of the system's without \\?\ before it, as everybody else writes it.
std::filesystem::path plain_path(std::wstring_view system_path);

// The system's text for an error of GetLastError, as one line with the number: "Access is denied.
// (error 5)".
std::string system_error_text(unsigned long number);

}  // namespace pteron
