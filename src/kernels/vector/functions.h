// The loops that are worth vector instructions, once for each instruction set. They are compiled
// from one source (body.h) and chosen when the library is first used.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernels/vector/fourier_functions.h"

namespace pteron {

// A tile of a matrix product: c[rows, columns] (+)= a * b, with c's rows `stride` apart. a holds
// rows() numbers for each of the k steps, b columns() numbers, each step `b_stride` after the last.
template <typename T>
struct GemmTile {
  int64_t rows;
  int64_t columns;
  void (*run)(int64_t k, const T* a, const T* b, int64_t b_stride, T* c, int64_t stride,
              int64_t rows, int64_t columns, bool add);
  // out[i * out_stride] = the inner product of row i of a (rows `a_stride` apart, at most
  // kDotRows of them) with b, both of k numbers.
  void (*dot)(int64_t k, const T* a, int64_t a_stride, int64_t rows, const T* b, T* out,
              int64_t out_stride);
};
constexpr int64_t kDotRows = 4;
constexpr size_t kPattern = 64;  // Bytes, as many as the longest vector has.

enum class RowFunction {
  Exp,
  Expm1,
  Log,
  Log1p,
  Log2,
  Log10,
  Sigmoid,
  Tanh,
  Erf,
  Gelu,
  GeluTanh,
  Silu,
  Ceil,
  Floor,
  Round,  // Half to even.
  Trunc
};
constexpr size_t kRowFunctions = 16;

struct VectorFunctions {
  std::string_view name;  // "sse2", "avx2" (with FMA and F16C), "avx512" (F, BW, DQ, VL)
  GemmTile<float> tile_f32;
  GemmTile<double> tile_f64;
  // out[i] = f(in[i]); in and out may be the same.
  std::array<void (*)(const float* in, float* out, int64_t n), kRowFunctions> rows;
  // out[i] = start + the sum of weights[t] * taps[t][i]
  void (*taps)(const float* const* taps, const float* weights, int64_t count, float start,
               float* out, int64_t n);
  // out[i] = in[i] * factor + term
  void (*scale)(const float* in, float factor, float term, float* out, int64_t n);
  float (*sum)(const float* in, int64_t n);
  float (*sum_of_differences)(const float* in, float middle, int64_t n);  // Of in[i] - middle.
  float (*sum_of_squares)(const float* in, float middle, int64_t n);      // Of the same.
  float (*maximum)(const float* in, int64_t n);  // n >= 1; NaN if one is there.
  float (*minimum)(const float* in, int64_t n);  // The same.
  // out[i] = exp(in[i] - shift); returns their sum.
  float (*exp_sum)(const float* in, float shift, float* out, int64_t n);
  void (*from_int8)(const int8_t* in, float* out, int64_t n);
  void (*from_uint8)(const uint8_t* in, float* out, int64_t n);
  // float16, as its bits, to float and back (to the nearest, ties to even).
  void (*from_half)(const uint16_t* in, float* out, int64_t n);
  void (*to_half)(const float* in, uint16_t* out, int64_t n);
  FourierFunctions<float> fourier_f32;
  FourierFunctions<double> fourier_f64;
  // Writes `size` bytes: those of the pattern over and over. size is a multiple of kPattern.
  void (*fill)(const std::byte* pattern, std::byte* out, size_t size);
  // Walsh and Hadamard's transform of a line of 2^k, not scaled.
  void (*hadamard)(float* line, int64_t n);

  void run(RowFunction function, const float* in, float* out, int64_t n) const {
    rows[static_cast<size_t>(function)](in, out, n);
  }
  template <typename T>
  const GemmTile<T>& tile() const;
  template <typename T>
  const FourierFunctions<T>& fourier() const;
};
template <>
inline const GemmTile<float>& VectorFunctions::tile<float>() const {
  return tile_f32;
}
template <>
inline const GemmTile<double>& VectorFunctions::tile<double>() const {
  return tile_f64;
}
template <>
inline const FourierFunctions<float>& VectorFunctions::fourier<float>() const {
  return fourier_f32;
}
template <>
inline const FourierFunctions<double>& VectorFunctions::fourier<double>() const {
  return fourier_f64;
}

// The best that this machine runs, or the one that PTERON_INSTRUCTION_SET names, if it runs it.
const VectorFunctions& vector_functions();
// By name; null if this machine does not run it, or if it was not built.
const VectorFunctions* vector_functions(std::string_view name);

}  // namespace pteron
