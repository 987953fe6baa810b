#include "list_operators.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "kernels/tables.h"

namespace pteron {
namespace {

struct Seen {
  size_t cases = 0;
  std::set<DType> dtypes;
  std::set<std::string> orders;
};

void see_orders(const CaseValue& value, Seen& seen) {
  for (const CaseValue& item : value.items) see_orders(item, seen);
  if (value.kind != 'T' && value.kind != 'M') return;
  const std::vector<uint8_t>& order = value.tensor.order;
  if (order.size() >= 3) {
    std::vector<uint8_t> last{0};
    for (size_t d = 2; d < order.size(); ++d) last.push_back(static_cast<uint8_t>(d));
    last.push_back(1);
    if (order == last) seen.orders.insert("channels-last");
  }
  if (!std::is_sorted(order.begin(), order.end())) seen.orders.insert("any");
}

const CaseTensor* first_tensor(const std::vector<CaseValue>& values) {
  for (const CaseValue& value : values) {
    if (value.kind == 'T' || value.kind == 'M') return &value.tensor;
    if (const CaseTensor* inside = first_tensor(value.items)) return inside;
  }
  return nullptr;
}

const char* short_name(DType dtype) {
  switch (dtype) {
    case DType::UInt8:
      return "u8";
    case DType::Int8:
      return "i8";
    case DType::Int16:
      return "i16";
    case DType::Int32:
      return "i32";
    case DType::Int64:
      return "i64";
    case DType::Float16:
      return "f16";
    case DType::BFloat16:
      return "bf16";
    case DType::Float32:
      return "f32";
    case DType::Float64:
      return "f64";
    case DType::Bool:
      return "bool";
    case DType::Complex64:
      return "c64";
    case DType::Complex128:
      return "c128";
    default:
      return dtype_name(dtype).data();
  }
}

}  // namespace

std::string list_operators(const std::vector<Case>& cases) {
  std::map<std::string, Seen> seen;
  for (const Case& one : cases) {
    if (!one.outputs.empty() && one.outputs[0].kind == 'x') continue;  // A refusal.
    Seen& own = seen[one.name];
    ++own.cases;
    const CaseTensor* tensor = first_tensor(one.arguments);
    if (!tensor) tensor = first_tensor(one.outputs);
    if (tensor) own.dtypes.insert(tensor->dtype);
    for (const CaseValue& value : one.arguments) see_orders(value, own);
    for (const CaseValue& value : one.outputs) see_orders(value, own);
  }
  std::map<std::string, std::string> signatures;
  for (const auto table : all_kernels()) {
    for (const Kernel& kernel : table)
      signatures[std::string(kernel.name)] = std::string(kernel.signature);
  }
  std::ostringstream text;
  text << "# Operators\n\n"
          "Made by `operators_test --list > docs/operators.md` from the kernel tables and the "
          "recorded cases;\na test sees that it is up to date.\n\n"
          "- **signature**: a letter an argument, outputs after `>`, as src/runtime/kernel.h "
          "explains them.\n"
          "- **dtypes**: of the first tensor, those that recorded cases hold against PyTorch's "
          "results. Kernels take more:\n  where a row has f32, float16, bfloat16 and float64 go "
          "the same way, and all integers go one way.\n"
          "- **memory orders**: beside row-major, those of inputs and outputs in the cases.\n"
          "- No cases: tests/kernels/exceptions.txt says why.\n\n"
       << signatures.size() << " operators.\n\n"
       << "| operator | signature | dtypes | memory orders | cases |\n|---|---|---|---|---|\n";
  for (const auto& [name, signature] : signatures) {
    const Seen& own = seen[name];
    text << "| " << name << " | `" << signature << "` | ";
    bool is_first = true;
    for (const DType dtype : own.dtypes) {
      text << (is_first ? "" : " ") << short_name(dtype);
      is_first = false;
    }
    text << " | "
         << (own.orders.count("any")             ? "any"
             : own.orders.count("channels-last") ? "channels-last"
                                                 : "")
         << " | " << own.cases << " |\n";
  }
  return text.str();
}

}  // namespace pteron
