// Result<T>: a value, or the reason why there is none.
//
// Expected failures (a bad file, a missing library, the caller's wrong data) travel as values. An
// Error's message is one line that names the thing, the place, what was got and what was wanted,
// and the remedy where there is one.
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace pteron {

// Mirrors pteron_status in include/pteron/pteron.h, where each code is explained.
enum class Code : int {
  Ok = 0,
  InvalidArgument = 1,
  Io = 2,
  Malformed = 3,
  Missing = 4,
  Unsupported = 5,
  ResourceLimit = 6,
  Failed = 7,
  Busy = 8,
  Internal = 9,
  Cancelled = 10,
};

struct Error {
  Code code = Code::Internal;
  std::string message;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }

  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

// Success is one null pointer, so that a hot call that succeeds costs nothing to return.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(new Error(std::move(error))) {}  // NOLINT
  Result(Result&& other) noexcept : error_(std::exchange(other.error_, nullptr)) {}
  Result& operator=(Result&& other) noexcept {
    std::swap(error_, other.error_);
    return *this;
  }
  ~Result() { delete error_; }

  bool ok() const { return error_ == nullptr; }
  explicit operator bool() const { return ok(); }
  const Error& error() const& { return *error_; }
  Error&& error() && { return std::move(*error_); }

 private:
  Error* error_ = nullptr;
};

// Returns the error of `expression` (a Result) from the enclosing function, if there is one.
#define PTERON_TRY(expression)                                                \
  do {                                                                        \
    auto pteron_try_result = (expression);                                    \
    if (!pteron_try_result.ok()) return std::move(pteron_try_result).error(); \
  } while (false)

#define PTERON_CONCAT_(a, b) a##b
#define PTERON_CONCAT(a, b) PTERON_CONCAT_(a, b)

// Assigns the value of `expression` (a Result) to `target`, or returns its error.
#define PTERON_ASSIGN(target, expression) \
  PTERON_ASSIGN_(PTERON_CONCAT(pteron_result_, __LINE__), target, expression)
#define PTERON_ASSIGN_(result, target, expression)    \
  auto result = (expression);                         \
  if (!result.ok()) return std::move(result).error(); \
  target = *std::move(result)

}  // namespace pteron
