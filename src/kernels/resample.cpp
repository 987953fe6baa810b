// Operators that read pictures between their pixels: upsampling and grid sampling.
//
// Source positions are computed in the type that PyTorch uses for them (float for all but float64),
// because a position that is rounded otherwise picks another pixel.
#include <cmath>

#include "kernels/element.h"
#include "kernels/tables.h"

namespace pteron {
namespace {

using Context = KernelContext;

// A batch of pictures, [batch, channels, height, width].
struct Pictures {
  int64_t count = 0;  // Batch times channels.
  int64_t in[2]{};
  int64_t out[2]{};
  std::optional<double> scale[2];
};

Result<void> check_pictures(const char* what, const Tensor& in, const Tensor& out) {
  if (in.rank() != 4 || !is_number(in.dtype()) || in.dtype() != out.dtype() ||
      in.dtype() == DType::Bool) {
    return kernel_error(std::string(what) + " of argument 0, " + in.describe() + ", into " +
                        out.describe() + "; a tensor of rank 4 and the same dtype are wanted");
  }
  return {};
}

Result<void> set_size(const Tensor& in, Tensor& out, Pictures& p) {
  p.count = in.size(0) * in.size(1);
  for (int d = 0; d < 2; ++d) {
    p.in[d] = in.size(2 + d);
    if (p.out[d] <= 0 || p.in[d] <= 0 || p.out[d] > INT32_MAX)
      return kernel_error("resampling " + in.describe() + " to height " + std::to_string(p.out[0]) +
                          " and width " + std::to_string(p.out[1]));
  }
  const int64_t shape[] = {in.size(0), in.size(1), p.out[0], p.out[1]};
  return out.resize(shape);
}

// The size or the scale of each side, of which one list is given (PyTorch's .vec operators).
Result<Pictures> read_size_or_scale(const Tensor& in, const std::optional<Ints>& size,
                                    std::optional<std::span<const double>> scales, Tensor& out) {
  Pictures p;
  if (size.has_value() == scales.has_value())
    return kernel_error("resampling takes an output size or scale factors, one of the two");
  if ((size ? size->size() : scales->size()) != 2)
    return kernel_error("resampling takes two sizes or scale factors, height and width");
  for (size_t d = 0; d < 2; ++d) {
    if (size) {
      p.out[d] = (*size)[d];
      continue;
    }
    p.scale[d] = (*scales)[d];
    const double wanted = static_cast<double>(in.size(2 + static_cast<int>(d))) * (*scales)[d];
    if (!(wanted >= 0 && wanted <= INT32_MAX))
      return kernel_error("scale factor " + std::to_string((*scales)[d]));
    p.out[d] = static_cast<int64_t>(wanted);
  }
  PTERON_TRY(set_size(in, out, p));
  return p;
}

// How far the source moves for each step in the output.
template <typename C>
C source_step(const Pictures& p, size_t d, bool align_corners) {
  if (align_corners) {
    return p.out[d] > 1 ? static_cast<C>(p.in[d] - 1) / static_cast<C>(p.out[d] - 1) : C(0);
  }
  if (p.scale[d] && *p.scale[d] > 0) return static_cast<C>(1.0 / *p.scale[d]);
  return static_cast<C>(p.in[d]) / static_cast<C>(p.out[d]);
}

// The pixels that each pixel of one side of the output is made of, and their weights.
template <typename C>
struct Taps {
  int64_t width;  // How many an output pixel.
  int64_t* index;
  C* weight;
};

template <typename C>
Taps<C> allocate_taps(Context& context, int64_t out, int64_t width) {
  const auto count = static_cast<size_t>(out * width);
  return {width, context.scratch_array<int64_t>(count), context.scratch_array<C>(count)};
}

template <typename C>
Taps<C> linear_taps(Context& context, const Pictures& p, size_t d, bool align_corners) {
  const Taps<C> taps = allocate_taps<C>(context, p.out[d], 2);
  const C step = source_step<C>(p, d, align_corners);
  for (int64_t i = 0; i < p.out[d]; ++i) {
    C source =
        align_corners ? step * static_cast<C>(i) : step * (static_cast<C>(i) + C(0.5)) - C(0.5);
    if (p.in[d] == p.out[d]) source = static_cast<C>(i);
    source = std::max(source, C(0));
    const int64_t first = std::min(static_cast<int64_t>(std::floor(source)), p.in[d] - 1);
    const C part = std::min(std::max(source - static_cast<C>(first), C(0)), C(1));
    taps.index[2 * i] = first;
    taps.index[2 * i + 1] = std::min(first + 1, p.in[d] - 1);
    taps.weight[2 * i] = C(1) - part;
    taps.weight[2 * i + 1] = part;
  }
  return taps;
}

// A triangle as wide as an output pixel, so that shrinking averages.
template <typename C>
Taps<C> smooth_taps(Context& context, const Pictures& p, size_t d, bool align_corners) {
  const C step = source_step<C>(p, d, align_corners);
  const C support = step >= 1 ? step : C(1);
  const auto width = static_cast<int64_t>(std::ceil(support)) * 2 + 1;
  const Taps<C> taps = allocate_taps<C>(context, p.out[d], width);
  const C inverse = step >= 1 ? 1 / step : C(1);
  for (int64_t i = 0; i < p.out[d]; ++i) {
    const C center = step * (static_cast<C>(i) + C(0.5));
    const auto first = std::max(static_cast<int64_t>(center - support + C(0.5)), int64_t{0});
    const auto past = std::min(static_cast<int64_t>(center + support + C(0.5)), p.in[d]);
    const int64_t count = std::clamp<int64_t>(past - first, 0, width);
    C total = 0;
    for (int64_t k = 0; k < width; ++k) {
      const C at = std::fabs((static_cast<C>(k + first) - center + C(0.5)) * inverse);
      const C weight = k < count && at < 1 ? 1 - at : C(0);
      taps.index[i * width + k] = std::min(first + k, p.in[d] - 1);
      taps.weight[i * width + k] = weight;
      total += weight;
    }
    for (int64_t k = 0; k < width && total != 0; ++k) taps.weight[i * width + k] /= total;
  }
  return taps;
}

// Weighs columns of `in` line by line, then lines.
template <typename C>
void apply_taps(Context& context, const Pictures& p, const Taps<C>& rows, const Taps<C>& columns,
                const C* in, C* out, bool round) {
  // A weight of 0 must not let NaN or infinity in.
  const auto counts = [](const Taps<C>& taps, C weight) { return weight != 0 || taps.width == 2; };
  const int64_t slices = std::min<int64_t>(p.count, 16);
  const int64_t size = p.in[0] * p.out[1];
  C* buffers = context.scratch_array<C>(static_cast<size_t>(slices * size));
  const auto one = [&](int64_t c, C* lines) {
    const C* picture = in + c * p.in[0] * p.in[1];
    for (int64_t y = 0; y < p.in[0]; ++y) {
      const C* from = picture + y * p.in[1];
      for (int64_t x = 0; x < p.out[1]; ++x) {
        C sum = 0;
        for (int64_t k = x * columns.width; k < (x + 1) * columns.width; ++k) {
          if (counts(columns, columns.weight[k])) sum += columns.weight[k] * from[columns.index[k]];
        }
        lines[y * p.out[1] + x] = sum;
      }
    }
    for (int64_t y = 0; y < p.out[0]; ++y) {
      C* to = out + (c * p.out[0] + y) * p.out[1];
      std::fill_n(to, p.out[1], C(0));
      for (int64_t k = y * rows.width; k < (y + 1) * rows.width; ++k) {
        const C weight = rows.weight[k];
        const C* line = lines + rows.index[k] * p.out[1];
        if (!counts(rows, weight)) continue;
        for (int64_t x = 0; x < p.out[1]; ++x) to[x] += weight * line[x];
      }
      for (int64_t x = 0; x < p.out[1] && round; ++x) to[x] = std::floor(to[x] + C(0.5));
    }
  };
  context.parallel(static_cast<size_t>(slices), 1, [&](size_t begin, size_t end) {
    for (auto s = static_cast<int64_t>(begin); s < static_cast<int64_t>(end); ++s) {
      for (int64_t c = p.count * s / slices; c < p.count * (s + 1) / slices; ++c)
        one(c, buffers + s * size);
    }
  });
}

template <bool kSmooth>
Result<void> bilinear(Context& context, const Tensor& in, Tensor& out, const Pictures& p,
                      bool align_corners) {
  if (out.numel() == 0) return {};
  const DType compute = is_float(in.dtype()) ? in.dtype() : DType::Float32;
  const auto run = [&](auto type) {
    using C = decltype(type);
    const C* x = load_all<C>(context, in);
    C* y = context.scratch_array<C>(static_cast<size_t>(out.numel()));
    const auto taps = kSmooth ? smooth_taps<C> : linear_taps<C>;
    apply_taps<C>(context, p, taps(context, p, 0, align_corners),
                  taps(context, p, 1, align_corners), x, y, !is_float(in.dtype()));
    store_all(y, out);
  };
  compute == DType::Float64 ? run(double()) : run(float());
  return {};
}

Result<void> upsample_bilinear(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  Tensor& out = args.tensor(4);
  PTERON_TRY(check_pictures("upsample_bilinear2d", in, out));
  PTERON_ASSIGN(const Pictures p,
                read_size_or_scale(in, args.optional_ints(1), args.optional_reals(3), out));
  return bilinear<false>(context, in, out, p, args.boolean(2));
}

Result<void> upsample_bilinear_smooth(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  Tensor& out = args.tensor(5);
  PTERON_TRY(check_pictures("upsample_bilinear2d_aa", in, out));
  const Ints size = args.ints(1);
  if (size.size() != 2) return kernel_error("output size " + args.describe(1));
  Pictures p;
  for (size_t d = 0; d < 2; ++d) {
    p.out[d] = size[d];
    p.scale[d] = args.optional_real(3 + d);
    if (p.scale[d] && !(*p.scale[d] > 1e-4 && *p.scale[d] < 1e9))
      return kernel_error("scale factor in " + args.describe(3 + d));
  }
  PTERON_TRY(set_size(in, out, p));
  return bilinear<true>(context, in, out, p, args.boolean(2));
}

Result<void> upsample_nearest(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  Tensor& out = args.tensor(3);
  PTERON_TRY(check_pictures("upsample_nearest2d", in, out));
  PTERON_ASSIGN(const Pictures p,
                read_size_or_scale(in, args.optional_ints(1), args.optional_reals(2), out));
  if (out.numel() == 0) return {};
  int64_t* index[2];
  for (size_t d = 0; d < 2; ++d) {
    index[d] = context.scratch_array<int64_t>(static_cast<size_t>(p.out[d]));
    for (int64_t i = 0; i < p.out[d]; ++i) {
      const float source =
          in.dtype() == DType::Float64
              ? static_cast<float>(source_step<double>(p, d, false) * static_cast<double>(i))
              : source_step<float>(p, d, false) * static_cast<float>(i);
      index[d][i] = std::min(static_cast<int64_t>(std::floor(source)), p.in[d] - 1);
    }
  }
  return with_compute_type(in.dtype(), [&](auto type) -> Result<void> {
    using C = decltype(type);
    const C* x = load_all<C>(context, in);
    C* y = context.scratch_array<C>(static_cast<size_t>(out.numel()));
    C* to = y;
    for (int64_t c = 0; c < p.count; ++c) {
      for (int64_t i = 0; i < p.out[0]; ++i) {
        const C* row = x + (c * p.in[0] + index[0][i]) * p.in[1];
        for (int64_t k = 0; k < p.out[1]; ++k) *to++ = row[index[1][k]];
      }
    }
    store_all(y, out);
    return {};
  });
}

// Grid sampling: the numbers of PyTorch's modes in the order of its enumerations.
enum class Interpolation { Bilinear, Nearest, Bicubic };
enum class Padding { Zeros, Border, Reflection };

struct Sampling {
  Interpolation interpolation;
  Padding padding;
  bool align_corners;
};

// Mirrors x at the two borders, which are given twice, as they may lie between pixels.
template <typename C>
C reflect(C x, int64_t twice_low, int64_t twice_high) {
  if (twice_low == twice_high) return 0;
  const C low = static_cast<C>(twice_low) / 2;
  const C span = static_cast<C>(twice_high - twice_low) / 2;
  x = std::fabs(x - low);
  const C extra = std::fmod(x, span);
  const bool even = std::fmod(std::floor(x / span), C(2)) == 0;
  return even ? extra + low : span - extra + low;
}

template <typename C>
C pad_position(C x, int64_t size, const Sampling& how) {
  if (how.padding == Padding::Reflection) {
    x = how.align_corners ? reflect(x, 0, 2 * (size - 1)) : reflect(x, -1, 2 * size - 1);
  }
  // NaN goes to 0.
  if (how.padding != Padding::Zeros) x = x > 0 ? std::min(x, static_cast<C>(size - 1)) : C(0);
  return x;
}

// From [-1, 1] to pixels.
template <typename C>
C to_pixels(C x, int64_t size, bool align_corners) {
  return align_corners ? (x + 1) / 2 * static_cast<C>(size - 1)
                       : ((x + 1) * static_cast<C>(size) - 1) / 2;
}

template <typename C>
void cubic_weights(C t, C (&weights)[4]) {
  constexpr C kA = C(-0.75);
  const auto near_part = [](C x) { return ((kA + 2) * x - (kA + 3)) * x * x + 1; };
  const auto far_part = [](C x) { return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA; };
  weights[0] = far_part(t + 1);
  weights[1] = near_part(t);
  weights[2] = near_part(1 - t);
  weights[3] = far_part(2 - t);
}

template <typename C>
struct Plane {
  const C* data;
  int64_t height;
  int64_t width;
  // 0 outside, and where the position is no number.
  C at(C y, C x) const {
    if (!(y >= 0 && y < static_cast<C>(height) && x >= 0 && x < static_cast<C>(width))) return 0;
    return data[static_cast<int64_t>(y) * width + static_cast<int64_t>(x)];
  }
};

template <typename C>
C sample(const Plane<C>& plane, C grid_x, C grid_y, const Sampling& how) {
  C x = to_pixels(grid_x, plane.width, how.align_corners);
  C y = to_pixels(grid_y, plane.height, how.align_corners);
  if (how.interpolation == Interpolation::Bicubic) {
    const C x0 = std::floor(x);
    const C y0 = std::floor(y);
    C wx[4];
    C wy[4];
    cubic_weights(x - x0, wx);
    cubic_weights(y - y0, wy);
    C sum = 0;
    for (int i = 0; i < 4; ++i) {
      const C row = pad_position(y0 + static_cast<C>(i - 1), plane.height, how);
      C of_row = 0;
      for (int k = 0; k < 4; ++k)
        of_row += wx[k] * plane.at(row, pad_position(x0 + static_cast<C>(k - 1), plane.width, how));
      sum += wy[i] * of_row;
    }
    return sum;
  }
  x = pad_position(x, plane.width, how);
  y = pad_position(y, plane.height, how);
  if (how.interpolation == Interpolation::Nearest)
    return plane.at(std::nearbyint(y), std::nearbyint(x));
  const C x0 = std::floor(x);
  const C y0 = std::floor(y);
  const C fx = x - x0;
  const C fy = y - y0;
  return plane.at(y0, x0) * (1 - fy) * (1 - fx) + plane.at(y0, x0 + 1) * (1 - fy) * fx +
         plane.at(y0 + 1, x0) * fy * (1 - fx) + plane.at(y0 + 1, x0 + 1) * fy * fx;
}

Result<void> grid_sampler(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const Tensor& grid = args.tensor(1);
  const int64_t interpolation = args.integer(2);
  const int64_t padding = args.integer(3);
  Tensor& out = args.tensor(5);
  PTERON_TRY(check_pictures("grid_sampler_2d", in, out));
  if (!is_float(in.dtype()) || grid.rank() != 4 || grid.dtype() != in.dtype() ||
      grid.size(0) != in.size(0) || grid.size(3) != 2 || in.size(2) <= 0 || in.size(3) <= 0) {
    return kernel_error("grid_sampler_2d of " + args.describe(0) + " with " + args.describe(1));
  }
  if (interpolation < 0 || interpolation > 2)
    return kernel_error("interpolation mode " + args.describe(2) + "; 0, 1 or 2 is wanted");
  if (padding < 0 || padding > 2)
    return kernel_error("padding mode " + args.describe(3) + "; 0, 1 or 2 is wanted");
  const Sampling how{static_cast<Interpolation>(interpolation), static_cast<Padding>(padding),
                     args.boolean(4)};
  const int64_t shape[] = {in.size(0), in.size(1), grid.size(1), grid.size(2)};
  PTERON_TRY(out.resize(shape));
  if (out.numel() == 0) return {};
  return with_compute_type(in.dtype(), [&](auto type) -> Result<void> {
    using C = decltype(type);
    if constexpr (std::is_floating_point_v<C>) {
      const C* x = load_all<C>(context, in);
      const C* g = load_all<C>(context, grid);
      C* y = context.scratch_array<C>(static_cast<size_t>(out.numel()));
      const int64_t positions = shape[2] * shape[3];
      context.parallel(static_cast<size_t>(shape[0] * shape[1]), 1, [&](size_t begin, size_t end) {
        for (auto c = static_cast<int64_t>(begin); c < static_cast<int64_t>(end); ++c) {
          const Plane<C> plane{x + c * in.size(2) * in.size(3), in.size(2), in.size(3)};
          const C* at = g + c / shape[1] * positions * 2;
          for (int64_t i = 0; i < positions; ++i)
            y[c * positions + i] = sample(plane, at[2 * i], at[2 * i + 1], how);
        }
      });
      store_all(y, out);
    }
    return {};
  });
}

constexpr Kernel kTable[] = {
    {"aten::_upsample_bilinear2d_aa.out", "TLBdd>T", upsample_bilinear_smooth},
    {"aten::grid_sampler_2d.out", "TTIIB>T", grid_sampler},
    {"aten::upsample_bilinear2d.vec_out", "TlBf>T", upsample_bilinear},
    {"aten::upsample_nearest2d.vec_out", "Tlf>T", upsample_nearest},
};

}  // namespace

std::span<const Kernel> resample_kernels() { return kTable; }

}  // namespace pteron
