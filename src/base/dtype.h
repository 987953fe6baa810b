// The element types that a program's tensors can have.
//
// The numbers are ExecuTorch's ScalarType, as a .pte file stores them (schema/scalar_type.fbs). The
// complex ones are not in the schema, but its exporter writes them all the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pteron {

enum class DType : uint8_t {
  UInt8 = 0,
  Int8 = 1,
  Int16 = 2,
  Int32 = 3,
  Int64 = 4,
  Float16 = 5,
  Float32 = 6,
  Float64 = 7,
  Complex64 = 9,  // Two float32.
  Complex128 = 10,
  Bool = 11,
  QInt8 = 12,
  QUInt8 = 13,
  QInt32 = 14,
  BFloat16 = 15,
  QUInt4x2 = 16,
  QUInt2x4 = 17,
  Bits16 = 22,
  Float8E5M2 = 23,
  Float8E4M3FN = 24,
  Float8E5M2FNUZ = 25,
  Float8E4M3FNUZ = 26,
  UInt16 = 27,
  UInt32 = 28,
  UInt64 = 29,
};

// The dtype with this number in a file, or nothing if there is none.
constexpr std::optional<DType> dtype_from_number(int64_t number) {
  const bool known = (number >= 0 && number <= 7) || (number >= 9 && number <= 17) ||
                     (number >= 22 && number <= 29);
  return known ? std::optional(static_cast<DType>(number)) : std::nullopt;
}

// Bytes an element takes in memory. The packed types (QUInt4x2, QUInt2x4) count one byte an
// element, as ExecuTorch does.
constexpr size_t dtype_size(DType dtype) {
  switch (dtype) {
    case DType::UInt8:
    case DType::Int8:
    case DType::Bool:
    case DType::QInt8:
    case DType::QUInt8:
    case DType::QUInt4x2:
    case DType::QUInt2x4:
    case DType::Float8E5M2:
    case DType::Float8E4M3FN:
    case DType::Float8E5M2FNUZ:
    case DType::Float8E4M3FNUZ:
      return 1;
    case DType::Int16:
    case DType::Float16:
    case DType::BFloat16:
    case DType::Bits16:
    case DType::UInt16:
      return 2;
    case DType::Int32:
    case DType::Float32:
    case DType::QInt32:
    case DType::UInt32:
      return 4;
    case DType::Int64:
    case DType::Float64:
    case DType::UInt64:
    case DType::Complex64:
      return 8;
    case DType::Complex128:
      return 16;
  }
  return 0;
}

// NumPy's name where NumPy has the type ("float32", "bool"), else PyTorch's ("bfloat16", "qint8").
constexpr std::string_view dtype_name(DType dtype) {
  switch (dtype) {
    case DType::UInt8:
      return "uint8";
    case DType::Int8:
      return "int8";
    case DType::Int16:
      return "int16";
    case DType::Int32:
      return "int32";
    case DType::Int64:
      return "int64";
    case DType::Float16:
      return "float16";
    case DType::Float32:
      return "float32";
    case DType::Float64:
      return "float64";
    case DType::Complex64:
      return "complex64";
    case DType::Complex128:
      return "complex128";
    case DType::Bool:
      return "bool";
    case DType::QInt8:
      return "qint8";
    case DType::QUInt8:
      return "quint8";
    case DType::QInt32:
      return "qint32";
    case DType::BFloat16:
      return "bfloat16";
    case DType::QUInt4x2:
      return "quint4x2";
    case DType::QUInt2x4:
      return "quint2x4";
    case DType::Bits16:
      return "bits16";
    case DType::Float8E5M2:
      return "float8_e5m2";
    case DType::Float8E4M3FN:
      return "float8_e4m3fn";
    case DType::Float8E5M2FNUZ:
      return "float8_e5m2fnuz";
    case DType::Float8E4M3FNUZ:
      return "float8_e4m3fnuz";
    case DType::UInt16:
      return "uint16";
    case DType::UInt32:
      return "uint32";
    case DType::UInt64:
      return "uint64";
  }
  return "unknown";
}

}  // namespace pteron
