#include "runtime/strided_copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace pteron {
namespace {

// A square of so many elements a side is transposed at a time, so that each cache line that it
// touches is used whole.
constexpr int64_t kTile = 32;

}  // namespace

StridedCopy::StridedCopy(std::span<const int64_t> to_strides, std::span<const int64_t> from_strides,
                         std::span<const int64_t> sizes, size_t element)
    : element_(element) {
  std::array<Dimension, kMaxRank> dims{};
  size_t rank = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) {
      element_ = 0;
      return;
    }
    if (sizes[i] > 1) dims[rank++] = {sizes[i], to_strides[i], from_strides[i]};
  }
  // By insertion: at most kMaxRank of them, no memory, and equal ones stay in order.
  for (size_t i = 1; i < rank; ++i) {
    for (size_t k = i; k > 0 && std::abs(dims[k - 1].to) < std::abs(dims[k].to); --k)
      std::swap(dims[k - 1], dims[k]);
  }
  for (size_t i = 0; i < rank; ++i) {
    Dimension* last = rank_ > 0 ? &dims_[rank_ - 1] : nullptr;
    if (last && last->to == dims[i].to * dims[i].size &&
        last->from == dims[i].from * dims[i].size) {
      *last = {last->size * dims[i].size, dims[i].to, dims[i].from};
    } else {
      dims_[rank_++] = dims[i];
    }
  }
  inner_ = std::min<size_t>(rank_, 1);
  const auto size = static_cast<int64_t>(element);
  if (rank_ < 2 || (dims_[rank_ - 1].to == size && dims_[rank_ - 1].from == size)) return;
  const auto end = dims_.begin() + static_cast<std::ptrdiff_t>(rank_ - 1);
  const auto smallest = std::min_element(
      dims_.begin(), end,
      [](const Dimension& a, const Dimension& b) { return std::abs(a.from) < std::abs(b.from); });
  std::iter_swap(smallest, std::prev(end));
  inner_ = 2;
}

template <size_t kElement>
void StridedCopy::copy_plane(std::byte* to, const std::byte* from) const {
  const Dimension row = dims_[rank_ - 1];
  const Dimension column = inner_ == 2 ? dims_[rank_ - 2] : Dimension{1, 0, 0};
  for (int64_t c0 = 0; c0 < column.size; c0 += kTile) {
    const int64_t c_end = std::min(c0 + kTile, column.size);
    for (int64_t r0 = 0; r0 < row.size; r0 += kTile) {
      const int64_t r_end = std::min(r0 + kTile, row.size);
      for (int64_t c = c0; c < c_end; ++c) {
        std::byte* out = to + c * column.to;
        const std::byte* in = from + c * column.from;
        for (int64_t r = r0; r < r_end; ++r)
          std::memcpy(out + r * row.to, in + r * row.from, kElement);
      }
    }
  }
}

void StridedCopy::copy_innermost(std::byte* to, const std::byte* from) const {
  const Dimension& row = dims_[rank_ - 1];
  const auto size = static_cast<int64_t>(element_);
  if (inner_ == 1 && row.to == size && row.from == size) {
    std::memcpy(to, from, static_cast<size_t>(row.size) * element_);
    return;
  }
  switch (element_) {
    case 1:
      return copy_plane<1>(to, from);
    case 2:
      return copy_plane<2>(to, from);
    case 4:
      return copy_plane<4>(to, from);
    case 16:
      return copy_plane<16>(to, from);
    default:
      return copy_plane<8>(to, from);
  }
}

void StridedCopy::run(void* to, const void* from) const {
  if (element_ == 0) return;
  auto* out = static_cast<std::byte*>(to);
  const auto* in = static_cast<const std::byte*>(from);
  if (rank_ == 0) {
    std::memcpy(out, in, element_);
    return;
  }
  const size_t outer = rank_ - inner_;
  std::array<int64_t, kMaxRank> index{};
  while (true) {
    copy_innermost(out, in);
    size_t d = outer;
    while (true) {
      if (d == 0) return;
      --d;
      out += dims_[d].to;
      in += dims_[d].from;
      if (++index[d] < dims_[d].size) break;
      out -= dims_[d].to * dims_[d].size;
      in -= dims_[d].from * dims_[d].size;
      index[d] = 0;
    }
  }
}

void strided_copy(void* to, std::span<const int64_t> to_strides, const void* from,
                  std::span<const int64_t> from_strides, std::span<const int64_t> sizes,
                  size_t element) {
  StridedCopy(to_strides, from_strides, sizes, element).run(to, from);
}

}  // namespace pteron
