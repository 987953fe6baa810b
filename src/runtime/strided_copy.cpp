#include "runtime/strided_copy.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "program/program.h"

namespace pteron {
namespace {

struct Dimension {
  int64_t size;
  int64_t to;
  int64_t from;
};

template <size_t kElement>
void copy_row(std::byte* to, const std::byte* from, const Dimension& row) {
  for (int64_t i = 0; i < row.size; ++i) {
    std::memcpy(to + i * row.to, from + i * row.from, kElement);
  }
}

void copy_innermost(std::byte* to, const std::byte* from, const Dimension& row, size_t element) {
  const auto size = static_cast<int64_t>(element);
  if (row.to == size && row.from == size) {
    std::memcpy(to, from, static_cast<size_t>(row.size) * element);
    return;
  }
  switch (element) {
    case 1:
      return copy_row<1>(to, from, row);
    case 2:
      return copy_row<2>(to, from, row);
    case 4:
      return copy_row<4>(to, from, row);
    default:
      return copy_row<8>(to, from, row);
  }
}

}  // namespace

void strided_copy(void* to, std::span<const int64_t> to_strides, const void* from,
                  std::span<const int64_t> from_strides, std::span<const int64_t> sizes,
                  size_t element) {
  std::array<Dimension, kMaxRank> dims{};
  size_t rank = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return;
    if (sizes[i] > 1) dims[rank++] = {sizes[i], to_strides[i], from_strides[i]};
  }
  // The destination in ascending order of addresses, then runs that are one in both layouts joined.
  std::stable_sort(
      dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(rank),
      [](const Dimension& a, const Dimension& b) { return std::abs(a.to) > std::abs(b.to); });
  size_t joined = 0;
  for (size_t i = 0; i < rank; ++i) {
    Dimension* last = joined > 0 ? &dims[joined - 1] : nullptr;
    if (last && last->to == dims[i].to * dims[i].size &&
        last->from == dims[i].from * dims[i].size) {
      *last = {last->size * dims[i].size, dims[i].to, dims[i].from};
    } else {
      dims[joined++] = dims[i];
    }
  }
  auto* out = static_cast<std::byte*>(to);
  const auto* in = static_cast<const std::byte*>(from);
  if (joined == 0) {
    std::memcpy(out, in, element);
    return;
  }
  std::array<int64_t, kMaxRank> index{};
  const Dimension row = dims[joined - 1];
  while (true) {
    copy_innermost(out, in, row, element);
    size_t d = joined - 1;
    while (d > 0) {
      --d;
      out += dims[d].to;
      in += dims[d].from;
      if (++index[d] < dims[d].size) break;
      out -= dims[d].to * dims[d].size;
      in -= dims[d].from * dims[d].size;
      index[d] = 0;
      if (d == 0) return;
    }
    if (joined == 1) return;
  }
}

}  // namespace pteron
