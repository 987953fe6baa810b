// Ends a run before its last instruction: another thread cancels it, or its time is over.
//
// A cancellation reaches the run that goes on when it is made, and never the next one.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>

#include "base/result.h"

namespace pteron {

class Stop {
 public:
  using Clock = std::chrono::steady_clock;

  // `seconds`: what a run may take; 0 is no limit.
  explicit Stop(double seconds);

  // A run will begin, on any thread: cancel() reaches it from now on.
  void announce();
  // The thread that runs, around its run; end() alone withdraws an announcement.
  void begin();
  void end();

  // From any thread. Does nothing if no run goes on.
  void cancel();

  bool has_limit() const { return has_limit_; }
  // Whether the run must end: once true, it stays so until the run has ended. One load if there is
  // no limit.
  bool is_due() const {
    return state_.load(std::memory_order_relaxed) == State::Cancelled ||
           (has_limit_ && Clock::now() >= deadline_);
  }
  Clock::duration left() const { return deadline_ - Clock::now(); }
  Error error() const;

  // Something that the run waits for, and that cancel() can interrupt, from its own thread.
  class Waiter {
   public:
    virtual void interrupt() = 0;

   protected:
    ~Waiter() = default;
  };
  // While one lives, cancel() interrupts `waiter`: at once, if the run is cancelled already.
  class Waiting {
   public:
    Waiting(Stop& stop, Waiter& waiter);
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    Stop& stop_;
  };

 private:
  enum class State { Idle, Running, Cancelled };

  bool has_limit_ = false;
  double seconds_ = 0;
  Clock::duration limit_{};
  Clock::time_point deadline_;  // Of the run that goes on.
  bool announced_ = false;
  std::atomic<State> state_{State::Idle};
  std::mutex mutex_;  // Held by cancel(), so that a waiter is there while it is interrupted.
  Waiter* waiter_ = nullptr;
};

}  // namespace pteron
