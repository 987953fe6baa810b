#include "base/cpu.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

namespace pteron {
namespace {

std::optional<int> quota_cores(std::string_view quota_text, std::string_view period_text) {
  long long quota = 0;
  long long period = 0;
  const auto parse = [](std::string_view text, long long& value) {
    return std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc();
  };
  if (!parse(quota_text, quota) || !parse(period_text, period) || quota <= 0 || period <= 0) {
    return std::nullopt;
  }
  return static_cast<int>((quota - 1) / period + 1);
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

bool names_cpu(const std::string& controllers) {
  return ("," + controllers + ",").find(",cpu,") != std::string::npos;
}

}  // namespace

std::optional<int> parse_cpu_max(std::string_view cpu_max) {
  const size_t space = cpu_max.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  return quota_cores(cpu_max.substr(0, space), cpu_max.substr(space + 1));
}

std::optional<int> parse_cfs_quota(std::string_view quota_us, std::string_view period_us) {
  return quota_cores(quota_us, period_us);
}

std::optional<int> cgroup_cores(const std::string& groups, const std::string& mount) {
  std::optional<int> least;
  const auto take = [&least](std::optional<int> cores) {
    if (cores) least = least ? std::min(*least, *cores) : *cores;
  };
  // A line is "number:controllers:/folder"; version 2's has no controllers.
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool is_v2 = controllers.empty();
    if (!is_v2 && !names_cpu(controllers)) continue;
    // Any group above may have the quota. In a container the mounted root is the process's own
    // group, whatever the folder is called outside.
    std::string folder = line.substr(second + 1);
    while (true) {
      if (is_v2) {
        take(parse_cpu_max(first_line(mount + folder + "/cpu.max")));
      } else {
        const std::string group = mount + "/cpu" + folder;
        take(parse_cfs_quota(first_line(group + "/cpu.cfs_quota_us"),
                             first_line(group + "/cpu.cfs_period_us")));
      }
      if (folder.empty()) break;
      folder.erase(folder.rfind('/') == std::string::npos ? 0 : folder.rfind('/'));
    }
  }
  return least;
}

}  // namespace pteron
