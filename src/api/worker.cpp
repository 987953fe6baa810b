#include "api/worker.h"

#include <exception>
#include <new>
#include <utility>

#include "base/process.h"

namespace pteron {

Worker::Worker(Method& method) : method_(method), state_(std::make_unique<State>()) {}

Worker::~Worker() {
  if (state_->is_forked()) {
    [[maybe_unused]] const State* kept = state_.release();  // Its thread cannot be joined.
    return;
  }
  {
    const std::lock_guard lock(state_->mutex);
    state_->quit = true;
  }
  state_->changed.notify_all();
  if (state_->thread.joinable()) state_->thread.join();
}

void Worker::start() {
  if (state_->is_forked()) {
    auto state = std::make_unique<State>();
    [[maybe_unused]] const State* kept = state_.release();
    state_ = std::move(state);
  }
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  if (!state.thread.joinable()) {
    state.thread = std::thread([this, &state] { state.loop(method_); });
    state.process = process_id();
  }
  method_.announce();
  state.run = Run::Asked;
  state.changed.notify_all();
}

Result<void> Worker::wait() {
  State& state = *state_;
  if (state.is_forked())
    return Error{Code::Failed, "the run was started before this process was forked"};
  std::unique_lock lock(state.mutex);
  state.changed.wait(lock, [&] { return state.run == Run::Done; });
  state.run = Run::None;
  return std::exchange(state.result, Result<void>());
}

bool Worker::State::is_forked() const { return process != 0 && process != process_id(); }

void Worker::State::loop(Method& method) {
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [this] { return run == Run::Asked || quit; });
    if (run != Run::Asked) return;
    lock.unlock();
    Result<void> outcome;
    try {
      outcome = method.execute();
    } catch (const std::bad_alloc&) {
      outcome = Error{Code::ResourceLimit, "out of memory"};
    } catch (const std::exception& e) {
      outcome = Error{Code::Internal, std::string("a bug in this library: ") + e.what()};
    }
    lock.lock();
    result = std::move(outcome);
    run = Run::Done;
    changed.notify_all();
  }
}

}  // namespace pteron
