// The fake's models: their text (fake_openvino.h describes it) to a struct, and what they compute.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "openvino/types.h"

namespace fake {

using pteron::ov::ov_element_type_e;

struct Dimension {
  int64_t min = 0;
  int64_t max = 0;  // -1: no upper bound.
};

struct Port {
  ov_element_type_e type = ov_element_type_e::F32;
  bool any_rank = false;
  std::vector<Dimension> dims;
  std::string name;

  bool accepts(const std::vector<int64_t>& shape) const;
  bool is_fixed() const;
  std::vector<int64_t> fixed_shape() const;
};

struct Model {
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::string op;
  std::string argument;             // Of fail.
  std::vector<int64_t> fill_shape;  // Of fill.
  double fill_value = 0;
};

// Nothing if the text is not a model.
std::optional<Model> parse_model(std::string_view text);

size_t element_size(ov_element_type_e type);  // 0: not a type the fake knows.

// A tensor's memory: its own, or borrowed from the caller.
struct Buffer {
  ov_element_type_e type = ov_element_type_e::F32;
  std::vector<int64_t> shape;
  std::vector<std::byte> own;
  std::byte* borrowed = nullptr;
  size_t capacity = 0;  // Of what is borrowed.

  std::byte* data() { return borrowed ? borrowed : own.data(); }
  size_t byte_size() const;
  // False if borrowed memory is too small.
  bool reshape(const std::vector<int64_t>& new_shape);
};

std::optional<size_t> byte_size_of(ov_element_type_e type, const std::vector<int64_t>& shape);

// Computes the outputs, which it reshapes. Empty, or what is wrong.
std::string compute(const Model& model, const std::vector<std::shared_ptr<Buffer>>& inputs,
                    const std::vector<std::shared_ptr<Buffer>>& outputs, int64_t run_number);

}  // namespace fake
