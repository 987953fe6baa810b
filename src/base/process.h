// Which process this is: a fork has its parent's objects, but none of its threads.
#pragma once

#include <cstdint>

namespace pteron {

uint64_t process_id();  // Never 0.

// Another number in the child of a fork than in its parent. No system call.
uint32_t fork_generation();

}  // namespace pteron
