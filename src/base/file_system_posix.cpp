#include <system_error>

#include "base/file_system.h"
#include "base/paths.h"

namespace pteron {
namespace fs = std::filesystem;

FileStatus file_status(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) return {FileKind::Folder, {}};
  if (fs::is_regular_file(status)) return {FileKind::File, {}};
  if (fs::exists(status)) return {FileKind::Other, {}};
  return {FileKind::None, error ? error.message() : "no such file or folder"};
}

fs::path real_path(const fs::path& path) {
  std::error_code error;
  fs::path real = fs::canonical(path, error);
  if (error) real = fs::absolute(path, error);
  return error ? path : real;
}

bool is_same_file(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;
}

std::vector<FolderEntry> list_folder(const fs::path& folder) {
  std::vector<FolderEntry> entries;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    entries.push_back({path_to_utf8(entry->path().filename()), entry->is_directory(ignored)});
  }
  return entries;
}

}  // namespace pteron
