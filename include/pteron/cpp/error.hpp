// Failures, and versions of this header and the library.
// Part of pteron.hpp, which is what to include.
#ifndef PTERON_CPP_ERROR_HPP
#define PTERON_CPP_ERROR_HPP

#include <memory>
#include <stdexcept>
#include <string>

#include "pteron/pteron.h"

namespace pteron {
inline namespace abi1 {

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

// "1 stride", "2 strides"
inline std::string counted(size_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
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

}  // namespace abi1
}  // namespace pteron

#endif
