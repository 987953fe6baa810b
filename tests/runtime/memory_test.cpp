#include "runtime/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

namespace pteron {
namespace {

class CountingAllocator : public Allocator {
 public:
  void* allocate(size_t size, size_t alignment) override {
    if (size > most) throw std::bad_alloc();
    ++live;
    bytes += size;
    void* block = ::operator new(size, std::align_val_t(alignment));
    std::memset(block, 0xcd, size);  // Buffer must zero it.
    return block;
  }
  void deallocate(void* data, size_t size) override {
    --live;
    bytes -= size;
    ::operator delete(data, std::align_val_t(64));
  }
  int live = 0;
  size_t bytes = 0;
  size_t most = SIZE_MAX;
};

bool is_zero(const Buffer& buffer) {
  return std::all_of(buffer.data(), buffer.data() + buffer.size(),
                     [](std::byte byte) { return byte == std::byte{0}; });
}

TEST(Buffer, IsZeroedAndAlignedWhateverItsSize) {
  for (const size_t size : {1, 63, 64, 65, 100'000}) {
    const Buffer buffer(system_allocator(), size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 64, 0u);
    EXPECT_EQ(buffer.size(), size);
    EXPECT_TRUE(is_zero(buffer));
  }
}

TEST(Buffer, OfNoBytesHasNoMemory) {
  CountingAllocator allocator;
  const Buffer buffer(allocator, 0);
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_EQ(allocator.live, 0);
}

TEST(Buffer, GivesBackToTheApplicationWhatItTook) {
  CountingAllocator allocator;
  {
    Buffer a(allocator, 100);
    EXPECT_TRUE(is_zero(a));
    Buffer b(std::move(a));
    EXPECT_EQ(a.data(), nullptr);
    EXPECT_EQ(allocator.live, 1);
    a = Buffer(allocator, 200);
    b = std::move(a);
    EXPECT_EQ(b.size(), 200u);
  }
  EXPECT_EQ(allocator.live, 0);
  EXPECT_EQ(allocator.bytes, 0u);
}

TEST(Buffer, ThrowsBadAllocWhenThereIsNoMemory) {
  CountingAllocator allocator;
  allocator.most = 10;
  EXPECT_THROW(Buffer(allocator, 11), std::bad_alloc);
  EXPECT_THROW(Buffer(system_allocator(), SIZE_MAX - 8), std::bad_alloc);
}

TEST(Buffer, OfManyBytesCostsNothingUntilTouched) {
  // The system gives pages when they are first used.
  const Buffer buffer(system_allocator(), size_t{1} << 32);
  EXPECT_EQ(buffer.data()[size_t{1} << 31], std::byte{0});
}

}  // namespace
}  // namespace pteron
