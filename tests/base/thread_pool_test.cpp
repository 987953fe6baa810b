#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

namespace pteron {
namespace {

struct Marks {
  explicit Marks(size_t count) : times(count) {}
  std::vector<std::atomic<int>> times;
  std::atomic<size_t> shortest{SIZE_MAX};  // Of the ranges that do not end the loop.

  static void visit(void* argument, size_t begin, size_t end) {
    auto& marks = *static_cast<Marks*>(argument);
    for (size_t i = begin; i < end; ++i) ++marks.times[i];
    if (end < marks.times.size()) {
      size_t least = marks.shortest;
      while (end - begin < least && !marks.shortest.compare_exchange_weak(least, end - begin)) {
      }
    }
  }
  bool all_once() const {
    for (const auto& count : times) {
      if (count != 1) return false;
    }
    return true;
  }
};

TEST(ThreadPool, CoversEachIndexOnceInRangesOfAtLeastTheGrain) {
  ThreadPool pool(3);
  for (const size_t count : {0, 1, 2, 7, 63, 64, 65, 1000, 4097}) {
    for (const size_t grain : {0, 1, 5, 64, 5000}) {
      Marks marks(count);
      pool.run(count, grain, Marks::visit, &marks);
      EXPECT_TRUE(marks.all_once()) << count << " by " << grain;
      EXPECT_GE(marks.shortest, std::max<size_t>(grain, 1)) << count << " by " << grain;
    }
  }
}

TEST(ThreadPool, SharesALoopAmongItsThreads) {
  ThreadPool pool(2);
  EXPECT_EQ(pool.threads(), 2);
  struct Meeting {
    std::atomic<int> waiting{0};
    std::atomic<int> met{0};
  } meeting;
  // Each of two ranges waits for the other: one thread alone would wait in vain.
  pool.run(
      2, 1,
      [](void* argument, size_t, size_t) {
        auto& shared = *static_cast<Meeting*>(argument);
        ++shared.waiting;
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (shared.waiting < 2 && std::chrono::steady_clock::now() < end)
          std::this_thread::yield();
        if (shared.waiting == 2) ++shared.met;
      },
      &meeting);
  EXPECT_EQ(meeting.met, 2);
}

TEST(ThreadPool, RunsALoopWithinALoopOnItsCaller) {
  ThreadPool pool(4);
  struct Nest {
    ThreadPool& pool;
    std::atomic<int> inner{0};
  } nest{pool};
  pool.run(
      8, 1,
      [](void* argument, size_t begin, size_t end) {
        auto& own = *static_cast<Nest*>(argument);
        for (size_t i = begin; i < end; ++i) {
          own.pool.run(
              10, 1,
              [](void* count, size_t from, size_t to) {
                *static_cast<std::atomic<int>*>(count) += static_cast<int>(to - from);
              },
              &own.inner);
        }
      },
      &nest);
  EXPECT_EQ(nest.inner, 80);
}

TEST(ThreadPool, ServesManyCallersAtATime) {
  ThreadPool pool(2);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        Marks marks(100);
        pool.run(100, 1, Marks::visit, &marks);
        if (!marks.all_once()) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, OfOneThreadStaysOnTheCaller) {
  ThreadPool pool(1);
  std::set<std::thread::id> ids;
  pool.run(
      100, 1,
      [](void* argument, size_t, size_t) {
        static_cast<std::set<std::thread::id>*>(argument)->insert(std::this_thread::get_id());
      },
      &ids);
  EXPECT_EQ(ids, std::set{std::this_thread::get_id()});
}

}  // namespace
}  // namespace pteron
