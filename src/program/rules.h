// Rules that programs and weights files share: what is a name, a text and a shape, and how a
// message shows a file's own words. Internal to src/program.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/dtype.h"

namespace pteron {

bool is_utf8(std::string_view text);

// Each gives the reason why the value breaks the rule, or "" if it does not.
//
// A name has at most kMaxName bytes of UTF-8 without control characters, so that every later
// message may show it. It may be empty.
std::string why_no_name(std::string_view text);
// At most kMaxRank sizes, none negative; a dim_order that is a permutation; and a product that fits
// size_t with room to spare when each size counts at least 1, so that strides fit as well.
std::string why_no_shape(DType dtype, std::span<const int32_t> sizes,
                         std::span<const uint8_t> dim_order);

// A file's text for a message: short, and without bytes that a terminal would act on.
std::string quoted(std::string_view text);

}  // namespace pteron
