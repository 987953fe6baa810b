// Poolings over sliding windows and over parts of the input, in two and three dimensions.
#include <cmath>
#include <limits>

#include "base/text.h"
#include "kernels/tables.h"
#include "kernels/window.h"

namespace pteron {
namespace {

using Context = KernelContext;

struct Planes {
  int64_t count = 1;  // Batch and channels.
  Spatial in{1, 1, 1};
  std::array<int64_t, kMaxRank> shape{};
  size_t rank = 0;
};

// The input as planes of `dims` spatial dimensions; a batch may be missing.
Result<Planes> read_planes(const Args& args, size_t i, int dims) {
  const Tensor& in = args.tensor(i);
  if ((in.rank() != dims + 1 && in.rank() != dims + 2) || !is_number(in.dtype())) {
    return kernel_error("pooling in " + counted(dims, "dimension") + " of " + args.describe(i));
  }
  Planes planes;
  planes.rank = static_cast<size_t>(in.rank());
  const int outer = in.rank() - dims;
  for (int d = 0; d < in.rank(); ++d) {
    planes.shape[static_cast<size_t>(d)] = in.size(d);
    if (d < outer)
      planes.count *= in.size(d);
    else
      planes.in[spatial_axis(dims, d - outer)] = in.size(d);
  }
  return planes;
}

Result<void> resize_planes(Planes& planes, const Spatial& out, int dims, Tensor& tensor) {
  for (int d = 0; d < dims; ++d)
    planes.shape[planes.rank - static_cast<size_t>(dims - d)] = out[spatial_axis(dims, d)];
  return tensor.resize({planes.shape.data(), planes.rank});
}

// Calls pool(plane) for each plane, of which some share a thread.
template <typename Pool>
void each_plane(Context& context, const Planes& planes, int64_t out_size, Pool&& pool) {
  const auto grain = static_cast<size_t>(4096 / std::max<int64_t>(out_size, 1) + 1);
  context.parallel(static_cast<size_t>(planes.count), grain, [&](size_t begin, size_t end) {
    for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) pool(i);
  });
}

struct Windows {
  Spatial kernel{}, stride{}, pad{}, dilation{1, 1, 1}, out{};
};

// Arguments: kernel size, stride, padding, and dilation where there is one, from argument 1 on.
Result<Windows> read_windows(const Args& args, const Planes& planes, int dims, bool has_dilation,
                             bool ceil_mode) {
  Windows w;
  PTERON_ASSIGN(w.kernel, read_spatial(args, 1, dims, 1, "kernel size", 1));
  PTERON_ASSIGN(w.stride, read_spatial(args, 2, dims, 1, "stride", 1, w.kernel));
  PTERON_ASSIGN(w.pad, read_spatial(args, 3, dims, 0, "padding", 0, Spatial{}));
  if (has_dilation) {
    PTERON_ASSIGN(w.dilation, read_spatial(args, 4, dims, 1, "dilation", 1, Spatial{1, 1, 1}));
  }
  for (size_t d = 0; d < 3; ++d) {
    if (w.pad[d] > w.kernel[d] / 2)
      return kernel_error("pooling pads by more than half its window, " + args.describe(1) +
                          ", in " + args.describe(3));
    w.out[d] =
        window_count(planes.in[d], w.kernel[d], w.stride[d], w.pad[d], w.dilation[d], ceil_mode);
    if (w.out[d] < 1)
      return kernel_error("pooling of " + args.describe(0) + " by windows of " + args.describe(1) +
                          " leaves nothing");
  }
  return w;
}

// Calls visit(output index, ranges) for each window, ranges clipped to the input: [first, past)
// with steps.
template <typename Visit>
void for_each_window(const Planes& planes, const Windows& w, Visit&& visit) {
  int64_t at = 0;
  for (int64_t z = 0; z < w.out[0]; ++z) {
    for (int64_t y = 0; y < w.out[1]; ++y) {
      for (int64_t x = 0; x < w.out[2]; ++x, ++at) {
        const Spatial position{z, y, x};
        Spatial first{};
        Spatial past{};
        for (size_t d = 0; d < 3; ++d) {
          first[d] = position[d] * w.stride[d] - w.pad[d];
          past[d] = std::min(first[d] + (w.kernel[d] - 1) * w.dilation[d] + 1, planes.in[d]);
          if (first[d] < 0)
            first[d] += (-first[d] + w.dilation[d] - 1) / w.dilation[d] * w.dilation[d];
        }
        visit(at, position, first, past);
      }
    }
  }
}

// Towards zero; an integer's least by -1 wraps.
template <typename C>
C divide(C a, C b) {
  if constexpr (std::is_integral_v<C>) {
    if (b == -1) return static_cast<C>(0 - static_cast<std::make_unsigned_t<C>>(a));
  }
  return a / b;
}

template <typename C>
void max_pool_plane(const Planes& planes, const Windows& w, const C* in, C* out, int64_t* indices) {
  for_each_window(
      planes, w, [&](int64_t at, const Spatial&, const Spatial& first, const Spatial& past) {
        C best = std::numeric_limits<C>::has_infinity ? -std::numeric_limits<C>::infinity()
                                                      : std::numeric_limits<C>::lowest();
        int64_t index = -1;
        for (int64_t z = first[0]; z < past[0]; z += w.dilation[0]) {
          for (int64_t y = first[1]; y < past[1]; y += w.dilation[1]) {
            for (int64_t x = first[2]; x < past[2]; x += w.dilation[2]) {
              const int64_t i = (z * planes.in[1] + y) * planes.in[2] + x;
              // NaN wins, and stays.
              if (index < 0 || in[i] > best || is_nan(in[i])) {
                best = in[i];
                index = i;
              }
            }
          }
        }
        out[at] = best;
        indices[at] = std::max<int64_t>(index, 0);
      });
}

template <int kDims>
Result<void> max_pool(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  Tensor& out = args.tensor(6);
  Tensor& indices = args.tensor(7);
  PTERON_ASSIGN(Planes planes, read_planes(args, 0, kDims));
  PTERON_TRY(require_filled(args, kDims));
  PTERON_ASSIGN(const Windows w, read_windows(args, planes, kDims, true, args.boolean(5)));
  PTERON_TRY(require_numbers(args, {6, 7}));
  PTERON_TRY(resize_planes(planes, w.out, kDims, out));
  PTERON_TRY(indices.resize(out.sizes()));
  return with_compute_type(in.dtype(), [&](auto type) -> Result<void> {
    using C = decltype(type);
    const C* x = elements<C>(context, in);
    Results<C> values(context, out);
    Results<int64_t> places(context, indices);
    C* y = values.data();
    int64_t* k = places.data();
    const int64_t in_size = planes.in[0] * planes.in[1] * planes.in[2];
    const int64_t out_size = w.out[0] * w.out[1] * w.out[2];
    each_plane(context, planes, out_size, [&](int64_t i) {
      max_pool_plane(planes, w, x + i * in_size, y + i * out_size, k + i * out_size);
    });
    values.store();
    places.store();
    return {};
  });
}

template <int kDims>
Result<void> avg_pool(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const bool ceil_mode = args.boolean(4);
  const bool count_pad = args.boolean(5);
  const auto divisor = args.optional_integer(6);
  Tensor& out = args.tensor(7);
  PTERON_ASSIGN(Planes planes, read_planes(args, 0, kDims));
  PTERON_TRY(require_filled(args, kDims));
  PTERON_ASSIGN(const Windows w, read_windows(args, planes, kDims, false, ceil_mode));
  PTERON_TRY(require_numbers(args, {7}));
  // PyTorch's own rule for this one: padding does not count.
  for (size_t d = 0; kDims == 3 && d < 3; ++d) {
    if (planes.in[d] < w.kernel[d])
      return kernel_error("pooling of " + args.describe(0) + " by larger windows, " +
                          args.describe(1));
  }
  if (divisor && *divisor == 0) return kernel_error("pooling by a divisor of 0: argument 6");
  PTERON_TRY(resize_planes(planes, w.out, kDims, out));
  return with_compute_type(in.dtype(), [&](auto type) -> Result<void> {
    using C = decltype(type);
    const C* x = elements<C>(context, in);
    Results<C> results(context, out);
    C* y = results.data();
    const int64_t in_size = planes.in[0] * planes.in[1] * planes.in[2];
    const int64_t out_size = w.out[0] * w.out[1] * w.out[2];
    each_plane(context, planes, out_size, [&](int64_t i) {
      for_each_window(
          planes, w,
          [&](int64_t at, const Spatial& position, const Spatial& first, const Spatial& past) {
            C sum = 0;
            for (int64_t z = first[0]; z < past[0]; ++z) {
              for (int64_t yy = first[1]; yy < past[1]; ++yy) {
                for (int64_t xx = first[2]; xx < past[2]; ++xx)
                  sum = wrapping_add(sum,
                                     x[i * in_size + (z * planes.in[1] + yy) * planes.in[2] + xx]);
              }
            }
            int64_t count = 1;
            for (size_t d = 0; d < 3; ++d) {
              const int64_t start = position[d] * w.stride[d] - w.pad[d];
              const int64_t padded_end = std::min(start + w.kernel[d], planes.in[d] + w.pad[d]);
              count *= count_pad ? padded_end - start : std::max<int64_t>(past[d] - first[d], 0);
            }
            y[i * out_size + at] =
                divide(sum, static_cast<C>(divisor ? *divisor : std::max<int64_t>(count, 1)));
          });
    });
    results.store();
    return {};
  });
}

// Each element's gradient goes to where the maximum was.
Result<void> max_pool_backward(Context& context, const Args& args, const Kernel&) {
  const Tensor& gradient = args.tensor(0);
  const Tensor& in = args.tensor(1);
  const Tensor& indices = args.tensor(7);
  Tensor& out = args.tensor(8);
  PTERON_ASSIGN(Planes planes, read_planes(args, 1, 2));
  bool fits = is_float(in.dtype()) && gradient.dtype() == in.dtype() && out.dtype() == in.dtype() &&
              indices.dtype() == DType::Int64 && gradient.rank() == in.rank() &&
              indices.rank() == in.rank();
  for (int d = 0; fits && d < in.rank(); ++d)
    fits = gradient.size(d) == indices.size(d) &&
           (d >= in.rank() - 2 || gradient.size(d) == in.size(d));
  if (!fits)
    return kernel_error("max_pool2d_with_indices_backward of " + args.describe(0) + " at " +
                        args.describe(7) + " into " + args.describe(1));
  PTERON_TRY(out.resize(in.sizes()));
  return with_compute_type(in.dtype(), [&](auto type) -> Result<void> {
    using C = decltype(type);
    const C* g = elements<C>(context, gradient);
    const int64_t* at = elements<int64_t>(context, indices);
    Results<C> results(context, out);
    C* y = results.data();
    std::fill_n(y, out.numel(), C(0));
    if (gradient.numel() == 0) {
      results.store();
      return {};
    }
    const int64_t size = planes.in[1] * planes.in[2];
    const int64_t windows = gradient.numel() / planes.count;
    for (int64_t i = 0; i < planes.count; ++i) {
      C* plane = y + i * size;
      for (int64_t k = i * windows; k < (i + 1) * windows; ++k) {
        if (at[k] < 0 || at[k] >= size)
          return kernel_error("index " + std::to_string(at[k]) + " in argument 7 of a plane of " +
                              std::to_string(size));
        plane[at[k]] += g[k];
      }
    }
    results.store();
    return {};
  });
}

// Output i covers [floor(i * in / out), ceil((i + 1) * in / out)).
struct Part {
  int64_t first;
  int64_t past;
};
Part adaptive_part(int64_t i, int64_t in, int64_t out) {
  return {i * in / out, ((i + 1) * in + out - 1) / out};
}

template <typename C, typename Take>
void for_each_part(const Planes& planes, const Spatial& out, const C* in, Take&& take) {
  int64_t at = 0;
  for (int64_t z = 0; z < out[0]; ++z) {
    const Part pz = adaptive_part(z, planes.in[0], out[0]);
    for (int64_t y = 0; y < out[1]; ++y) {
      const Part py = adaptive_part(y, planes.in[1], out[1]);
      for (int64_t x = 0; x < out[2]; ++x, ++at)
        take(at, pz, py, adaptive_part(x, planes.in[2], out[2]), in);
    }
  }
}

// By four chains at a time, that the processor need not wait for each addition.
template <typename C>
C sum_of(const C* e, int64_t n) {
  C sums[4]{};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (int64_t k = 0; k < 4; ++k) sums[k] = wrapping_add(sums[k], e[i + k]);
  }
  for (; i < n; ++i) sums[0] = wrapping_add(sums[0], e[i]);
  return wrapping_add(wrapping_add(sums[0], sums[1]), wrapping_add(sums[2], sums[3]));
}

template <int kDims, bool kMax>
Result<void> adaptive_pool(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  Tensor& out = args.tensor(2);
  PTERON_ASSIGN(Planes planes, read_planes(args, 0, kDims));
  PTERON_ASSIGN(const Spatial size, read_spatial(args, 1, kDims, 1, "output size", 0));
  // As in PyTorch there may be no channels in the one case, and no batch in all.
  for (int d = !kMax && kDims == 2 ? in.rank() - 2 : 1; d < in.rank(); ++d) {
    if (in.size(d) == 0) return kernel_error("adaptive pooling of " + args.describe(0));
  }
  PTERON_TRY(require_numbers(args, {2}));
  PTERON_TRY(resize_planes(planes, size, kDims, out));
  if constexpr (kMax) {
    PTERON_TRY(require_numbers(args, {3}));
    PTERON_TRY(args.tensor(3).resize(out.sizes()));
  }
  return with_compute_type(in.dtype(), [&](auto type) -> Result<void> {
    using C = decltype(type);
    const C* x = elements<C>(context, in);
    Results<C> results(context, out);
    C* y = results.data();
    int64_t* indices = context.scratch_array<int64_t>(kMax ? static_cast<size_t>(out.numel()) : 0);
    const int64_t in_size = planes.in[0] * planes.in[1] * planes.in[2];
    const int64_t out_size = size[0] * size[1] * size[2];
    each_plane(context, planes, out_size, [&](int64_t i) {
      for_each_part(
          planes, size, x + i * in_size,
          [&](int64_t at, Part pz, Part py, Part px, const C* plane) {
            C value = 0;
            int64_t index = -1;
            for (int64_t z = pz.first; z < pz.past; ++z) {
              for (int64_t yy = py.first; yy < py.past; ++yy) {
                const int64_t row = (z * planes.in[1] + yy) * planes.in[2];
                if constexpr (!kMax) {
                  value = wrapping_add(value, sum_of(plane + row + px.first, px.past - px.first));
                  continue;
                }
                for (int64_t k = row + px.first; k < row + px.past; ++k) {
                  if (index < 0 || plane[k] > value || is_nan(plane[k])) {
                    value = plane[k];
                    index = k;
                  }
                }
              }
            }
            const int64_t count =
                (pz.past - pz.first) * (py.past - py.first) * (px.past - px.first);
            y[i * out_size + at] = kMax ? value : static_cast<C>(value / static_cast<C>(count));
            if constexpr (kMax) indices[i * out_size + at] = index;
          });
    });
    results.store();
    if constexpr (kMax) store_all(indices, args.tensor(3));
    return {};
  });
}

constexpr Kernel kTable[] = {
    {"aten::_adaptive_avg_pool2d.out", "TL>T", adaptive_pool<2, false>},
    {"aten::_adaptive_avg_pool3d.out", "TL>T", adaptive_pool<3, false>},
    {"aten::adaptive_max_pool2d.out", "TL>TT", adaptive_pool<2, true>},
    {"aten::adaptive_max_pool3d.out", "TL>TT", adaptive_pool<3, true>},
    {"aten::avg_pool2d.out", "TLLLBBi>T", avg_pool<2>},
    {"aten::avg_pool3d.out", "TLLLBBi>T", avg_pool<3>},
    {"aten::max_pool2d_with_indices.out", "TLLLLB>TT", max_pool<2>},
    {"aten::max_pool2d_with_indices_backward.grad_input", "TTLLLLBT>T", max_pool_backward},
    {"aten::max_pool3d_with_indices.out", "TLLLLB>TT", max_pool<3>},
};

}  // namespace

std::span<const Kernel> pool_kernels() { return kTable; }

}  // namespace pteron
