// float16 and bfloat16, which C++20 has no types for, as their bits.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace pteron {

// Exact: float holds every float16.
inline float half_to_float(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 0x1fu;
  const uint32_t mantissa = half & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0) {
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  }
  const float small = static_cast<float>(mantissa) * 0x1p-24f;
  return sign ? -small : small;
}

// Exact: bfloat16 is float's upper half.
inline float bfloat_to_float(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

// To the nearest float16, ties to even.
inline uint16_t float_to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const float magnitude = std::fabs(value);
  if (std::isnan(value)) return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 65520.0f) return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x1p-14f) {
    // The addition rounds to multiples of 2^-24, the subnormals' step.
    const float shifted = magnitude + 0.5f;
    return static_cast<uint16_t>(
        sign | (std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(0.5f)));
  }
  const uint32_t absolute = bits & 0x7fffffffu;
  const uint32_t rounded = absolute + 0xfffu + ((absolute >> 13) & 1u);
  return static_cast<uint16_t>(sign | ((rounded - (112u << 23)) >> 13));
}

// To the nearest bfloat16, ties to even; a NaN stays one.
inline uint16_t float_to_bfloat(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace pteron
