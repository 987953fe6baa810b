// Recorded calls against what came out, in words.
#pragma once

#include <string>

#include "case_file.h"

namespace pteron {

// What differs between two elements, or nothing. float32 and float64 may differ by `least`
// (relative, with a floor of 1), float16 and bfloat16 by two of their last places.
std::string compare_element(DType dtype, const char* got, const char* wanted, double least);

// The call with its arguments.
std::string describe(const Case& one);

// Outputs that PyTorch itself leaves undefined.
bool is_undefined(const Case& one, size_t output);
// Whether PyTorch refuses the call.
bool is_refused(const Case& one);

}  // namespace pteron
