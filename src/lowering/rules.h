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
// What elements may have that are moved and not computed with. Of int64 the region looks at what it
// reads: it fits in int32.
Reason require_moved(const Call& call, std::initializer_list<size_t> arguments);

// Integers among the arguments are such that float32 holds them exactly (2^24), or the call is
// refused; for operations that OpenVINO computes in float32.
Reason require_exact(Call& call, std::initializer_list<size_t> arguments);
// Integers that index something of `size` elements, from the end if negative: what is out of range
// stays for the kernel, whose error says so.
Reason require_indices(Call& call, size_t i, int64_t size);

// x where it is NaN, else y: many of OpenVINO's operations lose a NaN.
ir::Output keeping_nan(Call& call, ir::Output x, ir::Output y);
// Whether x comes from a convolution, a product or a norm, into which OpenVINO fuses the activation
// that follows it. There the forms that keep NaNs cost more than they are worth:
// docs/acceleration.md.
bool follows_layer(const Call& call, ir::Output x);

// Whether argument i, a number, is one of the dtype's, but for its fraction.
bool holds_number(const Call& call, size_t i, DType dtype);

// dim counted from the end if negative.
inline size_t wrapped(int64_t dim, size_t rank) {
  return static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(rank) : dim);
}
// Whether dim names one of rank dimensions.
inline bool is_dim(int64_t dim, size_t rank) {
  const auto n = static_cast<int64_t>(std::max<size_t>(rank, 1));
  return dim >= -n && dim < n;
}

// A list of one number for every dimension, or of one each.
inline std::vector<int64_t> spread(const std::vector<int64_t>& list, size_t count,
                                   int64_t otherwise) {
  if (list.empty()) return std::vector<int64_t>(count, otherwise);
  return list.size() == 1 ? std::vector<int64_t>(count, list[0]) : list;
}

}  // namespace pteron
