#include <windows.h>

#include "base/environment.h"
#include "base/system_text_windows.h"

namespace pteron {

bool is_privileged_process() { return false; }  // Windows has no set-user-ID.

std::optional<std::string> read_environment(const char* name) {
  const std::wstring wide_name = wide_from_utf8(name);
  std::wstring value(128, L'\0');
  // Another thread may make the variable longer between two calls, so ask until it fits.
  while (true) {
    SetLastError(ERROR_SUCCESS);
    const DWORD length =
        GetEnvironmentVariableW(wide_name.c_str(), value.data(), static_cast<DWORD>(value.size()));
    if (length == 0) {
      if (GetLastError() == ERROR_ENVVAR_NOT_FOUND) return std::nullopt;
      return std::string();
    }
    if (length < value.size()) return utf8_from_wide({value.data(), length});
    value.resize(length);
  }
}

}  // namespace pteron
