// Words of messages: counted things, and text that is not ours.
#pragma once

#include <string>
#include <string_view>

namespace pteron {

// "1 input", "2 inputs"; `plural` where it is not the noun and an s.
template <typename Integer>
std::string counted(Integer count, std::string_view noun, std::string_view plural = {}) {
  std::string text = std::to_string(count).append(" ");
  if (count == Integer{1}) return text.append(noun);
  return plural.empty() ? text.append(noun).append("s") : text.append(plural);
}

// The text with control characters as in a C string (\n, \x1b; those above U+0080 as \x9b), so that
// a message is one line, and a name out of a file cannot steer a terminal.
inline std::string escaped(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    // UTF-8's form of U+0080 to U+009F.
    const bool high_control = byte == 0xc2 && next >= 0x80 && next < 0xa0;
    if (high_control) {
      byte = next;
      ++i;
    }
    if (byte == '\n') {
      out += "\\n";
    } else if (byte == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f || high_control) {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += static_cast<char>(byte);
    }
  }
  return out;
}

}  // namespace pteron
