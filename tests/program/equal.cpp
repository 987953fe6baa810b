#include "program/equal.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace pteron::test {
namespace {

bool same(const Bytes& a, const Bytes& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}
bool same(const std::optional<Bytes>& a, const std::optional<Bytes>& b) {
  return a.has_value() == b.has_value() && (!a || same(*a, *b));
}
bool same(const std::optional<Allocation>& a, const std::optional<Allocation>& b) {
  return a.has_value() == b.has_value() &&
         (!a || (a->memory_id == b->memory_id && a->offset == b->offset));
}
// By bits, so that a NaN is itself.
bool same(double a, double b) { return std::memcmp(&a, &b, sizeof(a)) == 0; }
bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return same(x, y); });
}
template <typename T>
bool same(const T& a, const T& b) {
  return a == b;
}

// A field of two structs.
#define PTERON_COMPARE(field) \
  if (!same(a.field, b.field)) return "." #field

std::string difference(const NoneDef&, const NoneDef&) { return ""; }
std::string difference(int64_t a, int64_t b) { return a == b ? "" : " (int)"; }
std::string difference(bool a, bool b) { return a == b ? "" : " (bool)"; }
std::string difference(double a, double b) { return same(a, b) ? "" : " (double)"; }
std::string difference(const std::string& a, const std::string& b) {
  return a == b ? "" : " (string)";
}
std::string difference(const TensorDef& a, const TensorDef& b) {
  PTERON_COMPARE(dtype);
  PTERON_COMPARE(dynamism);
  PTERON_COMPARE(sizes);
  PTERON_COMPARE(dim_order);
  PTERON_COMPARE(allocation);
  PTERON_COMPARE(data);
  PTERON_COMPARE(external);
  PTERON_COMPARE(name);
  return "";
}
// The lists all have `items`.
template <typename List>
std::string difference(const List& a, const List& b)
  requires requires { a.items; }
{
  PTERON_COMPARE(items);
  return "";
}
std::string difference(const KernelCall& a, const KernelCall& b) {
  PTERON_COMPARE(op);
  PTERON_COMPARE(args);
  return "";
}
std::string difference(const DelegateCall& a, const DelegateCall& b) {
  PTERON_COMPARE(delegate);
  PTERON_COMPARE(args);
  return "";
}
std::string difference(const MoveCall& a, const MoveCall& b) {
  PTERON_COMPARE(from);
  PTERON_COMPARE(to);
  return "";
}
std::string difference(const JumpFalseCall& a, const JumpFalseCall& b) {
  PTERON_COMPARE(condition);
  PTERON_COMPARE(destination);
  return "";
}
std::string difference(const FreeCall& a, const FreeCall& b) {
  PTERON_COMPARE(value);
  return "";
}
std::string difference(const CompileSpec& a, const CompileSpec& b) {
  PTERON_COMPARE(key);
  PTERON_COMPARE(value);
  return "";
}
std::string difference(const NamedData& a, const NamedData& b) {
  PTERON_COMPARE(key);
  PTERON_COMPARE(data);
  return "";
}

template <typename... Ts>
std::string difference(const std::variant<Ts...>& a, const std::variant<Ts...>& b) {
  if (a.index() != b.index()) return " (kind)";
  return std::visit(
      [&](const auto& x) { return difference(x, std::get<std::decay_t<decltype(x)>>(b)); }, a);
}

template <typename T>
std::string each(std::string_view name, const std::vector<T>& a, const std::vector<T>& b);

std::string difference(const DelegateDef& a, const DelegateDef& b) {
  PTERON_COMPARE(id);
  PTERON_COMPARE(payload);
  PTERON_COMPARE(payload_in_segment);
  return each(".specs", a.specs, b.specs);
}
std::string difference(const Chain& a, const Chain& b) {
  return each(".instructions", a.instructions, b.instructions);
}
std::string difference(const Plan& a, const Plan& b) {
  PTERON_COMPARE(name);
  PTERON_COMPARE(inputs);
  PTERON_COMPARE(outputs);
  PTERON_COMPARE(operators);
  PTERON_COMPARE(buffers);
  PTERON_COMPARE(input_encoding);
  PTERON_COMPARE(output_encoding);
  std::string where = each(".values", a.values, b.values);
  if (where.empty()) where = each(".delegates", a.delegates, b.delegates);
  if (where.empty()) where = each(".chains", a.chains, b.chains);
  return where;
}

#undef PTERON_COMPARE

template <typename T>
std::string each(std::string_view name, const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) return std::string(name) + ".size()";
  for (size_t i = 0; i < a.size(); ++i) {
    const std::string where = difference(a[i], b[i]);
    if (!where.empty()) return std::string(name) + "[" + std::to_string(i) + "]" + where;
  }
  return "";
}

}  // namespace

std::string first_difference(const Program& a, const Program& b) {
  if (a.version != b.version) return "version";
  const std::string where = each("plans", a.plans, b.plans);
  return where.empty() ? each("named_data", a.named_data, b.named_data) : where;
}

}  // namespace pteron::test
