#include <unistd.h>

#include <cstdlib>

#include "base/environment.h"
#ifdef __linux__
#include <sys/auxv.h>
#endif

namespace pteron {

bool is_privileged_process() {
#ifdef __linux__
  return getauxval(AT_SECURE) != 0;
#else
  return geteuid() != getuid() || getegid() != getgid();
#endif
}

std::optional<std::string> read_environment(const char* name) {
  if (is_privileged_process()) return std::nullopt;
  const char* value = std::getenv(name);
  return value ? std::optional<std::string>(value) : std::nullopt;
}

}  // namespace pteron
