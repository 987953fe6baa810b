// Vectors in a call's scratch memory, for what grows with the arguments: the memory limit bounds
// them. What they let go is free again when the call returns, so give them their size at once.
#pragma once

#include <vector>

#include "runtime/kernel.h"

namespace pteron {

template <typename T>
class ScratchAllocator {
 public:
  using value_type = T;
  explicit ScratchAllocator(KernelContext& context) : context_(&context) {}
  template <typename U>
  ScratchAllocator(const ScratchAllocator<U>& other) : context_(other.context()) {}

  T* allocate(size_t count) { return context_->scratch_array<T>(count); }
  void deallocate(T*, size_t) {}
  KernelContext* context() const { return context_; }
  friend bool operator==(const ScratchAllocator& a, const ScratchAllocator& b) {
    return a.context_ == b.context_;
  }

 private:
  KernelContext* context_;
};

template <typename T>
using ScratchVector = std::vector<T, ScratchAllocator<T>>;

// A vector of `count` zeros.
template <typename T>
ScratchVector<T> scratch_vector(KernelContext& context, size_t count = 0) {
  return ScratchVector<T>(count, T(), ScratchAllocator<T>(context));
}

}  // namespace pteron
