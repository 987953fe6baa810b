// Runs any bytes as a program, through the C interface and within limits, as an application would
// run a file from a stranger. Whatever the bytes are, what comes of it is an error or a result:
// anything else is told as a problem.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace pteron::test {

struct AnyProgramOptions {
  std::string openvino;              // The fake's library; empty: no OpenVINO.
  std::vector<std::string> weights;  // .ptd files that every program is given.
  uint64_t memory_limit = 1 << 20;
  uint64_t instruction_limit = 2000;
};

// What came of it.
struct Outcome {
  std::string problem;  // Empty if all was well.
  size_t results = 0;   // Runs that succeeded.
  size_t errors = 0;    // Programs, methods and runs that did not.
  std::string first_error;
};

// Opens the program, loads each of its methods (sharing state where that goes), runs each on zeros
// and on small numbers, at its upper bounds and below, and reads all that there is to read.
Outcome run_any_program(std::span<const std::byte> program, const AnyProgramOptions& options);

}  // namespace pteron::test
