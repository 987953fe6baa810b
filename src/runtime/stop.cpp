#include "runtime/stop.h"

#include <cstdio>
#include <string>
#include <utility>

namespace pteron {
namespace {

// Longer than any run, and far from where the clock's numbers end.
constexpr double kLongest = 1e9;

std::string describe_seconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%g s", seconds);
  return text;
}

}  // namespace

Stop::Stop(double seconds)
    : has_limit_(seconds > 0),
      seconds_(seconds),
      limit_(std::chrono::duration_cast<Clock::duration>(
          std::chrono::duration<double>(seconds < kLongest ? seconds : kLongest))) {}

void Stop::announce() {
  announced_ = true;
  state_.store(State::Running, std::memory_order_relaxed);
}

void Stop::begin() {
  if (!std::exchange(announced_, false)) state_.store(State::Running, std::memory_order_relaxed);
  if (has_limit_) deadline_ = Clock::now() + limit_;
}

void Stop::end() {
  announced_ = false;
  state_.store(State::Idle, std::memory_order_relaxed);
}

void Stop::cancel() {
  const std::lock_guard lock(mutex_);
  State running = State::Running;
  if (!state_.compare_exchange_strong(running, State::Cancelled, std::memory_order_relaxed)) return;
  if (waiter_ != nullptr) waiter_->interrupt();
}

Error Stop::error() const {
  if (state_.load(std::memory_order_relaxed) == State::Cancelled)
    return {Code::Cancelled, "the run was cancelled"};
  return {Code::Cancelled, "the run took longer than its limit of " + describe_seconds(seconds_) +
                               "; raise time_limit if it may take that long"};
}

Stop::Waiting::Waiting(Stop& stop, Waiter& waiter) : stop_(stop) {
  const std::lock_guard lock(stop.mutex_);
  stop.waiter_ = &waiter;
  if (stop.state_.load(std::memory_order_relaxed) == State::Cancelled) waiter.interrupt();
}

Stop::Waiting::~Waiting() {
  const std::lock_guard lock(stop_.mutex_);
  stop_.waiter_ = nullptr;
}

}  // namespace pteron
