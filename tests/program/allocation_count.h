// Counts the bytes that a test program asks operator new for. Memory with an alignment of its own,
// such as the copy of a file, is not counted.
#pragma once

#include <cstdint>

namespace pteron::test {

uint64_t bytes_allocated();

}  // namespace pteron::test
