// Operators that move elements and compute nothing. Shapes come from the program, which says what
// each result has.
#include <algorithm>
#include <numeric>

#include "lowering/call.h"
#include "lowering/rules.h"

namespace pteron {
namespace {

using ir::Output;
using Sizes = std::vector<int64_t>;

// Whatever the operator, its result has the same elements in the same order.
template <size_t kOut>
Reason reshape(Call& call) {
  if (Reason reason = require_moved(call, {0, kOut}); !reason.empty()) return reason;
  if (call.numel(0) != call.numel(kOut)) return "its result has other elements";
  const bool same = call.shape(0) == call.shape(kOut);
  call.set(kOut, same ? call.tensor(0) : call.reshaped(call.tensor(0), call.shape(kOut)));
  return {};
}

// Floats of another width; all else as it is.
template <size_t kOut>
Reason copy(Call& call) {
  if (call.dtype(0) == call.dtype(kOut)) {
    if (Reason reason = require_moved(call, {0}); !reason.empty()) return reason;
  } else {
    if (Reason reason = require_floats(call, {0}); !reason.empty()) return reason;
    if (Reason reason = require_floats(call, {kOut}); !reason.empty()) return reason;
  }
  if (call.shape(0) != call.shape(kOut)) return "its result is of another shape";
  call.set(kOut, call.converted(call.tensor(0), call.dtype(kOut)));
  return {};
}

Output transposed(Call& call, Output input, const Sizes& order) {
  return call.node("Transpose", {input, call.indices(order)}, call.graph.dtype(input));
}

Reason permute(Call& call) {
  if (Reason reason = require_moved(call, {0, 2}); !reason.empty()) return reason;
  Sizes order = call.ints(1);
  const size_t rank = call.rank(0);
  std::vector<bool> seen(rank);
  for (int64_t& dim : order) {
    if (!is_dim(dim, rank)) return "its dimensions are no permutation";
    dim = static_cast<int64_t>(wrapped(dim, rank));
    if (rank == 0 || seen[static_cast<size_t>(dim)]) return "its dimensions are no permutation";
    seen[static_cast<size_t>(dim)] = true;
  }
  if (order.size() != rank) return "its dimensions are no permutation";
  call.set(2, transposed(call, call.tensor(0), order));
  return {};
}

Reason swap(Call& call, int64_t a, int64_t b, size_t out) {
  if (Reason reason = require_moved(call, {0, out}); !reason.empty()) return reason;
  const size_t rank = call.rank(0);
  if (!is_dim(a, rank) || !is_dim(b, rank)) return "a dimension is out of range";
  if (rank < 2) {
    call.set(out, call.tensor(0));
    return {};
  }
  Sizes order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[wrapped(a, rank)], order[wrapped(b, rank)]);
  call.set(out, transposed(call, call.tensor(0), order));
  return {};
}
Reason transpose(Call& call) { return swap(call, call.integer(1), call.integer(2), 3); }
Reason t(Call& call) { return call.rank(0) > 2 ? "it is no matrix" : swap(call, 0, -1, 1); }

Reason expand(Call& call) {
  if (Reason reason = require_moved(call, {0, 3}); !reason.empty()) return reason;
  if (call.shape(0) == call.shape(3)) {
    call.set(3, call.tensor(0));
    return {};
  }
  call.set(3, call.node("Broadcast", {call.tensor(0), call.indices(call.shape(3))}, call.dtype(3),
                        "opset3", {{"mode", "bidirectional"}}));
  return {};
}

// A list of one number, as the operations on slices take theirs.
Output one(Call& call, int64_t number) {
  return call.indices(std::span<const int64_t>(&number, 1));
}

// input, dim, start, end, step
Reason slice(Call& call) {
  if (Reason reason = require_moved(call, {0, 5}); !reason.empty()) return reason;
  const size_t rank = call.rank(0);
  if (rank == 0 || !is_dim(call.integer(1), rank)) return "its dimension is out of range";
  const size_t dim = wrapped(call.integer(1), rank);
  const int64_t size = call.size_of(0, dim);
  const int64_t step = call.integer(4);
  if (step < 1) return "its step is not positive";
  const auto place = [size](int64_t at) {
    return std::clamp(at < 0 ? at + size : at, int64_t{0}, size);
  };
  const int64_t start = call.has(2) ? place(call.integer(2)) : 0;
  const int64_t end = call.has(3) ? place(call.integer(3)) : size;
  call.set(5, call.node("Slice",
                        {call.tensor(0), one(call, start), one(call, end), one(call, step),
                         one(call, static_cast<int64_t>(dim))},
                        call.dtype(5), "opset8"));
  return {};
}

Output taken(Call& call, Output input, int64_t index, int64_t dim) {
  const Output at = call.indices(std::span<const int64_t>(&index, 1), true);
  const Output axis = call.indices(std::span<const int64_t>(&dim, 1), true);
  return call.node("Gather", {input, at, axis}, call.graph.dtype(input), "opset8",
                   {{"batch_dims", "0"}});
}

Reason select(Call& call) {
  if (Reason reason = require_moved(call, {0, 3}); !reason.empty()) return reason;
  const size_t rank = call.rank(0);
  if (rank == 0 || !is_dim(call.integer(1), rank)) return "its dimension is out of range";
  const size_t dim = wrapped(call.integer(1), rank);
  const int64_t size = call.size_of(0, dim);
  const int64_t index = call.integer(2) < 0 ? call.integer(2) + size : call.integer(2);
  if (index < 0 || index >= size) return "its index is out of range";
  call.set(3, taken(call, call.tensor(0), index, static_cast<int64_t>(dim)));
  return {};
}

// Tensors of one dtype, one after another; those without elements count for nothing.
Reason join(Call& call, bool is_new_dimension) {
  const size_t rank = call.rank(2);
  if (rank == 0 || !is_dim(call.integer(1), rank)) return "its dimension is out of range";
  const size_t dim = wrapped(call.integer(1), rank);
  if (Reason reason = require_moved(call, {2}); !reason.empty()) return reason;
  std::vector<Output> parts;
  for (const LoweredTensor& part : call.list(0)) {
    if (part.def->dtype != call.dtype(2)) return "its parts have several dtypes";
    if (part.def->nbytes() == 0) return "a part of it has no elements";
    Output output = part.output;
    if (is_new_dimension) {
      Sizes shape(part.def->sizes.begin(), part.def->sizes.end());
      shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(dim), 1);
      output = call.reshaped(output, shape);
    }
    parts.push_back(output);
  }
  if (parts.empty()) return "it has no parts";
  call.set(2, call.node("Concat", parts, call.dtype(2), "opset1", {{"axis", std::to_string(dim)}}));
  return {};
}
Reason cat(Call& call) { return join(call, false); }
Reason stack(Call& call) { return join(call, true); }

// The parts' own sizes say where they are cut.
Reason split(Call& call) {
  if (Reason reason = require_moved(call, {0}); !reason.empty()) return reason;
  const size_t rank = call.rank(0);
  const int64_t at = call.integer(2);
  if (rank == 0 || !is_dim(at, rank)) return "its dimension is out of range";
  const size_t dim = wrapped(at, rank);
  Sizes lengths;
  for (const LoweredTensor& part : call.list(3)) {
    if (part.def->dtype != call.dtype(0) || part.def->sizes.size() != rank)
      return "its parts are not like it";
    lengths.push_back(part.def->sizes[dim]);
  }
  if (lengths.empty() ||
      std::accumulate(lengths.begin(), lengths.end(), int64_t{0}) != call.size_of(0, dim))
    return "its parts are not all of it";
  const auto axis = static_cast<int64_t>(dim);
  const std::vector<DType> dtypes(lengths.size(), call.dtype(0));
  const Output first =
      call.graph.add("VariadicSplit", "opset1",
                     {call.tensor(0), call.indices(std::span<const int64_t>(&axis, 1), true),
                      call.indices(lengths)},
                     {}, dtypes);
  for (size_t k = 0; k < lengths.size(); ++k)
    call.set(3, k, {first.node, static_cast<uint32_t>(k)});
  return {};
}

Reason unbind(Call& call) {
  if (Reason reason = require_moved(call, {0}); !reason.empty()) return reason;
  const size_t rank = call.rank(0);
  if (rank == 0 || !is_dim(call.integer(1), rank)) return "its dimension is out of range";
  const size_t dim = wrapped(call.integer(1), rank);
  if (static_cast<int64_t>(call.list(2).size()) != call.size_of(0, dim))
    return "its parts are not all of it";
  for (size_t k = 0; k < call.list(2).size(); ++k) {
    if (call.list(2)[k].def->dtype != call.dtype(0)) return "its parts are not like it";
    call.set(2, k, taken(call, call.tensor(0), static_cast<int64_t>(k), static_cast<int64_t>(dim)));
  }
  return {};
}

// A number in every element of the result.
template <size_t kOut>
Reason filled(Call& call, double number) {
  if (Reason reason = require_moved(call, {kOut}); !reason.empty()) return reason;
  call.set(kOut, call.node("Broadcast",
                           {call.scalar(number, call.dtype(kOut)), call.indices(call.shape(kOut))},
                           call.dtype(kOut), "opset3", {{"mode", "numpy"}}));
  return {};
}
Reason zeros(Call& call) { return filled<1>(call, 0); }
Reason ones(Call& call) { return filled<1>(call, 1); }
Reason full(Call& call) { return filled<2>(call, call.real(1)); }
Reason full_like(Call& call) { return filled<3>(call, call.real(1)); }
Reason scalar_tensor(Call& call) { return filled<1>(call, call.real(0)); }

Reason repeat(Call& call) {
  if (Reason reason = require_moved(call, {0, 2}); !reason.empty()) return reason;
  const Sizes& times = call.ints(1);
  if (times.size() < call.rank(0)) return "it has fewer numbers than dimensions";
  for (const int64_t n : times) {
    if (n < 1) return "it repeats less than once";
  }
  call.set(2, call.node("Tile", {call.tensor(0), call.indices(times)}, call.dtype(2)));
  return {};
}

// Pairs of what is added before and after, from the last dimension on; negative ones cut.
Reason pad(Call& call) {
  if (Reason reason = require_floats(call, {0, 3}); !reason.empty()) return reason;
  const Sizes& pairs = call.ints(1);
  const size_t rank = call.rank(0);
  if (pairs.size() % 2 != 0 || pairs.size() / 2 > rank) return "its pairs do not fit its rank";
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

Reason pixel_shuffle(Call& call) {
  if (Reason reason = require_moved(call, {0, 2}); !reason.empty()) return reason;
  if (call.rank(0) != 4 || call.integer(1) < 1) return "it is no image";
  call.set(2,
           call.node("DepthToSpace", {call.tensor(0)}, call.dtype(2), "opset1",
                     {{"mode", "depth_first"}, {"block_size", std::to_string(call.integer(1))}}));
  return {};
}

constexpr LoweringRow kRows[] = {
    {"aten::_to_copy.out", copy<3>},
    {"aten::alias_copy.out", copy<1>},
    {"aten::cat.out", cat},
    {"aten::clone.out", copy<2>},
    {"aten::constant_pad_nd.out", pad},
    {"aten::detach_copy.out", copy<1>},
    {"aten::expand_copy.out", expand},
    {"aten::full.out", full},
    {"aten::full_like.out", full_like},
    {"aten::lift_fresh_copy.out", copy<1>},
    {"aten::ones.out", ones},
    {"aten::permute_copy.out", permute},
    {"aten::pixel_shuffle.out", pixel_shuffle},
    {"aten::repeat.out", repeat},
    {"aten::scalar_tensor.out", scalar_tensor},
    {"aten::select_copy.int_out", select},
    {"aten::slice_copy.Tensor_out", slice},
    {"aten::split_copy.Tensor_out", split},
    {"aten::split_with_sizes_copy.out", split},
    {"aten::squeeze_copy.dim_out", reshape<2>},
    {"aten::squeeze_copy.dims_out", reshape<2>},
    {"aten::stack.out", stack},
    {"aten::t_copy.out", t},
    {"aten::transpose_copy.int_out", transpose},
    {"aten::unbind_copy.int_out", unbind},
    {"aten::unsqueeze_copy.out", reshape<2>},
    {"aten::view_copy.out", reshape<2>},
    {"aten::zeros.out", zeros},
    {"dim_order_ops::_clone_dim_order.out", copy<3>},
    {"dim_order_ops::_to_dim_order_copy.out", copy<3>},
};

}  // namespace

std::span<const LoweringRow> shape_rows() { return kRows; }

}  // namespace pteron
