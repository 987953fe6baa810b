// The memory that big buffers come from: the system's, or the application's allocator.
#pragma once

#include <cstddef>
#include <memory>

namespace pteron {

class Allocator {
 public:
  virtual ~Allocator() = default;
  // At least `size` bytes aligned to `alignment`, a power of two up to 64; throws std::bad_alloc.
  virtual void* allocate(size_t size, size_t alignment) = 0;
  virtual void deallocate(void* data, size_t size) = 0;
};

// The system's allocator; lives as long as the process.
Allocator& system_allocator();

// A zeroed block of an Allocator's, aligned to 64 bytes.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Allocator& allocator, size_t size);
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  Allocator* allocator_ = nullptr;  // Null: block_ is from calloc.
  void* block_ = nullptr;
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace pteron
