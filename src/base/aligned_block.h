// Memory for a file's bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace pteron {

// `size` bytes, aligned to 64. Throws std::bad_alloc.
inline std::shared_ptr<std::byte> aligned_block(size_t size) {
  constexpr std::align_val_t kAlignment{64};
  return {static_cast<std::byte*>(::operator new(size > 0 ? size : 1, kAlignment)),
          [](std::byte* block) { ::operator delete(block, kAlignment); }};
}

}  // namespace pteron
