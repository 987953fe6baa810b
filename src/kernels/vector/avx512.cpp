#include "kernels/vector/body.h"
#include "kernels/vector/tables.h"

namespace pteron {

constinit const VectorFunctions kAvx512Functions = make_functions<xsimd::avx512bw, 12, 2>("avx512");

}  // namespace pteron
