// The tables of each instruction set that this build has.
#pragma once

#include "kernels/vector/functions.h"

namespace pteron {

extern const VectorFunctions kSse2Functions;
extern const VectorFunctions kAvx2Functions;
extern const VectorFunctions kAvx512Functions;

}  // namespace pteron
