#include "runtime/kernel.h"

#include <cmath>
#include <string>

namespace pteron {
namespace {

// C++ leaves a double that does not fit undefined; here it saturates, and NaN is 0.
int64_t saturate(double value) {
  if (std::isnan(value)) return 0;
  if (value >= 9223372036854775808.0) return INT64_MAX;
  if (value < -9223372036854775808.0) return INT64_MIN;
  return static_cast<int64_t>(value);
}

Error kind_error(size_t i, ValueKind have, const char* got) {
  return {Code::Malformed, std::string("the operator yields ") + got +
                               ", but the program keeps it in argument " + std::to_string(i) +
                               ", a value of kind " + value_kind_name(have)};
}

std::string describe_list(size_t count, const char* of) {
  return "a list of " + std::to_string(count) + " " + of;
}

}  // namespace

template <>
int64_t Scalar::to<int64_t>() const {
  return kind == ValueKind::Double ? saturate(real) : integer;
}
template <>
double Scalar::to<double>() const {
  return real;
}
template <>
float Scalar::to<float>() const {
  return static_cast<float>(real);
}
template <>
bool Scalar::to<bool>() const {
  return kind == ValueKind::Double ? real != 0 : integer != 0;
}

Ints::Ints(const IntList& list, const Value* values) : size_(list.items.size()) {
  int64_t* out = inline_;
  if (size_ > kMaxRank) {
    heap_ = std::make_unique<int64_t[]>(size_);
    out = heap_.get();
  }
  for (size_t i = 0; i < size_; ++i) out[i] = values[list.items[i]].integer;
}

Scalar Args::scalar(size_t i) const {
  const Value& v = value(i);
  switch (v.kind) {
    case ValueKind::Int:
      return {v.kind, v.integer, static_cast<double>(v.integer)};
    case ValueKind::Bool:
      return {v.kind, v.boolean, v.boolean ? 1.0 : 0.0};
    default:
      assert(v.kind == ValueKind::Double);
      return {ValueKind::Double, saturate(v.real), v.real};
  }
}

size_t Args::tensor_count(size_t i) const {
  const Value& v = value(i);
  return v.kind == ValueKind::TensorList ? v.tensors->items.size()
                                         : v.optional_tensors->items.size();
}

Tensor* Args::list_tensor(size_t i, size_t k) const {
  const Value& v = value(i);
  if (v.kind == ValueKind::TensorList) return values_[v.tensors->items[k]].tensor;
  const int32_t item = v.optional_tensors->items[k];
  if (item < 0 || values_[item].kind == ValueKind::None) return nullptr;
  return values_[item].tensor;
}

std::string Args::describe(size_t i) const {
  const Value& v = value(i);
  const auto text = [&]() -> std::string {
    switch (v.kind) {
      case ValueKind::Tensor:
        return v.tensor->describe();
      case ValueKind::Int:
        return std::to_string(v.integer);
      case ValueKind::Double:
        return std::to_string(v.real);
      case ValueKind::Bool:
        return v.boolean ? "true" : "false";
      case ValueKind::String:
        return '"' + v.string->substr(0, 40) + '"';
      case ValueKind::IntList:
        if (v.ints->items.size() > kMaxRank) return describe_list(v.ints->items.size(), "ints");
        return describe_shape(ints(i).span());
      case ValueKind::DoubleList:
        return describe_list(v.reals->items.size(), "numbers");
      case ValueKind::TensorList:
      case ValueKind::OptionalTensorList:
        return describe_list(tensor_count(i), "tensors");
      default:
        return value_kind_name(v.kind);
    }
  };
  return "argument " + std::to_string(i) + " (" + text() + ")";
}

Result<void> call_kernel(const Kernel& kernel, KernelContext& context, const Args& args) {
  Result<void> result = kernel.run(context, args, kernel);
  // What has failed otherwise, as an application's operator may, is not the arguments' fault.
  if (result.ok() || result.error().code != Code::InvalidArgument ||
      result.error().message.find("argument ") != std::string::npos)
    return result;
  std::string message = result.error().message;
  for (size_t i = 0; i < args.size(); ++i)
    message += (i == 0 ? "; with " : ", ") + args.describe(i);
  return Error{result.error().code, std::move(message)};
}

Result<void> Args::set_int(size_t i, int64_t v) const {
  if (value(i).kind != ValueKind::Int) return kind_error(i, value(i).kind, "an int");
  value(i).integer = v;
  return {};
}

Result<void> Args::set_real(size_t i, double v) const {
  if (value(i).kind != ValueKind::Double) return kind_error(i, value(i).kind, "a double");
  value(i).real = v;
  return {};
}

Result<void> Args::set_bool(size_t i, bool v) const {
  if (value(i).kind != ValueKind::Bool) return kind_error(i, value(i).kind, "a bool");
  value(i).boolean = v;
  return {};
}

}  // namespace pteron
