#include "text.h"

namespace tools {

std::string counted(size_t count, std::string_view noun) {
  return std::to_string(count).append(" ").append(noun).append(count == 1 ? "" : "s");
}

std::string tilde_remedy(std::string_view path) {
  return path.substr(0, 1) == "~" ? "; ~ is not expanded here, so write the path out" : "";
}

std::string escaped(std::string_view text, bool lines) {
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
      out += lines ? "\n" : "\\n";
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

}  // namespace tools
