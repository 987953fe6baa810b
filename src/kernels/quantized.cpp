// Quantizing, dequantizing and quantized look-ups (quantized_decomposed::).
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "kernels/element.h"
#include "kernels/gemm.h"
#include "kernels/tables.h"
#include "kernels/vector/functions.h"

namespace pteron {
namespace {

using Context = KernelContext;

// The one number of a tensor.
Result<double> read_number(const Args& args, size_t i) {
  const Tensor& tensor = args.tensor(i);
  if (tensor.numel() != 1 || !is_number(tensor.dtype()))
    return kernel_error(args.describe(i) + " is not one number");
  double value = 0;
  load(tensor.dtype(), tensor.raw(), 0, 1, 1, &value);
  return value;
}

// x / scale + zero, rounded half to even and clamped.
double quantize(double x, float inverse, double zero, double low, double high) {
  const double rounded = static_cast<double>(std::nearbyint(static_cast<float>(x) * inverse));
  // NaN becomes the least number: min and max keep their first operand.
  return std::min(std::max(low, rounded + zero), high);
}

// The numbers that a quantized element may be, where floats hold them and their sums exactly: in
// the dtypes of 8 and 16 bits. Then rows are computed in floats, without calls or branches.
struct Narrow {
  float low;
  float high;

  static bool fits(DType dtype, double low, double high, double zero) {
    constexpr double kMost = 1 << 20;
    return dtype_size(dtype) <= 2 && std::fabs(low) <= kMost && std::fabs(high) <= kMost &&
           std::fabs(zero) <= kMost && zero == std::nearbyint(zero) && low <= high;
  }
};
// Whether a float holds a zero point and its distance from any element of 16 bits.
bool is_small(int64_t zero) { return zero >= -(1 << 20) && zero <= (1 << 20); }

// The distance of an element, however it was read, from any zero point; it wraps.
template <typename T>
int64_t difference(T x, int64_t zero) {
  int64_t whole = 0;
  if constexpr (std::is_integral_v<T>)
    whole = x;
  else if (x < T(-9223372036854775808.0))
    whole = INT64_MIN;
  else
    whole = x < T(9223372036854775808.0) ? static_cast<int64_t>(x) : INT64_MAX;
  return static_cast<int64_t>(static_cast<uint64_t>(whole) - static_cast<uint64_t>(zero));
}

// Clamped and rounded half to even, by the addition of a number whose last place is 1. NaN is low.
float round_between(float x, float low, float high) {
  constexpr float kOnes = 12582912.0f;  // 1.5 * 2^23
  const float above = x > low ? x : low;
  const float inside = above < high ? above : high;
  return (inside + kOnes) - kOnes;
}

// y[i] = x[i] / scale + zero
void quantize_row(const float* x, float* y, int64_t n, float inverse, float zero, Narrow range) {
  const float low = range.low - zero;
  const float high = range.high - zero;
  for (int64_t i = 0; i < n; ++i) y[i] = round_between(x[i] * inverse, low, high) + zero;
}
void dequantize_row(const float* x, float* y, int64_t n, float scale, float zero) {
  for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - zero) * scale;
}

// Calls row(x, y, r, n) for runs of n elements, of row r where there are `width` to a row: x as
// floats, y stored. Both tensors are taken in logical order. Rows are shared among threads.
template <typename Row>
void for_rows(Context& context, const Tensor& in, Tensor& out, int64_t width, Row&& row) {
  const int64_t rows = width > 0 ? in.numel() / width : 0;
  const int64_t grain = 16384 / std::max<int64_t>(width, 1) + 1;
  const auto share = [&](auto&& body) {
    context.parallel(static_cast<size_t>(rows), static_cast<size_t>(grain),
                     [&](size_t begin, size_t end) {
                       for (size_t r = begin; r < end; ++r) body(static_cast<int64_t>(r));
                     });
  };
  if (!in.is_row_major() || !out.is_row_major()) {
    const float* x = elements<float>(context, in);
    Results<float> results(context, out);
    float* y = results.data();
    share([&](int64_t r) { row(x + r * width, y + r * width, r, width); });
    results.store();
    return;
  }
  const float* own_in = in.dtype() == DType::Float32 ? in.data<const float>() : nullptr;
  float* own_out = out.dtype() == DType::Float32 ? out.data<float>() : nullptr;
  share([&](int64_t r) {
    constexpr int64_t kRun = 512;
    float x[kRun];
    float y[kRun];
    for (int64_t at = r * width; at < (r + 1) * width; at += kRun) {
      const int64_t n = std::min(kRun, (r + 1) * width - at);
      if (!own_in) load(in.dtype(), in.raw(), at, 1, n, x);
      row(own_in ? own_in + at : x, own_out ? own_out + at : y, r, n);
      if (!own_out) store(out.dtype(), out.raw(), at, 1, n, y);
    }
  });
}

Result<void> quantize_with(Context& context, const Args& args, double scale, double zero) {
  const auto low = static_cast<double>(args.integer(3));
  const auto high = static_cast<double>(args.integer(4));
  const Tensor& in = args.tensor(0);
  Tensor& out = args.tensor(6);
  if (!is_float(in.dtype()) || is_float(out.dtype()) || scale == 0)
    return kernel_error("quantize of " + args.describe(0) + " into " + args.describe(6) + " by " +
                        std::to_string(scale));
  const float inverse = 1.0f / static_cast<float>(scale);
  if (Narrow::fits(out.dtype(), low, high, zero) && in.dtype() != DType::Float64) {
    const Narrow range{static_cast<float>(low), static_cast<float>(high)};
    return map_runs(&context, in, out, DType::Float32, [=](const auto* x, auto* y, int64_t n) {
      if constexpr (std::is_same_v<decltype(y), float*>)
        quantize_row(x, y, n, inverse, static_cast<float>(zero), range);
    });
  }
  return map_unary(&context, in, out, DType::Float64, [=](auto x) {
    return static_cast<decltype(x)>(quantize(static_cast<double>(x), inverse, zero, low, high));
  });
}
Result<void> quantize_per_tensor(Context& context, const Args& args, const Kernel&) {
  return quantize_with(context, args, args.real(1), static_cast<double>(args.integer(2)));
}
Result<void> quantize_by_tensors(Context& context, const Args& args, const Kernel&) {
  PTERON_ASSIGN(const double scale, read_number(args, 1));
  PTERON_ASSIGN(const double zero, read_number(args, 2));
  return quantize_with(context, args, scale, zero);
}

Result<void> dequantize_with(Context& context, const Args& args, double scale_value, int64_t zero) {
  const auto scale = static_cast<float>(scale_value);
  const Tensor& in = args.tensor(0);
  Tensor& out = args.tensor(7);
  if (is_float(in.dtype()) || !is_float(out.dtype()))
    return kernel_error("dequantize of " + args.describe(0) + " into " + args.describe(7));
  if (dtype_size(in.dtype()) <= 2 && is_small(zero)) {
    return map_runs(&context, in, out, DType::Float32, [=](const auto* x, auto* y, int64_t n) {
      if constexpr (std::is_same_v<decltype(y), float*>)
        dequantize_row(x, y, n, scale, static_cast<float>(zero));
    });
  }
  return map_unary(&context, in, out, DType::Float64, [=](auto x) {
    return static_cast<decltype(x)>(static_cast<float>(difference(x, zero)) * scale);
  });
}
Result<void> dequantize_per_tensor(Context& context, const Args& args, const Kernel&) {
  return dequantize_with(context, args, args.real(1), args.integer(2));
}
Result<void> dequantize_by_tensors(Context& context, const Args& args, const Kernel&) {
  PTERON_ASSIGN(const double scale, read_number(args, 1));
  PTERON_ASSIGN(const double zero, read_number(args, 2));
  return dequantize_with(context, args, scale, Scalar{ValueKind::Double, 0, zero}.to<int64_t>());
}

struct Range {
  float least;
  float greatest;
};
// Of n numbers and 0; NaN counts for nothing.
Range range_about_zero(const float* x, int64_t n) {
  Range range{0, 0};
  if (n == 0) return range;
  const float least = vector_functions().minimum(x, n);
  if (!is_nan(least))
    return {std::min(0.0f, least), std::max(0.0f, vector_functions().maximum(x, n))};
  for (int64_t i = 0; i < n; ++i) {
    range.least = std::min(range.least, x[i]);
    range.greatest = std::max(range.greatest, x[i]);
  }
  return range;
}

// Scale and zero point for a whole tensor, so that its least and greatest values fit, and 0 is
// exact.
Result<void> choose_for_tensor(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const auto low = static_cast<double>(args.integer(1));
  const auto high = static_cast<double>(args.integer(2));
  const double epsilon = args.real(3);
  Tensor& scale_out = args.tensor(5);
  Tensor& zero_out = args.tensor(6);
  if (!is_float(in.dtype()) || in.numel() == 0 || low >= high || !is_float(scale_out.dtype()) ||
      !is_number(zero_out.dtype()) || scale_out.rank() > 1 || zero_out.rank() > 1) {
    return kernel_error("choose_qparams of " + args.describe(0) + " between " +
                        std::to_string(low) + " and " + std::to_string(high));
  }
  const int64_t one[] = {1};
  for (Tensor* out : {&scale_out, &zero_out})
    PTERON_TRY(out->resize({one, static_cast<size_t>(out->rank())}));
  const float* x = load_all<float>(context, in);
  const auto [least, greatest] = range_about_zero(x, in.numel());
  const float scale =
      std::max((greatest - least) / static_cast<float>(high - low), static_cast<float>(epsilon));
  const double zero =
      std::clamp(low - static_cast<double>(std::nearbyint(least / scale)), low, high);
  const double scale_value = static_cast<double>(scale);
  store(scale_out.dtype(), scale_out.raw(), 0, 1, 1, &scale_value);
  store(zero_out.dtype(), zero_out.raw(), 0, 1, 1, &zero);
  return {};
}

Result<void> quantize_per_channel(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const Tensor& scales = args.tensor(1);
  const Tensor& zeros = args.tensor(2);
  const auto low = static_cast<double>(args.integer(4));
  const auto high = static_cast<double>(args.integer(5));
  Tensor& out = args.tensor(7);
  PTERON_ASSIGN(const int axis, read_dim(args, 3, in.rank()));
  if (in.rank() == 0 || !is_float(in.dtype()) || is_float(out.dtype()) || !is_number(out.dtype()) ||
      !is_float(scales.dtype()) || !is_integral(zeros.dtype()) || scales.numel() != in.size(axis) ||
      zeros.numel() != in.size(axis)) {
    return kernel_error("quantize of " + args.describe(0) + " into " + args.describe(7) + " with " +
                        args.describe(1) + " and " + args.describe(2));
  }
  PTERON_TRY(out.resize(in.sizes()));
  const double* s = load_all<double>(context, scales);
  const double* z = load_all<double>(context, zeros);
  int64_t inner = 1;
  for (int d = axis + 1; d < in.rank(); ++d) inner *= in.size(d);
  const int64_t channels = in.size(axis);
  const auto inverse_of = [&](int64_t c) {
    return scales.dtype() == DType::Float64 ? static_cast<float>(1 / s[c])
                                            : 1.0f / static_cast<float>(s[c]);
  };
  const bool is_narrow = std::all_of(
      z, z + channels, [&](double zero) { return Narrow::fits(out.dtype(), low, high, zero); });
  if (is_narrow && in.dtype() != DType::Float64) {
    const Narrow range{static_cast<float>(low), static_cast<float>(high)};
    for_rows(context, in, out, inner, [&](const float* from, float* to, int64_t r, int64_t n) {
      const int64_t c = r % channels;
      quantize_row(from, to, n, inverse_of(c), static_cast<float>(z[c]), range);
    });
    return {};
  }
  double* x = load_all<double>(context, in);
  for (int64_t i = 0; i < in.numel(); ++i) {
    const int64_t c = i / inner % channels;
    x[i] = quantize(x[i], inverse_of(c), z[c], low, high);
  }
  store_all(x, out);
  return {};
}

// One scale and zero point for each row, as their tensors [..., 1] say.
Result<int64_t> check_rows(const Tensor& in, const Tensor& scales, const Tensor& zeros) {
  const int64_t width = in.rank() > 0 ? in.size(in.rank() - 1) : 0;
  const int64_t rows = width > 0 ? in.numel() / width : 0;
  if (in.rank() == 0 || !is_float(scales.dtype()) || !is_number(zeros.dtype()) ||
      !is_number(in.dtype()) || (width > 0 && (scales.numel() != rows || zeros.numel() != rows))) {
    return kernel_error("rows of " + in.describe() + " with scales of " + scales.describe() +
                        " and zero points of " + zeros.describe());
  }
  return width;
}

Result<void> quantize_per_token(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const Tensor& scales = args.tensor(1);
  const auto low = static_cast<double>(args.integer(3));
  const auto high = static_cast<double>(args.integer(4));
  Tensor& out = args.tensor(6);
  PTERON_ASSIGN(const int64_t width, check_rows(in, scales, args.tensor(2)));
  if (!is_float(in.dtype()) || is_float(out.dtype()) || !is_number(out.dtype()))
    return kernel_error("quantize of " + args.describe(0) + " into " + args.describe(6));
  PTERON_TRY(out.resize(in.sizes()));
  const double* s = load_all<double>(context, scales);
  const double* z = load_all<double>(context, args.tensor(2));
  // Here the zero point is added before the rounding, and scales in float64 make the product one.
  const bool is_wide = scales.dtype() == DType::Float64;
  const bool is_narrow = !is_wide && in.dtype() != DType::Float64 &&
                         std::all_of(z, z + args.tensor(2).numel(), [&](double zero) {
                           return Narrow::fits(out.dtype(), low, high, zero);
                         });
  if (is_narrow) {
    for_rows(context, in, out, width, [&](const float* from, float* to, int64_t r, int64_t n) {
      const float inverse = 1.0f / static_cast<float>(s[r]);
      const auto zero = static_cast<float>(z[r]);
      for (int64_t k = 0; k < n; ++k)
        to[k] = round_between(from[k] * inverse + zero, static_cast<float>(low),
                              static_cast<float>(high));
    });
    return {};
  }
  double* x = load_all<double>(context, in);
  for (int64_t i = 0; i < in.numel(); ++i) {
    const int64_t r = i / width;
    const double rounded =
        is_wide ? std::nearbyint(x[i] * (1 / s[r]) + z[r])
                : static_cast<double>(
                      std::nearbyint(static_cast<float>(x[i]) * (1.0f / static_cast<float>(s[r])) +
                                     static_cast<float>(z[r])));
    x[i] = std::min(std::max(low, rounded), high);
  }
  store_all(x, out);
  return {};
}

Result<void> dequantize_per_token(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  Tensor& out = args.tensor(7);
  PTERON_ASSIGN(const int64_t width, check_rows(in, args.tensor(1), args.tensor(2)));
  if (is_float(in.dtype()) || !is_float(out.dtype()))
    return kernel_error("dequantize of " + args.describe(0) + " into " + args.describe(7));
  PTERON_TRY(out.resize(in.sizes()));
  const double* s = load_all<double>(context, args.tensor(1));
  const double* z = load_all<double>(context, args.tensor(2));
  if (dtype_size(in.dtype()) <= 2 && out.dtype() != DType::Float64) {
    for_rows(context, in, out, width, [&](const float* from, float* to, int64_t r, int64_t n) {
      for (int64_t k = 0; k < n; ++k)
        to[k] = static_cast<float>((static_cast<double>(from[k]) - z[r]) * s[r]);
    });
    return {};
  }
  double* x = load_all<double>(context, in);
  for (int64_t r = 0; width > 0 && r < in.numel() / width; ++r) {
    for (int64_t k = r * width; k < (r + 1) * width; ++k) x[k] = (x[k] - z[r]) * s[r];
  }
  store_all(x, out);
  return {};
}

// The sum of two quantized tensors, quantized. Arguments: each of a, b and the result has a scale,
// a zero point, a least and a greatest number.
Result<void> quantized_add(Context& context, const Args& args, const Kernel&) {
  const Tensor& a = args.tensor(0);
  const Tensor& b = args.tensor(5);
  Tensor& out = args.tensor(14);
  const float a_scale = static_cast<float>(args.real(1));
  const float b_scale = static_cast<float>(args.real(6));
  const auto scale = static_cast<float>(args.real(10));
  const int64_t a_zero = args.integer(2);
  const int64_t b_zero = args.integer(7);
  if (is_float(a.dtype()) || is_float(b.dtype()) || is_float(out.dtype()) || scale == 0)
    return kernel_error("a quantized sum of " + args.describe(0) + " and " + args.describe(5) +
                        " into " + args.describe(14));
  const double zero = static_cast<double>(args.integer(11));
  const auto low = static_cast<double>(args.integer(12));
  const auto high = static_cast<double>(args.integer(13));
  const bool is_narrow = dtype_size(a.dtype()) <= 2 && dtype_size(b.dtype()) <= 2 &&
                         is_small(a_zero) && is_small(b_zero) &&
                         Narrow::fits(out.dtype(), low, high, zero);
  if (is_narrow) {
    const auto az = static_cast<float>(a_zero);
    const auto bz = static_cast<float>(b_zero);
    const auto shift = static_cast<float>(zero);
    const float least = static_cast<float>(low) - shift;
    const float most = static_cast<float>(high) - shift;
    const float inverse = 1.0f / scale;
    return map_binary(&context, a, b, out, DType::Float32, [=](auto x, auto y) {
      const float sum =
          (static_cast<float>(x) - az) * a_scale + (static_cast<float>(y) - bz) * b_scale;
      return static_cast<decltype(x)>(round_between(sum * inverse, least, most) + shift);
    });
  }
  return map_binary(&context, a, b, out, DType::Float64, [=](auto x, auto y) {
    const float left = static_cast<float>(difference(x, a_zero)) * a_scale;
    const float right = static_cast<float>(difference(y, b_zero)) * b_scale;
    return static_cast<decltype(x)>(
        quantize(static_cast<double>(left + right), 1.0f / scale, zero, low, high));
  });
}

Result<void> dequantize_per_channel(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const Tensor& scales = args.tensor(1);
  const Tensor* zeros = args.optional_tensor(2);
  Tensor& out = args.tensor(8);
  PTERON_ASSIGN(const int axis, read_dim(args, 3, in.rank()));
  if (in.rank() == 0 || is_float(in.dtype()) || !is_number(in.dtype()) ||
      !is_float(scales.dtype()) || !is_float(out.dtype()) || scales.numel() != in.size(axis) ||
      (zeros && (zeros->numel() != in.size(axis) || !is_integral(zeros->dtype())))) {
    return kernel_error("dequantize of " + args.describe(0) + " with " + args.describe(1));
  }
  PTERON_TRY(out.resize(in.sizes()));
  const float* s = load_all<float>(context, scales);
  const int64_t* z = zeros ? load_all<int64_t>(context, *zeros) : nullptr;
  int64_t inner = 1;
  for (int d = axis + 1; d < in.rank(); ++d) inner *= in.size(d);
  const int64_t channels = in.size(axis);
  const bool is_narrow =
      dtype_size(in.dtype()) <= 2 &&
      (!z || std::all_of(z, z + channels, [](int64_t zero) { return is_small(zero); }));
  if (is_narrow) {
    for_rows(context, in, out, inner, [&](const float* from, float* to, int64_t r, int64_t n) {
      const int64_t c = r % channels;
      dequantize_row(from, to, n, s[c], z ? static_cast<float>(z[c]) : 0.0f);
    });
    return {};
  }
  const int64_t* x = load_all<int64_t>(context, in);
  float* y = context.scratch_array<float>(static_cast<size_t>(in.numel()));
  for (int64_t i = 0; i < in.numel(); ++i) {
    const int64_t c = i / inner % channels;
    y[i] = static_cast<float>(difference(x[i], z ? z[c] : 0)) * s[c];
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
    return kernel_error("choose_qparams of " + args.describe(0));
  Shape shape;
  shape.rank = static_cast<size_t>(in.rank());
  std::copy(in.sizes().begin(), in.sizes().end(), shape.sizes.begin());
  const int64_t width = in.size(in.rank() - 1);
  shape.sizes[shape.rank - 1] = 1;
  PTERON_TRY(scales.resize(shape.span()));
  PTERON_TRY(zeros.resize(shape.span()));
  if (width == 0) return kernel_error("choose_qparams of " + args.describe(0));
  const float* x = load_all<float>(context, in);
  const int64_t rows = in.numel() / width;
  double* s = context.scratch_array<double>(static_cast<size_t>(rows));
  int64_t* z = context.scratch_array<int64_t>(static_cast<size_t>(rows));
  constexpr float kLow = -128;
  constexpr float kHigh = 127;
  const auto grain = static_cast<size_t>(16384 / width + 1);
  context.parallel(static_cast<size_t>(rows), grain, [=](size_t begin, size_t end) {
    for (auto r = static_cast<int64_t>(begin); r < static_cast<int64_t>(end); ++r) {
      const auto [least, greatest] = range_about_zero(x + r * width, width);
      const float scale =
          std::max((greatest - least) / (kHigh - kLow), std::numeric_limits<float>::epsilon());
      const float low = least / scale;
      const float high = greatest / scale;
      const float zero = (kLow + low) + (kHigh + high) > 0 ? kLow - low : kHigh - high;
      s[r] = scale;
      z[r] = static_cast<int64_t>(std::nearbyint(std::min(std::max(zero, kLow), kHigh)));
    }
  });
  store_all(s, scales);
  store_all(z, zeros);
  return {};
}

// Element k of a row whose elements have kBits; those of 4 bits lie high half first.
template <int kBits>
float unpack(const uint8_t* row, int64_t k, bool is_signed) {
  if constexpr (kBits == 8) {
    return is_signed ? static_cast<float>(static_cast<int8_t>(row[k])) : static_cast<float>(row[k]);
  } else if constexpr (kBits == 4) {
    return static_cast<float>((k % 2 == 0 ? row[k / 2] >> 4 : row[k / 2] & 15) - 8);
  } else {
    return static_cast<float>((row[k / 4] >> (k % 4 * 2) & 3) - 2);
  }
}

// Rows of a table of 8, 4 or 2 bits, each scaled; the scales may be given for groups of a row.
template <int kBits>
Result<void> embedding(Context& context, const Args& args, const Kernel&) {
  const Tensor& weight = args.tensor(0);
  const Tensor& scales = args.tensor(1);
  const Tensor* zeros = args.optional_tensor(2);
  const Tensor& index = args.tensor(5);
  Tensor& out = args.tensor(args.size() - 1);
  const bool fits_dtype =
      weight.dtype() == DType::UInt8 || (kBits == 8 && weight.dtype() == DType::Int8);
  const int64_t groups = scales.rank() == 2 ? scales.size(1) : 1;
  const int64_t width = weight.rank() == 2 ? weight.size(1) * (8 / kBits) : 0;
  if (weight.rank() != 2 || !fits_dtype || scales.rank() < 1 || scales.rank() > 2 ||
      scales.size(0) != weight.size(0) || groups < 1 || width % groups != 0 ||
      !is_float(scales.dtype()) || !is_float(out.dtype()) || index.rank() == kMaxRank ||
      (index.dtype() != DType::Int64 && index.dtype() != DType::Int32) ||
      (zeros && (zeros->numel() != scales.numel() || !is_number(zeros->dtype())))) {
    return kernel_error("embedding of " + args.describe(5) + " in " + args.describe(0) + " with " +
                        args.describe(1));
  }
  Shape shape;
  shape.rank = static_cast<size_t>(index.rank()) + 1;
  std::copy(index.sizes().begin(), index.sizes().end(), shape.sizes.begin());
  shape.sizes[shape.rank - 1] = width;
  PTERON_TRY(out.resize(shape.span()));
  const int64_t* rows = load_all<int64_t>(context, index);
  const float* s = load_all<float>(context, scales);
  const float* z = zeros ? load_all<float>(context, *zeros) : nullptr;
  Results<float> results(context, out);
  float* y = results.data();
  const int64_t group = width / groups;
  const bool is_signed = weight.dtype() == DType::Int8;
  const uint8_t* packed = weight.data<const uint8_t>();
  if (!weight.is_row_major()) {
    uint8_t* dense = context.scratch_array<uint8_t>(weight.nbytes());
    walk_in_order(weight, [&](int64_t position, int64_t offset, int64_t stride, int64_t n) {
      for (int64_t k = 0; k < n; ++k) dense[position + k] = packed[offset + k * stride];
    });
    packed = dense;
  }
  for (int64_t i = 0; i < index.numel(); ++i) {
    if (rows[i] < 0 || rows[i] >= weight.size(0)) {
      return kernel_error("index " + std::to_string(rows[i]) + " in argument 5" +
                          " is out of range for a table of " + counted(weight.size(0), "row"));
    }
    const uint8_t* row = packed + rows[i] * weight.size(1);
    for (int64_t g = 0; g < groups; ++g) {
      const int64_t at = rows[i] * groups + g;
      const float scale = s[at];
      const float zero = z ? z[at] : 0.0f;
      float* to = y + i * width;
      if (is_signed) {
        for (int64_t k = g * group; k < (g + 1) * group; ++k)
          to[k] = (unpack<kBits>(row, k, true) - zero) * scale;
      } else {
        for (int64_t k = g * group; k < (g + 1) * group; ++k)
          to[k] = (unpack<kBits>(row, k, false) - zero) * scale;
      }
    }
  }
  results.store();
  return {};
}

// Products of floats with an int8 weight. mixed_mm: the weight is [in, out] and scaled by its rows;
// mixed_linear: [out, in], scaled by its rows or by groups of them.
template <bool kIsLinear>
Result<void> mixed_product(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const Tensor& weight = args.tensor(1);
  const Tensor& scales = args.tensor(2);
  const Tensor* zeros = args.optional_tensor(3);
  Tensor& out = args.tensor(args.size() - 1);
  const auto wrong = [&] {
    return kernel_error("a product of " + args.describe(0) + " and " + args.describe(1) +
                        " with scales of " + args.describe(2));
  };
  if (in.rank() != 2 || weight.rank() != 2 || weight.dtype() != DType::Int8 ||
      !is_float(in.dtype()) || !is_float(scales.dtype()) || !is_float(out.dtype()) ||
      in.size(1) != weight.size(kIsLinear ? 1 : 0) || scales.rank() < 1 || scales.rank() > 2 ||
      scales.size(0) != weight.size(0) ||
      (zeros && (zeros->numel() != scales.numel() || !is_number(zeros->dtype())))) {
    return wrong();
  }
  const int64_t groups = scales.rank() == 2 ? scales.size(1) : 1;
  if (groups < 1 || weight.size(1) % groups != 0) return wrong();
  const int64_t m = in.size(0);
  const int64_t k = in.size(1);
  const int64_t n = weight.size(kIsLinear ? 0 : 1);
  const int64_t shape[] = {m, n};
  PTERON_TRY(out.resize(shape));
  if (out.numel() == 0) return {};
  const float* x = load_all<float>(context, in);
  float* w = load_all<float>(context, weight);
  const float* s = load_all<float>(context, scales);
  const float* z = zeros ? load_all<float>(context, *zeros) : nullptr;
  const int64_t group = weight.size(1) / groups;
  for (int64_t i = 0; i < weight.numel(); ++i) {
    const int64_t at = i / weight.size(1) * groups + i % weight.size(1) / group;
    w[i] = (w[i] - (z ? z[at] : 0)) * s[at];
  }
  float* y = context.scratch_array<float>(static_cast<size_t>(m * n));
  const Matrix<float> right = kIsLinear ? Matrix<float>{w, 1, k} : Matrix<float>{w, n, 1};
  gemm<float>(context, m, n, k, {x, k, 1}, right, y, n, false);
  store_all(y, out);
  return {};
}

constexpr Kernel kTable[] = {
    {"quantized_decomposed::add.out", "TDIIITDIIIDIII>T", quantized_add},
    {"quantized_decomposed::choose_qparams.Tensor_out", "TIIDI>TT", choose_for_tensor},
    {"quantized_decomposed::choose_qparams_per_token_asymmetric.out", "TI>TT", choose_per_token},
    {"quantized_decomposed::dequantize_per_channel.out", "TTtIIIIi>T", dequantize_per_channel},
    {"quantized_decomposed::dequantize_per_tensor.Tensor_out", "TTTIIIi>T", dequantize_by_tensors},
    {"quantized_decomposed::dequantize_per_tensor.out", "TDIIIIi>T", dequantize_per_tensor},
    {"quantized_decomposed::dequantize_per_token.out", "TTTIIII>T", dequantize_per_token},
    {"quantized_decomposed::embedding_2bit.dtype_out", "TTtIITi>T", embedding<2>},
    {"quantized_decomposed::embedding_2bit.out", "TTtIIT>T", embedding<2>},
    {"quantized_decomposed::embedding_4bit.dtype_out", "TTtIITi>T", embedding<4>},
    {"quantized_decomposed::embedding_4bit.out", "TTtIIT>T", embedding<4>},
    {"quantized_decomposed::embedding_byte.dtype_out", "TTtIITi>T", embedding<8>},
    {"quantized_decomposed::embedding_byte.out", "TTtIIT>T", embedding<8>},
    {"quantized_decomposed::mixed_linear.out", "TTTti>T", mixed_product<true>},
    {"quantized_decomposed::mixed_mm.out", "TTTt>T", mixed_product<false>},
    {"quantized_decomposed::quantize_per_channel.out", "TTTIIII>T", quantize_per_channel},
    {"quantized_decomposed::quantize_per_tensor.Tensor_out", "TTTIII>T", quantize_by_tensors},
    {"quantized_decomposed::quantize_per_tensor.out", "TDIIII>T", quantize_per_tensor},
    {"quantized_decomposed::quantize_per_token.out", "TTTIII>T", quantize_per_token},
};

}  // namespace

std::span<const Kernel> quantized_kernels() { return kTable; }

}  // namespace pteron
