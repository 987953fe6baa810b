#include <cstdint>

#include "base/mapped_file.h"
#include "program/decode.h"

namespace pteron {

Result<FileBytes> open_file(const std::string& utf8_path, bool copy) {
  PTERON_ASSIGN(FileContents contents, copy ? read_file(utf8_path) : map_file(utf8_path));
  return FileBytes{contents.bytes, std::move(contents.storage), utf8_path, contents.is_mapping};
}

FileBytes wrap_bytes(Bytes bytes, bool copy, std::string origin) {
  const bool aligned = reinterpret_cast<uintptr_t>(bytes.data()) % 16 == 0;
  if (!copy && aligned) return {bytes, nullptr, std::move(origin), false};
  FileContents contents = copy_bytes(bytes);
  return {contents.bytes, std::move(contents.storage), std::move(origin), false};
}

}  // namespace pteron
