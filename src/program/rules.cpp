#include "program/rules.h"

#include <algorithm>
#include <limits>

#include "base/checked.h"
#include "base/text.h"
#include "program/program.h"

namespace pteron {

// The well-formed byte sequences are those of the Unicode standard's table 3-7.
bool is_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i++]);
    if (lead < 0x80) continue;
    if (lead < 0xC2 || lead > 0xF4) return false;
    const size_t following = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    if (text.size() - i < following) return false;
    unsigned char low = 0x80;
    unsigned char high = 0xBF;
    if (lead == 0xE0) low = 0xA0;   // Shorter forms exist.
    if (lead == 0xED) high = 0x9F;  // Surrogates.
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;  // Past U+10FFFF.
    for (size_t k = 0; k < following; ++k) {
      const auto next = static_cast<unsigned char>(text[i++]);
      if (next < low || next > high) return false;
      low = 0x80;
      high = 0xBF;
    }
  }
  return true;
}

std::string why_no_name(std::string_view text) {
  if (text.size() > kMaxName) {
    return "has " + counted(text.size(), "byte") + "; at most " + std::to_string(kMaxName) +
           " are allowed";
  }
  const auto is_control = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 32 || byte == 127;
  };
  if (std::any_of(text.begin(), text.end(), is_control)) return "has control characters";
  return is_utf8(text) ? "" : "is not UTF-8";
}

std::string why_no_shape(DType dtype, std::span<const int32_t> sizes,
                         std::span<const uint8_t> dim_order) {
  if (sizes.size() > kMaxRank) {
    return "its rank is " + std::to_string(sizes.size()) + "; at most " + std::to_string(kMaxRank) +
           " is defined";
  }
  if (dim_order.size() != sizes.size()) {
    return "its rank is " + std::to_string(sizes.size()) + ", but its dim_order has " +
           counted(dim_order.size(), "dimension");
  }
  constexpr uint64_t kMost = std::min<uint64_t>(INT64_MAX, std::numeric_limits<size_t>::max()) / 2;
  uint64_t bytes = dtype_size(dtype);
  uint32_t seen = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0) {
      return "size " + std::to_string(sizes[i]) + " of dimension " + std::to_string(i) +
             " is negative";
    }
    if (!checked_mul(bytes, static_cast<uint64_t>(std::max(sizes[i], 1)), bytes) || bytes > kMost) {
      return "its sizes multiply to more than any memory";
    }
    if (dim_order[i] >= sizes.size() || (seen & (1u << dim_order[i])) != 0) {
      return "its dim_order is not a permutation of its dimensions";
    }
    seen |= 1u << dim_order[i];
  }
  return "";
}

std::string quoted(std::string_view text) {
  constexpr size_t kMost = 80;
  std::string out = "\"";
  for (const char c : text.substr(0, kMost)) out += (c >= 32 && c < 127) ? c : '?';
  return out + (text.size() > kMost ? "...\"" : "\"");
}

}  // namespace pteron
