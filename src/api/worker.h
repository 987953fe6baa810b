// The thread that runs a method's executions which pteron_method_start begins.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "runtime/method.h"

namespace pteron {

// Made at the first start; joined when destroyed, after the run that is going on.
class Worker {
 public:
  explicit Worker(Method& method) : method_(method) {}
  ~Worker();

  // Throws std::system_error if there is no further thread.
  void start();
  // Waits for the run that start() began, once each.
  Result<void> wait();

 private:
  enum class Run { None, Asked, Done };
  void loop();

  Method& method_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Run run_ = Run::None;
  bool quit_ = false;
  Result<void> result_;
  std::thread thread_;
};

}  // namespace pteron
