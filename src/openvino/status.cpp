#include "openvino/status.h"

#include <mutex>
#include <string_view>

namespace pteron {
namespace {

// The bytes of the UTF-8 character at the start of `text`, 0 if there is none.
size_t utf8_length(std::string_view text) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = at(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xc0) != 0x80) return 0;
  }
  const bool overlong = (first == 0xe0 && at(1) < 0xa0) || (first == 0xf0 && at(1) < 0x90);
  const bool beyond = (first == 0xed && at(1) > 0x9f) || (first == 0xf4 && at(1) > 0x8f);
  // C1 controls act on terminals as well.
  const bool control = first == 0xc2 && at(1) < 0xa0;
  return overlong || beyond || control ? 0 : length;
}

}  // namespace

std::string printable(const std::string& text) {
  constexpr size_t kMost = 1000;
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8_length(std::string_view(text).substr(i));
    std::string next = length > 0 ? text.substr(i, length) : "?";
    i += length > 0 ? length : 1;
    if (static_cast<unsigned char>(next[0]) < 32) next = " ";
    if (next[0] == 127) next = "?";
    if (next == " " && (out.empty() || out.back() == ' ')) continue;
    if (out.size() + next.size() > kMost) return out + "...";
    out += next;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::string take_text(const OpenvinoLibrary& library, char* text) {
  if (text == nullptr) return {};
  std::string copy(text);
  library->ov_free(text);
  return copy;
}

std::string take_last_error(const OpenvinoLibrary& library, ov::ov_status_e status) {
  std::string text;
  if (library->ov_get_last_err_msg != nullptr) {
    // Reading copies; the lock keeps two readers from taking one text in turns.
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    if (const char* message = library->ov_get_last_err_msg()) {
      text = message;
      library->ov_free(message);
    }
  }
  if (text.empty()) {
    const char* meaning = library->ov_get_error_info(status);
    text = meaning ? meaning : "no explanation";
  }
  return printable(text);
}

Error openvino_error(const OpenvinoLibrary& library, Code code, const std::string& what,
                     ov::ov_status_e status, const std::string& text) {
  return {code, what + ": OpenVINO " + library.version().text() + " says: " + text + " (status " +
                    std::to_string(static_cast<int>(status)) + ")"};
}

Error openvino_error(const OpenvinoLibrary& library, Code code, const std::string& what,
                     ov::ov_status_e status) {
  return openvino_error(library, code, what, status, take_last_error(library, status));
}

}  // namespace pteron
