// Removes a half-written file when an interrupt (Ctrl-C, a request to end) ends the process.
//
// One header, two implementations: interrupt_posix.cpp and interrupt_windows.cpp.
#pragma once

#include <filesystem>

namespace tools {

// While an object lives, an interrupt removes the file and then does what it would have done. One
// object at a time. On Windows only a file of create_file() can be removed while it is open.
class RemovedIfInterrupted {
 public:
  explicit RemovedIfInterrupted(std::filesystem::path file);
  ~RemovedIfInterrupted();
  RemovedIfInterrupted(const RemovedIfInterrupted&) = delete;
  RemovedIfInterrupted& operator=(const RemovedIfInterrupted&) = delete;

 private:
  std::filesystem::path file_;
};

}  // namespace tools
