// Convolutions of one to three spatial dimensions, grouped, dilated and transposed.
#include "kernels/matmul.h"
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

// The columns of one image and group: [in_channels * kernel, out positions].
template <typename C>
void gather_columns(const Problem& p, const C* image, C* columns) {
  const int64_t positions = p.out_size();
  for (int64_t c = 0; c < p.in_channels; ++c) {
    const C* plane = image + c * p.in_size();
    C* block = columns + c * p.kernel_size() * positions;
    for_each_tap(p, p.out, p.in, [&](int64_t k, int64_t row, int64_t shift, int64_t from) {
      C* to = block + k * positions + row;
      for (int64_t x = 0; x < p.out[2]; ++x) {
        const int64_t fx = x * p.stride[2] + shift;
        to[x] = from >= 0 && fx >= 0 && fx < p.in[2] ? plane[from + fx] : C(0);
      }
    });
  }
}

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

template <typename C>
Result<void> convolve(Context& context, const Problem& p, bool transposed, const Tensor& in,
                      const Tensor& weight, const Tensor* bias, Tensor& out) {
  const C* x = load_all<C>(context, in);
  const C* w = load_all<C>(context, weight);
  const C* b = bias ? load_all<C>(context, *bias) : nullptr;
  C* y = context.scratch_array<C>(static_cast<size_t>(out.numel()));
  const int64_t channels = p.groups * p.out_channels;
  for (int64_t i = 0; i < p.batch * channels; ++i)
    std::fill_n(y + i * p.out_size(), p.out_size(), b ? b[i % channels] : C(0));
  const int64_t taps = p.kernel_size();
  const int64_t rows = (transposed ? p.out_channels : p.in_channels) * taps;
  const int64_t positions = transposed ? p.in_size() : p.out_size();
  C* columns = context.scratch_array<C>(static_cast<size_t>(rows * positions));
  C* turned =
      transposed ? context.scratch_array<C>(static_cast<size_t>(rows * p.in_channels)) : nullptr;
  for (int64_t n = 0; n < p.batch; ++n) {
    for (int64_t g = 0; g < p.groups; ++g) {
      const C* image = x + (n * p.groups + g) * p.in_channels * p.in_size();
      C* result = y + (n * p.groups + g) * p.out_channels * p.out_size();
      const C* group = w + g * p.in_channels * p.out_channels * taps;
      if (transposed) {
        // The weight is [in, out * kernel]: its transpose times the image gives the columns.
        for (int64_t r = 0; r < rows; ++r) {
          for (int64_t c = 0; c < p.in_channels; ++c)
            turned[r * p.in_channels + c] = group[c * rows + r];
        }
        std::fill_n(columns, rows * positions, C(0));
        gemm(context, rows, positions, p.in_channels, turned, image, columns);
        scatter_columns(p, columns, result);
      } else {
        gather_columns(p, image, columns);
        gemm(context, p.out_channels, positions, rows, group, columns, result);
      }
    }
  }
  store_all(y, out);
  return {};
}

Result<void> convolution_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const Tensor& weight = args.tensor(1);
  const Tensor* bias = args.optional_tensor(2);
  const bool transposed = args.boolean(6);
  const int64_t groups = args.integer(8);
  Tensor& out = args.tensor(9);
  const int dims = weight.rank() - 2;
  const bool batched = in.rank() == weight.rank();
  if (dims < 1 || dims > 3 || (!batched && in.rank() != weight.rank() - 1) ||
      in.dtype() != weight.dtype() || !is_number(in.dtype()) || !is_number(out.dtype()) ||
      (bias && !is_number(bias->dtype())) || groups < 1) {
    return kernel_error("convolution of " + in.describe() + " with " + weight.describe());
  }
  Problem p;
  p.groups = groups;
  PTERON_ASSIGN(p.stride, read_spatial(args.ints(3), dims, 1, "stride", 1));
  PTERON_ASSIGN(p.pad, read_spatial(args.ints(4), dims, 0, "padding", 0));
  PTERON_ASSIGN(p.dilation, read_spatial(args.ints(5), dims, 1, "dilation", 1));
  PTERON_ASSIGN(const Spatial extra, read_spatial(args.ints(7), dims, 0, "output padding", 0));
  p.batch = batched ? in.size(0) : 1;
  const int64_t channels = in.size(batched ? 1 : 0);
  p.in = p.kernel = {1, 1, 1};
  for (int d = 0; d < dims; ++d) {
    p.in[spatial_axis(dims, d)] = in.size((batched ? 2 : 1) + d);
    p.kernel[spatial_axis(dims, d)] = weight.size(2 + d);
  }
  // The weight is [out, in / groups, ...], or [in, out / groups, ...] where it is transposed.
  const int64_t w_in = transposed ? weight.size(0) : weight.size(1) * groups;
  const int64_t w_out = transposed ? weight.size(1) * groups : weight.size(0);
  if (w_in != channels || channels % groups != 0 || w_out % groups != 0 ||
      (bias && bias->numel() != w_out) || p.kernel_size() == 0) {
    return kernel_error("convolution of " + in.describe() + " with " + weight.describe() + " in " +
                        std::to_string(groups) + " groups");
  }
  p.in_channels = channels / groups;
  p.out_channels = w_out / groups;
  std::array<int64_t, kMaxRank> shape{};
  size_t rank = 0;
  if (batched) shape[rank++] = p.batch;
  shape[rank++] = w_out;
  for (size_t d = 0; d < 3; ++d) {
    p.out[d] = transposed ? (p.in[d] - 1) * p.stride[d] - 2 * p.pad[d] +
                                p.dilation[d] * (p.kernel[d] - 1) + extra[d] + 1
                          : window_count(p.in[d], p.kernel[d], p.stride[d], p.pad[d], p.dilation[d],
                                         false);
    if (p.out[d] < 0)
      return kernel_error("convolution of " + in.describe() + " with a kernel of " +
                          weight.describe() + " leaves nothing");
    if (d >= static_cast<size_t>(3 - dims)) shape[rank++] = p.out[d];
  }
  PTERON_TRY(out.resize({shape.data(), rank}));
  if (out.numel() == 0) return {};
  return with_compute_type(in.dtype(), [&](auto type) {
    return convolve<decltype(type)>(context, p, transposed, in, weight, bias, out);
  });
}

constexpr Kernel kTable[] = {
    {"aten::convolution.out", "TTtLLLBLI>T", convolution_},
};

}  // namespace

std::span<const Kernel> convolution_kernels() { return kTable; }

}  // namespace pteron
