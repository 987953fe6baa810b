// The bytes of a file: mapped read-only, or read into memory.
//
// One header, two implementations. The bytes are aligned to at least 16.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace pteron {

struct FileContents {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> storage;  // Keeps `bytes` alive.
  bool is_mapping = false;              // Of the file itself, not a copy.
};

// Maps the regular file at `utf8_path`. The mapping follows the file: if somebody cuts the file
// short, reading past its new end kills the process (SIGBUS), which only a copy avoids.
// Fails with Io: path and the system's reason; a folder, pipe or device is refused at once.
Result<FileContents> map_file(const std::string& utf8_path);

// Reads the whole regular file into memory. Fails as map_file does.
Result<FileContents> read_file(const std::string& utf8_path);

// Gives the memory of whole pages inside `part` of `file.bytes` back to the system; they are read
// from the file again when next used. Does nothing for a copy.
void release_pages(const FileContents& file, std::span<const std::byte> part);

// A copy of `bytes` of our own, aligned to 64.
FileContents copy_bytes(std::span<const std::byte> bytes);

}  // namespace pteron
