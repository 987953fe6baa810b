// Convolutions of one to three spatial dimensions, grouped, dilated and transposed.
#include "base/text.h"
#include "kernels/gemm.h"
#include "kernels/tables.h"
#include "kernels/window.h"

namespace pteron {
namespace {

using Context = KernelContext;

struct Problem {
  int64_t batch = 1;
  int64_t groups = 1;
  int64_t in_channels = 0;   // Of a group.
  int64_t out_channels = 0;  // Of a group.
  Spatial in{}, out{}, kernel{}, stride{}, pad{}, dilation{};
  std::array<int64_t, kMaxRank> shape{};  // Of the output.
  size_t rank = 0;
  int64_t in_size() const { return in[0] * in[1] * in[2]; }
  int64_t out_size() const { return out[0] * out[1] * out[2]; }
  int64_t kernel_size() const { return kernel[0] * kernel[1] * kernel[2]; }
};

// Calls visit(k, position in the small grid, position in the large one): for each kernel element,
// where in the input (convolution) or output (transposed) each element of the other side lies.
template <typename Visit>
void for_each_tap(const Problem& p, const Spatial& windows, const Spatial& field, Visit&& visit) {
  int64_t k = 0;
  for (int64_t kz = 0; kz < p.kernel[0]; ++kz) {
    for (int64_t ky = 0; ky < p.kernel[1]; ++ky) {
      for (int64_t kx = 0; kx < p.kernel[2]; ++kx, ++k) {
        for (int64_t z = 0; z < windows[0]; ++z) {
          const int64_t fz = z * p.stride[0] + kz * p.dilation[0] - p.pad[0];
          for (int64_t y = 0; y < windows[1]; ++y) {
            const int64_t fy = y * p.stride[1] + ky * p.dilation[1] - p.pad[1];
            const int64_t row = (z * windows[1] + y) * windows[2];
            const bool inside = fz >= 0 && fz < field[0] && fy >= 0 && fy < field[1];
            visit(k, row, kx * p.dilation[2] - p.pad[2],
                  inside ? (fz * field[1] + fy) * field[2] : -1);
          }
        }
      }
    }
  }
}

// The columns of one image and group, [in_channels * kernel, out positions], which are never all in
// memory: the product packs what it needs.
template <typename C>
struct Columns {
  const Problem& p;
  const C* image;

  void pack(int64_t k0, int64_t k, int64_t j0, int64_t columns, int64_t width, C* to) const {
    const int64_t taps = p.kernel_size();
    for (int64_t row = k0; row < k0 + k; ++row, to += width) {
      const C* plane = image + row / taps * p.in_size();
      const int64_t tap = row % taps;
      const int64_t dz = tap / (p.kernel[1] * p.kernel[2]) * p.dilation[0] - p.pad[0];
      const int64_t dy = tap / p.kernel[2] % p.kernel[1] * p.dilation[1] - p.pad[1];
      const int64_t dx = tap % p.kernel[2] * p.dilation[2] - p.pad[2];
      int64_t x = j0 % p.out[2];
      int64_t line = j0 / p.out[2];
      for (int64_t done = 0; done < columns; ++line, x = 0) {
        const int64_t n = std::min(columns - done, p.out[2] - x);
        const int64_t z = line / p.out[1] * p.stride[0] + dz;
        const int64_t y = line % p.out[1] * p.stride[1] + dy;
        const bool inside = z >= 0 && z < p.in[0] && y >= 0 && y < p.in[1];
        if (inside)
          copy_line(plane + (z * p.in[1] + y) * p.in[2], x * p.stride[2] + dx, n, to + done);
        else
          std::fill_n(to + done, n, C(0));
        done += n;
      }
      std::fill(to + columns, to + width, C(0));
    }
  }

 private:
  // n elements of a line of the input, from `first`, a stride apart; zeros outside.
  void copy_line(const C* line, int64_t first, int64_t n, C* to) const {
    const int64_t stride = p.stride[2];
    int64_t i = first < 0 ? std::min(n, (-first + stride - 1) / stride) : 0;
    std::fill_n(to, i, C(0));
    const int64_t past = first >= p.in[2] ? 0 : (p.in[2] - first + stride - 1) / stride;
    const int64_t end = std::max(i, std::min(n, past));
    if (stride == 1) {
      std::copy_n(line + first + i, end - i, to + i);
    } else {
      for (; i < end; ++i) to[i] = line[first + i * stride];
    }
    std::fill(to + end, to + n, C(0));
  }
};

// Adds columns [out_channels * kernel, in positions] to one image and group of the output.
template <typename C>
void scatter_columns(const Problem& p, const C* columns, C* image) {
  const int64_t positions = p.in_size();
  for (int64_t c = 0; c < p.out_channels; ++c) {
    C* plane = image + c * p.out_size();
    const C* block = columns + c * p.kernel_size() * positions;
    for_each_tap(p, p.in, p.out, [&](int64_t k, int64_t row, int64_t shift, int64_t to) {
      if (to < 0) return;
      const C* from = block + k * positions + row;
      for (int64_t x = 0; x < p.in[2]; ++x) {
        const int64_t tx = x * p.stride[2] + shift;
        if (tx >= 0 && tx < p.out[2]) plane[to + tx] += from[x];
      }
    });
  }
}

// How one plane of a depthwise convolution is laid out so that each tap of a filter is a run of
// memory: padded, and split by the columns' place within the stride.
struct PaddedPlane {
  int64_t phase;     // Columns of each place within the stride.
  int64_t row_size;  // Of all of them.
  int64_t rows;
};
PaddedPlane padded_plane(const Problem& p) {
  const int64_t step = p.stride[2];
  const int64_t phase = (p.in[2] + 2 * p.pad[2] + step - 1) / step + 1;
  return {phase, phase * step, p.in[1] + 2 * p.pad[1]};
}

// One filter a channel, no depth, and padding that is no more than ordinary.
bool is_depthwise(const Problem& p) {
  constexpr int64_t kMostPadding = 1 << 10;
  return p.in_channels == 1 && p.out_channels == 1 && p.in[0] == 1 && p.kernel[0] == 1 &&
         p.out[0] == 1 && p.pad[0] == 0 && p.pad[1] <= kMostPadding && p.pad[2] <= kMostPadding &&
         p.stride[2] <= kMostPadding;
}

void depthwise(KernelContext& context, const Problem& p, const float* x, const float* w,
               const float* bias, float* y) {
  const int64_t step = p.stride[2];
  const PaddedPlane layout = padded_plane(p);
  const int64_t phase = layout.phase;
  const int64_t row_size = layout.row_size;
  const int64_t rows = layout.rows;
  const int64_t planes = p.batch * p.groups;
  const int64_t taps = p.kernel_size();
  float* padded = context.scratch_array<float>(static_cast<size_t>(planes * rows * row_size));
  const float** lines = context.scratch_array<const float*>(static_cast<size_t>(planes * taps));
  const VectorFunctions& vector = vector_functions();
  const int64_t work = p.out_size() * (taps + 4);
  const auto grain = static_cast<size_t>(std::max<int64_t>(1, (int64_t{1} << 17) / work));
  context.parallel(static_cast<size_t>(planes), grain, [=, &p, &vector](size_t begin, size_t end) {
    for (auto plane = static_cast<int64_t>(begin); plane < static_cast<int64_t>(end); ++plane) {
      const int64_t channel = plane % p.groups;
      float* own = padded + plane * rows * row_size;
      std::fill_n(own, rows * row_size, 0.0f);
      for (int64_t r = 0; r < p.in[1]; ++r) {
        const float* from = x + (plane * p.in[1] + r) * p.in[2];
        float* to = own + (r + p.pad[1]) * row_size;
        if (step == 1) {
          std::copy_n(from, p.in[2], to + p.pad[2]);
        } else {
          for (int64_t c = 0; c < p.in[2]; ++c)
            to[(c + p.pad[2]) % step * phase + (c + p.pad[2]) / step] = from[c];
        }
      }
      const float** tap = lines + plane * taps;
      for (int64_t r = 0; r < p.out[1]; ++r) {
        for (int64_t t = 0; t < taps; ++t) {
          const int64_t dx = t % p.kernel[2] * p.dilation[2];
          const int64_t row = r * p.stride[1] + t / p.kernel[2] * p.dilation[1];
          tap[t] = own + row * row_size + dx % step * phase + dx / step;
        }
        vector.taps(tap, w + channel * taps, taps, bias ? bias[channel] : 0.0f,
                    y + (plane * p.out[1] + r) * p.out[2], p.out[2]);
      }
    }
  });
}

template <typename C>
Result<void> convolve(Context& context, const Problem& p, bool transposed, const Tensor& in,
                      const Tensor& weight, const Tensor* bias, Tensor& out) {
  const C* x = elements<C>(context, in);
  const C* w = elements<C>(context, weight);
  const C* b = bias ? elements<C>(context, *bias) : nullptr;
  Results<C> y(context, out);
  if constexpr (std::is_same_v<C, float>) {
    if (!transposed && is_depthwise(p)) {
      depthwise(context, p, x, w, b, y.data());
      y.store();
      return {};
    }
  }
  const int64_t channels = p.groups * p.out_channels;
  for (int64_t i = 0; i < p.batch * channels && (b || transposed); ++i)
    std::fill_n(y.data() + i * p.out_size(), p.out_size(), b ? b[i % channels] : C(0));
  const int64_t taps = p.kernel_size();
  const int64_t rows = (transposed ? p.out_channels : p.in_channels) * taps;
  const Spatial none{0, 0, 0};
  const Spatial one{1, 1, 1};
  const bool pointwise = taps == 1 && p.stride == one && p.pad == none && p.in == p.out;
  C* columns =
      transposed ? context.scratch_array<C>(static_cast<size_t>(rows * p.in_size())) : nullptr;
  PackSpace<C> space;
  [[maybe_unused]] C* all = nullptr;  // Columns of all windows, where they are not packed by parts.
  for (int64_t n = 0; n < p.batch; ++n) {
    for (int64_t g = 0; g < p.groups; ++g) {
      const C* image = x + (n * p.groups + g) * p.in_channels * p.in_size();
      C* result = y.data() + (n * p.groups + g) * p.out_channels * p.out_size();
      const C* group = w + g * p.in_channels * p.out_channels * taps;
      if (transposed) {
        // The weight is [in, out * kernel]: its transpose times the image gives the columns.
        gemm<C>(context, rows, p.in_size(), p.in_channels, {group, 1, rows},
                {image, p.in_size(), 1}, columns, p.in_size(), false, &space);
        scatter_columns(p, columns, result);
      } else if (pointwise) {
        gemm<C>(context, p.out_channels, p.out_size(), rows, {group, rows, 1},
                {image, p.in_size(), 1}, result, p.out_size(), b != nullptr, &space);
      } else if constexpr (std::is_floating_point_v<C>) {
        gemm_packed<C>(context, p.out_channels, p.out_size(), rows, {group, rows, 1},
                       Columns<C>{p, image}, result, p.out_size(), b != nullptr, &space);
      } else {
        if (!all) all = context.scratch_array<C>(static_cast<size_t>(rows * p.out_size()));
        Columns<C>{p, image}.pack(0, rows, 0, p.out_size(), p.out_size(), all);
        gemm<C>(context, p.out_channels, p.out_size(), rows, {group, rows, 1},
                {all, p.out_size(), 1}, result, p.out_size(), b != nullptr, &space);
      }
    }
  }
  y.store();
  return {};
}

// The windows of a convolution; `first` is the place of stride among the arguments, which padding,
// dilation, transposed, output padding and groups follow, `in_at` that of the input, which the
// weight follows.
Result<Problem> read_problem(const Args& args, size_t first, size_t in_at) {
  const Tensor& in = args.tensor(in_at);
  const Tensor& weight = args.tensor(in_at + 1);
  const std::string what = args.describe(in_at) + " with " + args.describe(in_at + 1);
  const bool transposed = args.boolean(first + 3);
  const int64_t groups = args.integer(first + 5);
  const int dims = weight.rank() - 2;
  const bool batched = in.rank() == weight.rank();
  if (dims < 1 || dims > 3 || (!batched && in.rank() != weight.rank() - 1) ||
      in.dtype() != weight.dtype() || !is_number(in.dtype()) || groups < 1) {
    return kernel_error("convolution of " + what);
  }
  Problem p;
  p.groups = groups;
  PTERON_ASSIGN(p.stride, read_spatial(args, first, dims, 1, "stride", 1));
  PTERON_ASSIGN(p.pad, read_spatial(args, first + 1, dims, 0, "padding", 0));
  PTERON_ASSIGN(p.dilation, read_spatial(args, first + 2, dims, 1, "dilation", 1));
  PTERON_ASSIGN(const Spatial extra,
                read_spatial(args, first + 4, dims, 0, "output padding", 0, Spatial{}));
  p.batch = batched ? in.size(0) : 1;
  const int64_t channels = in.size(batched ? 1 : 0);
  p.in = p.kernel = {1, 1, 1};
  for (int d = 0; d < dims; ++d) {
    p.in[spatial_axis(dims, d)] = in.size((batched ? 2 : 1) + d);
    p.kernel[spatial_axis(dims, d)] = weight.size(2 + d);
  }
  const auto wrong_groups = [&] {
    return kernel_error("convolution of " + what + " in " + counted(groups, "group"));
  };
  // Before anything is multiplied by it.
  if (groups > std::max<int64_t>(channels, 1)) return wrong_groups();
  // The weight is [out, in / groups, ...], or [in, out / groups, ...] where it is transposed.
  const int64_t w_in = transposed ? weight.size(0) : weight.size(1) * groups;
  const int64_t w_out = transposed ? weight.size(1) * groups : weight.size(0);
  if (w_in != channels || channels % groups != 0 || w_out < groups || w_out % groups != 0 ||
      p.kernel_size() == 0) {
    return wrong_groups();
  }
  p.in_channels = channels / groups;
  p.out_channels = w_out / groups;
  if (batched) p.shape[p.rank++] = p.batch;
  p.shape[p.rank++] = w_out;
  for (size_t d = 0; d < 3; ++d) {
    p.out[d] = transposed ? (p.in[d] - 1) * p.stride[d] - 2 * p.pad[d] +
                                p.dilation[d] * (p.kernel[d] - 1) + extra[d] + 1
                          : window_count(p.in[d], p.kernel[d], p.stride[d], p.pad[d], p.dilation[d],
                                         false);
    // As in PyTorch a batch may be empty, and channels, but no line; and a result only where the
    // convolution is transposed.
    if (p.out[d] < (transposed ? 0 : 1) || (p.in[d] == 0 && p.batch > 0 && channels > 0))
      return kernel_error("convolution of " + what + " leaves nothing");
    if (transposed && extra[d] >= std::max(p.stride[d], p.dilation[d]))
      return kernel_error("output padding in " + args.describe(first + 4) +
                          " is not below stride or dilation");
    if (d >= static_cast<size_t>(3 - dims)) p.shape[p.rank++] = p.out[d];
  }
  return p;
}

Result<void> convolution_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const Tensor& weight = args.tensor(1);
  const Tensor* bias = args.optional_tensor(2);
  Tensor& out = args.tensor(9);
  PTERON_ASSIGN(const Problem p, read_problem(args, 3, 0));
  if (!is_number(out.dtype())) return kernel_error("convolution into " + args.describe(9));
  if (bias && (bias->numel() != p.groups * p.out_channels || !is_number(bias->dtype())))
    return kernel_error("convolution of " + args.describe(0) + " with a bias of " +
                        args.describe(2));
  PTERON_TRY(out.resize({p.shape.data(), p.rank}));
  if (out.numel() == 0) return {};
  return with_compute_type(in.dtype(), [&](auto type) {
    return convolve<decltype(type)>(context, p, args.boolean(6), in, weight, bias, out);
  });
}

// The gradients of a convolution by its input, weight and bias, those that the mask asks for.
// Written plainly, tap by tap: it is for training on small devices.
template <typename C>
void convolution_gradients(const Problem& p, bool transposed, const C* gradient, const C* in,
                           const C* weight, C* in_gradient, C* weight_gradient) {
  // A transposed convolution runs windows over its output instead of its input.
  const Spatial& windows = transposed ? p.in : p.out;
  const Spatial& field = transposed ? p.out : p.in;
  const int64_t taps = p.kernel_size();
  for (int64_t n = 0; n < p.batch; ++n) {
    for (int64_t g = 0; g < p.groups; ++g) {
      for (int64_t i = 0; i < p.in_channels; ++i) {
        for (int64_t o = 0; o < p.out_channels; ++o) {
          const int64_t in_at = ((n * p.groups + g) * p.in_channels + i) * p.in_size();
          const int64_t out_at = ((n * p.groups + g) * p.out_channels + o) * p.out_size();
          const int64_t w_at = (transposed ? (g * p.in_channels + i) * p.out_channels + o
                                           : (g * p.out_channels + o) * p.in_channels + i) *
                               taps;
          for_each_tap(p, windows, field, [&](int64_t k, int64_t row, int64_t shift, int64_t from) {
            if (from < 0) return;
            for (int64_t x = 0; x < windows[2]; ++x) {
              const int64_t fx = x * p.stride[2] + shift;
              if (fx < 0 || fx >= field[2]) continue;
              const int64_t a = in_at + (transposed ? row + x : from + fx);
              const int64_t b = out_at + (transposed ? from + fx : row + x);
              if (in_gradient) in_gradient[a] += gradient[b] * weight[w_at + k];
              if (weight_gradient) weight_gradient[w_at + k] += gradient[b] * in[a];
            }
          });
        }
      }
    }
  }
}

Result<void> convolution_backward(Context& context, const Args& args, const Kernel&) {
  const Tensor& gradient = args.tensor(0);
  const Tensor& in = args.tensor(1);
  const Tensor& weight = args.tensor(2);
  const bool transposed = args.boolean(7);
  const std::span<const uint8_t> mask = args.booleans(10);
  PTERON_ASSIGN(const Problem p, read_problem(args, 4, 1));
  if (!is_float(in.dtype()) || gradient.dtype() != in.dtype() || mask.size() != 3 ||
      !std::equal(gradient.sizes().begin(), gradient.sizes().end(), p.shape.begin(),
                  p.shape.begin() + static_cast<std::ptrdiff_t>(p.rank))) {
    return kernel_error("convolution_backward of " + args.describe(0) + " for " + args.describe(1) +
                        " and " + args.describe(2));
  }
  for (size_t i = 0; i < 3; ++i) {
    if (mask[i] && args.tensor(11 + i).dtype() != in.dtype())
      return kernel_error("convolution_backward into " + args.describe(11 + i));
  }
  if (mask[0]) PTERON_TRY(args.tensor(11).resize(in.sizes()));
  if (mask[1]) PTERON_TRY(args.tensor(12).resize(weight.sizes()));
  const int64_t channels[] = {p.groups * p.out_channels};
  if (mask[2]) PTERON_TRY(args.tensor(13).resize(channels));
  return with_compute_type(in.dtype(), [&](auto type) -> Result<void> {
    using C = decltype(type);
    const C* dy = load_all<C>(context, gradient);
    const C* x = load_all<C>(context, in);
    const C* w = load_all<C>(context, weight);
    const auto zeros = [&](bool wanted, int64_t count) -> C* {
      if (!wanted) return nullptr;
      C* array = context.scratch_array<C>(static_cast<size_t>(count));
      std::fill_n(array, count, C(0));
      return array;
    };
    C* dx = zeros(mask[0], in.numel());
    C* dw = zeros(mask[1], weight.numel());
    C* db = zeros(mask[2], channels[0]);
    convolution_gradients(p, transposed, dy, x, w, dx, dw);
    for (int64_t i = 0; db && i < gradient.numel(); ++i)
      db[i / p.out_size() % channels[0]] += dy[i];
    if (dx) store_all(dx, args.tensor(11));
    if (dw) store_all(dw, args.tensor(12));
    if (db) store_all(db, args.tensor(13));
    return {};
  });
}

constexpr Kernel kTable[] = {
    {"aten::convolution_backward.out", "TTTlLLLBLIQ>TTT", convolution_backward},
    {"aten::convolution.out", "TTtLLLBLI>T", convolution_},
};

}  // namespace

std::span<const Kernel> convolution_kernels() { return kTable; }

}  // namespace pteron
