// What Fourier transforms are made of, once for each instruction set: see functions.h.
//
// Numbers lie in rows [size, width], a line a column, real and imaginary parts apart.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace pteron {

template <typename T>
struct Lines {
  T* real;
  T* imaginary;

  // A transform of what is swapped is the transform back, swapped.
  Lines swapped() const { return {imaginary, real}; }
  Lines operator+(int64_t offset) const { return {real + offset, imaginary + offset}; }
};

// A step by a radix: from arrays [radix, m, s] to [m, radix, s]. roots[k] is exp(-2 pi i k / n), as
// a pair, for n = radix * m * spacing.
template <typename T>
struct FourierStep {
  Lines<T> from;
  Lines<T> to;
  int64_t m;
  int64_t s;
  const T* roots;
  int64_t spacing;
};

template <typename T>
struct FourierFunctions {
  std::array<void (*)(const FourierStep<T>&), 4> steps;  // By 2, 3, 4 and 5.

  // Lines of n numbers, `stride` apart, and the same as columns, of two arrays in turn: number j of
  // line i is even[j / 2 * step + i], or odd[j / 2 * step + i] where j is odd.
  void (*from_lines)(const T* lines, int64_t stride, int64_t count, int64_t n, T* even, T* odd,
                     int64_t step);
  void (*to_lines)(const T* even, const T* odd, int64_t step, int64_t count, int64_t n, T* lines,
                   int64_t stride);

  // Two signals' transforms, from rows k and size - k of that of both as the parts of one; and
  // back.
  void (*untangle)(Lines<T> row, Lines<T> mirrored, int64_t width, Lines<T> left, Lines<T> right);
  void (*tangle)(Lines<T> left, Lines<T> right, int64_t width, Lines<T> row, Lines<T> mirrored);

  void step(int64_t radix, const FourierStep<T>& step) const {
    steps[static_cast<size_t>(radix - 2)](step);
  }
};

}  // namespace pteron
