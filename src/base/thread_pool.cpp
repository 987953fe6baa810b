#include "base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/cpu.h"
#include "base/process.h"

namespace pteron {
namespace {

// How often a waiting thread looks before it sleeps: some 50 us, as operators follow each other
// closely.
constexpr int kLooks = 100;
// Ranges a thread: enough to even out threads of unequal speed.
constexpr size_t kRanges = 4;

struct Loop {
  size_t count;
  size_t range;
  ThreadPool::Body body;
  void* argument;
  std::atomic<size_t> next{0};

  void work() {
    for (;;) {
      const size_t begin = next.fetch_add(range, std::memory_order_relaxed);
      if (begin >= count) return;
      body(argument, begin, std::min(begin + range, count));
    }
  }
};

}  // namespace

struct ThreadPool::State {
  std::atomic<int> threads{1};       // Lowered if the system gives fewer.
  std::atomic<uint64_t> process{0};  // Where the threads are; 0 before there are any.
  std::atomic<bool> busy{false};
  std::atomic<unsigned> generation{0};  // Counts loops; changed under the mutex.
  std::atomic<int> working{0};          // Threads inside the loop; changed under the mutex.

  std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable done;
  Loop* loop = nullptr;
  bool stop = false;
  std::vector<std::thread> started;

  void serve();
  void start();
  // A forked child has none of the threads, and what they held or wait for stays so for ever.
  bool is_forked() const {
    const uint64_t started_in = process.load(std::memory_order_relaxed);
    return started_in != 0 && started_in != process_id();
  }
};

void ThreadPool::State::serve() {
  unsigned seen = 0;
  for (;;) {
    for (int i = 0; i < kLooks && generation.load(std::memory_order_relaxed) == seen; ++i)
      std::this_thread::yield();
    std::unique_lock lock(mutex);
    wake.wait(lock, [&] { return stop || generation.load(std::memory_order_relaxed) != seen; });
    if (stop) return;
    seen = generation.load(std::memory_order_relaxed);
    if (loop == nullptr) continue;  // It was over before this thread came.
    Loop& mine = *loop;
    working.fetch_add(1, std::memory_order_relaxed);
    lock.unlock();
    mine.work();
    lock.lock();
    if (working.fetch_sub(1, std::memory_order_release) == 1) done.notify_one();
  }
}

void ThreadPool::State::start() {
  process.store(process_id(), std::memory_order_relaxed);
  while (started.size() + 1 < static_cast<size_t>(threads)) {
    try {
      started.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {
      threads = static_cast<int>(started.size()) + 1;  // The system gives no more.
    }
  }
}

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>()) {
  state_->threads = threads > 0 ? threads : usable_cores();
}

ThreadPool::~ThreadPool() {
  if (state_->is_forked()) {
    [[maybe_unused]] const State* kept = state_.release();  // Its threads cannot be joined.
    return;
  }
  {
    const std::lock_guard lock(state_->mutex);
    state_->stop = true;
  }
  state_->wake.notify_all();
  for (std::thread& thread : state_->started) thread.join();
}

int ThreadPool::threads() const { return state_->threads; }

void ThreadPool::run(size_t count, size_t grain, Body body, void* argument) {
  if (count == 0) return;
  grain = std::max<size_t>(grain, 1);
  State& state = *state_;
  if (count <= grain || state.threads < 2 || state.is_forked() ||
      state.busy.exchange(true, std::memory_order_acquire)) {
    body(argument, 0, count);
    return;
  }
  const size_t wanted = static_cast<size_t>(state.threads) * kRanges;
  Loop loop{count, std::max(grain, (count - 1) / wanted + 1), body, argument};
  {
    const std::lock_guard lock(state.mutex);
    state.start();
    state.loop = &loop;
    state.generation.fetch_add(1, std::memory_order_relaxed);
  }
  state.wake.notify_all();
  loop.work();
  {
    // No thread joins any more; those that did leave the loop before it goes.
    std::unique_lock lock(state.mutex);
    state.loop = nullptr;
    if (state.working.load(std::memory_order_relaxed) > 0) {
      lock.unlock();
      for (int i = 0; i < kLooks && state.working.load(std::memory_order_relaxed) > 0; ++i)
        std::this_thread::yield();
      lock.lock();
      state.done.wait(lock, [&] { return state.working.load(std::memory_order_relaxed) == 0; });
    }
  }
  state.busy.store(false, std::memory_order_release);
}

}  // namespace pteron
