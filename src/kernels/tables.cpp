#include "kernels/tables.h"

namespace pteron {

std::vector<std::span<const Kernel>> all_kernels() {
  return {arrange_kernels(), attention_kernels(),   fft_kernels(),    mask_kernels(),
          binary_kernels(),  convolution_kernels(), copy_kernels(),   create_kernels(),
          index_kernels(),   matmul_kernels(),      norm_kernels(),   pool_kernels(),
          prim_kernels(),    quantized_kernels(),   reduce_kernels(), resample_kernels(),
          unary_kernels(),   extreme_kernels(),     scan_kernels()};
}

}  // namespace pteron
