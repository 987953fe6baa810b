#include "program/allocation_count.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<uint64_t> allocated = 0;
}

namespace pteron::test {
uint64_t bytes_allocated() { return allocated; }
}  // namespace pteron::test

void* operator new(size_t size) {
  allocated += size;
  if (void* block = std::malloc(size > 0 ? size : 1)) return block;
  throw std::bad_alloc();
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, size_t) noexcept { std::free(block); }
