#include "kernels/element.h"

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/half.h"
#include "kernels/vector/functions.h"

namespace pteron {
namespace {

template <typename To, typename From>
To number_cast(From value) {
  if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    if (std::isnan(value)) return 0;
    // PyTorch's casts of out-of-range values are undefined; ours go by way of int64, which
    // saturates; uint64's upper half has what fits it.
    constexpr From kLimit = static_cast<From>(9223372036854775808.0);
    if constexpr (std::is_same_v<To, uint64_t>) {
      if (value >= kLimit)
        return value >= 2 * kLimit ? std::numeric_limits<uint64_t>::max()
                                   : static_cast<uint64_t>(value);
    }
    const int64_t wide = value >= kLimit   ? std::numeric_limits<int64_t>::max()
                         : value < -kLimit ? std::numeric_limits<int64_t>::min()
                                           : static_cast<int64_t>(value);
    return static_cast<To>(wide);
  } else {
    return static_cast<To>(value);
  }
}

// Calls use(T()) with the stored type; float16 and bfloat16 are the caller's.
template <typename Use>
void with_stored(DType dtype, Use&& use) {
  switch (dtype) {
    case DType::UInt8:
      return use(uint8_t());
    case DType::Int8:
      return use(int8_t());
    case DType::Int16:
      return use(int16_t());
    case DType::Int32:
      return use(int32_t());
    case DType::Int64:
      return use(int64_t());
    case DType::UInt16:
      return use(uint16_t());
    case DType::UInt32:
      return use(uint32_t());
    case DType::UInt64:
      return use(uint64_t());
    case DType::Float32:
      return use(float());
    case DType::Float64:
      return use(double());
    default:
      return;
  }
}

int integer_width(DType dtype) { return static_cast<int>(dtype_size(dtype)); }
bool is_unsigned(DType dtype) {
  return dtype == DType::UInt8 || dtype == DType::UInt16 || dtype == DType::UInt32 ||
         dtype == DType::UInt64;
}

// bool, integer, float: PyTorch's categories.
int category(DType dtype) { return dtype == DType::Bool ? 0 : is_float(dtype) ? 2 : 1; }

}  // namespace

bool is_float(DType dtype) {
  return dtype == DType::Float16 || dtype == DType::BFloat16 || dtype == DType::Float32 ||
         dtype == DType::Float64;
}
bool is_integral(DType dtype) { return is_number(dtype) && !is_float(dtype); }
bool is_number(DType dtype) {
  return static_cast<uint8_t>(dtype) <= 7 || dtype == DType::Bool || dtype == DType::BFloat16 ||
         dtype == DType::UInt16 || dtype == DType::UInt32 || dtype == DType::UInt64;
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (category(a) != category(b)) return category(a) > category(b) ? a : b;
  if (is_float(a)) {
    if (a == DType::Float64 || b == DType::Float64) return DType::Float64;
    return DType::Float32;  // Also float16 with bfloat16.
  }
  if (is_unsigned(a) == is_unsigned(b)) return integer_width(a) > integer_width(b) ? a : b;
  const DType u = is_unsigned(a) ? a : b;
  const DType s = is_unsigned(a) ? b : a;
  if (integer_width(s) > integer_width(u)) return s;
  switch (integer_width(u)) {
    case 1:
      return DType::Int16;
    case 2:
      return DType::Int32;
    default:
      return DType::Int64;
  }
}

DType result_type(const Tensor& a, const Tensor& b) {
  if ((a.rank() == 0) == (b.rank() == 0) || category(a.dtype()) != category(b.dtype())) {
    return promote(a.dtype(), b.dtype());
  }
  return a.rank() > 0 ? a.dtype() : b.dtype();
}

DType result_type(std::span<const Tensor* const> tensors) {
  // The greatest category wins; within it, what has dimensions.
  std::optional<DType> with_dimensions;
  std::optional<DType> without;
  for (const Tensor* tensor : tensors) {
    auto& group = tensor->rank() > 0 ? with_dimensions : without;
    group = group ? promote(*group, tensor->dtype()) : tensor->dtype();
  }
  if (!with_dimensions || !without) return with_dimensions ? *with_dimensions : *without;
  return category(*without) > category(*with_dimensions) ? *without : *with_dimensions;
}

DType result_type(const Tensor& a, const Scalar& b) {
  const int scalar = b.kind == ValueKind::Bool ? 0 : b.kind == ValueKind::Int ? 1 : 2;
  if (scalar <= category(a.dtype())) return a.dtype();
  return scalar == 1 ? DType::Int64 : DType::Float32;
}

template <typename C>
void load(DType dtype, const void* data, int64_t offset, int64_t stride, int64_t n, C* out) {
  if (dtype == DType::Bool) {
    const auto* in = static_cast<const uint8_t*>(data) + offset;
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<C>(in[i * stride] != 0);
  } else if (dtype == DType::Float16) {
    const auto* in = static_cast<const uint16_t*>(data) + offset;
    if (std::is_same_v<C, float> && stride == 1)
      return vector_functions().from_half(in, reinterpret_cast<float*>(out), n);
    for (int64_t i = 0; i < n; ++i) out[i] = number_cast<C>(half_to_float(in[i * stride]));
  } else if (dtype == DType::BFloat16) {
    const auto* in = static_cast<const uint16_t*>(data) + offset;
    for (int64_t i = 0; i < n; ++i) out[i] = number_cast<C>(bfloat_to_float(in[i * stride]));
  } else if (std::is_same_v<C, float> && stride == 1 && dtype == DType::Int8) {
    vector_functions().from_int8(static_cast<const int8_t*>(data) + offset,
                                 reinterpret_cast<float*>(out), n);
  } else if (std::is_same_v<C, float> && stride == 1 && dtype == DType::UInt8) {
    vector_functions().from_uint8(static_cast<const uint8_t*>(data) + offset,
                                  reinterpret_cast<float*>(out), n);
  } else {
    with_stored(dtype, [&](auto type) {
      using T = decltype(type);
      const auto* in = static_cast<const T*>(data) + offset;
      if (stride == 1) {
        for (int64_t i = 0; i < n; ++i) out[i] = number_cast<C>(in[i]);
      } else {
        for (int64_t i = 0; i < n; ++i) out[i] = number_cast<C>(in[i * stride]);
      }
    });
  }
}

template <typename C>
void store(DType dtype, void* data, int64_t offset, int64_t stride, int64_t n, const C* in) {
  if (dtype == DType::Bool) {
    auto* out = static_cast<uint8_t*>(data) + offset;
    for (int64_t i = 0; i < n; ++i) out[i * stride] = static_cast<uint8_t>(in[i] != C(0));
  } else if (dtype == DType::Float16) {
    auto* out = static_cast<uint16_t*>(data) + offset;
    if (std::is_same_v<C, float> && stride == 1)
      return vector_functions().to_half(reinterpret_cast<const float*>(in), out, n);
    for (int64_t i = 0; i < n; ++i) out[i * stride] = float_to_half(static_cast<float>(in[i]));
  } else if (dtype == DType::BFloat16) {
    auto* out = static_cast<uint16_t*>(data) + offset;
    for (int64_t i = 0; i < n; ++i) out[i * stride] = float_to_bfloat(static_cast<float>(in[i]));
  } else {
    with_stored(dtype, [&](auto type) {
      using T = decltype(type);
      auto* out = static_cast<T*>(data) + offset;
      if (stride == 1) {
        for (int64_t i = 0; i < n; ++i) out[i] = number_cast<T>(in[i]);
      } else {
        for (int64_t i = 0; i < n; ++i) out[i * stride] = number_cast<T>(in[i]);
      }
    });
  }
}

template void load<int64_t>(DType, const void*, int64_t, int64_t, int64_t, int64_t*);
template void load<float>(DType, const void*, int64_t, int64_t, int64_t, float*);
template void load<double>(DType, const void*, int64_t, int64_t, int64_t, double*);
template void store<int64_t>(DType, void*, int64_t, int64_t, int64_t, const int64_t*);
template void store<float>(DType, void*, int64_t, int64_t, int64_t, const float*);
template void store<double>(DType, void*, int64_t, int64_t, int64_t, const double*);

template <typename C>
void convert_operand(DType dtype, int64_t n, C* values) {
  if (is_float(dtype) ? dtype_size(dtype) >= sizeof(float) : dtype == DType::Int64) return;
  std::array<std::byte, 512 * sizeof(int64_t)> buffer;
  for (int64_t i = 0; i < n; i += 512) {
    const int64_t m = std::min<int64_t>(512, n - i);
    store(dtype, buffer.data(), 0, 1, m, values + i);
    load(dtype, buffer.data(), 0, 1, m, values + i);
  }
}

template <typename C>
C scalar_operand(const Scalar& scalar, DType dtype) {
  C value;
  if (dtype == DType::Bool)
    value = static_cast<C>(scalar.to<bool>());
  else if constexpr (std::is_same_v<C, int64_t>)
    value = scalar.integer;
  else
    value = static_cast<C>(scalar.real);
  convert_operand(dtype, 1, &value);
  return value;
}

template void convert_operand<int64_t>(DType, int64_t, int64_t*);
template void convert_operand<float>(DType, int64_t, float*);
template void convert_operand<double>(DType, int64_t, double*);
template int64_t scalar_operand<int64_t>(const Scalar&, DType);
template float scalar_operand<float>(const Scalar&, DType);
template double scalar_operand<double>(const Scalar&, DType);

bool Walk::add(std::span<const int64_t> sizes, std::span<const int64_t> strides) {
  if (sizes.size() > rank_ || operands_ == kMaxOperands) return false;
  auto& own = strides_[static_cast<size_t>(operands_)];
  own.fill(0);
  const size_t lead = rank_ - sizes.size();
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] != sizes_[lead + d] && sizes[d] != 1) return false;
    own[lead + d] = sizes[d] == 1 ? 0 : strides[d];
  }
  ++operands_;
  return true;
}

bool Walk::prepare() {
  for (size_t d = 0; d < rank_; ++d) {
    if (sizes_[d] == 0) return false;
  }
  join();
  rows_ = 1;
  for (size_t d = 0; d + 1 < rank_; ++d) rows_ *= sizes_[d];
  return true;
}

void Walk::join() {
  size_t kept = 0;
  for (size_t d = 0; d < rank_; ++d) {
    if (sizes_[d] == 1) continue;
    bool joins = kept > 0;
    for (int k = 0; joins && k < operands_; ++k) {
      const auto& own = strides_[static_cast<size_t>(k)];
      joins = own[kept - 1] == own[d] * sizes_[d];
    }
    if (joins) {
      sizes_[kept - 1] *= sizes_[d];
      for (int k = 0; k < operands_; ++k)
        strides_[static_cast<size_t>(k)][kept - 1] = strides_[static_cast<size_t>(k)][d];
      continue;
    }
    sizes_[kept] = sizes_[d];
    for (int k = 0; k < operands_; ++k)
      strides_[static_cast<size_t>(k)][kept] = strides_[static_cast<size_t>(k)][d];
    ++kept;
  }
  if (kept == 0) {
    sizes_[0] = 1;
    for (int k = 0; k < operands_; ++k) strides_[static_cast<size_t>(k)][0] = 0;
    kept = 1;
  }
  rank_ = kept;
}

Result<Shape> broadcast_shapes(std::span<const Tensor* const> tensors) {
  Shape shape;
  for (const Tensor* tensor : tensors)
    shape.rank = std::max(shape.rank, static_cast<size_t>(tensor->rank()));
  std::fill_n(shape.sizes.begin(), shape.rank, 1);
  for (const Tensor* tensor : tensors) {
    const size_t lead = shape.rank - static_cast<size_t>(tensor->rank());
    for (int d = 0; d < tensor->rank(); ++d) {
      int64_t& size = shape.sizes[lead + static_cast<size_t>(d)];
      if (size == 1)
        size = tensor->size(d);
      else if (tensor->size(d) != 1 && tensor->size(d) != size) {
        return kernel_error("shapes " + describe_shape(tensors.front()->sizes()) + " and " +
                            describe_shape(tensor->sizes()) + " do not broadcast");
      }
    }
  }
  return shape;
}

Result<int> wrap_dim(int64_t dim, int rank) {
  const int64_t dims = std::max(rank, 1);
  if (dim < -dims || dim >= dims) {
    return kernel_error("dimension " + std::to_string(dim) + " of a tensor of rank " +
                        std::to_string(rank));
  }
  return static_cast<int>(dim < 0 ? dim + dims : dim);
}

Result<int> read_dim(const Args& args, size_t i, int rank) {
  auto dim = wrap_dim(args.integer(i), rank);
  if (!dim.ok()) return kernel_error("argument " + std::to_string(i) + ", " + dim.error().message);
  return dim;
}

Result<void> require_numbers(const Args& args, std::initializer_list<size_t> tensors) {
  for (const size_t i : tensors) {
    if (!args.is_none(i) && !is_number(args.tensor(i).dtype()))
      return kernel_error(args.describe(i) + " has a dtype that is not one to compute with");
  }
  return {};
}

}  // namespace pteron
