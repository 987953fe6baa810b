#include "program/encode.h"

namespace pteron {
Result<std::vector<std::byte>> encode_program(const Program&) { return Error{Code::Internal, "x"}; }
}  // namespace pteron
