#include "openvino/status.h"

#include <mutex>

namespace pteron {
namespace {

// OpenVINO's texts have line breaks, source places and long tails.
std::string on_one_line(const std::string& text) {
  constexpr size_t kMost = 1000;
  std::string out;
  for (const char c : text) {
    const char next = (static_cast<unsigned char>(c) < 32) ? ' ' : c;
    if (next == ' ' && (out.empty() || out.back() == ' ')) continue;
    out += next;
    if (out.size() == kMost) return out + "...";
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

}  // namespace

std::string take_text(const OpenvinoLibrary& library, char* text) {
  if (text == nullptr) return {};
  std::string copy(text);
  library->ov_free(text);
  return copy;
}

Error openvino_error(const OpenvinoLibrary& library, Code code, const std::string& what,
                     ov::ov_status_e status) {
  std::string text;
  if (library->ov_get_last_err_msg != nullptr) {
    // The message is the process's last one, and reading copies it.
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    if (const char* message = library->ov_get_last_err_msg()) {
      text = message;
      library->ov_free(message);
    }
  }
  if (text.empty()) {
    const char* info = library->ov_get_error_info(status);
    text = info ? info : "no explanation";
  }
  return {code, what + ": OpenVINO " + library.version().text() + " says: " + on_one_line(text) +
                    " (status " + std::to_string(static_cast<int>(status)) + ")"};
}

}  // namespace pteron
