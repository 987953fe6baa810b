// The outer shape of .pte and .ptd files: identifier, header, where the FlatBuffer and the segments
// lie. Internal to src/program.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "program/decode.h"

namespace pteron {

struct Container {
  Bytes flatbuffer;           // From the file's first byte: FlatBuffers' offsets count from there.
  uint64_t segment_base = 0;  // Segment offsets count from here; 0 if the file has no segments.
};

Result<Container> read_program_container(const FileBytes& file);
Result<Container> read_weights_container(const FileBytes& file);

// The bytes of a segment, or an error naming `what`.
Result<Bytes> segment_bytes(const FileBytes& file, const Container& container, uint64_t offset,
                            uint64_t size, const std::string& what);

// Malformed, with the file's name in front.
Error malformed(const FileBytes& file, std::string message);

// A counter of what decoding builds, so that a file which shares one table a million times cannot
// make it build more than a constant times the file's size.
class Budget {
 public:
  explicit Budget(size_t file_size) : left_(8 * static_cast<uint64_t>(file_size) + 65536) {}
  [[nodiscard]] bool take(uint64_t units) {
    if (units > left_) return false;
    left_ -= units;
    return true;
  }

 private:
  uint64_t left_;
};

}  // namespace pteron
