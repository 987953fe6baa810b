// A pool of threads that share loops. Its threads start at its first loop that is worth sharing.
// In the child of a process that forked after that, loops run on their callers' threads.
#pragma once

#include <cstddef>
#include <memory>

namespace pteron {

class ThreadPool {
 public:
  using Body = void (*)(void* argument, size_t begin, size_t end);

  // `threads` in all, the calling one included; 0 means usable_cores().
  explicit ThreadPool(int threads);
  ~ThreadPool();  // Waits for its threads; no loop may be running.
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const;
  // Calls body(argument, begin, end), which must not throw, on ranges that cover [0, count) once,
  // each at least `grain` long but the last, and returns when all are done. Any thread may call it;
  // while one loop is shared, another one (or one within it) runs on its caller's thread alone.
  void run(size_t count, size_t grain, Body body, void* argument);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pteron
