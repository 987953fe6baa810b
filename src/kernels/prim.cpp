// Operators on a program's own numbers (symbolic sizes, loop counters), and views that copy
// nothing.
#include <cmath>
#include <cstring>

#include "kernels/element.h"
#include "kernels/tables.h"
#include "kernels/view.h"

namespace pteron {
namespace {

using Context = KernelContext;

bool is_real(const Scalar& a, const Scalar& b) {
  return a.kind == ValueKind::Double || b.kind == ValueKind::Double;
}

Result<void> set_scalar(const Args& args, size_t i, const Scalar& value) {
  if (value.kind == ValueKind::Double) return args.set_real(i, value.real);
  if (args.value(i).kind == ValueKind::Double) return args.set_real(i, value.real);
  return args.set_int(i, value.integer);
}

template <typename IntOp, typename RealOp>
Result<void> arithmetic(const Args& args, IntOp int_op, RealOp real_op) {
  const Scalar a = args.scalar(0);
  const Scalar b = args.scalar(1);
  if (is_real(a, b)) return args.set_real(2, real_op(a.real, b.real));
  return set_scalar(args, 2,
                    {ValueKind::Int, int_op(a.integer, b.integer),
                     static_cast<double>(int_op(a.integer, b.integer))});
}

int64_t wrap(uint64_t value) { return static_cast<int64_t>(value); }

Result<void> prim_add(Context&, const Args& args, const Kernel&) {
  return arithmetic(
      args,
      [](int64_t a, int64_t b) {
        return wrap(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
      },
      [](double a, double b) { return a + b; });
}
Result<void> prim_sub(Context&, const Args& args, const Kernel&) {
  return arithmetic(
      args,
      [](int64_t a, int64_t b) {
        return wrap(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
      },
      [](double a, double b) { return a - b; });
}
Result<void> prim_mul(Context&, const Args& args, const Kernel&) {
  return arithmetic(
      args,
      [](int64_t a, int64_t b) {
        return wrap(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
      },
      [](double a, double b) { return a * b; });
}
Result<void> prim_max(Context&, const Args& args, const Kernel&) {
  return arithmetic(
      args, [](int64_t a, int64_t b) { return a > b ? a : b; },
      [](double a, double b) { return a > b ? a : b; });
}
Result<void> prim_min(Context&, const Args& args, const Kernel&) {
  return arithmetic(
      args, [](int64_t a, int64_t b) { return a < b ? a : b; },
      [](double a, double b) { return a < b ? a : b; });
}

// Python's // and %: toward minus infinity.
Result<void> prim_floordiv(Context&, const Args& args, const Kernel&) {
  const Scalar a = args.scalar(0);
  const Scalar b = args.scalar(1);
  if (b.real == 0)
    return kernel_error("division of " + args.describe(0) + " by " + args.describe(1));
  if (is_real(a, b)) return args.set_real(2, std::floor(a.real / b.real));
  if (b.integer == -1) return args.set_int(2, wrap(0 - static_cast<uint64_t>(a.integer)));
  const int64_t q = a.integer / b.integer;
  return args.set_int(2, q - (a.integer % b.integer != 0 && (a.integer < 0) != (b.integer < 0)));
}
Result<void> prim_mod(Context&, const Args& args, const Kernel&) {
  const Scalar a = args.scalar(0);
  const Scalar b = args.scalar(1);
  if (b.real == 0)
    return kernel_error("division of " + args.describe(0) + " by " + args.describe(1));
  if (is_real(a, b)) {
    const double r = std::fmod(a.real, b.real);
    return args.set_real(2, r != 0 && (r < 0) != (b.real < 0) ? r + b.real : r);
  }
  if (b.integer == -1) return args.set_int(2, 0);
  const int64_t r = a.integer % b.integer;
  return args.set_int(2, r != 0 && (r < 0) != (b.integer < 0) ? r + b.integer : r);
}
Result<void> prim_truediv(Context&, const Args& args, const Kernel&) {
  if (args.scalar(1).real == 0)
    return kernel_error("division of " + args.describe(0) + " by " + args.describe(1));
  return args.set_real(2, args.scalar(0).real / args.scalar(1).real);
}

#define PTERON_COMPARE(name, op)                                                        \
  Result<void> name(Context&, const Args& args, const Kernel&) {                        \
    const Scalar a = args.scalar(0);                                                    \
    const Scalar b = args.scalar(1);                                                    \
    return args.set_bool(2, is_real(a, b) ? a.real op b.real : a.integer op b.integer); \
  }
PTERON_COMPARE(prim_eq, ==)
PTERON_COMPARE(prim_ne, !=)
PTERON_COMPARE(prim_gt, >)
PTERON_COMPARE(prim_ge, >=)
PTERON_COMPARE(prim_lt, <)
PTERON_COMPARE(prim_le, <=)
#undef PTERON_COMPARE

Result<void> prim_neg(Context&, const Args& args, const Kernel&) {
  const Scalar a = args.scalar(0);
  if (a.kind == ValueKind::Double) return args.set_real(1, -a.real);
  return args.set_int(1, wrap(0 - static_cast<uint64_t>(a.integer)));
}
Result<void> prim_float(Context&, const Args& args, const Kernel&) {
  return args.set_real(1, args.scalar(0).real);
}
Result<void> prim_int(Context&, const Args& args, const Kernel&) {
  return args.set_int(1, args.scalar(0).to<int64_t>());
}
Result<void> prim_not(Context&, const Args& args, const Kernel&) {
  return args.set_bool(1, !args.scalar(0).to<bool>());
}
Result<void> prim_ite(Context&, const Args& args, const Kernel&) {
  return set_scalar(args, 3, args.scalar(args.scalar(0).to<bool>() ? 1 : 2));
}
template <double (*kRound)(double)>
Result<void> prim_round(Context&, const Args& args, const Kernel&) {
  const Scalar a = args.scalar(0);
  if (a.kind != ValueKind::Double) return args.set_int(1, a.integer);
  const double rounded = kRound(a.real);
  return args.set_int(1, Scalar{ValueKind::Double, 0, rounded}.to<int64_t>());
}
double ceil_double(double x) { return std::ceil(x); }
double round_double(double x) { return std::nearbyint(x); }
double trunc_double(double x) { return std::trunc(x); }

Result<void> sym_size(Context&, const Args& args, const Kernel&) {
  const Tensor& tensor = args.tensor(0);
  if (tensor.rank() == 0) return kernel_error(args.describe(0) + " has no dimensions");
  PTERON_ASSIGN(const int dim, read_dim(args, 1, tensor.rank()));
  return args.set_int(2, tensor.size(dim));
}
Result<void> sym_numel(Context&, const Args& args, const Kernel&) {
  return args.set_int(1, args.tensor(0).numel());
}

Result<void> local_scalar(Context&, const Args& args, const Kernel&) {
  const Tensor& tensor = args.tensor(0);
  if (tensor.numel() != 1 || !is_number(tensor.dtype()))
    return kernel_error("a tensor of one element is wanted, got " + args.describe(0));
  if (is_float(tensor.dtype())) {
    double value = 0;
    load(tensor.dtype(), tensor.raw(), 0, 1, 1, &value);
    return args.set_real(1, value);
  }
  int64_t value = 0;
  load(tensor.dtype(), tensor.raw(), 0, 1, 1, &value);
  if (tensor.dtype() == DType::Bool) return args.set_bool(1, value != 0);
  return args.set_int(1, value);
}

// The output shares the input's memory.
Result<void> et_view(Context&, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  Tensor& out = args.tensor(2);
  PTERON_TRY(require_same_dtype(in, out));
  PTERON_TRY(resize_to_view(in, args.ints(1), out));
  out.set_raw(in.raw());
  return {};
}

// Appends a slice: `to` grows to index + 1 along its first dimension.
Result<void> et_copy_index(Context&, const Args& args, const Kernel&) {
  Tensor& to = args.tensor(0);
  const Tensor& from = args.tensor(1);
  const int64_t index = args.integer(2);
  if (to.rank() != from.rank() + 1 || to.dtype() != from.dtype() || index < 0 ||
      !to.is_row_major() || !from.is_row_major()) {
    return kernel_error("slice " + args.describe(2) + " of " + args.describe(0) + " from " +
                        args.describe(1));
  }
  for (int d = 0; d < from.rank(); ++d) {
    if (to.size(d + 1) != from.size(d))
      return kernel_error("a slice of " + args.describe(0) + " from " + args.describe(1));
  }
  if (index >= to.bounds()[0])
    return kernel_error("slice " + args.describe(2) + " of " + args.describe(0));
  std::array<int64_t, kMaxRank> shape{};
  std::copy(to.sizes().begin(), to.sizes().end(), shape.begin());
  shape[0] = index + 1;
  if (to.is_dynamic()) PTERON_TRY(to.resize({shape.data(), static_cast<size_t>(to.rank())}));
  if (from.nbytes() > 0)
    std::memmove(to.data<std::byte>() + static_cast<size_t>(index) * from.nbytes(), from.raw(),
                 from.nbytes());
  return {};
}

constexpr Kernel kTable[] = {
    {"aten::_local_scalar_dense", "T>X", local_scalar},
    {"aten::sym_numel", "T>I", sym_numel},
    {"aten::sym_size.int", "TI>I", sym_size},
    {"executorch_prim::add.Scalar", "XX>X", prim_add},
    {"executorch_prim::ceil.Scalar", "X>X", prim_round<ceil_double>},
    {"executorch_prim::eq.Scalar", "XX>X", prim_eq},
    {"executorch_prim::et_copy_index.tensor", "MTI", et_copy_index},
    {"executorch_prim::et_view.default", "TL>A", et_view},
    {"executorch_prim::floordiv.Scalar", "XX>X", prim_floordiv},
    {"executorch_prim::floordiv.int", "XX>X", prim_floordiv},
    {"executorch_prim::ge.Scalar", "XX>X", prim_ge},
    {"executorch_prim::gt.Scalar", "XX>X", prim_gt},
    {"executorch_prim::le.Scalar", "XX>X", prim_le},
    {"executorch_prim::lt.Scalar", "XX>X", prim_lt},
    {"executorch_prim::mod.Scalar", "XX>X", prim_mod},
    {"executorch_prim::mod.int", "XX>X", prim_mod},
    {"executorch_prim::mul.Scalar", "XX>X", prim_mul},
    {"executorch_prim::ne.Scalar", "XX>X", prim_ne},
    {"executorch_prim::neg.Scalar", "X>X", prim_neg},
    {"executorch_prim::round.Scalar", "X>X", prim_round<round_double>},
    {"executorch_prim::sub.Scalar", "XX>X", prim_sub},
    {"executorch_prim::sym_float.Scalar", "X>X", prim_float},
    {"executorch_prim::sym_int.Scalar", "X>X", prim_int},
    {"executorch_prim::sym_ite.Scalar", "XXX>X", prim_ite},
    {"executorch_prim::sym_max.Scalar", "XX>X", prim_max},
    {"executorch_prim::sym_min.Scalar", "XX>X", prim_min},
    {"executorch_prim::sym_not.Scalar", "X>X", prim_not},
    {"executorch_prim::truediv.Scalar", "XX>X", prim_truediv},
    {"executorch_prim::trunc.Scalar", "X>X", prim_round<trunc_double>},
};

}  // namespace

std::span<const Kernel> prim_kernels() { return kTable; }

}  // namespace pteron
