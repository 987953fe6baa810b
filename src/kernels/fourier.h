// Discrete Fourier transforms of lines that lie side by side.
//
// Lengths whose only factors are 2, 3 and 5 are divided by them again and again (Stockham's way,
// without reordering); others take Bluestein's way, which makes a convolution of them whose length
// is a power of two. That one costs digits: floats should not go it.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "kernels/scratch.h"
#include "kernels/vector/functions.h"

namespace pteron {

// What is left of a size, 1 or more, without its factors 2, 3 and 5.
inline int64_t rough_part(int64_t size) {
  for (const int64_t radix : {2, 3, 5}) {
    while (size % radix == 0) size /= radix;
  }
  return size;
}

// exp(-2 pi i k / n) for k in [0, n): products of the numbers of two tables, of some sqrt(n).
class Roots {
 public:
  Roots(KernelContext& context, int64_t n)
      : coarse_(scratch_vector<double>(context)), fine_(scratch_vector<double>(context)) {
    while (block_ * block_ < n) block_ *= 2;
    const auto fill = [n](ScratchVector<double>& table, int64_t count, int64_t by) {
      table.reserve(static_cast<size_t>(2 * count));
      for (int64_t k = 0; k < count; ++k) {
        const double angle =
            -6.283185307179586 * static_cast<double>(k * by) / static_cast<double>(n);
        table.push_back(std::cos(angle));
        table.push_back(std::sin(angle));
      }
    };
    fill(fine_, block_, 1);
    fill(coarse_, (n + block_ - 1) / block_, block_);
  }
  std::pair<double, double> operator()(int64_t k) const {
    const double* a = coarse_.data() + k / block_ * 2;
    const double* b = fine_.data() + k % block_ * 2;
    return {a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]};
  }

 private:
  int64_t block_ = 1;
  ScratchVector<double> coarse_;
  ScratchVector<double> fine_;
};

// A transform of a size with no other factors than 2, 3 and 5.
template <typename T>
class Steps {
 public:
  Steps(KernelContext& context, int64_t size)
      : size_(size), stop_(context.stop()), roots_(scratch_vector<T>(context)) {
    for (const int64_t radix : {4, 2, 3, 5}) {
      for (; size % radix == 0; size /= radix) radices_.push_back(radix);
    }
    const Roots roots(context, size_);
    roots_.reserve(static_cast<size_t>(2 * size_));
    for (int64_t k = 0; k < size_; ++k) {
      const auto [real, imaginary] = roots(k);
      roots_.push_back(static_cast<T>(real));
      roots_.push_back(static_cast<T>(imaginary));
    }
  }

  // Transforms `lines` by way of `other`; the two are swapped where the result is in the other one.
  // Leaves off where the run must end.
  void run(Lines<T>& lines, Lines<T>& other, int64_t width) const {
    int64_t m = size_;
    int64_t s = width;
    for (const int64_t radix : radices_) {
      if (stop_ != nullptr && stop_->is_due()) return;
      m /= radix;
      vector_functions().fourier<T>().step(
          radix, {lines, other, m, s, roots_.data(), size_ / (m * radix)});
      s *= radix;
      std::swap(lines, other);
    }
  }

 private:
  int64_t size_;
  const Stop* stop_;
  std::vector<int64_t> radices_;
  ScratchVector<T> roots_;
};

template <typename T>
class Transform {
 public:
  Transform(KernelContext& context, int64_t size)
      : padded_(padded_size(size)),
        steps_(context, padded_),
        chirp_(scratch_vector<T>(context)),
        filter_(scratch_vector<T>(context)) {
    if (padded_ != size) prepare_convolution(context, size);
  }

  // How many rows the lines' memory must have: Bluestein's way needs more than their size.
  int64_t padded() const { return padded_; }

  // See Steps::run.
  void run(Lines<T>& lines, Lines<T>& other, int64_t width) const {
    if (chirp_.empty()) return steps_.run(lines, other, width);
    const auto size = static_cast<int64_t>(chirp_.size() / 2);
    multiply(lines, width, chirp_, 1);
    std::fill(lines.real + size * width, lines.real + padded_ * width, T(0));
    std::fill(lines.imaginary + size * width, lines.imaginary + padded_ * width, T(0));
    steps_.run(lines, other, width);
    multiply(lines, width, filter_, 1);
    Lines<T> back = lines.swapped();
    Lines<T> spare = other.swapped();
    steps_.run(back, spare, width);
    lines = back.swapped();
    other = spare.swapped();
    multiply(lines, width, chirp_, 1 / static_cast<T>(padded_));
  }

 private:
  static int64_t padded_size(int64_t size) {
    if (rough_part(size) == 1) return size;
    int64_t padded = 1;
    while (padded < 2 * size - 1) padded *= 2;
    return padded;
  }

  void prepare_convolution(KernelContext& context, int64_t size) {
    const Roots roots(context, 2 * size);
    chirp_.reserve(static_cast<size_t>(2 * size));
    // k squared modulo 2 n, stepwise, as it does not fit for long lines.
    int64_t square = 0;
    for (int64_t k = 0; k < size; ++k) {
      const auto [real, imaginary] = roots(square);
      chirp_.push_back(static_cast<T>(real));
      chirp_.push_back(static_cast<T>(imaginary));
      square = (square + 2 * k + 1) % (2 * size);
    }
    auto parts = scratch_vector<T>(context, static_cast<size_t>(4 * padded_));
    T* data = parts.data();
    Lines<T> lines{data, data + padded_};
    Lines<T> other{data + 2 * padded_, data + 3 * padded_};
    for (int64_t k = 0; k < size; ++k) {
      for (const int64_t at : {k, (padded_ - k) % padded_}) {
        lines.real[at] = chirp_[static_cast<size_t>(2 * k)];
        lines.imaginary[at] = -chirp_[static_cast<size_t>(2 * k + 1)];
      }
    }
    steps_.run(lines, other, 1);
    filter_.reserve(static_cast<size_t>(2 * padded_));
    for (int64_t k = 0; k < padded_; ++k) {
      filter_.push_back(lines.real[k]);
      filter_.push_back(lines.imaginary[k]);
    }
  }

  static void multiply(Lines<T> lines, int64_t width, const ScratchVector<T>& by, T scale) {
    for (size_t k = 0; k < by.size(); k += 2) {
      const T real = by[k] * scale;
      const T imaginary = by[k + 1] * scale;
      T* __restrict r = lines.real + static_cast<int64_t>(k / 2) * width;
      T* __restrict i = lines.imaginary + static_cast<int64_t>(k / 2) * width;
      for (int64_t lane = 0; lane < width; ++lane) {
        const T part = r[lane];
        r[lane] = part * real - i[lane] * imaginary;
        i[lane] = part * imaginary + i[lane] * real;
      }
    }
  }

  int64_t padded_;
  Steps<T> steps_;
  ScratchVector<T> chirp_;  // Pairs; empty where the size has small factors only.
  ScratchVector<T> filter_;
};

}  // namespace pteron
