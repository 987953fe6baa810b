// NumPy's .npz format: a zip archive of .npy files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "npy.h"

namespace tools {

// An archive that is read, entry by entry: stored and deflated ones, zip64 sizes too.
class NpzFile {
 public:
  // Reads the file and its directory. Throws UsageError.
  explicit NpzFile(std::string path);

  // Of the arrays, in the archive's order, without ".npy".
  const std::vector<std::string>& names() const { return names_; }

  // Unpacks array `index`. No more memory is taken than its own header says, and none before
  // `check` has seen that. Throws UsageError.
  Array read(size_t index, const NpyCheck& check = nullptr) const;

 private:
  struct Entry {
    uint64_t method = 0;
    uint64_t crc = 0;
    uint64_t packed = 0;
    uint64_t size = 0;
    uint64_t offset = 0;
  };

  void read_directory();
  void read_zip64(std::string_view extra, Entry& entry) const;
  std::string_view packed_bytes(const Entry& entry) const;
  [[noreturn]] void damaged() const;

  std::string path_;
  std::string zip_;
  std::vector<Entry> entries_;
  std::vector<std::string> names_;
};

using NamedArrays = std::vector<std::pair<std::string, Array>>;  // In the archive's order.

// All arrays of an archive. Throws UsageError.
NamedArrays read_npz(const std::string& path);

// Writes stored entries. Throws UsageError.
void write_npz(const std::string& path, const NamedArrays& arrays);

}  // namespace tools
