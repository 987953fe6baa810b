#include "kernels/vector/body.h"
#include "kernels/vector/tables.h"

namespace pteron {

constinit const VectorFunctions kSse2Functions = make_functions<xsimd::sse2, 6, 2>("sse2");

}  // namespace pteron
