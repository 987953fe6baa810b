// Operators that look for the greatest and the least elements, the middle ones, and some in order.
#include <algorithm>
#include <limits>
#include <type_traits>

#include "kernels/fold.h"
#include "kernels/tables.h"
#include "kernels/vector/functions.h"

namespace pteron {
namespace {

using Context = KernelContext;

Result<void> require_elements(const Folding& folding, const char* what) {
  if (folding.count == 0 && folding.outputs > 0)
    return kernel_error(std::string(what) + " of no elements");
  return {};
}

// The greatest (or least) element; NaN is both.
template <bool kMax>
struct Extreme {
  template <typename C>
  C join(C a, C b) const {
    // Without branches, so that it can be done in vectors; b != b: NaN.
    const bool takes = static_cast<bool>(static_cast<int>(kMax ? b > a : b < a) |
                                         static_cast<int>(b != b));  // NOLINT
    return takes ? b : a;
  }
  template <typename C>
  C finish(C value, int64_t) const {
    return value;
  }
  template <typename C>
  C operator()(const C* e, int64_t n) const {
    if constexpr (std::is_same_v<C, float>)
      return kMax ? vector_functions().maximum(e, n) : vector_functions().minimum(e, n);
    return join_all(e, n, e[0], [this](C a, C b) { return join(a, b); });
  }
};

// Where it is first.
template <bool kMax, typename C>
int64_t extreme(const C* e, int64_t n) {
  const C value = Extreme<kMax>()(e, n);
  int64_t at = 0;
  constexpr int64_t kBlock = 32;
  for (; at + kBlock <= n; at += kBlock) {
    int found = 0;
    for (int64_t k = 0; k < kBlock; ++k)
      found |= static_cast<int>(e[at + k] == value) |
               static_cast<int>(e[at + k] != e[at + k]);  // NOLINT
    if (found) break;
  }
  while (at + 1 < n && (is_nan(value) ? !is_nan(e[at]) : e[at] != value)) ++at;
  return at;
}

// The same along a dimension that is not the last: rows are read as they lie. Only if the folding
// is plain and has elements.
template <bool kMax, typename C>
void extreme_rows(Context& context, const Folding& folding, const Tensor& in, C* values,
                  int64_t* places) {
  using Place = std::conditional_t<sizeof(C) == 4, int32_t, int64_t>;  // As wide, for vectors.
  constexpr int64_t kWidth = 512;
  const int64_t inner = folding.inner;
  const int64_t blocks = (inner + kWidth - 1) / kWidth;
  const auto tasks = static_cast<size_t>(folding.outputs / inner * blocks);
  const auto grain = static_cast<size_t>(16384 / (folding.count * std::min(inner, kWidth)) + 1);
  context.parallel(tasks, grain, [&](size_t begin, size_t end) {
    for (auto task = static_cast<int64_t>(begin); task < static_cast<int64_t>(end); ++task) {
      const int64_t first = task % blocks * kWidth;
      const int64_t width = std::min(kWidth, inner - first);
      const int64_t to = task / blocks * inner + first;
      const int64_t base = task / blocks * folding.count * inner + first;
      C best[kWidth];
      C copy[kWidth];
      Place at[kWidth]{};
      load(in.dtype(), in.raw(), base, 1, width, best);
      for (int64_t r = 1; r < folding.count; ++r) {
        const C* row = read_row(in, base + r * inner, width, copy);
        const auto place = static_cast<Place>(r);
        for (int64_t i = 0; i < width; ++i) {
          // Without branches; what differs from itself is NaN, and stays.
          const int better = static_cast<int>(kMax ? row[i] > best[i] : row[i] < best[i]);
          const int takes = (better | static_cast<int>(row[i] != row[i])) &  // NOLINT
                            static_cast<int>(best[i] == best[i]);            // NOLINT
          best[i] = takes ? row[i] : best[i];
          at[i] = takes ? place : at[i];
        }
      }
      if (values) std::copy_n(best, width, values + to);
      std::copy_n(at, width, places + to);
    }
  });
}

template <bool kMax>
Result<void> extreme_values(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  PTERON_ASSIGN(const uint32_t mask, read_dims(args.optional_ints(1), in.rank()));
  PTERON_TRY(require_elements(Folding(in, mask, false), kMax ? "amax" : "amin"));
  return fold_dims(context, in, args.tensor(3), mask, args.boolean(2), in.dtype(), Extreme<kMax>());
}

template <bool kMax>
Result<void> extreme_all(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  if (in.numel() == 0) return kernel_error("an extreme of no elements");
  return fold_dims(context, in, args.tensor(1), (uint32_t{1} << in.rank()) - 1, false, in.dtype(),
                   Extreme<kMax>());
}

// The index along the folded dimension.
template <bool kMax>
Result<void> extreme_index(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  Tensor& out = args.tensor(3);
  uint32_t mask = (uint32_t{1} << in.rank()) - 1;
  if (const auto dim = args.optional_integer(1)) {
    PTERON_ASSIGN(const int wrapped, wrap_dim(*dim, in.rank()));
    if (in.rank() > 0) mask = uint32_t{1} << wrapped;
  }
  PTERON_TRY(check_numbers(in, out));
  const Folding folding(in, mask, args.boolean(2));
  PTERON_TRY(require_elements(folding, kMax ? "argmax" : "argmin"));
  PTERON_TRY(out.resize(folding.shape.span()));
  int64_t* results = context.scratch_array<int64_t>(static_cast<size_t>(folding.outputs));
  return with_compute_type(in.dtype(), [&](auto type) -> Result<void> {
    using C = decltype(type);
    if (folding.is_row_wise()) {
      extreme_rows<kMax, C>(context, folding, in, nullptr, results);
    } else {
      folding.run<C>(context, in,
                     [&](int64_t o, const C* e) { results[o] = extreme<kMax>(e, folding.count); });
    }
    store_all(results, out);
    return {};
  });
}

// Values and indices along one dimension: find(C(), folding, values, indices) fills them.
template <typename Find>
Result<void> values_and_indices(Context& context, const Args& args, Find&& find) {
  const Tensor& in = args.tensor(0);
  Tensor& values = args.tensor(3);
  Tensor& indices = args.tensor(4);
  PTERON_ASSIGN(const int dim, read_dim(args, 1, in.rank()));
  PTERON_TRY(check_numbers(in, values));
  PTERON_TRY(check_numbers(in, indices));
  const Folding folding(in, in.rank() > 0 ? uint32_t{1} << dim : 0, args.boolean(2));
  PTERON_TRY(require_elements(folding, "an extreme"));
  PTERON_TRY(values.resize(folding.shape.span()));
  PTERON_TRY(indices.resize(folding.shape.span()));
  return with_compute_type(in.dtype(), [&](auto type) -> Result<void> {
    using C = decltype(type);
    C* v = context.scratch_array<C>(static_cast<size_t>(folding.outputs));
    int64_t* k = context.scratch_array<int64_t>(static_cast<size_t>(folding.outputs));
    find(type, folding, v, k);
    store_all(v, values);
    store_all(k, indices);
    return {};
  });
}

template <bool kMax>
Result<void> extreme_dim(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  return values_and_indices(context, args,
                            [&](auto type, const Folding& folding, auto* values, int64_t* indices) {
                              using C = decltype(type);
                              if (folding.is_row_wise())
                                return extreme_rows<kMax, C>(context, folding, in, values, indices);
                              folding.run<C>(context, in, [&](int64_t o, const C* e) {
                                indices[o] = extreme<kMax>(e, folding.count);
                                values[o] = e[indices[o]];
                              });
                            });
}

// The lower of the two middle elements; NaN if there is one.
template <typename C>
int64_t median_index(const C* elements, int64_t n, int64_t* order) {
  for (int64_t i = 0; i < n; ++i) {
    if (is_nan(elements[i])) return i;
    order[i] = i;
  }
  int64_t* middle = order + (n - 1) / 2;
  std::nth_element(order, middle, order + n, [&](int64_t a, int64_t b) {
    return elements[a] < elements[b] || (elements[a] == elements[b] && a < b);
  });
  return *middle;
}

Result<void> median_dim(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  int64_t* orders = context.scratch_array<int64_t>(static_cast<size_t>(in.numel()));
  return values_and_indices(
      context, args, [&](auto type, const Folding& folding, auto* values, int64_t* indices) {
        using C = decltype(type);
        folding.run<C>(context, in, [&](int64_t o, const C* e) {
          indices[o] = median_index(e, folding.count, orders + o * folding.count);
          values[o] = e[indices[o]];
        });
      });
}

Result<void> median_all(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  if (in.numel() == 0 && !is_float(in.dtype())) return kernel_error("a median of no elements");
  int64_t* order = context.scratch_array<int64_t>(static_cast<size_t>(in.numel()));
  return fold_dims(context, in, args.tensor(1), (uint32_t{1} << in.rank()) - 1, false, in.dtype(),
                   [order](const auto* e, int64_t n) {
                     using C = std::remove_cvref_t<decltype(*e)>;
                     return n > 0 ? e[median_index(e, n, order)]
                                  : std::numeric_limits<C>::quiet_NaN();
                   });
}

// The k greatest (or least) elements along a dimension, in order; NaN is the greatest.
Result<void> topk_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const int64_t k = args.integer(1);
  const bool largest = args.boolean(3);
  Tensor& values = args.tensor(5);
  Tensor& indices = args.tensor(6);
  PTERON_ASSIGN(const int dim, read_dim(args, 2, in.rank()));
  const int64_t size = in.rank() > 0 ? in.size(dim) : 1;
  if (k < 0 || k > size || values.dtype() != in.dtype() || !is_number(indices.dtype()))
    return kernel_error("topk of the " + args.describe(1) + " first of " + args.describe(0));
  Shape shape;
  for (int d = 0; d < in.rank(); ++d) shape.sizes[shape.rank++] = d == dim ? k : in.size(d);
  PTERON_TRY(values.resize(shape.span()));
  PTERON_TRY(indices.resize(shape.span()));
  if (values.numel() == 0) return {};
  return with_compute_type(in.dtype(), [&](auto type) -> Result<void> {
    using C = decltype(type);
    const C* x = load_all<C>(context, in);
    C* v = context.scratch_array<C>(static_cast<size_t>(values.numel()));
    int64_t* at = context.scratch_array<int64_t>(static_cast<size_t>(values.numel()));
    int64_t inner = 1;
    for (int d = dim + 1; d < in.rank(); ++d) inner *= in.size(d);
    const int64_t rows = in.numel() / size;
    const int64_t slices = std::min<int64_t>(rows, 8);
    int64_t* orders = context.scratch_array<int64_t>(static_cast<size_t>(slices * size));
    const auto take_row = [&](int64_t r, int64_t* order) {
      const C* row = x + r / inner * size * inner + r % inner;
      for (int64_t i = 0; i < size; ++i) order[i] = i;
      std::partial_sort(order, order + k, order + size, [&](int64_t a, int64_t b) {
        const C p = row[a * inner];
        const C q = row[b * inner];
        if (is_nan(p) != is_nan(q)) return is_nan(p) == largest;
        if (!is_nan(p) && p != q) return largest ? p > q : p < q;
        return a < b;
      });
      for (int64_t i = 0; i < k; ++i) {
        const int64_t to = r / inner * k * inner + r % inner + i * inner;
        at[to] = order[i];
        v[to] = row[at[to] * inner];
      }
    };
    context.parallel(static_cast<size_t>(slices), 1, [&](size_t begin, size_t end) {
      for (auto s = static_cast<int64_t>(begin); s < static_cast<int64_t>(end); ++s) {
        for (int64_t r = rows * s / slices; r < rows * (s + 1) / slices; ++r)
          take_row(r, orders + s * size);
      }
    });
    store_all(v, values);
    store_all(at, indices);
    return {};
  });
}

constexpr Kernel kTable[] = {
    {"aten::amax.out", "TLB>T", extreme_values<true>},
    {"aten::amin.out", "TLB>T", extreme_values<false>},
    {"aten::argmax.out", "TiB>T", extreme_index<true>},
    {"aten::argmin.out", "TiB>T", extreme_index<false>},
    {"aten::max.dim_max", "TIB>TT", extreme_dim<true>},
    {"aten::max.unary_out", "T>T", extreme_all<true>},
    {"aten::median.dim_values", "TIB>TT", median_dim},
    {"aten::median.out", "T>T", median_all},
    {"aten::min.dim_min", "TIB>TT", extreme_dim<false>},
    {"aten::min.unary_out", "T>T", extreme_all<false>},
    {"aten::topk.values", "TIIBB>TT", topk_},
};

}  // namespace

std::span<const Kernel> extreme_kernels() { return kTable; }

}  // namespace pteron
