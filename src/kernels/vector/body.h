// The vector loops, as templates over xsimd's instruction sets; sse2.cpp, avx2.cpp and avx512.cpp
// each make one table of them.
//
// Those files are compiled with instructions that this machine may lack. So all here is a template
// over Arch or has internal linkage, and nothing of the standard library is called out of line: a
// shared inline function could be kept by the linker in the version of the wrong file. A test
// looks at the object files for that.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <xsimd/xsimd.hpp>

#include "base/half.h"
#include "kernels/vector/fourier_body.h"
#include "kernels/vector/functions.h"
#include "kernels/vector/vector.h"

namespace pteron {
namespace {

// ---- Matrix product ----------------------------------------------------------------------------

// kRows x (kVectors * lanes) sums live in registers. The folds unroll all of it.
template <typename T, typename Arch, int kRows, int kVectors>
struct Tile {
  using V = Vector<T, Arch>;
  static constexpr int64_t kColumns = kVectors * kLanes<T, Arch>;
  static constexpr int kSums = kRows * kVectors;

  template <int... I>
  static void sum(int64_t k, const T* a, const T* b, int64_t b_stride, V* out,
                  std::integer_sequence<int, I...>) {
    V sums[kSums];
    ((sums[I] = V(T(0))), ...);
    for (int64_t p = 0; p < k; ++p) {
      V row[kVectors];
      for (int v = 0; v < kVectors; ++v) row[v] = V::load_unaligned(b + v * kLanes<T, Arch>);
      ((sums[I] = xsimd::fma(V(a[I / kVectors]), row[I % kVectors], sums[I])), ...);
      a += kRows;
      b += b_stride;
    }
    ((out[I] = sums[I]), ...);
  }

  static void run(int64_t k, const T* a, const T* b, int64_t b_stride, T* c, int64_t stride,
                  int64_t rows, int64_t columns, bool add) {
    V sums[kSums];
    sum(k, a, b, b_stride, sums, std::make_integer_sequence<int, kSums>());
    if (columns == kColumns) {
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t v = 0; v < kVectors; ++v) {
          T* to = c + i * stride + v * kLanes<T, Arch>;
          V value = sums[i * kVectors + v];
          if (add) value += V::load_unaligned(to);
          value.store_unaligned(to);
        }
      }
      return;
    }
    T edge[kColumns];
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t v = 0; v < kVectors; ++v)
        sums[i * kVectors + v].store_unaligned(edge + v * kLanes<T, Arch>);
      T* to = c + i * stride;
      for (int64_t j = 0; j < columns; ++j) to[j] = add ? to[j] + edge[j] : edge[j];
    }
  }
};

template <typename T, typename Arch, int kRows>
void dot_rows(int64_t k, const T* a, int64_t a_stride, const T* b, T* out, int64_t out_stride) {
  using V = Vector<T, Arch>;
  constexpr int64_t kStep = kLanes<T, Arch>;
  V sums[kRows];
  V more[kRows];
  for (int i = 0; i < kRows; ++i) sums[i] = more[i] = V(T(0));
  int64_t p = 0;
  for (; p + 2 * kStep <= k; p += 2 * kStep) {
    const V low = V::load_unaligned(b + p);
    const V high = V::load_unaligned(b + p + kStep);
    for (int i = 0; i < kRows; ++i) {
      const T* row = a + i * a_stride + p;
      sums[i] = xsimd::fma(V::load_unaligned(row), low, sums[i]);
      more[i] = xsimd::fma(V::load_unaligned(row + kStep), high, more[i]);
    }
  }
  for (int i = 0; i < kRows; ++i) {
    T total = xsimd::hadd(sums[i] + more[i]);
    const T* row = a + i * a_stride;
    for (int64_t q = p; q < k; ++q) total += row[q] * b[q];
    out[i * out_stride] = total;
  }
}

template <typename T, typename Arch>
void dot(int64_t k, const T* a, int64_t a_stride, int64_t rows, const T* b, T* out,
         int64_t out_stride) {
  switch (rows) {
    case 1:
      return dot_rows<T, Arch, 1>(k, a, a_stride, b, out, out_stride);
    case 2:
      return dot_rows<T, Arch, 2>(k, a, a_stride, b, out, out_stride);
    case 3:
      return dot_rows<T, Arch, 3>(k, a, a_stride, b, out, out_stride);
    default:
      return dot_rows<T, Arch, 4>(k, a, a_stride, b, out, out_stride);
  }
}

template <typename T, typename Arch, int kRows, int kVectors>
constexpr GemmTile<T> tile_of() {
  using Own = Tile<T, Arch, kRows, kVectors>;
  return {kRows, Own::kColumns, Own::run, dot<T, Arch>};
}

// ---- Rows --------------------------------------------------------------------------------------

// Calls step(i) for each full vector of n elements, then rest(m) once for the last m, if any.
template <typename Arch, typename Step, typename Rest>
void in_steps(int64_t n, Step&& step, Rest&& rest) {
  constexpr int64_t kStep = kLanes<float, Arch>;
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep) step(i);
  if (i < n) rest(i, n - i);
}

// out[i] = f(in[i]) by vectors; the last ones by a vector of their own.
template <typename Arch, typename F>
void map(const float* in, float* out, int64_t n, F&& f) {
  using V = Vector<float, Arch>;
  in_steps<Arch>(
      n, [&](int64_t i) { f(V::load_unaligned(in + i)).store_unaligned(out + i); },
      [&](int64_t i, int64_t m) {
        float edge[V::size] = {};
        std::memcpy(edge, in + i, static_cast<size_t>(m) * sizeof(float));
        f(V::load_unaligned(edge)).store_unaligned(edge);
        std::memcpy(out + i, edge, static_cast<size_t>(m) * sizeof(float));
      });
}

#if defined(__F16C__)
// As the vectors do it, so that an element's place makes no difference.
float half_as_float(uint16_t bits) { return _cvtsh_ss(bits); }
uint16_t float_as_half(float value) { return _cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT); }
#else
float half_as_float(uint16_t bits) { return half_to_float(bits); }
uint16_t float_as_half(float value) { return float_to_half(value); }
#endif

template <typename Arch>
struct Rows {
  using V = Vector<float, Arch>;

  static V sigmoid_of(V x) { return V(1.0f) / (V(1.0f) + xsimd::exp(-x)); }

  static void exp(const float* in, float* out, int64_t n) {
    map<Arch>(in, out, n, [](V x) { return xsimd::exp(x); });
  }
  static void expm1(const float* in, float* out, int64_t n) {
    map<Arch>(in, out, n, [](V x) { return xsimd::expm1(x); });
  }
  static void log(const float* in, float* out, int64_t n) {
    map<Arch>(in, out, n, [](V x) { return xsimd::log(x); });
  }
  static void log1p(const float* in, float* out, int64_t n) {
    map<Arch>(in, out, n, [](V x) { return xsimd::log1p(x); });
  }
  static void log2(const float* in, float* out, int64_t n) {
    map<Arch>(in, out, n, [](V x) { return xsimd::log2(x); });
  }
  static void log10(const float* in, float* out, int64_t n) {
    map<Arch>(in, out, n, [](V x) { return xsimd::log10(x); });
  }
  static void sigmoid(const float* in, float* out, int64_t n) {
    map<Arch>(in, out, n, [](V x) { return sigmoid_of(x); });
  }
  static void tanh(const float* in, float* out, int64_t n) {
    map<Arch>(in, out, n, [](V x) { return xsimd::tanh(x); });
  }
  static void erf(const float* in, float* out, int64_t n) {
    map<Arch>(in, out, n, [](V x) { return xsimd::erf(x); });
  }
  static void gelu(const float* in, float* out, int64_t n) {
    map<Arch>(in, out, n, [](V x) {
      return V(0.5f) * x * (V(1.0f) + xsimd::erf(x * V(0.70710678118654752f)));
    });
  }
  static void gelu_tanh(const float* in, float* out, int64_t n) {
    map<Arch>(in, out, n, [](V x) {
      const V inner = V(0.79788456080286536f) * (x + V(0.044715f) * x * x * x);
      return V(0.5f) * x * (V(1.0f) + xsimd::tanh(inner));
    });
  }
  static void silu(const float* in, float* out, int64_t n) {
    map<Arch>(in, out, n, [](V x) { return x * sigmoid_of(x); });
  }
  // Without instructions for them, as in SSE2, they come by integers, which know no -0.
  static void ceil(const float* in, float* out, int64_t n) {
    map<Arch>(in, out, n, [](V x) { return xsimd::copysign(xsimd::ceil(x), x); });
  }
  static void floor(const float* in, float* out, int64_t n) {
    map<Arch>(in, out, n, [](V x) { return xsimd::copysign(xsimd::floor(x), x); });
  }
  static void round(const float* in, float* out, int64_t n) {
    map<Arch>(in, out, n, [](V x) { return xsimd::copysign(xsimd::nearbyint(x), x); });
  }
  static void trunc(const float* in, float* out, int64_t n) {
    map<Arch>(in, out, n, [](V x) { return xsimd::copysign(xsimd::trunc(x), x); });
  }

  static void scale(const float* in, float factor, float term, float* out, int64_t n) {
    map<Arch>(in, out, n, [=](V x) { return x * V(factor) + V(term); });
  }

  static void taps(const float* const* taps, const float* weights, int64_t count, float start,
                   float* out, int64_t n) {
    constexpr int64_t kStep = kLanes<float, Arch>;
    int64_t i = 0;
    for (; i + 4 * kStep <= n; i += 4 * kStep) {
      V a(start);
      V b(start);
      V c(start);
      V d(start);
      for (int64_t t = 0; t < count; ++t) {
        const V weight(weights[t]);
        const float* tap = taps[t] + i;
        a = xsimd::fma(weight, V::load_unaligned(tap), a);
        b = xsimd::fma(weight, V::load_unaligned(tap + kStep), b);
        c = xsimd::fma(weight, V::load_unaligned(tap + 2 * kStep), c);
        d = xsimd::fma(weight, V::load_unaligned(tap + 3 * kStep), d);
      }
      a.store_unaligned(out + i);
      b.store_unaligned(out + i + kStep);
      c.store_unaligned(out + i + 2 * kStep);
      d.store_unaligned(out + i + 3 * kStep);
    }
    for (; i + kStep <= n; i += kStep) {
      V sum(start);
      for (int64_t t = 0; t < count; ++t)
        sum = xsimd::fma(V(weights[t]), V::load_unaligned(taps[t] + i), sum);
      sum.store_unaligned(out + i);
    }
    for (; i < n; ++i) {
      float sum = start;
      for (int64_t t = 0; t < count; ++t) sum += weights[t] * taps[t][i];
      out[i] = sum;
    }
  }

  // The sum of f(in[i]); four sums at a time keep the additions from waiting for each other.
  template <typename F, typename G>
  static float sum_of(const float* in, int64_t n, F&& f, G&& one) {
    constexpr int64_t kStep = kLanes<float, Arch>;
    V sums[4] = {V(0.0f), V(0.0f), V(0.0f), V(0.0f)};
    int64_t i = 0;
    for (; i + 4 * kStep <= n; i += 4 * kStep) {
      for (int64_t s = 0; s < 4; ++s) sums[s] += f(V::load_unaligned(in + i + s * kStep));
    }
    for (; i + kStep <= n; i += kStep) sums[0] += f(V::load_unaligned(in + i));
    float total = xsimd::hadd((sums[0] + sums[1]) + (sums[2] + sums[3]));
    for (; i < n; ++i) total += one(in[i]);
    return total;
  }
  // Long rows by blocks, so that rounding does not add up.
  template <typename F, typename G>
  static float sum_in_blocks(const float* in, int64_t n, F&& f, G&& one) {
    constexpr int64_t kBlock = 4096;
    if (n <= kBlock) return sum_of(in, n, f, one);
    double total = 0;
    for (int64_t i = 0; i < n; i += kBlock)
      total += static_cast<double>(sum_of(in + i, n - i < kBlock ? n - i : kBlock, f, one));
    return static_cast<float>(total);
  }
  static float sum(const float* in, int64_t n) {
    return sum_in_blocks(in, n, [](V x) { return x; }, [](float x) { return x; });
  }
  static float sum_of_differences(const float* in, float middle, int64_t n) {
    const V m(middle);
    return sum_in_blocks(
        in, n, [m](V x) { return x - m; }, [middle](float x) { return x - middle; });
  }
  static float sum_of_squares(const float* in, float middle, int64_t n) {
    const V m(middle);
    return sum_in_blocks(
        in, n, [m](V x) { return (x - m) * (x - m); },
        [middle](float x) { return (x - middle) * (x - middle); });
  }

  template <bool kMax>
  static float extreme(const float* in, int64_t n) {
    constexpr int64_t kStep = kLanes<float, Arch>;
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    const auto better = [](float x, float y) { return kMax ? x > y : x < y; };
    float best = in[0];
    bool nan = false;
    int64_t i = 0;
    if (n >= kStep) {
      V top = V::load_unaligned(in);
      // Not x != x, which is false for NaN in Debian's xsimd with AVX.
      auto strange = !(top == top);  // NOLINT(misc-redundant-expression)
      for (i = kStep; i + kStep <= n; i += kStep) {
        const V x = V::load_unaligned(in + i);
        strange = strange | !(x == x);  // NOLINT(misc-redundant-expression)
        top = kMax ? xsimd::max(top, x) : xsimd::min(top, x);
      }
      nan = xsimd::any(strange);
      float lanes[V::size];
      top.store_unaligned(lanes);
      best = lanes[0];
      for (size_t lane = 1; lane < V::size; ++lane)
        best = better(lanes[lane], best) ? lanes[lane] : best;
    }
    for (; i < n; ++i) {
      nan = nan || in[i] != in[i];  // NOLINT(misc-redundant-expression)
      best = better(in[i], best) ? in[i] : best;
    }
    return nan ? kNan : best;
  }

  static float exp_sum(const float* in, float shift, float* out, int64_t n) {
    const V s(shift);
    V sums(0.0f);
    float last = 0;
    in_steps<Arch>(
        n,
        [&](int64_t i) {
          const V y = xsimd::exp(V::load_unaligned(in + i) - s);
          sums += y;
          y.store_unaligned(out + i);
        },
        [&](int64_t i, int64_t m) {
          float edge[V::size] = {};
          std::memcpy(edge, in + i, static_cast<size_t>(m) * sizeof(float));
          xsimd::exp(V::load_unaligned(edge) - s).store_unaligned(edge);
          std::memcpy(out + i, edge, static_cast<size_t>(m) * sizeof(float));
          for (int64_t k = 0; k < m; ++k) last += edge[k];
        });
    return xsimd::hadd(sums) + last;
  }

  // Plain loops, which the compiler makes vectors of.
  static void from_int8(const int8_t* in, float* out, int64_t n) {
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(in[i]);
  }
  static void from_uint8(const uint8_t* in, float* out, int64_t n) {
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(in[i]);
  }

  // The instructions for float16 came with AVX2's CPUs; xsimd has none.
  static void from_half(const uint16_t* in, float* out, int64_t n) {
    int64_t i = 0;
#if defined(__F16C__)
    for (; i + 8 <= n; i += 8) {
      const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i));
      _mm256_storeu_ps(out + i, _mm256_cvtph_ps(half));
    }
#endif
    for (; i < n; ++i) out[i] = half_as_float(in[i]);
  }
  static void to_half(const float* in, uint16_t* out, int64_t n) {
    int64_t i = 0;
#if defined(__F16C__)
    for (; i + 8 <= n; i += 8) {
      const __m128i half = _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), half);
    }
#endif
    for (; i < n; ++i) out[i] = float_as_half(in[i]);
  }

  static void fill(const std::byte* pattern, std::byte* out, size_t size) {
    using Bytes = Vector<uint8_t, Arch>;
    constexpr size_t kParts = kPattern / Bytes::size;
    Bytes parts[kParts];
    for (size_t k = 0; k < kParts; ++k)
      parts[k] = Bytes::load_unaligned(reinterpret_cast<const uint8_t*>(pattern) + k * Bytes::size);
    for (size_t i = 0; i < size; i += kPattern) {
      for (size_t k = 0; k < kParts; ++k)
        parts[k].store_unaligned(reinterpret_cast<uint8_t*>(out) + i + k * Bytes::size);
    }
  }

  // Plain loops, which the compiler makes vectors of; the first two steps in one.
  static void hadamard(float* line, int64_t n) {
    int64_t half = 1;
    if (n % 4 == 0) {
      for (int64_t i = 0; i < n; i += 4) {
        const float a = line[i] + line[i + 1];
        const float b = line[i] - line[i + 1];
        const float c = line[i + 2] + line[i + 3];
        const float d = line[i + 2] - line[i + 3];
        line[i] = a + c;
        line[i + 1] = b + d;
        line[i + 2] = a - c;
        line[i + 3] = b - d;
      }
      half = 4;
    }
    for (; half < n; half *= 2) {
      for (int64_t i = 0; i < n; i += 2 * half) {
        float* low = line + i;
        float* high = low + half;
        for (int64_t k = 0; k < half; ++k) {
          const float sum = low[k] + high[k];
          high[k] = low[k] - high[k];
          low[k] = sum;
        }
      }
    }
  }
};

template <typename Arch, int kRows, int kVectors>
constexpr VectorFunctions make_functions(std::string_view name) {
  using R = Rows<Arch>;
  return {name,
          tile_of<float, Arch, kRows, kVectors>(),
          tile_of<double, Arch, kRows, kVectors>(),
          {R::exp, R::expm1, R::log, R::log1p, R::log2, R::log10, R::sigmoid, R::tanh, R::erf,
           R::gelu, R::gelu_tanh, R::silu, R::ceil, R::floor, R::round, R::trunc},
          R::taps,
          R::scale,
          R::sum,
          R::sum_of_differences,
          R::sum_of_squares,
          R::template extreme<true>,
          R::template extreme<false>,
          R::exp_sum,
          R::from_int8,
          R::from_uint8,
          R::from_half,
          R::to_half,
          fourier_functions<float, Arch>(),
          fourier_functions<double, Arch>(),
          R::fill,
          R::hadamard};
}

}  // namespace
}  // namespace pteron
