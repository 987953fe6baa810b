// The way into and out of every function of pteron.h: no exception crosses it, every failure is a
// status with its text, and a struct of the caller's may be of another version.
#pragma once

#include <cstring>
#include <string>

#include "base/result.h"
#include "pteron/pteron.h"

namespace pteron {

// Gives the failure to the caller: the status, and the text where `error` is not null.
pteron_status report(pteron_error** error, const Error& what) noexcept;

// The same for the exception that is being handled.
pteron_status report_exception(pteron_error** error) noexcept;

template <typename Body>
pteron_status guarded(pteron_error** error, Body&& body) noexcept {
  try {
    const Result<void> result = body();
    return result.ok() ? PTERON_OK : report(error, result.error());
  } catch (...) {
    return report_exception(error);
  }
}

inline Error null_argument(const char* name) {
  return {Code::InvalidArgument, std::string("the argument ") + name + " is null"};
}

// What struct_size may be: room for itself, and a whole number of the struct's alignment.
Result<void> check_struct_size(size_t size, size_t alignment, const char* name);
// The bytes of the caller's struct that this library does not know must be zero.
Result<void> check_struct_tail(const void* in, size_t known, size_t size, const char* name);

// A struct of the caller's, who may have a shorter or longer version of it: fields that are missing
// are zero, and those that this library does not know must be.
template <typename Struct>
Result<Struct> read_struct(const Struct* in, const char* name) {
  Struct out{};
  out.struct_size = sizeof(Struct);
  if (in == nullptr) return out;
  const size_t size = in->struct_size;
  PTERON_TRY(check_struct_size(size, alignof(Struct), name));
  if (size > sizeof(Struct)) PTERON_TRY(check_struct_tail(in, sizeof(Struct), size, name));
  std::memcpy(static_cast<void*>(&out), in, size < sizeof(Struct) ? size : sizeof(Struct));
  out.struct_size = sizeof(Struct);
  return out;
}

// A string for pteron_string_free.
char* copy_string(const std::string& text);

}  // namespace pteron
