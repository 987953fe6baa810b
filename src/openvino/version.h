// OpenVINO's version numbers, in its build text and in its files' names.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace pteron {

struct OpenvinoVersion {
  int year = 0;  // 2025
  int minor = 0;
  int patch = 0;

  auto operator<=>(const OpenvinoVersion&) const = default;
  std::string text() const;  // "2025.4.1"
};

// The numbers of the element types moved in 2025.1: F32 was 5, and is 4.
inline constexpr OpenvinoVersion kOldestOpenvino{2025, 1, 0};

// From "2025.4.1-20426-82bbf0292c5-releases/2025/4"; all zero if the text does not start with one.
OpenvinoVersion parse_openvino_version(std::string_view build_text);

// From a library's file name: "libopenvino_c.so.2541" (pip, archives) or
// "libopenvino_c.so.2025.4.1" (distributions); nothing for a name without a version, such as
// "openvino_c.dll".
std::optional<OpenvinoVersion> version_in_file_name(std::string_view name);

}  // namespace pteron
