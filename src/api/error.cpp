// Errors, strings, versions and the names of dtypes.
#include <cstdlib>
#include <new>
#include <string_view>
#include <system_error>

#include "api/border.h"
#include "base/dtype.h"
#include "base/text.h"

// The text lies behind the struct, in the same block of memory.
struct pteron_error {
  pteron_status status;
  const char* message;
};

namespace pteron {
namespace {

// What a caller gets if there is no memory for a real one; never freed.
constexpr pteron_error kOutOfMemory = {PTERON_RESOURCE_LIMIT, "out of memory"};

pteron_error* make_error(pteron_status status, std::string_view prefix, std::string_view text) {
  void* block = std::malloc(sizeof(pteron_error) + prefix.size() + text.size() + 1);
  if (block == nullptr) return const_cast<pteron_error*>(&kOutOfMemory);
  char* message = static_cast<char*>(block) + sizeof(pteron_error);
  std::memcpy(message, prefix.data(), prefix.size());
  std::memcpy(message + prefix.size(), text.data(), text.size());
  message[prefix.size() + text.size()] = '\0';
  return new (block) pteron_error{status, message};
}

// The text may have names out of a file, and an application may print it.
pteron_status give(pteron_error** error, pteron_status status, std::string_view prefix,
                   std::string_view text) noexcept {
  if (error == nullptr) return status;
  try {
    *error = make_error(status, prefix, escaped(text));
  } catch (const std::bad_alloc&) {
    *error = const_cast<pteron_error*>(&kOutOfMemory);
  }
  return status;
}

}  // namespace

pteron_status report(pteron_error** error, const Error& what) noexcept {
  return give(error, static_cast<pteron_status>(what.code), "", what.message);
}

pteron_status report_exception(pteron_error** error) noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    if (error != nullptr) *error = const_cast<pteron_error*>(&kOutOfMemory);
    return PTERON_RESOURCE_LIMIT;
  } catch (const std::system_error& e) {
    // Of the standard library, only threads throw these here.
    return give(error, PTERON_RESOURCE_LIMIT, "the system refuses a thread: ", e.what());
  } catch (const std::exception& e) {
    return give(error, PTERON_INTERNAL, "a bug in this library: ", e.what());
  } catch (...) {
    return give(error, PTERON_INTERNAL, "a bug in this library", "");
  }
}

Result<void> check_struct_size(size_t size, size_t alignment, const char* name) {
  // No version of a struct comes near the upper bound: such a size was never set.
  if (size >= sizeof(size_t) && size <= 4096 && size % alignment == 0) return {};
  return Error{Code::InvalidArgument, std::string(name) + ".struct_size is " +
                                          std::to_string(size) +
                                          "; fill the struct with PTERON_INIT(" + name + ")"};
}

Result<void> check_struct_tail(const void* in, size_t known, size_t size, const char* name) {
  const auto* bytes = static_cast<const unsigned char*>(in);
  for (size_t i = known; i < size; ++i) {
    if (bytes[i] == 0) continue;
    return Error{Code::InvalidArgument,
                 std::string(name) + " has a field at byte " + std::to_string(i) +
                     " that is set and that this version of the library, " + PTERON_VERSION +
                     ", does not know; use a newer library, or leave the field zero"};
  }
  return {};
}

char* copy_string(const std::string& text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // namespace pteron

uint32_t pteron_abi_version(void) { return PTERON_ABI_VERSION; }
const char* pteron_version(void) { return PTERON_VERSION; }

// The caller's number may be any: it is read as an int, since an enum may not hold it.
const char* pteron_dtype_name(pteron_dtype dtype) {
  const auto known = pteron::dtype_from_number(static_cast<int>(dtype));
  return known ? pteron::dtype_name(*known).data() : "unknown";
}

size_t pteron_dtype_size(pteron_dtype dtype) {
  const auto known = pteron::dtype_from_number(static_cast<int>(dtype));
  return known ? pteron::dtype_size(*known) : 0;
}

pteron_status pteron_error_status(const pteron_error* error) {
  return error ? error->status : PTERON_OK;
}

const char* pteron_error_message(const pteron_error* error) { return error ? error->message : ""; }

void pteron_error_free(pteron_error* error) {
  if (error != &pteron::kOutOfMemory) std::free(error);
}

void pteron_string_free(char* string) { std::free(string); }
