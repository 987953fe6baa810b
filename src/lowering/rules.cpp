#include "lowering/rules.h"

namespace pteron {
namespace {

bool is_float(DType dtype) {
  return dtype == DType::Float32 || dtype == DType::Float16 || dtype == DType::BFloat16;
}

template <typename Allowed>
Reason require(const Call& call, std::initializer_list<size_t> arguments, Allowed&& allowed) {
  const DType first = call.dtype(*arguments.begin());
  for (const size_t i : arguments) {
    if (!allowed(call.dtype(i))) return refuse_dtype(call, i);
    if (call.dtype(i) != first) return "its operands have several dtypes";
  }
  return {};
}

}  // namespace

Reason refuse_dtype(const Call& call, size_t i) {
  return "argument " + std::to_string(i) + " is " + std::string(dtype_name(call.dtype(i)));
}

Reason require_floats(const Call& call, std::initializer_list<size_t> arguments) {
  return require(call, arguments, is_float);
}

Reason require_arithmetic(const Call& call, std::initializer_list<size_t> arguments) {
  return require(call, arguments,
                 [](DType dtype) { return is_float(dtype) || dtype == DType::Int32; });
}

Reason require_moved(const Call& call, std::initializer_list<size_t> arguments) {
  return require(call, arguments, [](DType dtype) {
    return is_float(dtype) || dtype == DType::Int32 || dtype == DType::Int16 ||
           dtype == DType::Int8 || dtype == DType::UInt8 || dtype == DType::Bool;
  });
}

}  // namespace pteron
