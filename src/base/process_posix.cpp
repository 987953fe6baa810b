#include <unistd.h>

#include "base/process.h"

namespace pteron {

uint64_t process_id() { return static_cast<uint64_t>(::getpid()); }

}  // namespace pteron
