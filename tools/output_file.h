// A file that is being written, and its change into the one that was asked for.
//
// One header, two implementations: output_file_posix.cpp and output_file_windows.cpp.
#pragma once

#include <filesystem>
#include <memory>
#include <streambuf>
#include <string>

namespace tools {

// Creates or empties the file. On Windows it can be removed while it is open, unlike one of the C++
// library's. Null, and errno, if that fails; a failed write sets errno too.
std::unique_ptr<std::streambuf> create_file(const std::filesystem::path& path);

// Writes what is still held back and closes. False, and errno, if that fails.
bool close_file(std::streambuf& file);

// Gives `from` the name `to`, whatever had it. Empty, or why that cannot be done.
std::string replace_file(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace tools
