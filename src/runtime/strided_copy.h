// Copies an array between any two memory layouts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace pteron {

// Copies every element of an array of shape `sizes`, `element` bytes each. Strides are in bytes,
// one a dimension, of any sign on the source's side (0 repeats an element). The two must not
// overlap.
void strided_copy(void* to, std::span<const int64_t> to_strides, const void* from,
                  std::span<const int64_t> from_strides, std::span<const int64_t> sizes,
                  size_t element);

}  // namespace pteron
