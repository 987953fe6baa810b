// Paths are UTF-8 text in our interfaces and std::filesystem::path inside.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace pteron {

#ifdef _WIN32
// std::filesystem::path(std::string) would take the bytes for the ANSI code page's, and its
// functions for UTF-8 throw at what is none; here U+FFFD takes its place, and no file has it.
std::filesystem::path path_from_utf8(std::string_view utf8);
std::string path_to_utf8(const std::filesystem::path& path);
#else
inline std::filesystem::path path_from_utf8(std::string_view utf8) {
  return std::filesystem::path(std::u8string(utf8.begin(), utf8.end()));
}

inline std::string path_to_utf8(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return std::string(text.begin(), text.end());
}
#endif

// What to add to an error about a path that is not there: a shell expands ~, and nothing else does.
inline std::string tilde_remedy(std::string_view utf8) {
  const bool has_tilde = utf8.starts_with('~') || utf8.find("/~/") != std::string_view::npos ||
                         utf8.find("\\~\\") != std::string_view::npos;
  return has_tilde ? "; ~ is not expanded here, so write the path out (in Python: "
                     "os.path.expanduser)"
                   : "";
}

}  // namespace pteron
