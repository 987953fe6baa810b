// Whole files, read and written; the names are UTF-8.
//
// A file that is written is there whole, or as it was before.
#pragma once

#include <functional>
#include <iosfwd>
#include <stdexcept>
#include <string>

namespace tools {

// The user's mistake: an unreadable or wrong file, a bad option. The command ends with status 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws UsageError with the system's reason; a folder, pipe or device is refused at once.
std::string read_file(const std::string& path);

// Whether both names lead to one file that is there: by links of either kind too.
bool is_same_file(const std::string& a, const std::string& b);

// Creates or replaces the file with what `write` puts into the stream. A pipe or device is written
// to as it is. Throws UsageError with the system's reason.
void write_file(const std::string& path, const std::function<void(std::ostream&)>& write);

}  // namespace tools
