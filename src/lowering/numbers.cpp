#include "lowering/numbers.h"

namespace pteron {
namespace {

using ir::Output;

Output binary(Call& call, std::string_view operation) {
  return call.node(operation, {call.number(0), call.number(1)}, DType::Int64);
}

// Python's % and //, by what OpenVINO computes exactly.
Output remainder(Call& call) { return binary(call, "FloorMod"); }
Output quotient(Call& call) {
  const Output rest = remainder(call);
  const Output whole = call.node("Subtract", {call.number(0), rest}, DType::Int64);
  return call.node("Divide", {whole, call.number(1)}, DType::Int64, "opset1",
                   {{"m_pythondiv", "false"}});
}

}  // namespace

bool is_of_numbers(const Step& step) {
  if (step.kind != StepKind::Kernel) return false;
  const std::string_view name = step.kernel->name;
  if (name == "aten::sym_size.int") return true;
  const std::string_view signature = step.kernel->signature;
  return name.starts_with("executorch_prim::") &&
         signature.find_first_not_of("X>") == std::string_view::npos;
}

std::optional<Output> lower_number(std::string_view name, Call& call) {
  const size_t inputs = call.size() - 1;
  if (name == "aten::sym_size.int") {
    const size_t rank = call.rank(0);
    if (!call.is_known(1)) return {};
    const int64_t dim =
        call.integer(1) < 0 ? call.integer(1) + static_cast<int64_t>(rank) : call.integer(1);
    if (dim < 0 || static_cast<size_t>(dim) >= rank) return {};
    return call.size(0, static_cast<size_t>(dim));
  }
  for (size_t i = 0; i < inputs; ++i) {
    if (call.is_known(i) && !call.is_int(i)) return {};
  }
  name.remove_prefix(name.find("::") + 2);
  if (name == "add.Scalar") return binary(call, "Add");
  if (name == "sub.Scalar") return binary(call, "Subtract");
  if (name == "mul.Scalar") return binary(call, "Multiply");
  if (name == "sym_max.Scalar") return binary(call, "Maximum");
  if (name == "sym_min.Scalar") return binary(call, "Minimum");
  // A divisor that a run decides may be zero, which is an error.
  if ((name == "floordiv.Scalar" || name == "floordiv.int" || name == "mod.Scalar" ||
       name == "mod.int") &&
      call.is_known(1) && call.integer(1) > 0)
    return name.starts_with("mod") ? remainder(call) : quotient(call);
  if (name == "neg.Scalar") {
    const int64_t zero = 0;
    return call.node("Subtract", {call.indices(std::span(&zero, 1), true), call.number(0)},
                     DType::Int64);
  }
  return {};
}

}  // namespace pteron
