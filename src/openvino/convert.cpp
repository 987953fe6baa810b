#include "openvino/convert.h"

#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "base/half.h"
#include "runtime/strided_copy.h"

namespace pteron {
namespace {

using Type = ov::ov_element_type_e;

enum class Family { Integer, Float, Other };

Family family(DType dtype) {
  switch (dtype) {
    case DType::Bool:
    case DType::UInt8:
    case DType::Int8:
    case DType::Int16:
    case DType::UInt16:
    case DType::Int32:
    case DType::UInt32:
    case DType::Int64:
    case DType::UInt64:
      return Family::Integer;
    case DType::Float16:
    case DType::BFloat16:
    case DType::Float32:
    case DType::Float64:
      return Family::Float;
    default:
      return Family::Other;
  }
}

struct Bool {};
struct Half {};
struct BFloat {};

template <typename T>
struct Element {
  using Stored = T;
  static T load(T stored) { return stored; }
};
template <>
struct Element<Bool> {
  using Stored = uint8_t;
  static uint8_t load(uint8_t stored) { return stored != 0; }
};
template <>
struct Element<Half> {
  using Stored = uint16_t;
  static float load(uint16_t stored) { return half_to_float(stored); }
};
template <>
struct Element<BFloat> {
  using Stored = uint16_t;
  static float load(uint16_t stored) { return bfloat_to_float(stored); }
};

template <typename To, typename Value>
bool keeps(Value value) {
  if constexpr (std::is_same_v<To, Bool>) {
    return value == 0 || value == 1;
  } else if constexpr (std::is_integral_v<To>) {
    return std::in_range<To>(value);
  } else {
    return true;  // A wider float holds every value.
  }
}

template <typename From, typename To>
Result<void> convert_run(const void* from, void* to, DType to_dtype, size_t count) {
  using Stored = typename Element<From>::Stored;
  using Target = typename Element<To>::Stored;
  const auto* in = static_cast<const Stored*>(from);
  auto* out = static_cast<Target*>(to);
  for (size_t i = 0; i < count; ++i) {
    const auto value = Element<From>::load(in[i]);
    if (!keeps<To>(value)) {
      return Error{Code::InvalidArgument, "element " + std::to_string(i) + " is " +
                                              std::to_string(value) + ", which does not fit " +
                                              std::string(dtype_name(to_dtype))};
    }
    out[i] = static_cast<Target>(value);
  }
  return {};
}

// Calls use(tag) with the integer type of `dtype`.
template <typename Use>
Result<void> with_integer(DType dtype, Use&& use) {
  switch (dtype) {
    case DType::Bool:
      return use(Bool());
    case DType::UInt8:
      return use(uint8_t());
    case DType::Int8:
      return use(int8_t());
    case DType::Int16:
      return use(int16_t());
    case DType::UInt16:
      return use(uint16_t());
    case DType::Int32:
      return use(int32_t());
    case DType::UInt32:
      return use(uint32_t());
    case DType::Int64:
      return use(int64_t());
    default:
      return use(uint64_t());
  }
}

Result<void> convert(const void* from, DType from_dtype, void* to, DType to_dtype, size_t count) {
  if (family(from_dtype) == Family::Integer) {
    return with_integer(from_dtype, [&](auto in) {
      return with_integer(to_dtype, [&](auto out) {
        // unsigned char arithmetic types only: plain bool is the tag Bool.
        return convert_run<decltype(in), decltype(out)>(from, to, to_dtype, count);
      });
    });
  }
  if (to_dtype == DType::Float64) {
    if (from_dtype == DType::Float32) return convert_run<float, double>(from, to, to_dtype, count);
    if (from_dtype == DType::Float16) return convert_run<Half, double>(from, to, to_dtype, count);
    return convert_run<BFloat, double>(from, to, to_dtype, count);
  }
  if (from_dtype == DType::Float16) return convert_run<Half, float>(from, to, to_dtype, count);
  return convert_run<BFloat, float>(from, to, to_dtype, count);
}

struct Strides {
  std::array<int64_t, kMaxRank> values;
  size_t rank;
  std::span<const int64_t> span() const { return {values.data(), rank}; }
};

Strides tensor_strides(const Tensor& tensor) {
  Strides strides{{}, static_cast<size_t>(tensor.rank())};
  for (size_t i = 0; i < strides.rank; ++i) {
    strides.values[i] = tensor.strides()[i] * static_cast<int64_t>(dtype_size(tensor.dtype()));
  }
  return strides;
}

Strides row_major_strides(const Tensor& tensor) {
  Strides strides{{}, static_cast<size_t>(tensor.rank())};
  auto stride = static_cast<int64_t>(dtype_size(tensor.dtype()));
  for (size_t i = strides.rank; i-- > 0;) {
    strides.values[i] = stride;
    stride *= tensor.sizes()[i];
  }
  return strides;
}

}  // namespace

std::optional<DType> dtype_of(Type type) {
  switch (type) {
    case Type::Boolean:
      return DType::Bool;
    case Type::BF16:
      return DType::BFloat16;
    case Type::F16:
      return DType::Float16;
    case Type::F32:
      return DType::Float32;
    case Type::F64:
      return DType::Float64;
    case Type::I8:
      return DType::Int8;
    case Type::I16:
      return DType::Int16;
    case Type::I32:
      return DType::Int32;
    case Type::I64:
      return DType::Int64;
    case Type::U8:
      return DType::UInt8;
    case Type::U16:
      return DType::UInt16;
    case Type::U32:
      return DType::UInt32;
    case Type::U64:
      return DType::UInt64;
    default:
      return std::nullopt;
  }
}

const char* element_type_name(Type type) {
  const auto dtype = dtype_of(type);
  return dtype ? dtype_name(*dtype).data() : "an element type that programs do not have";
}

bool is_convertible(DType from, DType to) {
  if (from == to) return true;
  if (family(from) == Family::Integer) return family(to) == Family::Integer;
  if (family(from) != Family::Float) return false;
  return to == DType::Float64 || (to == DType::Float32 && from != DType::Float64);
}

Result<void> copy_to_tensor(const void* from, DType dtype, Tensor& tensor) {
  const auto count = static_cast<size_t>(tensor.numel());
  if (count == 0) return {};
  if (tensor.is_row_major()) {
    if (dtype != tensor.dtype()) return convert(from, dtype, tensor.raw(), tensor.dtype(), count);
    std::memcpy(tensor.raw(), from, tensor.nbytes());
    return {};
  }
  std::vector<std::byte> converted;
  if (dtype != tensor.dtype()) {
    converted.resize(tensor.nbytes());
    PTERON_TRY(convert(from, dtype, converted.data(), tensor.dtype(), count));
    from = converted.data();
  }
  strided_copy(tensor.raw(), tensor_strides(tensor).span(), from, row_major_strides(tensor).span(),
               tensor.sizes(), dtype_size(tensor.dtype()));
  return {};
}

Result<void> copy_from_tensor(const Tensor& tensor, void* to, DType dtype) {
  const auto count = static_cast<size_t>(tensor.numel());
  if (count == 0) return {};
  const void* from = tensor.raw();
  std::vector<std::byte> ordered;
  if (!tensor.is_row_major()) {
    void* target = to;
    if (dtype != tensor.dtype()) {
      ordered.resize(tensor.nbytes());
      target = ordered.data();
    }
    strided_copy(target, row_major_strides(tensor).span(), from, tensor_strides(tensor).span(),
                 tensor.sizes(), dtype_size(tensor.dtype()));
    if (dtype == tensor.dtype()) return {};
    from = ordered.data();
  }
  if (dtype != tensor.dtype()) return convert(from, tensor.dtype(), to, dtype, count);
  std::memcpy(to, from, tensor.nbytes());
  return {};
}

bool takes_scalar(DType dtype, ValueKind kind) {
  if (kind == ValueKind::Double) return family(dtype) == Family::Float;
  return (kind == ValueKind::Int || kind == ValueKind::Bool) && family(dtype) != Family::Other;
}

Result<void> store_scalar(const Value& value, void* to, DType dtype) {
  const int64_t integer = value.kind == ValueKind::Bool ? value.boolean : value.integer;
  if (family(dtype) == Family::Integer) {
    const int64_t from = integer;
    auto stored = convert(&from, DType::Int64, to, dtype, 1);
    if (stored.ok()) return {};
    return Error{Code::InvalidArgument, "the number " + std::to_string(integer) + " does not fit " +
                                            std::string(dtype_name(dtype))};
  }
  const double real = value.kind == ValueKind::Double ? value.real : static_cast<double>(integer);
  const auto narrow = static_cast<float>(real);
  switch (dtype) {
    case DType::Float64:
      std::memcpy(to, &real, sizeof(real));
      break;
    case DType::Float32:
      std::memcpy(to, &narrow, sizeof(narrow));
      break;
    default: {
      const uint16_t bits =
          dtype == DType::Float16 ? float_to_half(narrow) : float_to_bfloat(narrow);
      std::memcpy(to, &bits, sizeof(bits));
    }
  }
  return {};
}

}  // namespace pteron
