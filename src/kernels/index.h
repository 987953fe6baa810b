// Where the elements of an array lie, for operators that address them one by one.
#pragma once

#include <cstring>
#include <utility>

#include "kernels/element.h"
#include "kernels/scratch.h"

namespace pteron {

// Element offsets into a tensor's memory for each row-major position of a shape. Where the elements
// lie in that order, there is no list of them; else it is in the call's scratch memory.
class Places {
 public:
  Places(KernelContext& context, std::span<const int64_t> sizes, std::span<const int64_t> strides);
  Places(KernelContext& context, const Tensor& tensor)
      : Places(context, tensor.sizes(), tensor.strides()) {}

  int64_t size() const { return size_; }
  bool is_dense() const { return offsets_.empty(); }
  int64_t operator[](int64_t i) const {
    return offsets_.empty() ? i : offsets_[static_cast<size_t>(i)];
  }

 private:
  int64_t size_ = 1;
  ScratchVector<int64_t> offsets_;
};

// The places of a tensor that broadcasts to `sizes`.
Places broadcast_places(KernelContext& context, const Tensor& tensor,
                        std::span<const int64_t> sizes);

// Calls use(T()) with an unsigned type, or a pair of them, of so many bytes.
template <typename Use>
auto with_element(size_t bytes, Use&& use) {
  switch (bytes) {
    case 1:
      return use(uint8_t());
    case 2:
      return use(uint16_t());
    case 4:
      return use(uint32_t());
    case 8:
      return use(uint64_t());
    default:
      return use(std::pair<uint64_t, uint64_t>());
  }
}

}  // namespace pteron
