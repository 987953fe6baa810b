// Where the elements of an array lie, for operators that address them one by one.
#pragma once

#include <cstring>
#include <vector>

#include "kernels/element.h"

namespace pteron {

// Element offsets into a tensor's memory for each row-major position of `sizes`, which may be
// smaller than its own.
std::vector<int64_t> offsets_of(std::span<const int64_t> sizes, std::span<const int64_t> strides);

// The same for a tensor that broadcasts to `sizes`.
std::vector<int64_t> broadcast_offsets(const Tensor& tensor, std::span<const int64_t> sizes);

// Dtypes must agree.
inline void copy_element(const Tensor& from, int64_t from_offset, Tensor& to, int64_t to_offset) {
  const size_t size = dtype_size(from.dtype());
  std::memcpy(to.data<std::byte>() + to_offset * static_cast<int64_t>(size),
              from.data<std::byte>() + from_offset * static_cast<int64_t>(size), size);
}

}  // namespace pteron
