// Folding dimensions: each element of an output is made of a run of the input's.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "kernels/element.h"

namespace pteron {

// n elements side by side, as C: where they lie, or in `copy`.
template <typename C>
const C* read_row(const Tensor& in, int64_t offset, int64_t n, C* copy) {
  if (is_stored_as<C>(in.dtype())) return static_cast<const C*>(in.raw()) + offset;
  load(in.dtype(), in.raw(), offset, 1, n, copy);
  return copy;
}

// The dimensions that are folded, as a bit mask; all of them where none is named.
inline Result<uint32_t> read_dims(const std::optional<Ints>& dims, int rank) {
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
  void run(KernelContext& context, const Tensor& in, Fold&& fold) const {
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
  void run_rows(KernelContext& context, const Tensor& in, C* results, const Fold& fold) const {
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
          const C* row = read_row(in, base + r * inner, width, copy);
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
  static void in_slices(KernelContext& context, int64_t tasks, int64_t size, Body&& body) {
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
  void run_strided(KernelContext& context, const Tensor& in, Fold&& fold) const {
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

inline Result<void> check_numbers(const Tensor& in, const Tensor& out) {
  if (!is_number(in.dtype()) || !is_number(out.dtype())) return kernel_error("dtype not supported");
  return {};
}

// What sums are computed in, as PyTorch does: elements are converted first where a dtype is asked
// for.
inline DType sum_type(const Tensor& in, const Tensor& out) {
  return is_float(in.dtype()) && !is_float(out.dtype()) ? out.dtype()
                                                        : promote(in.dtype(), out.dtype());
}

// Folds each output's elements with fold(elements, count) -> C, computing in `compute`. A fold that
// also has join() and finish() need not have them side by side.
template <typename Fold>
Result<void> fold_dims(KernelContext& context, const Tensor& in, Tensor& out, uint32_t mask,
                       bool keep, DType compute, Fold&& fold) {
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

}  // namespace pteron
