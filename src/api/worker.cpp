#include "api/worker.h"

#include <exception>
#include <new>
#include <utility>

namespace pteron {

Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Worker::start() {
  const std::lock_guard lock(mutex_);
  if (!thread_.joinable()) thread_ = std::thread([this] { loop(); });
  run_ = Run::Asked;
  changed_.notify_all();
}

Result<void> Worker::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return run_ == Run::Done; });
  run_ = Run::None;
  return std::exchange(result_, Result<void>());
}

void Worker::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return run_ == Run::Asked || quit_; });
    if (run_ != Run::Asked) return;
    lock.unlock();
    Result<void> result;
    try {
      result = method_.execute();
    } catch (const std::bad_alloc&) {
      result = Error{Code::ResourceLimit, "out of memory"};
    } catch (const std::exception& e) {
      result = Error{Code::Internal, std::string("a bug in this library: ") + e.what()};
    }
    lock.lock();
    result_ = std::move(result);
    run_ = Run::Done;
    changed_.notify_all();
  }
}

}  // namespace pteron
