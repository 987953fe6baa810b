// What a method takes and gives.
// Part of pteron.hpp, which is what to include.
#ifndef PTERON_CPP_VALUE_HPP
#define PTERON_CPP_VALUE_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "pteron/cpp/array.hpp"
#include "pteron/cpp/error.hpp"
#include "pteron/pteron.h"

namespace pteron {
inline namespace abi1 {

enum class Kind : int32_t {
  None = PTERON_KIND_NONE,
  Tensor = PTERON_KIND_TENSOR,
  Int = PTERON_KIND_INT,
  Double = PTERON_KIND_DOUBLE,
  Bool = PTERON_KIND_BOOL,
  String = PTERON_KIND_STRING,
  IntList = PTERON_KIND_INT_LIST,
  DoubleList = PTERON_KIND_DOUBLE_LIST,
  BoolList = PTERON_KIND_BOOL_LIST,
  TensorList = PTERON_KIND_TENSOR_LIST,
};

// An input, an output or a state buffer.
struct Spec {
  std::string name;  // From the program, else "input0", "output1", ...
  Kind kind = Kind::None;
  DType dtype = DType::Float32;  // Of a tensor, as are the next three.
  std::vector<int64_t> shape;    // Upper bounds if dynamic.
  std::vector<uint8_t> dim_order;
  bool dynamic = false;
};

// A value that a method or a call has: a view, valid as long as its owner says. Each accessor
// throws if the value is of another kind.
class ValueView {
 public:
  explicit ValueView(const pteron_value& value) : value_(value) {}

  Kind kind() const { return static_cast<Kind>(value_.kind); }
  bool is_none() const { return kind() == Kind::None; }
  Tensor tensor() const { return Tensor(expect(PTERON_KIND_TENSOR, "a tensor").as.tensor); }
  int64_t integer() const { return expect(PTERON_KIND_INT, "an int").as.integer; }
  double real() const {  // An int or a bool is taken too.
    if (value_.kind == PTERON_KIND_INT) return static_cast<double>(value_.as.integer);
    if (value_.kind == PTERON_KIND_BOOL) return value_.as.boolean ? 1 : 0;
    return expect(PTERON_KIND_DOUBLE, "a double").as.real;
  }
  bool boolean() const { return expect(PTERON_KIND_BOOL, "a bool").as.boolean != 0; }
  std::string string() const { return expect(PTERON_KIND_STRING, "a string").as.string; }
  Span<const int64_t> ints() const {
    return list<int64_t>(expect(PTERON_KIND_INT_LIST, "a list of ints"));
  }
  Span<const double> doubles() const {
    return list<double>(expect(PTERON_KIND_DOUBLE_LIST, "a list of doubles"));
  }
  Span<const uint8_t> bools() const {
    return list<uint8_t>(expect(PTERON_KIND_BOOL_LIST, "a list of bools"));
  }
  std::vector<ValueView> list() const {
    const auto items = list<pteron_value>(expect(PTERON_KIND_TENSOR_LIST, "a list of tensors"));
    return std::vector<ValueView>(items.begin(), items.end());
  }

  // Of a tensor, in short; see Tensor.
  DType dtype() const { return tensor().dtype(); }
  Span<const int64_t> shape() const { return tensor().shape(); }
  size_t size() const { return tensor().size(); }
  template <typename T>
  T* data() const {
    return tensor().data<T>();
  }
  template <typename T>
  std::vector<T> to_vector() const {
    return tensor().to_vector<T>();
  }
  template <typename T>
  T item() const {
    return tensor().item<T>();
  }

 private:
  const pteron_value& expect(int32_t kind, const char* wanted) const {
    if (value_.kind != kind)
      detail::fail("a value of kind " + std::to_string(value_.kind) + " was asked for as " +
                   wanted);
    return value_;
  }
  template <typename T>
  static Span<const T> list(const pteron_value& value) {
    return {static_cast<const T*>(value.as.list.items), value.as.list.count};
  }

  pteron_value value_;
};

class Method;

// The outputs of a method's last run. A view: valid until the method runs again or is gone. It may
// be kept: it then shows the newest run.
class Outputs {
 public:
  size_t size() const { return pteron_method_output_count(method_); }
  // Throws if there is no such output, or no successful run.
  ValueView operator[](size_t index) const {
    pteron_value value;
    detail::check([&](pteron_error** error) {
      return pteron_method_get_output(method_, index, &value, error);
    });
    return ValueView(value);
  }

 private:
  friend class Method;
  explicit Outputs(pteron_method* method) : method_(method) {}
  pteron_method* method_;
};

}  // namespace abi1
}  // namespace pteron

#endif
