#include <cstdlib>

#include "api/handles.h"

namespace pteron {

pteron_status report(pteron_error** error, Error what) noexcept {
  const auto status = static_cast<pteron_status>(what.code);
  if (error != nullptr)
    *error = new (std::nothrow) pteron_error{what.code, std::move(what.message)};
  return status;
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

const char* pteron_dtype_name(pteron_dtype dtype) {
  const auto known = pteron::dtype_from_number(dtype);
  return known ? pteron::dtype_name(*known).data() : "unknown";
}

size_t pteron_dtype_size(pteron_dtype dtype) {
  const auto known = pteron::dtype_from_number(dtype);
  return known ? pteron::dtype_size(*known) : 0;
}

pteron_status pteron_error_status(const pteron_error* error) {
  return error ? static_cast<pteron_status>(error->code) : PTERON_OK;
}

const char* pteron_error_message(const pteron_error* error) {
  return error ? error->message.c_str() : "";
}

void pteron_error_free(pteron_error* error) { delete error; }

void pteron_string_free(char* string) { std::free(string); }
