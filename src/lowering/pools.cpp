// Pools: the greatest, or the mean, of windows.
#include <algorithm>
#include <numeric>

#include "lowering/call.h"
#include "lowering/rules.h"

namespace pteron {
namespace {

using ir::list_text;
using ir::Output;
using Sizes = std::vector<int64_t>;

struct Pool {
  Sizes kernel, strides, padding;
  Reason reason;
};
// Kernel, stride and padding from argument 1 on, over the last dimensions.
Pool read_pool(Call& call, size_t spatial) {
  Pool pool{spread(call.ints(1), spatial, 1), {}, spread(call.ints(3), spatial, 0), {}};
  pool.strides = call.ints(2).empty() ? pool.kernel : spread(call.ints(2), spatial, 1);
  for (const Sizes* sizes : {&pool.kernel, &pool.strides, &pool.padding}) {
    if (sizes->size() != spatial) pool.reason = "its lists are not of its dimensions";
  }
  if (call.rank(0) != spatial + 2 && call.rank(0) != spatial + 1)
    pool.reason = "it is of rank " + std::to_string(call.rank(0));
  for (size_t d = 0; pool.reason.empty() && d < spatial; ++d) {
    if (pool.kernel[d] <= 0 || pool.strides[d] <= 0 || pool.padding[d] < 0 ||
        pool.padding[d] > pool.kernel[d] / 2)
      pool.reason = "a kernel, stride or padding is out of range";
  }
  return pool;
}

// Argument 0 with a batch, and a result without it where that had none.
Output with_batch(Call& call, size_t spatial) {
  if (call.rank(0) == spatial + 2) return call.tensor(0);
  return call.node("Unsqueeze", {call.tensor(0), call.one(0)}, call.dtype(0));
}
Output without_batch(Call& call, size_t spatial, Output result) {
  if (call.rank(0) == spatial + 2) return result;
  return call.node("Squeeze", {result, call.one(0)}, call.graph.dtype(result));
}

// The two results of a pool, its values and their places in their planes.
Reason set_with_places(Call& call, size_t spatial, size_t out, Output values) {
  const Output places{values.node, 1};
  call.set(out, without_batch(call, spatial, values));
  call.set(out + 1, without_batch(call, spatial, call.converted(places, call.dtype(out + 1))));
  return {};
}

// input, kernel, stride, padding, dilation, ceil_mode
template <size_t kSpatial>
Reason max_pool(Call& call) {
  if (Reason reason = require_floats(call, {0, 6}); !reason.empty()) return reason;
  const Pool pool = read_pool(call, kSpatial);
  if (!pool.reason.empty()) return pool.reason;
  const Sizes dilations = spread(call.ints(4), kSpatial, 1);
  if (dilations.size() != kSpatial || *std::min_element(dilations.begin(), dilations.end()) < 1)
    return "a dilation is out of range";
  const std::vector<DType> results{call.dtype(6), DType::Int32};
  const Output values = call.graph.add("MaxPool", "opset14", {with_batch(call, kSpatial)},
                                       {{"kernel", list_text(pool.kernel)},
                                        {"strides", list_text(pool.strides)},
                                        {"pads_begin", list_text(pool.padding)},
                                        {"pads_end", list_text(pool.padding)},
                                        {"dilations", list_text(dilations)},
                                        {"auto_pad", "explicit"},
                                        {"rounding_type", call.boolean(5) ? "ceil_torch" : "floor"},
                                        {"index_element_type", "i32"},
                                        {"axis", "2"}},
                                       results);
  // Places OpenVINO has of these alone, by its reference.
  if (call.dtype(6) == DType::Float32 && !call.boolean(5) && call.has_known_shapes())
    return set_with_places(call, kSpatial, 6, values);
  call.set(6, without_batch(call, kSpatial, values));
  return {};
}

Output mean_pool(Call& call, Output input, const Pool& pool, bool counts_padding, bool ceils) {
  return call.node("AvgPool", {input}, call.graph.dtype(input), "opset14",
                   {{"kernel", list_text(pool.kernel)},
                    {"strides", list_text(pool.strides)},
                    {"pads_begin", list_text(pool.padding)},
                    {"pads_end", list_text(pool.padding)},
                    {"exclude-pad", counts_padding ? "false" : "true"},
                    {"auto_pad", "explicit"},
                    {"rounding_type", ceils ? "ceil_torch" : "floor"}});
}

// The last window may go past the padding at the end, of which PyTorch counts only what there is:
// OpenVINO does so of an input that is padded before, and may have a window more.
template <size_t kSpatial>
Output mean_of_padded(Call& call, Output input, Pool pool) {
  Sizes around(kSpatial + 2);
  std::copy(pool.padding.begin(), pool.padding.end(), around.begin() + 2);
  const DType dtype = call.graph.dtype(input);
  const Output padded =
      call.node("Pad", {input, call.indices(around), call.indices(around), call.scalar(0, dtype)},
                dtype, "opset12", {{"pad_mode", "constant"}});
  pool.padding.assign(kSpatial, 0);
  const Output result = mean_pool(call, padded, pool, false, true);
  Sizes axes;
  Sizes ends;
  const size_t first = call.rank(7) - kSpatial;
  for (size_t d = 0; d < kSpatial; ++d) {
    axes.push_back(static_cast<int64_t>(2 + d));
    ends.push_back(call.size_of(7, first + d));
  }
  return call.node("Slice",
                   {result, call.indices(Sizes(kSpatial, 0)), call.indices(ends),
                    call.indices(Sizes(kSpatial, 1)), call.indices(axes)},
                   dtype, "opset8");
}

// input, kernel, stride, padding, ceil_mode, count_include_pad, divisor
template <size_t kSpatial>
Reason avg_pool(Call& call) {
  if (Reason reason = require_floats(call, {0, 7}); !reason.empty()) return reason;
  const Pool pool = read_pool(call, kSpatial);
  if (!pool.reason.empty()) return pool.reason;
  const bool has_divisor = call.has(6);
  const bool ceils = call.boolean(4);
  const bool pads = *std::max_element(pool.padding.begin(), pool.padding.end()) > 0;
  if (has_divisor && (ceils || call.integer(6) == 0)) return "it has a divisor of its own";
  Output result;
  if (ceils && pads && call.boolean(5)) {
    if (!call.has_known_shapes() || call.rank(7) != call.rank(0)) return "a run decides its shape";
    result = mean_of_padded<kSpatial>(call, with_batch(call, kSpatial), pool);
  } else {
    // A divisor is for whole windows, of which none is cut off here.
    result =
        mean_pool(call, with_batch(call, kSpatial), pool, has_divisor || call.boolean(5), ceils);
  }
  if (has_divisor) {
    double size = 1;
    for (const int64_t n : pool.kernel) size *= static_cast<double>(n);
    const Output factor = call.scalar(size / call.real(6), DType::Float32);
    const Output whole =
        call.node("Multiply", {call.converted(result, DType::Float32), factor}, DType::Float32);
    result = call.converted(whole, call.dtype(7));
  }
  call.set(7, without_batch(call, kSpatial, result));
  return {};
}

template <size_t kSpatial>
Reason check_adaptive(Call& call) {
  const Sizes& sizes = call.ints(1);
  if (sizes.size() != kSpatial || (call.rank(0) != kSpatial + 2 && call.rank(0) != kSpatial + 1))
    return "its lists are not of its dimensions";
  return *std::min_element(sizes.begin(), sizes.end()) < 1 ? "its result has no elements"
                                                           : Reason();
}

template <size_t kSpatial>
Reason adaptive_avg_pool(Call& call) {
  if (Reason reason = require_floats(call, {0, 2}); !reason.empty()) return reason;
  if (Reason reason = check_adaptive<kSpatial>(call); !reason.empty()) return reason;
  const Sizes& sizes = call.ints(1);
  const bool is_global = std::all_of(sizes.begin(), sizes.end(), [](int64_t n) { return n == 1; });
  if (is_global) {
    Sizes axes(kSpatial);
    std::iota(axes.begin(), axes.end(), call.rank(0) - kSpatial);
    call.set(2, call.node("ReduceMean", {call.tensor(0), call.indices(axes)}, call.dtype(2),
                          "opset1", {{"keep_dims", "true"}}));
    return {};
  }
  const Output result =
      call.node("AdaptiveAvgPool", {with_batch(call, kSpatial), call.indices(sizes)}, call.dtype(2),
                "opset8");
  call.set(2, without_batch(call, kSpatial, result));
  return {};
}

template <size_t kSpatial>
Reason adaptive_max_pool(Call& call) {
  if (Reason reason = require_floats(call, {0, 2}); !reason.empty()) return reason;
  if (Reason reason = check_adaptive<kSpatial>(call); !reason.empty()) return reason;
  const std::vector<DType> results{call.dtype(2), DType::Int32};
  const Output values = call.graph.add("AdaptiveMaxPool", "opset8",
                                       {with_batch(call, kSpatial), call.indices(call.ints(1))},
                                       {{"index_element_type", "i32"}}, results);
  return set_with_places(call, kSpatial, 2, values);
}

constexpr LoweringRow kRows[] = {
    {"aten::_adaptive_avg_pool2d.out", adaptive_avg_pool<2>, Shapes::Dynamic},
    {"aten::_adaptive_avg_pool3d.out", adaptive_avg_pool<3>, Shapes::Dynamic},
    {"aten::adaptive_max_pool2d.out", adaptive_max_pool<2>, Shapes::Dynamic},
    {"aten::adaptive_max_pool3d.out", adaptive_max_pool<3>, Shapes::Dynamic},
    {"aten::avg_pool2d.out", avg_pool<2>, Shapes::Dynamic},
    {"aten::avg_pool3d.out", avg_pool<3>, Shapes::Dynamic},
    {"aten::max_pool2d_with_indices.out", max_pool<2>, Shapes::Dynamic},
    {"aten::max_pool3d_with_indices.out", max_pool<3>, Shapes::Dynamic},
};

}  // namespace

std::span<const LoweringRow> pool_rows() { return kRows; }

}  // namespace pteron
