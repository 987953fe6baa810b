// Angles of any size, turned back to within half a turn of zero.
//
// MinGW-w64's sine, cosine and tangent are the x87's instructions, which know pi to 66 bits: of a
// large number they make nothing like its sine. Other C libraries do this themselves.
#pragma once

#include <cmath>
#include <cstdint>

namespace pteron {

#ifdef __MINGW32__
constexpr bool kReducesAngles = true;
#else
constexpr bool kReducesAngles = false;
#endif

// 1 / (2 pi), its binary digits from 64 places before the point.
inline constexpr uint32_t kTurn[] = {
    0,          0,          0x28be60db, 0x9391054a, 0x7f09d5f4, 0x7d4d3770, 0x36d8a566, 0x4f10e410,
    0x7f9458ea, 0xf7aef158, 0x6dc91b8e, 0x909374b8, 0x01924bba, 0x82746487, 0x3f877ac7, 0x2c4a69cf,
    0xba208d7d, 0x4baed121, 0x3a671c09, 0xad17df90, 0x4e64758e, 0x60d4ce7d, 0x272117e2, 0xef7e4a0e,
    0xc7fe25ff, 0xf7816603, 0xfbcbc462, 0xd6829b47, 0xdb4d9fb3, 0xc9f2c26d, 0xd3d18fd9, 0xa797fa8b,
    0x5d49eeb1, 0xfaf97c5e, 0xcf41ce7d, 0xe294a4ba, 0x9afed7ec, 0x47e35742, 0x1580cc11};

// x less a whole number of turns, within [-pi, pi], to a double's precision. From 1 on; NaN for
// what is not finite.
inline double reduce_angle(double x) {
  if (!std::isfinite(x)) return std::nan("");
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(x), &exponent);
  const auto digits = static_cast<uint64_t>(std::ldexp(fraction, 53));  // |x| = digits 2^shift
  // The digits of 1 / (2 pi) up to that place make whole turns, those after 128 more no difference.
  const int first = exponent - 53 + 64;
  const auto word = [first](int i) {
    const auto* const at = kTurn + first / 32 + i;
    const int bits = first % 32;
    return bits == 0 ? at[0] : (at[0] << bits) | (at[1] >> (32 - bits));
  };
  // (digits * four words) mod 2^128, of which the upper half is the part of a turn.
  uint64_t sums[4] = {};
  const uint64_t low = digits & 0xffffffff;
  const uint64_t high = digits >> 32;
  uint64_t carry = 0;
  for (int i = 3; i >= 0; --i) {
    const uint64_t product = low * word(i) + carry;
    sums[i] = product & 0xffffffff;
    carry = product >> 32;
  }
  carry = 0;
  for (int i = 2; i >= 0; --i) {
    const uint64_t product = high * word(i + 1) + sums[i] + carry;
    sums[i] = product & 0xffffffff;
    carry = product >> 32;
  }
  // As a signed number it is the nearest turn's.
  const auto part = static_cast<int64_t>((sums[0] << 32) | sums[1]);
  const double angle = static_cast<double>(part) * 3.40612158008655459e-19;  // 2 pi / 2^64
  return x < 0 ? -angle : angle;
}

// function(x), a sine, cosine or tangent, of any x.
template <typename T, typename Function>
T of_angle(T x, Function function) {
  constexpr T kSmall = 1 << 16;  // Up to here 66 bits of pi do.
  if (kReducesAngles && !(std::fabs(x) <= kSmall)) return static_cast<T>(function(reduce_angle(x)));
  return function(x);
}

}  // namespace pteron
