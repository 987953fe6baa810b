#include "base/environment_windows.h"

#include <windows.h>

#include "base/environment.h"
#include "base/system_text_windows.h"

namespace pteron {

bool is_privileged_process() { return false; }  // Windows has no set-user-ID.

std::optional<std::wstring> read_variable(const VariableReader& read) {
  std::wstring value(128, L'\0');
  // Another thread may make the variable longer between two calls, so ask until it fits.
  while (true) {
    SetLastError(ERROR_SUCCESS);
    const DWORD length = read(value.data(), static_cast<DWORD>(value.size()));
    if (length == 0) {
      if (GetLastError() == ERROR_ENVVAR_NOT_FOUND) return std::nullopt;
      return std::wstring();
    }
    if (length < value.size()) {
      value.resize(length);
      return value;
    }
    // The size wanted counts the NUL; equal to ours it would be no answer, so grow in any case.
    value.resize(static_cast<size_t>(length) + 1);
  }
}

std::optional<std::string> read_environment(const char* name) {
  // The system's own copy: the C runtime's is from the start, and each runtime has one of its own.
  const std::wstring wide_name = wide_from_utf8(name);
  const auto value = read_variable([&](wchar_t* buffer, unsigned long size) {
    return GetEnvironmentVariableW(wide_name.c_str(), buffer, size);
  });
  if (!value) return std::nullopt;
  return utf8_from_wide(*value);
}

}  // namespace pteron
