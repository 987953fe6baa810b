// Quantizing, dequantizing and quantized look-ups (quantized_decomposed::).
#include <cmath>
#include <limits>

#include "kernels/element.h"
#include "kernels/tables.h"

namespace pteron {
namespace {

using Context = KernelContext;

Result<void> quantize_per_tensor(Context&, const Args& args, const Kernel&) {
  const double scale = args.real(1);
  const double zero = static_cast<double>(args.integer(2));
  const auto low = static_cast<double>(args.integer(3));
  const auto high = static_cast<double>(args.integer(4));
  const Tensor& in = args.tensor(0);
  if (!is_float(in.dtype()) || scale == 0) return kernel_error("quantize of " + in.describe());
  const float inverse = 1.0f / static_cast<float>(scale);
  return map_unary(in, args.tensor(6), DType::Float64, [=](auto x) {
    const double rounded = std::nearbyint(static_cast<float>(x) * inverse) + zero;
    return static_cast<decltype(x)>(std::min(std::max(rounded, low), high));
  });
}

Result<void> dequantize_per_tensor(Context&, const Args& args, const Kernel&) {
  const auto scale = static_cast<float>(args.real(1));
  const int64_t zero = args.integer(2);
  const Tensor& in = args.tensor(0);
  if (is_float(in.dtype())) return kernel_error("dequantize of " + in.describe());
  return map_unary(in, args.tensor(7), DType::Float64, [=](auto x) {
    return static_cast<decltype(x)>(static_cast<float>(static_cast<int64_t>(x) - zero) * scale);
  });
}

Result<void> dequantize_per_channel(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const Tensor& scales = args.tensor(1);
  const Tensor* zeros = args.optional_tensor(2);
  Tensor& out = args.tensor(8);
  PTERON_ASSIGN(const int axis, wrap_dim(args.integer(3), in.rank()));
  if (in.rank() == 0 || is_float(in.dtype()) || !is_number(in.dtype()) ||
      !is_float(scales.dtype()) || !is_float(out.dtype()) || scales.numel() != in.size(axis) ||
      (zeros && (zeros->numel() != in.size(axis) || !is_integral(zeros->dtype())))) {
    return kernel_error("dequantize of " + in.describe() + " with " + scales.describe());
  }
  PTERON_TRY(out.resize(in.sizes()));
  const int64_t* x = load_all<int64_t>(context, in);
  const float* s = load_all<float>(context, scales);
  const int64_t* z = zeros ? load_all<int64_t>(context, *zeros) : nullptr;
  float* y = context.scratch_array<float>(static_cast<size_t>(in.numel()));
  int64_t inner = 1;
  for (int d = axis + 1; d < in.rank(); ++d) inner *= in.size(d);
  for (int64_t i = 0; i < in.numel(); ++i) {
    const int64_t c = i / inner % in.size(axis);
    y[i] = static_cast<float>(x[i] - (z ? z[c] : 0)) * s[c];
  }
  store_all(y, out);
  return {};
}

// Scale and zero point of int8 for each row, so that its least and greatest values fit, and 0 is
// exact.
Result<void> choose_per_token(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  Tensor& scales = args.tensor(2);
  Tensor& zeros = args.tensor(3);
  if (in.rank() == 0 || !is_float(in.dtype()) || !is_float(scales.dtype()) ||
      !is_number(zeros.dtype()))
    return kernel_error("choose_qparams of " + in.describe());
  Shape shape;
  shape.rank = static_cast<size_t>(in.rank());
  std::copy(in.sizes().begin(), in.sizes().end(), shape.sizes.begin());
  const int64_t width = in.size(in.rank() - 1);
  shape.sizes[shape.rank - 1] = 1;
  PTERON_TRY(scales.resize(shape.span()));
  PTERON_TRY(zeros.resize(shape.span()));
  if (width == 0) return kernel_error("choose_qparams of " + in.describe());
  const float* x = load_all<float>(context, in);
  const int64_t rows = in.numel() / width;
  double* s = context.scratch_array<double>(static_cast<size_t>(rows));
  int64_t* z = context.scratch_array<int64_t>(static_cast<size_t>(rows));
  constexpr float kLow = -128;
  constexpr float kHigh = 127;
  for (int64_t r = 0; r < rows; ++r) {
    float least = 0;
    float greatest = 0;
    for (int64_t i = 0; i < width; ++i) {
      least = std::min(least, x[r * width + i]);
      greatest = std::max(greatest, x[r * width + i]);
    }
    const float scale =
        std::max((greatest - least) / (kHigh - kLow), std::numeric_limits<float>::epsilon());
    const float low = least / scale;
    const float high = greatest / scale;
    const float zero = (kLow + low) + (kHigh + high) > 0 ? kLow - low : kHigh - high;
    s[r] = scale;
    z[r] = static_cast<int64_t>(std::nearbyint(std::min(std::max(zero, kLow), kHigh)));
  }
  store_all(s, scales);
  store_all(z, zeros);
  return {};
}

// Rows of an 8-bit table, each scaled; the scales may be given for groups of a row.
Result<void> embedding_byte(Context& context, const Args& args, const Kernel&) {
  const Tensor& weight = args.tensor(0);
  const Tensor& scales = args.tensor(1);
  const Tensor* zeros = args.optional_tensor(2);
  const Tensor& index = args.tensor(5);
  Tensor& out = args.tensor(6);
  const bool eight_bit = weight.dtype() == DType::Int8 || weight.dtype() == DType::UInt8;
  const int64_t groups = scales.rank() == 2 ? scales.size(1) : 1;
  if (weight.rank() != 2 || !eight_bit || scales.rank() < 1 || scales.rank() > 2 ||
      scales.size(0) != weight.size(0) || groups < 1 || weight.size(1) % groups != 0 ||
      !is_float(scales.dtype()) || !is_float(out.dtype()) || index.rank() == kMaxRank ||
      (index.dtype() != DType::Int64 && index.dtype() != DType::Int32) ||
      (zeros && (zeros->numel() != scales.numel() || !is_number(zeros->dtype())))) {
    return kernel_error("embedding of " + index.describe() + " in " + weight.describe() + " with " +
                        scales.describe());
  }
  Shape shape;
  shape.rank = static_cast<size_t>(index.rank()) + 1;
  std::copy(index.sizes().begin(), index.sizes().end(), shape.sizes.begin());
  const int64_t width = weight.size(1);
  shape.sizes[shape.rank - 1] = width;
  PTERON_TRY(out.resize(shape.span()));
  const int64_t* rows = load_all<int64_t>(context, index);
  const int64_t* w = load_all<int64_t>(context, weight);
  const float* s = load_all<float>(context, scales);
  const float* z = zeros ? load_all<float>(context, *zeros) : nullptr;
  float* y = context.scratch_array<float>(static_cast<size_t>(out.numel()));
  const int64_t group = width / groups;
  for (int64_t i = 0; i < index.numel(); ++i) {
    if (rows[i] < 0 || rows[i] >= weight.size(0)) {
      return Error{Code::Failed, "index " + std::to_string(rows[i]) +
                                     " is out of range for a table of " +
                                     std::to_string(weight.size(0)) + " rows"};
    }
    for (int64_t k = 0; k < width; ++k) {
      const int64_t at = rows[i] * groups + k / group;
      y[i * width + k] = (static_cast<float>(w[rows[i] * width + k]) - (z ? z[at] : 0)) * s[at];
    }
  }
  store_all(y, out);
  return {};
}

constexpr Kernel kTable[] = {
    {"quantized_decomposed::choose_qparams_per_token_asymmetric.out", "TI>TT", choose_per_token},
    {"quantized_decomposed::dequantize_per_channel.out", "TTtIIIIi>T", dequantize_per_channel},
    {"quantized_decomposed::dequantize_per_tensor.out", "TDIIIIi>T", dequantize_per_tensor},
    {"quantized_decomposed::embedding_byte.out", "TTtIIT>T", embedding_byte},
    {"quantized_decomposed::quantize_per_tensor.out", "TDIIII>T", quantize_per_tensor},
};

}  // namespace

std::span<const Kernel> quantized_kernels() { return kTable; }

}  // namespace pteron
