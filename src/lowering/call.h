// One instruction while it is lowered: its arguments as the graph has them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "lowering/ranges.h"
#include "program/program.h"

namespace pteron {

// An argument. Tensors are outputs of the graph; numbers are known.
struct LoweredTensor {
  const TensorDef* def = nullptr;  // Null: none.
  ir::Output output;
};

class Call {
 public:
  struct Argument {
    const ValueDef* value = nullptr;
    LoweredTensor tensor;             // Tensors.
    std::vector<LoweredTensor> list;  // Lists of tensors, of which those that are none have no def.
    std::vector<int64_t> ints;        // Lists of ints.
    // An int, or a list's, that is known only as it runs: 0-d, int64.
    std::optional<ir::Output> number;
    std::vector<std::optional<ir::Output>> numbers;  // Empty: all of the list are known.
  };

  Call(ir::Graph& target, Ranges& ranges_of_it, std::vector<Argument> arguments)
      : graph(target), ranges(ranges_of_it), arguments_(std::move(arguments)) {}

  ir::Graph& graph;
  Ranges& ranges;

  size_t size() const { return arguments_.size(); }
  // Whether every shape is known, and every number. Where that is not so, only rows are asked that
  // say that they take it: sizes, numel and numbers are then to be read only where is_static(i) or
  // is_known(i) says so; rank and dtype are always known.
  bool has_known_shapes() const;
  bool has_known_numbers() const;
  bool has(size_t i) const { return !std::holds_alternative<NoneDef>(*arguments_[i].value); }

  bool is_known(size_t i) const { return !arguments_[i].number && arguments_[i].numbers.empty(); }
  bool is_static(size_t i) const { return def(i).dynamism == Dynamism::Static; }
  // Of a tensor, read or to be written.
  const TensorDef& def(size_t i) const { return *arguments_[i].tensor.def; }
  DType dtype(size_t i) const { return def(i).dtype; }
  size_t rank(size_t i) const { return def(i).sizes.size(); }
  int64_t size_of(size_t i, size_t dim) const { return def(i).sizes[dim]; }
  std::vector<int64_t> shape(size_t i) const { return {def(i).sizes.begin(), def(i).sizes.end()}; }
  size_t numel(size_t i) const { return def(i).nbytes() / dtype_size(dtype(i)); }
  ir::Output tensor(size_t i) const { return arguments_[i].tensor.output; }
  const std::vector<LoweredTensor>& list(size_t i) const { return arguments_[i].list; }

  bool is_number(size_t i) const;
  double real(size_t i) const;      // An int, double or bool.
  int64_t integer(size_t i) const;  // The same; a double is cut, to 0 if it is NaN.
  bool is_int(size_t i) const { return std::holds_alternative<int64_t>(*arguments_[i].value); }
  bool is_double(size_t i) const { return std::holds_alternative<double>(*arguments_[i].value); }
  bool boolean(size_t i) const { return integer(i) != 0; }
  const std::vector<int64_t>& ints(size_t i) const { return arguments_[i].ints; }
  const std::vector<double>& reals(size_t i) const {
    return std::get<DoubleList>(*arguments_[i].value).items;
  }
  // The same as the graph has them, known or not: 0-d and 1-d, int64.
  ir::Output number(size_t i);
  ir::Output numbers(size_t i);
  // The sizes of a tensor that is read, and one of them, 1-d and 0-d, int64.
  ir::Output sizes(size_t i);
  ir::Output size(size_t i, size_t dim);
  std::string_view string(size_t i) const { return std::get<std::string>(*arguments_[i].value); }

  // What argument i, which is written, is from now on. Of the dtype and shape of its definition.
  void set(size_t i, ir::Output output) { arguments_[i].tensor.output = output, is_set_ = true; }
  void set(size_t i, size_t k, ir::Output output) {
    arguments_[i].list[k].output = output, is_set_ = true;
  }
  bool is_set() const { return is_set_; }

  // ---- Short forms of what many rows add
  ir::Output node(std::string_view operation, std::vector<ir::Output> inputs, DType result,
                  std::string_view opset = "opset1", ir::Attributes attributes = {}) {
    return graph.add(operation, opset, std::move(inputs), std::move(attributes), result);
  }
  ir::Output converted(ir::Output output, DType to);
  ir::Output scalar(double value, DType dtype);  // 0-d; a bool is whether it is not 0.
  ir::Output scalar_of(size_t i, DType dtype);   // Argument i, a number; exact also of int64.
  ir::Output indices(std::span<const int64_t> values, bool is_scalar = false) {
    return graph.numbers<int64_t>(DType::Int64, values, is_scalar);
  }
  ir::Output reshaped(ir::Output output, std::span<const int64_t> shape);
  ir::Output reshaped(ir::Output output, ir::Output shape);
  // Transpositions one after another become one, or none.
  ir::Output transposed(ir::Output output, std::span<const int64_t> order);
  // One number: 1-d, as slices, axes and the like take theirs.
  ir::Output one(int64_t value) { return indices(std::span(&value, 1)); }

 private:
  std::vector<Argument> arguments_;
  bool is_set_ = false;
};

// Why a call stays a kernel; empty: it is lowered.
using Reason = std::string;

// What a row asks of a call's shapes and numbers.
enum class Shapes : uint8_t {
  Known,    // All are known when the method loads.
  Dynamic,  // Tensors may have sizes that a run decides; numbers are known.
  Any,      // Numbers too.
};

struct LoweringRow {
  std::string_view name;  // "aten::add.out"
  // Adds to the graph what computes the call, and sets every result that is read; or says why not.
  Reason (*emit)(Call& call);
  Shapes shapes = Shapes::Known;
};

// Each family's rows.
std::span<const LoweringRow> elementwise_rows();
std::span<const LoweringRow> binary_rows();
std::span<const LoweringRow> comparison_rows();
std::span<const LoweringRow> creation_rows();
std::span<const LoweringRow> extreme_rows();
std::span<const LoweringRow> integer_rows();
std::span<const LoweringRow> layer_rows();
std::span<const LoweringRow> batch_norm_rows();
std::span<const LoweringRow> shape_rows();
std::span<const LoweringRow> reduction_rows();
std::span<const LoweringRow> indexing_rows();
std::span<const LoweringRow> copy_rows();
std::span<const LoweringRow> rearranging_rows();
std::span<const LoweringRow> pad_rows();
std::span<const LoweringRow> pool_rows();
std::span<const LoweringRow> resample_rows();
std::span<const LoweringRow> quantized_rows();
std::span<const LoweringRow> attention_rows();

const LoweringRow* find_row(std::string_view name);

}  // namespace pteron
