// Operators that fold dimensions: sums, products, means, variances, truths.
#include <cmath>
#include <type_traits>

#include "kernels/fold.h"
#include "kernels/moments.h"
#include "kernels/tables.h"
#include "kernels/vector/functions.h"

namespace pteron {
namespace {

using Context = KernelContext;

// Integers wrap. Long runs of others by blocks, so that rounding errors do not add up.
struct Sum {
  template <typename C>
  C join(C a, C b) const {
    if constexpr (std::is_same_v<C, int64_t>)
      return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    else
      return a + b;
  }
  template <typename C>
  C finish(C sum, int64_t) const {
    return sum;
  }
  template <typename C>
  C operator()(const C* e, int64_t n) const {
    if constexpr (std::is_same_v<C, float>) return vector_functions().sum(e, n);
    constexpr int64_t kBlock = 1024;
    if (n <= kBlock) return join_all(e, n, C(0), [this](C a, C b) { return join(a, b); });
    const int64_t half = n / 2;
    return join((*this)(e, half), (*this)(e + half, n - half));
  }
};
struct Mean : Sum {
  template <typename C>
  C finish(C sum, int64_t n) const {
    return static_cast<C>(sum / static_cast<C>(n));
  }
  template <typename C>
  C operator()(const C* e, int64_t n) const {
    return finish(Sum::operator()(e, n), n);
  }
};

Result<void> sum_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  Tensor& out = args.tensor(4);
  PTERON_ASSIGN(const uint32_t mask, read_dims(args.optional_ints(1), in.rank()));
  return fold_dims(context, in, out, mask, args.boolean(2), sum_type(in, out), Sum());
}

Result<void> mean_of(Context& context, const Tensor& in, Tensor& out, uint32_t mask, bool keep) {
  const DType type = sum_type(in, out);
  if (!is_float(type)) return kernel_error("a mean of integers");
  return fold_dims(context, in, out, mask, keep, type, Mean());
}

Result<void> mean_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  PTERON_ASSIGN(const uint32_t mask, read_dims(args.optional_ints(1), in.rank()));
  return mean_of(context, in, args.tensor(4), mask, args.boolean(2));
}
Result<void> mean_all(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  return mean_of(context, in, args.tensor(2), (uint32_t{1} << in.rank()) - 1, false);
}

// Whether all of an output's elements are true, or any: of bools that lie side by side, as bytes.
Result<void> truth_of_bytes(Context& context, const Tensor& in, Tensor& out, const Folding& folding,
                            bool all) {
  PTERON_TRY(out.resize(folding.shape.span()));
  int64_t* results = context.scratch_array<int64_t>(static_cast<size_t>(folding.outputs));
  const int64_t count = folding.count;
  for (int64_t o = 0; o < folding.outputs; ++o) {
    const uint8_t* e = in.data<const uint8_t>() + o * count;
    bool decided = false;
    constexpr int64_t kBlock = 1024;
    for (int64_t i = 0; i < count && !decided; i += kBlock) {
      uint8_t any = 0;
      const int64_t end = std::min(i + kBlock, count);
      for (int64_t k = i; k < end; ++k) any |= static_cast<uint8_t>(all ? e[k] == 0 : e[k] != 0);
      decided = any != 0;
    }
    results[o] = decided != all;
  }
  store_all(results, out);
  return {};
}

// Whether all elements, or any, are other than 0.
template <bool kAll>
struct Truth {
  template <typename C>
  C join(C a, C b) const {
    const int x = static_cast<int>(a != 0);
    const int y = static_cast<int>(b != 0);
    return static_cast<C>(kAll ? x & y : x | y);  // Without branches, for vectors.
  }
  template <typename C>
  C finish(C value, int64_t) const {
    return static_cast<C>(value != 0);
  }
  template <typename C>
  bool operator()(const C* e, int64_t n) const {
    for (int64_t i = 0; i < n; ++i) {
      if ((e[i] != 0) != kAll) return !kAll;
    }
    return kAll;
  }
};

Result<void> truth(Context& context, const Tensor& in, Tensor& out, uint32_t mask, bool keep,
                   bool all) {
  const Folding folding(in, mask, keep);
  if (in.dtype() == DType::Bool && is_number(out.dtype()) && folding.is_plain && folding.inner == 1)
    return truth_of_bytes(context, in, out, folding, all);
  return all ? fold_dims(context, in, out, mask, keep, in.dtype(), Truth<true>())
             : fold_dims(context, in, out, mask, keep, in.dtype(), Truth<false>());
}
Result<void> any_dims(Context& context, const Args& args, const Kernel&) {
  const auto dims = args.optional_ints(1);
  PTERON_ASSIGN(uint32_t mask, read_dims(dims, args.tensor(0).rank()));
  // Of this operator alone an empty list means no dimension.
  if (dims && dims->empty()) mask = 0;
  return truth(context, args.tensor(0), args.tensor(3), mask, args.boolean(2), false);
}
template <bool kAll>
Result<void> truth_dim(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  PTERON_ASSIGN(const int dim, read_dim(args, 1, in.rank()));
  return truth(context, in, args.tensor(3), in.rank() > 0 ? uint32_t{1} << dim : 0, args.boolean(2),
               kAll);
}
template <bool kAll>
Result<void> truth_all(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  return truth(context, in, args.tensor(1), (uint32_t{1} << in.rank()) - 1, false, kAll);
}

struct Product {
  template <typename C>
  C join(C a, C b) const {
    if constexpr (std::is_same_v<C, int64_t>)
      return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else
      return a * b;
  }
  template <typename C>
  C finish(C product, int64_t) const {
    return product;
  }
  template <typename C>
  C operator()(const C* e, int64_t n) const {
    return join_all(e, n, C(1), [this](C a, C b) { return join(a, b); });
  }
};
Result<void> prod_dim(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  Tensor& out = args.tensor(4);
  PTERON_ASSIGN(const int dim, read_dim(args, 1, in.rank()));
  return fold_dims(context, in, out, in.rank() > 0 ? uint32_t{1} << dim : 0, args.boolean(2),
                   sum_type(in, out), Product());
}

Result<void> prod_all(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  Tensor& out = args.tensor(2);
  return fold_dims(context, in, out, (uint32_t{1} << in.rank()) - 1, false, sum_type(in, out),
                   Product());
}

// Whether all elements are as near to each other as |a - b| <= atol + rtol * |b|.
Result<void> allclose_(Context& context, const Args& args, const Kernel&) {
  const Tensor& a = args.tensor(0);
  const Tensor& b = args.tensor(1);
  const double rtol = args.real(2);
  const double atol = args.real(3);
  const bool equal_nan = args.boolean(4);
  Tensor& out = args.tensor(6);
  if (!std::equal(a.sizes().begin(), a.sizes().end(), b.sizes().begin(), b.sizes().end()) ||
      !is_number(a.dtype()) || a.dtype() != b.dtype() || out.dtype() != DType::Bool)
    return kernel_error("allclose of " + args.describe(0) + " and " + args.describe(1));
  PTERON_TRY(out.resize(out.rank() == 0 ? std::span<const int64_t>() : out.bounds()));
  if (out.numel() != 1) return kernel_error("allclose into " + args.describe(6));
  const double* x = load_all<double>(context, a);
  const double* y = load_all<double>(context, b);
  bool close = true;
  for (int64_t i = 0; i < a.numel() && close; ++i) {
    close = x[i] == y[i] || std::fabs(x[i] - y[i]) <= atol + std::fabs(rtol * y[i]) ||
            (equal_nan && std::isnan(x[i]) && std::isnan(y[i]));
    if (std::isinf(x[i]) || std::isinf(y[i])) close = x[i] == y[i];
  }
  out.data<uint8_t>()[0] = close;
  return {};
}

Result<void> variance_of(Context& context, const Tensor& in, Tensor& out, uint32_t mask, bool keep,
                         double correction) {
  if (!is_float(in.dtype())) return kernel_error("a variance of " + in.describe());
  return fold_dims(context, in, out, mask, keep, in.dtype(),
                   [correction](const auto* e, int64_t n) {
                     const double squares = moments(e, n).squares;
                     return squares / std::max(0.0, static_cast<double>(n) - correction);
                   });
}

Result<void> var_correction(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const auto correction = args.optional_scalar(2);
  PTERON_ASSIGN(const uint32_t mask, read_dims(args.optional_ints(1), in.rank()));
  return variance_of(context, in, args.tensor(4), mask, args.boolean(3),
                     correction ? correction->real : 1);
}

Result<void> var_unbiased(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  PTERON_ASSIGN(const uint32_t mask, read_dims(args.optional_ints(1), in.rank()));
  return variance_of(context, in, args.tensor(4), mask, args.boolean(3), args.boolean(2) ? 1 : 0);
}

Result<void> var_mean(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  Tensor& variance = args.tensor(4);
  Tensor& mean = args.tensor(5);
  const double correction = args.optional_scalar(2) ? args.optional_scalar(2)->real : 1;
  if (!is_float(in.dtype())) return kernel_error("a variance of " + args.describe(0));
  PTERON_ASSIGN(const uint32_t mask, read_dims(args.optional_ints(1), in.rank()));
  PTERON_TRY(mean_of(context, in, mean, mask, args.boolean(3)));
  return variance_of(context, in, variance, mask, args.boolean(3), correction);
}

constexpr Kernel kTable[] = {
    {"aten::all.out", "TIB>T", truth_dim<true>},
    {"aten::all.all_out", "T>T", truth_all<true>},
    {"aten::allclose.Tensor", "TTDDBB>T", allclose_},
    {"aten::allclose.out", "TTDDBB>T", allclose_},
    {"aten::any.all_out", "T>T", truth_all<false>},
    {"aten::any.dims_out", "TlB>T", any_dims},
    {"aten::any.out", "TIB>T", truth_dim<false>},
    {"aten::mean.dtype_out", "Ti>T", mean_all},
    {"aten::mean.out", "TlBi>T", mean_},
    {"aten::prod.int_out", "TIBi>T", prod_dim},
    {"aten::prod.out", "Ti>T", prod_all},
    {"aten::sum.IntList_out", "TlBi>T", sum_},
    {"aten::var.correction_out", "TlsB>T", var_correction},
    {"aten::var.out", "TlBB>T", var_unbiased},
    {"aten::var_mean.correction_out", "TlsB>TT", var_mean},
};

}  // namespace

std::span<const Kernel> reduce_kernels() { return kTable; }

}  // namespace pteron
