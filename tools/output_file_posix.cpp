#include <fstream>
#include <system_error>

#include "output_file.h"

namespace tools {

std::unique_ptr<std::streambuf> create_file(const std::filesystem::path& path) {
  auto file = std::make_unique<std::filebuf>();
  if (file->open(path, std::ios::out | std::ios::binary) == nullptr) return nullptr;
  return file;
}

bool close_file(std::streambuf& file) {
  return static_cast<std::filebuf&>(file).close() != nullptr;
}

std::string replace_file(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code error;
  std::filesystem::rename(from, to, error);
  return error ? error.message() : "";
}

}  // namespace tools
