// Operators that move the elements of a tensor to other places, by numbers that the program has.
#include <algorithm>
#include <limits>
#include <numeric>

#include "lowering/call.h"
#include "lowering/rules.h"

namespace pteron {
namespace {

using ir::Output;
using Sizes = std::vector<int64_t>;

// How many numbers a row may put into the graph.
constexpr size_t kMostPlaces = size_t{1} << 22;

Output scalar_index(Call& call, int64_t value) {
  return call.indices(std::span<const int64_t>(&value, 1), true);
}

Output gathered(Call& call, Output input, Output index, size_t dim) {
  return call.node("Gather", {input, index, scalar_index(call, static_cast<int64_t>(dim))},
                   call.graph.dtype(input), "opset8", {{"batch_dims", "0"}});
}

// input, dim, start, count
Reason narrow(Call& call) {
  if (Reason reason = require_moved(call, {0, 4}); !reason.empty()) return reason;
  const size_t rank = call.rank(0);
  if (rank == 0 || !is_dim(call.integer(1), rank)) return "its dimension is out of range";
  const size_t dim = wrapped(call.integer(1), rank);
  const int64_t size = call.size_of(0, dim);
  const int64_t count = call.integer(3);
  int64_t start = call.integer(2);
  if (start < 0) start = start < -size ? -1 : start + size;
  if (start < 0 || start > size || count < 0 || count > size - start)
    return "its part is out of range";
  call.set(4, call.node("Slice",
                        {call.tensor(0), call.one(start), call.one(start + count), call.one(1),
                         call.one(static_cast<int64_t>(dim))},
                        call.dtype(4), "opset8"));
  return {};
}

// input, dims
Reason flip(Call& call) {
  if (Reason reason = require_moved(call, {0, 2}); !reason.empty()) return reason;
  const size_t rank = call.rank(0);
  Sizes axes;
  for (const int64_t dim : call.ints(1)) {
    if (!is_dim(dim, rank)) return "a dimension is out of range";
    const auto axis = static_cast<int64_t>(wrapped(dim, rank));
    if (rank > 0 && std::count(axes.begin(), axes.end(), axis) == 0) axes.push_back(axis);
  }
  if (axes.empty()) {
    call.set(2, call.tensor(0));
    return {};
  }
  const auto all = [&](int64_t value) { return call.indices(Sizes(axes.size(), value)); };
  call.set(2, call.node("Slice",
                        {call.tensor(0), all(-1), all(std::numeric_limits<int32_t>::min()), all(-1),
                         call.indices(axes)},
                        call.dtype(2), "opset8"));
  return {};
}

// input, shifts, dims
Reason roll(Call& call) {
  if (Reason reason = require_moved(call, {0, 3}); !reason.empty()) return reason;
  const Sizes& shifts = call.ints(1);
  const Sizes& dims = call.ints(2);
  const size_t rank = call.rank(0);
  if (dims.empty() ? shifts.size() != 1 : shifts.size() != dims.size())
    return "its shifts do not fit its dimensions";
  Output result = call.tensor(0);
  // Without dimensions, the whole as one run.
  const auto whole = static_cast<int64_t>(call.numel(0));
  if (dims.empty()) result = call.reshaped(result, call.one(whole));
  for (size_t i = 0; i < shifts.size(); ++i) {
    if (!dims.empty() && (rank == 0 || !is_dim(dims[i], rank)))
      return "a dimension is out of range";
    const size_t dim = dims.empty() ? 0 : wrapped(dims[i], rank);
    const int64_t size = dims.empty() ? whole : call.size_of(0, dim);
    const int64_t by = (shifts[i] % size + size) % size;
    if (by == 0) continue;
    const auto part = [&](int64_t from, int64_t to) {
      return call.node(
          "Slice",
          {result, call.one(from), call.one(to), call.one(1), call.one(static_cast<int64_t>(dim))},
          call.dtype(3), "opset8");
    };
    const std::vector<Output> parts{part(size - by, size), part(0, size - by)};
    result = call.node("Concat", parts, call.dtype(3), "opset1", {{"axis", std::to_string(dim)}});
  }
  if (dims.empty()) result = call.reshaped(result, call.shape(0));
  call.set(3, result);
  return {};
}

// 0, 1, ... as many as a dimension of argument 0 has.
Output positions(Call& call, size_t dim) {
  const std::vector<Output> bounds{scalar_index(call, 0), call.size(0, dim), scalar_index(call, 1)};
  return call.node("Range", bounds, DType::Int64, "opset4", {{"output_type", "i64"}});
}

// input, diagonal
Reason tril(Call& call) {
  if (Reason reason = require_moved(call, {0, 2}); !reason.empty()) return reason;
  const size_t rank = call.rank(0);
  if (rank < 2) return "it is no matrix";
  // No matrix that fits memory has as many sides.
  constexpr int64_t kMost = 1 << 24;
  const int64_t diagonal = std::clamp(call.integer(1), -kMost, kMost);
  for (const size_t d : {rank - 2, rank - 1}) {
    if (call.size_of(0, d) >= kMost) return "its matrices are large";
  }
  const Output rows =
      call.node("Unsqueeze", {positions(call, rank - 2), call.one(1)}, DType::Int64);
  const Output last = call.node("Add", {rows, scalar_index(call, diagonal)}, DType::Int64);
  const Output is_right = call.node("Greater", {positions(call, rank - 1), last}, DType::Bool);
  call.set(2, call.node("Select", {is_right, call.scalar(0, call.dtype(2)), call.tensor(0)},
                        call.dtype(2), "opset1", {{"auto_broadcast", "numpy"}}));
  return {};
}

// input, offset, first dimension, second
Reason diagonal(Call& call) {
  if (Reason reason = require_moved(call, {0, 4}); !reason.empty()) return reason;
  const size_t rank = call.rank(0);
  if (rank < 2 || !is_dim(call.integer(2), rank) || !is_dim(call.integer(3), rank))
    return "its dimensions are out of range";
  const size_t first = wrapped(call.integer(2), rank);
  const size_t second = wrapped(call.integer(3), rank);
  if (first == second) return "its dimensions are one";
  const int64_t rows = call.size_of(0, first);
  const int64_t columns = call.size_of(0, second);
  const int64_t offset = std::clamp(call.integer(1), -rows, columns);
  Sizes order;
  Sizes shape;
  for (size_t d = 0; d < rank; ++d) {
    if (d == first || d == second) continue;
    order.push_back(static_cast<int64_t>(d));
    shape.push_back(call.size_of(0, d));
  }
  order.push_back(static_cast<int64_t>(first));
  order.push_back(static_cast<int64_t>(second));
  shape.push_back(rows * columns);
  Sizes places;
  for (int64_t r = std::max<int64_t>(0, -offset); r < rows && r + offset < columns; ++r)
    places.push_back(r * columns + r + offset);
  if (places.empty()) return "it has no elements";
  const Output flat = call.reshaped(call.transposed(call.tensor(0), order), shape);
  call.set(4, gathered(call, flat, call.indices(places), rank - 2));
  return {};
}

// input, dim, size, step
Reason unfold(Call& call) {
  if (Reason reason = require_moved(call, {0, 4}); !reason.empty()) return reason;
  const size_t rank = call.rank(0);
  if (!is_dim(call.integer(1), rank)) return "its dimension is out of range";
  const int64_t size = call.integer(2);
  const int64_t step = call.integer(3);
  const size_t dim = wrapped(call.integer(1), rank);
  const int64_t whole = rank > 0 ? call.size_of(0, dim) : 1;
  if (size < 1 || size > whole || step < 1) return "its windows do not fit it";
  if (rank == 0) {
    call.set(4, call.reshaped(call.tensor(0), call.one(1)));
    return {};
  }
  const int64_t count = (whole - size) / step + 1;
  if (static_cast<size_t>(count * size) > kMostPlaces) return "it has many windows";
  Sizes places;
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t k = 0; k < size; ++k) places.push_back(i * step + k);
  }
  const Output index = call.reshaped(call.indices(places), Sizes{count, size});
  // What lies within a window comes last.
  Sizes order(rank + 1);
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin() + static_cast<std::ptrdiff_t>(dim) + 1,
              order.begin() + static_cast<std::ptrdiff_t>(dim) + 2, order.end());
  call.set(4, call.transposed(gathered(call, call.tensor(0), index, dim), order));
  return {};
}

// input, sizes, strides, offset
Reason as_strided(Call& call) {
  if (Reason reason = require_moved(call, {0, 4}); !reason.empty()) return reason;
  const Sizes& sizes = call.ints(1);
  const Sizes& strides = call.ints(2);
  const int64_t offset = call.has(3) ? call.integer(3) : 0;
  const auto elements = static_cast<int64_t>(call.numel(0));
  // Strides count in memory as it lies.
  const auto& order = call.def(0).dim_order;
  if (!std::is_sorted(order.begin(), order.end())) return "its input lies in another order";
  if (sizes.size() != strides.size() || offset < 0 || offset >= elements || sizes != call.shape(4))
    return "its places are out of range";
  if (call.numel(4) > kMostPlaces) return "it has many places";
  Sizes places{offset};
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] < 1 || strides[d] < 0) return "its places are out of range";
    if (sizes[d] > 1 && strides[d] > elements / (sizes[d] - 1))
      return "its places are out of range";
    Sizes next;
    for (const int64_t place : places) {
      for (int64_t i = 0; i < sizes[d]; ++i) next.push_back(place + (i > 0 ? i * strides[d] : 0));
    }
    places = std::move(next);
  }
  if (*std::max_element(places.begin(), places.end()) >= elements)
    return "its places are out of range";
  const Output flat = call.reshaped(call.tensor(0), call.one(elements));
  bool is_run = true;
  for (size_t i = 0; i < places.size(); ++i)
    is_run = is_run && places[i] == offset + static_cast<int64_t>(i);
  const Output taken = is_run ? call.node("Slice",
                                          {flat, call.one(offset), call.one(places.back() + 1),
                                           call.one(1), call.one(0)},
                                          call.dtype(4), "opset8")
                              : gathered(call, flat, call.indices(places), 0);
  call.set(4, call.reshaped(taken, sizes));
  return {};
}

// The dimension of channels as two of `factor`, each beside the dimension that it makes larger; or
// the other way.
template <bool kToSpace>
Reason pixel_shuffle(Call& call) {
  if (Reason reason = require_moved(call, {0, 2}); !reason.empty()) return reason;
  const size_t rank = call.rank(0);
  const int64_t factor = call.integer(1);
  if (rank < 3 || factor < 1 || factor > INT16_MAX) return "it is no image";
  if (rank == 4) {
    call.set(
        2, call.node(kToSpace ? "DepthToSpace" : "SpaceToDepth", {call.tensor(0)}, call.dtype(2),
                     "opset1", {{"mode", "depth_first"}, {"block_size", std::to_string(factor)}}));
    return {};
  }
  if (!call.has_known_shapes()) return "a run decides its shapes";
  const Sizes shape = call.shape(0);
  const int64_t channels = shape[rank - 3];
  const int64_t height = shape[rank - 2];
  const int64_t width = shape[rank - 1];
  if (kToSpace ? channels % (factor * factor) != 0 : height % factor != 0 || width % factor != 0)
    return "its factor does not fit it";
  int64_t lead = 1;
  for (size_t d = 0; d + 3 < rank; ++d) lead *= shape[d];
  const Sizes parts = kToSpace
                          ? Sizes{lead, channels / (factor * factor), factor, factor, height, width}
                          : Sizes{lead, channels, height / factor, factor, width / factor, factor};
  const Sizes order = kToSpace ? Sizes{0, 1, 4, 2, 5, 3} : Sizes{0, 1, 3, 5, 2, 4};
  call.set(2, call.reshaped(call.transposed(call.reshaped(call.tensor(0), parts), order),
                            call.shape(2)));
  return {};
}

constexpr LoweringRow kRows[] = {
    {"aten::as_strided_copy.out", as_strided},
    {"aten::diagonal_copy.out", diagonal},
    {"aten::flip.out", flip, Shapes::Dynamic},
    {"aten::narrow_copy.out", narrow},
    {"aten::pixel_shuffle.out", pixel_shuffle<true>, Shapes::Dynamic},
    {"aten::pixel_unshuffle.out", pixel_shuffle<false>, Shapes::Dynamic},
    {"aten::roll.out", roll},
    {"aten::tril.out", tril, Shapes::Dynamic},
    {"aten::unfold_copy.out", unfold},
};

}  // namespace

std::span<const LoweringRow> rearranging_rows() { return kRows; }

}  // namespace pteron
