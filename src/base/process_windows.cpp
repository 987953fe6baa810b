#include <windows.h>

#include "base/process.h"

namespace pteron {

uint64_t process_id() { return GetCurrentProcessId(); }

uint32_t fork_generation() { return 0; }

}  // namespace pteron
