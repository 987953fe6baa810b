// A folder of a test's own, with a space and a letter outside ASCII in its name, removed at the
// end.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/paths.h"

class TempFolder {
 public:
  TempFolder() {
    static std::atomic<int> number{0};
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    path_ =
        std::filesystem::temp_directory_path() /
        pteron::path_from_utf8("pteron té " + std::to_string(now) + "." + std::to_string(++number));
    std::filesystem::create_directories(path_);
    // The tests compare with resolved paths.
    path_ = std::filesystem::canonical(path_);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }
  std::string text() const { return pteron::path_to_utf8(path_); }

  // A file with `content`, and the folders that it needs.
  std::filesystem::path write(const std::filesystem::path& name,
                              const std::string& content = "") const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
    return file;
  }

 private:
  std::filesystem::path path_;
};
