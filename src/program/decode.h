// Bytes of a .pte or .ptd file to plain structs: the only place where a file's contents are
// doubted.
//
// The format: docs/file_formats.md. Order of checks: identifier and extended header, FlatBuffers'
// verifier over the program's own bytes, then one pass that proves every field. What that pass
// builds is bounded by a constant times the file's size, however the file shares its tables.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "program/program.h"

namespace pteron {

struct DecodeLimits {
  // The most planned memory that one method may ask for, in bytes.
  uint64_t planned_memory = uint64_t{8} << 30;
};

// Bytes of a file and what keeps them alive. `bytes` is aligned to at least 16 (open_file and
// copy_bytes see to it).
struct FileBytes {
  Bytes bytes;
  std::shared_ptr<const void> storage;
  std::string origin;       // A path, or "memory": how messages name the file.
  bool is_mapping = false;  // Of the file itself, not a copy.
};

// Maps the file, or, with `copy`, reads it into memory (safe against a file that is cut or changed
// while we use it). Fails with Io and the system's reason, naming the path.
Result<FileBytes> open_file(const std::string& utf8_path, bool copy);

// Takes a copy if `bytes` is not aligned to 16, or if `copy` is set; otherwise the caller keeps
// the bytes alive and unchanged.
FileBytes wrap_bytes(Bytes bytes, bool copy, std::string origin = "memory");

// Fails with Malformed; the message names the file, the field, what it holds and what it may hold.
// For a file of another kind it says what the file looks like (a PNG, a zip, a .ptd, ...).
Result<Program> decode_program(FileBytes file, const DecodeLimits& limits = {});
Result<Weights> decode_weights(FileBytes file);

}  // namespace pteron
