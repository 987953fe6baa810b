// Tensors from numbers.
#include <cmath>

#include "lowering/promotion.h"

namespace pteron {
namespace {

using ir::Output;

Output spread(Call& call, Output number) {
  if (call.rank(0) == 0) return number;
  return call.node("Broadcast", {number, call.sizes(0)}, call.graph.dtype(number), "opset3",
                   {{"mode", "numpy"}});
}

Reason fill(Call& call) {
  const DType type = call.dtype(2);
  if (Reason reason = require_operands(call, {1, 2}, type); !reason.empty()) return reason;
  return store(call, 2, spread(call, operand(call, 1, type)), type);
}
Reason fill_by_tensor(Call& call) {
  const DType type = call.dtype(1);
  if (Reason reason = require_operands(call, {1, 2}, type); !reason.empty()) return reason;
  if (call.rank(1) != 0) return "it fills by a tensor that has dimensions";
  return store(call, 2, spread(call, operand(call, 1, type)), type);
}

// ---- Numbers at equal distances

// The greatest range whose elements are constants of the graph.
constexpr double kMostElements = 1 << 16;

struct Arange {
  double start = 0;
  double end = 0;
  double step = 1;
};

Reason known_arange(Call& call, Arange range, size_t out) {
  const DType type = call.dtype(out);
  if (Reason reason = require_operands(call, {out}, type); !reason.empty()) return reason;
  for (const double number : {range.start, range.end, range.step}) {
    if (!(std::fabs(number) < INT32_MAX)) return "its numbers are out of range";
  }
  // For int64, PyTorch cuts the numbers to integers first.
  if (type == DType::Int64)
    range = {std::trunc(range.start), std::trunc(range.end), std::trunc(range.step)};
  if (range.step == 0) return "its step is zero";
  const double count = std::max(0.0, std::ceil((range.end - range.start) / range.step));
  const double wanted = static_cast<double>(call.numel(out));
  if (count < 1 || count > kMostElements ||
      (call.is_static(out) ? count != wanted : count > wanted))
    return "its count does not fit its result";
  const auto size = static_cast<size_t>(count);
  if (is_floating(type)) {
    std::vector<float> values(size);
    for (size_t i = 0; i < size; ++i)
      values[i] = static_cast<float>(range.start + static_cast<double>(i) * range.step);
    const Output numbers =
        call.graph.numbers<float>(DType::Float32, std::span<const float>(values));
    return store(call, out, numbers, DType::Float32);
  }
  std::vector<int32_t> values(size);
  for (size_t i = 0; i < size; ++i) {
    const double value = std::trunc(range.start) + static_cast<double>(i) * std::trunc(range.step);
    if (std::fabs(value) > INT32_MAX) return "its numbers are out of range";
    values[i] = static_cast<int32_t>(value);
  }
  const Output numbers =
      call.graph.numbers<int32_t>(DType::Int32, std::span<const int32_t>(values));
  return store(call, out, numbers, DType::Int32);
}
// Of integers of which a run decides some.
Reason unknown_arange(Call& call, Output start, Output end, Output step, size_t out) {
  if (call.is_static(out)) return "its result does not vary";
  const Output numbers =
      call.node("Range", {start, end, step}, DType::Int64, "opset4", {{"output_type", "i64"}});
  return store(call, out, numbers, DType::Int64);
}

Reason arange(Call& call) {
  if (call.is_known(0)) return known_arange(call, {.end = call.real(0)}, 1);
  const int64_t zero = 0;
  const int64_t one = 1;
  return unknown_arange(call, call.indices(std::span<const int64_t>(&zero, 1), true),
                        call.number(0), call.indices(std::span<const int64_t>(&one, 1), true), 1);
}
Reason arange_between(Call& call) {
  if (call.is_known(0) && call.is_known(1) && call.is_known(2))
    return known_arange(call, {call.real(0), call.real(1), call.real(2)}, 3);
  for (const size_t i : {0, 1, 2}) {
    if (call.is_known(i) && !call.is_int(i)) return "its numbers are no integers";
    if (call.is_known(i) && std::abs(call.real(i)) > INT32_MAX)
      return "its numbers are out of range";
  }
  if (!call.is_known(2) || call.integer(2) < 1) return "its step is not positive";
  return unknown_arange(call, call.number(0), call.number(1), call.number(2), 3);
}

// ---- Dropout that drops nothing

Reason dropout(Call& call) {
  if (!call.has(2) || call.boolean(2)) return "it is random";
  if (!(call.real(1) >= 0 && call.real(1) <= 1)) return "its probability is out of range";
  if (Reason reason = require_floats(call, {0, 3}); !reason.empty()) return reason;
  call.set(3, call.tensor(0));
  return store_truth(call, 4, spread(call, call.scalar(1, DType::Bool)));
}

constexpr LoweringRow kRows[] = {
    {"aten::arange.out", arange, Shapes::Any},
    {"aten::arange.start_out", arange_between, Shapes::Any},
    {"aten::fill.Scalar_out", fill, Shapes::Dynamic},
    {"aten::fill.Tensor_out", fill_by_tensor, Shapes::Dynamic},
    {"aten::native_dropout.out", dropout, Shapes::Dynamic},
};

}  // namespace

std::span<const LoweringRow> creation_rows() { return kRows; }

}  // namespace pteron
