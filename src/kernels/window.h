// Sliding windows: what convolutions and poolings have in common, for one to three spatial
// dimensions.
#pragma once

#include <array>
#include <optional>

#include "base/text.h"
#include "kernels/element.h"

namespace pteron {

// Three spatial dimensions; fewer are padded with ones in front.
using Spatial = std::array<int64_t, 3>;

// Where dimension d of `dims` stands in a Spatial.
inline size_t spatial_axis(int dims, int d) {
  return static_cast<size_t>(3 - dims) + static_cast<size_t>(d);
}

// Argument i, which is given once for all dimensions, or for each; `missing` where the list is
// empty.
inline Result<Spatial> read_spatial(const Args& args, size_t i, int dims, int64_t unused,
                                    const char* what, int64_t least,
                                    std::optional<Spatial> missing = std::nullopt) {
  const Ints list = args.ints(i);
  Spatial out{unused, unused, unused};
  if (list.empty() && missing) return *missing;
  if (list.size() != 1 && list.size() != static_cast<size_t>(dims)) {
    return kernel_error(std::string(what) + " " + args.describe(i) + " for " +
                        counted(dims, "dimension"));
  }
  for (int d = 0; d < dims; ++d) {
    const int64_t value = list[list.size() == 1 ? 0 : static_cast<size_t>(d)];
    if (value < least || value > INT32_MAX) {
      return kernel_error(std::string(what) + " " + args.describe(i) + " is out of range");
    }
    out[spatial_axis(dims, d)] = value;
  }
  return out;
}

// Fails if argument 0, an input of windows in `dims` dimensions, is empty otherwise than by its
// batch.
inline Result<void> require_filled(const Args& args, int dims) {
  const Tensor& in = args.tensor(0);
  for (int d = in.rank() == dims + 2 ? 1 : 0; d < in.rank(); ++d) {
    if (in.size(d) == 0)
      return kernel_error("windows over " + args.describe(0) + "; only a batch may be empty");
  }
  return {};
}

// How many windows fit. ceil_mode also counts one that starts inside the input or its left padding.
inline int64_t window_count(int64_t size, int64_t kernel, int64_t stride, int64_t pad,
                            int64_t dilation, bool ceil_mode) {
  const int64_t span = size + 2 * pad - dilation * (kernel - 1) - 1;
  if (span < 0 && !(ceil_mode && span + stride > 0)) return 0;
  int64_t count = (span + (ceil_mode ? stride - 1 : 0)) / stride + 1;
  if (ceil_mode && (count - 1) * stride >= size + pad) --count;
  return count;
}

}  // namespace pteron
