#include <windows.h>

#include <cstdlib>

#include "base/set_environment.h"
#include "base/system_text_windows.h"

namespace pteron::test {

void set_environment(const char* name, const std::optional<std::string>& value) {
  const std::wstring wide_name = wide_from_utf8(name);
  // The C library keeps a copy of its own, in which no variable can be empty.
  _wputenv((wide_name + L"=" + wide_from_utf8(value.value_or(""))).c_str());
  if (value) SetEnvironmentVariableW(wide_name.c_str(), wide_from_utf8(*value).c_str());
}

}  // namespace pteron::test
