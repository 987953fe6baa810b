// Compiling stretches of a program's own instructions for OpenVINO: docs/acceleration.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "ir/write.h"
#include "runtime/accelerator.h"

namespace pteron {

// A region, ready to be compiled: the model's inputs and outputs are the region's. Its constants
// lie in the program's files, which outlive what is compiled, and in the model's copies.
struct LoweredRegion {
  ir::Model model;
  // By output: it lies where an input does, so that it must not be written before the model has
  // run.
  std::vector<bool> staged;
};
using CompileRegion =
    std::function<Result<std::shared_ptr<CompiledDelegate>>(LoweredRegion region)>;

enum class Accelerate : uint8_t { Auto, On };  // Where it repays its time; wherever possible.

// For the methods of one program.
std::shared_ptr<Accelerator> make_accelerator(CompileRegion compile, Accelerate when);

}  // namespace pteron
