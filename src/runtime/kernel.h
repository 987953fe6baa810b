// What an operator is to the runtime: a name, a signature, a function.
//
// The signature is checked against the program when a method is loaded, so a kernel's function may
// rely on the number and kinds of its arguments. Dtypes and shapes it must check itself: a file
// can hold any. It must not write outside its outputs, whatever the file says. What it writes
// shares no memory with its other arguments: the runtime refuses such a call.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/result.h"
#include "runtime/stop.h"
#include "runtime/value.h"

namespace pteron {

// A scalar argument: int, double or bool, as PyTorch's Scalar.
struct Scalar {
  ValueKind kind;  // Int, Double or Bool
  int64_t integer;
  double real;  // The value as a double, whatever the kind.

  bool is_integral() const { return kind != ValueKind::Double; }
  // The value as int64_t (a double truncates and saturates), double, float or bool.
  template <typename T>
  T to() const;
};
template <>
int64_t Scalar::to<int64_t>() const;
template <>
double Scalar::to<double>() const;
template <>
float Scalar::to<float>() const;
template <>
bool Scalar::to<bool>() const;

// A short list of ints, read from its values when it is made.
class Ints {
 public:
  Ints(const IntList& list, const Value* values);
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t operator[](size_t i) const { return data()[i]; }
  const int64_t* data() const { return heap_ ? heap_.get() : inline_; }
  const int64_t* begin() const { return data(); }
  const int64_t* end() const { return data() + size_; }
  std::span<const int64_t> span() const { return {data(), size_}; }

 private:
  size_t size_;
  std::unique_ptr<int64_t[]> heap_;
  int64_t inline_[kMaxRank];
};

// The arguments of one call, inputs first, then outputs. Each accessor is for the letter beside it;
// another is a bug of the kernel's (an assert).
class Args {
 public:
  Args(std::span<const ValueIndex> indices, Value* values) : indices_(indices), values_(values) {}

  size_t size() const { return indices_.size(); }
  Value& value(size_t i) const { return values_[indices_[i]]; }
  bool is_none(size_t i) const { return value(i).kind == ValueKind::None; }

  Tensor& tensor(size_t i) const {  // T
    assert(value(i).kind == ValueKind::Tensor);
    return *value(i).tensor;
  }
  Tensor* optional_tensor(size_t i) const {  // t
    return is_none(i) ? nullptr : value(i).tensor;
  }
  Scalar scalar(size_t i) const;                           // S
  std::optional<Scalar> optional_scalar(size_t i) const {  // s
    return is_none(i) ? std::nullopt : std::optional(scalar(i));
  }
  int64_t integer(size_t i) const {  // I
    assert(value(i).kind == ValueKind::Int);
    return value(i).integer;
  }
  std::optional<int64_t> optional_integer(size_t i) const {  // i
    return is_none(i) ? std::nullopt : std::optional(value(i).integer);
  }
  double real(size_t i) const { return scalar(i).real; }  // D (an int is taken too)
  std::optional<double> optional_real(size_t i) const {   // d
    return is_none(i) ? std::nullopt : std::optional(scalar(i).real);
  }
  bool boolean(size_t i) const {  // B
    assert(value(i).kind == ValueKind::Bool);
    return value(i).boolean;
  }
  Ints ints(size_t i) const {  // L
    assert(value(i).kind == ValueKind::IntList);
    return Ints(*value(i).ints, values_);
  }
  std::optional<Ints> optional_ints(size_t i) const {  // l
    if (is_none(i)) return std::nullopt;
    return ints(i);
  }
  std::span<const double> reals(size_t i) const { return value(i).reals->items; }  // F
  std::optional<std::span<const double>> optional_reals(size_t i) const {          // f
    if (is_none(i)) return std::nullopt;
    return reals(i);
  }
  std::span<const uint8_t> booleans(size_t i) const { return value(i).booleans->items; }  // Q
  size_t tensor_count(size_t i) const;                      // V, v: how many the list has
  Tensor* list_tensor(size_t i, size_t k) const;            // V, v: entry k; null for none (v only)
  std::optional<std::string_view> string(size_t i) const {  // G, g
    if (is_none(i)) return std::nullopt;
    return *value(i).string;
  }

  // What argument i is, for an error: "argument 1 (float32 [2, 3])", "argument 2 (-1)".
  std::string describe(size_t i) const;

  // Sets an output scalar. Fails with Malformed if the program declared a value of another kind.
  Result<void> set_int(size_t i, int64_t v) const;
  Result<void> set_real(size_t i, double v) const;
  Result<void> set_bool(size_t i, bool v) const;

 private:
  std::span<const ValueIndex> indices_;
  Value* values_;
};

using ParallelBody = void (*)(void* argument, size_t begin, size_t end);

// Thrown through a kernel whose run must end.
struct RunStopped {};

// What a call may use besides its arguments.
class KernelContext {
 public:
  explicit KernelContext(Stop* stop = nullptr) : stop_(stop) {}
  virtual ~KernelContext() = default;
  // Memory for this call, aligned to 64 bytes; gone when the call returns. Throws std::bad_alloc.
  virtual void* scratch(size_t bytes) = 0;
  // Calls body(argument, begin, end) on ranges that cover [0, count) once, in parallel where there
  // are threads to do it; each range but the last is at least `grain` long.
  virtual void parallel_for(size_t count, size_t grain, ParallelBody body, void* argument) = 0;

  // 64 random bits. The same numbers follow each other in each method with the same seed.
  virtual uint64_t random() = 0;

  template <typename T>
  T* scratch_array(size_t count) {
    if (count > SIZE_MAX / sizeof(T)) throw std::bad_alloc();
    return static_cast<T*>(scratch(count * sizeof(T)));
  }
  // The same with a function object: body(begin, end). Throws RunStopped, with ranges left out, if
  // the run must end; so it is not for a body of another one.
  template <typename Body>
  void parallel(size_t count, size_t grain, Body&& body) {
    struct Shared {
      std::remove_reference_t<Body>& body;
      const Stop* stop;
    };
    Shared shared{body, stop_};
    parallel_for(
        count, grain,
        [](void* argument, size_t begin, size_t end) {
          auto& in = *static_cast<Shared*>(argument);
          if (in.stop == nullptr || !in.stop->is_due()) in.body(begin, end);
        },
        &shared);
    if (stop_ != nullptr && stop_->is_due()) throw RunStopped();
  }
  // What may end the run that the call is part of; null if nothing does.
  Stop* stop() const { return stop_; }

 private:
  Stop* stop_;
};

struct Kernel;
// Errors say what is wrong with the arguments, by InvalidArgument: the caller's inputs decide that.
// The runtime adds method, instruction and operator.
using KernelFunction = Result<void> (*)(KernelContext& context, const Args& args,
                                        const Kernel& self);

// One row of an operator table.
//
// Signature: a letter an argument, in the order of PyTorch's schema, outputs after '>':
//   T tensor         t tensor or none           V list of tensors   v list of tensors or nones
//   S scalar         s scalar or none           I int               i int or none
//   D double or int  d double, int or none      B bool              b bool or none
//   L list of ints   l list of ints or none     F list of doubles   f list of doubles or none
//   Q list of bools  G string                   g string or none    X any scalar, also as output
//   M a tensor that the call reads and changes in place (copy_)
//   A (after '>')    a tensor that gets its data pointer from argument 0, a T (et_view): may have
//                    none yet; no other instruction may write to it
// ExecuTorch's emitter repeats the outputs after the arguments (the call's "return" slots); the
// runtime drops them. "aten::add.out" is "TTS>T".
struct Kernel {
  std::string_view name;
  std::string_view signature;
  KernelFunction run;
  const void* user = nullptr;  // For an application's operator: what `run` needs.
};

// Runs a kernel. What it refuses names an argument, or all of them where its own error names none.
Result<void> call_kernel(const Kernel& kernel, KernelContext& context, const Args& args);

}  // namespace pteron
