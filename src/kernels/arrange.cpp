// Operators that arrange elements anew: padding, repeating, rolling, shuffling between dimensions.
#include <cstring>

#include "kernels/element.h"
#include "kernels/index.h"
#include "kernels/tables.h"
#include "kernels/view.h"
#include "kernels/window.h"

namespace pteron {
namespace {

using Context = KernelContext;

// Padding counts from the last dimension, two numbers a dimension; negative numbers cut.
Result<void> constant_pad(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const Ints pad = args.ints(1);
  const Scalar value = args.scalar(2);
  Tensor& out = args.tensor(3);
  if (pad.size() % 2 != 0 || pad.size() / 2 > static_cast<size_t>(in.rank()))
    return kernel_error("padding " + args.describe(1) + " of " + args.describe(0));
  PTERON_TRY(require_same_dtype(in, out));
  PTERON_TRY(require_numbers(args, {0}));
  View from(in);
  View shape(in);
  std::array<int64_t, kMaxRank> start{};
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const size_t d = from.rank - 1 - i;
    const int64_t before = pad[2 * i];
    const int64_t after = pad[2 * i + 1];
    constexpr int64_t kMost = int64_t{1} << 40;
    if (before > kMost || before < -kMost || after > kMost || after < -kMost ||
        from.sizes[d] + std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0) < 0) {
      return kernel_error("padding " + args.describe(1) + " of " + args.describe(0));
    }
    shape.sizes[d] = from.sizes[d] + before + after;
    const int64_t cut_front = std::max<int64_t>(-before, 0);
    const int64_t cut_back = std::max<int64_t>(-after, 0);
    from.offset += cut_front * from.strides[d];
    from.sizes[d] = std::max<int64_t>(from.sizes[d] - cut_front - cut_back, 0);
    start[d] = std::max<int64_t>(before, 0);
  }
  PTERON_TRY(out.resize(shape.shape()));
  if (out.numel() == 0) return {};
  PTERON_TRY(fill(context, out, value));
  View to(out);
  for (size_t d = 0; d < to.rank; ++d) {
    to.offset += start[d] * to.strides[d];
    to.sizes[d] = from.sizes[d];
    if (from.sizes[d] == 0) return {};
  }
  copy_between(&context, in, from, out, to);
  return {};
}

Result<void> flip_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  View out(in);
  uint32_t seen = 0;
  for (const int64_t dim : args.ints(1)) {
    PTERON_ASSIGN(const int wrapped, wrap_dim(dim, in.rank()));
    if (in.rank() == 0 || (seen & (1u << wrapped))) continue;
    seen |= 1u << wrapped;
    const auto d = static_cast<size_t>(wrapped);
    if (out.sizes[d] > 0) out.offset += (out.sizes[d] - 1) * out.strides[d];
    out.strides[d] = -out.strides[d];
  }
  return copy_view(context, in, out, args.tensor(2));
}

// Reflecting leaves the border itself out, replicating repeats it. Negative padding cuts.
template <int kDims, bool kReflect>
Result<void> border_pad(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const Ints pad = args.ints(1);
  Tensor& out = args.tensor(2);
  PTERON_TRY(require_same_dtype(in, out));
  if ((in.rank() != kDims + 1 && in.rank() != kDims + 2) || pad.size() != 2 * kDims)
    return kernel_error("padding " + args.describe(1) + " of " + args.describe(0));
  PTERON_TRY(require_filled(args, kDims));
  View shape(in);
  // For each padded dimension, where in the input each position of the output comes from.
  std::array<const int64_t*, kMaxRank> source{};
  for (size_t i = 0; i < kDims; ++i) {
    const size_t d = shape.rank - 1 - i;
    const int64_t size = shape.sizes[d];
    const int64_t before = pad[2 * i];
    const int64_t after = pad[2 * i + 1];
    const int64_t most = kReflect ? size - 1 : INT32_MAX;
    if (size <= 0 || before > most || after > most || before < -size || after < -size ||
        size + before + after <= 0) {
      return kernel_error("padding " + args.describe(1) + " of " + args.describe(0));
    }
    shape.sizes[d] = size + before + after;
  }
  PTERON_TRY(out.resize(shape.shape()));
  for (size_t i = 0; i < kDims; ++i) {
    const size_t d = shape.rank - 1 - i;
    const int64_t size = in.size(static_cast<int>(d));
    int64_t* from = context.scratch_array<int64_t>(static_cast<size_t>(shape.sizes[d]));
    for (int64_t k = 0; k < shape.sizes[d]; ++k) {
      int64_t at = k - pad[2 * i];
      if (kReflect)
        at = at < 0 ? -at : at >= size ? 2 * (size - 1) - at : at;
      else
        at = std::clamp<int64_t>(at, 0, size - 1);
      from[k] = at * in.strides()[d];
    }
    source[d] = from;
  }
  // Row by row; in the middle of a row, source and target go along together.
  const size_t last = shape.rank - 1;
  const int64_t width = shape.sizes[last];
  const int64_t left = std::clamp<int64_t>(pad[0], 0, width);
  const int64_t middle =
      std::min(in.size(static_cast<int>(last)) - std::max<int64_t>(-pad[0], 0), width - left);
  const bool dense = in.strides()[last] == 1 && out.strides()[last] == 1;
  const auto rows = static_cast<size_t>(out.numel() / width);
  with_element(dtype_size(in.dtype()), [&](auto type) {
    using T = decltype(type);
    context.parallel(rows, static_cast<size_t>(16384 / width + 1), [&](size_t begin, size_t end) {
      for (size_t r = begin; r < end; ++r) {
        auto rest = static_cast<int64_t>(r);
        const T* from = static_cast<const T*>(in.raw());
        T* to = static_cast<T*>(out.raw());
        for (size_t d = last; d-- > 0;) {
          const int64_t at = rest % shape.sizes[d];
          rest /= shape.sizes[d];
          from += source[d] ? source[d][at] : at * in.strides()[d];
          to += at * out.strides()[d];
        }
        const int64_t* places = source[last];
        const int64_t step = out.strides()[last];
        const int64_t edge = dense ? left : width;
        for (int64_t k = 0; k < edge; ++k) to[k * step] = from[places[k]];
        if (!dense) continue;
        if (middle > 0) std::copy_n(from + places[left], middle, to + left);
        for (int64_t k = left + std::max<int64_t>(middle, 0); k < width; ++k)
          to[k] = from[places[k]];
      }
    });
  });
  return {};
}

Result<void> repeat_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const Ints repeats = args.ints(1);
  Tensor& out = args.tensor(2);
  PTERON_TRY(require_same_dtype(in, out));
  const size_t rank = repeats.size();
  if (rank > kMaxRank || rank < static_cast<size_t>(in.rank()))
    return kernel_error("repeat " + args.describe(1) + " of " + args.describe(0));
  const size_t lead = rank - static_cast<size_t>(in.rank());
  std::array<int64_t, kMaxRank> shape{};
  for (size_t d = 0; d < rank; ++d) {
    const int64_t size = d < lead ? 1 : in.size(static_cast<int>(d - lead));
    if (repeats[d] < 0 || (size > 0 && repeats[d] > INT32_MAX / size))
      return kernel_error("repeat " + args.describe(1) + " of " + args.describe(0));
    shape[d] = size * repeats[d];
  }
  PTERON_TRY(out.resize({shape.data(), rank}));
  if (out.numel() == 0) return {};
  // Each copy is a block of the output; they are counted through like a number.
  View block(out);
  for (size_t d = 0; d < rank; ++d)
    block.sizes[d] = d < lead ? 1 : in.size(static_cast<int>(d - lead));
  View from(in);
  for (size_t d = rank; d-- > 0;) {
    from.sizes[d] = d < lead ? 1 : from.sizes[d - lead];
    from.strides[d] = d < lead ? 0 : from.strides[d - lead];
  }
  from.rank = rank;
  std::array<int64_t, kMaxRank> index{};
  while (true) {
    block.offset = 0;
    for (size_t d = 0; d < rank; ++d) block.offset += index[d] * block.sizes[d] * block.strides[d];
    copy_between(&context, in, from, out, block);
    size_t d = rank;
    while (true) {
      if (d == 0) return {};
      --d;
      if (++index[d] < repeats[d]) break;
      index[d] = 0;
    }
  }
}

// Rolls one dimension after the other, by way of the output's shape; without dimensions, the whole
// as one run.
Result<void> roll_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const Ints shifts = args.ints(1);
  const Ints dims = args.ints(2);
  Tensor& out = args.tensor(3);
  PTERON_TRY(require_same_dtype(in, out));
  if (dims.empty() ? shifts.size() != 1 : shifts.size() != dims.size())
    return kernel_error("roll by " + args.describe(1) + " along " + args.describe(2));
  std::array<int64_t, kMaxRank> by{};
  for (size_t i = 0; i < dims.size(); ++i) {
    if (in.rank() == 0)
      return kernel_error("roll of " + args.describe(0) + " along " + args.describe(2));
    PTERON_ASSIGN(const int dim, wrap_dim(dims[i], in.rank()));
    const int64_t size = std::max<int64_t>(in.size(dim), 1);
    int64_t& own = by[static_cast<size_t>(dim)];
    own = ((own + shifts[i] % size) % size + size) % size;
  }
  PTERON_TRY(out.resize(in.sizes()));
  if (in.numel() == 0) return {};
  const auto rank = static_cast<size_t>(in.rank());
  if (dims.empty()) {
    const int64_t whole = (shifts[0] % in.numel() + in.numel()) % in.numel();
    const Places from(context, in);
    const Places to(context, out);
    with_element(dtype_size(in.dtype()), [&](auto type) {
      using T = decltype(type);
      for (int64_t i = 0; i < in.numel(); ++i) {
        const int64_t k = i + whole < in.numel() ? i + whole : i + whole - in.numel();
        static_cast<T*>(out.raw())[to[k]] = static_cast<const T*>(in.raw())[from[i]];
      }
    });
    return {};
  }
  // Each dimension that moves is two parts; a bit of `parts` says which of them.
  for (uint32_t parts = 0; parts < uint32_t{1} << rank; ++parts) {
    View from(in);
    View to(out);
    bool is_there = true;
    for (size_t d = 0; d < rank; ++d) {
      const bool wraps = parts & (uint32_t{1} << d);
      const int64_t size = in.size(static_cast<int>(d));
      const int64_t count = wraps ? by[d] : size - by[d];
      is_there = is_there && count > 0;
      from.sizes[d] = to.sizes[d] = count;
      from.offset += wraps ? (size - by[d]) * from.strides[d] : 0;
      to.offset += wraps ? 0 : by[d] * to.strides[d];
    }
    if (is_there) copy_between(&context, in, from, out, to);
  }
  return {};
}

// Splits the dimension of channels into two of `factor`, and puts each beside (or behind) the
// spatial dimension that it grows.
template <bool kToSpace>
Result<void> pixel_shuffle(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const int64_t factor = args.integer(1);
  Tensor& out = args.tensor(2);
  PTERON_TRY(require_same_dtype(in, out));
  const auto wrong = [&] {
    return kernel_error("a pixel shuffle of " + args.describe(0) + " by " + args.describe(1));
  };
  if (in.rank() < 3 || in.rank() > kMaxRank - 2 || factor < 1 || factor > INT16_MAX) return wrong();
  const auto rank = static_cast<size_t>(in.rank());
  std::array<int64_t, kMaxRank> shape{};
  std::copy(in.sizes().begin(), in.sizes().end(), shape.begin());
  int64_t& channels = shape[rank - 3];
  int64_t& height = shape[rank - 2];
  int64_t& width = shape[rank - 1];
  if (kToSpace ? channels % (factor * factor) != 0 : height % factor != 0 || width % factor != 0)
    return wrong();
  channels = kToSpace ? channels / (factor * factor) : channels * factor * factor;
  height = kToSpace ? height * factor : height / factor;
  width = kToSpace ? width * factor : width / factor;
  PTERON_TRY(out.resize({shape.data(), rank}));
  if (out.numel() == 0) return {};
  // Both as [..., channels, factor, factor, height, width].
  const Tensor& small = kToSpace ? in : out;  // The one with more channels.
  View many(small);
  View few(kToSpace ? out : in);
  many.sizes[rank + 1] = many.sizes[rank - 1];
  many.sizes[rank] = many.sizes[rank - 2];
  many.strides[rank + 1] = many.strides[rank - 1];
  many.strides[rank] = many.strides[rank - 2];
  few.strides[rank + 1] = few.strides[rank - 1] * factor;
  few.strides[rank] = few.strides[rank - 2] * factor;
  many.sizes[rank - 1] = many.sizes[rank - 2] = factor;
  many.sizes[rank - 3] /= factor * factor;
  many.strides[rank - 1] = many.strides[rank - 3];
  many.strides[rank - 2] = many.strides[rank - 3] * factor;
  many.strides[rank - 3] *= factor * factor;
  few.sizes = many.sizes;
  many.rank = few.rank = rank + 2;
  copy_between(&context, in, kToSpace ? many : few, out, kToSpace ? few : many);
  return {};
}

Result<void> diagonal_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const int64_t offset = args.integer(1);
  if (in.rank() < 2) return kernel_error("a diagonal of " + args.describe(0));
  PTERON_ASSIGN(const int first, read_dim(args, 2, in.rank()));
  PTERON_ASSIGN(const int second, read_dim(args, 3, in.rank()));
  if (first == second)
    return kernel_error("a diagonal of " + args.describe(0) + " along dimension " +
                        std::to_string(first) + " twice");
  const int64_t rows = in.size(first);
  const int64_t columns = in.size(second);
  View view(in);
  const int64_t row_stride = view.strides[static_cast<size_t>(first)];
  const int64_t column_stride = view.strides[static_cast<size_t>(second)];
  int64_t count = 0;
  if (offset >= 0 && offset < columns) count = std::min(rows, columns - offset);
  if (offset < 0 && offset > -rows) count = std::min(rows + offset, columns);
  if (count > 0) view.offset = offset >= 0 ? offset * column_stride : -offset * row_stride;
  size_t rank = 0;
  for (int d = 0; d < in.rank(); ++d) {
    if (d == first || d == second) continue;
    view.sizes[rank] = view.sizes[static_cast<size_t>(d)];
    view.strides[rank++] = view.strides[static_cast<size_t>(d)];
  }
  view.sizes[rank] = count;
  view.strides[rank++] = row_stride + column_stride;
  view.rank = rank;
  return copy_view(context, in, view, args.tensor(4));
}

// Sizes and strides are the program's own, and count in memory as it lies: every place is checked.
Result<void> as_strided(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const Ints sizes = args.ints(1);
  const Ints strides = args.ints(2);
  const int64_t offset = args.optional_integer(3).value_or(0);
  const auto wrong = [&] {
    return kernel_error("as_strided of " + args.describe(0) + " to " + args.describe(1) +
                        " by strides " + args.describe(2) + " from " + std::to_string(offset));
  };
  if (sizes.size() != strides.size() || sizes.size() > kMaxRank || offset < 0 || !in.is_row_major())
    return wrong();
  View view(in);
  view.rank = sizes.size();
  view.offset = offset;
  bool is_empty = false;
  int64_t last = offset;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] < 0 || strides[d] < 0) return wrong();
    is_empty = is_empty || sizes[d] == 0;
    view.sizes[d] = sizes[d];
    // A single element's stride leads nowhere, however large it is.
    view.strides[d] = sizes[d] > 1 ? strides[d] : 0;
  }
  for (size_t d = 0; d < sizes.size() && !is_empty; ++d) {
    if (sizes[d] > 1 && strides[d] > (INT64_MAX - last) / (sizes[d] - 1)) return wrong();
    last += (sizes[d] - 1) * strides[d];
  }
  if (!is_empty && last >= in.numel()) return wrong();
  return copy_view(context, in, view, args.tensor(4));
}

Result<void> tril_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const int64_t diagonal = args.integer(1);
  Tensor& out = args.tensor(2);
  PTERON_TRY(require_same_dtype(in, out));
  if (in.rank() < 2 || !is_number(in.dtype())) return kernel_error("tril of " + args.describe(0));
  PTERON_TRY(convert_copy(context, in, out));
  if (out.numel() == 0) return {};
  const auto rank = static_cast<size_t>(out.rank());
  const int64_t columns = out.size(out.rank() - 1);
  const int64_t rows = out.size(out.rank() - 2);
  // Where the rows begin.
  View starts(out);
  starts.sizes[rank - 1] = 1;
  const Places places(context, starts.shape(), {starts.strides.data(), rank});
  const int64_t step = out.strides()[rank - 1];
  with_element(dtype_size(out.dtype()), [&](auto type) {
    using T = decltype(type);
    for (int64_t r = 0; r < out.numel() / columns; ++r) {
      // Written so that no diagonal overflows.
      const int64_t row = r % rows;
      const int64_t kept = diagonal >= columns ? columns
                           : diagonal < -rows  ? 0
                                               : row + diagonal + 1;
      T* line = static_cast<T*>(out.raw()) + places[r];
      for (int64_t k = std::clamp<int64_t>(kept, 0, columns); k < columns; ++k)
        line[k * step] = T{};
    }
  });
  return {};
}

constexpr Kernel kTable[] = {
    {"aten::as_strided_copy.out", "TLLi>T", as_strided},
    {"aten::constant_pad_nd.out", "TLS>T", constant_pad},
    {"aten::diagonal_copy.out", "TIII>T", diagonal_},
    {"aten::flip.out", "TL>T", flip_},
    {"aten::pixel_shuffle.out", "TI>T", pixel_shuffle<true>},
    {"aten::pixel_unshuffle.out", "TI>T", pixel_shuffle<false>},
    {"aten::reflection_pad1d.out", "TL>T", border_pad<1, true>},
    {"aten::reflection_pad2d.out", "TL>T", border_pad<2, true>},
    {"aten::reflection_pad3d.out", "TL>T", border_pad<3, true>},
    {"aten::repeat.out", "TL>T", repeat_},
    {"aten::replication_pad1d.out", "TL>T", border_pad<1, false>},
    {"aten::replication_pad2d.out", "TL>T", border_pad<2, false>},
    {"aten::replication_pad3d.out", "TL>T", border_pad<3, false>},
    {"aten::roll.out", "TLL>T", roll_},
    {"aten::tril.out", "TI>T", tril_},
};

}  // namespace

std::span<const Kernel> arrange_kernels() { return kTable; }

}  // namespace pteron
