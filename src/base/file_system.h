// What a search asks of the file system, for paths of any length: on Windows std::filesystem ends
// at 260 characters, and its texts are not UTF-8.
//
// One header, two implementations.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace pteron {

enum class FileKind { None, File, Folder, Other };

struct FileStatus {
  FileKind kind = FileKind::None;
  std::string problem;  // Of None: the system's words.
};

// Links are followed.
FileStatus file_status(const std::filesystem::path& path);

// The absolute path with its links resolved, or only absolute where the file cannot be opened.
std::filesystem::path real_path(const std::filesystem::path& path);

// Whether both name one file or folder that is there.
bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b);

struct FolderEntry {
  std::string name;  // UTF-8
  bool is_folder;    // Links are followed.
};

// In no order; empty if the folder cannot be read.
std::vector<FolderEntry> list_folder(const std::filesystem::path& folder);

}  // namespace pteron
