#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "base/cpu.h"

namespace pteron {
namespace {

std::string whole_file(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

int hardware_cores() {
  const long count = ::sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 ? static_cast<int>(count) : 1;
}

int usable_cores() {
  int cores = hardware_cores();
#ifdef __linux__
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof(mask), &mask) == 0) cores = std::max(1, CPU_COUNT(&mask));
#endif
  if (const auto limit = cgroup_cores(whole_file("/proc/self/cgroup"), "/sys/fs/cgroup"))
    cores = std::min(cores, *limit);
  return std::max(cores, 1);
}

}  // namespace pteron
