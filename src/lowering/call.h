// One instruction while it is lowered: its arguments as the graph has them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
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
    std::vector<LoweredTensor> list;  // Lists of tensors.
    std::vector<int64_t> ints;        // Lists of ints.
  };

  Call(ir::Graph& graph, std::vector<Argument> arguments)
      : graph(graph), arguments_(std::move(arguments)) {}

  ir::Graph& graph;

  size_t size() const { return arguments_.size(); }
  bool has(size_t i) const { return !std::holds_alternative<NoneDef>(*arguments_[i].value); }

  // Of a tensor, read or to be written.
  const TensorDef& def(size_t i) const { return *arguments_[i].tensor.def; }
  DType dtype(size_t i) const { return def(i).dtype; }
  size_t rank(size_t i) const { return def(i).sizes.size(); }
  int64_t size_of(size_t i, size_t dim) const { return def(i).sizes[dim]; }
  std::vector<int64_t> shape(size_t i) const {
    return {def(i).sizes.begin(), def(i).sizes.end()};
  }
  size_t numel(size_t i) const { return def(i).nbytes() / dtype_size(dtype(i)); }
  ir::Output tensor(size_t i) const { return arguments_[i].tensor.output; }
  const std::vector<LoweredTensor>& list(size_t i) const { return arguments_[i].list; }

  bool is_number(size_t i) const;
  double real(size_t i) const;      // An int, double or bool.
  int64_t integer(size_t i) const;  // The same; a double is cut.
  bool is_double(size_t i) const { return std::holds_alternative<double>(*arguments_[i].value); }
  bool boolean(size_t i) const { return integer(i) != 0; }
  const std::vector<int64_t>& ints(size_t i) const { return arguments_[i].ints; }
  std::string_view string(size_t i) const {
    return std::get<std::string>(*arguments_[i].value);
  }

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
  ir::Output scalar(double value, DType dtype);  // 0-d.
  ir::Output indices(std::span<const int64_t> values, bool is_scalar = false) {
    return graph.numbers<int64_t>(DType::Int64, values, is_scalar);
  }
  ir::Output reshaped(ir::Output output, std::span<const int64_t> shape);

 private:
  std::vector<Argument> arguments_;
  bool is_set_ = false;
};

// Why a call stays a kernel; empty: it is lowered.
using Reason = std::string;

struct LoweringRow {
  std::string_view name;  // "aten::add.out"
  Reason (*emit)(Call& call);
};

// Each family's rows.
std::span<const LoweringRow> elementwise_rows();
std::span<const LoweringRow> layer_rows();
std::span<const LoweringRow> shape_rows();
std::span<const LoweringRow> reduction_rows();

const LoweringRow* find_row(std::string_view name);

}  // namespace pteron
