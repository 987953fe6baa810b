// The operators that networks spend their time in: products, convolutions, norms, softmax,
// in the forms that OpenVINO fuses.
#include <cmath>
#include <cstring>
#include <numeric>

#include "lowering/attention_form.h"
#include "lowering/call.h"
#include "lowering/rules.h"

namespace pteron {
namespace {

using ir::list_text;
using ir::number_text;
using ir::Output;
using Sizes = std::vector<int64_t>;

// [C] as [1, C, 1, 1], for an image of `rank` dimensions.
Output by_channel(Call& call, Output vector, int64_t channels, size_t rank) {
  Sizes shape(rank, 1);
  shape[1] = channels;
  return call.reshaped(vector, shape);
}

// input, weight, bias, stride, padding, dilation, transposed, output_padding, groups
Reason convolution(Call& call) {
  if (Reason reason = require_floats(call, {0, 1, 9}); !reason.empty()) return reason;
  const size_t rank = call.rank(0);
  if (rank < 3 || rank > 5 || call.rank(1) != rank || call.rank(9) != rank)
    return "it is of rank " + std::to_string(rank);
  const size_t spatial = rank - 2;
  const Sizes strides = spread(call.ints(3), spatial, 1);
  const Sizes padding = spread(call.ints(4), spatial, 0);
  const Sizes dilations = spread(call.ints(5), spatial, 1);
  const Sizes added = spread(call.ints(7), spatial, 0);
  const int64_t groups = call.integer(8);
  if (!call.is_static(1)) return "a run decides its weight's shape";
  for (const Sizes* sizes : {&strides, &padding, &dilations, &added}) {
    if (sizes->size() != spatial) return "its lists are not of its dimensions";
  }
  for (size_t d = 0; d < spatial; ++d) {
    if (strides[d] <= 0 || dilations[d] <= 0 || padding[d] < 0 || added[d] < 0)
      return "a stride, dilation or padding is out of range";
  }
  Sizes weight_shape = call.shape(1);
  if (groups < 1 || weight_shape[0] % groups != 0) return "its groups do not fit its weight";
  const bool transposed = call.boolean(6);
  const int64_t channels = transposed ? weight_shape[1] * groups : weight_shape[0];
  Output weight = call.tensor(1);
  if (groups > 1) {
    weight_shape[0] /= groups;
    weight_shape.insert(weight_shape.begin(), groups);
    weight = call.reshaped(weight, weight_shape);
  }
  ir::Attributes attributes{{"strides", list_text(strides)},
                            {"dilations", list_text(dilations)},
                            {"pads_begin", list_text(padding)},
                            {"pads_end", list_text(padding)},
                            {"auto_pad", "explicit"}};
  if (transposed) attributes.emplace_back("output_padding", list_text(added));
  const char* operation = groups > 1
                              ? (transposed ? "GroupConvolutionBackpropData" : "GroupConvolution")
                              : (transposed ? "ConvolutionBackpropData" : "Convolution");
  const DType dtype = call.dtype(9);
  Output result = call.node(operation, {call.tensor(0), weight}, dtype, "opset1", attributes);
  if (call.has(2)) {
    const Output bias = by_channel(call, call.tensor(2), channels, rank);
    result = call.node("Add", {result, bias}, dtype);
  }
  call.set(9, result);
  return {};
}

// The matrices behind a transposition of them, which MatMul does itself.
bool take_transposed(Call& call, Output& matrix) {
  const ir::Node& node = call.graph.nodes()[matrix.node];
  if (node.operation != "Transpose") return false;
  const ir::Node& order = call.graph.nodes()[node.inputs[1].node];
  Sizes axes(order.data.size() / sizeof(int64_t));
  if (order.operation != "Const" || axes.size() < 2) return false;
  std::memcpy(axes.data(), order.data.data(), order.data.size());
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  for (size_t d = 0; d < axes.size(); ++d) {
    if (axes[d] != static_cast<int64_t>(d)) return false;
  }
  matrix = node.inputs[0];
  return true;
}

Output product(Call& call, Output a, Output b, DType dtype) {
  const bool transpose_a = take_transposed(call, a);
  const bool transpose_b = take_transposed(call, b);
  return call.node("MatMul", {a, b}, dtype, "opset1",
                   {{"transpose_a", transpose_a ? "true" : "false"},
                    {"transpose_b", transpose_b ? "true" : "false"}});
}

Reason mm(Call& call) {
  if (Reason reason = require_floats(call, {0, 1, 2}); !reason.empty()) return reason;
  call.set(2, product(call, call.tensor(0), call.tensor(1), call.dtype(2)));
  return {};
}

Reason bmm(Call& call) {
  if (Reason reason = mm(call); !reason.empty()) return reason;
  if (const auto attention = as_attention(call, call.tensor(0), call.tensor(1), 2))
    call.set(2, *attention);
  return {};
}

// beta * bias + alpha * a b
Reason addmm(Call& call) {
  if (Reason reason = require_floats(call, {0, 1, 2, 5}); !reason.empty()) return reason;
  const DType dtype = call.dtype(5);
  Output result = product(call, call.tensor(1), call.tensor(2), dtype);
  Output bias = call.tensor(0);
  if (call.real(4) != 1)
    result = call.node("Multiply", {result, call.scalar(call.real(4), dtype)}, dtype);
  if (call.real(3) != 1)
    bias = call.node("Multiply", {bias, call.scalar(call.real(3), dtype)}, dtype);
  call.set(5, call.node("Add", {result, bias}, dtype));
  return {};
}

Reason linear(Call& call) {
  if (Reason reason = require_floats(call, {0, 1, 3}); !reason.empty()) return reason;
  if (call.rank(0) == 0 || call.rank(1) != 2) return "it is no product with a matrix";
  const DType dtype = call.dtype(3);
  Output result = call.node("MatMul", {call.tensor(0), call.tensor(1)}, dtype, "opset1",
                            {{"transpose_a", "false"}, {"transpose_b", "true"}});
  if (call.has(2)) result = call.node("Add", {result, call.tensor(2)}, dtype);
  call.set(3, result);
  return {};
}

Output normalized(Call& call, Output input, const Sizes& axes, double epsilon, DType dtype) {
  return call.node(
      "MVN", {input, call.indices(axes)}, dtype, "opset6",
      {{"eps", number_text(epsilon)}, {"normalize_variance", "true"}, {"eps_mode", "inside_sqrt"}});
}

Output reduced(Call& call, std::string_view operation, Output input, const Sizes& axes, bool keep) {
  return call.node(operation, {input, call.indices(axes)}, call.graph.dtype(input), "opset1",
                   {{"keep_dims", keep ? "true" : "false"}});
}

// Sets the mean and the reciprocal of the deviation over the axes, which hardly anybody reads: then
// they are no part of the model.
void set_moments(Call& call, size_t mean_at, Output input, const Sizes& axes, double epsilon,
                 bool keep) {
  const DType dtype = call.dtype(mean_at);
  const Output mean = reduced(call, "ReduceMean", input, axes, true);
  const Output rest = call.node("Subtract", {input, mean}, dtype);
  const Output square = call.node("Multiply", {rest, rest}, dtype);
  const Output variance = reduced(call, "ReduceMean", square, axes, keep);
  const Output shifted = call.node("Add", {variance, call.scalar(epsilon, dtype)}, dtype);
  const Output deviation = call.node("Sqrt", {shifted}, dtype);
  call.set(mean_at, keep ? mean : reduced(call, "ReduceMean", input, axes, false));
  call.set(mean_at + 1, call.node("Divide", {call.scalar(1, dtype), deviation}, dtype));
}

// input, normalized_shape, weight, bias, epsilon
Reason layer_norm(Call& call) {
  if (Reason reason = require_floats(call, {0, 5}); !reason.empty()) return reason;
  const size_t count = call.ints(1).size();
  if (count == 0 || count > call.rank(0)) return "its shape is not its input's";
  Sizes axes(count);
  std::iota(axes.begin(), axes.end(), static_cast<int64_t>(call.rank(0) - count));
  const DType dtype = call.dtype(5);
  if (call.dtype(6) == dtype) set_moments(call, 6, call.tensor(0), axes, call.real(4), true);
  Output result = normalized(call, call.tensor(0), axes, call.real(4), dtype);
  if (call.has(2)) result = call.node("Multiply", {result, call.tensor(2)}, dtype);
  if (call.has(3)) result = call.node("Add", {result, call.tensor(3)}, dtype);
  call.set(5, result);
  return {};
}

// input, weight, bias, N, C, HxW, groups, epsilon
Reason group_norm(Call& call) {
  if (Reason reason = require_floats(call, {0, 8}); !reason.empty()) return reason;
  const size_t rank = call.rank(0);
  const int64_t groups = call.integer(6);
  const int64_t channels = call.integer(4);
  if (rank < 2 || groups < 1 || channels % groups != 0) return "its groups do not fit its channels";
  const DType dtype = call.dtype(8);
  const Sizes grouped{0, groups, -1};  // 0: as it is.
  const Sizes axes{2};
  const Output joined = call.node("Reshape", {call.tensor(0), call.indices(grouped)}, dtype,
                                  "opset1", {{"special_zero", "true"}});
  if (call.dtype(9) == dtype) set_moments(call, 9, joined, axes, call.real(7), false);
  Output result = call.reshaped(normalized(call, joined, axes, call.real(7), dtype), call.sizes(0));
  if (call.has(1))
    result =
        call.node("Multiply", {result, by_channel(call, call.tensor(1), channels, rank)}, dtype);
  if (call.has(2))
    result = call.node("Add", {result, by_channel(call, call.tensor(2), channels, rank)}, dtype);
  call.set(8, result);
  return {};
}

template <Text kOperation, Text kOpset>
Reason softmax(Call& call) {
  if (Reason reason = require_floats(call, {0, 3}); !reason.empty()) return reason;
  if (call.rank(0) == 0 || !is_dim(call.integer(1), call.rank(0))) return "it has no dimension";
  const size_t dim = wrapped(call.integer(1), call.rank(0));
  const Output x = call.tensor(0);
  Output result = call.node(kOperation.view(), {x}, call.dtype(3), kOpset.view(),
                            {{"axis", std::to_string(dim)}});
  if (call.dtype(3) == DType::Float16) {
    // The row of a NaN or of infinity would be 0 elsewhere.
    const Output is_less =
        call.node("Less", {x, call.scalar(HUGE_VAL, DType::Float16)}, DType::Bool);
    const Output is_nan = call.node("LogicalNot", {is_less}, DType::Bool);
    const Output has_nan =
        call.node("ReduceLogicalOr", {is_nan, call.one(static_cast<int64_t>(dim))}, DType::Bool,
                  "opset1", {{"keep_dims", "true"}});
    result = call.node("Select", {has_nan, call.scalar(NAN, DType::Float16), result},
                       DType::Float16, "opset1", {{"auto_broadcast", "numpy"}});
  }
  call.set(3, result);
  return {};
}

constexpr LoweringRow kRows[] = {
    {"aten::_log_softmax.out", softmax<"LogSoftmax", "opset5">, Shapes::Dynamic},
    {"aten::_softmax.out", softmax<"SoftMax", "opset8">, Shapes::Dynamic},
    {"aten::addmm.out", addmm, Shapes::Dynamic},
    {"aten::bmm.out", bmm, Shapes::Dynamic},
    {"aten::convolution.out", convolution, Shapes::Dynamic},
    {"aten::linear.out", linear, Shapes::Dynamic},
    {"aten::mm.out", mm, Shapes::Dynamic},
    {"aten::native_group_norm.out", group_norm, Shapes::Dynamic},
    {"aten::native_layer_norm.out", layer_norm, Shapes::Dynamic},
};

}  // namespace

std::span<const LoweringRow> layer_rows() { return kRows; }

}  // namespace pteron
