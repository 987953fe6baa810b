// What PyTorch computes in where operands are of several dtypes, and what OpenVINO does.
#pragma once

#include <initializer_list>

#include "lowering/rules.h"

namespace pteron {

bool is_floating(DType dtype);
// What PyTorch makes of two dtypes; of those that rows take.
DType promoted(DType a, DType b);
// The dtype that PyTorch computes in of these tensors and numbers: the greatest of bool, integers
// and floats that is among them, and within it what has dimensions.
DType result_type(const Call& call, std::initializer_list<size_t> operands);
// The same for functions of real numbers: integers count as float32.
inline DType real_type(DType type) { return is_floating(type) ? type : DType::Float32; }

// The dtype that the graph computes in for PyTorch's `type`: OpenVINO saturates the short integers,
// so they and bools are int32 there.
DType working_type(DType type);

// Tensors of dtypes that OpenVINO computes as PyTorch does, numbers that their type holds.
Reason require_operands(const Call& call, std::initializer_list<size_t> operands, DType type);
// Whether float32, which OpenVINO compares in, has the operands as `type` does. After
// require_operands.
Reason require_comparable(Call& call, std::initializer_list<size_t> operands, DType type);

// Argument i, a tensor or a number, converted to `type`, as the working type.
ir::Output operand(Call& call, size_t i, DType type);
// An integer, wrapped to `type`, as the working type.
ir::Output integer_operand(Call& call, int64_t value, DType type);
// x of int32 or int64 wrapped to a shorter type, still as it is.
ir::Output wrapped_to(Call& call, ir::Output x, DType type);
// Makes what was computed for `type`, in its working type, argument `out`.
Reason store(Call& call, size_t out, ir::Output result, DType type);
// Makes bools argument `out`, which may be of another dtype.
Reason store_truth(Call& call, size_t out, ir::Output truth);

// Whether each element of argument i is other than 0.
ir::Output truth_of(Call& call, size_t i);
// Whether x is computed from constants alone, which OpenVINO does with other code.
bool is_of_constants(const Call& call, ir::Output x);
// a where the condition holds, else b.
ir::Output select(Call& call, ir::Output condition, ir::Output a, ir::Output b);

}  // namespace pteron
