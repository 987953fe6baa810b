#include "api/values.h"

#include <algorithm>
#include <cstdint>

#include "base/checked.h"

namespace pteron {
namespace {

// Whether every byte of the elements lies less than half of what 63 bits count from the first one:
// then no sum of strides overflows. Negative sizes are for others to refuse.
bool extent_fits(const pteron_tensor& tensor, size_t element) {
  const auto* end = tensor.shape + tensor.rank;
  if (std::any_of(tensor.shape, end, [](int64_t size) { return size <= 0; })) return true;
  uint64_t reach = element;
  for (int32_t i = 0; i < tensor.rank; ++i) {
    const int64_t stride = tensor.strides[i];
    const uint64_t step =
        stride < 0 ? 0 - static_cast<uint64_t>(stride) : static_cast<uint64_t>(stride);
    uint64_t along = 0;
    if (!checked_mul(static_cast<uint64_t>(tensor.shape[i]) - 1, step, along)) return false;
    if (!checked_add(reach, along, reach)) return false;
  }
  return reach <= static_cast<uint64_t>(INT64_MAX) / 2;
}

}  // namespace

Result<HostValue> read_value(const pteron_value* value) {
  if (value == nullptr) return HostValue(std::monostate());
  switch (value->kind) {
    case PTERON_KIND_NONE:
      return HostValue(std::monostate());
    case PTERON_KIND_INT:
      return HostValue(value->as.integer);
    case PTERON_KIND_DOUBLE:
      return HostValue(value->as.real);
    case PTERON_KIND_BOOL:
      return HostValue(value->as.boolean != 0);
    case PTERON_KIND_STRING:
      if (value->as.string == nullptr)
        return Error{Code::InvalidArgument, "a string value is null"};
      return HostValue(std::string_view(value->as.string));
    case PTERON_KIND_TENSOR: {
      const pteron_tensor& tensor = value->as.tensor;
      const auto dtype = dtype_from_number(tensor.dtype);
      if (!dtype) {
        return Error{Code::InvalidArgument, "a tensor has the dtype number " +
                                                std::to_string(tensor.dtype) +
                                                ", which is none of pteron_dtype"};
      }
      if (tensor.rank < 0 || tensor.rank > PTERON_MAX_RANK) {
        return Error{Code::InvalidArgument, "a tensor has rank " + std::to_string(tensor.rank) +
                                                "; 0 to " + std::to_string(PTERON_MAX_RANK) +
                                                " are possible"};
      }
      if (tensor.rank > 0 && tensor.shape == nullptr) {
        return Error{Code::InvalidArgument,
                     "a tensor of rank " + std::to_string(tensor.rank) + " has no shape"};
      }
      if (tensor.strides != nullptr && !extent_fits(tensor, dtype_size(*dtype))) {
        return Error{Code::InvalidArgument,
                     "the strides of a tensor lead further than memory can be; they count bytes"};
      }
      return HostValue(ArrayView{tensor.data,
                                 *dtype,
                                 {tensor.shape, static_cast<size_t>(tensor.rank)},
                                 tensor.rank > 0 ? tensor.strides : nullptr});
    }
    default:
      return Error{Code::InvalidArgument, "a value has the kind " + std::to_string(value->kind) +
                                              ", which cannot be given here"};
  }
}

pteron_value write_value(const HostValue& value) {
  pteron_value out{};
  struct Visitor {
    pteron_value& out;
    void operator()(std::monostate) { out.kind = PTERON_KIND_NONE; }
    void operator()(int64_t v) {
      out.kind = PTERON_KIND_INT;
      out.as.integer = v;
    }
    void operator()(double v) {
      out.kind = PTERON_KIND_DOUBLE;
      out.as.real = v;
    }
    void operator()(bool v) {
      out.kind = PTERON_KIND_BOOL;
      out.as.boolean = v;
    }
    void operator()(std::string_view v) {
      out.kind = PTERON_KIND_STRING;
      out.as.string = v.data();  // The program's strings end with NUL.
    }
    void operator()(const ArrayView& v) {
      out = pteron_tensor_value(v.data, static_cast<pteron_dtype>(v.dtype),
                                static_cast<int32_t>(v.shape.size()), v.shape.data());
      out.as.tensor.strides = v.strides;
    }
  };
  std::visit(Visitor{out}, value);
  return out;
}

}  // namespace pteron
