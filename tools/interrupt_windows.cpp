#include <utility>

#include "interrupt.h"

namespace tools {

RemovedIfInterrupted::RemovedIfInterrupted(std::filesystem::path file) : file_(std::move(file)) {}
RemovedIfInterrupted::~RemovedIfInterrupted() = default;

}  // namespace tools
