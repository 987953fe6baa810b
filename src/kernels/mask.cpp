// Operators that pick or place elements by a mask of the same shape.
#include <algorithm>

#include "kernels/index.h"
#include "kernels/tables.h"
#include "kernels/view.h"

namespace pteron {
namespace {

using Context = KernelContext;

Result<Shape> check_mask(const char* what, const Tensor& in, const Tensor& mask) {
  if (mask.dtype() != DType::Bool && mask.dtype() != DType::UInt8)
    return kernel_error(std::string(what) + " by argument 1, " + mask.describe() +
                        "; a bool tensor is wanted");
  const Tensor* operands[] = {&in, &mask};
  return broadcast_shapes(operands);
}

bool is_set(const Tensor& mask, int64_t offset) { return mask.data<const uint8_t>()[offset] != 0; }

Result<void> masked_fill(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const Tensor& mask = args.tensor(1);
  Tensor& out = args.tensor(3);
  PTERON_ASSIGN(const Shape shape, check_mask("masked_fill", in, mask));
  PTERON_TRY(require_same_dtype(in, out));
  PTERON_TRY(out.resize(shape.span()));
  return with_compute_type(in.dtype(), [&](auto type) -> Result<void> {
    using C = decltype(type);
    const C number = scalar_operand<C>(args.scalar(2), in.dtype());
    Walk walk(out.sizes());
    if (!walk.add(out) || !walk.add(in) || !walk.add(mask))
      return kernel_error("shapes do not broadcast");
    with_element(dtype_size(in.dtype()), [&](auto stored) {
      using T = decltype(stored);
      T value{};
      store(out.dtype(), &value, 0, 1, 1, &number);
      walk.share(&context, [&](const auto& at, const auto& stride, int64_t n) {
        T* to = static_cast<T*>(out.raw()) + at[0];
        const T* from = static_cast<const T*>(in.raw()) + at[1];
        const uint8_t* set = mask.data<const uint8_t>() + at[2];
        for (int64_t i = 0; i < n; ++i)
          to[i * stride[0]] = set[i * stride[2]] ? value : from[i * stride[1]];
      });
    });
    return {};
  });
}

Result<void> masked_scatter(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const Tensor& mask = args.tensor(1);
  const Tensor& source = args.tensor(2);
  Tensor& out = args.tensor(3);
  PTERON_ASSIGN(const Shape shape, check_mask("masked_scatter", in, mask));
  PTERON_TRY(require_same_dtype(in, out));
  PTERON_TRY(require_same_dtype(source, out));
  PTERON_TRY(out.resize(shape.span()));
  const Places from = broadcast_places(context, in, out.sizes());
  const Places by = broadcast_places(context, mask, out.sizes());
  const Places to(context, out);
  const Places values(context, source);
  int64_t wanted = 0;
  for (int64_t i = 0; i < by.size(); ++i) wanted += is_set(mask, by[i]);
  if (wanted > values.size())
    return kernel_error("masked_scatter of " + args.describe(2) + " to more places");
  with_element(dtype_size(out.dtype()), [&](auto type) {
    using T = decltype(type);
    const T* kept = static_cast<const T*>(in.raw());
    const T* taken = static_cast<const T*>(source.raw());
    T* target = static_cast<T*>(out.raw());
    int64_t next = 0;
    for (int64_t i = 0; i < to.size(); ++i)
      target[to[i]] = is_set(mask, by[i]) ? taken[values[next++]] : kept[from[i]];
  });
  return {};
}

Result<void> masked_select(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const Tensor& mask = args.tensor(1);
  Tensor& out = args.tensor(2);
  PTERON_ASSIGN(const Shape shape, check_mask("masked_select", in, mask));
  PTERON_TRY(require_same_dtype(in, out));
  const Places from = broadcast_places(context, in, shape.span());
  const Places by = broadcast_places(context, mask, shape.span());
  int64_t count = 0;
  for (int64_t i = 0; i < by.size(); ++i) count += is_set(mask, by[i]);
  const int64_t size[] = {count};
  PTERON_TRY(out.resize(size));
  with_element(dtype_size(out.dtype()), [&](auto type) {
    using T = decltype(type);
    T* to = static_cast<T*>(out.raw());
    for (int64_t i = 0; i < by.size(); ++i) {
      if (is_set(mask, by[i])) *to++ = static_cast<const T*>(in.raw())[from[i]];
    }
  });
  return {};
}

// The positions of what is not 0, in row-major order, one row each.
Result<void> nonzero_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  Tensor& out = args.tensor(1);
  if (!is_number(in.dtype()) || out.dtype() != DType::Int64)
    return kernel_error("nonzero of " + args.describe(0) + " into " + args.describe(1));
  return with_compute_type(in.dtype(), [&](auto type) -> Result<void> {
    using C = decltype(type);
    const C* x = load_all<C>(context, in);
    const int64_t found = in.numel() - std::count(x, x + static_cast<size_t>(in.numel()), C(0));
    const int64_t shape[] = {found, in.rank()};
    PTERON_TRY(out.resize(shape));
    int64_t row = 0;
    for (int64_t i = 0; i < in.numel(); ++i) {
      if (x[i] == C(0)) continue;
      int64_t rest = i;
      for (int d = in.rank() - 1; d >= 0; --d) {
        out.data<int64_t>()[row * out.strides()[0] + d * out.strides()[1]] = rest % in.size(d);
        rest /= in.size(d);
      }
      ++row;
    }
    return {};
  });
}

constexpr Kernel kTable[] = {
    {"aten::masked_fill.Scalar_out", "TTS>T", masked_fill},
    {"aten::masked_scatter.out", "TTT>T", masked_scatter},
    {"aten::masked_select.out", "TT>T", masked_select},
    {"aten::nonzero.out", "T>T", nonzero_},
};

}  // namespace

std::span<const Kernel> mask_kernels() { return kTable; }

}  // namespace pteron
