// Operators on each element of one tensor.
#include <cmath>

#include "lowering/promotion.h"

namespace pteron {
namespace {

using ir::Output;

// A function of real numbers: of integers as float32.
template <typename Function>
Reason real_function(Call& call, Function&& function) {
  const size_t out = call.size() - 1;
  const DType type = real_type(call.dtype(0));
  if (Reason reason = require_operands(call, {0, out}, type); !reason.empty()) return reason;
  return store(call, out, function(operand(call, 0, type), type), type);
}
// The same with constants, which PyTorch does not round to float16 or bfloat16.
template <typename Function>
Reason float_function(Call& call, Function&& function) {
  const size_t out = call.size() - 1;
  if (Reason reason = require_operands(call, {0, out}, real_type(call.dtype(0))); !reason.empty())
    return reason;
  const Output x = operand(call, 0, DType::Float32);
  return store(call, out, function(x, DType::Float32), DType::Float32);
}
// A function that keeps integers what they are.
template <typename Function>
Reason same_function(Call& call, Function&& function) {
  const size_t out = call.size() - 1;
  const DType type = call.dtype(0);
  if (Reason reason = require_operands(call, {0, out}, type); !reason.empty()) return reason;
  return store(call, out, function(operand(call, 0, type), type), type);
}

template <Text kOperation, Text kOpset = "opset1">
Reason unary(Call& call) {
  return real_function(call, [&](Output x, DType type) {
    return call.node(kOperation.view(), {x}, type, kOpset.view());
  });
}
Reason exp(Call& call) {
  return real_function(call, [&](Output x, DType type) {
    return keeping_nan(call, x, call.node("Exp", {x}, type));
  });
}

// log(x) / log(base)
template <int kBase>
Reason log_of_base(Call& call) {
  return float_function(call, [&](Output x, DType type) {
    const Output natural = call.node("Log", {x}, type);
    return call.node("Multiply", {natural, call.scalar(1 / std::log(kBase), type)}, type);
  });
}

// ---- Where exp(x) - 1 and log(1 + x) would lose small x

// 2 t / (1 - t) with t = tanh(x / 2), exact for all but great x.
Output exp_minus_one(Call& call, Output x, DType type) {
  const auto number = [&](double value) { return call.scalar(value, type); };
  const Output half = call.node("Multiply", {x, number(0.5)}, type);
  const Output t = call.node("Tanh", {half}, type);
  const Output twice = call.node("Add", {t, t}, type);
  const Output rest = call.node("Subtract", {number(1), t}, type);
  const Output small = call.node("Divide", {twice, rest}, type);
  const Output power = call.node("Exp", {x}, type);
  const Output great = call.node("Subtract", {power, number(1)}, type);
  return select(call, call.node("Less", {number(0.5), x}, DType::Bool), great, small);
}
Reason expm1(Call& call) {
  return float_function(call, [&](Output x, DType type) { return exp_minus_one(call, x, type); });
}
// 2 atanh(x / (2 + x)) near 0.
Reason log1p(Call& call) {
  return float_function(call, [&](Output x, DType type) {
    const auto number = [&](double value) { return call.scalar(value, type); };
    const Output quotient = call.node("Divide", {x, call.node("Add", {x, number(2)}, type)}, type);
    const Output half = call.node("Atanh", {quotient}, type, "opset4");
    const Output small = call.node("Add", {half, half}, type);
    const Output great = call.node("Log", {call.node("Add", {x, number(1)}, type)}, type);
    const Output magnitude = call.node("Abs", {x}, type);
    return select(call, call.node("Less", {magnitude, number(0.5)}, DType::Bool), small, great);
  });
}
// input, alpha, scale, input scale
Reason elu(Call& call) {
  return float_function(call, [&](Output x, DType type) {
    const auto scaled = [&](Output y, double by) {
      return by == 1 ? y : call.node("Multiply", {y, call.scalar(by, type)}, type);
    };
    const Output zero = call.scalar(0, type);
    const Output negative =
        scaled(exp_minus_one(call, scaled(x, call.real(3)), type), call.real(1) * call.real(2));
    const Output positive = scaled(x, call.real(2));
    return select(call, call.node("LessEqual", {x, zero}, DType::Bool), negative, positive);
  });
}

// ---- Steps

Reason abs(Call& call) {
  return same_function(call, [&](Output x, DType type) {
    const DType dtype = working_type(type);
    // OpenVINO loses the Abs of a difference of constants, and that of great integers.
    if (is_floating(type) && !is_of_constants(call, x)) return call.node("Abs", {x}, dtype);
    const Output is_negative = call.node("Less", {x, call.scalar(0, dtype)}, DType::Bool);
    return select(call, is_negative, call.node("Negative", {x}, dtype), x);
  });
}
Reason neg(Call& call) {
  return same_function(
      call, [&](Output x, DType type) { return call.node("Negative", {x}, working_type(type)); });
}
// 0 of NaN.
Reason sign(Call& call) {
  return same_function(call, [&](Output x, DType type) {
    const auto number = [&](double value) { return call.scalar(value, working_type(type)); };
    const Output above = call.node("Less", {number(0), x}, DType::Bool);
    const Output below = call.node("Less", {x, number(0)}, DType::Bool);
    return select(call, above, number(1), select(call, below, number(-1), number(0)));
  });
}

template <Text kOperation>
Reason rounded(Call& call) {
  return same_function(call, [&](Output x, DType type) {
    return is_floating(type) ? call.node(kOperation.view(), {x}, type) : x;
  });
}
Output to_even(Call& call, Output x, DType type) {
  return call.node("Round", {x}, type, "opset5", {{"mode", "half_to_even"}});
}
Reason round(Call& call) {
  return same_function(
      call, [&](Output x, DType type) { return is_floating(type) ? to_even(call, x, type) : x; });
}
Reason round_decimals(Call& call) {
  const int64_t decimals = call.integer(1);
  // OpenVINO multiplies by the inverse of a constant divisor, which for these would be inexact.
  if (decimals < 0) return "it rounds to tens";
  if (decimals > 30) return "its power of ten is too great";
  return same_function(call, [&](Output x, DType type) {
    if (!is_floating(type)) return x;
    const Output power = call.scalar(std::pow(10.0, static_cast<double>(decimals)), type);
    const Output whole = to_even(call, call.node("Multiply", {x, power}, type), type);
    return call.node("Divide", {whole, power}, type);
  });
}
Reason trunc(Call& call) {
  return same_function(call, [&](Output x, DType type) {
    if (!is_floating(type)) return x;
    const Output is_negative = call.node("Less", {x, call.scalar(0, type)}, DType::Bool);
    return select(call, is_negative, call.node("Ceiling", {x}, type),
                  call.node("Floor", {x}, type));
  });
}
Reason same(Call& call) {
  return same_function(call, [&](Output x, DType) { return x; });
}

// ---- Activations

Reason relu(Call& call) {
  if (is_floating(call.dtype(0)) && follows_layer(call, call.tensor(0))) return unary<"ReLU">(call);
  return same_function(call, [&](Output x, DType type) {
    // Of OpenVINO's Maximum the second operand's NaNs come through.
    const DType dtype = working_type(type);
    return call.node("Maximum", {call.scalar(0, dtype), x}, dtype);
  });
}

Reason clamp_integers(Call& call, DType type) {
  if (Reason reason = require_operands(call, {0, 3}, type); !reason.empty()) return reason;
  const DType dtype = working_type(type);
  const Range all = type == DType::Int64 ? kInt32 : call.ranges.of(call.tensor(0));
  Output x = operand(call, 0, type);
  for (const size_t i : {1, 2}) {
    if (!call.has(i)) continue;
    // What is beyond all that there may be changes nothing, on the one side.
    const int64_t bound = call.integer(i);
    if (i == 1 ? bound <= all.low : bound >= all.high) continue;
    if (!Range{bound, bound}.within(all)) return "a bound of it is out of its dtype's range";
    x = call.node(i == 1 ? "Maximum" : "Minimum", {x, integer_operand(call, bound, type)}, dtype);
  }
  return store(call, 3, x, type);
}
Reason clamp(Call& call) {
  DType type = call.dtype(0);
  for (const size_t i : {1, 2}) {
    if (call.has(i)) type = promoted(type, result_type(call, {0, i}));
  }
  if (!is_floating(type)) return clamp_integers(call, type);
  if (Reason reason = require_operands(call, {0, 3}, type); !reason.empty()) return reason;
  const double low = call.has(1) ? call.real(1) : -HUGE_VAL;
  const double high = call.has(2) ? call.real(2) : HUGE_VAL;
  if (std::isnan(low) || std::isnan(high)) return "a bound of it is NaN";
  const Output x = operand(call, 0, type);
  if (!(low <= high)) {
    // All but NaN are the upper one then.
    const Output raised = call.node("Maximum", {call.scalar(low, type), x}, type);
    const Output cut = call.node("Minimum", {call.scalar(high, type), raised}, type);
    return store(call, 3, cut, type);
  }
  const Output clamped = call.node("Clamp", {x}, type, "opset1",
                                   {{"min", ir::number_text(low)}, {"max", ir::number_text(high)}});
  return store(call, 3, follows_layer(call, x) ? clamped : keeping_nan(call, x, clamped), type);
}

Reason gelu(Call& call) {
  const bool by_tanh = call.string(1) == "tanh";
  return real_function(call, [&](Output x, DType type) {
    const Output result =
        call.node("Gelu", {x}, type, "opset7", {{"approximation_mode", by_tanh ? "TANH" : "ERF"}});
    if (by_tanh || follows_layer(call, x)) return result;
    // OpenVINO makes NaN of infinity.
    const Output infinite = call.node("Equal", {x, call.scalar(HUGE_VAL, type)}, DType::Bool);
    return select(call, infinite, x, result);
  });
}

Reason leaky_relu(Call& call) {
  return float_function(call, [&](Output x, DType type) {
    const Output slope = call.scalar(call.real(1), type);
    if (call.rank(0) > 0) return call.node("PReLU", {x, call.reshaped(slope, call.one(1))}, type);
    // PReLU takes no tensor without dimensions.
    const Output is_positive = call.node("Less", {call.scalar(0, type), x}, DType::Bool);
    return select(call, is_positive, x, call.node("Multiply", {x, slope}, type));
  });
}

Reason reciprocal(Call& call) {
  return real_function(call, [&](Output x, DType type) {
    return call.node("Divide", {call.scalar(1, type), x}, type);
  });
}
Reason rsqrt(Call& call) {
  return real_function(call, [&](Output x, DType type) {
    return call.node("Divide", {call.scalar(1, type), call.node("Sqrt", {x}, type)}, type);
  });
}

// log(x / (1 - x)), x between eps and 1 - eps where eps is given.
Reason logit(Call& call) {
  if (call.has(1) && !(call.real(1) >= 0 && call.real(1) <= 0.5))
    return "its bounds are not in order";
  return float_function(call, [&](Output x, DType type) {
    Output p = x;
    if (call.has(1)) {
      const Output low = call.scalar(call.real(1), type);
      const Output high = call.scalar(1 - call.real(1), type);
      // Of Maximum and Minimum the second operand's NaNs come through.
      p = call.node("Maximum", {low, call.node("Minimum", {high, x}, type)}, type);
    }
    const Output rest = call.node("Subtract", {call.scalar(1, type), p}, type);
    return call.node("Log", {call.node("Divide", {p, rest}, type)}, type);
  });
}

// The first half of a dimension times the sigmoid of the second.
Reason glu(Call& call) {
  const DType type = call.dtype(0);
  if (!is_floating(type)) return refuse_dtype(call, 0);
  if (Reason reason = require_operands(call, {0, 2}, type); !reason.empty()) return reason;
  const size_t rank = call.rank(0);
  if (rank == 0 || !is_dim(call.integer(1), rank)) return "its dimension is out of range";
  const auto dim = static_cast<int64_t>(wrapped(call.integer(1), rank));
  if (call.size_of(0, static_cast<size_t>(dim)) % 2 != 0) return "its dimension has no halves";
  const Output halves = call.graph.add(
      "Split", "opset1", {call.tensor(0), call.indices(std::span<const int64_t>(&dim, 1), true)},
      {{"num_splits", "2"}}, std::vector<DType>{type, type});
  const Output gate = call.node("Sigmoid", {{halves.node, 1}}, type);
  return store(call, 2, call.node("Multiply", {halves, gate}, type), type);
}

constexpr LoweringRow kRows[] = {
    {"aten::_conj_physical.out", same, Shapes::Dynamic},
    {"aten::abs.out", abs, Shapes::Dynamic},
    {"aten::acos.out", unary<"Acos">, Shapes::Dynamic},
    {"aten::acosh.out", unary<"Acosh", "opset4">, Shapes::Dynamic},
    {"aten::asin.out", unary<"Asin">, Shapes::Dynamic},
    {"aten::asinh.out", unary<"Asinh", "opset4">, Shapes::Dynamic},
    {"aten::atan.out", unary<"Atan">, Shapes::Dynamic},
    {"aten::atanh.out", unary<"Atanh", "opset4">, Shapes::Dynamic},
    {"aten::ceil.out", rounded<"Ceiling">, Shapes::Dynamic},
    {"aten::clamp.out", clamp, Shapes::Dynamic},
    {"aten::cos.out", unary<"Cos">, Shapes::Dynamic},
    {"aten::cosh.out", unary<"Cosh">, Shapes::Dynamic},
    {"aten::elu.out", elu, Shapes::Dynamic},
    {"aten::erf.out", unary<"Erf">, Shapes::Dynamic},
    {"aten::exp.out", exp, Shapes::Dynamic},
    {"aten::expm1.out", expm1, Shapes::Dynamic},
    {"aten::floor.out", rounded<"Floor">, Shapes::Dynamic},
    {"aten::gelu.out", gelu, Shapes::Dynamic},
    {"aten::glu.out", glu},
    {"aten::hardtanh.out", clamp, Shapes::Dynamic},
    {"aten::leaky_relu.out", leaky_relu, Shapes::Dynamic},
    {"aten::log.out", unary<"Log">, Shapes::Dynamic},
    {"aten::log10.out", log_of_base<10>, Shapes::Dynamic},
    {"aten::log1p.out", log1p, Shapes::Dynamic},
    {"aten::log2.out", log_of_base<2>, Shapes::Dynamic},
    {"aten::logit.out", logit, Shapes::Dynamic},
    {"aten::neg.out", neg, Shapes::Dynamic},
    {"aten::reciprocal.out", reciprocal, Shapes::Dynamic},
    {"aten::relu.out", relu, Shapes::Dynamic},
    {"aten::round.decimals_out", round_decimals, Shapes::Dynamic},
    {"aten::round.out", round, Shapes::Dynamic},
    {"aten::rsqrt.out", rsqrt, Shapes::Dynamic},
    {"aten::sigmoid.out", unary<"Sigmoid">, Shapes::Dynamic},
    {"aten::sign.out", sign, Shapes::Dynamic},
    {"aten::sin.out", unary<"Sin">, Shapes::Dynamic},
    {"aten::sinh.out", unary<"Sinh">, Shapes::Dynamic},
    {"aten::sqrt.out", unary<"Sqrt">, Shapes::Dynamic},
    {"aten::tan.out", unary<"Tan">, Shapes::Dynamic},
    {"aten::tanh.out", unary<"Tanh">, Shapes::Dynamic},
    {"aten::trunc.out", trunc, Shapes::Dynamic},
};

}  // namespace

std::span<const LoweringRow> elementwise_rows() { return kRows; }

}  // namespace pteron
