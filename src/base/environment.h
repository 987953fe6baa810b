// Environment variables, as UTF-8, read anew at each call.
#pragma once

#include <optional>
#include <string>

namespace pteron {

// Whether this process runs with more rights than its caller (set-user-ID): then the environment is
// not to be trusted.
bool is_privileged_process();

// Nothing if the variable is not set, or if the process is privileged.
std::optional<std::string> read_environment(const char* name);

}  // namespace pteron
