// Bytes as a .ptd file: the C interface takes weights by path.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <random>
#include <span>
#include <string>

namespace pteron::test {

class WeightsFile {
 public:
  WeightsFile() {
    std::random_device random;
    path_ = std::filesystem::temp_directory_path() /
            ("pteron-" + std::to_string(random()) + "-" + std::to_string(random()) + ".ptd");
  }
  ~WeightsFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  WeightsFile(const WeightsFile&) = delete;
  WeightsFile& operator=(const WeightsFile&) = delete;

  // Replaces the file's contents; the path.
  std::string write(std::span<const std::byte> bytes) {
    std::ofstream stream(path_, std::ios::binary | std::ios::trunc);
    stream.write(reinterpret_cast<const char*>(bytes.data()),
                 static_cast<std::streamsize>(bytes.size()));
    stream.close();
    return path_.string();
  }

 private:
  std::filesystem::path path_;
};

}  // namespace pteron::test
