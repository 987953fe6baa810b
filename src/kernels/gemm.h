// The matrix product: cut into blocks that stay in cache, packed, and shared among threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <type_traits>

#include "kernels/vector/functions.h"
#include "runtime/kernel.h"

namespace pteron {

// A matrix in memory: element (i, j) is data[i * row + j * column].
template <typename T>
struct Matrix {
  const T* data;
  int64_t row;
  int64_t column;
};

// Where products that follow each other pack their blocks, so that each need not have memory of its
// own for as long as the operator runs.
template <typename T>
class PackSpace {
 public:
  T* left(KernelContext& context, int64_t count) { return grown(context, left_, count); }
  T* right(KernelContext& context, int64_t count) { return grown(context, right_, count); }

 private:
  struct Block {
    T* data = nullptr;
    int64_t size = 0;
  };
  static T* grown(KernelContext& context, Block& block, int64_t count) {
    if (count > block.size) block = {context.scratch_array<T>(static_cast<size_t>(count)), count};
    return block.data;
  }
  Block left_;
  Block right_;
};

// The right-hand side of a product that packs itself. pack() writes rows [k0, k0 + k) and columns
// [j0, j0 + columns), each row `width` numbers after the last, with zeros after the last column.
template <typename T>
struct PackedSource {
  Matrix<T> matrix;
  void pack(int64_t k0, int64_t k, int64_t j0, int64_t columns, int64_t width, T* to) const {
    const T* from = matrix.data + k0 * matrix.row + j0 * matrix.column;
    if (matrix.row == 1 && matrix.column != 1) {
      // Turned: each column is read along, a few at a time.
      int64_t j = 0;
      for (; j + 4 <= columns; j += 4) {
        const T* line = from + j * matrix.column;
        for (int64_t p = 0; p < k; ++p) {
          T* four = to + p * width + j;
          four[0] = line[p];
          four[1] = line[p + matrix.column];
          four[2] = line[p + 2 * matrix.column];
          four[3] = line[p + 3 * matrix.column];
        }
      }
      for (; j < columns; ++j) {
        const T* line = from + j * matrix.column;
        for (int64_t p = 0; p < k; ++p) to[p * width + j] = line[p];
      }
      for (int64_t p = 0; p < k && columns < width; ++p)
        std::fill(to + p * width + columns, to + (p + 1) * width, T(0));
      return;
    }
    for (int64_t p = 0; p < k; ++p) {
      const T* line = from + p * matrix.row;
      T* row = to + p * width;
      if (matrix.column == 1) {
        std::copy_n(line, columns, row);
      } else {
        for (int64_t j = 0; j < columns; ++j) row[j] = line[j * matrix.column];
      }
      std::fill(row + columns, row + width, T(0));
    }
  }
};

namespace gemm_detail {

constexpr int64_t kDepth = 256;               // Steps of k in a block: a panel of b stays in L1,
constexpr int64_t kHeight = 96;               // and so many rows of a in L2.
constexpr int64_t kWidth = 2048;              // Columns of b that are packed at a time.
constexpr int64_t kWorth = int64_t{1} << 18;  // Multiplications that are worth a thread.

inline size_t grain(int64_t work_each) {
  return static_cast<size_t>(std::max<int64_t>(1, kWorth / std::max<int64_t>(work_each, 1)));
}

// Packs `rows` rows from i0, k steps from k0, as panels of `height` rows: step by step.
template <typename T>
void pack_rows(const Matrix<T>& a, int64_t i0, int64_t rows, int64_t k0, int64_t k, int64_t height,
               T* to) {
  const T* from = a.data + i0 * a.row + k0 * a.column;
  for (int64_t i = 0; i < height; ++i) {
    if (i < rows) {
      const T* line = from + i * a.row;
      for (int64_t p = 0; p < k; ++p) to[p * height + i] = line[p * a.column];
    } else {
      for (int64_t p = 0; p < k; ++p) to[p * height + i] = T(0);
    }
  }
}

// Few rows, and b's columns lie along memory (a linear layer's weights): inner products, no
// packing.
template <typename T>
void by_columns(KernelContext& context, int64_t m, int64_t n, int64_t k, const Matrix<T>& a,
                const Matrix<T>& b, T* c, int64_t stride, bool add) {
  const GemmTile<T>& tile = vector_functions().tile<T>();
  context.parallel(static_cast<size_t>(n), grain(m * k), [=, &tile](size_t begin, size_t end) {
    for (auto j = static_cast<int64_t>(begin); j < static_cast<int64_t>(end); ++j) {
      for (int64_t i = 0; i < m; i += kDotRows) {
        const int64_t rows = std::min(kDotRows, m - i);
        T sums[kDotRows];
        tile.dot(k, a.data + i * a.row, a.row, rows, b.data + j * b.column, sums, 1);
        for (int64_t r = 0; r < rows; ++r) {
          T& to = c[(i + r) * stride + j];
          to = add ? to + sums[r] : sums[r];
        }
      }
    }
  });
}

template <typename T, typename Source>
void in_blocks(KernelContext& context, int64_t m, int64_t n, int64_t k, const Matrix<T>& a,
               const Source& b, T* c, int64_t stride, bool add, PackSpace<T>& space) {
  const GemmTile<T>& tile = vector_functions().tile<T>();
  const int64_t height = tile.rows;
  const int64_t width = tile.columns;
  const int64_t row_panels = (m + height - 1) / height;
  const int64_t depth = std::min(k, kDepth);
  const int64_t most_panels = (std::min(n, kWidth) + width - 1) / width;
  T* packed_a = space.left(context, row_panels * height * depth);
  T* packed_b = space.right(context, most_panels * width * depth);
  const int64_t block = std::max<int64_t>(1, kHeight / height);  // In panels.
  const int64_t blocks = (row_panels + block - 1) / block;
  for (int64_t k0 = 0; k0 < k; k0 += depth) {
    const int64_t steps = std::min(depth, k - k0);
    context.parallel(
        static_cast<size_t>(row_panels), grain(height * steps * 4), [=](size_t begin, size_t end) {
          for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
            pack_rows(a, i * height, std::min(height, m - i * height), k0, steps, height,
                      packed_a + i * height * depth);
          }
        });
    const bool adds = add || k0 > 0;
    for (int64_t j0 = 0; j0 < n; j0 += kWidth) {
      const int64_t columns = std::min(kWidth, n - j0);
      const int64_t panels = (columns + width - 1) / width;
      context.parallel(
          static_cast<size_t>(panels), grain(width * steps * 4), [=, &b](size_t begin, size_t end) {
            for (auto j = static_cast<int64_t>(begin); j < static_cast<int64_t>(end); ++j) {
              b.pack(k0, steps, j0 + j * width, std::min(width, columns - j * width), width,
                     packed_b + j * width * depth);
            }
          });
      context.parallel(static_cast<size_t>(blocks * panels), grain(block * height * width * steps),
                       [=, &tile](size_t begin, size_t end) {
                         for (auto task = static_cast<int64_t>(begin);
                              task < static_cast<int64_t>(end); ++task) {
                           const int64_t j = task % panels;
                           const int64_t first = task / panels * block;
                           const int64_t last = std::min(first + block, row_panels);
                           for (int64_t i = first; i < last; ++i) {
                             tile.run(steps, packed_a + i * height * depth,
                                      packed_b + j * width * depth, width,
                                      c + i * height * stride + j0 + j * width, stride,
                                      std::min(height, m - i * height),
                                      std::min(width, columns - j * width), adds);
                           }
                         }
                       });
    }
  }
}

}  // namespace gemm_detail

// What a thread has for products of its own, within a loop that is shared already: no other
// threads, and no memory but what was set aside before.
class OneThread final : public KernelContext {
 public:
  void* scratch(size_t) override { throw std::bad_alloc(); }
  void parallel_for(size_t count, size_t, ParallelBody body, void* argument) override {
    body(argument, 0, count);
  }
  uint64_t random() override { return 0; }
};

// Sets aside what a product of this size packs.
template <typename T>
void reserve_pack_space(KernelContext& context, int64_t m, int64_t n, int64_t k,
                        PackSpace<T>& space) {
  const GemmTile<T>& tile = vector_functions().tile<T>();
  const int64_t depth = std::min(k, gemm_detail::kDepth);
  const int64_t columns = std::min(n, gemm_detail::kWidth);
  space.left(context, (m + tile.rows - 1) / tile.rows * tile.rows * depth);
  space.right(context, (columns + tile.columns - 1) / tile.columns * tile.columns * depth);
}

// c[m, n] = a[m, k] * b[k, n], or c += with `add`; c's rows are `stride` apart. b is any source
// that packs itself (PackedSource's pack()). float and double.
template <typename T, typename Source>
void gemm_packed(KernelContext& context, int64_t m, int64_t n, int64_t k, const Matrix<T>& a,
                 const Source& b, T* c, int64_t stride, bool add, PackSpace<T>* space = nullptr) {
  if (m == 0 || n == 0) return;
  if (k == 0) {
    for (int64_t i = 0; i < m && !add; ++i) std::fill_n(c + i * stride, n, T(0));
    return;
  }
  PackSpace<T> own;
  gemm_detail::in_blocks(context, m, n, k, a, b, c, stride, add, space ? *space : own);
}

// The same with b in memory, and for integers too.
template <typename T>
void gemm(KernelContext& context, int64_t m, int64_t n, int64_t k, const Matrix<T>& a,
          const Matrix<T>& b, T* c, int64_t stride, bool add, PackSpace<T>* space = nullptr) {
  if constexpr (std::is_floating_point_v<T>) {
    constexpr int64_t kFew = 8;
    if (m <= kFew && k > 0 && b.row == 1 && a.column == 1) {
      gemm_detail::by_columns(context, m, n, k, a, b, c, stride, add);
    } else {
      gemm_packed(context, m, n, k, a, PackedSource<T>{b}, c, stride, add, space);
    }
  } else {
    for (int64_t i = 0; i < m; ++i) {
      T* row = c + i * stride;
      if (!add) std::fill_n(row, n, T(0));
      for (int64_t p = 0; p < k; ++p) {
        // Unsigned, as integers wrap.
        const auto factor = static_cast<std::make_unsigned_t<T>>(a.data[i * a.row + p * a.column]);
        const T* line = b.data + p * b.row;
        for (int64_t j = 0; j < n; ++j) {
          row[j] =
              static_cast<T>(static_cast<std::make_unsigned_t<T>>(row[j]) +
                             factor * static_cast<std::make_unsigned_t<T>>(line[j * b.column]));
        }
      }
    }
  }
}

}  // namespace pteron
