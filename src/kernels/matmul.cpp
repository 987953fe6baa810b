// Matrix products and distances.
#include <array>
#include <cmath>
#include <type_traits>

#include "kernels/element.h"
#include "kernels/gemm.h"
#include "kernels/tables.h"

namespace pteron {
namespace {

using Context = KernelContext;

Error shapes_error(const char* what, const Tensor& a, const Tensor& b) {
  return kernel_error(std::string(what) + " of " + a.describe() + " and " + b.describe());
}

Result<void> check_product(const char* what, const Tensor& a, const Tensor& b, const Tensor& out,
                           int rank) {
  if (a.rank() != rank || b.rank() != rank || a.size(rank - 1) != b.size(rank - 2) ||
      a.dtype() != b.dtype() || (rank == 3 && a.size(0) != b.size(0)) || !is_number(a.dtype()) ||
      !is_number(out.dtype())) {
    return shapes_error(what, a, b);
  }
  return {};
}

Result<void> batched(Context& context, const char* what, const Tensor& a, const Tensor& b,
                     Tensor& out, int rank) {
  PTERON_TRY(check_product(what, a, b, out, rank));
  const int64_t batch = rank == 3 ? a.size(0) : 1;
  const int64_t m = a.size(rank - 2);
  const int64_t k = a.size(rank - 1);
  const int64_t n = b.size(rank - 1);
  const int64_t shape[] = {batch, m, n};
  PTERON_TRY(out.resize(rank == 3 ? std::span<const int64_t>(shape)
                                  : std::span<const int64_t>(shape + 1, 2)));
  return with_compute_type(a.dtype(), [&](auto type) -> Result<void> {
    using C = decltype(type);
    const C* x = elements<C>(context, a);
    const C* y = elements<C>(context, b);
    Results<C> z(context, out);
    C* result = z.data();
    const auto multiply = [=](Context& own, int64_t i, PackSpace<C>& space) {
      gemm<C>(own, m, n, k, {x + i * m * k, k, 1}, {y + i * k * n, n, 1}, result + i * m * n, n,
              false, &space);
    };
    // Many products are shared among threads as a whole, since a small one is not worth its parts.
    constexpr int64_t kSlices = 8;
    if (std::is_floating_point_v<C> && batch >= kSlices) {
      std::array<PackSpace<C>, kSlices> spaces;
      if constexpr (std::is_floating_point_v<C>) {
        for (PackSpace<C>& space : spaces) reserve_pack_space(context, m, n, k, space);
      }
      context.parallel(
          kSlices, gemm_detail::grain(batch / kSlices * m * n * k), [&](size_t begin, size_t end) {
            OneThread own;
            for (auto s = static_cast<int64_t>(begin); s < static_cast<int64_t>(end); ++s) {
              for (int64_t i = batch * s / kSlices; i < batch * (s + 1) / kSlices; ++i)
                multiply(own, i, spaces[static_cast<size_t>(s)]);
            }
          });
    } else {
      PackSpace<C> space;
      for (int64_t i = 0; i < batch; ++i) multiply(context, i, space);
    }
    z.store();
    return {};
  });
}

Result<void> mm_(Context& context, const Args& args, const Kernel&) {
  return batched(context, "mm", args.tensor(0), args.tensor(1), args.tensor(2), 2);
}
Result<void> bmm_(Context& context, const Args& args, const Kernel&) {
  return batched(context, "bmm", args.tensor(0), args.tensor(1), args.tensor(2), 3);
}

// beta * self + alpha * (a @ b); self broadcasts.
Result<void> addmm_(Context& context, const Args& args, const Kernel&) {
  const Tensor& self = args.tensor(0);
  const Tensor& a = args.tensor(1);
  const Tensor& b = args.tensor(2);
  const Scalar beta = args.scalar(3);
  const Scalar alpha = args.scalar(4);
  Tensor& out = args.tensor(5);
  PTERON_TRY(check_product("addmm", a, b, out, 2));
  PTERON_TRY(require_numbers(args, {0}));
  const int64_t m = a.size(0);
  const int64_t k = a.size(1);
  const int64_t n = b.size(1);
  const int64_t shape[] = {m, n};
  PTERON_TRY(out.resize(shape));
  return with_compute_type(a.dtype(), [&](auto type) -> Result<void> {
    using C = decltype(type);
    const C* x = elements<C>(context, a);
    const C* y = elements<C>(context, b);
    Results<C> results(context, out);
    C* z = results.data();
    gemm<C>(context, m, n, k, {x, k, 1}, {y, n, 1}, z, n, false);
    const auto as = [](const Scalar& scalar) {
      if constexpr (std::is_integral_v<C>)
        return scalar.integer;
      else
        return static_cast<C>(scalar.real);
    };
    const C factor = as(alpha);
    const C weight = as(beta);
    const int64_t dense[] = {n, 1};
    Walk walk(out.sizes());
    walk.add(out.sizes(), dense);
    if (!walk.add(self)) return shapes_error("addmm", self, out);
    walk.run([&](const auto& at, const auto& stride, int64_t count) {
      constexpr int64_t kRun = 512;
      C values[kRun];
      for (int64_t i = 0; i < count; i += kRun) {
        const int64_t part = std::min(kRun, count - i);
        // PyTorch ignores self, NaN and all, where beta is 0.
        if (weight == C(0))
          std::fill_n(values, part, C(0));
        else
          load(self.dtype(), self.raw(), at[1] + i * stride[1], stride[1], part, values);
        C* element = z + at[0] + i * stride[0];
        // Integers wrap.
        using U = std::conditional_t<std::is_integral_v<C>, uint64_t, C>;
        for (int64_t e = 0; e < part; ++e)
          element[e * stride[0]] =
              static_cast<C>(static_cast<U>(factor) * static_cast<U>(element[e * stride[0]]) +
                             static_cast<U>(weight) * static_cast<U>(values[e]));
      }
    });
    results.store();
    return {};
  });
}

// weight is [out, in]; a bias may be there.
Result<void> linear_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const Tensor& weight = args.tensor(1);
  const Tensor* bias = args.optional_tensor(2);
  Tensor& out = args.tensor(3);
  if (in.rank() < 1 || weight.rank() != 2 || in.size(in.rank() - 1) != weight.size(1) ||
      in.dtype() != weight.dtype() || !is_number(in.dtype()) || !is_number(out.dtype()) ||
      (bias && (bias->numel() != weight.size(0) || !is_number(bias->dtype())))) {
    return shapes_error("linear", in, weight);
  }
  std::array<int64_t, kMaxRank> shape{};
  std::copy(in.sizes().begin(), in.sizes().end(), shape.begin());
  const int64_t n = weight.size(0);
  const int64_t k = weight.size(1);
  shape[static_cast<size_t>(in.rank() - 1)] = n;
  PTERON_TRY(out.resize({shape.data(), static_cast<size_t>(in.rank())}));
  if (out.numel() == 0) return {};
  return with_compute_type(in.dtype(), [&](auto type) -> Result<void> {
    using C = decltype(type);
    const int64_t m = out.numel() / n;
    const C* x = elements<C>(context, in);
    const C* w = elements<C>(context, weight);
    Results<C> z(context, out);
    if (bias) {
      const C* offset = elements<C>(context, *bias);
      for (int64_t i = 0; i < m; ++i) std::copy_n(offset, n, z.data() + i * n);
    }
    gemm<C>(context, m, n, k, {x, k, 1}, {w, 1, k}, z.data(), n, bias != nullptr);
    z.store();
    return {};
  });
}

// The sum of step(|left - right|), by several chains at a time.
template <typename C, typename Step>
C sum_of_steps(const C* left, const C* right, int64_t width, Step&& step) {
  constexpr int64_t kChains = 16;
  C sums[kChains]{};
  int64_t q = 0;
  for (; q + kChains <= width; q += kChains) {
    for (int64_t k = 0; k < kChains; ++k) sums[k] += step(std::fabs(left[q + k] - right[q + k]));
  }
  for (; q < width; ++q) sums[0] += step(std::fabs(left[q] - right[q]));
  for (int64_t k = 1; k < kChains; ++k) sums[0] += sums[k];
  return sums[0];
}

template <typename C>
C distance(const C* left, const C* right, int64_t width, C p) {
  if (p == 2) return std::sqrt(sum_of_steps(left, right, width, [](C x) { return x * x; }));
  if (p == 1) return sum_of_steps(left, right, width, [](C x) { return x; });
  if (p == 0) return sum_of_steps(left, right, width, [](C x) { return x != 0 ? C(1) : C(0); });
  if (std::isinf(p)) {
    C most = 0;
    for (int64_t q = 0; q < width; ++q) {
      const C difference = std::fabs(left[q] - right[q]);
      most = difference > most || std::isnan(difference) ? difference : most;
    }
    return most;
  }
  return std::pow(sum_of_steps(left, right, width, [p](C x) { return std::pow(x, p); }), 1 / p);
}

// Distances between the rows of two batches of matrices.
Result<void> cdist_(Context& context, const Args& args, const Kernel&) {
  const Tensor& a = args.tensor(0);
  const Tensor& b = args.tensor(1);
  const double p = args.real(2);
  Tensor& out = args.tensor(4);
  const int rank = std::max(a.rank(), b.rank());
  if (a.rank() < 2 || b.rank() < 2 || a.size(a.rank() - 1) != b.size(b.rank() - 1) ||
      a.dtype() != b.dtype() || !is_float(a.dtype()) || !is_float(out.dtype()) || !(p >= 0))
    return shapes_error("cdist", a, b);
  // Batches broadcast.
  std::array<int64_t, kMaxRank> shape{};
  std::array<int64_t, kMaxRank> a_strides{};
  std::array<int64_t, kMaxRank> b_strides{};
  const int64_t rows = a.size(a.rank() - 2);
  const int64_t columns = b.size(b.rank() - 2);
  const int64_t width = a.size(a.rank() - 1);
  int64_t a_count = 1;
  int64_t b_count = 1;
  for (int d = rank - 3; d >= 0; --d) {
    const int a_dim = d - (rank - a.rank());
    const int b_dim = d - (rank - b.rank());
    const int64_t a_size = a_dim >= 0 ? a.size(a_dim) : 1;
    const int64_t b_size = b_dim >= 0 ? b.size(b_dim) : 1;
    if (a_size != b_size && a_size != 1 && b_size != 1) return shapes_error("cdist", a, b);
    const auto at = static_cast<size_t>(d);
    shape[at] = a_size == 1 ? b_size : a_size;
    a_strides[at] = a_size == 1 ? 0 : a_count;
    b_strides[at] = b_size == 1 ? 0 : b_count;
    a_count *= a_size;
    b_count *= b_size;
  }
  shape[static_cast<size_t>(rank - 2)] = rows;
  shape[static_cast<size_t>(rank - 1)] = columns;
  PTERON_TRY(out.resize({shape.data(), static_cast<size_t>(rank)}));
  if (out.numel() == 0) return {};
  return with_float_type(a.dtype(), [&](auto type) -> Result<void> {
    using C = decltype(type);
    const C* x = load_all<C>(context, a);
    const C* y = load_all<C>(context, b);
    C* z = context.scratch_array<C>(static_cast<size_t>(out.numel()));
    const int64_t batch = out.numel() / (rows * columns);
    const C norm = static_cast<C>(p);
    for (int64_t n = 0; n < batch; ++n) {
      int64_t a_at = 0;
      int64_t b_at = 0;
      int64_t rest = n;
      for (size_t d = static_cast<size_t>(rank - 2); d-- > 0;) {
        a_at += rest % shape[d] * a_strides[d];
        b_at += rest % shape[d] * b_strides[d];
        rest /= shape[d];
      }
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j)
          z[(n * rows + i) * columns + j] = distance<C>(
              x + (a_at * rows + i) * width, y + (b_at * columns + j) * width, width, norm);
      }
    }
    store_all(z, out);
    return {};
  });
}

// Distances between the rows of one matrix: each pair once.
Result<void> pdist_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const double p = args.real(1);
  Tensor& out = args.tensor(2);
  if (in.rank() != 2 || !is_float(in.dtype()) || !is_float(out.dtype()) || !(p >= 0))
    return kernel_error("pdist of " + args.describe(0) + " with norm " + args.describe(1));
  const int64_t rows = in.size(0);
  const int64_t width = in.size(1);
  const int64_t shape[] = {rows < 2 ? 0 : rows * (rows - 1) / 2};
  PTERON_TRY(out.resize(shape));
  return with_float_type(in.dtype(), [&](auto type) -> Result<void> {
    using C = decltype(type);
    const C* x = load_all<C>(context, in);
    C* y = context.scratch_array<C>(static_cast<size_t>(out.numel()));
    C* to = y;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = i + 1; j < rows; ++j)
        *to++ = distance<C>(x + i * width, x + j * width, width, static_cast<C>(p));
    }
    store_all(y, out);
    return {};
  });
}

constexpr Kernel kTable[] = {
    {"aten::_cdist_forward.out", "TTDi>T", cdist_}, {"aten::_pdist_forward.out", "TD>T", pdist_},
    {"aten::addmm.out", "TTTSS>T", addmm_},         {"aten::bmm.out", "TT>T", bmm_},
    {"aten::linear.out", "TTt>T", linear_},         {"aten::mm.out", "TT>T", mm_},
};

}  // namespace

std::span<const Kernel> matmul_kernels() { return kTable; }

}  // namespace pteron
