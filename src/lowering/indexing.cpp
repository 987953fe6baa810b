// Operators that pick or place elements by index tensors. OpenVINO answers 0 for an index that is
// out of range; so it is looked at before a run, and left to the kernel, whose error says so.
#include <algorithm>
#include <numeric>
#include <optional>

#include "lowering/call.h"
#include "lowering/rules.h"

namespace pteron {
namespace {

using ir::Output;
using Sizes = std::vector<int64_t>;

bool is_index(DType dtype) { return dtype == DType::Int64 || dtype == DType::Int32; }

// Indices of something of `size` elements, none of them negative.
Reason require_places(Call& call, size_t i, int64_t size) {
  if (!is_index(call.dtype(i))) return refuse_dtype(call, i);
  if (call.ranges.demand(call.tensor(i), {0, size - 1})) return {};
  return "argument " + std::to_string(i) + " may be out of range";
}

Output axis_of(Call& call, size_t dim) {
  const auto axis = static_cast<int64_t>(dim);
  return call.indices(std::span(&axis, 1), true);
}

Output gathered(Call& call, Output input, Output index, size_t dim) {
  return call.node("Gather", {input, index, axis_of(call, dim)}, call.graph.dtype(input), "opset8",
                   {{"batch_dims", "0"}});
}

// The first of each dimension, as many as `shape` has. As OpenVINO's newer Slice this would be
// taken for needless before a GatherElements.
Output cut(Call& call, Output input, const Sizes& from, const Sizes& shape) {
  if (from == shape) return input;
  const std::string none = ir::list_text(Sizes(shape.size(), 0));
  return call.node("StridedSlice",
                   {input, call.indices(Sizes(shape.size(), 0)), call.indices(shape),
                    call.indices(Sizes(shape.size(), 1))},
                   call.graph.dtype(input), "opset1",
                   {{"begin_mask", none},
                    {"end_mask", none},
                    {"new_axis_mask", none},
                    {"shrink_axis_mask", none},
                    {"ellipsis_mask", none}});
}

Output broadcast(Call& call, Output input, const Sizes& shape) {
  return call.node("Broadcast", {input, call.indices(shape)}, call.graph.dtype(input), "opset3",
                   {{"mode", "numpy"}});
}

// weight, index, ...
Reason embedding(Call& call) {
  if (Reason reason = require_moved(call, {0, 5}); !reason.empty()) return reason;
  if (call.rank(0) != 2 || !call.is_static(0)) return "its table is no matrix of a known size";
  if (Reason reason = require_places(call, 1, call.size_of(0, 0)); !reason.empty()) return reason;
  call.set(5, gathered(call, call.tensor(0), call.tensor(1), 0));
  return {};
}

// input, dim, index
Reason index_select(Call& call) {
  if (Reason reason = require_moved(call, {0, 3}); !reason.empty()) return reason;
  const size_t rank = call.rank(0);
  if (!is_dim(call.integer(1), rank)) return "its dimension is out of range";
  if (!call.is_static(0)) return "a run decides its shape";
  if (call.rank(2) > 1) return "its index is no vector";
  const size_t dim = wrapped(call.integer(1), rank);
  const int64_t size = rank > 0 ? call.size_of(0, dim) : 1;
  if (Reason reason = require_places(call, 2, size); !reason.empty()) return reason;
  if (rank == 0) {
    if (!call.is_static(2) || call.numel(2) != 1) return "its index is not one number";
    call.set(3, call.tensor(0));
    return {};
  }
  Output index = call.tensor(2);
  if (call.rank(2) == 0) index = call.reshaped(index, call.one(1));
  call.set(3, gathered(call, call.tensor(0), index, dim));
  return {};
}

// What gather and the scatters share: self, dim, index. A tensor without dimensions has one here.
struct Along {
  size_t dim = 0;
  Sizes self;
  Sizes index;
  Reason reason;
};
Along read_along(Call& call) {
  Along along;
  const auto refuse = [&](Reason reason) {
    along.reason = std::move(reason);
    return along;
  };
  if (!is_dim(call.integer(1), call.rank(0))) return refuse("its dimension is out of range");
  along.self = call.rank(0) > 0 ? call.shape(0) : Sizes{1};
  along.index = call.rank(2) > 0 ? call.shape(2) : Sizes{1};
  along.dim = wrapped(call.integer(1), along.self.size());
  if (along.self.size() != along.index.size()) return refuse("its index is of another rank");
  for (size_t d = 0; d < along.self.size(); ++d) {
    if (d != along.dim && along.index[d] > along.self[d])
      return refuse("its index is larger than its input");
  }
  return refuse(require_places(call, 2, along.self[along.dim]));
}

// input, dim, index, sparse
Reason gather(Call& call) {
  if (Reason reason = require_moved(call, {0, 4}); !reason.empty()) return reason;
  const Along along = read_along(call);
  if (!along.reason.empty()) return along.reason;
  Sizes read = along.index;
  read[along.dim] = along.self[along.dim];
  const Output input = cut(call, call.reshaped(call.tensor(0), along.self), along.self, read);
  const Output index = call.reshaped(call.tensor(2), along.index);
  const Output result = call.node("GatherElements", {input, index}, call.dtype(4), "opset6",
                                  {{"axis", std::to_string(along.dim)}});
  call.set(4, call.reshaped(result, call.shape(4)));
  return {};
}

Reason scatter(Call& call, const Along& along, Output updates, const char* reduction) {
  const Output self = call.reshaped(call.tensor(0), along.self);
  const Output index = call.reshaped(call.tensor(2), along.index);
  const Output result =
      call.node("ScatterElementsUpdate", {self, index, updates, axis_of(call, along.dim)},
                call.dtype(4), "opset12", {{"reduction", reduction}, {"use_init_val", "true"}});
  call.set(4, call.reshaped(result, call.shape(4)));
  return {};
}

// self, dim, index, source
Reason scatter_source(Call& call, const char* reduction) {
  const Along along = read_along(call);
  if (!along.reason.empty()) return along.reason;
  const Sizes source = call.rank(3) > 0 ? call.shape(3) : Sizes{1};
  if (source.size() != along.index.size()) return "its source is of another rank";
  for (size_t d = 0; d < source.size(); ++d) {
    if (along.index[d] > source[d]) return "its index is larger than its source";
  }
  const Output updates = cut(call, call.reshaped(call.tensor(3), source), source, along.index);
  return scatter(call, along, updates, reduction);
}
Reason scatter_replacing(Call& call) {
  if (Reason reason = require_moved(call, {0, 3, 4}); !reason.empty()) return reason;
  return scatter_source(call, "none");
}
Reason scatter_add(Call& call) {
  if (Reason reason = require_arithmetic(call, {0, 3, 4}); !reason.empty()) return reason;
  return scatter_source(call, "sum");
}

// self, dim, index, number
Reason scatter_number(Call& call) {
  if (Reason reason = require_moved(call, {0, 4}); !reason.empty()) return reason;
  if (!holds_number(call, 3, call.dtype(4))) return "its number does not fit its dtype";
  const Along along = read_along(call);
  if (!along.reason.empty()) return along.reason;
  return scatter(call, along, broadcast(call, call.scalar_of(3, call.dtype(4)), along.index),
                 "none");
}

// What index and index_put address: their index tensors, one of each of some dimensions.
struct Indices {
  Sizes dims;              // Which have one, ascending.
  std::vector<size_t> at;  // Where in the list it is.
  Sizes common;            // The shape that they broadcast to; of several only.
  size_t place = 0;        // Where in the result that is.
  Reason reason;
};

bool broadcast_into(Sizes& common, const Sizes& shape) {
  if (shape.size() > common.size()) common.insert(common.begin(), shape.size() - common.size(), 1);
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t& size = common[common.size() - shape.size() + d];
    if (size == 1)
      size = shape[d];
    else if (shape[d] != 1 && shape[d] != size)
      return false;
  }
  return true;
}

Indices read_indices(Call& call) {
  Indices indices;
  const auto refuse = [&](Reason reason) {
    indices.reason = std::move(reason);
    return indices;
  };
  const auto& list = call.list(1);
  if (!call.is_static(0)) return refuse("a run decides its shape");
  if (list.size() > call.rank(0)) return refuse("it has more indices than dimensions");
  for (size_t d = 0; d < list.size(); ++d) {
    const TensorDef* def = list[d].def;
    if (def == nullptr) continue;
    if (!is_index(def->dtype)) return refuse("it is indexed by a mask");
    const int64_t size = call.size_of(0, d);
    if (!call.ranges.demand(list[d].output, {-size, size - 1}))
      return refuse("an index of it may be out of range");
    indices.dims.push_back(static_cast<int64_t>(d));
    indices.at.push_back(d);
  }
  for (const size_t d : indices.at) {
    if (indices.at.size() > 1 && list[d].def->dynamism != Dynamism::Static)
      return refuse("a run decides its indices' shapes");
    if (!broadcast_into(indices.common, {list[d].def->sizes.begin(), list[d].def->sizes.end()}))
      return refuse("its indices do not broadcast");
  }
  const bool adjacent = indices.dims.empty() || indices.dims.back() - indices.dims.front() + 1 ==
                                                    static_cast<int64_t>(indices.dims.size());
  if (adjacent && !indices.dims.empty()) indices.place = static_cast<size_t>(indices.dims.front());
  return indices;
}

// [..., k]: each of the common shape's positions as a place in the indexed dimensions.
Output joined(Call& call, const Indices& indices) {
  std::vector<Output> parts;
  Sizes shape = indices.common;
  shape.push_back(1);
  for (const size_t d : indices.at) {
    const auto& index = call.list(1)[d];
    const Output whole =
        broadcast(call, call.converted(index.output, DType::Int64), indices.common);
    parts.push_back(call.reshaped(whole, shape));
  }
  if (parts.size() == 1) return parts[0];
  return call.node("Concat", parts, DType::Int64, "opset1", {{"axis", "-1"}});
}

// Of a tensor's dimensions the indexed ones, then the others; and where each of these went.
Sizes indexed_first(const Indices& indices, size_t rank) {
  Sizes order = indices.dims;
  for (size_t d = 0; d < rank; ++d) {
    if (std::count(indices.dims.begin(), indices.dims.end(), static_cast<int64_t>(d)) == 0)
      order.push_back(static_cast<int64_t>(d));
  }
  return order;
}
Sizes inverse(const Sizes& order) {
  Sizes back(order.size());
  for (size_t d = 0; d < order.size(); ++d)
    back[static_cast<size_t>(order[d])] = static_cast<int64_t>(d);
  return back;
}
// From the result's dimensions to [common..., others...].
Sizes common_first(const Indices& indices, size_t rank) {
  Sizes order;
  const size_t count = indices.common.size();
  for (size_t d = 0; d < count; ++d) order.push_back(static_cast<int64_t>(indices.place + d));
  for (size_t d = 0; d < rank; ++d) {
    if (d < indices.place || d >= indices.place + count) order.push_back(static_cast<int64_t>(d));
  }
  return order;
}

// input, indices
Reason index(Call& call) {
  if (Reason reason = require_moved(call, {0, 2}); !reason.empty()) return reason;
  const Indices indices = read_indices(call);
  if (!indices.reason.empty()) return indices.reason;
  if (indices.at.empty()) {
    call.set(2, call.tensor(0));
    return {};
  }
  if (indices.at.size() == 1) {
    const size_t d = indices.at[0];
    call.set(2, gathered(call, call.tensor(0), call.list(1)[d].output, d));
    return {};
  }
  const size_t rank = call.rank(0) - indices.at.size() + indices.common.size();
  const Output input = call.transposed(call.tensor(0), indexed_first(indices, call.rank(0)));
  const Output result = call.node("GatherND", {input, joined(call, indices)}, call.dtype(2),
                                  "opset8", {{"batch_dims", "0"}});
  call.set(2, call.transposed(result, inverse(common_first(indices, rank))));
  return {};
}

// x[mask] = number
Reason put_masked(Call& call, size_t out) {
  const auto& list = call.list(1);
  size_t at = 0;
  while (list[at].def == nullptr) ++at;
  const TensorDef& mask = *list[at].def;
  if (mask.dtype != DType::Bool) return "it is indexed by a mask of another dtype";
  if (call.boolean(3) || call.numel(2) != 1) return "it puts several numbers by a mask";
  if (at + mask.sizes.size() > call.rank(0)) return "its mask does not fit it";
  Sizes shape(call.rank(0), 1);
  for (size_t d = 0; d < mask.sizes.size(); ++d) {
    if (mask.sizes[d] != call.size_of(0, at + d)) return "its mask does not fit it";
    shape[at + d] = mask.sizes[d];
  }
  const Output value = call.reshaped(call.tensor(2), Sizes());
  call.set(out, call.node("Select", {call.reshaped(list[at].output, shape), value, call.tensor(0)},
                          call.dtype(0), "opset1", {{"auto_broadcast", "numpy"}}));
  return {};
}

// A source that replaces some places of one dimension.
Reason put_along(Call& call, Output places, size_t dim, Output source, size_t out) {
  call.set(out, call.node("ScatterUpdate", {call.tensor(0), places, source, axis_of(call, dim)},
                          call.dtype(out), "opset3"));
  return {};
}

// Indices that may count from the end, from the start.
Output counted_from_start(Call& call, Output index, int64_t size) {
  const DType dtype = call.graph.dtype(index);
  const Output is_negative = call.node("Less", {index, call.scalar(0, dtype)}, DType::Bool);
  const Output moved =
      call.node("Add", {index, call.scalar(static_cast<double>(size), dtype)}, dtype);
  return call.node("Select", {is_negative, moved, index}, dtype, "opset1",
                   {{"auto_broadcast", "numpy"}});
}

// A vector of indices whose length, like its values', a run decides: as a cache is written.
Reason put_of_any_length(Call& call, size_t out) {
  const auto& list = call.list(1);
  size_t at = 0;
  while (list[at].def == nullptr) ++at;
  if (call.boolean(3) || !call.is_static(0) || at >= call.rank(0) ||
      list[at].def->sizes.size() != 1 || !is_index(list[at].def->dtype) ||
      std::any_of(list.begin() + static_cast<std::ptrdiff_t>(at) + 1, list.end(),
                  [](const LoweredTensor& tensor) { return tensor.def != nullptr; }))
    return "a run decides its shapes";
  Sizes wanted = call.shape(0);
  wanted[at] = list[at].def->sizes[0];
  if (call.shape(2) != wanted) return "its values do not fit its indices";
  const int64_t size = call.size_of(0, at);
  if (!call.ranges.demand(list[at].output, {-size, size - 1}))
    return "an index of it may be out of range";
  return put_along(call, counted_from_start(call, list[at].output, size), at, call.tensor(2), out);
}

// self, indices, values, accumulate
template <size_t kOut>
Reason index_put(Call& call) {
  const bool accumulates = call.boolean(3);
  if (Reason reason =
          accumulates ? require_arithmetic(call, {0, 2, kOut}) : require_moved(call, {0, 2, kOut});
      !reason.empty())
    return reason;
  const auto& list = call.list(1);
  const auto given = [](const LoweredTensor& tensor) { return tensor.def != nullptr; };
  const auto only = std::find_if(list.begin(), list.end(), given);
  if (only == list.end()) return "it has no index";
  if (!call.has_known_shapes()) return put_of_any_length(call, kOut);
  if (!is_index(only->def->dtype) && std::count_if(list.begin(), list.end(), given) == 1)
    return put_masked(call, kOut);
  const Indices indices = read_indices(call);
  if (!indices.reason.empty()) return indices.reason;
  const Sizes order = indexed_first(indices, call.rank(0));
  // The addressed elements' shape.
  Sizes shape;
  for (size_t k = indices.at.size(); k < order.size(); ++k)
    shape.push_back(call.size_of(0, static_cast<size_t>(order[k])));
  if (indices.place > shape.size()) return "its indices do not fit it";
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(indices.place), indices.common.begin(),
               indices.common.end());
  Sizes whole = shape;
  if (call.rank(2) > shape.size() || !broadcast_into(whole, call.shape(2)) || whole != shape)
    return "its values do not fit its indices";
  if (!accumulates && indices.at.size() == 1 && indices.common.size() == 1) {
    // As a cache is written.
    const size_t d = indices.at[0];
    const Output places = counted_from_start(call, list[d].output, call.size_of(0, d));
    return put_along(call, places, d, broadcast(call, call.tensor(2), shape), kOut);
  }
  const Output self = call.transposed(call.tensor(0), order);
  const Output values =
      call.transposed(broadcast(call, call.tensor(2), shape), common_first(indices, shape.size()));
  const ir::Attributes attributes{{"reduction", accumulates ? "sum" : "none"}};
  const Output result =
      call.node("ScatterNDUpdate", {self, joined(call, indices), values}, call.dtype(kOut),
                accumulates ? "opset15" : "opset4", accumulates ? attributes : ir::Attributes());
  call.set(kOut, call.transposed(result, inverse(order)));
  return {};
}

// self, source, dim, index
Reason select_scatter(Call& call) {
  if (Reason reason = require_moved(call, {0, 1, 4}); !reason.empty()) return reason;
  const size_t rank = call.rank(0);
  if (rank == 0 || !is_dim(call.integer(2), rank)) return "its dimension is out of range";
  const size_t dim = wrapped(call.integer(2), rank);
  const int64_t size = call.size_of(0, dim);
  const int64_t at = call.integer(3);
  if (at < -size || at >= size) return "its index is out of range";
  Sizes shape = call.shape(0);
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(dim));
  if (call.shape(1) != shape) return "its source is of another shape";
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(dim), 1);
  return put_along(call, call.one(at < 0 ? at + size : at), dim,
                   call.reshaped(call.tensor(1), shape), 4);
}

// self, source, dim, start, end, step
Reason slice_scatter(Call& call) {
  if (Reason reason = require_moved(call, {0, 1, 6}); !reason.empty()) return reason;
  const size_t rank = call.rank(0);
  if (rank == 0 || !is_dim(call.integer(2), rank)) return "its dimension is out of range";
  const size_t dim = wrapped(call.integer(2), rank);
  const int64_t step = call.integer(5);
  if (step < 1) return "its step is not positive";
  const int64_t size = call.size_of(0, dim);
  const auto place = [&](size_t i, int64_t otherwise) {
    const int64_t at = call.has(i) ? call.integer(i) : otherwise;
    return std::clamp<int64_t>(at < 0 ? (at < -size ? 0 : at + size) : at, 0, size);
  };
  Sizes places;
  const int64_t end = place(4, size);
  for (int64_t at = place(3, 0); at < end; at += std::min(step, size)) places.push_back(at);
  Sizes shape = call.shape(0);
  shape[dim] = static_cast<int64_t>(places.size());
  if (call.shape(1) != shape) return "its source is of another shape";
  return put_along(call, call.indices(places), dim, call.tensor(1), 6);
}

constexpr LoweringRow kRows[] = {
    {"aten::embedding.out", embedding, Shapes::Dynamic},
    {"aten::gather.out", gather},
    {"aten::index.Tensor_out", index, Shapes::Dynamic},
    {"aten::index_put.out", index_put<4>, Shapes::Dynamic},
    {"aten::index_put_", index_put<0>, Shapes::Dynamic},
    {"aten::index_select.out", index_select, Shapes::Dynamic},
    {"aten::scatter.src_out", scatter_replacing},
    {"aten::scatter.value_out", scatter_number},
    {"aten::scatter_add.out", scatter_add},
    {"aten::select_scatter.out", select_scatter},
    {"aten::slice_scatter.out", slice_scatter},
};

}  // namespace

std::span<const LoweringRow> indexing_rows() { return kRows; }

}  // namespace pteron
