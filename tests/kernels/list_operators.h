// docs/operators.md: the operator tables, with what the recorded cases say of each.
#pragma once

#include <string>
#include <vector>

#include "case_file.h"

namespace pteron {

std::string list_operators(const std::vector<Case>& cases);

}  // namespace pteron
