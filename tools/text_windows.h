// Windows's texts and paths, for the command. Included by *_windows.cpp only.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace tools {

std::string utf8_from_wide(std::wstring_view wide);

// The path for a function of the system: from 260 characters on it has to have \\?\ before it.
std::wstring long_path(const std::filesystem::path& path);

// The system's text for an error of GetLastError, as one line with the number.
std::string system_error_text(unsigned long number);

}  // namespace tools
