// Which process this is: a fork has its parent's objects, but none of its threads.
#pragma once

#include <cstdint>

namespace pteron {

uint64_t process_id();  // Never 0.

}  // namespace pteron
