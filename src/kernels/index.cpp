// Operators that pick or place elements by index tensors.
#include "kernels/index.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

#include "base/text.h"
#include "kernels/tables.h"
#include "kernels/view.h"

namespace pteron {

Places::Places(KernelContext& context, std::span<const int64_t> sizes,
               std::span<const int64_t> strides)
    : offsets_(scratch_vector<int64_t>(context)) {
  bool is_dense = true;
  const bool is_empty = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
  for (size_t d = sizes.size(); d-- > 0;) {
    is_dense = is_dense && (sizes[d] == 1 || strides[d] == size_);
    // A broadcast shape may have more elements than anything can.
    if (!is_empty && size_ > INT64_MAX / sizes[d]) throw std::bad_alloc();
    size_ = is_empty ? 0 : size_ * sizes[d];
  }
  if (is_dense || size_ == 0) return;
  offsets_.resize(static_cast<size_t>(size_));
  // Each dimension repeats what there is so far, moved by its stride.
  size_t filled = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    for (int64_t i = 1; i < sizes[d]; ++i) {
      int64_t* to = offsets_.data() + static_cast<size_t>(i) * filled;
      for (size_t k = 0; k < filled; ++k) to[k] = offsets_[k] + i * strides[d];
    }
    filled *= static_cast<size_t>(sizes[d]);
  }
}

Places broadcast_places(KernelContext& context, const Tensor& tensor,
                        std::span<const int64_t> sizes) {
  std::array<int64_t, kMaxRank> strides{};
  const size_t lead = sizes.size() - static_cast<size_t>(tensor.rank());
  for (int d = 0; d < tensor.rank(); ++d) {
    if (tensor.size(d) != 1)
      strides[lead + static_cast<size_t>(d)] = tensor.strides()[static_cast<size_t>(d)];
  }
  return {context, sizes, {strides.data(), sizes.size()}};
}

namespace {

using Context = KernelContext;

bool is_index(DType dtype) { return dtype == DType::Int64 || dtype == DType::Int32; }

Error out_of_range(size_t argument, int64_t index, int64_t size) {
  return kernel_error("index " + std::to_string(index) + " in argument " +
                      std::to_string(argument) + " is out of range for a dimension of size " +
                      std::to_string(size));
}

// What index and index_put address: indexed dimensions replaced by the broadcast index shape, in
// place of the first of them where they are adjacent, else in front.
struct Indexing {
  Shape shape;  // Of the addressed elements.
  // An element's offset is the sum of three.
  ScratchVector<int64_t> before, middle, after;
  int64_t row = 1;  // So many elements lie side by side from each.

  explicit Indexing(Context& context)
      : before(scratch_vector<int64_t>(context)), middle(before), after(before) {}

  int64_t rows() const {
    return static_cast<int64_t>(before.size() * middle.size() * after.size());
  }
  // Calls visit(position, offset) for rows [begin, end), in row-major order.
  template <typename Visit>
  void visit(int64_t begin, int64_t end, Visit&& visit_row) const {
    if (begin >= end) return;
    size_t c = static_cast<size_t>(begin) % after.size();
    const size_t rest = static_cast<size_t>(begin) / after.size();
    size_t b = rest % middle.size();
    size_t a = rest / middle.size();
    for (int64_t r = begin; r < end; ++r) {
      visit_row(r * row, before[a] + middle[b] + after[c]);
      if (++c < after.size()) continue;
      c = 0;
      if (++b < middle.size()) continue;
      b = 0;
      ++a;
    }
  }
};

Result<Indexing> resolve_indices(Context& context, const Tensor& self, const Args& args,
                                 size_t list) {
  struct IndexTensor {
    int dim;
    Shape shape;
    int64_t* values;
  };
  std::vector<IndexTensor> indices;
  int dim = 0;
  for (size_t i = 0; i < args.tensor_count(list); ++i) {
    const Tensor* tensor = args.list_tensor(list, i);
    if (!tensor) {
      ++dim;
      continue;
    }
    if (tensor->dtype() == DType::Bool || tensor->dtype() == DType::UInt8) {
      // A mask stands for one index tensor a dimension of its own.
      const int64_t* mask = load_all<int64_t>(context, *tensor);
      for (int d = 0; d < tensor->rank(); ++d) {
        if (dim + d >= self.rank() || tensor->size(d) != self.size(dim + d))
          return kernel_error("a mask of " + tensor->describe() + " in " + args.describe(list) +
                              " for " + self.describe());
      }
      const int64_t set =
          std::count_if(mask, mask + tensor->numel(), [](int64_t element) { return element != 0; });
      for (int d = 0; d < tensor->rank(); ++d) {
        // Positions along its dimension.
        IndexTensor index{dim + d, {}, context.scratch_array<int64_t>(static_cast<size_t>(set))};
        int64_t inner = 1;
        for (int q = d + 1; q < tensor->rank(); ++q) inner *= tensor->size(q);
        int64_t* next = index.values;
        for (int64_t p = 0; p < tensor->numel(); ++p) {
          if (mask[p]) *next++ = p / inner % tensor->size(d);
        }
        index.shape.rank = 1;
        index.shape.sizes[0] = set;
        indices.push_back(index);
      }
      dim += tensor->rank();
      continue;
    }
    if (!is_index(tensor->dtype()))
      return kernel_error("an index of " + tensor->describe() + " in " + args.describe(list));
    if (dim >= self.rank())
      return kernel_error(args.describe(list) + " has more indices than " + self.describe() +
                          " has dimensions");
    IndexTensor index{dim, {}, load_all<int64_t>(context, *tensor)};
    index.shape.rank = static_cast<size_t>(tensor->rank());
    std::copy(tensor->sizes().begin(), tensor->sizes().end(), index.shape.sizes.begin());
    indices.push_back(index);
    ++dim;
  }
  if (dim > self.rank())
    return kernel_error(args.describe(list) + " has more indices than " + self.describe() +
                        " has dimensions");
  // The indices' common shape.
  Shape common;
  for (const IndexTensor& index : indices) common.rank = std::max(common.rank, index.shape.rank);
  std::fill_n(common.sizes.begin(), common.rank, 1);
  for (const IndexTensor& index : indices) {
    for (size_t d = 0; d < index.shape.rank; ++d) {
      int64_t& size = common.sizes[common.rank - index.shape.rank + d];
      if (size == 1)
        size = index.shape.sizes[d];
      else if (index.shape.sizes[d] != 1 && index.shape.sizes[d] != size)
        return kernel_error("the indices in " + args.describe(list) + " do not broadcast");
    }
  }
  uint32_t indexed = 0;
  for (const IndexTensor& index : indices) indexed |= uint32_t{1} << index.dim;
  bool adjacent = true;
  for (size_t i = 1; i < indices.size(); ++i)
    adjacent = adjacent && indices[i].dim == indices[i - 1].dim + 1;
  const int place = !indices.empty() && adjacent ? indices.front().dim : 0;
  Indexing out(context);
  std::vector<int64_t> before_sizes, before_strides, after_sizes, after_strides;
  for (int d = 0; d < self.rank(); ++d) {
    if (indexed & (uint32_t{1} << d)) continue;
    const bool before = d < place;
    (before ? before_sizes : after_sizes).push_back(self.size(d));
    (before ? before_strides : after_strides).push_back(self.strides()[static_cast<size_t>(d)]);
  }
  const size_t rank = before_sizes.size() + after_sizes.size() + common.rank;
  if (rank > kMaxRank)
    return kernel_error("indexing by " + args.describe(list) + " gives a tensor of rank " +
                        std::to_string(rank));
  uint64_t total = 1;
  const auto append = [&](int64_t size) {
    out.shape.sizes[out.shape.rank++] = size;
    total = total > (uint64_t{1} << 40) ? total : total * static_cast<uint64_t>(size);
  };
  for (const int64_t size : before_sizes) append(size);
  for (size_t d = 0; d < common.rank; ++d) append(common.sizes[d]);
  for (const int64_t size : after_sizes) append(size);
  if (total > (uint64_t{1} << 34))
    return Error{Code::ResourceLimit,
                 "indexing by " + args.describe(list) + " gives too many elements"};
  if (total == 0) return out;
  // The offset that each position of the common shape adds.
  int64_t positions = 1;
  for (size_t d = 0; d < common.rank; ++d) positions *= common.sizes[d];
  ScratchVector<int64_t>& middle = out.middle;
  middle.resize(static_cast<size_t>(positions));
  for (const IndexTensor& index : indices) {
    std::array<int64_t, kMaxRank> strides{};
    int64_t stride = 1;
    for (size_t d = index.shape.rank; d-- > 0;) {
      strides[common.rank - index.shape.rank + d] = index.shape.sizes[d] == 1 ? 0 : stride;
      stride *= index.shape.sizes[d];
    }
    const Places at(context, common.span(), {strides.data(), common.rank});
    const int64_t size = self.size(index.dim);
    for (size_t i = 0; i < middle.size(); ++i) {
      int64_t value = index.values[at[static_cast<int64_t>(i)]];
      if (value < -size || value >= size) return out_of_range(list, value, size);
      if (value < 0) value += size;
      middle[i] += value * self.strides()[static_cast<size_t>(index.dim)];
    }
  }
  const Places before(context, before_sizes, before_strides);
  const Places after(context, after_sizes, after_strides);
  // What lies side by side after the indexed dimensions is one row.
  if (after.is_dense()) out.row = after.size();
  out.before.reserve(static_cast<size_t>(before.size()));
  for (int64_t a = 0; a < before.size(); ++a) out.before.push_back(before[a]);
  out.after.reserve(static_cast<size_t>(after.size() / out.row));
  for (int64_t c = 0; c < after.size(); c += out.row) out.after.push_back(after[c]);
  return out;
}

Result<void> index_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  Tensor& out = args.tensor(2);
  if (in.dtype() != out.dtype())
    return kernel_error("index of " + args.describe(0) + " into " + args.describe(2));
  PTERON_ASSIGN(const Indexing indexing, resolve_indices(context, in, args, 1));
  PTERON_TRY(out.resize(indexing.shape.span()));
  const Places to(context, out);
  const int64_t n = indexing.row;
  const auto grain = static_cast<size_t>(16384 / std::max<int64_t>(n, 1) + 1);
  with_element(dtype_size(in.dtype()), [&](auto type) {
    using T = decltype(type);
    const T* source = static_cast<const T*>(in.raw());
    T* target = static_cast<T*>(out.raw());
    context.parallel(static_cast<size_t>(indexing.rows()), grain, [&](size_t begin, size_t end) {
      indexing.visit(static_cast<int64_t>(begin), static_cast<int64_t>(end),
                     [&](int64_t i, int64_t place) {
                       if (to.is_dense() && n == 1)
                         target[i] = source[place];
                       else if (to.is_dense())
                         std::copy_n(source + place, n, target + i);
                       else
                         for (int64_t k = 0; k < n; ++k) target[to[i + k]] = source[place + k];
                     });
    });
  });
  return {};
}

Result<void> put(Context& context, Tensor& target, const Tensor& values, const Indexing& indexing,
                 bool accumulate) {
  if (values.dtype() != target.dtype() || !is_number(target.dtype()))
    return kernel_error("index_put of " + values.describe() + " into " + target.describe());
  std::array<int64_t, kMaxRank> strides{};
  const size_t lead =
      indexing.shape.rank - std::min(indexing.shape.rank, static_cast<size_t>(values.rank()));
  bool fits = static_cast<size_t>(values.rank()) <= indexing.shape.rank;
  for (int d = 0; fits && d < values.rank(); ++d) {
    const int64_t wanted = indexing.shape.sizes[lead + static_cast<size_t>(d)];
    fits = values.size(d) == wanted || values.size(d) == 1;
    strides[lead + static_cast<size_t>(d)] =
        values.size(d) == 1 ? 0 : values.strides()[static_cast<size_t>(d)];
  }
  if (!fits)
    return kernel_error("index_put of " + values.describe() + " to places of shape " +
                        describe_shape(indexing.shape.span()));
  const Places from(context, indexing.shape.span(), {strides.data(), indexing.shape.rank});
  // In order, and on one thread: the last one stays where places repeat.
  if (!accumulate) {
    with_element(dtype_size(target.dtype()), [&](auto type) {
      using T = decltype(type);
      const T* source = static_cast<const T*>(values.raw());
      T* to = static_cast<T*>(target.raw());
      indexing.visit(0, indexing.rows(), [&](int64_t i, int64_t place) {
        for (int64_t k = 0; k < indexing.row; ++k) to[place + k] = source[from[i + k]];
      });
    });
    return {};
  }
  return with_compute_type(target.dtype(), [&](auto type) -> Result<void> {
    using C = decltype(type);
    indexing.visit(0, indexing.rows(), [&](int64_t i, int64_t place) {
      for (int64_t k = 0; k < indexing.row; ++k) {
        C sum{};
        C value{};
        load(target.dtype(), target.raw(), place + k, 1, 1, &sum);
        load(values.dtype(), values.raw(), from[i + k], 1, 1, &value);
        if constexpr (std::is_same_v<C, int64_t>)
          sum = static_cast<int64_t>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(value));
        else
          sum += value;
        store(target.dtype(), target.raw(), place + k, 1, 1, &sum);
      }
    });
    return {};
  });
}

// `out` becomes a copy of `in`, with its own memory order.
Result<void> copy_whole(Context& context, const Tensor& in, Tensor& out) {
  if (in.dtype() != out.dtype() || !is_number(in.dtype()))
    return kernel_error("a copy of " + in.describe() + " to " + out.describe());
  return convert_copy(context, in, out);
}

Result<void> index_put_(Context& context, const Args& args, const Kernel&) {
  Tensor& out = args.tensor(4);
  PTERON_TRY(copy_whole(context, args.tensor(0), out));
  PTERON_ASSIGN(const Indexing indexing, resolve_indices(context, out, args, 1));
  return put(context, out, args.tensor(2), indexing, args.boolean(3));
}

Result<void> index_put_in_place(Context& context, const Args& args, const Kernel&) {
  Tensor& target = args.tensor(0);
  PTERON_ASSIGN(const Indexing indexing, resolve_indices(context, target, args, 1));
  return put(context, target, args.tensor(2), indexing, args.boolean(3));
}

Result<void> index_select_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const Tensor& index = args.tensor(2);
  Tensor& out = args.tensor(3);
  PTERON_ASSIGN(const int dim, read_dim(args, 1, in.rank()));
  if (index.rank() > 1 || !is_index(index.dtype()) || in.dtype() != out.dtype() ||
      (in.rank() == 0 && index.numel() != 1))
    return kernel_error("index_select of " + args.describe(0) + " by " + args.describe(2));
  const int64_t* values = load_all<int64_t>(context, index);
  Shape shape;
  shape.rank = static_cast<size_t>(in.rank());
  std::copy(in.sizes().begin(), in.sizes().end(), shape.sizes.begin());
  if (in.rank() > 0) shape.sizes[static_cast<size_t>(dim)] = index.numel();
  const int64_t size = in.rank() > 0 ? in.size(dim) : 1;
  for (int64_t i = 0; i < index.numel(); ++i) {
    if (values[i] < 0 || values[i] >= size) return out_of_range(2, values[i], size);
  }
  PTERON_TRY(out.resize(shape.span()));
  int64_t inner = 1;
  for (int d = dim + 1; d < in.rank(); ++d) inner *= in.size(d);
  const int64_t count = index.numel();
  const size_t element = dtype_size(in.dtype());
  with_element(element, [&](auto type) {
    using T = decltype(type);
    const T* from = static_cast<const T*>(in.raw());
    T* to = static_cast<T*>(out.raw());
    if (in.is_row_major() && out.is_row_major()) {
      const auto rows = static_cast<size_t>(inner > 0 ? out.numel() / inner : 0);
      const auto grain = static_cast<size_t>(16384 / std::max<int64_t>(inner, 1) + 1);
      context.parallel(rows, grain, [=](size_t begin, size_t end) {
        int64_t outer = static_cast<int64_t>(begin) / count;
        int64_t k = static_cast<int64_t>(begin) % count;
        for (auto r = static_cast<int64_t>(begin); r < static_cast<int64_t>(end); ++r) {
          const T* row = from + (outer * size + values[k]) * inner;
          if (inner == 1)
            to[r] = *row;
          else
            std::copy_n(row, inner, to + r * inner);
          if (++k == count) {
            k = 0;
            ++outer;
          }
        }
      });
      return;
    }
    std::array<int64_t, kMaxRank> strides{};
    std::copy(in.strides().begin(), in.strides().end(), strides.begin());
    strides[static_cast<size_t>(dim)] = 0;
    const Places places(context, out.sizes(), {strides.data(), shape.rank});
    const Places targets(context, out);
    const int64_t step = in.rank() > 0 ? in.strides()[static_cast<size_t>(dim)] : 0;
    for (int64_t i = 0; i < targets.size(); ++i)
      to[targets[i]] = from[places[i] + values[i / inner % count] * step];
  });
  return {};
}

Result<void> gather_(Context& context, const Args& args, const Kernel&) {
  const Tensor& in = args.tensor(0);
  const Tensor& index = args.tensor(2);
  Tensor& out = args.tensor(4);
  PTERON_ASSIGN(const int dim, read_dim(args, 1, in.rank()));
  bool fits = std::max(index.rank(), 1) == std::max(in.rank(), 1) && is_index(index.dtype()) &&
              in.dtype() == out.dtype();
  const int64_t size = in.rank() > 0 ? in.size(dim) : 1;
  for (int d = 0; fits && d < std::min(in.rank(), index.rank()); ++d)
    fits = d == dim || index.size(d) <= in.size(d);
  // What is empty may have any rank and dtype.
  if (index.numel() == 0 && in.dtype() == out.dtype()) return out.resize(index.sizes());
  if (!fits) return kernel_error("gather of " + args.describe(0) + " by " + args.describe(2));
  const int64_t* values = load_all<int64_t>(context, index);
  PTERON_TRY(out.resize(index.sizes()));
  std::array<int64_t, kMaxRank> strides{};
  std::copy(in.strides().begin(), in.strides().end(), strides.begin());
  strides[static_cast<size_t>(dim)] = 0;
  const Places from(context, index.sizes(), {strides.data(), static_cast<size_t>(index.rank())});
  const Places to(context, out);
  const int64_t step = in.rank() > 0 ? in.strides()[static_cast<size_t>(dim)] : 0;
  for (int64_t i = 0; i < index.numel(); ++i) {
    if (values[i] < 0 || values[i] >= size) return out_of_range(2, values[i], size);
  }
  with_element(dtype_size(in.dtype()), [&](auto type) {
    using T = decltype(type);
    const T* source = static_cast<const T*>(in.raw());
    T* target = static_cast<T*>(out.raw());
    context.parallel(static_cast<size_t>(to.size()), 8192, [&](size_t begin, size_t end) {
      for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i)
        target[to[i]] = source[from[i] + values[i] * step];
    });
  });
  return {};
}

// What scatter operators share: checks, the copy of self, and for each index its place in out and
// its position in row-major order of the index's shape.
template <typename Visit>
Result<void> for_each_scattered(Context& context, const Args& args, const Tensor* source,
                                Tensor& out, Visit&& visit) {
  const Tensor& self = args.tensor(0);
  const Tensor& index = args.tensor(2);
  PTERON_ASSIGN(const int dim, read_dim(args, 1, self.rank()));
  const int rank = std::max(self.rank(), 1);
  const auto size_of = [](const Tensor& t, int d) { return t.rank() > 0 ? t.size(d) : 1; };
  bool fits = (index.numel() == 0 || is_index(index.dtype())) &&
              (!source || source->dtype() == out.dtype()) && self.dtype() == out.dtype();
  fits = fits && (index.numel() == 0 || (std::max(index.rank(), 1) == rank &&
                                         (!source || std::max(source->rank(), 1) == rank)));
  for (int d = 0; fits && index.numel() > 0 && d < rank; ++d)
    fits = (!source || size_of(index, d) <= size_of(*source, d)) &&
           (d == dim || size_of(index, d) <= size_of(self, d));
  if (!fits)
    return kernel_error("scatter of " + args.describe(3) + " by " + args.describe(2) + " into " +
                        args.describe(0));
  PTERON_TRY(copy_whole(context, self, out));
  if (index.numel() == 0) return {};
  const int64_t* values = load_all<int64_t>(context, index);
  const int64_t dim_size = size_of(self, dim);
  for (int64_t i = 0; i < index.numel(); ++i) {
    if (values[i] < 0 || values[i] >= dim_size) return out_of_range(2, values[i], dim_size);
  }
  std::array<int64_t, kMaxRank> strides{};
  std::copy(out.strides().begin(), out.strides().end(), strides.begin());
  const int64_t step = out.rank() > 0 ? strides[static_cast<size_t>(dim)] : 0;
  strides[static_cast<size_t>(dim)] = 0;
  const Places to(context, index.sizes(), {strides.data(), static_cast<size_t>(index.rank())});
  std::array<int64_t, kMaxRank> source_strides{};
  if (source) std::copy(source->strides().begin(), source->strides().end(), source_strides.begin());
  const Places from(context, index.sizes(),
                    {source_strides.data(), static_cast<size_t>(index.rank())});
  for (int64_t i = 0; i < to.size(); ++i) visit(to[i] + values[i] * step, from[i]);
  return {};
}

Result<void> scatter_source(Context& context, const Args& args, const Kernel&) {
  const Tensor& source = args.tensor(3);
  Tensor& out = args.tensor(4);
  return with_element(dtype_size(out.dtype()), [&](auto type) {
    using T = decltype(type);
    return for_each_scattered(context, args, &source, out, [&](int64_t to, int64_t from) {
      static_cast<T*>(out.raw())[to] = static_cast<const T*>(source.raw())[from];
    });
  });
}

Result<void> scatter_value(Context& context, const Args& args, const Kernel&) {
  Tensor& out = args.tensor(4);
  return with_compute_type(out.dtype(), [&](auto type) {
    using C = decltype(type);
    const C number = scalar_operand<C>(args.scalar(3), out.dtype());
    return with_element(dtype_size(out.dtype()), [&](auto stored) {
      using T = decltype(stored);
      T value{};
      store(out.dtype(), &value, 0, 1, 1, &number);
      return for_each_scattered(context, args, nullptr, out, [&](int64_t to, int64_t) {
        static_cast<T*>(out.raw())[to] = value;
      });
    });
  });
}

Result<void> scatter_add(Context& context, const Args& args, const Kernel&) {
  const Tensor& source = args.tensor(3);
  Tensor& out = args.tensor(4);
  return with_compute_type(out.dtype(), [&](auto type) -> Result<void> {
    using C = decltype(type);
    // Sums as they lie in the output's memory, rounded once at the end.
    const bool own = is_stored_as<C>(out.dtype());
    C* sums = nullptr;
    PTERON_TRY(for_each_scattered(context, args, &source, out, [&](int64_t to, int64_t from) {
      if (!sums) {
        sums = own ? static_cast<C*>(out.raw())
                   : context.scratch_array<C>(static_cast<size_t>(out.numel()));
        if (!own) load(out.dtype(), out.raw(), 0, 1, out.numel(), sums);
      }
      C value{};
      if (own)
        value = static_cast<const C*>(source.raw())[from];
      else
        load(source.dtype(), source.raw(), from, 1, 1, &value);
      if constexpr (std::is_same_v<C, int64_t>)
        sums[to] =
            static_cast<int64_t>(static_cast<uint64_t>(sums[to]) + static_cast<uint64_t>(value));
      else
        sums[to] += value;
    }));
    if (sums && !own) store(out.dtype(), out.raw(), 0, 1, out.numel(), sums);
    return Result<void>();
  });
}

// Each index as often as its number says.
Result<void> repeat_interleave(Context& context, const Args& args, const Kernel&) {
  const Tensor& repeats = args.tensor(0);
  const auto stated = args.optional_integer(1);
  Tensor& out = args.tensor(2);
  if (repeats.rank() != 1 || !is_index(repeats.dtype()) || !is_index(out.dtype()))
    return kernel_error("repeat_interleave of " + args.describe(0) + " into " + args.describe(2));
  const int64_t* counts = load_all<int64_t>(context, repeats);
  constexpr int64_t kMost = int64_t{1} << 40;
  int64_t total = 0;
  for (int64_t i = 0; i < repeats.numel(); ++i) {
    if (counts[i] < 0 || counts[i] > kMost - total)
      return kernel_error("repeat_interleave by " + std::to_string(counts[i]) + " in " +
                          args.describe(0));
    total += counts[i];
  }
  if (stated && *stated != total)
    return kernel_error("repeat_interleave gives " + counted(total, "index", "indices") +
                        ", but the program says " + args.describe(1));
  const int64_t shape[] = {total};
  PTERON_TRY(out.resize(shape));
  int64_t at = 0;
  for (int64_t i = 0; i < repeats.numel(); ++i) {
    for (int64_t k = 0; k < counts[i]; ++k) store(out.dtype(), out.raw(), at++, 1, 1, &i);
  }
  return {};
}

Result<void> embedding_(Context& context, const Args& args, const Kernel&) {
  const Tensor& weight = args.tensor(0);
  const Tensor& index = args.tensor(1);
  Tensor& out = args.tensor(5);
  if (weight.rank() != 2 || !is_index(index.dtype()) || index.rank() == kMaxRank ||
      weight.dtype() != out.dtype()) {
    return kernel_error("embedding of " + args.describe(1) + " in " + args.describe(0));
  }
  const int64_t* values = load_all<int64_t>(context, index);
  Shape shape;
  shape.rank = static_cast<size_t>(index.rank()) + 1;
  std::copy(index.sizes().begin(), index.sizes().end(), shape.sizes.begin());
  const int64_t width = weight.size(1);
  shape.sizes[shape.rank - 1] = width;
  PTERON_TRY(out.resize(shape.span()));
  for (int64_t i = 0; i < index.numel(); ++i) {
    if (values[i] < 0 || values[i] >= weight.size(0))
      return out_of_range(1, values[i], weight.size(0));
  }
  if (weight.is_row_major() && out.is_row_major()) {
    const size_t row = static_cast<size_t>(width) * dtype_size(weight.dtype());
    for (int64_t i = 0; i < index.numel() && row > 0; ++i)
      std::memcpy(out.data<std::byte>() + static_cast<size_t>(i) * row,
                  weight.data<std::byte>() + static_cast<size_t>(values[i]) * row, row);
    return {};
  }
  const Places to(context, out);
  with_element(dtype_size(weight.dtype()), [&](auto type) {
    using T = decltype(type);
    const T* from = static_cast<const T*>(weight.raw());
    for (int64_t i = 0; i < to.size(); ++i) {
      static_cast<T*>(out.raw())[to[i]] =
          from[values[i / width] * weight.strides()[0] + i % width * weight.strides()[1]];
    }
  });
  return {};
}

// Sums, means or maxima of bags of rows. What PyTorch keeps beside them for training (out1 to out3:
// each index's bag, the bags' sizes, the rows of the maxima) is filled where the program's tensors
// have room for it.
Result<void> embedding_bag(Context& context, const Args& args, const Kernel&) {
  const Tensor& weight = args.tensor(0);
  const Tensor& index = args.tensor(1);
  const Tensor& offsets = args.tensor(2);
  const int64_t mode = args.integer(4);
  const Tensor* factors = args.optional_tensor(6);
  const bool has_last = args.boolean(7);
  const int64_t padding = args.integer(8);
  Tensor& out = args.tensor(9);
  if (weight.rank() != 2 || !is_float(weight.dtype()) || out.dtype() != weight.dtype())
    return kernel_error("embedding bags of " + args.describe(0) + ", into " + args.describe(9));
  if (index.rank() != 1 || !is_index(index.dtype()) || offsets.rank() != 1 ||
      !is_index(offsets.dtype()) || (has_last && offsets.numel() == 0))
    return kernel_error("embedding bags by " + args.describe(1) + " and offsets of " +
                        args.describe(2));
  if (mode < 0 || mode > 2)
    return kernel_error("embedding bag mode " + args.describe(4) + "; 0, 1 or 2 is wanted");
  if (factors && (mode != 0 || factors->numel() != index.numel() || !is_float(factors->dtype())))
    return kernel_error("embedding bag weights of " + args.describe(6) + " for " +
                        args.describe(1));
  const int64_t bags = offsets.numel() - (has_last ? 1 : 0);
  const int64_t width = weight.size(1);
  const int64_t* rows = load_all<int64_t>(context, index);
  const int64_t* starts = load_all<int64_t>(context, offsets);
  for (int64_t b = 0; b < offsets.numel(); ++b) {
    const int64_t least = b == 0 ? 0 : starts[b - 1];
    if (starts[b] < least || starts[b] > index.numel() || (b == 0 && starts[b] != 0))
      return kernel_error("offset " + std::to_string(starts[b]) + " in argument 2 of bag " +
                          std::to_string(b) + " of " + counted(index.numel(), "index", "indices"));
  }
  for (int64_t i = 0; i < index.numel(); ++i) {
    if (rows[i] < 0 || rows[i] >= weight.size(0)) return out_of_range(1, rows[i], weight.size(0));
  }
  const int64_t shape[] = {bags, width};
  PTERON_TRY(out.resize(shape));
  const auto count = [](int64_t n) { return static_cast<size_t>(n); };
  int64_t* bag_of = context.scratch_array<int64_t>(count(index.numel()));
  int64_t* sizes = context.scratch_array<int64_t>(count(bags));
  int64_t* greatest = context.scratch_array<int64_t>(count(out.numel()));
  std::fill_n(bag_of, index.numel(), 0);
  std::fill_n(greatest, out.numel(), 0);
  PTERON_TRY(with_compute_type(weight.dtype(), [&](auto type) -> Result<void> {
    using C = decltype(type);
    const C* w = load_all<C>(context, weight);
    const C* f = factors ? load_all<C>(context, *factors) : nullptr;
    C* y = context.scratch_array<C>(count(out.numel()));
    std::fill_n(y, out.numel(), C(0));
    for (int64_t b = 0; b < bags; ++b) {
      // Where the last offset is short of the end, PyTorch still counts what follows to the last
      // bag; only its fast path leaves it out of the sum.
      const int64_t end = b + 1 < bags ? starts[b + 1] : index.numel();
      const bool is_short =
          has_last && b + 1 == bags && mode != 2 && padding < 0 && weight.dtype() != DType::Float64;
      C* to = y + b * width;
      sizes[b] = 0;
      for (int64_t i = starts[b]; i < end; ++i) {
        bag_of[i] = b;
        if (rows[i] == padding) continue;
        if (is_short && i >= starts[b + 1]) {
          ++sizes[b];
          continue;
        }
        const C* row = w + rows[i] * width;
        for (int64_t k = 0; k < width; ++k) {
          if (mode != 2) {
            to[k] += f ? row[k] * f[i] : row[k];
          } else if (sizes[b] == 0 || row[k] > to[k]) {
            to[k] = row[k];
            greatest[b * width + k] = rows[i];
          }
        }
        ++sizes[b];
      }
      if (mode == 1 && sizes[b] > 0) {
        for (int64_t k = 0; k < width; ++k) to[k] /= static_cast<C>(sizes[b]);
      }
    }
    store_all(y, out);
    return {};
  }));
  const std::pair<const int64_t*, int64_t> kept[] = {
      {bag_of, index.numel()}, {sizes, bags}, {greatest, out.numel()}};
  for (size_t i = 0; i < 3; ++i) {
    Tensor& beside = args.tensor(10 + i);
    if (beside.dtype() != DType::Int64 && beside.dtype() != DType::Int32)
      return kernel_error(args.describe(10 + i) + " has no dtype for indices");
    for (int64_t k = 0; k < beside.numel(); ++k) {
      const int64_t value = beside.numel() == kept[i].second ? kept[i].first[k] : 0;
      store(beside.dtype(), beside.raw(), k, 1, 1, &value);
    }
  }
  return {};
}

constexpr Kernel kTable[] = {
    {"aten::_embedding_bag.out", "TTTBIBtBI>TTTT", embedding_bag},
    {"aten::embedding.out", "TTIBB>T", embedding_},
    {"aten::gather.out", "TITB>T", gather_},
    {"aten::index.Tensor_out", "Tv>T", index_},
    {"aten::index_put.out", "TvTB>T", index_put_},
    {"aten::index_put_", "MvTB", index_put_in_place},
    {"aten::index_select.out", "TIT>T", index_select_},
    {"aten::repeat_interleave.Tensor_out", "Ti>T", repeat_interleave},
    {"aten::scatter.src_out", "TITT>T", scatter_source},
    {"aten::scatter.value_out", "TITS>T", scatter_value},
    {"aten::scatter_add.out", "TITT>T", scatter_add},
};

}  // namespace

std::span<const Kernel> index_kernels() { return kTable; }

}  // namespace pteron
