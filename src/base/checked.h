// Arithmetic on sizes that come from a file or a caller: overflow is an answer, not an accident.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace pteron {

// a + b into `sum`; false if it does not fit T, an unsigned type.
template <typename T>
[[nodiscard]] constexpr bool checked_add(T a, T b, T& sum) {
  static_assert(std::is_unsigned_v<T>);
  if (b > std::numeric_limits<T>::max() - a) return false;
  sum = static_cast<T>(a + b);
  return true;
}

// a * b into `product`; false if it does not fit T, an unsigned type.
template <typename T>
[[nodiscard]] constexpr bool checked_mul(T a, T b, T& product) {
  static_assert(std::is_unsigned_v<T>);
  if (a != 0 && b > std::numeric_limits<T>::max() / a) return false;
  product = static_cast<T>(a * b);
  return true;
}

// Whether [offset, offset + size) lies inside [0, total).
[[nodiscard]] constexpr bool fits(uint64_t offset, uint64_t size, uint64_t total) {
  return offset <= total && size <= total - offset;
}

}  // namespace pteron
