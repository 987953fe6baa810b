// The operator tables, one a family. Each row's function is in the file of its family.
#pragma once

#include <span>
#include <vector>

#include "runtime/kernel.h"

namespace pteron {

std::span<const Kernel> arrange_kernels();
std::span<const Kernel> attention_kernels();
std::span<const Kernel> binary_kernels();
std::span<const Kernel> convolution_kernels();
std::span<const Kernel> copy_kernels();
std::span<const Kernel> create_kernels();
std::span<const Kernel> extreme_kernels();
std::span<const Kernel> fft_kernels();
std::span<const Kernel> index_kernels();
std::span<const Kernel> mask_kernels();
std::span<const Kernel> matmul_kernels();
std::span<const Kernel> norm_kernels();
std::span<const Kernel> pool_kernels();
std::span<const Kernel> prim_kernels();
std::span<const Kernel> quantized_kernels();
std::span<const Kernel> reduce_kernels();
std::span<const Kernel> resample_kernels();
std::span<const Kernel> scan_kernels();
std::span<const Kernel> unary_kernels();

// All of them.
std::vector<std::span<const Kernel>> all_kernels();

}  // namespace pteron
