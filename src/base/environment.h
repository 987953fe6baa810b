// Environment variables, as UTF-8, read anew at each call.
#pragma once

#include <optional>
#include <string>

namespace pteron {

// Nothing if the variable is not set, or if this process runs with more rights than its caller
// (set-user-ID): then the environment is not to be trusted.
std::optional<std::string> read_environment(const char* name);

// Whether the process runs with more rights than its caller.
bool is_privileged_process();

}  // namespace pteron
