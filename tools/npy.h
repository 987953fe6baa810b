// NumPy's .npy format: one array with its dtype and shape.
//
// Everything in a file is doubted: the header's size and shape are held against the bytes that are
// there.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "pteron/pteron.h"

namespace tools {

// The user's mistake: an unreadable or wrong file, a bad option. The command ends with status 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A dense row-major array. bfloat16 is stored as uint16, which is all that NumPy has for it.
struct Array {
  pteron_dtype dtype = PTERON_FLOAT32;
  std::vector<int64_t> shape;
  std::vector<char> data;
};

// The array in the bytes of a .npy file; Fortran order is turned to row-major. `name` is for
// messages. Throws UsageError.
Array read_npy(std::string_view bytes, const std::string& name);

// The bytes of a .npy file.
std::string write_npy(const Array& array);

// A whole file; throws UsageError with the system's reason.
std::string read_file(const std::string& path);

}  // namespace tools
