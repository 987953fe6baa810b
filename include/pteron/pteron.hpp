// Pteron's C++ interface: C++17, header only, over the C interface in pteron.h.
//
//   pteron::Program program("model.pte");
//   pteron::Method method = program.load("forward");
//   std::vector<float> x(3 * 224 * 224);
//   pteron::Outputs out = method({pteron::tensor(x, {1, 3, 224, 224})});
//   const float* y = out[0].data<float>();  // out[0].shape()
//
// Failures are thrown as pteron::Error. Objects are moved, not copied. Threads: a Program may be
// used by any thread; a Method by one at a time, else the call throws an Error with PTERON_BUSY.
// What a Method gives (outputs, state) are views of its memory.
//
// Only C functions are called, so the library may come from another compiler.
#ifndef PTERON_PTERON_HPP
#define PTERON_PTERON_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "pteron/pteron.h"

namespace pteron {
// So that two files compiled with different versions of this header can be linked together.
inline namespace abi1 {

// ---- Errors
// --------------------------------------------------------------------------------------

// what() is one line: what, where, what was wanted, what to do.
class Error : public std::runtime_error {
 public:
  Error(pteron_status status, const std::string& message)
      : std::runtime_error(message), status_(status) {}
  pteron_status status() const noexcept { return status_; }

 private:
  pteron_status status_;
};

namespace detail {

[[noreturn]] inline void fail(const std::string& message) {
  throw Error(PTERON_INVALID_ARGUMENT, message);
}

// Calls function(&error), a call of the C interface, and throws what it reports.
template <typename Function>
void check(Function&& function) {
  pteron_error* error = nullptr;
  const pteron_status status = function(&error);
  if (status == PTERON_OK) return;
  const std::unique_ptr<pteron_error, decltype(&pteron_error_free)> owner(error, pteron_error_free);
  throw Error(status, pteron_error_message(error));
}

// The same for a call that makes a string.
template <typename Function>
std::string take_string(Function&& function) {
  char* text = nullptr;
  check([&](pteron_error** error) { return function(&text, error); });
  const std::unique_ptr<char, decltype(&pteron_string_free)> owner(text, pteron_string_free);
  return text;
}

// What an operator's call throws when the library keeps the reason, with more to say, itself.
class Reported : public Error {
 public:
  using Error::Error;
};

inline void check_version() {
  if (pteron_abi_version() >= PTERON_ABI_VERSION) return;
  throw Error(PTERON_UNSUPPORTED,
              "the pteron library in use is " + std::string(pteron_version()) + " with interface " +
                  std::to_string(pteron_abi_version()) + ", but the program was compiled for " +
                  std::to_string(PTERON_ABI_VERSION) + "; install a newer library");
}

}  // namespace detail

inline std::string version() { return pteron_version(); }

// ---- Element types
// -------------------------------------------------------------------------------

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

// ---- Arrays
// --------------------------------------------------------------------------------------

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
      detail::fail(std::to_string(strides.size()) + " strides for the shape " + shape.text());
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
    detail::fail("an array of " + std::to_string(container.size()) + " elements for the shape " +
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

// ---- What a method takes and gives
// ---------------------------------------------------------------

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

// ---- Operators of the application's
// --------------------------------------------------------------

// The call of an operator: its arguments, inputs first, then outputs. Valid during the call.
class Call {
 public:
  explicit Call(pteron_call* call) : call_(call) {}

  size_t size() const { return pteron_call_argument_count(call_); }
  ValueView operator[](size_t index) const {
    pteron_value value;
    if (pteron_call_argument(call_, index, &value) != PTERON_OK)
      detail::fail("it has no argument " + std::to_string(index));
    return ValueView(value);
  }
  // Gives an output tensor its shape; throws if that exceeds what the program planned.
  Tensor resize(size_t index, const Shape& shape) {
    expect(pteron_call_resize(call_, index, shape.data(), static_cast<int32_t>(shape.rank())),
           "an output cannot have the shape " + shape.text());
    return (*this)[index].tensor();
  }
  // Sets an output scalar.
  void set(size_t index, const Value& value) {
    const pteron_value scalar = value.c_value();
    expect(pteron_call_set_scalar(call_, index, &scalar), "an output scalar of another kind");
  }
  // Memory for this call, aligned to 64 bytes.
  template <typename T>
  Span<T> scratch(size_t count) {
    void* memory =
        count <= SIZE_MAX / sizeof(T) ? pteron_call_scratch(call_, count * sizeof(T)) : nullptr;
    if (memory == nullptr) throw Error(PTERON_RESOURCE_LIMIT, "no memory for scratch");
    return {static_cast<T*>(memory), count};
  }
  // Calls body(begin, end) on ranges that cover [0, count) once, on the application's threads where
  // it gave some. The body must not throw.
  template <typename Body>
  void parallel_for(size_t count, size_t grain, Body&& body) {
    using B = std::remove_reference_t<Body>;
    pteron_call_parallel_for(
        call_, count, grain,
        [](void* argument, size_t begin, size_t end) { (*static_cast<B*>(argument))(begin, end); },
        const_cast<void*>(static_cast<const void*>(&body)));
  }
  pteron_call* c_call() const { return call_; }

 private:
  static void expect(pteron_status status, const std::string& reason) {
    if (status != PTERON_OK) throw detail::Reported(status, reason);
  }
  pteron_call* call_;
};

// ---- Options
// -------------------------------------------------------------------------------------

enum class Precision : int32_t {
  Program = PTERON_PRECISION_PROGRAM,
  Fast = PTERON_PRECISION_FAST,
  F32 = PTERON_PRECISION_F32,
  F16 = PTERON_PRECISION_F16,
  BF16 = PTERON_PRECISION_BF16,
};
enum class Hint : int32_t { Latency = PTERON_HINT_LATENCY, Throughput = PTERON_HINT_THROUGHPUT };

// How a program is opened; pteron_program_options in pteron.h explains each.
//   pteron::Program program("model.pte", pteron::Options().device("GPU").threads(4));
class Options {
 public:
  Options& device(std::string name) { return set(device_, std::move(name)); }
  Options& openvino(std::string path) { return set(openvino_, std::move(path)); }
  Options& cache_dir(std::string path) { return set(cache_dir_, std::move(path)); }
  Options& precision(Precision precision) {
    return set(plain_.precision, static_cast<int32_t>(precision));
  }
  Options& hint(Hint hint) { return set(plain_.hint, static_cast<int32_t>(hint)); }
  Options& threads(int count) { return set(plain_.threads, static_cast<int32_t>(count)); }
  Options& copy_file(bool copy = true) { return set(plain_.copy_file, copy ? 1 : 0); }
  Options& profile(bool profile = true) { return set(plain_.profile, profile ? 1 : 0); }
  Options& memory_limit(uint64_t bytes) { return set(plain_.memory_limit, bytes); }
  Options& instruction_limit(uint64_t count) { return set(plain_.instruction_limit, count); }
  // An OpenVINO property of the device.
  Options& config(std::string key, std::string value) {
    config_.emplace_back(std::move(key), std::move(value));
    return *this;
  }
  // A .ptd file; once for each.
  Options& weights(std::string path) {
    weights_.push_back(std::move(path));
    return *this;
  }
  // Their contexts must outlive the program and its methods.
  Options& allocator(const pteron_allocator& allocator) {
    allocator_ = std::make_shared<pteron_allocator>(allocator);
    return *this;
  }
  Options& thread_pool(const pteron_threads& threads) {
    thread_pool_ = std::make_shared<pteron_threads>(threads);
    return *this;
  }
  Options& add(const pteron_operator& definition) {
    operators_.push_back({definition, {definition.name, definition.signature}, nullptr});
    return *this;
  }
  Options& add(const pteron_delegate& delegate) {
    delegates_.push_back({delegate, delegate.id});
    return *this;
  }
  // An operator that is a function object; what it throws becomes the error of the run. Signature:
  // see pteron_operator. Methods that run at the same time call it at the same time.
  //   options.add_operator("my_ops::scale.out", "TD>T", [](pteron::Call& call) { ... });
  Options& add_operator(std::string name, std::string signature,
                        std::function<void(Call&)> function) {
    auto kept = std::make_shared<const std::function<void(Call&)>>(std::move(function));
    pteron_operator definition{};
    definition.struct_size = sizeof(definition);
    definition.context = const_cast<void*>(static_cast<const void*>(kept.get()));
    definition.run = &Options::run_function;
    operators_.push_back({definition, {std::move(name), std::move(signature)}, std::move(kept)});
    return *this;
  }

 private:
  friend class Program;
  friend std::string devices(const Options& options);
  friend std::string doctor(const Options& options);

  struct Operator {
    pteron_operator definition;
    std::pair<std::string, std::string> texts;  // Name and signature.
    std::shared_ptr<const void> function;
  };
  struct Delegate {
    pteron_delegate definition;
    std::string id;
  };

  template <typename T>
  Options& set(T& field, T value) {
    field = std::move(value);
    return *this;
  }

  // Whatever is thrown stays on this side of the C interface.
  static pteron_status run_function(void* context, pteron_call* call) noexcept {
    try {
      Call typed(call);
      (*static_cast<const std::function<void(Call&)>*>(context))(typed);
      return PTERON_OK;
    } catch (const detail::Reported& error) {
      return error.status();
    } catch (const Error& error) {
      pteron_call_fail(call, error.what());
      return error.status();
    } catch (const std::exception& error) {
      return pteron_call_fail(call, error.what());
    } catch (...) {
      return pteron_call_fail(call, "it threw something that is no std::exception");
    }
  }

  // Calls function(options) with the C interface's form of these, which lives that long.
  template <typename Function>
  auto with_c_options(Function&& function) const {
    pteron_program_options options = plain_;
    const auto text = [](const std::string& value) {
      return value.empty() ? nullptr : value.c_str();
    };
    options.device = text(device_);
    options.openvino = text(openvino_);
    options.cache_dir = text(cache_dir_);
    std::vector<const char*> keys, values, weights;
    for (const auto& pair : config_) {
      keys.push_back(pair.first.c_str());
      values.push_back(pair.second.c_str());
    }
    for (const std::string& path : weights_) weights.push_back(path.c_str());
    std::vector<pteron_operator> operators;
    for (const Operator& op : operators_) {
      operators.push_back(op.definition);
      operators.back().name = op.texts.first.c_str();
      operators.back().signature = op.texts.second.c_str();
    }
    std::vector<pteron_delegate> delegates;
    for (const Delegate& delegate : delegates_) {
      delegates.push_back(delegate.definition);
      delegates.back().id = delegate.id.c_str();
    }
    options.config_keys = keys.data();
    options.config_values = values.data();
    options.config_count = keys.size();
    options.weights = weights.data();
    options.weights_count = weights.size();
    options.allocator = allocator_.get();
    options.thread_pool = thread_pool_.get();
    options.operators = operators.data();
    options.operator_count = operators.size();
    options.delegates = delegates.data();
    options.delegate_count = delegates.size();
    return function(static_cast<const pteron_program_options*>(&options));
  }

  // The operators' function objects, for those who outlive these options.
  std::vector<std::shared_ptr<const void>> functions() const {
    std::vector<std::shared_ptr<const void>> functions;
    for (const Operator& op : operators_) {
      if (op.function) functions.push_back(op.function);
    }
    return functions;
  }

  pteron_program_options plain_ = PTERON_INIT(pteron_program_options);
  std::string device_, openvino_, cache_dir_;
  std::vector<std::pair<std::string, std::string>> config_;
  std::vector<std::string> weights_;
  std::shared_ptr<pteron_allocator> allocator_;
  std::shared_ptr<pteron_threads> thread_pool_;
  std::vector<Operator> operators_;
  std::vector<Delegate> delegates_;
};

// ---- Methods and programs
// ------------------------------------------------------------------------

// A loaded method. One thread at a time; a failed call leaves it usable. It keeps what it needs of
// its program.
class Method {
 public:
  size_t input_count() const { return pteron_method_input_count(handle()); }
  size_t output_count() const { return pteron_method_output_count(handle()); }
  size_t state_count() const { return pteron_method_state_count(handle()); }
  Spec input_spec(size_t index) const { return spec(pteron_method_input_spec, index); }
  Spec output_spec(size_t index) const { return spec(pteron_method_output_spec, index); }
  Spec state_spec(size_t index) const { return spec(pteron_method_state_spec, index); }
  std::vector<Spec> inputs() const { return specs(pteron_method_input_spec, input_count()); }
  std::vector<Spec> outputs() const { return specs(pteron_method_output_spec, output_count()); }
  std::vector<Spec> states() const { return specs(pteron_method_state_spec, state_count()); }

  // Runs on these inputs. Throws if their number, dtypes or shapes are not the method's, or if an
  // operator or delegate fails.
  Outputs operator()(std::initializer_list<Value> inputs) {
    return run(inputs.begin(), inputs.size());
  }
  Outputs run(const std::vector<Value>& inputs) { return run(inputs.data(), inputs.size()); }
  Outputs run(const Value* inputs, size_t count) {
    std::array<pteron_value, 8> few;
    std::vector<pteron_value> many(count > few.size() ? count : 0);
    pteron_value* values = many.empty() ? few.data() : many.data();
    for (size_t i = 0; i < count; ++i) values[i] = inputs[i].c_value();
    detail::check(
        [&](pteron_error** error) { return pteron_method_run(handle(), values, count, error); });
    return Outputs(handle());
  }

  // Binds an input until it is bound again: its memory is borrowed, and read at each execute().
  void bind_input(size_t index, const Value& value) {
    const pteron_value given = value.c_value();
    detail::check([&](pteron_error** error) {
      return pteron_method_bind_input(handle(), index, &given, error);
    });
  }
  // Binds memory for an output until it is bound again; its size is the shape's.
  template <typename T>
  void bind_output(size_t index, T* data, const Shape& shape) {
    static_assert(!std::is_const_v<T>, "an output is written");
    bind_output(index, tensor(data, shape));
  }
  template <typename Container,
            typename T = std::remove_pointer_t<decltype(std::declval<Container&>().data())>>
  void bind_output(size_t index, Container& container, const Shape& shape) {
    static_assert(!std::is_const_v<T>, "an output is written");
    bind_output(index, tensor(container, shape));
  }
  // Back to the method's own memory.
  void unbind_output(size_t index) {
    detail::check([&](pteron_error** error) {
      return pteron_method_bind_output(handle(), index, nullptr, error);
    });
  }

  // Runs on the bound inputs.
  Outputs execute() {
    detail::check([&](pteron_error** error) { return pteron_method_execute(handle(), error); });
    return Outputs(handle());
  }
  // Begins a run on the bound inputs, on a thread of the method's. Every other call throws
  // PTERON_BUSY until wait(), which throws what execute() would have.
  void start() {
    detail::check([&](pteron_error** error) { return pteron_method_start(handle(), error); });
  }
  Outputs wait() {
    detail::check([&](pteron_error** error) { return pteron_method_wait(handle(), error); });
    return Outputs(handle());
  }

  // Of the last run.
  ValueView output(size_t index) const { return Outputs(handle())[index]; }

  // The buffers that are kept from one run to the next; a view, valid as long as the method.
  Tensor state(size_t index) const {
    pteron_value value;
    detail::check([&](pteron_error** error) {
      return pteron_method_get_state(handle(), index, &value, error);
    });
    return ValueView(value).tensor();
  }
  // Copies an array of the same dtype and shape into a buffer.
  void set_state(size_t index, const Value& value) {
    const pteron_value given = value.c_value();
    detail::check([&](pteron_error** error) {
      return pteron_method_set_state(handle(), index, &given, error);
    });
  }
  // Puts every buffer back to its initial value.
  void reset_state() {
    detail::check([&](pteron_error** error) { return pteron_method_reset_state(handle(), error); });
  }

  // JSON; docs/json.md has the fields. profile() throws if the program was opened without profile.
  std::string execution() const {
    return detail::take_string([&](char** json, pteron_error** error) {
      return pteron_method_execution(handle(), json, error);
    });
  }
  std::string profile() const {
    return detail::take_string([&](char** json, pteron_error** error) {
      return pteron_method_profile(handle(), json, error);
    });
  }

  pteron_method* c_method() const { return handle(); }

 private:
  friend class Program;
  using SpecFunction = pteron_status (*)(const pteron_method*, size_t, pteron_spec*,
                                         pteron_error**);

  Method(pteron_method* handle, std::shared_ptr<const void> kept)
      : kept_(std::move(kept)), handle_(handle, pteron_method_free) {}

  pteron_method* handle() const { return handle_.get(); }

  void bind_output(size_t index, const Value& value) {
    const pteron_value given = value.c_value();
    detail::check([&](pteron_error** error) {
      return pteron_method_bind_output(handle(), index, &given, error);
    });
  }

  Spec spec(SpecFunction function, size_t index) const {
    pteron_spec spec = PTERON_INIT(pteron_spec);
    detail::check([&](pteron_error** error) { return function(handle(), index, &spec, error); });
    const auto rank = static_cast<size_t>(spec.rank);
    return {spec.name,
            static_cast<Kind>(spec.kind),
            static_cast<DType>(spec.dtype),
            Span<const int64_t>(spec.shape, rank).to_vector(),
            Span<const uint8_t>(spec.dim_order, rank).to_vector(),
            spec.dynamic != 0};
  }
  std::vector<Spec> specs(SpecFunction function, size_t count) const {
    std::vector<Spec> all;
    all.reserve(count);
    for (size_t i = 0; i < count; ++i) all.push_back(spec(function, i));
    return all;
  }

  std::shared_ptr<const void> kept_;  // The operators' function objects: freed after the method.
  std::unique_ptr<pteron_method, decltype(&pteron_method_free)> handle_;
};

// An opened program. Immutable: any thread may use it.
class Program {
 public:
  // Opens a .pte file (a path in UTF-8), which stays mapped unless Options::copy_file. Throws if it
  // cannot be read, is malformed, or the library is older than this header.
  explicit Program(const std::string& path, const Options& options = Options())
      : Program(options, [&](const pteron_program_options* given, pteron_program** program,
                             pteron_error** error) {
          return pteron_program_open(path.c_str(), given, program, error);
        }) {}
  // Opens a program in memory, which must stay as it is, unless Options::copy_file.
  Program(const void* data, size_t size, const Options& options = Options())
      : Program(options, [&](const pteron_program_options* given, pteron_program** program,
                             pteron_error** error) {
          return pteron_program_open_memory(data, size, given, program, error);
        }) {}

  std::vector<std::string> method_names() const {
    const size_t count = pteron_program_method_count(handle_.get());
    std::vector<std::string> names;
    names.reserve(count);
    for (size_t i = 0; i < count; ++i)
      names.emplace_back(pteron_program_method_name(handle_.get(), i));
    return names;
  }

  // Loads a method; name empty: "forward", or the only one. Throws an error that names every
  // operator, delegate and weights key that is missing.
  Method load(const std::string& name = {}) const { return load(name, nullptr); }
  // Loads a method that uses the state buffers of another one of this program.
  Method load(const std::string& name, const Method& shares_state_with) const {
    return load(name, shares_state_with.c_method());
  }

  // What it holds and what would run where, as JSON; docs/json.md has the fields.
  std::string info() const {
    return detail::take_string([&](char** json, pteron_error** error) {
      return pteron_program_info(handle_.get(), json, error);
    });
  }

  pteron_program* c_program() const { return handle_.get(); }

 private:
  using Functions = std::vector<std::shared_ptr<const void>>;

  template <typename Open>
  Program(const Options& options, Open&& open)
      : kept_(std::make_shared<const Functions>(options.functions())),
        handle_(nullptr, pteron_program_free) {
    detail::check_version();
    pteron_program* program = nullptr;
    options.with_c_options([&](const pteron_program_options* given) {
      detail::check([&](pteron_error** error) { return open(given, &program, error); });
    });
    handle_.reset(program);
  }

  Method load(const std::string& name, pteron_method* shares_state_with) const {
    pteron_method_options options = PTERON_INIT(pteron_method_options);
    options.shares_state_with = shares_state_with;
    pteron_method* method = nullptr;
    detail::check([&](pteron_error** error) {
      return pteron_method_load(handle_.get(), name.empty() ? nullptr : name.c_str(), &options,
                                &method, error);
    });
    return Method(method, kept_);
  }

  std::shared_ptr<const Functions> kept_;
  std::unique_ptr<pteron_program, decltype(&pteron_program_free)> handle_;
};

// ---- The machine
// ---------------------------------------------------------------------------------

// OpenVINO's devices, as JSON. Of the options, openvino is used. Throws if OpenVINO is missing.
inline std::string devices(const Options& options = Options()) {
  detail::check_version();
  return options.with_c_options([](const pteron_program_options* given) {
    return detail::take_string(
        [&](char** json, pteron_error** error) { return pteron_devices(given, json, error); });
  });
}

// What was looked for, what was found, what to do, as JSON.
inline std::string doctor(const Options& options = Options()) {
  detail::check_version();
  return options.with_c_options([](const pteron_program_options* given) {
    return detail::take_string(
        [&](char** json, pteron_error** error) { return pteron_doctor(given, json, error); });
  });
}

// Adds a place to search for OpenVINO, for this process.
inline void add_openvino_path(const std::string& path) {
  detail::check(
      [&](pteron_error** error) { return pteron_add_openvino_path(path.c_str(), error); });
}

}  // namespace abi1
}  // namespace pteron

#endif
