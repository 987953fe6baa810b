#include "case_text.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

#include "base/half.h"

namespace pteron {
namespace {

bool is_real(DType dtype) {
  return dtype == DType::Float16 || dtype == DType::BFloat16 || dtype == DType::Float32 ||
         dtype == DType::Float64;
}

double read_real(DType dtype, const char* at) {
  const auto load = [at](auto value) {
    std::memcpy(&value, at, sizeof(value));
    return value;
  };
  switch (dtype) {
    case DType::Float16:
      return static_cast<double>(half_to_float(load(uint16_t())));
    case DType::BFloat16:
      return static_cast<double>(bfloat_to_float(load(uint16_t())));
    case DType::Float32:
      return static_cast<double>(load(float()));
    default:
      return load(double());
  }
}

// How far it may be from `wanted`; `least`: float32 and float64, relative, with a floor of 1.
double bound(DType dtype, double wanted, double least) {
  const double size = std::max(1.0, std::fabs(wanted));
  if (dtype == DType::Float16) return std::ldexp(size, -9);   // Two places of 11 bits.
  if (dtype == DType::BFloat16) return std::ldexp(size, -6);  // Two places of 8 bits.
  return size * least;
}

std::string integer_text(const char* at, size_t size) {
  uint64_t value = 0;
  std::memcpy(&value, at, size);
  const unsigned shift = static_cast<unsigned>(64 - 8 * size);
  return std::to_string(static_cast<int64_t>(value << shift) >> shift);
}

}  // namespace

std::string compare_element(DType dtype, const char* got, const char* wanted, double least) {
  const size_t size = dtype_size(dtype);
  if (dtype == DType::Complex64 || dtype == DType::Complex128) {
    const DType part = dtype == DType::Complex64 ? DType::Float32 : DType::Float64;
    const std::string real = compare_element(part, got, wanted, least);
    return real.empty() ? compare_element(part, got + size / 2, wanted + size / 2, least) : real;
  }
  if (!is_real(dtype)) {
    if (std::memcmp(got, wanted, size) == 0) return {};
    return integer_text(got, size) + " for " + integer_text(wanted, size);
  }
  const double a = read_real(dtype, got);
  const double b = read_real(dtype, wanted);
  if (std::isnan(a) && std::isnan(b)) return {};
  if (a == b || std::fabs(a - b) <= bound(dtype, b, least)) return {};
  std::ostringstream text;
  text.precision(9);
  text << a << " for " << b;
  return text.str();
}

namespace {

std::string describe(const CaseValue& value) {
  const auto join = [](const auto& items) {
    std::ostringstream text;
    for (const auto& item : items) text << (text.tellp() > 0 ? ", " : "") << item;
    return "[" + text.str() + "]";
  };
  switch (value.kind) {
    case 'n':
      return "none";
    case 'i':
      return std::to_string(value.integer);
    case 'd':
      return std::to_string(value.real);
    case 'b':
      return value.integer ? "true" : "false";
    case 'g':
      return '"' + value.text + '"';
    case 'L':
    case 'Q':
      return join(value.ints);
    case 'F':
      return join(value.reals);
    case 'V':
    case 'v': {
      std::vector<std::string> items;
      for (const CaseValue& item : value.items) items.push_back(describe(item));
      return join(items);
    }
    default: {
      std::vector<int> order(value.tensor.order.begin(), value.tensor.order.end());
      std::string text = std::string(dtype_name(value.tensor.dtype)) + join(value.tensor.sizes);
      if (!std::is_sorted(order.begin(), order.end())) text += " order " + join(order);
      return text;
    }
  }
}

}  // namespace

std::string describe(const Case& one) {
  std::string text = one.name + "(";
  for (const CaseValue& value : one.arguments) text += describe(value) + ", ";
  text += ") -> ";
  for (const CaseValue& value : one.outputs) text += describe(value) + " ";
  return text;
}

bool is_undefined(const Case& one, size_t output) {
  return (one.name == "aten::_embedding_bag.out" && output > 0) ||
         one.name.rfind("llama::update_cache", 0) == 0;
}

bool is_refused(const Case& one) { return !one.outputs.empty() && one.outputs[0].kind == 'x'; }

}  // namespace pteron
