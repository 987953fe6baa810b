// How many cores this process may really use.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pteron {

int hardware_cores();  // Of the machine, at least 1.

// The least of the affinity mask and the container's CPU quota (cgroup v1 or v2), at least 1.
int usable_cores();

// Cores that a quota allows, rounded up; nothing if there is no limit. The texts are the files' of
// Linux: v2's cpu.max ("200000 100000", "max 100000"), v1's cpu.cfs_quota_us and cpu.cfs_period_us.
std::optional<int> parse_cpu_max(std::string_view cpu_max);
std::optional<int> parse_cfs_quota(std::string_view quota_us, std::string_view period_us);

// The least quota of a process's control groups and of all above them. `groups` is the text of
// /proc/self/cgroup, `mount` the folder where the groups are mounted (/sys/fs/cgroup).
std::optional<int> cgroup_cores(const std::string& groups, const std::string& mount);

}  // namespace pteron
