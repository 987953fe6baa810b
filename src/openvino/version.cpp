#include "openvino/version.h"

#include <charconv>

namespace pteron {
namespace {

// Takes a number from the front of `text`; false, and nothing taken, if there is none.
bool take_number(std::string_view& text, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

bool take_dot(std::string_view& text) {
  if (text.empty() || text.front() != '.') return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::string OpenvinoVersion::text() const {
  return std::to_string(year) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

OpenvinoVersion parse_openvino_version(std::string_view build_text) {
  OpenvinoVersion version;
  if (!take_number(build_text, version.year)) return {};
  if (take_dot(build_text) && take_number(build_text, version.minor) && take_dot(build_text)) {
    take_number(build_text, version.patch);
  }
  return version;
}

std::optional<OpenvinoVersion> version_in_file_name(std::string_view name) {
  constexpr std::string_view kMark = ".so.";
  const size_t mark = name.rfind(kMark);
  if (mark == std::string_view::npos) return std::nullopt;
  const std::string_view suffix = name.substr(mark + kMark.size());
  std::string_view rest = suffix;
  int number = 0;
  if (!take_number(rest, number)) return std::nullopt;
  if (!rest.empty()) return parse_openvino_version(suffix);
  // 2541 is 2025.4.1: two digits of the year, the last one of the patch, the minor between.
  if (number < 1000 || number > 99999) return std::nullopt;
  const int years = number >= 10000 ? 1000 : 100;
  return OpenvinoVersion{2000 + number / years, number % years / 10, number % 10};
}

}  // namespace pteron
