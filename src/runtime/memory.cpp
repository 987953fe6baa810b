#include "runtime/memory.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace pteron {
namespace {

class SystemAllocator : public Allocator {
 public:
  void* allocate(size_t size, size_t alignment) override {
    (void)alignment;  // At most kAlignment.
    return ::operator new(size, std::align_val_t(kAlignment));
  }
  void deallocate(void* data, size_t size) override {
    (void)size;
    ::operator delete(data, std::align_val_t(kAlignment));
  }

  static constexpr size_t kAlignment = 64;
};

// calloc gives large blocks as pages that cost nothing until they are touched.
constexpr size_t kLazySlack = SystemAllocator::kAlignment;

}  // namespace

Allocator& system_allocator() {
  // Never destroyed: buffers may outlive static destruction.
  static SystemAllocator* const allocator = new SystemAllocator;
  return *allocator;
}

Buffer::Buffer(Allocator& allocator, size_t size) : size_(size) {
  if (size == 0) return;
  if (&allocator == &system_allocator()) {
    if (size > SIZE_MAX - kLazySlack) throw std::bad_alloc();
    block_ = std::calloc(1, size + kLazySlack);
    if (block_ == nullptr) throw std::bad_alloc();
    const uintptr_t address =
        (reinterpret_cast<uintptr_t>(block_) + kLazySlack - 1) & ~uintptr_t{kLazySlack - 1};
    data_ = reinterpret_cast<std::byte*>(address);
    return;
  }
  allocator_ = &allocator;
  block_ = allocator.allocate(size, SystemAllocator::kAlignment);
  data_ = static_cast<std::byte*>(block_);
  std::memset(block_, 0, size);
}

Buffer::Buffer(Buffer&& other) noexcept
    : allocator_(std::exchange(other.allocator_, nullptr)),
      block_(std::exchange(other.block_, nullptr)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(allocator_, other.allocator_);
  std::swap(block_, other.block_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Buffer::~Buffer() {
  if (block_ == nullptr) return;
  if (allocator_ != nullptr) {
    allocator_->deallocate(block_, size_);
  } else {
    std::free(block_);
  }
}

}  // namespace pteron
