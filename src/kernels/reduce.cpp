// Operators that fold dimensions: sums, extremes, means, medians, running sums.
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "kernels/element.h"
#include "kernels/moments.h"
#include "kernels/scratch.h"
#include "kernels/tables.h"
#include "kernels/vector/functions.h"

namespace pteron {
namespace {

using Context = KernelContext;

// The dimensions that are folded, as a bit mask; all of them where none is named.
Result<uint32_t> read_dims(const std::optional<Ints>& dims, int rank) {
  if (!dims || dims->empty()) return (uint32_t{1} << rank) - 1;
  uint32_t mask = 0;
  for (const int64_t dim : *dims) {
    PTERON_ASSIGN(const int wrapped, wrap_dim(dim, rank));
    if (rank > 0) mask |= uint32_t{1} << wrapped;
  }
  return mask;
}

// The tensor as [kept, folded]: where each folded run of each output element lies.
struct Folding {
  int64_t outputs = 1;
  int64_t count = 1;  // Elements folded into each output.
  Shape shape;        // Of the output.
  // Strides and sizes of the kept and the folded dimensions, in logical order.
  std::vector<int64_t> kept_sizes, kept_strides, folded_sizes, folded_strides;
  // Whether memory is [outputs / inner, count, inner], as it is where a row-major tensor's folded
  // dimensions follow each other.
  bool is_plain;
  int64_t inner = 1;

  Folding(const Tensor& in, uint32_t mask, bool keep) : is_plain(in.is_row_major()) {
    bool begun = false;
    bool ended = false;
    for (int d = 0; d < in.rank(); ++d) {
      const bool folded = mask & (uint32_t{1} << d);
      (folded ? folded_sizes : kept_sizes).push_back(in.size(d));
      (folded ? folded_strides : kept_strides).push_back(in.strides()[static_cast<size_t>(d)]);
      (folded ? count : outputs) *= in.size(d);
      if (!folded || keep) shape.sizes[shape.rank++] = folded ? 1 : in.size(d);
      if (in.size(d) == 1) continue;
      is_plain = is_plain && !(folded && ended);
      begun = begun || folded;
      ended = begun && !folded;
      if (ended) inner *= in.size(d);
    }
  }

  // Whether rows can be read as they lie, and there are any.
  bool is_row_wise() const {
    return is_plain && inner > 1 && count > 0 && outputs > 0 && count <= INT32_MAX;
  }

  static int64_t offset(int64_t index, const std::vector<int64_t>& sizes,
                        const std::vector<int64_t>& strides) {
    int64_t at = 0;
    for (size_t d = sizes.size(); d-- > 0;) {
      at += index % sizes[d] * strides[d];
      index /= sizes[d];
    }
    return at;
  }

  // Calls fold(output, elements) with each output's elements as a dense array. Calls may come from
  // several threads, each output's once.
  template <typename C, typename Fold>
  void run(Context& context, const Tensor& in, Fold&& fold) const {
    if (outputs == 0) return;
    if (!is_plain) return run_strided<C>(context, in, fold);
    if (inner == 1 && is_stored_as<C>(in.dtype())) {
      const auto grain = static_cast<size_t>(8192 / std::max<int64_t>(count, 1) + 1);
      context.parallel(static_cast<size_t>(outputs), grain, [&](size_t begin, size_t end) {
        for (auto o = static_cast<int64_t>(begin); o < static_cast<int64_t>(end); ++o)
          fold(o, static_cast<const C*>(in.raw()) + o * count);
      });
      return;
    }
    // Some columns at a time are copied side by side.
    const int64_t most = std::min<int64_t>(inner, kColumns);
    const int64_t blocks = (inner + most - 1) / most;
    in_slices<C>(context, outputs / inner * blocks, count * most, [&](int64_t task, C* columns) {
      const int64_t first = task % blocks * most;
      const int64_t width = std::min(most, inner - first);
      const int64_t base = task / blocks * count * inner + first;
      if (width == 1 && inner == 1) {
        load(in.dtype(), in.raw(), base, 1, count, columns);
      } else {
        C row[kColumns];
        for (int64_t r = 0; r < count; ++r) {
          load(in.dtype(), in.raw(), base + r * inner, 1, width, row);
          for (int64_t c = 0; c < width; ++c) columns[c * count + r] = row[c];
        }
      }
      for (int64_t c = 0; c < width; ++c)
        fold(task / blocks * inner + first + c, static_cast<const C*>(columns + c * count));
    });
  }

  // For folds that take their elements one by one: results[output] is the first element, joined
  // with the others by fold.join(sum, element). Only if is_row_wise().
  template <typename C, typename Fold>
  void run_rows(Context& context, const Tensor& in, C* results, const Fold& fold) const {
    constexpr int64_t kWidth = 512;
    constexpr int64_t kRows = 64;  // Summed by themselves, so that rounding does not add up.
    const int64_t blocks = (inner + kWidth - 1) / kWidth;
    const int64_t tasks = outputs / inner * blocks;
    const auto grain = static_cast<size_t>(16384 / (count * std::min(inner, kWidth)) + 1);
    context.parallel(static_cast<size_t>(tasks), grain, [&](size_t begin, size_t end) {
      for (auto task = static_cast<int64_t>(begin); task < static_cast<int64_t>(end); ++task) {
        const int64_t first = task % blocks * kWidth;
        const int64_t width = std::min(kWidth, inner - first);
        C* total = results + task / blocks * inner + first;
        const int64_t base = task / blocks * count * inner + first;
        C part[kWidth];
        C copy[kWidth];
        for (int64_t r = 0; r < count; ++r) {
          const C* row = copy;
          if (is_stored_as<C>(in.dtype()))
            row = static_cast<const C*>(in.raw()) + base + r * inner;
          else
            load(in.dtype(), in.raw(), base + r * inner, 1, width, copy);
          if (r % kRows == 0) {
            if (r > kRows) join(fold, total, part, width);
            if (r == kRows) std::copy_n(part, width, total);
            std::copy_n(row, width, part);
          } else {
            join(fold, part, row, width);
          }
        }
        if (count > kRows)
          join(fold, total, part, width);
        else
          std::copy_n(part, width, total);
      }
    });
  }

 private:
  static constexpr int64_t kColumns = 16;

  template <typename C, typename Fold>
  static void join(const Fold& fold, C* total, const C* row, int64_t n) {
    for (int64_t i = 0; i < n; ++i) total[i] = fold.join(total[i], row[i]);
  }

  // Calls body(task, buffer) with a buffer that no other thread uses.
  template <typename C, typename Body>
  static void in_slices(Context& context, int64_t tasks, int64_t size, Body&& body) {
    const int64_t slices = std::min<int64_t>(tasks, tasks * size < 16384 ? 1 : 16);
    C* buffers = context.scratch_array<C>(static_cast<size_t>(slices * size));
    context.parallel(static_cast<size_t>(slices), 1, [&](size_t begin, size_t end) {
      for (auto slice = static_cast<int64_t>(begin); slice < static_cast<int64_t>(end); ++slice) {
        for (int64_t task = tasks * slice / slices; task < tasks * (slice + 1) / slices; ++task)
          body(task, buffers + slice * size);
      }
    });
  }

  template <typename C, typename Fold>
  void run_strided(Context& context, const Tensor& in, Fold&& fold) const {
    C* elements = context.scratch_array<C>(static_cast<size_t>(count));
    // The last folded dimension is read as a run; the ones before it are walked.
    const int64_t run_length = folded_sizes.empty() ? 1 : folded_sizes.back();
    const int64_t run_stride = folded_strides.empty() ? 0 : folded_strides.back();
    for (int64_t o = 0; o < outputs; ++o) {
      const int64_t base = offset(o, kept_sizes, kept_strides);
      for (int64_t i = 0; i < count; i += run_length) {
        load(in.dtype(), in.raw(), base + offset(i, folded_sizes, folded_strides), run_stride,
             run_length, elements + i);
      }
      fold(o, static_cast<const C*>(elements));
    }
  }
};

Result<void> check_numbers(const Tensor& in, const Tensor& out) {
  if (!is_number(in.dtype()) || !is_number(out.dtype())) return kernel_error("dtype not supported");
  return {};
}

// Folds each output's elements with fold(elements, count) -> C, computing in `compute`. A fold that
// also has join() and finish() need not have them side by side.
template <typename Fold>
Result<void> fold_dims(Context& context, const Tensor& in, Tensor& out, uint32_t mask, bool keep,
                       DType compute, Fold&& fold) {
  PTERON_TRY(check_numbers(in, out));
  const Folding folding(in, mask, keep);
  PTERON_TRY(out.resize(folding.shape.span()));
  return with_compute_type(compute, [&](auto type) -> Result<void> {
    using C = decltype(type);
    C* results = context.scratch_array<C>(static_cast<size_t>(folding.outputs));
    if constexpr (requires { fold.join(C(), C()); }) {
      if (folding.is_row_wise()) {
        folding.run_rows(context, in, results, fold);
        for (int64_t o = 0; o < folding.outputs; ++o)
          results[o] = fold.finish(results[o], folding.count);
        store_all(results, out);
        return {};
      }
    }
    folding.run<C>(context, in, [&](int64_t o, const C* elements) {
      results[o] = static_cast<C>(fold(elements, folding.count));
    });
    store_all(results, out);
    return {};
  });
}

// Joins elements by several chains at a time, that the processor need not wait for each.
template <typename C, typename Join>
C join_all(const C* e, int64_t n, C start, Join&& join) {
  constexpr int64_t kChains = 16;
  C parts[kChains];
  std::fill_n(parts, kChains, start);
  int64_t i = 0;
  for (; i + kChains <= n; i += kChains) {
    for (int64_t k = 0; k < kChains; ++k) parts[k] = join(parts[k], e[i + k]);
  }
  for (; i < n; ++i) parts[0] = join(parts[0], e[i]);
  for (int64_t k = 1; k < kChains; ++k) parts[0] = join(parts[0], parts[k]);
  return parts[0];
}

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

// As PyTorch does: elements are converted first where a dtype is asked for.
DType sum_type(const Tensor& in, const Tensor& out) {
  return is_float(in.dtype()) && !is_float(out.dtype()) ? out.dtype()
                                                        : promote(in.dtype(), out.dtype());
}

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
      C row[kWidth];
      Place at[kWidth]{};
      load(in.dtype(), in.raw(), base, 1, width, best);
      for (int64_t r = 1; r < folding.count; ++r) {
        load(in.dtype(), in.raw(), base + r * inner, 1, width, row);
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

Result<void> require_elements(const Folding& folding, const char* what) {
  if (folding.count == 0 && folding.outputs > 0)
    return kernel_error(std::string(what) + " of no elements");
  return {};
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

// The same for bools that lie side by side, as bytes.
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

Result<void> truth(Context& context, const Tensor& in, Tensor& out, uint32_t mask, bool keep,
                   bool all) {
  const Folding folding(in, mask, keep);
  if (in.dtype() == DType::Bool && is_number(out.dtype()) && folding.is_plain && folding.inner == 1)
    return truth_of_bytes(context, in, out, folding, all);
  return fold_dims(context, in, out, mask, keep, in.dtype(), [all](const auto* e, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      if ((e[i] != 0) != all) return !all;
    }
    return all;
  });
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

Result<void> cumsum_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  Tensor& out = args.tensor(3);
  PTERON_TRY(check_numbers(in, out));
  PTERON_ASSIGN(const int dim, read_dim(args, 1, in.rank()));
  PTERON_TRY(out.resize(in.sizes()));
  if (in.numel() == 0) return {};
  return with_compute_type(sum_type(in, out), [&](auto type) -> Result<void> {
    using C = decltype(type);
    const C* x = elements<C>(context, in);
    Results<C> results(context, out);
    C* y = results.data();
    int64_t inner = 1;
    for (int d = dim + 1; d < in.rank(); ++d) inner *= in.size(d);
    const int64_t size = in.rank() > 0 ? in.size(dim) : 1;
    const auto runs = static_cast<size_t>(in.numel() / (size * inner));
    const auto grain = static_cast<size_t>(16384 / (size * inner) + 1);
    // PyTorch's running sums of float32 are of doubles.
    using Total = std::conditional_t<std::is_same_v<C, float>, double, C>;
    constexpr int64_t kAbreast = 64;  // Sums that run side by side.
    context.parallel(runs, grain, [=](size_t begin, size_t end) {
      const Sum sum;
      for (auto r = static_cast<int64_t>(begin); r < static_cast<int64_t>(end); ++r) {
        const C* from = x + r * size * inner;
        C* to = y + r * size * inner;
        if (inner == 1) {
          Total total = 0;
          for (int64_t i = 0; i < size; ++i)
            to[i] = static_cast<C>(total = sum.join(total, static_cast<Total>(from[i])));
          continue;
        }
        for (int64_t first = 0; first < inner; first += kAbreast) {
          const int64_t width = std::min(inner - first, kAbreast);
          Total totals[kAbreast]{};
          for (int64_t i = first; i < size * inner; i += inner) {
            for (int64_t c = 0; c < width; ++c)
              to[i + c] =
                  static_cast<C>(totals[c] = sum.join(totals[c], static_cast<Total>(from[i + c])));
          }
        }
      }
    });
    results.store();
    return {};
  });
}

constexpr Kernel kTable[] = {
    {"aten::all.out", "TIB>T", truth_dim<true>},
    {"aten::all.all_out", "T>T", truth_all<true>},
    {"aten::allclose.Tensor", "TTDDBB>T", allclose_},
    {"aten::allclose.out", "TTDDBB>T", allclose_},
    {"aten::amax.out", "TLB>T", extreme_values<true>},
    {"aten::amin.out", "TLB>T", extreme_values<false>},
    {"aten::any.all_out", "T>T", truth_all<false>},
    {"aten::any.dims_out", "TlB>T", any_dims},
    {"aten::any.out", "TIB>T", truth_dim<false>},
    {"aten::argmax.out", "TiB>T", extreme_index<true>},
    {"aten::argmin.out", "TiB>T", extreme_index<false>},
    {"aten::cumsum.out", "TIi>T", cumsum_},
    {"aten::max.dim_max", "TIB>TT", extreme_dim<true>},
    {"aten::max.unary_out", "T>T", extreme_all<true>},
    {"aten::mean.dtype_out", "Ti>T", mean_all},
    {"aten::mean.out", "TlBi>T", mean_},
    {"aten::median.dim_values", "TIB>TT", median_dim},
    {"aten::median.out", "T>T", median_all},
    {"aten::min.dim_min", "TIB>TT", extreme_dim<false>},
    {"aten::min.unary_out", "T>T", extreme_all<false>},
    {"aten::prod.int_out", "TIBi>T", prod_dim},
    {"aten::prod.out", "Ti>T", prod_all},
    {"aten::sum.IntList_out", "TlBi>T", sum_},
    {"aten::topk.values", "TIIBB>TT", topk_},
    {"aten::var.correction_out", "TlsB>T", var_correction},
    {"aten::var.out", "TlBB>T", var_unbiased},
    {"aten::var_mean.correction_out", "TlsB>TT", var_mean},
};

}  // namespace

std::span<const Kernel> reduce_kernels() { return kTable; }

}  // namespace pteron
