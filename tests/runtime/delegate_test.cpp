#include <gtest/gtest.h>

#include <thread>

#include "runtime/program_maker.h"

namespace pteron::test {
namespace {

// The delegate's work: output = input * 3, both float32.
Result<void> triple(KernelContext&, const Args& args) {
  const Tensor& in = args.tensor(0);
  Tensor& out = args.tensor(1);
  PTERON_TRY(out.resize(in.sizes()));
  for (int64_t i = 0; i < in.numel(); ++i) out.data<float>()[i] = in.data<float>()[i] * 3;
  return {};
}

struct WithDelegate {
  explicit WithDelegate(FakeDelegate::Run run = triple) {
    fake->run = std::move(run);
    options.delegates.push_back(fake);
  }
  std::shared_ptr<FakeDelegate> fake = std::make_shared<FakeDelegate>();
  RuntimeOptions options;
};

PlanMaker one_call(std::vector<int32_t> sizes = {2}) {
  PlanMaker maker;
  const ValueIndex x = maker.planned(sizes);
  const ValueIndex y = maker.planned(sizes);
  maker.call_delegate("Fake", {x, y});
  maker.inputs({x}).outputs({y});
  return maker;
}

TEST(Delegate, RunsOnTheCallersMemory) {
  std::vector<void*> seen;
  WithDelegate with([&](KernelContext& context, const Args& args) {
    seen = {args.tensor(0).raw(), args.tensor(1).raw()};
    return triple(context, args);
  });
  const auto method = *load_method(one_call(), with.options);
  auto x = floats({2}, {1, 2});
  auto y = floats({2}, {0, 0});
  ASSERT_TRUE(method->bind_input(0, x.host()).ok());
  ASSERT_TRUE(method->bind_output(0, y.host()).ok());
  ASSERT_TRUE(method->execute().ok());
  EXPECT_EQ(seen, (std::vector<void*>{x.values.data(), y.values.data()}));
  EXPECT_EQ(y.values, (std::vector<float>{3, 6}));
}

TEST(Delegate, IsCompiledOnceForAllMethodsAndInstantiatedForEachCall) {
  WithDelegate with;
  PlanMaker first("a");
  PlanMaker second("b");
  for (PlanMaker* maker : {&first, &second}) {
    const ValueIndex x = maker->planned({1});
    const ValueIndex y = maker->planned({1});
    const ValueIndex z = maker->planned({1});
    maker->call_delegate("Fake", {x, y}, "same bytes");
    maker->call_delegate("Fake", {y, z}, "same bytes");
    maker->inputs({x}).outputs({z});
  }
  const auto program = *load_program({first, second}, with.options);
  const auto a = *Method::load(program, "a");
  const auto b = *Method::load(program, "b");
  EXPECT_EQ(with.fake->compilations, 1);
  EXPECT_EQ(with.fake->instances, 4);
  auto x = floats({1}, {2});
  const HostValue host = x.host();
  ASSERT_TRUE(b->run(std::span(&host, 1)).ok());
  EXPECT_EQ(output(*b), std::vector<float>{18});
}

TEST(Delegate, OfAnotherPayloadIsCompiledByItself) {
  WithDelegate with;
  PlanMaker maker;
  const ValueIndex x = maker.planned({1});
  const ValueIndex y = maker.planned({1});
  const ValueIndex z = maker.planned({1});
  maker.call_delegate("Fake", {x, y}, "one");
  maker.call_delegate("Fake", {y, z}, "two");
  const auto method = *load_method(maker.inputs({x}).outputs({z}), with.options);
  EXPECT_EQ(with.fake->compilations, 2);
  EXPECT_EQ(method->execution().size(), 2u);
}

TEST(Delegate, ThatFailsToCompileIsTriedAgain) {
  WithDelegate with;
  with.fake->before_compile = [] { return Error{Code::Unsupported, "another version's blob"}; };
  const auto program = *load_program({one_call()}, with.options);
  const auto failed = Method::load(program, "forward");
  EXPECT_EQ(code(failed), Code::Unsupported);
  EXPECT_EQ(message(failed),
            "method \"forward\": instruction 0 (delegate Fake): another version's blob");
  with.fake->before_compile = [] { return Result<void>(); };
  EXPECT_TRUE(Method::load(program, "forward").ok());
  EXPECT_EQ(with.fake->compilations, 1);
}

TEST(Delegate, ThatRefusesItsArgumentsFailsTheLoad) {
  WithDelegate with;
  with.fake->check = [](const Args& args) -> Result<void> {
    return Error{Code::Malformed, "the model's input 0 is not " + args.tensor(0).describe()};
  };
  EXPECT_EQ(
      message(load_method(one_call(), with.options)),
      "method \"forward\": instruction 0 (delegate Fake): the model's input 0 is not float32 [2]");
}

TEST(Delegate, ThatFailsNamesItsInstructionAndLeavesTheMethodWhole) {
  bool broken = true;
  WithDelegate with([&](KernelContext& context, const Args& args) -> Result<void> {
    if (broken) return Error{Code::Failed, "the device is gone"};
    return triple(context, args);
  });
  const auto method = *load_method(one_call(), with.options);
  auto x = floats({2}, {1, 2});
  ASSERT_TRUE(method->bind_input(0, x.host()).ok());
  const auto result = method->execute();
  EXPECT_EQ(code(result), Code::Failed);
  EXPECT_EQ(message(result), "method \"forward\": instruction 0 (Fake): the device is gone");
  EXPECT_FALSE(method->output(0).ok());
  broken = false;
  ASSERT_TRUE(method->execute().ok());
  EXPECT_EQ(output(*method), (std::vector<float>{3, 6}));
}

TEST(Delegate, ResizesDynamicOutputsAndCannotPassTheirBounds) {
  int64_t rows = 3;
  WithDelegate with([&](KernelContext&, const Args& args) {
    return args.tensor(1).resize(std::vector<int64_t>{rows, 2});
  });
  PlanMaker maker;
  const ValueIndex x = maker.planned({1});
  const ValueIndex y = maker.dynamic(maker.planned({4, 2}));
  maker.call_delegate("Fake", {x, y});
  const auto method = *load_method(maker.inputs({x}).outputs({y}), with.options);
  auto one = floats({1}, {1});
  ASSERT_TRUE(method->bind_input(0, one.host()).ok());
  ASSERT_TRUE(method->execute().ok());
  EXPECT_EQ(output_shape(*method), (std::vector<int64_t>{3, 2}));
  rows = 5;
  EXPECT_EQ(code(method->execute()), Code::InvalidArgument);
}

TEST(Delegate, ThatForgetsToResizeGivesTheBoundsAndNotTheLastRunsSizes) {
  bool resizes = true;
  WithDelegate with([&](KernelContext&, const Args& args) {
    return resizes ? args.tensor(1).resize(std::vector<int64_t>{1, 2}) : Result<void>();
  });
  PlanMaker maker;
  const ValueIndex y = maker.dynamic(maker.planned({4, 2}));
  const ValueIndex x = maker.planned({1});
  maker.call_delegate("Fake", {x, y});
  const auto method = *load_method(maker.inputs({x}).outputs({y}), with.options);
  auto one = floats({1}, {1});
  ASSERT_TRUE(method->bind_input(0, one.host()).ok());
  ASSERT_TRUE(method->execute().ok());
  resizes = false;
  ASSERT_TRUE(method->execute().ok());
  EXPECT_EQ(output_shape(*method), (std::vector<int64_t>{4, 2}));
}

TEST(Delegate, MayGiveNumbersThatAreGoneAtTheNextRun) {
  WithDelegate with(
      [](KernelContext&, const Args& args) { return args.set_int(1, args.integer(1) + 1); });
  PlanMaker maker;
  const ValueIndex x = maker.planned({1});
  const ValueIndex n = maker.integer(5);
  maker.call_delegate("Fake", {x, n});
  const auto method = *load_method(maker.inputs({x}).outputs({n}), with.options);
  auto one = floats({1}, {1});
  ASSERT_TRUE(method->bind_input(0, one.host()).ok());
  for (int again = 0; again < 2; ++again) {
    ASSERT_TRUE(method->execute().ok());
    EXPECT_EQ(std::get<int64_t>(*method->output(0)), 6);
  }
}

TEST(Delegate, GetsNoTensorThatAMoveMadeUnlikeTheOneItWasMadeFor) {
  WithDelegate with;
  PlanMaker maker;
  const ValueIndex x = maker.dynamic(maker.planned({4}));
  const ValueIndex placeholder = maker.planned({2});
  const ValueIndex y = maker.planned({2});
  maker.move(x, placeholder);
  maker.call_delegate("Fake", {placeholder, y});
  const auto method = *load_method(maker.inputs({x}).outputs({y}), with.options);
  auto four = floats({4}, {1, 2, 3, 4});
  const HostValue host = four.host();
  const auto result = method->run(std::span(&host, 1));
  EXPECT_EQ(code(result), Code::Malformed);
  EXPECT_EQ(
      message(result),
      "method \"forward\": instruction 1 (Fake): value 1 is float32 [<=4] here, but the delegate "
      "was made for float32 [2]");
}

TEST(Delegate, IsInTheReportAfterTheKernels) {
  WithDelegate with;
  PlanMaker maker;
  const ValueIndex x = maker.planned({1});
  const ValueIndex y = maker.planned({1});
  const ValueIndex z = maker.planned({1});
  maker.call_delegate("Fake", {x, y});
  maker.call("test::scale", {y, maker.integer(1), z, z});
  const auto method = *load_method(maker.inputs({x}).outputs({z}), with.options);
  const auto reports = method->execution();
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].ran_by, "kernels");
  EXPECT_EQ(reports[1].ran_by, "Fake");
  EXPECT_EQ((*load_method(one_call(), with.options))->execution().size(), 1u);
}

TEST(Delegate, ShowsItsOwnOperatorsInTheProfile) {
  WithDelegate with;
  with.options.profile = true;
  const auto method = *load_method(one_call(), with.options);
  auto x = floats({2}, {1, 2});
  const HostValue host = x.host();
  ASSERT_TRUE(method->run(std::span(&host, 1)).ok());
  const auto rows = method->profile();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].name, "Fake");
  EXPECT_EQ(rows[0].count, 1u);
  ASSERT_EQ(rows[0].inside.size(), 1u);
  EXPECT_EQ(rows[0].inside[0].type, "Convolution");
}

TEST(Delegate, IsCompiledOnceThoughEightThreadsLoadAtOnce) {
  WithDelegate with;
  with.fake->before_compile = [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return Result<void>();
  };
  const auto program = *load_program({one_call({3})}, with.options);
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      auto method = Method::load(program, "forward");
      if (!method.ok()) return;
      for (int run = 0; run < 200; ++run) {
        const auto start = static_cast<float>(t * 1000 + run);
        auto x = floats({3}, {start, start + 1, start + 2});
        const HostValue host = x.host();
        if (!(*method)->run(std::span(&host, 1)).ok()) return;
        if (output(**method) != std::vector<float>{3 * start, 3 * (start + 1), 3 * (start + 2)})
          return;
      }
      ++right;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 8);
  EXPECT_EQ(with.fake->compilations, 1);
  EXPECT_EQ(with.fake->instances, 8);
}

TEST(Delegate, ThatFailsForOneThreadIsCompiledByTheNext) {
  WithDelegate with;
  std::atomic<int> attempts = 0;
  with.fake->before_compile = [&]() -> Result<void> {
    if (++attempts == 1) return Error{Code::Failed, "the first one fails"};
    return {};
  };
  const auto program = *load_program({one_call()}, with.options);
  std::vector<std::thread> threads;
  std::atomic<int> loaded = 0;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] { loaded += Method::load(program, "forward").ok(); });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(loaded, 7);
  EXPECT_EQ(with.fake->compilations, 1);
}

}  // namespace
}  // namespace pteron::test
