// Operators that read pictures between their pixels. PyTorch's choice of pixels is computed here as
// its kernels compute it, where OpenVINO's may be another.
#include <algorithm>
#include <cmath>

#include "lowering/call.h"
#include "lowering/rules.h"

namespace pteron {
namespace {

using ir::Output;
using Sizes = std::vector<int64_t>;

struct Pictures {
  bool has_scales = false;
  double scale[2]{};
  int64_t in[2]{};
  int64_t out[2]{};  // Both of static shapes only.
  Reason reason;
};

// A size (argument 1) or scales, of which one is given.
Pictures read_pictures(Call& call, size_t scales, size_t out) {
  Pictures p;
  if (call.rank(0) != 4 || call.rank(out) != 4) p.reason = "it is no image";
  p.has_scales = call.has(scales);
  if (p.has_scales == call.has(1)) p.reason = "it has no size, or two";
  if ((p.has_scales ? call.reals(scales).size() : call.ints(1).size()) != 2)
    p.reason = "its lists are not of its dimensions";
  if (!p.reason.empty()) return p;
  for (size_t d = 0; d < 2; ++d) {
    if (p.has_scales) p.scale[d] = call.reals(scales)[d];
    if (p.has_scales && !(p.scale[d] > 1e-6 && p.scale[d] < 1e6))
      p.reason = "a scale is out of range";
    if (!p.has_scales && (call.ints(1)[d] < 1 || call.ints(1)[d] > INT32_MAX))
      p.reason = "a size is out of range";
    if (!call.has_known_shapes()) continue;
    p.in[d] = call.size_of(0, 2 + d);
    p.out[d] = call.size_of(out, 2 + d);
    const double wanted = p.has_scales ? std::floor(static_cast<double>(p.in[d]) * p.scale[d])
                                       : static_cast<double>(call.ints(1)[d]);
    if (p.out[d] < 1 || wanted != static_cast<double>(p.out[d]))
      p.reason = "its result is of another shape";
  }
  return p;
}

Output interpolated(Call& call, const Pictures& p, const char* mode, const char* coordinates,
                    size_t out) {
  const std::vector<float> scales{static_cast<float>(p.scale[0]), static_cast<float>(p.scale[1])};
  const Output target =
      p.has_scales ? call.graph.numbers<float>(DType::Float32, scales) : call.indices(call.ints(1));
  return call.node("Interpolate", {call.tensor(0), target, call.indices(Sizes{2, 3})},
                   call.dtype(out), "opset11",
                   {{"mode", mode},
                    {"shape_calculation_mode", p.has_scales ? "scales" : "sizes"},
                    {"coordinate_transformation_mode", coordinates},
                    {"nearest_mode", "floor"},
                    {"antialias", "false"},
                    {"pads_begin", "0"},
                    {"pads_end", "0"},
                    {"cube_coeff", "-0.75"}});
}

// Whether a side grows by a whole number, of which each pixel then becomes as many.
bool is_repeated(const Sizes& sources, int64_t in, int64_t out) {
  if (out % in != 0) return false;
  const int64_t times = out / in;
  for (int64_t i = 0; i < out; ++i) {
    if (sources[static_cast<size_t>(i)] != i / times) return false;
  }
  return true;
}
bool is_power_of_two(double scale) {
  int exponent = 0;
  return scale >= 1 && std::frexp(scale, &exponent) == 0.5;
}

// input, size, scales
Reason nearest(Call& call) {
  if (Reason reason = require_moved(call, {0, 3}); !reason.empty()) return reason;
  const Pictures p = read_pictures(call, 2, 3);
  if (!p.reason.empty()) return p.reason;
  const bool is_float = require_floats(call, {0}).empty();
  if (!call.has_known_shapes()) {
    if (!is_float || !p.has_scales || !is_power_of_two(p.scale[0]) || !is_power_of_two(p.scale[1]))
      return "a run decides its shapes";
    call.set(3, interpolated(call, p, "nearest", "asymmetric", 3));
    return {};
  }
  Sizes sources[2];
  for (size_t d = 0; d < 2; ++d) {
    const float step = p.has_scales ? static_cast<float>(1.0 / p.scale[d])
                                    : static_cast<float>(p.in[d]) / static_cast<float>(p.out[d]);
    for (int64_t i = 0; i < p.out[d]; ++i)
      sources[d].push_back(
          std::min(static_cast<int64_t>(std::floor(step * static_cast<float>(i))), p.in[d] - 1));
  }
  if (is_float && is_repeated(sources[0], p.in[0], p.out[0]) &&
      is_repeated(sources[1], p.in[1], p.out[1])) {
    call.set(3, interpolated(call, p, "nearest", "asymmetric", 3));
    return {};
  }
  Output result = call.tensor(0);
  for (size_t d = 0; d < 2; ++d) {
    const auto axis = static_cast<int64_t>(2 + d);
    result = call.node(
        "Gather",
        {result, call.indices(sources[d]), call.indices(std::span<const int64_t>(&axis, 1), true)},
        call.dtype(3), "opset8", {{"batch_dims", "0"}});
  }
  call.set(3, result);
  return {};
}

// input, size, align_corners, scales
Reason bilinear(Call& call) {
  if (Reason reason = require_floats(call, {0, 4}); !reason.empty()) return reason;
  const Pictures p = read_pictures(call, 3, 4);
  if (!p.reason.empty()) return p.reason;
  call.set(
      4, interpolated(call, p, "linear_onnx", call.boolean(2) ? "align_corners" : "half_pixel", 4));
  return {};
}

// input, size, align_corners, scale of height, of width
Reason smooth(Call& call) {
  if (Reason reason = require_floats(call, {0, 5}); !reason.empty()) return reason;
  if (call.has(3) || call.has(4)) return "it has scales of its own";
  if (call.boolean(2)) return "its corners are aligned";
  if (call.rank(0) != 4 || call.rank(5) != 4 || call.ints(1).size() != 2) return "it is no image";
  for (size_t d = 0; d < 2; ++d) {
    if (call.ints(1)[d] != call.size_of(5, 2 + d)) return "its result is of another shape";
  }
  Pictures p;
  call.set(5, interpolated(call, p, "bilinear_pillow", "half_pixel", 5));
  return {};
}

// input, grid, interpolation, padding, align_corners
Reason grid_sampler(Call& call) {
  if (Reason reason = require_floats(call, {0, 1, 5}); !reason.empty()) return reason;
  const int64_t mode = call.integer(2);
  const int64_t padding = call.integer(3);
  if (call.rank(0) != 4 || call.rank(1) != 4) return "it is no image";
  if (mode < 0 || mode > 2 || padding < 0 || padding > 2) return "it has no such mode";
  constexpr const char* kModes[] = {"bilinear", "nearest", "bicubic"};
  constexpr const char* kPaddings[] = {"zeros", "border", "reflection"};
  call.set(5, call.node("GridSample", {call.tensor(0), call.tensor(1)}, call.dtype(5), "opset9",
                        {{"mode", kModes[mode]},
                         {"padding_mode", kPaddings[padding]},
                         {"align_corners", call.boolean(4) ? "true" : "false"}}));
  return {};
}

constexpr LoweringRow kRows[] = {
    {"aten::_upsample_bilinear2d_aa.out", smooth},
    {"aten::grid_sampler_2d.out", grid_sampler, Shapes::Dynamic},
    {"aten::upsample_bilinear2d.vec_out", bilinear, Shapes::Dynamic},
    {"aten::upsample_nearest2d.vec_out", nearest, Shapes::Dynamic},
};

}  // namespace

std::span<const LoweringRow> resample_rows() { return kRows; }

}  // namespace pteron
