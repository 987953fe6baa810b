// The loops of Fourier transforms: a part of body.h, and under its rules.
#pragma once

#include <immintrin.h>

#include <type_traits>
#include <utility>

#include "kernels/vector/fourier_functions.h"
#include "kernels/vector/vector.h"

namespace pteron {
namespace {

// W: a vector, or one number where less is left.
template <typename W>
struct Complex {
  W real;
  W imaginary;

  friend Complex operator+(Complex a, Complex b) {
    return {a.real + b.real, a.imaginary + b.imaginary};
  }
  friend Complex operator-(Complex a, Complex b) {
    return {a.real - b.real, a.imaginary - b.imaginary};
  }
  friend Complex operator*(Complex a, Complex b) {
    return {a.real * b.real - a.imaginary * b.imaginary,
            a.real * b.imaginary + a.imaginary * b.real};
  }
  friend Complex operator*(Complex a, W b) { return {a.real * b, a.imaginary * b}; }
  // Turned by a quarter, as the steps turn: times -i.
  Complex turned() const { return {imaginary, -real}; }
};

// Lines' own operator is shared with files for other CPUs.
template <typename T>
Lines<T> moved(Lines<T> lines, int64_t offset) {
  return {lines.real + offset, lines.imaginary + offset};
}

template <typename T, typename Arch>
struct Fourier {
  using V = Vector<T, Arch>;

  template <typename W>
  static void transform(Complex<W> (&x)[2]) {
    const Complex<W> a = x[0];
    x[0] = a + x[1];
    x[1] = a - x[1];
  }
  template <typename W>
  static void transform(Complex<W> (&x)[3]) {
    const Complex<W> sum = x[1] + x[2];
    const Complex<W> off = ((x[1] - x[2]) * W(T(0.86602540378443865))).turned();
    const Complex<W> middle = x[0] - sum * W(T(0.5));
    x[0] = x[0] + sum;
    x[1] = middle + off;
    x[2] = middle - off;
  }
  template <typename W>
  static void transform(Complex<W> (&x)[4]) {
    const Complex<W> even = x[0] + x[2];
    const Complex<W> even_off = x[0] - x[2];
    const Complex<W> odd = x[1] + x[3];
    const Complex<W> odd_off = (x[1] - x[3]).turned();
    x[0] = even + odd;
    x[1] = even_off + odd_off;
    x[2] = even - odd;
    x[3] = even_off - odd_off;
  }
  template <typename W>
  static void transform(Complex<W> (&x)[5]) {
    const W cos1(T(0.30901699437494742));
    const W cos2(T(-0.80901699437494742));
    const W sin1(T(0.95105651629515357));
    const W sin2(T(0.58778525229247313));
    const Complex<W> outer = x[1] + x[4];
    const Complex<W> outer_off = x[1] - x[4];
    const Complex<W> inner = x[2] + x[3];
    const Complex<W> inner_off = x[2] - x[3];
    const Complex<W> first = x[0] + outer * cos1 + inner * cos2;
    const Complex<W> second = x[0] + outer * cos2 + inner * cos1;
    const Complex<W> first_off = (outer_off * sin1 + inner_off * sin2).turned();
    const Complex<W> second_off = (outer_off * sin2 - inner_off * sin1).turned();
    x[0] = x[0] + outer + inner;
    x[1] = first + first_off;
    x[2] = second + second_off;
    x[3] = second - second_off;
    x[4] = first - first_off;
  }

  template <typename W>
  static Complex<W> get(Lines<T> at) {
    if constexpr (std::is_same_v<W, T>)
      return {*at.real, *at.imaginary};
    else
      return {W::load_unaligned(at.real), W::load_unaligned(at.imaginary)};
  }
  template <typename W>
  static void put(Complex<W> x, Lines<T> at) {
    if constexpr (std::is_same_v<W, T>) {
      *at.real = x.real;
      *at.imaginary = x.imaginary;
    } else {
      x.real.store_unaligned(at.real);
      x.imaginary.store_unaligned(at.imaginary);
    }
  }

  // Elements [begin, end) of the s of one of the m; factors are the roots that the results, but the
  // first, are turned by. The folds unroll all of it.
  template <typename W, int... J>
  static void run(Lines<T> from, int64_t part, Lines<T> to, int64_t s, int64_t begin, int64_t end,
                  const Complex<T> (&factors)[sizeof...(J)], std::integer_sequence<int, J...>) {
    constexpr int64_t kStep = std::is_same_v<W, T> ? 1 : kLanes<T, Arch>;
    const Complex<W> by[] = {{W(factors[J].real), W(factors[J].imaginary)}...};
    for (int64_t q = begin; q < end; q += kStep) {
      Complex<W> x[sizeof...(J) + 1] = {get<W>(moved(from, q)),
                                        get<W>(moved(from, q + (J + 1) * part))...};
      transform(x);
      put(x[0], moved(to, q));
      (put(x[J + 1] * by[J], moved(to, q + (J + 1) * s)), ...);
    }
  }

  template <int kRadix>
  static void step(const FourierStep<T>& step) {
    constexpr auto kRest = std::make_integer_sequence<int, kRadix - 1>();
    const int64_t part = step.m * step.s;
    const int64_t whole = step.s - step.s % kLanes<T, Arch>;
    for (int64_t p = 0; p < step.m; ++p) {
      Complex<T> factors[kRadix - 1];
      for (int64_t j = 1; j < kRadix; ++j) {
        const T* root = step.roots + 2 * j * p * step.spacing;
        factors[j - 1] = {root[0], root[1]};
      }
      const Lines<T> from = moved(step.from, p * step.s);
      const Lines<T> to = moved(step.to, kRadix * p * step.s);
      run<V>(from, part, to, step.s, 0, whole, factors, kRest);
      run<T>(from, part, to, step.s, whole, step.s, factors, kRest);
    }
  }

  template <typename W>
  static void untangle_some(Lines<T> row, Lines<T> mirrored, int64_t begin, int64_t end,
                            Lines<T> left, Lines<T> right) {
    constexpr int64_t kStep = std::is_same_v<W, T> ? 1 : kLanes<T, Arch>;
    const W half(T(0.5));
    for (int64_t i = begin; i < end; i += kStep) {
      const Complex<W> x = get<W>(moved(row, i)) * half;
      const Complex<W> y = get<W>(moved(mirrored, i)) * half;
      put<W>({x.real + y.real, x.imaginary - y.imaginary}, moved(left, i));
      put<W>({x.imaginary + y.imaginary, y.real - x.real}, moved(right, i));
    }
  }
  static void untangle(Lines<T> row, Lines<T> mirrored, int64_t width, Lines<T> left,
                       Lines<T> right) {
    const int64_t whole = width - width % kLanes<T, Arch>;
    untangle_some<V>(row, mirrored, 0, whole, left, right);
    untangle_some<T>(row, mirrored, whole, width, left, right);
  }

  template <typename W>
  static void tangle_some(Lines<T> left, Lines<T> right, int64_t begin, int64_t end, Lines<T> row,
                          Lines<T> mirrored) {
    constexpr int64_t kStep = std::is_same_v<W, T> ? 1 : kLanes<T, Arch>;
    for (int64_t i = begin; i < end; i += kStep) {
      const Complex<W> x = get<W>(moved(left, i));
      const Complex<W> y = get<W>(moved(right, i));
      put<W>({x.real - y.imaginary, y.real + x.imaginary}, moved(row, i));
      put<W>({x.real + y.imaginary, y.real - x.imaginary}, moved(mirrored, i));
    }
  }
  static void tangle(Lines<T> left, Lines<T> right, int64_t width, Lines<T> row,
                     Lines<T> mirrored) {
    const int64_t whole = width - width % kLanes<T, Arch>;
    tangle_some<V>(left, right, 0, whole, row, mirrored);
    tangle_some<T>(left, right, whole, width, row, mirrored);
  }
};

// Tiles of 4 by 4 floats are turned in registers; wider ones would take what xsimd does not have.
// So this takes 128 bits on all CPUs. Blocks of both keep within the nearest cache.
template <typename T, typename Arch>
struct Turning {
  static constexpr int64_t kBlock = 16;
  static constexpr bool kInTiles = std::is_same_v<T, float>;

  static void from_lines(const T* lines, int64_t stride, int64_t count, int64_t n, T* even, T* odd,
                         int64_t step) {
    for (int64_t first = 0; first < n; first += kBlock) {
      const int64_t end = first + kBlock < n ? first + kBlock : n;
      int64_t i = 0;
      if constexpr (kInTiles) {
        for (; i + 4 <= count; i += 4) {
          int64_t j = first;
          for (; j + 4 <= end; j += 4) {
            const T* from = lines + i * stride + j;
            const int64_t to = j / 2 * step + i;
            __m128 a = _mm_loadu_ps(from);
            __m128 b = _mm_loadu_ps(from + stride);
            __m128 c = _mm_loadu_ps(from + 2 * stride);
            __m128 d = _mm_loadu_ps(from + 3 * stride);
            _MM_TRANSPOSE4_PS(a, b, c, d);
            _mm_storeu_ps(even + to, a);
            _mm_storeu_ps(odd + to, b);
            _mm_storeu_ps(even + to + step, c);
            _mm_storeu_ps(odd + to + step, d);
          }
          from_some_lines(lines, stride, i, i + 4, j, end, even, odd, step);
        }
      }
      from_some_lines(lines, stride, i, count, first, end, even, odd, step);
    }
  }
  static void from_some_lines(const T* lines, int64_t stride, int64_t i, int64_t count,
                              int64_t first, int64_t end, T* even, T* odd, int64_t step) {
    for (; i < count; ++i) {
      for (int64_t j = first; j < end; ++j)
        (j % 2 == 0 ? even : odd)[j / 2 * step + i] = lines[i * stride + j];
    }
  }

  static void to_lines(const T* even, const T* odd, int64_t step, int64_t count, int64_t n,
                       T* lines, int64_t stride) {
    for (int64_t first = 0; first < n; first += kBlock) {
      const int64_t end = first + kBlock < n ? first + kBlock : n;
      int64_t i = 0;
      if constexpr (kInTiles) {
        for (; i + 4 <= count; i += 4) {
          int64_t j = first;
          for (; j + 4 <= end; j += 4) {
            T* to = lines + i * stride + j;
            const int64_t from = j / 2 * step + i;
            __m128 a = _mm_loadu_ps(even + from);
            __m128 b = _mm_loadu_ps(odd + from);
            __m128 c = _mm_loadu_ps(even + from + step);
            __m128 d = _mm_loadu_ps(odd + from + step);
            _MM_TRANSPOSE4_PS(a, b, c, d);
            _mm_storeu_ps(to, a);
            _mm_storeu_ps(to + stride, b);
            _mm_storeu_ps(to + 2 * stride, c);
            _mm_storeu_ps(to + 3 * stride, d);
          }
          to_some_lines(even, odd, step, i, i + 4, j, end, lines, stride);
        }
      }
      to_some_lines(even, odd, step, i, count, first, end, lines, stride);
    }
  }
  static void to_some_lines(const T* even, const T* odd, int64_t step, int64_t i, int64_t count,
                            int64_t first, int64_t end, T* lines, int64_t stride) {
    for (; i < count; ++i) {
      for (int64_t j = first; j < end; ++j)
        lines[i * stride + j] = (j % 2 == 0 ? even : odd)[j / 2 * step + i];
    }
  }
};

template <typename T, typename Arch>
constexpr FourierFunctions<T> fourier_functions() {
  using F = Fourier<T, Arch>;
  return {{F::template step<2>, F::template step<3>, F::template step<4>, F::template step<5>},
          Turning<T, Arch>::from_lines,
          Turning<T, Arch>::to_lines,
          F::untangle,
          F::tangle};
}

}  // namespace
}  // namespace pteron
