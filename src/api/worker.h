// The thread that runs a method's executions which pteron_method_start begins.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "runtime/method.h"

namespace pteron {

// Made at the first start; joined when destroyed, after the run that is going on. The child of a
// fork has no such thread, and starts one of its own.
class Worker {
 public:
  explicit Worker(Method& method);
  ~Worker();

  // Throws std::system_error if there is no further thread.
  void start();
  // Waits for the run that start() began, once each. Fails if that was before a fork.
  Result<void> wait();

 private:
  enum class Run { None, Asked, Done };
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    Run run = Run::None;
    bool quit = false;
    Result<void> result;
    std::thread thread;
    uint64_t process = 0;  // Where the thread is; 0 before there is one.

    void loop(Method& method);
    bool is_forked() const;
  };

  Method& method_;
  std::unique_ptr<State> state_;
};

}  // namespace pteron
