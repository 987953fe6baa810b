// Element types, and the C++ types that stand for them.
// Part of pteron.hpp, which is what to include.
#ifndef PTERON_CPP_DTYPE_HPP
#define PTERON_CPP_DTYPE_HPP

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "pteron/pteron.h"

namespace pteron {
inline namespace abi1 {

enum class DType : int32_t {
  UInt8 = PTERON_UINT8,
  Int8 = PTERON_INT8,
  Int16 = PTERON_INT16,
  Int32 = PTERON_INT32,
  Int64 = PTERON_INT64,
  Float16 = PTERON_FLOAT16,
  Float32 = PTERON_FLOAT32,
  Float64 = PTERON_FLOAT64,
  Complex64 = PTERON_COMPLEX64,
  Complex128 = PTERON_COMPLEX128,
  Bool = PTERON_BOOL,
  QInt8 = PTERON_QINT8,
  QUInt8 = PTERON_QUINT8,
  QInt32 = PTERON_QINT32,
  BFloat16 = PTERON_BFLOAT16,
  QUInt4x2 = PTERON_QUINT4X2,
  QUInt2x4 = PTERON_QUINT2X4,
  Bits16 = PTERON_BITS16,
  Float8E5M2 = PTERON_FLOAT8_E5M2,
  Float8E4M3FN = PTERON_FLOAT8_E4M3FN,
  Float8E5M2FNUZ = PTERON_FLOAT8_E5M2FNUZ,
  Float8E4M3FNUZ = PTERON_FLOAT8_E4M3FNUZ,
  UInt16 = PTERON_UINT16,
  UInt32 = PTERON_UINT32,
  UInt64 = PTERON_UINT64,
};

// "float32"
inline const char* dtype_name(DType dtype) {
  return pteron_dtype_name(static_cast<pteron_dtype>(dtype));
}
inline size_t dtype_size(DType dtype) {
  return pteron_dtype_size(static_cast<pteron_dtype>(dtype));
}

// Bits of types that C++17 has not.
struct Float16 {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

// The dtype of a C++ type: bool, integers by size and sign, float, double, Float16, BFloat16.
template <typename T>
constexpr DType dtype_of() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, bool>) {
    static_assert(sizeof(bool) == 1, "a bool element takes one byte");
    return DType::Bool;
  } else if constexpr (std::is_same_v<U, float>) {
    return DType::Float32;
  } else if constexpr (std::is_same_v<U, double>) {
    return DType::Float64;
  } else if constexpr (std::is_same_v<U, Float16>) {
    return DType::Float16;
  } else if constexpr (std::is_same_v<U, BFloat16>) {
    return DType::BFloat16;
  } else {
    static_assert(std::is_integral_v<U> && sizeof(U) <= 8,
                  "no dtype has elements of this C++ type");
    constexpr bool is_signed = std::is_signed_v<U>;
    if constexpr (sizeof(U) == 1) return is_signed ? DType::Int8 : DType::UInt8;
    if constexpr (sizeof(U) == 2) return is_signed ? DType::Int16 : DType::UInt16;
    if constexpr (sizeof(U) == 4) return is_signed ? DType::Int32 : DType::UInt32;
    return is_signed ? DType::Int64 : DType::UInt64;
  }
}

}  // namespace abi1
}  // namespace pteron

#endif
