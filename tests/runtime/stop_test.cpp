// Runs that end before their last instruction: cancelled from another thread, or over their time.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "runtime/program_maker.h"

namespace pteron::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Runs for as long as its input is false.
PlanMaker endless_if_false() {
  PlanMaker maker;
  const ValueIndex go_on = maker.planned({1}, DType::Bool);
  maker.jump_false(go_on, 0);
  return maker.inputs({go_on});
}

struct Switch {
  uint8_t value;
  int64_t shape[1] = {1};
  HostValue host() { return ArrayView{&value, DType::Bool, shape, nullptr}; }
};

RuntimeOptions unbounded(double time_limit = 0) {
  RuntimeOptions options;
  options.instruction_limit = UINT64_MAX;
  options.time_limit = time_limit;
  return options;
}

Result<void> run(Method& method, bool ends) {
  Switch flag{ends};
  const HostValue inputs[] = {flag.host()};
  return method.run(inputs);
}

TEST(TimeLimit, EndsALoopThatNeverEndsAndTheMethodWorksAfterwards) {
  const auto method = *load_method(endless_if_false(), unbounded(0.05));
  for (int round = 0; round < 3; ++round) {
    const auto start = Clock::now();
    const auto result = run(*method, false);
    EXPECT_GE(Clock::now() - start, milliseconds(50));
    EXPECT_EQ(code(result), Code::Cancelled);
    EXPECT_EQ(message(result),
              "method \"forward\": before instruction 0: the run took longer than its limit of "
              "0.05 s; raise time_limit if it may take that long");
    EXPECT_TRUE(run(*method, true).ok());
  }
}

TEST(TimeLimit, IsOfEachRunAndNotOfAllTogether) {
  const auto method = *load_method(endless_if_false(), unbounded(0.2));
  const auto end = Clock::now() + milliseconds(300);
  while (Clock::now() < end) ASSERT_TRUE(run(*method, true).ok());
}

TEST(TimeLimit, MayBeLongerThanAnyClock) {
  const auto method = *load_method(endless_if_false(), unbounded(1e300));
  EXPECT_TRUE(run(*method, true).ok());
}

TEST(TimeLimit, CountsTheLastInstructionToo) {
  auto delegate = std::make_shared<FakeDelegate>();
  milliseconds takes{60};
  delegate->run = [&](KernelContext&, const Args&) -> Result<void> {
    std::this_thread::sleep_for(takes);
    return {};
  };
  PlanMaker maker;
  const ValueIndex x = maker.planned({1});
  const ValueIndex y = maker.planned({1});
  maker.call_delegate("Fake", {x, y});
  RuntimeOptions options = unbounded(0.05);
  options.delegates.push_back(delegate);
  const auto method = *load_method(maker.outputs({y}), options);
  EXPECT_EQ(code(method->execute()), Code::Cancelled);
  EXPECT_FALSE(method->output(0).ok());
  takes = milliseconds(0);
  EXPECT_TRUE(method->execute().ok());
  EXPECT_TRUE(method->output(0).ok());
}

TEST(Cancel, EndsTheRunThatGoesOnAndTheMethodWorksAfterwards) {
  const auto method = *load_method(endless_if_false(), unbounded());
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> over = false;
    // The first ones may come before the run, which they must not reach.
    std::thread canceller([&] {
      while (!over) {
        method->cancel();
        std::this_thread::yield();
      }
    });
    const auto result = run(*method, false);
    over = true;
    canceller.join();
    EXPECT_EQ(code(result), Code::Cancelled);
    EXPECT_EQ(message(result), "method \"forward\": before instruction 0: the run was cancelled");
    EXPECT_TRUE(run(*method, true).ok());
  }
}

TEST(Cancel, OfNoRunDoesNothing) {
  const auto method = *load_method(endless_if_false(), unbounded());
  method->cancel();
  EXPECT_TRUE(run(*method, true).ok());
  method->cancel();
  EXPECT_TRUE(run(*method, true).ok());
}

TEST(Cancel, ReachesARunThatIsAnnounced) {
  const auto method = *load_method(endless_if_false(), unbounded());
  Switch ends{1};
  ASSERT_TRUE(method->bind_input(0, ends.host()).ok());
  method->announce();
  method->cancel();
  EXPECT_EQ(code(method->execute()), Code::Cancelled);
  EXPECT_TRUE(method->execute().ok());
}

TEST(Cancel, LeavesOutTheRestOfALoopThatThreadsShare) {
  static std::atomic<Method*> running;
  static std::atomic<int> ranges;
  static std::atomic<bool> went_on;
  running = nullptr;
  const KernelFunction function = [](KernelContext& context, const Args&,
                                     const Kernel&) -> Result<void> {
    context.parallel(1000, 1, [](size_t, size_t) {
      ++ranges;
      if (Method* method = running) method->cancel();
    });
    went_on = true;
    return {};
  };
  const Kernel kernel{"test::long", "T>T", function};
  PlanMaker maker;
  const ValueIndex x = maker.planned({1});
  const ValueIndex y = maker.planned({1});
  maker.call("test::long", {x, y});
  RuntimeOptions options = unbounded();
  options.kernels.push_back({&kernel, 1});
  options.threads = 1;
  // An application's threads, which cut a loop into a hundred ranges.
  options.parallel_for.run = [](void*, size_t count, size_t, ParallelBody body, void* argument) {
    for (size_t begin = 0; begin < count; begin += 10) body(argument, begin, begin + 10);
  };
  const auto method = *load_method(maker.outputs({y}), options);
  EXPECT_TRUE(method->execute().ok());
  EXPECT_EQ(ranges.exchange(0), 100);
  EXPECT_TRUE(went_on.exchange(false));
  running = method.get();
  const auto result = method->execute();
  EXPECT_EQ(code(result), Code::Cancelled);
  EXPECT_EQ(message(result),
            "method \"forward\": instruction 0 (test::long): the run was cancelled");
  EXPECT_EQ(ranges, 1);
  EXPECT_FALSE(went_on);
  running = nullptr;
  EXPECT_TRUE(method->execute().ok());
}

}  // namespace
}  // namespace pteron::test
