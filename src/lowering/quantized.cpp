// Quantizing, dequantizing and quantized look-ups, in float32 as the kernels compute them: floats
// hold the elements of 8 and 16 bits and their distances from zero points exactly.
//
// What a constant weight is dequantized by is Convert, Subtract, Multiply: the form in which
// OpenVINO keeps a weight as it is.
#include <algorithm>
#include <cmath>

#include "lowering/call.h"
#include "lowering/rules.h"

namespace pteron {
namespace {

using ir::Output;
using Sizes = std::vector<int64_t>;

constexpr int64_t kMost = 1 << 20;

bool is_narrow(DType dtype) {
  return dtype == DType::UInt8 || dtype == DType::Int8 || dtype == DType::Int16;
}
bool is_float(DType dtype) {
  return dtype == DType::Float32 || dtype == DType::Float16 || dtype == DType::BFloat16;
}

Output in_floats(Call& call, Output x) { return call.converted(x, DType::Float32); }
Output operation(Call& call, std::string_view name, Output a, Output b) {
  return call.node(name, {a, b}, DType::Float32);
}
Output number(Call& call, double value) { return call.scalar(value, DType::Float32); }

// Zero points that floats hold, with their distance from any element.
Reason require_zeros(Call& call, size_t i) {
  if (is_narrow(call.dtype(i))) return {};
  if (call.dtype(i) != DType::Int32 && call.dtype(i) != DType::Int64) return refuse_dtype(call, i);
  if (!call.ranges.demand(call.tensor(i), {-kMost, kMost})) return "a zero point may be great";
  return {};
}
bool are_zero(Call& call, size_t i) {
  return !call.has(i) || call.ranges.of(call.tensor(i)) == Range{0, 0};
}

// The least and greatest number of a quantized tensor, as arguments i and i + 1.
Reason require_bounds(const Call& call, size_t i, DType dtype) {
  if (!is_narrow(dtype)) return "it quantizes to " + std::string(dtype_name(dtype));
  if (!holds_number(call, i, dtype) || !holds_number(call, i + 1, dtype) ||
      call.integer(i) > call.integer(i + 1))
    return "its bounds do not fit its dtype";
  return {};
}
bool is_small(const Call& call, size_t i) {
  return call.integer(i) >= -kMost && call.integer(i) <= kMost;
}

// Rounded half to even and kept within bounds; NaN becomes the least.
Output rounded(Call& call, Output x) {
  return call.node("Round", {x}, DType::Float32, "opset5", {{"mode", "half_to_even"}});
}
Output bounded(Call& call, Output x, size_t low, DType to) {
  const Output least = number(call, static_cast<double>(call.integer(low)));
  const Output most = number(call, static_cast<double>(call.integer(low + 1)));
  const Output is_more = call.node("Greater", {x, least}, DType::Bool);
  const Output above = call.node("Select", {is_more, x, least}, DType::Float32, "opset1",
                                 {{"auto_broadcast", "numpy"}});
  return call.converted(operation(call, "Minimum", above, most), to);
}

// x / scale, rounded, + zero
Output quantized(Call& call, Output x, Output inverse, Output zero, size_t low, DType to) {
  const Output whole = rounded(call, operation(call, "Multiply", in_floats(call, x), inverse));
  return bounded(call, operation(call, "Add", whole, zero), low, to);
}

// input, scale, zero, low, high, dtype
Reason quantize_per_tensor(Call& call) {
  if (Reason reason = require_floats(call, {0}); !reason.empty()) return reason;
  if (Reason reason = require_bounds(call, 3, call.dtype(6)); !reason.empty()) return reason;
  const auto scale = static_cast<float>(call.real(1));
  if (!(scale > 0) || !std::isfinite(1.0f / scale) || !is_small(call, 2))
    return "its scale or zero point is out of range";
  call.set(6, quantized(call, call.tensor(0), number(call, static_cast<double>(1.0f / scale)),
                        number(call, static_cast<double>(call.integer(2))), 3, call.dtype(6)));
  return {};
}

// Argument i, of as many numbers as a tensor has along an axis, as it broadcasts with it.
Output along(Call& call, size_t i, size_t axis, size_t rank) {
  Sizes shape(rank, 1);
  shape[axis] = static_cast<int64_t>(call.numel(i));
  return in_floats(call, call.reshaped(call.tensor(i), shape));
}
Output inverse(Call& call, Output scale) {
  return operation(call, "Divide", number(call, 1), scale);
}
bool is_one_number(const Call& call, size_t i) { return call.is_static(i) && call.numel(i) == 1; }

Reason quantize_by_tensors(Call& call) {
  if (Reason reason = require_floats(call, {0}); !reason.empty()) return reason;
  if (Reason reason = require_floats(call, {1}); !reason.empty()) return reason;
  if (Reason reason = require_bounds(call, 3, call.dtype(6)); !reason.empty()) return reason;
  if (!is_one_number(call, 1) || !is_one_number(call, 2)) return "its scale is not one number";
  if (Reason reason = require_zeros(call, 2); !reason.empty()) return reason;
  const Output scale = in_floats(call, call.reshaped(call.tensor(1), Sizes()));
  const Output zero = in_floats(call, call.reshaped(call.tensor(2), Sizes()));
  call.set(6, quantized(call, call.tensor(0), inverse(call, scale), zero, 3, call.dtype(6)));
  return {};
}

// input, scales, zeros, axis, low, high, dtype
Reason quantize_per_channel(Call& call) {
  if (Reason reason = require_floats(call, {0}); !reason.empty()) return reason;
  if (Reason reason = require_floats(call, {1}); !reason.empty()) return reason;
  if (Reason reason = require_bounds(call, 4, call.dtype(7)); !reason.empty()) return reason;
  const size_t rank = call.rank(0);
  if (rank == 0 || !is_dim(call.integer(3), rank)) return "its axis is out of range";
  const size_t axis = wrapped(call.integer(3), rank);
  const auto channels = static_cast<size_t>(call.size_of(0, axis));
  if (call.numel(1) != channels || call.numel(2) != channels)
    return "its scales do not fit its channels";
  if (Reason reason = require_zeros(call, 2); !reason.empty()) return reason;
  call.set(7, quantized(call, call.tensor(0), inverse(call, along(call, 1, axis, rank)),
                        along(call, 2, axis, rank), 4, call.dtype(7)));
  return {};
}

// Argument i, of one number a row of argument 0.
Output by_rows(Call& call, size_t i) {
  Sizes shape = call.shape(0);
  shape.back() = 1;
  return in_floats(call, call.reshaped(call.tensor(i), shape));
}
Reason check_rows(Call& call) {
  if (call.rank(0) == 0) return "it has no rows";
  const size_t rows = call.numel(0) / static_cast<size_t>(call.shape(0).back());
  if (call.numel(1) != rows || call.numel(2) != rows) return "its scales do not fit its rows";
  return require_zeros(call, 2);
}

// input, scales, zeros, low, high, dtype: here the zero point is added before the rounding.
Reason quantize_per_token(Call& call) {
  if (Reason reason = require_floats(call, {0}); !reason.empty()) return reason;
  if (Reason reason = require_floats(call, {1}); !reason.empty()) return reason;
  if (Reason reason = require_bounds(call, 3, call.dtype(6)); !reason.empty()) return reason;
  if (Reason reason = check_rows(call); !reason.empty()) return reason;
  const Output scaled =
      operation(call, "Multiply", in_floats(call, call.tensor(0)), inverse(call, by_rows(call, 1)));
  const Output moved = operation(call, "Add", scaled, by_rows(call, 2));
  call.set(6, bounded(call, rounded(call, moved), 3, call.dtype(6)));
  return {};
}

// (x - zero) * scale
Output dequantized(Call& call, Output x, std::optional<Output> zero, Output scale, DType to) {
  Output result = in_floats(call, x);
  if (zero) result = operation(call, "Subtract", result, *zero);
  return call.converted(operation(call, "Multiply", result, scale), to);
}

// What may be dequantized: elements that floats hold.
Reason require_quantized(Call& call, size_t i, size_t out) {
  if (!is_float(call.dtype(out))) return refuse_dtype(call, out);
  if (is_narrow(call.dtype(i))) return {};
  if (call.dtype(i) != DType::Int32) return refuse_dtype(call, i);
  if (!call.ranges.demand(call.tensor(i), {-kMost, kMost}))
    return "its elements may be greater than float32 is exact";
  return {};
}

// input, scale, zero, low, high, dtype, dtype of the result
Reason dequantize_per_tensor(Call& call) {
  if (Reason reason = require_quantized(call, 0, 7); !reason.empty()) return reason;
  if (!is_small(call, 2)) return "its zero point is out of range";
  std::optional<Output> zero;
  if (call.integer(2) != 0) zero = number(call, static_cast<double>(call.integer(2)));
  call.set(7, dequantized(call, call.tensor(0), zero, number(call, call.real(1)), call.dtype(7)));
  return {};
}
Reason dequantize_by_tensors(Call& call) {
  if (Reason reason = require_quantized(call, 0, 7); !reason.empty()) return reason;
  if (Reason reason = require_floats(call, {1}); !reason.empty()) return reason;
  if (!is_one_number(call, 1) || !is_one_number(call, 2)) return "its scale is not one number";
  if (Reason reason = require_zeros(call, 2); !reason.empty()) return reason;
  std::optional<Output> zero;
  if (!are_zero(call, 2)) zero = in_floats(call, call.reshaped(call.tensor(2), Sizes()));
  const Output scale = in_floats(call, call.reshaped(call.tensor(1), Sizes()));
  call.set(7, dequantized(call, call.tensor(0), zero, scale, call.dtype(7)));
  return {};
}

bool is_scale(DType dtype) { return is_float(dtype) || dtype == DType::Float64; }

// input, scales, zeros, axis, low, high, dtype, dtype of the result
Reason dequantize_per_channel(Call& call) {
  if (Reason reason = require_quantized(call, 0, 8); !reason.empty()) return reason;
  if (!is_scale(call.dtype(1))) return refuse_dtype(call, 1);
  const size_t rank = call.rank(0);
  if (rank == 0 || !is_dim(call.integer(3), rank)) return "its axis is out of range";
  const size_t axis = wrapped(call.integer(3), rank);
  const auto channels = static_cast<size_t>(call.size_of(0, axis));
  if (call.numel(1) != channels || (call.has(2) && call.numel(2) != channels))
    return "its scales do not fit its channels";
  std::optional<Output> zero;
  if (call.has(2)) {
    if (Reason reason = require_zeros(call, 2); !reason.empty()) return reason;
    if (!are_zero(call, 2)) zero = along(call, 2, axis, rank);
  }
  call.set(8, dequantized(call, call.tensor(0), zero, along(call, 1, axis, rank), call.dtype(8)));
  return {};
}

// input, scales, zeros, low, high, dtype, dtype of the result
Reason dequantize_per_token(Call& call) {
  if (Reason reason = require_quantized(call, 0, 7); !reason.empty()) return reason;
  if (!is_scale(call.dtype(1))) return refuse_dtype(call, 1);
  if (Reason reason = check_rows(call); !reason.empty()) return reason;
  call.set(7, dequantized(call, call.tensor(0), by_rows(call, 2), by_rows(call, 1), call.dtype(7)));
  return {};
}

// Two tensors, each with scale, zero point, least and greatest number; and these of the result.
Reason add(Call& call) {
  for (const size_t i : {0, 5}) {
    if (!is_narrow(call.dtype(i))) return refuse_dtype(call, i);
  }
  if (Reason reason = require_bounds(call, 12, call.dtype(14)); !reason.empty()) return reason;
  const auto scale = static_cast<float>(call.real(10));
  if (!(scale > 0) || !std::isfinite(1.0f / scale)) return "its scale is out of range";
  for (const size_t i : {2, 7, 11}) {
    if (!is_small(call, i)) return "a zero point is out of range";
  }
  const auto part = [&](size_t i) {
    return dequantized(call, call.tensor(i), number(call, static_cast<double>(call.integer(i + 2))),
                       number(call, call.real(i + 1)), DType::Float32);
  };
  call.set(14, quantized(call, operation(call, "Add", part(0), part(5)),
                         number(call, static_cast<double>(1.0f / scale)),
                         number(call, static_cast<double>(call.integer(11))), 12, call.dtype(14)));
  return {};
}

Output gathered(Call& call, Output input, Output index) {
  const int64_t axis = 0;
  return call.node("Gather", {input, index, call.indices(std::span(&axis, 1), true)},
                   call.graph.dtype(input), "opset8", {{"batch_dims", "0"}});
}

// Bytes, [...], as the elements of kBits in them, [..., 8 / kBits]: of 4 bits the high half first,
// of 2 bits the lowest. In floats, where a quotient by a power of two is exact.
template <int kBits>
Output unpacked(Call& call, Output bytes, size_t rank) {
  const Output x = in_floats(call, bytes);
  const auto above = [&](double unit) {
    const Output part = operation(call, "Multiply", x, number(call, 1 / unit));
    return call.node("Floor", {part}, DType::Float32);
  };
  const auto below = [&](Output of, Output upper, double unit) {
    return operation(call, "Subtract", of, operation(call, "Multiply", upper, number(call, unit)));
  };
  std::vector<Output> parts;
  if (kBits == 4) {
    const Output high = above(16);
    parts = {high, below(x, high, 16)};
  } else {
    const Output a = above(4);
    const Output b = above(16);
    const Output c = above(64);
    parts = {below(x, a, 4), below(a, b, 4), below(b, c, 4), c};
  }
  const Output last = call.one(static_cast<int64_t>(rank));
  for (Output& part : parts) part = call.node("Unsqueeze", {part, last}, DType::Float32);
  return call.node("Concat", parts, DType::Float32, "opset1", {{"axis", std::to_string(rank)}});
}

// table, scales, zeros, low, high, index
template <int kBits>
Reason embedding(Call& call) {
  const size_t out = call.size() - 1;
  const bool is_bytes =
      call.dtype(0) == DType::UInt8 || (kBits == 8 && call.dtype(0) == DType::Int8);
  if (!is_bytes) return refuse_dtype(call, 0);
  if (!is_float(call.dtype(out))) return refuse_dtype(call, out);
  if (!is_float(call.dtype(1))) return refuse_dtype(call, 1);
  if (!call.is_static(0) || !call.is_static(1) || (call.has(2) && !call.is_static(2)))
    return "a run decides its table's shape";
  if (call.rank(0) != 2 || call.rank(1) < 1 || call.rank(1) > 2 ||
      call.size_of(1, 0) != call.size_of(0, 0) || (call.has(2) && call.numel(2) != call.numel(1)))
    return "its scales do not fit its table";
  const int64_t rows = call.size_of(0, 0);
  const int64_t width = call.size_of(0, 1) * (8 / kBits);
  const int64_t groups = call.rank(1) == 2 ? call.size_of(1, 1) : 1;
  if (width % groups != 0) return "its groups do not fit its table";
  if (call.dtype(5) != DType::Int32 && call.dtype(5) != DType::Int64) return refuse_dtype(call, 5);
  if (!call.ranges.demand(call.tensor(5), {0, rows - 1})) return "its index may be out of range";
  const size_t rank = call.rank(5);
  const Output index = call.tensor(5);
  // 0: as it is.
  Sizes shape(rank, 0);
  const auto shaped = [&](Output x, Sizes last) {
    last.insert(last.begin(), shape.begin(), shape.end());
    return call.node("Reshape", {x, call.indices(last)}, call.graph.dtype(x), "opset1",
                     {{"special_zero", "true"}});
  };
  Output x = gathered(call, call.tensor(0), index);
  if (kBits != 8) x = unpacked<kBits>(call, x, rank + 1);
  x = in_floats(call, shaped(x, {groups, width / groups}));
  if (kBits != 8) x = operation(call, "Subtract", x, number(call, kBits == 4 ? 8 : 2));
  const Sizes grouped{rows, groups, 1};
  const auto factor = [&](size_t i) {
    return in_floats(call, gathered(call, call.reshaped(call.tensor(i), grouped), index));
  };
  if (call.has(2)) {
    if (!is_float(call.dtype(2))) {
      if (Reason reason = require_zeros(call, 2); !reason.empty()) return reason;
    }
    x = operation(call, "Subtract", x, factor(2));
  }
  x = operation(call, "Multiply", x, factor(1));
  call.set(out, call.converted(shaped(x, {width}), call.dtype(out)));
  return {};
}

// input, weight, scales, zeros. mixed_mm: the weight is [in, out] and scaled by its rows;
// mixed_linear: [out, in], scaled by its rows or by groups of them.
template <bool kIsLinear>
Reason mixed_product(Call& call) {
  const size_t out = call.size() - 1;
  if (Reason reason = require_floats(call, {0}); !reason.empty()) return reason;
  if (Reason reason = require_floats(call, {2}); !reason.empty()) return reason;
  if (!is_float(call.dtype(out))) return refuse_dtype(call, out);
  if (call.dtype(1) != DType::Int8) return refuse_dtype(call, 1);
  for (const size_t i : {1, 2}) {
    if (!call.is_static(i)) return "a run decides its weight's shape";
  }
  if (call.rank(0) != 2 || call.rank(1) != 2 || call.rank(2) < 1 || call.rank(2) > 2 ||
      call.size_of(2, 0) != call.size_of(1, 0))
    return "its scales do not fit its weight";
  const int64_t rows = call.size_of(1, 0);
  const int64_t width = call.size_of(1, 1);
  const int64_t groups = call.rank(2) == 2 ? call.size_of(2, 1) : 1;
  if (width % groups != 0) return "its groups do not fit its weight";
  const Sizes shape = groups == 1 ? Sizes{rows, width} : Sizes{rows, groups, width / groups};
  Sizes factors = shape;
  factors.back() = 1;
  std::optional<Output> zero;
  if (call.has(3)) {
    if (!call.is_static(3) || call.numel(3) != call.numel(2)) return "its zero points do not fit";
    if (!is_float(call.dtype(3))) {
      if (Reason reason = require_zeros(call, 3); !reason.empty()) return reason;
    }
    zero = in_floats(call, call.reshaped(call.tensor(3), factors));
  }
  Output weight =
      dequantized(call, call.reshaped(call.tensor(1), shape), zero,
                  in_floats(call, call.reshaped(call.tensor(2), factors)), DType::Float32);
  if (groups > 1) weight = call.reshaped(weight, Sizes{rows, width});
  const Output result =
      call.node("MatMul", {in_floats(call, call.tensor(0)), weight}, DType::Float32, "opset1",
                {{"transpose_a", "false"}, {"transpose_b", kIsLinear ? "true" : "false"}});
  call.set(out, call.converted(result, call.dtype(out)));
  return {};
}

constexpr LoweringRow kRows[] = {
    {"quantized_decomposed::add.out", add, Shapes::Dynamic},
    {"quantized_decomposed::dequantize_per_channel.out", dequantize_per_channel},
    {"quantized_decomposed::dequantize_per_tensor.Tensor_out", dequantize_by_tensors,
     Shapes::Dynamic},
    {"quantized_decomposed::dequantize_per_tensor.out", dequantize_per_tensor, Shapes::Dynamic},
    {"quantized_decomposed::dequantize_per_token.out", dequantize_per_token},
    {"quantized_decomposed::embedding_2bit.dtype_out", embedding<2>, Shapes::Dynamic},
    {"quantized_decomposed::embedding_2bit.out", embedding<2>, Shapes::Dynamic},
    {"quantized_decomposed::embedding_4bit.dtype_out", embedding<4>, Shapes::Dynamic},
    {"quantized_decomposed::embedding_4bit.out", embedding<4>, Shapes::Dynamic},
    {"quantized_decomposed::embedding_byte.dtype_out", embedding<8>, Shapes::Dynamic},
    {"quantized_decomposed::embedding_byte.out", embedding<8>, Shapes::Dynamic},
    {"quantized_decomposed::mixed_linear.out", mixed_product<true>, Shapes::Dynamic},
    {"quantized_decomposed::mixed_mm.out", mixed_product<false>, Shapes::Dynamic},
    {"quantized_decomposed::quantize_per_channel.out", quantize_per_channel},
    {"quantized_decomposed::quantize_per_tensor.Tensor_out", quantize_by_tensors, Shapes::Dynamic},
    {"quantized_decomposed::quantize_per_tensor.out", quantize_per_tensor, Shapes::Dynamic},
    {"quantized_decomposed::quantize_per_token.out", quantize_per_token},
};

}  // namespace

std::span<const LoweringRow> quantized_rows() { return kRows; }

}  // namespace pteron
