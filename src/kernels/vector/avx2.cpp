#include "kernels/vector/body.h"
#include "kernels/vector/tables.h"

namespace pteron {

constinit const VectorFunctions kAvx2Functions =
    make_functions<xsimd::fma3<xsimd::avx2>, 6, 2>("avx2");

}  // namespace pteron
