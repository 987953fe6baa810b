// NumPy's .npy format: one array with its dtype and shape.
//
// Everything in a file is doubted: the header's size and shape are held against the bytes that are
// there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "files.h"
#include "pteron/pteron.h"

namespace tools {

// A dense row-major array.
struct Array {
  pteron_dtype dtype = PTERON_FLOAT32;
  std::vector<int64_t> shape;
  std::vector<char> data;
};

// The array in the bytes of a .npy file; Fortran order is turned to row-major. `name` is for
// messages. Throws UsageError.
Array read_npy(std::string_view bytes, const std::string& name);

// The bytes of a .npy file, of the dtype that stored_dtype says.
std::string write_npy(const Array& array);

// What NumPy has in place of `dtype`, of the same size: uint16 for bfloat16, say; else `dtype`.
pteron_dtype stored_dtype(pteron_dtype dtype);

// The element at `data`, which may lie anywhere; of a complex one, its absolute value. Those that
// NumPy lacks and that are no 16-bit float are taken as stored_dtype.
double element_value(pteron_dtype dtype, const char* data);

}  // namespace tools
