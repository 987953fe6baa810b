#include <sched.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "base/cpu.h"

namespace pteron {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The folder of this process's own group, "/" in most containers.
std::string cgroup_folder(const std::string& controller) {
  std::ifstream file("/proc/self/cgroup");
  std::string line;
  while (std::getline(file, line)) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string names = line.substr(first + 1, second - first - 1);
    if (names == controller ||
        (!controller.empty() &&
         ("," + names + ",").find("," + controller + ",") != std::string::npos)) {
      return line.substr(second + 1);
    }
  }
  return "/";
}

std::optional<int> quota() {
  // A quota may be set on the group itself or on the mounted root of a container.
  std::optional<int> least;
  const auto take = [&least](std::optional<int> cores) {
    if (cores) least = least ? std::min(*least, *cores) : *cores;
  };
  for (const std::string& folder : {cgroup_folder(""), std::string("/")}) {
    take(parse_cpu_max(first_line("/sys/fs/cgroup" + folder + "/cpu.max")));
  }
  for (const std::string& folder : {cgroup_folder("cpu"), std::string("/")}) {
    const std::string base = "/sys/fs/cgroup/cpu" + folder;
    take(parse_cfs_quota(first_line(base + "/cpu.cfs_quota_us"),
                         first_line(base + "/cpu.cfs_period_us")));
  }
  return least;
}

}  // namespace

int usable_cores() {
  int cores = hardware_cores();
#ifdef __linux__
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof(mask), &mask) == 0) cores = std::max(1, CPU_COUNT(&mask));
#endif
  if (const auto limit = quota()) cores = std::min(cores, *limit);
  return std::max(cores, 1);
}

}  // namespace pteron
