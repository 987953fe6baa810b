// The inputs and outputs of a compiled model, and whether a program's values fit them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "openvino/library.h"
#include "runtime/value.h"

namespace pteron {

struct Port {
  std::string name;  // "input 0", "output 1"
  ov::ov_element_type_e type = ov::ov_element_type_e::Dynamic;
  std::optional<DType> dtype;  // Ours, if there is one.
  bool has_rank = false;
  std::vector<ov::ov_dimension_t> dims;

  bool is_static() const;
  bool is_single() const;        // Exactly one element: every size is 1.
  std::string describe() const;  // "float32 [1, ?, 1..64]"
};

struct Ports {
  std::vector<Port> inputs;
  std::vector<Port> outputs;
};

Result<Ports> read_ports(const OpenvinoLibrary& library, const ov::ov_compiled_model_t* model);

// Whether the value may be given to, or filled from, the port: kind, dtype, rank and fixed sizes.
Result<void> check_input(const Port& port, const Value& value);
Result<void> check_output(const Port& port, const Value& value);

}  // namespace pteron
