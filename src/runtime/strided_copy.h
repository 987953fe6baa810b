// Copies an array between any two memory layouts.
//
// What can be worked out from shape and strides alone is done once, so that a copy that is made at
// every run costs little more than the memory traffic.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "program/program.h"

namespace pteron {

class StridedCopy {
 public:
  // Copies nothing.
  StridedCopy() = default;
  // For arrays of shape `sizes`, `element` bytes each. Strides are in bytes, one a dimension, of
  // any sign; 0 on the source's side repeats an element.
  StridedCopy(std::span<const int64_t> to_strides, std::span<const int64_t> from_strides,
              std::span<const int64_t> sizes, size_t element);

  // Copies every element. The two arrays must not overlap.
  void run(void* to, const void* from) const;

 private:
  struct Dimension {
    int64_t size;
    int64_t to;
    int64_t from;
  };

  template <size_t kElement>
  void copy_plane(std::byte* to, const std::byte* from) const;
  void copy_innermost(std::byte* to, const std::byte* from) const;

  // Outermost first; dimensions that are one run of memory in both layouts are joined. The last
  // one has the smallest step in the target. If there is one with a smaller step in the source, it
  // is the last but one.
  std::array<Dimension, kMaxRank> dims_{};
  size_t rank_ = 0;
  size_t inner_ = 0;  // How many of the last dimensions copy_innermost does: 0 to 2.
  size_t element_ = 0;
};

// The same in one go.
void strided_copy(void* to, std::span<const int64_t> to_strides, const void* from,
                  std::span<const int64_t> from_strides, std::span<const int64_t> sizes,
                  size_t element);

}  // namespace pteron
