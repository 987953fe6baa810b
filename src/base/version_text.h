// Versions inside file names and texts, compared as numbers.
#pragma once

#include <string_view>

namespace pteron {

// Whether `a` comes before `b` when each run of digits counts as one number: "so.999" before
// "so.2541", "2025.4" before "2025.10".
bool version_less(std::string_view a, std::string_view b);

}  // namespace pteron
