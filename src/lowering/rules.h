// What rows require of their arguments, and what several of them share.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>

#include "ir/write.h"
#include "lowering/call.h"

namespace pteron {

// Text as a template's argument: one function for each of OpenVINO's operations.
template <size_t kSize>
struct Text {
  char text[kSize]{};
  constexpr Text(const char (&from)[kSize]) { std::copy_n(from, kSize, text); }  // NOLINT
  constexpr std::string_view view() const { return {text, kSize - 1}; }
};

Reason refuse_dtype(const Call& call, size_t i);

// All of one dtype of float16, bfloat16 and float32. OpenVINO has no float64: it computes it in
// float32.
Reason require_floats(const Call& call, std::initializer_list<size_t> arguments);
// The same, or int32: sums, differences and products wrap as PyTorch's do. Of int64 OpenVINO keeps
// the lower half, and of the shorter ones it saturates.
Reason require_arithmetic(const Call& call, std::initializer_list<size_t> arguments);
// What elements may have that are moved and not computed with: int64 would lose its upper half.
Reason require_moved(const Call& call, std::initializer_list<size_t> arguments);

// dim counted from the end if negative.
inline size_t wrapped(int64_t dim, size_t rank) {
  return static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(rank) : dim);
}
// Whether dim names one of rank dimensions.
inline bool is_dim(int64_t dim, size_t rank) {
  const auto n = static_cast<int64_t>(std::max<size_t>(rank, 1));
  return dim >= -n && dim < n;
}

}  // namespace pteron
