// A value of a running method: what instructions read and write.
//
// A value's kind is fixed when the method is loaded; only the contents change.
#pragma once

#include <cstdint>

#include "program/program.h"
#include "runtime/tensor.h"

namespace pteron {

enum class ValueKind : uint8_t {
  None,
  Tensor,
  Int,
  Double,
  Bool,
  String,
  IntList,
  DoubleList,
  BoolList,
  TensorList,
  OptionalTensorList,
};

// "tensor", "int", "list of ints", ...
const char* value_kind_name(ValueKind kind);

// The kind that a decoded definition becomes.
ValueKind value_kind(const ValueDef& def);

struct Value {
  ValueKind kind = ValueKind::None;
  union {
    int64_t integer = 0;
    double real;
    bool boolean;
    Tensor* tensor;  // Owned by the method. A MoveCall makes two values share one.
    // Strings and lists stay in the program; lists of ints and tensors name other values.
    const std::string* string;
    const IntList* ints;
    const DoubleList* reals;
    const BoolList* booleans;
    const TensorList* tensors;
    const OptionalTensorList* optional_tensors;
  };
};

}  // namespace pteron
