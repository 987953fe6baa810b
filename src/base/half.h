// float16 and bfloat16, which C++20 has no types for, as their bits.
#pragma once

#include <bit>
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

}  // namespace pteron
