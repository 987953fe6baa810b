// A Program back to the bytes of a .pte file, in the layout that ExecuTorch 1.x reads: extended
// header, constant segment, mutable-data segment, one segment for each distinct delegate payload
// and named-data entry. decode(encode(p)) is p.
#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "program/program.h"

namespace pteron {

// Fails with InvalidArgument if the program breaks a rule that decode() would refuse.
Result<std::vector<std::byte>> encode_program(const Program& program);

}  // namespace pteron
