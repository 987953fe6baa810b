#include <cstdlib>

#include "base/set_environment.h"

namespace pteron::test {

void set_environment(const char* name, const std::optional<std::string>& value) {
  if (value) {
    ::setenv(name, value->c_str(), 1);
  } else {
    ::unsetenv(name);
  }
}

}  // namespace pteron::test
