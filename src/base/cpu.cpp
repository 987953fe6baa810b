#include "base/cpu.h"

#include <charconv>
#include <thread>

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

}  // namespace

int hardware_cores() {
  const unsigned count = std::thread::hardware_concurrency();
  return count > 0 ? static_cast<int>(count) : 1;
}

std::optional<int> parse_cpu_max(std::string_view cpu_max) {
  const size_t space = cpu_max.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  return quota_cores(cpu_max.substr(0, space), cpu_max.substr(space + 1));
}

std::optional<int> parse_cfs_quota(std::string_view quota_us, std::string_view period_us) {
  return quota_cores(quota_us, period_us);
}

}  // namespace pteron
