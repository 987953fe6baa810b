// OpenVINO's intermediate representation (IR version 11) as a graph: operations of its operator
// sets, in the order they are added, and constants that stay where they are.
//
// Names, attributes and operator sets are those of OpenVINO's specification of each operation. A
// graph does not check them: OpenVINO does when it reads the text (ir/write.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/dtype.h"

namespace pteron::ir {

using Bytes = std::span<const std::byte>;
using Shape = std::vector<int64_t>;

constexpr int64_t kAnySize = -1;  // A dimension whose size a run decides.

// An output of a node.
struct Output {
  uint32_t node = 0;
  uint32_t port = 0;
  auto operator<=>(const Output&) const = default;
};

// A key and its text, unescaped.
using Attributes = std::vector<std::pair<std::string_view, std::string>>;

struct Node {
  std::string_view operation;  // "Convolution"; static text.
  std::string_view opset;      // "opset1"; static text.
  std::string name;            // Of what it stands for; need not be unique.
  std::vector<Output> inputs;
  Attributes attributes;
  std::vector<DType> outputs;
  Shape shape = {};  // Parameters and constants only.
  Bytes data = {};   // Constants only.
};

// Whether IR has a type for the dtype (the packed, quantized and complex ones have none).
bool has_element_type(DType dtype);

class Graph {
 public:
  Output parameter(DType dtype, Shape shape, std::string name);
  // The bytes must stay as long as what is compiled of the graph. The same bytes make one node.
  Output constant(DType dtype, Shape shape, Bytes data);
  // Keeps the bytes.
  Output owned_constant(DType dtype, Shape shape, std::vector<std::byte> data);
  // Keeps a copy of the bytes, of which there should be few; the same bytes make one node.
  Output copied_constant(DType dtype, Shape shape, Bytes data);
  template <typename T>
  Output numbers(DType dtype, std::span<const T> values, bool is_scalar = false) {
    return copied_constant(dtype, is_scalar ? Shape{} : Shape{static_cast<int64_t>(values.size())},
                           std::as_bytes(values));
  }

  // The same operation on the same inputs is one node.
  Output add(std::string_view operation, std::string_view opset, std::vector<Output> inputs,
             Attributes attributes, DType result);
  // The first of several outputs; the others follow it.
  Output add(std::string_view operation, std::string_view opset, std::vector<Output> inputs,
             Attributes attributes, std::vector<DType> results);
  void result(Output output);

  // What nodes stand for from now on: it goes into their names, and comes back in profiles.
  void set_name(std::string name) { name_ = std::move(name); }

  // The shape of an output, for whoever looks for patterns; no part of the text.
  void set_shape(Output output, Shape shape) { shapes_[output] = std::move(shape); }
  const Shape* shape(Output output) const {
    const auto found = shapes_.find(output);
    return found == shapes_.end() ? nullptr : &found->second;
  }

  DType dtype(Output output) const { return nodes_[output.node].outputs[output.port]; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Output>& results() const { return results_; }
  // By node: whether a result needs it. What does not is no part of the model, parameters too.
  std::vector<bool> needed() const;
  // The copies that constants point into. They do not move when the graph does.
  std::deque<std::vector<std::byte>> take_copies() { return std::move(copies_); }

 private:
  Output push(Node node);

  std::string name_;
  std::vector<Node> nodes_;
  std::vector<Output> results_;
  std::map<Output, Shape> shapes_;
  std::deque<std::vector<std::byte>> copies_;
  std::map<std::tuple<const std::byte*, size_t, DType, Shape>, Output> constants_;
  std::map<std::tuple<std::string, DType, Shape>, Output> copied_;
  std::map<std::tuple<std::string_view, std::vector<Output>, Attributes, std::vector<DType>>,
           Output>
      added_;
};

}  // namespace pteron::ir
