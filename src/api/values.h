// Values across the border.
#pragma once

#include "pteron/pteron.h"
#include "runtime/method.h"

namespace pteron {

// Borrows what the value points at. A null value is none.
Result<HostValue> read_value(const pteron_value* value);

pteron_value write_value(const HostValue& value);

}  // namespace pteron
