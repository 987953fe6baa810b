// What a caller's options ask for, in our own terms.
#pragma once

#include <string>
#include <vector>

#include "pteron/pteron.h"
#include "runtime/loaded_program.h"

namespace pteron {

struct OpenedOptions {
  RuntimeOptions runtime;
  bool copy_file = false;
  uint64_t memory_limit = 0;  // 0: the default.
  std::vector<std::string> weights;
  std::string device;
};
Result<OpenedOptions> read_options(const pteron_program_options* options);

// The option `openvino` alone.
Result<std::string> read_openvino_path(const pteron_program_options* options);

// Adds the application's operators and delegates to `runtime`, which keeps what they need.
Result<void> add_custom(const pteron_program_options& options, RuntimeOptions& runtime);

}  // namespace pteron
