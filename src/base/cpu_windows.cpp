#include <windows.h>

#include <algorithm>

#include "base/cpu.h"

namespace pteron {

int hardware_cores() {
  return std::max(static_cast<int>(GetActiveProcessorCount(ALL_PROCESSOR_GROUPS)), 1);
}

int usable_cores() {
  DWORD_PTR process = 0;
  DWORD_PTR system = 0;
  if (!GetProcessAffinityMask(GetCurrentProcess(), &process, &system) || process == 0) {
    return hardware_cores();
  }
  int count = 0;
  for (; process != 0; process &= process - 1) ++count;
  return std::max(count, 1);
}

}  // namespace pteron
