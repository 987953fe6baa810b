// Operators that move elements without computing: views as copies, cat, pad, layout changes.
#include <cstring>

#include "base/text.h"
#include "kernels/element.h"
#include "kernels/tables.h"
#include "kernels/view.h"
#include "runtime/strided_copy.h"

namespace pteron {
namespace {

using Context = KernelContext;

std::array<int64_t, kMaxRank> in_bytes(std::span<const int64_t> strides, size_t element) {
  std::array<int64_t, kMaxRank> out{};
  for (size_t i = 0; i < strides.size(); ++i) out[i] = strides[i] * static_cast<int64_t>(element);
  return out;
}

}  // namespace

void copy_between(KernelContext* context, const Tensor& in, const View& from, Tensor& out,
                  const View& to) {
  const size_t element = dtype_size(in.dtype());
  const auto from_strides = in_bytes({from.strides.data(), from.rank}, element);
  const auto to_strides = in_bytes({to.strides.data(), to.rank}, element);
  std::byte* target = out.data<std::byte>() + to.offset * static_cast<int64_t>(element);
  const std::byte* source = in.data<std::byte>() + from.offset * static_cast<int64_t>(element);
  const auto copy = [&](std::byte* to_data, const std::byte* from_data, const View& part) {
    strided_copy(to_data, {to_strides.data(), to.rank}, from_data, {from_strides.data(), from.rank},
                 part.shape(), element);
  };
  // Shared along the dimension that lies furthest apart in the target.
  size_t longest = 0;
  int64_t elements = 1;
  for (size_t d = 0; d < to.rank; ++d) {
    elements *= from.sizes[d];
    if (from.sizes[d] > 1 &&
        (from.sizes[longest] <= 1 || std::abs(to.strides[d]) > std::abs(to.strides[longest])))
      longest = d;
  }
  constexpr int64_t kGrain = 65536;  // Elements that are worth a thread.
  if (context == nullptr || elements <= kGrain) return copy(target, source, from);
  const auto grain = static_cast<size_t>(kGrain / (elements / from.sizes[longest]) + 1);
  context->parallel(static_cast<size_t>(from.sizes[longest]), grain, [&](size_t begin, size_t end) {
    View part = from;
    part.sizes[longest] = static_cast<int64_t>(end - begin);
    const auto first = static_cast<int64_t>(begin);
    copy(target + first * to_strides[longest], source + first * from_strides[longest], part);
  });
}

Result<void> require_same_dtype(const Tensor& in, const Tensor& out) {
  if (in.dtype() != out.dtype())
    return kernel_error("a copy of " + in.describe() + " to " + out.describe());
  return {};
}

Result<void> copy_view(KernelContext& context, const Tensor& in, const View& view, Tensor& out) {
  PTERON_TRY(require_same_dtype(in, out));
  PTERON_TRY(out.resize(view.shape()));
  if (out.numel() > 0) copy_between(&context, in, view, out, View(out));
  return {};
}

Result<void> resize_to_view(const Tensor& in, const Ints& sizes, Tensor& out) {
  if (sizes.size() > kMaxRank)
    return kernel_error("a view of rank " + std::to_string(sizes.size()));
  std::array<int64_t, kMaxRank> shape{};
  int64_t known = 1;
  int open = -1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    shape[i] = sizes[i];
    if (sizes[i] == -1 && open < 0) {
      open = static_cast<int>(i);
      continue;
    }
    if (sizes[i] < 0 || (sizes[i] > 0 && known > INT64_MAX / sizes[i]))
      return kernel_error("a view of shape " + describe_shape(sizes.span()));
    known *= sizes[i];
  }
  if (open >= 0) shape[static_cast<size_t>(open)] = known == 0 ? 0 : in.numel() / known;
  PTERON_TRY(out.resize({shape.data(), sizes.size()}));
  if (out.numel() != in.numel())
    return kernel_error("a view of shape " + describe_shape(out.sizes()) + ", " +
                        counted(out.numel(), "element") + ", of " + in.describe() + ", which has " +
                        std::to_string(in.numel()));
  return {};
}

Result<void> convert_copy(KernelContext& context, const Tensor& in, Tensor& out) {
  PTERON_TRY(out.resize(in.sizes()));
  if (in.dtype() == out.dtype()) {
    if (out.numel() > 0 && in.raw() != out.raw())
      copy_between(&context, in, View(in), out, View(out));
    return {};
  }
  // Small integers become floats in one step, rounded once; so do those of uint64, which int64 does
  // not hold.
  const bool is_short =
      is_integral(in.dtype()) && (dtype_size(in.dtype()) <= 4 || in.dtype() == DType::UInt64);
  const DType compute = is_float(in.dtype())                ? in.dtype()
                        : is_short && is_float(out.dtype()) ? promote(out.dtype(), DType::Float32)
                                                            : DType::Int64;
  if (!is_number(in.dtype()) || !is_number(out.dtype()))
    return kernel_error("a copy of " + in.describe() + " to " + out.describe());
  return with_compute_type(compute, [&](auto type) -> Result<void> {
    using C = decltype(type);
    Walk walk(out.sizes());
    walk.add(out);
    walk.add(in);
    walk.share(&context, [&](const auto& at, const auto& stride, int64_t n) {
      if (is_stored_as<C>(out.dtype()) && stride[0] == 1)
        return load(in.dtype(), in.raw(), at[1], stride[1], n, static_cast<C*>(out.raw()) + at[0]);
      constexpr int64_t kRun = 512;
      C values[kRun];
      for (int64_t i = 0; i < n; i += kRun) {
        const int64_t m = std::min(kRun, n - i);
        load(in.dtype(), in.raw(), at[1] + i * stride[1], stride[1], m, values);
        store(out.dtype(), out.raw(), at[0] + i * stride[0], stride[0], m, values);
      }
    });
    return {};
  });
}

namespace {

Result<void> clone(Context& context, const Args& args, const Kernel&) {
  return convert_copy(context, args.tensor(0), args.tensor(args.size() - 1));
}

Result<void> copy_in_place(Context& context, const Args& args, const Kernel&) {
  Tensor& to = args.tensor(0);
  const Tensor& from = args.tensor(1);
  const DType compute = is_float(from.dtype()) ? from.dtype() : DType::Int64;
  const bool alike =
      from.dtype() == to.dtype() &&
      std::equal(from.sizes().begin(), from.sizes().end(), to.sizes().begin(), to.sizes().end());
  if (alike) return convert_copy(context, from, to);
  PTERON_TRY(require_numbers(args, {0, 1}));
  return with_compute_type(compute, [&](auto type) -> Result<void> {
    using C = decltype(type);
    Walk walk(to.sizes());
    if (!walk.add(to) || !walk.add(from))
      return kernel_error("a copy of " + args.describe(1) + " to " + args.describe(0));
    walk.run([&](const auto& at, const auto& stride, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        C value{};
        load(from.dtype(), from.raw(), at[1] + i * stride[1], 1, 1, &value);
        store(to.dtype(), to.raw(), at[0] + i * stride[0], 1, 1, &value);
      }
    });
    return {};
  });
}

Result<void> copy_out(Context& context, const Args& args, const Kernel&) {
  const Tensor& self = args.tensor(0);
  const Tensor& from = args.tensor(1);
  Tensor& out = args.tensor(3);
  return map_binary(&context, self, from, out, is_float(from.dtype()) ? from.dtype() : DType::Int64,
                    [](auto, auto y) { return y; });
}

Result<void> expand_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const Ints sizes = args.ints(1);
  if (sizes.size() > kMaxRank || sizes.size() < static_cast<size_t>(in.rank()))
    return kernel_error("expand " + args.describe(0) + " to " + args.describe(1));
  View view(in);
  const size_t lead = sizes.size() - view.rank;
  View out = view;
  out.rank = sizes.size();
  for (size_t i = 0; i < sizes.size(); ++i) {
    const bool is_new = i < lead;
    const int64_t own = is_new ? 1 : view.sizes[i - lead];
    const int64_t wanted = sizes[i] == -1 && !is_new ? own : sizes[i];
    if (wanted < 0 || (own != 1 && own != wanted))
      return kernel_error("expand " + args.describe(0) + " to " + args.describe(1));
    out.sizes[i] = wanted;
    out.strides[i] = own == 1 ? 0 : view.strides[i - lead];
  }
  return copy_view(context, in, out, args.tensor(3));
}

Result<void> permute_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const Ints dims = args.ints(1);
  if (dims.size() != static_cast<size_t>(in.rank()))
    return kernel_error("permute of " + args.describe(0) + " by " + args.describe(1));
  const View view(in);
  View out = view;
  uint32_t seen = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    PTERON_ASSIGN(const int dim, wrap_dim(dims[i], in.rank()));
    if (seen & (1u << dim))
      return kernel_error("permute of " + args.describe(0) + " by " + args.describe(1));
    seen |= 1u << dim;
    out.sizes[i] = view.sizes[static_cast<size_t>(dim)];
    out.strides[i] = view.strides[static_cast<size_t>(dim)];
  }
  return copy_view(context, in, out, args.tensor(2));
}

Result<void> transpose_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  PTERON_ASSIGN(const int a, read_dim(args, 1, in.rank()));
  PTERON_ASSIGN(const int b, read_dim(args, 2, in.rank()));
  View out(in);
  std::swap(out.sizes[static_cast<size_t>(a)], out.sizes[static_cast<size_t>(b)]);
  std::swap(out.strides[static_cast<size_t>(a)], out.strides[static_cast<size_t>(b)]);
  return copy_view(context, in, out, args.tensor(3));
}

void erase_dim(View& view, size_t dim) {
  for (size_t i = dim; i + 1 < view.rank; ++i) {
    view.sizes[i] = view.sizes[i + 1];
    view.strides[i] = view.strides[i + 1];
  }
  --view.rank;
}

Result<void> select_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  if (in.rank() == 0)
    return kernel_error("select of " + args.describe(0) + ", which has no dimensions");
  PTERON_ASSIGN(const int dim, read_dim(args, 1, in.rank()));
  int64_t index = args.integer(2);
  const int64_t size = in.size(dim);
  if (index < -size || index >= size)
    return kernel_error("index " + args.describe(2) + " of dimension " + std::to_string(dim) +
                        " of size " + std::to_string(size));
  if (index < 0) index += size;
  View out(in);
  out.offset = index * out.strides[static_cast<size_t>(dim)];
  erase_dim(out, static_cast<size_t>(dim));
  return copy_view(context, in, out, args.tensor(3));
}

// start and end as Python's slices take them.
struct Slice {
  int64_t start;
  int64_t count;
};
Result<Slice> python_slice(std::optional<int64_t> start, std::optional<int64_t> end, int64_t step,
                           int64_t size) {
  if (step <= 0)
    return kernel_error("a slice with step " + std::to_string(step) + "; 1 or more is wanted");
  const auto clamp = [size](int64_t i) {
    return std::clamp<int64_t>(i < 0 ? (i < -size ? 0 : i + size) : i, 0, size);
  };
  const int64_t first = clamp(start.value_or(0));
  const int64_t last = std::max(first, clamp(end.value_or(size)));
  return Slice{first, last == first ? 0 : (last - first - 1) / step + 1};
}

Result<void> slice_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  if (in.rank() == 0)
    return kernel_error("slice of " + args.describe(0) + ", which has no dimensions");
  PTERON_ASSIGN(const int dim, read_dim(args, 1, in.rank()));
  const auto d = static_cast<size_t>(dim);
  PTERON_ASSIGN(const Slice slice, python_slice(args.optional_integer(2), args.optional_integer(3),
                                                args.integer(4), in.size(dim)));
  View out(in);
  out.offset = slice.count > 0 ? slice.start * out.strides[d] : 0;
  out.sizes[d] = slice.count;
  if (slice.count > 1) out.strides[d] *= args.integer(4);
  return copy_view(context, in, out, args.tensor(5));
}

Result<void> slice_scatter(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const Tensor& source = args.tensor(1);
  Tensor& out = args.tensor(6);
  if (in.rank() == 0)
    return kernel_error("slice_scatter of " + args.describe(0) + ", which has no dimensions");
  PTERON_ASSIGN(const int dim, read_dim(args, 2, in.rank()));
  const auto d = static_cast<size_t>(dim);
  PTERON_ASSIGN(const Slice slice, python_slice(args.optional_integer(3), args.optional_integer(4),
                                                args.integer(5), in.size(dim)));
  PTERON_TRY(require_same_dtype(in, out));
  PTERON_TRY(require_same_dtype(source, out));
  PTERON_TRY(convert_copy(context, in, out));
  View to(out);
  to.offset = slice.count > 0 ? slice.start * to.strides[d] : 0;
  to.sizes[d] = slice.count;
  if (slice.count > 1) to.strides[d] *= args.integer(5);
  if (!std::equal(source.sizes().begin(), source.sizes().end(), to.shape().begin(),
                  to.shape().end())) {
    return kernel_error("slice_scatter of " + args.describe(1) + " into " +
                        describe_shape(to.shape()));
  }
  if (source.numel() > 0) copy_between(&context, source, View(source), out, to);
  return {};
}

Result<void> split_with_sizes(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const Ints sizes = args.ints(1);
  if (in.rank() == 0)
    return kernel_error("split of " + args.describe(0) + ", which has no dimensions");
  PTERON_ASSIGN(const int dim, read_dim(args, 2, in.rank()));
  const auto d = static_cast<size_t>(dim);
  if (args.tensor_count(3) != sizes.size())
    return kernel_error("split of " + args.describe(0) + " into " + std::to_string(sizes.size()) +
                        " for " + counted(args.tensor_count(3), "output"));
  int64_t start = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || sizes[i] > in.size(dim) - start)
      return kernel_error("split sizes " + args.describe(1) + " of " + args.describe(0));
    View part(in);
    part.sizes[d] = sizes[i];
    part.offset = sizes[i] > 0 ? start * part.strides[d] : 0;
    PTERON_TRY(copy_view(context, in, part, *args.list_tensor(3, i)));
    start += sizes[i];
  }
  return {};
}

Result<void> squeeze_dims(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const Ints dims = args.ints(1);
  uint32_t drop = 0;
  for (const int64_t dim : dims) {
    PTERON_ASSIGN(const int wrapped, wrap_dim(dim, in.rank()));
    if (in.rank() > 0 && in.size(wrapped) == 1) drop |= 1u << wrapped;
  }
  View out(in);
  for (int d = in.rank() - 1; d >= 0; --d) {
    if (drop & (1u << d)) erase_dim(out, static_cast<size_t>(d));
  }
  return copy_view(context, in, out, args.tensor(2));
}

Result<void> squeeze_dim(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  PTERON_ASSIGN(const int dim, read_dim(args, 1, in.rank()));
  View out(in);
  if (in.rank() > 0 && in.size(dim) == 1) erase_dim(out, static_cast<size_t>(dim));
  return copy_view(context, in, out, args.tensor(2));
}

Result<void> unsqueeze_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  if (in.rank() == kMaxRank)
    return kernel_error("unsqueeze of " + args.describe(0) +
                        ", which has all the dimensions there can be");
  PTERON_ASSIGN(const int dim, read_dim(args, 1, in.rank() + 1));
  View out(in);
  for (size_t i = out.rank; i > static_cast<size_t>(dim); --i) {
    out.sizes[i] = out.sizes[i - 1];
    out.strides[i] = out.strides[i - 1];
  }
  out.sizes[static_cast<size_t>(dim)] = 1;
  out.strides[static_cast<size_t>(dim)] = 0;
  ++out.rank;
  return copy_view(context, in, out, args.tensor(2));
}

Result<void> view_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  Tensor& out = args.tensor(2);
  PTERON_TRY(require_same_dtype(in, out));
  PTERON_TRY(resize_to_view(in, args.ints(1), out));
  if (in.numel() == 0) return {};
  if (in.is_row_major() && out.is_row_major()) {
    if (in.raw() != out.raw()) std::memmove(out.raw(), in.raw(), in.nbytes());
    return {};
  }
  // By way of a dense copy in logical order.
  const size_t element = dtype_size(in.dtype());
  auto* dense = static_cast<std::byte*>(context.scratch(in.nbytes()));
  const auto dense_strides = [element](std::span<const int64_t> of) {
    std::array<int64_t, kMaxRank> strides{};
    auto stride = static_cast<int64_t>(element);
    for (size_t d = of.size(); d-- > 0;) {
      strides[d] = stride;
      stride *= of[d];
    }
    return strides;
  };
  const auto in_dense = dense_strides(in.sizes());
  const auto out_dense = dense_strides(out.sizes());
  const auto in_strides = in_bytes(in.strides(), element);
  const auto out_strides = in_bytes(out.strides(), element);
  const auto in_rank = static_cast<size_t>(in.rank());
  const auto out_rank = static_cast<size_t>(out.rank());
  strided_copy(dense, {in_dense.data(), in_rank}, in.raw(), {in_strides.data(), in_rank},
               in.sizes(), element);
  strided_copy(out.raw(), {out_strides.data(), out_rank}, dense, {out_dense.data(), out_rank},
               out.sizes(), element);
  return {};
}

// Copies a whole tensor to a view of `out` of the same shape, converting dtypes.
Result<void> convert_between(Context& context, const Tensor& in, Tensor& out, const View& to) {
  if (in.dtype() == out.dtype()) {
    copy_between(&context, in, View(in), out, to);
    return {};
  }
  if (!is_number(in.dtype()) || !is_number(out.dtype()))
    return kernel_error("a copy of " + in.describe() + " into " + out.describe());
  return with_compute_type(
      is_float(in.dtype()) ? in.dtype() : DType::Int64, [&](auto type) -> Result<void> {
        using C = decltype(type);
        Walk walk(in.sizes());
        walk.add(to.shape(), {to.strides.data(), to.rank});
        walk.add(in);
        walk.run([&](const auto& offset, const auto& stride, int64_t n) {
          for (int64_t k = 0; k < n; ++k) {
            C value{};
            load(in.dtype(), in.raw(), offset[1] + k * stride[1], 1, 1, &value);
            store(out.dtype(), out.raw(), to.offset + offset[0] + k * stride[0], 1, 1, &value);
          }
        });
        return {};
      });
}

Result<void> cat_(Context& context, const Args& args, const Kernel&) {
  Tensor& out = args.tensor(2);
  const size_t count = args.tensor_count(0);
  // PyTorch ignores empty tensors of rank 1 here, whatever the others' rank.
  const auto is_skipped = [](const Tensor& t) { return t.rank() == 1 && t.numel() == 0; };
  const Tensor* first = nullptr;
  for (size_t i = 0; i < count && !first; ++i) {
    if (!is_skipped(*args.list_tensor(0, i))) first = args.list_tensor(0, i);
  }
  if (!first) {
    const int64_t none[] = {0};
    return out.resize(none);
  }
  if (first->rank() == 0) return kernel_error("cat of tensors without dimensions in argument 0");
  PTERON_ASSIGN(const int dim, read_dim(args, 1, first->rank()));
  const auto d = static_cast<size_t>(dim);
  View shape(*first);
  shape.sizes[d] = 0;
  for (size_t i = 0; i < count; ++i) {
    const Tensor& in = *args.list_tensor(0, i);
    if (is_skipped(in)) continue;
    bool fits = in.rank() == first->rank() && is_number(in.dtype());
    for (int k = 0; fits && k < in.rank(); ++k) fits = k == dim || in.size(k) == first->size(k);
    if (!fits)
      return kernel_error("cat in argument 0 of " + first->describe() + " and " + in.describe());
    shape.sizes[d] += in.size(dim);
  }
  PTERON_TRY(require_numbers(args, {2}));
  PTERON_TRY(out.resize(shape.shape()));
  int64_t at = 0;
  for (size_t i = 0; i < count; ++i) {
    const Tensor& in = *args.list_tensor(0, i);
    if (is_skipped(in) || in.numel() == 0) continue;
    View to(out);
    to.sizes[d] = in.size(dim);
    to.offset = at * to.strides[d];
    at += in.size(dim);
    PTERON_TRY(convert_between(context, in, out, to));
  }
  return {};
}

Result<void> unfold_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  if (in.rank() == kMaxRank) return kernel_error("unfold of " + args.describe(0));
  PTERON_ASSIGN(const int dim, read_dim(args, 1, in.rank()));
  const auto d = static_cast<size_t>(dim);
  const int64_t size = args.integer(2);
  const int64_t step = args.integer(3);
  const int64_t whole = in.rank() > 0 ? in.size(dim) : 1;
  if (size < 0 || size > whole || step <= 0)
    return kernel_error("unfold of " + args.describe(0) + " by " + args.describe(2) + " and " +
                        args.describe(3));
  View out(in);
  if (in.rank() == 0) {
    // As if it had one dimension of one element, that goes.
    out.sizes[0] = size;
    out.strides[0] = 1;
    out.rank = 1;
    return copy_view(context, in, out, args.tensor(4));
  }
  out.sizes[out.rank] = size;
  out.strides[out.rank] = out.strides[d];
  out.sizes[d] = (in.size(dim) - size) / step + 1;
  if (out.sizes[d] > 1) out.strides[d] *= step;
  ++out.rank;
  return copy_view(context, in, out, args.tensor(4));
}

// Narrowed along `dim` to `count` elements from `start`.
View narrowed(const Tensor& in, int dim, int64_t start, int64_t count) {
  View view(in);
  const auto d = static_cast<size_t>(dim);
  view.sizes[d] = count;
  view.offset = count > 0 ? start * view.strides[d] : 0;
  return view;
}

Result<void> narrow_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  if (in.rank() == 0)
    return kernel_error("narrow of " + args.describe(0) + ", which has no dimensions");
  PTERON_ASSIGN(const int dim, read_dim(args, 1, in.rank()));
  const int64_t size = in.size(dim);
  int64_t start = args.integer(2);
  const int64_t count = args.integer(3);
  if (start < 0) start = start < -size ? -1 : start + size;
  if (start < 0 || start > size || count < 0 || count > size - start)
    return kernel_error("narrow of " + args.describe(0) + " along dimension " +
                        std::to_string(dim) + " to " + args.describe(3) + " from " +
                        args.describe(2));
  return copy_view(context, in, narrowed(in, dim, start, count), args.tensor(4));
}

Result<void> split_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  if (in.rank() == 0)
    return kernel_error("split of " + args.describe(0) + ", which has no dimensions");
  PTERON_ASSIGN(const int dim, read_dim(args, 2, in.rank()));
  const int64_t part = args.integer(1);
  const int64_t size = in.size(dim);
  if (part < 0 || (part == 0 && size > 0))
    return kernel_error("split of " + args.describe(0) + " into parts of " + args.describe(1));
  const size_t count = part == 0 || size == 0 ? 1 : static_cast<size_t>((size - 1) / part + 1);
  if (args.tensor_count(3) != count)
    return kernel_error("split of " + args.describe(0) + " into " + std::to_string(count) +
                        " for " + counted(args.tensor_count(3), "output"));
  for (size_t i = 0; i < count; ++i) {
    const int64_t start = static_cast<int64_t>(i) * part;
    PTERON_TRY(copy_view(context, in, narrowed(in, dim, start, std::min(part, size - start)),
                         *args.list_tensor(3, i)));
  }
  return {};
}

Result<void> unbind_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  if (in.rank() == 0)
    return kernel_error("unbind of " + args.describe(0) + ", which has no dimensions");
  PTERON_ASSIGN(const int dim, read_dim(args, 1, in.rank()));
  if (args.tensor_count(2) != static_cast<size_t>(in.size(dim)))
    return kernel_error("unbind of " + args.describe(0) + " for " +
                        counted(args.tensor_count(2), "output"));
  for (int64_t i = 0; i < in.size(dim); ++i) {
    View view = narrowed(in, dim, i, 1);
    erase_dim(view, static_cast<size_t>(dim));
    PTERON_TRY(copy_view(context, in, view, *args.list_tensor(2, static_cast<size_t>(i))));
  }
  return {};
}

Result<void> select_scatter(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const Tensor& source = args.tensor(1);
  int64_t index = args.integer(3);
  Tensor& out = args.tensor(4);
  if (in.rank() == 0)
    return kernel_error("select_scatter of " + args.describe(0) + ", which has no dimensions");
  PTERON_ASSIGN(const int dim, read_dim(args, 2, in.rank()));
  const int64_t size = in.size(dim);
  if (index < -size || index >= size)
    return kernel_error("index " + args.describe(3) + " of dimension " + std::to_string(dim) +
                        " of size " + std::to_string(size));
  PTERON_TRY(require_same_dtype(in, out));
  PTERON_TRY(require_same_dtype(source, out));
  PTERON_TRY(convert_copy(context, in, out));
  View to = narrowed(out, dim, index < 0 ? index + size : index, 1);
  erase_dim(to, static_cast<size_t>(dim));
  if (!std::equal(source.sizes().begin(), source.sizes().end(), to.shape().begin(),
                  to.shape().end())) {
    return kernel_error("select_scatter of " + args.describe(1) + " into " +
                        describe_shape(to.shape()));
  }
  if (source.numel() > 0) copy_between(&context, source, View(source), out, to);
  return {};
}

Result<void> stack_(Context& context, const Args& args, const Kernel&) {
  Tensor& out = args.tensor(2);
  const size_t count = args.tensor_count(0);
  if (count == 0) return kernel_error("stack of no tensors in argument 0");
  const Tensor& first = *args.list_tensor(0, 0);
  if (first.rank() == kMaxRank) return kernel_error("stack in argument 0 of " + first.describe());
  PTERON_ASSIGN(const int dim, read_dim(args, 1, first.rank() + 1));
  std::array<int64_t, kMaxRank> shape{};
  for (int d = 0; d <= first.rank(); ++d)
    shape[static_cast<size_t>(d)] = d == dim  ? static_cast<int64_t>(count)
                                    : d < dim ? first.size(d)
                                              : first.size(d - 1);
  for (size_t i = 0; i < count; ++i) {
    const Tensor& in = *args.list_tensor(0, i);
    if (!std::equal(in.sizes().begin(), in.sizes().end(), first.sizes().begin(),
                    first.sizes().end()))
      return kernel_error("stack in argument 0 of " + first.describe() + " and " + in.describe());
  }
  PTERON_TRY(out.resize({shape.data(), static_cast<size_t>(first.rank()) + 1}));
  for (size_t i = 0; i < count; ++i) {
    const Tensor& in = *args.list_tensor(0, i);
    if (in.numel() == 0) continue;
    View to = narrowed(out, dim, static_cast<int64_t>(i), 1);
    erase_dim(to, static_cast<size_t>(dim));
    PTERON_TRY(convert_between(context, in, out, to));
  }
  return {};
}

Result<void> t_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  if (in.rank() > 2) return kernel_error("t of " + args.describe(0));
  View out(in);
  if (in.rank() == 2) {
    std::swap(out.sizes[0], out.sizes[1]);
    std::swap(out.strides[0], out.strides[1]);
  }
  return copy_view(context, in, out, args.tensor(1));
}

// A complex tensor's real and imaginary parts as a last dimension.
Result<void> view_as_real(Context&, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  Tensor& out = args.tensor(1);
  const bool fits = (in.dtype() == DType::Complex64 && out.dtype() == DType::Float32) ||
                    (in.dtype() == DType::Complex128 && out.dtype() == DType::Float64);
  if (!fits || in.rank() == kMaxRank)
    return kernel_error("view_as_real of " + args.describe(0) + " into " + args.describe(1));
  View view(in);
  for (size_t d = 0; d < view.rank; ++d) view.strides[d] *= 2;
  view.sizes[view.rank] = 2;
  view.strides[view.rank++] = 1;
  PTERON_TRY(out.resize(view.shape()));
  if (out.numel() == 0) return {};
  const size_t part = dtype_size(out.dtype());
  const View to(out);
  const auto from_strides = in_bytes({view.strides.data(), view.rank}, part);
  const auto to_strides = in_bytes({to.strides.data(), to.rank}, part);
  strided_copy(out.raw(), {to_strides.data(), to.rank}, in.raw(), {from_strides.data(), view.rank},
               view.shape(), part);
  return {};
}

constexpr Kernel kTable[] = {
    {"aten::_to_copy.out", "TBi>T", clone},
    {"aten::alias_copy.out", "T>T", clone},
    {"aten::cat.out", "VI>T", cat_},
    {"aten::clone.out", "Ti>T", clone},
    {"aten::copy.out", "TTB>T", copy_out},
    {"aten::copy_", "MTB", copy_in_place},
    {"aten::detach_copy.out", "T>T", clone},
    {"aten::expand_copy.out", "TLB>T", expand_},
    {"aten::lift_fresh_copy.out", "T>T", clone},
    {"aten::narrow_copy.out", "TIII>T", narrow_},
    {"aten::permute_copy.out", "TL>T", permute_},
    {"aten::select_copy.int_out", "TII>T", select_},
    {"aten::select_scatter.out", "TTII>T", select_scatter},
    {"aten::slice_copy.Tensor_out", "TIiiI>T", slice_},
    {"aten::slice_scatter.out", "TTIiiI>T", slice_scatter},
    {"aten::split_copy.Tensor_out", "TII>V", split_},
    {"aten::split_with_sizes_copy.out", "TLI>V", split_with_sizes},
    {"aten::squeeze_copy.dim_out", "TI>T", squeeze_dim},
    {"aten::squeeze_copy.dims_out", "TL>T", squeeze_dims},
    {"aten::stack.out", "VI>T", stack_},
    {"aten::t_copy.out", "T>T", t_},
    {"aten::transpose_copy.int_out", "TII>T", transpose_},
    {"aten::unbind_copy.int_out", "TI>V", unbind_},
    {"aten::unfold_copy.out", "TIII>T", unfold_},
    {"aten::unsqueeze_copy.out", "TI>T", unsqueeze_},
    {"aten::view_copy.out", "TL>T", view_},
    {"aten::view_as_real_copy.out", "T>T", view_as_real},
    {"dim_order_ops::_clone_dim_order.out", "TBl>T", clone},
    {"dim_order_ops::_to_dim_order_copy.out", "TBl>T", clone},
    {"et_copy::_d2h_copy.out", "T>T", clone},
    {"et_copy::_h2d_copy.out", "T>T", clone},
};

}  // namespace

std::span<const Kernel> copy_kernels() { return kTable; }

}  // namespace pteron
