#include "base/paths.h"
#include "base/system_text_windows.h"

namespace pteron {

std::filesystem::path path_from_utf8(std::string_view utf8) { return wide_from_utf8(utf8); }

std::string path_to_utf8(const std::filesystem::path& path) {
  return utf8_from_wide(path.native());
}

}  // namespace pteron
