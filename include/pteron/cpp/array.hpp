// Arrays and other values, as they are given to a method: views, nothing is copied.
// Part of pteron.hpp, which is what to include.
#ifndef PTERON_CPP_ARRAY_HPP
#define PTERON_CPP_ARRAY_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "pteron/cpp/dtype.hpp"
#include "pteron/cpp/error.hpp"
#include "pteron/pteron.h"

namespace pteron {
inline namespace abi1 {

// A view of consecutive elements of somebody else's, as C++20's std::span.
template <typename T>
class Span {
 public:
  Span() = default;
  Span(T* data, size_t size) : data_(data), size_(size) {}
  T* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() const { return data_; }
  T* end() const { return data_ + size_; }
  T& operator[](size_t i) const { return data_[i]; }
  std::vector<std::remove_cv_t<T>> to_vector() const { return {begin(), end()}; }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

// The sizes of an array: {1, 3, 224, 224}, a vector, or a Span. At most PTERON_MAX_RANK of them.
class Shape {
 public:
  Shape() = default;  // Of a scalar in an array of rank 0.
  template <typename... Sizes,
            typename = std::enable_if_t<(sizeof...(Sizes) > 0) &&
                                        (std::is_integral_v<std::decay_t<Sizes>> && ...)>>
  Shape(Sizes... sizes) {  // NOLINT: meant to convert
    static_assert(sizeof...(Sizes) <= PTERON_MAX_RANK, "too many dimensions");
    (push(static_cast<int64_t>(sizes)), ...);
  }
  Shape(const int64_t* sizes, size_t rank) {
    if (rank > PTERON_MAX_RANK)
      detail::fail("a shape of rank " + std::to_string(rank) + "; at most " +
                   std::to_string(PTERON_MAX_RANK) + " dimensions are possible");
    for (size_t i = 0; i < rank; ++i) push(sizes[i]);
  }
  Shape(const std::vector<int64_t>& sizes) : Shape(sizes.data(), sizes.size()) {}  // NOLINT
  Shape(const Span<const int64_t>& sizes) : Shape(sizes.data(), sizes.size()) {}   // NOLINT

  const int64_t* data() const { return sizes_.data(); }
  size_t rank() const { return rank_; }
  int64_t operator[](size_t i) const { return sizes_[i]; }
  const int64_t* begin() const { return data(); }
  const int64_t* end() const { return data() + rank_; }
  // Elements of an array of this shape.
  size_t count() const {
    size_t count = 1;
    for (const int64_t size : *this) {
      if (size < 0) detail::fail("the shape " + text() + " has a negative size");
      count *= static_cast<size_t>(size);
    }
    return count;
  }
  // "[1, 3, 224, 224]"
  std::string text() const {
    std::string text = "[";
    for (size_t i = 0; i < rank_; ++i) text += (i > 0 ? ", " : "") + std::to_string(sizes_[i]);
    return text + "]";
  }

 private:
  void push(int64_t size) { sizes_[rank_++] = size; }

  std::array<int64_t, PTERON_MAX_RANK> sizes_{};
  size_t rank_ = 0;
};

// An argument: a scalar, a string, none, or a view of an array (see tensor()). It borrows the
// array's elements and the string's characters.
class Value {
 public:
  Value() { value_.kind = PTERON_KIND_NONE; }
  Value(std::nullptr_t) : Value() {}  // NOLINT: meant to convert, as are all here
  // Of bool itself only: a pointer would become one too.
  template <typename T, std::enable_if_t<std::is_same_v<T, bool>, bool> = true>
  Value(T value) {  // NOLINT
    value_.kind = PTERON_KIND_BOOL;
    value_.as.boolean = value;
  }
  template <typename T,
            std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int> = 0>
  Value(T value) {  // NOLINT
    value_.kind = PTERON_KIND_INT;
    value_.as.integer = static_cast<int64_t>(value);
  }
  Value(double value) {  // NOLINT
    value_.kind = PTERON_KIND_DOUBLE;
    value_.as.real = value;
  }
  Value(const char* value) {  // NOLINT
    value_.kind = value ? PTERON_KIND_STRING : PTERON_KIND_NONE;
    value_.as.string = value;
  }
  Value(const std::string& value) : Value(value.c_str()) {}  // NOLINT
  // A dense row-major array at `data`, or one with `strides`: bytes, one a dimension, of any sign.
  Value(void* data, DType dtype, const Shape& shape, const std::vector<int64_t>& strides = {})
      : shape_(shape), strides_(strides.data(), strides.size()) {
    if (!strides.empty() && strides.size() != shape.rank())
      detail::fail(detail::counted(strides.size(), "stride") + " for the shape " + shape.text());
    value_ = pteron_tensor_value(data, static_cast<pteron_dtype>(dtype),
                                 static_cast<int32_t>(shape.rank()), nullptr);
  }

  // For a call of the C interface; valid as long as this object stays where it is.
  pteron_value c_value() const {
    pteron_value value = value_;
    if (value.kind == PTERON_KIND_TENSOR) {
      value.as.tensor.shape = shape_.data();
      value.as.tensor.strides = strides_.rank() > 0 ? strides_.data() : nullptr;
    }
    return value;
  }

 private:
  pteron_value value_{};
  Shape shape_;
  Shape strides_;
};

// A view of `data`, dense and row-major, as an argument. An input is only read.
template <typename T>
Value tensor(const T* data, const Shape& shape) {
  return Value(const_cast<std::remove_cv_t<T>*>(data), dtype_of<T>(), shape);
}

// The same of a container with data() and size(), such as std::vector, std::array or std::span.
// Throws if its size is not the shape's.
template <typename Container,
          typename T = std::remove_pointer_t<decltype(std::declval<const Container&>().data())>>
Value tensor(const Container& container, const Shape& shape) {
  if (shape.count() != container.size())
    detail::fail("an array of " + detail::counted(container.size(), "element") + " for the shape " +
                 shape.text());
  return tensor(static_cast<const T*>(container.data()), shape);
}
// Of one dimension.
template <typename Container,
          typename T = std::remove_pointer_t<decltype(std::declval<const Container&>().data())>>
Value tensor(const Container& container) {
  return tensor(static_cast<const T*>(container.data()), Shape(container.size()));
}

// An array of a method's (an output, a state buffer) or of an operator's call: a view, valid as
// long as its owner says.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(const pteron_tensor& tensor) : tensor_(tensor) {}

  DType dtype() const { return static_cast<DType>(tensor_.dtype); }
  Span<const int64_t> shape() const { return {tensor_.shape, static_cast<size_t>(tensor_.rank)}; }
  size_t rank() const { return static_cast<size_t>(tensor_.rank); }
  size_t size() const {  // Elements.
    size_t count = 1;
    for (const int64_t size : shape()) count *= static_cast<size_t>(size);
    return count;
  }
  size_t bytes() const { return size() * dtype_size(dtype()); }
  bool is_row_major() const { return tensor_.strides == nullptr; }
  Span<const int64_t> strides() const {  // In bytes; empty if row-major.
    return {tensor_.strides, is_row_major() ? 0 : rank()};
  }

  // The first element, whatever the dtype and memory order.
  void* raw() const { return tensor_.data; }

  // The elements in row-major order, where they lie. Throws if the dtype is another, or if the
  // memory is in another order (to_vector works for any).
  template <typename T>
  T* data() const {
    check_dtype<T>();
    if (!is_row_major()) {
      detail::fail(
          "the elements of this tensor of shape " + Shape(shape()).text() +
          " are not in row-major order in memory; use to_vector(), or raw() and strides()");
    }
    return static_cast<T*>(tensor_.data);
  }
  template <typename T>
  Span<T> span() const {
    return {data<T>(), size()};
  }

  // A copy of the elements, in row-major order. Throws if the dtype is another. (A vector of bool
  // has no elements to point at: use uint8_t, which a bool tensor gives too.)
  template <typename T>
  std::vector<T> to_vector() const {
    if (!(std::is_same_v<T, uint8_t> && dtype() == DType::Bool)) check_dtype<T>();
    std::vector<T> out(size());
    std::array<int64_t, PTERON_MAX_RANK> index{};
    for (size_t i = 0; i < out.size(); ++i) {
      T element;
      std::memcpy(&element, at(i, index), sizeof(T));
      out[i] = element;
    }
    return out;
  }

  // The element of a tensor that has one.
  template <typename T>
  T item() const {
    if (size() != 1)
      detail::fail("a tensor of shape " + Shape(shape()).text() + " is not one element");
    check_dtype<T>();
    T element;
    std::memcpy(&element, tensor_.data, sizeof(T));
    return element;
  }

  const pteron_tensor& c_tensor() const { return tensor_; }

 private:
  template <typename T>
  void check_dtype() const {
    if (dtype() == dtype_of<T>()) return;
    detail::fail(std::string("a tensor of dtype ") + dtype_name(dtype()) + " was asked for as " +
                 dtype_name(dtype_of<T>()));
  }

  // Element i in row-major order; `index` counts along.
  const char* at(size_t i, std::array<int64_t, PTERON_MAX_RANK>& index) const {
    const char* base = static_cast<const char*>(tensor_.data);
    if (is_row_major()) return base + i * dtype_size(dtype());
    int64_t offset = 0;
    for (size_t d = 0; d < rank(); ++d) offset += index[d] * tensor_.strides[d];
    for (size_t d = rank(); d-- > 0;) {
      if (++index[d] < tensor_.shape[d]) break;
      index[d] = 0;
    }
    return base + offset;
  }

  pteron_tensor tensor_{};
};

}  // namespace abi1
}  // namespace pteron

#endif
