// Copies of arrays between a program's tensor and an OpenVINO port that differ in dtype or memory
// order, where no value is changed by it.
#pragma once

#include <optional>

#include "base/result.h"
#include "openvino/types.h"
#include "runtime/value.h"

namespace pteron {

// Our dtype for an OpenVINO element type; nothing if we have none.
std::optional<DType> dtype_of(ov::ov_element_type_e type);
const char* element_type_name(ov::ov_element_type_e type);

// Whether every value can be kept: the same dtype, integers to integers (checked value by value),
// bool to and from integers, floats to wider floats.
bool is_convertible(DType from, DType to);

// Copies a dense row-major array of `from` dtype into `tensor` (to its memory order), or the other
// way round. Fails with InvalidArgument, naming the element, if a value does not fit.
Result<void> copy_to_tensor(const void* from, DType dtype, Tensor& tensor);
Result<void> copy_from_tensor(const Tensor& tensor, void* to, DType dtype);

// A program's int, double or bool as one element: any of them as a float, rounded as PyTorch rounds
// a number of Python's; ints and bools as an integer, if the value fits.
bool takes_scalar(DType dtype, ValueKind kind);
Result<void> store_scalar(const Value& value, void* to, DType dtype);

}  // namespace pteron
