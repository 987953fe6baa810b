// Recorded calls of operators with PyTorch's results (tests/data/operators.bin.gz), as
// tests/oracle/operators.py writes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"

namespace pteron {

// A tensor of a case; its elements lie in its own memory order.
struct CaseTensor {
  DType dtype = DType::Float32;
  std::vector<int32_t> sizes;
  std::vector<uint8_t> order;
  std::string data;
};

// One argument or output. `kind` is the letter of the file:
//   n none, i int, d double, b bool, g string, L ints, F doubles, Q bools, T tensor,
//   M tensor that the call changes, V list of tensors, v list of tensors or nones,
//   x (an output) nothing: PyTorch refuses the call; a tensor with room for an answer
struct CaseValue {
  char kind = 'n';
  int64_t integer = 0;
  double real = 0;
  std::string text;
  std::vector<int64_t> ints;  // Also bools.
  std::vector<double> reals;
  CaseTensor tensor;
  std::string changed;  // M: what the tensor holds after the call.
  std::vector<CaseValue> items;
};

struct Case {
  std::string name;
  std::vector<CaseValue> arguments;
  std::vector<CaseValue> outputs;
};

// Throws std::runtime_error if the file is not there or not whole.
std::vector<Case> read_cases(const std::string& path);

}  // namespace pteron
