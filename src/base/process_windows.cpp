#include <windows.h>

#include "base/process.h"

namespace pteron {

uint64_t process_id() { return GetCurrentProcessId(); }

}  // namespace pteron
