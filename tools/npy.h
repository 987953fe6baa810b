// NumPy's .npy format: one array with its dtype and shape.
//
// Everything in a file is doubted: the header's size and shape are held against the bytes that are
// there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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

// What a .npy file says of its array.
struct NpyHeader {
  pteron_dtype dtype = PTERON_FLOAT32;
  std::vector<int64_t> shape;
  bool fortran_order = false;
  size_t bytes = 0;  // Of the array.
};

// Looks at a header before memory is taken for its array; throws what is wrong with it.
using NpyCheck = std::function<void(const NpyHeader&)>;

// How many bytes lie before the array, from the first kNpyStart bytes of the file. Throws
// UsageError; `name` is for messages.
constexpr size_t kNpyStart = 12;
size_t npy_data_start(std::string_view start, const std::string& name);

// The header in the bytes before the array. Throws UsageError.
NpyHeader read_npy_header(std::string_view head, const std::string& name);

// The array of this header, with its elements as the file has them; Fortran order is turned to
// row-major.
Array make_array(const NpyHeader& header, std::vector<char> elements);

// The array in the bytes of a .npy file. Throws UsageError.
Array read_npy(std::string_view bytes, const std::string& name, const NpyCheck& check = nullptr);

// The bytes of a .npy file, of the dtype that stored_dtype says.
std::string write_npy(const Array& array);

// What NumPy has in place of `dtype`, of the same size: uint16 for bfloat16, say; else `dtype`.
pteron_dtype stored_dtype(pteron_dtype dtype);

// The element at `data`, which may lie anywhere; of a complex one, its absolute value. Those that
// NumPy lacks and that are no 16-bit float are taken as stored_dtype.
double element_value(pteron_dtype dtype, const char* data);

}  // namespace tools
