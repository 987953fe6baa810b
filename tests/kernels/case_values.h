// Arguments of a call, written by hand.
#pragma once

#include <complex>
#include <cstring>
#include <vector>

#include "case_file.h"

namespace pteron {

template <typename T>
inline constexpr DType kDType = DType::Float32;
template <>
inline constexpr DType kDType<int64_t> = DType::Int64;
template <>
inline constexpr DType kDType<int8_t> = DType::Int8;
template <>
inline constexpr DType kDType<uint8_t> = DType::UInt8;
template <>
inline constexpr DType kDType<std::complex<float>> = DType::Complex64;

template <typename T>
inline CaseValue tensor(std::vector<int32_t> sizes, std::vector<T> values,
                        DType dtype = kDType<T>) {
  CaseValue value;
  value.kind = 'T';
  value.tensor.dtype = dtype;
  value.tensor.sizes = std::move(sizes);
  for (size_t d = 0; d < value.tensor.sizes.size(); ++d)
    value.tensor.order.push_back(static_cast<uint8_t>(d));
  value.tensor.data.resize(values.size() * sizeof(T));
  if (!values.empty())
    std::memcpy(value.tensor.data.data(), values.data(), value.tensor.data.size());
  return value;
}
inline CaseValue integer(int64_t number) {
  CaseValue value;
  value.kind = 'i';
  value.integer = number;
  return value;
}
inline CaseValue real(double number) {
  CaseValue value;
  value.kind = 'd';
  value.real = number;
  return value;
}
inline CaseValue boolean(bool truth) {
  CaseValue value;
  value.kind = 'b';
  value.integer = truth;
  return value;
}
inline CaseValue none() { return {}; }
// Of tensors, or of tensors and nones.
inline CaseValue list(std::vector<CaseValue> items, bool optional = false) {
  CaseValue value;
  value.kind = optional ? 'v' : 'V';
  value.items = std::move(items);
  return value;
}
inline CaseValue ints(std::vector<int64_t> numbers) {
  CaseValue value;
  value.kind = 'L';
  value.ints = std::move(numbers);
  return value;
}

}  // namespace pteron
