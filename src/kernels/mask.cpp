// Operators that pick or place elements by a mask of the same shape.
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

Result<void> masked_fill(Context&, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const Tensor& mask = args.tensor(1);
  Tensor& out = args.tensor(3);
  PTERON_ASSIGN(const Shape shape, check_mask("masked_fill", in, mask));
  PTERON_TRY(require_same_dtype(in, out));
  PTERON_TRY(out.resize(shape.span()));
  return with_compute_type(in.dtype(), [&](auto type) -> Result<void> {
    using C = decltype(type);
    const C value = scalar_operand<C>(args.scalar(2), in.dtype());
    const std::vector<int64_t> from = broadcast_offsets(in, out.sizes());
    const std::vector<int64_t> by = broadcast_offsets(mask, out.sizes());
    const std::vector<int64_t> to = offsets_of(out.sizes(), out.strides());
    for (size_t i = 0; i < to.size(); ++i) {
      if (is_set(mask, by[i]))
        store(out.dtype(), out.raw(), to[i], 1, 1, &value);
      else
        copy_element(in, from[i], out, to[i]);
    }
    return {};
  });
}

Result<void> masked_scatter(Context&, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const Tensor& mask = args.tensor(1);
  const Tensor& source = args.tensor(2);
  Tensor& out = args.tensor(3);
  PTERON_ASSIGN(const Shape shape, check_mask("masked_scatter", in, mask));
  PTERON_TRY(require_same_dtype(in, out));
  PTERON_TRY(require_same_dtype(source, out));
  PTERON_TRY(out.resize(shape.span()));
  const std::vector<int64_t> from = broadcast_offsets(in, out.sizes());
  const std::vector<int64_t> by = broadcast_offsets(mask, out.sizes());
  const std::vector<int64_t> to = offsets_of(out.sizes(), out.strides());
  const std::vector<int64_t> values = offsets_of(source.sizes(), source.strides());
  size_t taken = 0;
  for (size_t i = 0; i < to.size(); ++i) {
    if (!is_set(mask, by[i])) {
      copy_element(in, from[i], out, to[i]);
      continue;
    }
    if (taken == values.size())
      return kernel_error("masked_scatter of " + args.describe(2) + " to more places");
    copy_element(source, values[taken++], out, to[i]);
  }
  return {};
}

Result<void> masked_select(Context&, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const Tensor& mask = args.tensor(1);
  Tensor& out = args.tensor(2);
  PTERON_ASSIGN(const Shape shape, check_mask("masked_select", in, mask));
  PTERON_TRY(require_same_dtype(in, out));
  const std::vector<int64_t> from = broadcast_offsets(in, shape.span());
  const std::vector<int64_t> by = broadcast_offsets(mask, shape.span());
  int64_t count = 0;
  for (const int64_t offset : by) count += is_set(mask, offset);
  const int64_t size[] = {count};
  PTERON_TRY(out.resize(size));
  int64_t to = 0;
  for (size_t i = 0; i < by.size(); ++i) {
    if (is_set(mask, by[i])) copy_element(in, from[i], out, to++);
  }
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
    std::vector<int64_t> found;
    for (int64_t i = 0; i < in.numel(); ++i) {
      if (x[i] != C(0)) found.push_back(i);
    }
    const int64_t shape[] = {static_cast<int64_t>(found.size()), in.rank()};
    PTERON_TRY(out.resize(shape));
    for (size_t i = 0; i < found.size(); ++i) {
      int64_t rest = found[i];
      for (int d = in.rank() - 1; d >= 0; --d) {
        out.data<int64_t>()[static_cast<int64_t>(i) * out.strides()[0] + d * out.strides()[1]] =
            rest % in.size(d);
        rest /= in.size(d);
      }
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
