#include "base/mapped_file.h"

#include <cstring>

#include "base/aligned_block.h"

namespace pteron {

FileContents copy_bytes(std::span<const std::byte> bytes) {
  const std::shared_ptr<std::byte> block = aligned_block(bytes.size());
  if (!bytes.empty()) std::memcpy(block.get(), bytes.data(), bytes.size());
  return {{block.get(), bytes.size()}, block};
}

}  // namespace pteron
