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
Reason keep_elements(Call& call, size_t out) {
  if (Reason reason = require_moved(call, {0, out}); !reason.empty()) return reason;
  if (call.numel(0) != call.numel(out)) return "its result has other elements";
  const bool same = call.shape(0) == call.shape(out);
  call.set(out, same ? call.tensor(0) : call.reshaped(call.tensor(0), call.shape(out)));
  return {};
}

Reason view(Call& call) {
  if (call.has_known_shapes()) return keep_elements(call, 2);
  if (Reason reason = require_moved(call, {0, 2}); !reason.empty()) return reason;
  call.set(2, call.reshaped(call.tensor(0), call.numbers(1)));
  return {};
}

Reason unsqueeze(Call& call) {
  if (call.has_known_shapes()) return keep_elements(call, 2);
  if (Reason reason = require_moved(call, {0, 2}); !reason.empty()) return reason;
  if (!is_dim(call.integer(1), call.rank(2))) return "its dimension is out of range";
  const auto dim = static_cast<int64_t>(wrapped(call.integer(1), call.rank(2)));
  call.set(2, call.node("Unsqueeze", {call.tensor(0), call.one(dim)}, call.dtype(2)));
  return {};
}

// One dimension, or several. Which of them are 1 the result's rank says, if it says so of all.
Reason squeeze(Call& call, const Sizes& dims) {
  if (call.has_known_shapes()) return keep_elements(call, 2);
  if (Reason reason = require_moved(call, {0, 2}); !reason.empty()) return reason;
  Sizes axes;
  for (const int64_t dim : dims) {
    if (!is_dim(dim, call.rank(0))) return "a dimension is out of range";
    axes.push_back(static_cast<int64_t>(wrapped(dim, call.rank(0))));
  }
  if (call.rank(0) != call.rank(2) + axes.size()) return "a run decides what it drops";
  call.set(2, call.node("Squeeze", {call.tensor(0), call.indices(axes)}, call.dtype(2)));
  return {};
}
Reason squeeze_dim(Call& call) { return squeeze(call, {call.integer(1)}); }
Reason squeeze_dims(Call& call) { return squeeze(call, call.ints(1)); }

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
  call.set(2, call.transposed(call.tensor(0), order));
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
  call.set(out, call.transposed(call.tensor(0), order));
  return {};
}
Reason transpose(Call& call) { return swap(call, call.integer(1), call.integer(2), 3); }
Reason t(Call& call) { return call.rank(0) > 2 ? "it is no matrix" : swap(call, 0, -1, 1); }

Reason expand(Call& call) {
  if (Reason reason = require_moved(call, {0, 3}); !reason.empty()) return reason;
  const bool is_known = call.has_known_shapes();
  if (is_known && call.shape(0) == call.shape(3)) {
    call.set(3, call.tensor(0));
    return {};
  }
  // OpenVINO ends the process on a maximum of no numbers.
  if (call.rank(3) == 0) {
    call.set(3, call.tensor(0));
    return {};
  }
  Output sizes = is_known ? call.indices(call.shape(3)) : call.numbers(1);
  // -1: as it is.
  if (!is_known) sizes = call.node("Maximum", {sizes, call.one(1)}, DType::Int64);
  call.set(3, call.node("Broadcast", {call.tensor(0), sizes}, call.dtype(3), "opset3",
                        {{"mode", "bidirectional"}}));
  return {};
}

// input, dim, start, end, step
Reason slice(Call& call) {
  if (Reason reason = require_moved(call, {0, 5}); !reason.empty()) return reason;
  const size_t rank = call.rank(0);
  if (!call.is_known(1)) return "a run decides its dimension";
  if (rank == 0 || !is_dim(call.integer(1), rank)) return "its dimension is out of range";
  const size_t dim = wrapped(call.integer(1), rank);
  if (!call.is_known(4) || call.integer(4) < 1) return "its step is not positive";
  // OpenVINO too counts negative places from the end and cuts those that are out of range.
  const auto place = [&](size_t i, int64_t otherwise) {
    const int64_t known = call.has(i) && call.is_known(i) ? call.integer(i) : otherwise;
    return call.is_known(i) ? call.one(std::clamp<int64_t>(known, INT32_MIN, INT32_MAX))
                            : call.reshaped(call.number(i), call.one(1));
  };
  call.set(5, call.node("Slice",
                        {call.tensor(0), place(2, 0), place(3, INT32_MAX),
                         call.one(call.integer(4)), call.one(static_cast<int64_t>(dim))},
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
  const int64_t index = call.integer(2);
  // There is always a first and a last.
  const int64_t size = call.is_static(0) ? call.size_of(0, dim) : 1;
  if (index < -size || index >= size) return "its index may be out of range";
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
      const Output at = call.one(static_cast<int64_t>(dim));
      output = call.node("Unsqueeze", {output, at}, call.dtype(2));
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
  }
  // Cut apart, so that a run fails whose size is another.
  const size_t count = call.list(2).size();
  const Output axis = call.one(static_cast<int64_t>(dim));
  const Output first =
      call.graph.add("VariadicSplit", "opset1",
                     {call.tensor(0), call.reshaped(axis, Sizes()), call.indices(Sizes(count, 1))},
                     {}, std::vector<DType>(count, call.dtype(0)));
  for (size_t k = 0; k < count; ++k) {
    const Output part{first.node, static_cast<uint32_t>(k)};
    call.set(2, k, call.node("Squeeze", {part, axis}, call.dtype(0)));
  }
  return {};
}

// A number in every element of the result.
Reason fill(Call& call, Output number, Output sizes, size_t out) {
  if (Reason reason = require_moved(call, {out}); !reason.empty()) return reason;
  call.set(out,
           call.node("Broadcast", {number, sizes}, call.dtype(out), "opset3", {{"mode", "numpy"}}));
  return {};
}
Reason zeros(Call& call) { return fill(call, call.scalar(0, call.dtype(1)), call.numbers(0), 1); }
Reason ones(Call& call) { return fill(call, call.scalar(1, call.dtype(1)), call.numbers(0), 1); }
Reason full(Call& call) {
  if (!call.is_known(1)) return "a run decides its number";
  return fill(call, call.scalar_of(1, call.dtype(2)), call.numbers(0), 2);
}
Reason full_like(Call& call) {
  return fill(call, call.scalar_of(1, call.dtype(3)), call.sizes(0), 3);
}
Reason scalar_tensor(Call& call) {
  return fill(call, call.scalar_of(0, call.dtype(1)), call.indices(call.shape(1)), 1);
}

Reason repeat(Call& call) {
  if (Reason reason = require_moved(call, {0, 2}); !reason.empty()) return reason;
  const Sizes& times = call.ints(1);
  if (times.size() < call.rank(0)) return "it has fewer numbers than dimensions";
  for (const int64_t n : times) {
    if (n < 1) return "it repeats less than once";
  }
  if (times.empty()) {
    call.set(2, call.tensor(0));
    return {};
  }
  call.set(2, call.node("Tile", {call.tensor(0), call.indices(times)}, call.dtype(2)));
  return {};
}

constexpr LoweringRow kRows[] = {
    {"aten::cat.out", cat, Shapes::Dynamic},
    {"aten::expand_copy.out", expand, Shapes::Any},
    {"aten::full.out", full, Shapes::Any},
    {"aten::full_like.out", full_like, Shapes::Dynamic},
    {"aten::ones.out", ones, Shapes::Any},
    {"aten::permute_copy.out", permute, Shapes::Dynamic},
    {"aten::repeat.out", repeat, Shapes::Dynamic},
    {"aten::scalar_tensor.out", scalar_tensor},
    {"aten::select_copy.int_out", select, Shapes::Dynamic},
    {"aten::slice_copy.Tensor_out", slice, Shapes::Any},
    {"aten::split_copy.Tensor_out", split, Shapes::Dynamic},
    {"aten::split_with_sizes_copy.out", split, Shapes::Dynamic},
    {"aten::squeeze_copy.dim_out", squeeze_dim, Shapes::Dynamic},
    {"aten::squeeze_copy.dims_out", squeeze_dims, Shapes::Dynamic},
    {"aten::stack.out", stack, Shapes::Dynamic},
    {"aten::t_copy.out", t, Shapes::Dynamic},
    {"aten::transpose_copy.int_out", transpose, Shapes::Dynamic},
    {"aten::unbind_copy.int_out", unbind, Shapes::Dynamic},
    {"aten::unsqueeze_copy.out", unsqueeze, Shapes::Dynamic},
    {"aten::view_copy.out", view, Shapes::Any},
    {"aten::zeros.out", zeros, Shapes::Any},
};

}  // namespace

std::span<const LoweringRow> shape_rows() { return kRows; }

}  // namespace pteron
