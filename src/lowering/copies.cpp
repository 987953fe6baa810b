// Copies, of the same dtype or another.
#include "lowering/call.h"
#include "lowering/rules.h"

namespace pteron {
namespace {

using ir::Output;

bool is_float(DType dtype) {
  return dtype == DType::Float32 || dtype == DType::Float16 || dtype == DType::BFloat16;
}

// The low bits of int32, as a shorter integer. OpenVINO's own conversion saturates.
Output wrapped_to(Call& call, Output x, DType to) {
  const auto number = [&](double value) { return call.scalar(value, DType::Int32); };
  const auto low_bits = [&](Output of, double mask) {
    return call.node("BitwiseAnd", {of, number(mask)}, DType::Int32, "opset13",
                     {{"auto_broadcast", "numpy"}});
  };
  if (to == DType::UInt8) return call.converted(low_bits(x, 255), to);
  const double half = to == DType::Int8 ? 128 : 32768;
  const Output moved = call.node("Add", {x, number(half)}, DType::Int32);
  const Output kept = low_bits(moved, 2 * half - 1);
  return call.converted(call.node("Subtract", {kept, number(half)}, DType::Int32), to);
}

// The elements as another dtype's: whatever is not 0 is true, floats are cut, integers wrap.
Reason convert(Call& call, Output x, DType to, Output& result) {
  const DType from = call.graph.dtype(x);
  if (from == to || (is_float(from) && is_float(to)) || from == DType::Bool) {
    result = call.converted(x, to);
    return {};
  }
  if (to == DType::Bool) {
    result = call.node("NotEqual", {x, call.scalar(0, from)}, DType::Bool);
    return {};
  }
  if (is_float(to)) {
    result = call.converted(call.converted(x, DType::Float32), to);
    return {};
  }
  // What int32 does not hold, int64 may.
  if (is_float(from) && to == DType::Int64) return "its floats may not fit in int32";
  if (dtype_size(to) >= dtype_size(DType::Int32)) {
    result = call.converted(x, to);
    return {};
  }
  result = wrapped_to(call, call.converted(x, DType::Int32), to);
  return {};
}

// Argument i as the dtype of argument `out`.
Reason convert(Call& call, size_t i, size_t out, Output& result) {
  for (const size_t k : {i, out}) {
    if (Reason reason = require_moved(call, {k}); !reason.empty()) return reason;
  }
  return convert(call, call.tensor(i), call.dtype(out), result);
}

template <size_t kOut>
Reason copy(Call& call) {
  if (call.has_known_shapes() && call.shape(0) != call.shape(kOut))
    return "its result is of another shape";
  Output result;
  if (Reason reason = convert(call, 0, kOut, result); !reason.empty()) return reason;
  call.set(kOut, result);
  return {};
}

// Tensor 1, as tensor 0 is.
template <size_t kOut>
Reason copy_over(Call& call) {
  Output result;
  if (Reason reason = convert(call, 1, kOut, result); !reason.empty()) return reason;
  const auto to = call.shape(kOut);
  const auto from = call.shape(1);
  if (call.shape(0) != to || from.size() > to.size()) return "its result is of another shape";
  for (size_t d = 0; d < from.size(); ++d) {
    const int64_t size = to[to.size() - from.size() + d];
    if (from[d] != 1 && from[d] != size) return "its shapes do not fit";
  }
  if (from != to) {
    result = call.node("Broadcast", {result, call.indices(to)}, call.dtype(kOut), "opset3",
                       {{"mode", "numpy"}});
  }
  call.set(kOut, result);
  return {};
}

// Nobody may rely on what it holds.
Reason empty(Call& call) {
  if (Reason reason = require_moved(call, {2}); !reason.empty()) return reason;
  call.set(2, call.node("Broadcast", {call.scalar(0, call.dtype(2)), call.numbers(0)},
                        call.dtype(2), "opset3", {{"mode", "numpy"}}));
  return {};
}

constexpr LoweringRow kRows[] = {
    {"aten::_to_copy.out", copy<3>, Shapes::Dynamic},
    {"aten::alias_copy.out", copy<1>, Shapes::Dynamic},
    {"aten::clone.out", copy<2>, Shapes::Dynamic},
    {"aten::copy.out", copy_over<3>},
    {"aten::copy_", copy_over<0>},
    {"aten::detach_copy.out", copy<1>, Shapes::Dynamic},
    {"aten::empty.out", empty, Shapes::Any},
    {"aten::lift_fresh_copy.out", copy<1>, Shapes::Dynamic},
    {"dim_order_ops::_clone_dim_order.out", copy<3>, Shapes::Dynamic},
    {"dim_order_ops::_empty_dim_order.out", empty, Shapes::Any},
    {"dim_order_ops::_to_dim_order_copy.out", copy<3>, Shapes::Dynamic},
    {"et_copy::_d2h_copy.out", copy<1>, Shapes::Dynamic},
    {"et_copy::_h2d_copy.out", copy<1>, Shapes::Dynamic},
};

}  // namespace

std::span<const LoweringRow> copy_rows() { return kRows; }

}  // namespace pteron
