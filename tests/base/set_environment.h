// Sets this process's environment, as the program's C library and the system see it.
#pragma once

#include <optional>
#include <string>

namespace pteron::test {

// UTF-8; without a value the variable is taken away.
void set_environment(const char* name, const std::optional<std::string>& value);

}  // namespace pteron::test
