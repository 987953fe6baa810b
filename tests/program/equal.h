// Whether two programs are the same, and where they first differ. Payloads are compared by their
// bytes.
#pragma once

#include <string>

#include "program/program.h"

namespace pteron::test {

// "" if they are the same, else the first difference, as a path: "plans[0].values[3].sizes".
std::string first_difference(const Program& a, const Program& b);

}  // namespace pteron::test
