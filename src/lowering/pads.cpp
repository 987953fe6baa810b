// Padding, with a number or with what a tensor has at its borders.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "lowering/call.h"
#include "lowering/rules.h"

namespace pteron {
namespace {

using ir::Output;
using Sizes = std::vector<int64_t>;

// Pairs of what is added before and after, from the last dimension on; negative ones cut.
Reason pad(Call& call) {
  if (Reason reason = require_moved(call, {0, 3}); !reason.empty()) return reason;
  const Sizes& pairs = call.ints(1);
  const size_t rank = call.rank(0);
  if (pairs.size() % 2 != 0 || pairs.size() / 2 > rank) return "its pairs do not fit its rank";
  const bool is_whole = !require_floats(call, {3}).empty();
  // OpenVINO has the number as float32.
  constexpr double kExact = 1 << 24;
  if (is_whole && (!holds_number(call, 2, call.dtype(3)) || std::abs(call.real(2)) > kExact))
    return "its number does not fit its dtype";
  Sizes before(rank);
  Sizes after(rank);
  for (size_t i = 0; i < pairs.size() / 2; ++i) {
    before[rank - 1 - i] = pairs[2 * i];
    after[rank - 1 - i] = pairs[2 * i + 1];
  }
  call.set(3, call.node("Pad",
                        {call.tensor(0), call.indices(before), call.indices(after),
                         call.scalar(call.real(2), call.dtype(3))},
                        call.dtype(3), "opset12", {{"pad_mode", "constant"}}));
  return {};
}

// Where each position of a padded dimension comes from.
template <bool kReflect>
Sizes sources(int64_t size, int64_t before, int64_t after) {
  Sizes from;
  for (int64_t k = 0; k < size + before + after; ++k) {
    int64_t at = k - before;
    if (kReflect)
      at = at < 0 ? -at : at >= size ? 2 * (size - 1) - at : at;
    else
      at = std::clamp<int64_t>(at, 0, size - 1);
    from.push_back(at);
  }
  return from;
}

// Pairs of what is added before and after, from the last dimension on; negative ones cut.
// Reflecting leaves the border itself out.
template <size_t kSpatial, bool kReflect>
Reason border_pad(Call& call) {
  if (Reason reason = require_moved(call, {0, 2}); !reason.empty()) return reason;
  const Sizes& pairs = call.ints(1);
  const size_t rank = call.rank(0);
  if ((rank != kSpatial + 1 && rank != kSpatial + 2) || call.rank(2) != rank ||
      pairs.size() != 2 * kSpatial)
    return "its pairs do not fit its rank";
  if (kReflect && !call.is_static(0)) return "a run decides its shape";
  Sizes before(rank);
  Sizes after(rank);
  bool cuts = false;
  for (size_t i = 0; i < kSpatial; ++i) {
    const size_t d = rank - 1 - i;
    before[d] = pairs[2 * i];
    after[d] = pairs[2 * i + 1];
    cuts = cuts || before[d] < 0 || after[d] < 0;
    if (!call.is_static(0)) continue;
    const int64_t size = call.size_of(0, d);
    const int64_t most = kReflect ? size - 1 : INT32_MAX;
    if (before[d] > most || after[d] > most || before[d] < -size || after[d] < -size ||
        size + before[d] + after[d] <= 0 ||
        (call.is_static(2) && size + before[d] + after[d] != call.size_of(2, d)))
      return "its padding is out of range";
  }
  const DType dtype = call.dtype(2);
  if (!cuts) {
    call.set(2, call.node("Pad", {call.tensor(0), call.indices(before), call.indices(after)}, dtype,
                          "opset12", {{"pad_mode", kReflect ? "reflect" : "edge"}}));
    return {};
  }
  if (!call.has_known_shapes()) return "a run decides what it cuts";
  Output result = call.tensor(0);
  for (size_t d = rank - kSpatial; d < rank; ++d) {
    if (before[d] == 0 && after[d] == 0) continue;
    const auto axis = static_cast<int64_t>(d);
    const Sizes from = sources<kReflect>(call.size_of(0, d), before[d], after[d]);
    result = call.node(
        "Gather",
        {result, call.indices(from), call.indices(std::span<const int64_t>(&axis, 1), true)}, dtype,
        "opset8", {{"batch_dims", "0"}});
  }
  call.set(2, result);
  return {};
}

constexpr LoweringRow kRows[] = {
    {"aten::constant_pad_nd.out", pad, Shapes::Dynamic},
    {"aten::reflection_pad1d.out", border_pad<1, true>, Shapes::Dynamic},
    {"aten::reflection_pad2d.out", border_pad<2, true>, Shapes::Dynamic},
    {"aten::reflection_pad3d.out", border_pad<3, true>, Shapes::Dynamic},
    {"aten::replication_pad1d.out", border_pad<1, false>, Shapes::Dynamic},
    {"aten::replication_pad2d.out", border_pad<2, false>, Shapes::Dynamic},
    {"aten::replication_pad3d.out", border_pad<3, false>, Shapes::Dynamic},
};

}  // namespace

std::span<const LoweringRow> pad_rows() { return kRows; }

}  // namespace pteron
