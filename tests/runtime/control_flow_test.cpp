// Moves, jumps, frees; what a run changes is put back before the next one.
#include <gtest/gtest.h>

#include <chrono>
#include <new>

#include "runtime/program_maker.h"

namespace pteron::test {
namespace {

Result<void> run(Method& method, std::vector<Array<float>>& arrays) {
  std::vector<HostValue> values;
  for (auto& array : arrays) values.push_back(array.host());
  return method.run(values);
}
Result<void> run(Method& method, Array<float> array) {
  std::vector<Array<float>> arrays = {std::move(array)};
  // The array must outlive the outputs that may be views of it, so tests copy those at once.
  return run(method, arrays);
}

// if all(x > 0): out = x + 10 else: out = x * 2, as torch.cond is exported.
PlanMaker conditional() {
  PlanMaker maker;
  const ValueIndex x = maker.planned({2});
  const ValueIndex condition = maker.planned({2}, DType::Bool);
  const ValueIndex sum = maker.planned({2});
  const ValueIndex product = maker.planned({2});
  const ValueIndex out = maker.planned({2});
  const ValueIndex never = maker.boolean(false);
  const ValueIndex ten = maker.constant({1}, {10});
  maker.call("test::is_positive", {x, condition, condition});
  const uint32_t to_else = maker.jump_false(condition, 0);
  maker.call("test::add", {x, ten, sum, sum});
  maker.move(sum, out);
  const uint32_t to_end = maker.jump_false(never, 0);
  maker.set_destination(to_else, maker.next());
  maker.call("test::scale", {x, maker.integer(2), product, product});
  maker.move(product, out);
  maker.set_destination(to_end, maker.next());
  maker.inputs({x}).outputs({out});
  return maker;
}

TEST(Jump, IsTakenIfAnyElementIsFalse) {
  const auto method = *load_method(conditional());
  ASSERT_TRUE(run(*method, floats({2}, {1, 2})).ok());
  EXPECT_EQ(output(*method), (std::vector<float>{11, 12}));
  ASSERT_TRUE(run(*method, floats({2}, {1, -2})).ok());
  EXPECT_EQ(output(*method), (std::vector<float>{2, -4}));
  ASSERT_TRUE(run(*method, floats({2}, {3, 4})).ok());
  EXPECT_EQ(output(*method), (std::vector<float>{13, 14}));
}

// out[i] = x + i for i < 4, as torch's map is exported.
PlanMaker loop(int64_t count) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({2});
  const ValueIndex row = maker.planned({2});
  const ValueIndex out = maker.dynamic(maker.planned({4, 2}));
  const ValueIndex i = maker.integer(0);
  const ValueIndex more = maker.boolean(false);
  const ValueIndex one = maker.integer(1);
  const ValueIndex end = maker.integer(count);
  const ValueIndex stop = maker.boolean(true);
  const uint32_t top = maker.next();
  maker.call("test::scale", {x, i, row, row});
  maker.call("test::append", {out, row, i});
  maker.call("test::plus", {i, one, i, i});
  maker.call("test::less", {i, end, more, more});
  maker.call("test::less", {more, one, stop, stop});
  maker.jump_false(stop, top);
  maker.inputs({x}).outputs({out, i});
  return maker;
}

TEST(Loop, CountsFromItsStartInEveryRun) {
  const auto method = *load_method(loop(4));
  for (int again = 0; again < 3; ++again) {
    ASSERT_TRUE(run(*method, floats({2}, {1, 2})).ok());
    EXPECT_EQ(output(*method), (std::vector<float>{0, 0, 1, 2, 2, 4, 3, 6}));
    EXPECT_EQ(std::get<int64_t>(*method->output(1)), 4);
  }
}

TEST(Loop, WhatItGathersIsNoState) {
  const auto method = *load_method(loop(4));
  EXPECT_TRUE(method->states().empty());
}

TEST(Loop, ThatFailsHalfwayLeavesTheMethodWhole) {
  // The fifth row does not fit.
  const auto method = *load_method(loop(5));
  for (int again = 0; again < 2; ++again) {
    const auto result = run(*method, floats({2}, {1, 2}));
    EXPECT_EQ(code(result), Code::InvalidArgument);
    EXPECT_EQ(message(result),
              "method \"forward\": instruction 1 (test::append): shape [5, 2] does not fit the "
              "program's upper bounds, float32 [<=4, <=2]; with argument 0 (float32 [4, 2]), "
              "argument 1 (float32 [2]), argument 2 (4)");
    EXPECT_FALSE(method->output(0).ok());
  }
}

TEST(Loop, ThatNeverEndsMeetsTheInstructionLimit) {
  PlanMaker maker;
  maker.jump_false(maker.boolean(false), 0);
  RuntimeOptions options;
  options.instruction_limit = 1000;
  const auto method = *load_method(maker, options);
  const auto result = method->execute();
  EXPECT_EQ(code(result), Code::ResourceLimit);
  EXPECT_EQ(message(result),
            "method \"forward\": it ran more instructions than the limit of 1000; raise "
            "instruction_limit if its loops are that long");
}

TEST(Limit, IsAlsoOfTheScratchMemoryOfOneCall) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({1});
  const ValueIndex y = maker.planned({1});
  maker.call("test::scratch", {maker.integer(1000), x, x});
  maker.call("test::scratch", {maker.integer(600), y, y});
  RuntimeOptions options;
  options.memory_limit = 1000;
  EXPECT_TRUE((*load_method(maker, options))->execute().ok());
  options.memory_limit = 999;
  const auto method = *load_method(maker, options);
  const auto result = method->execute();
  EXPECT_EQ(code(result), Code::ResourceLimit);
  EXPECT_EQ(message(result),
            "method \"forward\": instruction 0 (test::scratch): it needs more memory while it runs "
            "than the limit of 999 bytes; raise memory_limit if the file is trusted");
}

// An operator may check an index, write, and read the index again.
TEST(Arguments, ThatAreWrittenShareNoMemoryWithOthers) {
  const auto run_add = [](uint64_t a, uint64_t b, uint64_t out) {
    PlanMaker maker;
    const ValueIndex x = maker.planned_at(a, {4});
    const ValueIndex y = maker.planned_at(b, {4});
    const ValueIndex z = maker.planned_at(out, {4});
    maker.call("test::add", {x, y, z, z});
    const auto method = *load_method(maker.outputs({z}));
    return message(method->execute());
  };
  EXPECT_EQ(run_add(0, 16, 32), "");
  EXPECT_EQ(run_add(0, 0, 16), "");
  for (const uint64_t out : {uint64_t{0}, uint64_t{12}, uint64_t{16}, uint64_t{28}}) {
    EXPECT_EQ(run_add(0, 16, out),
              "method \"forward\": instruction 0 (test::add): it writes value 2, which shares "
              "memory with value " +
                  std::to_string(out < 16 ? 0 : 1) + ", another of its arguments");
  }
  // A long input that begins before the output, and a short one between them.
  PlanMaker maker;
  const ValueIndex x = maker.planned_at(0, {64});
  const ValueIndex y = maker.planned_at(4, {1});
  const ValueIndex z = maker.planned_at(128, {1});
  maker.call("test::add", {x, y, z, z});
  const auto method = *load_method(maker.outputs({z}));
  EXPECT_EQ(code(method->execute()), Code::Malformed);
}

// 100,000 outputs: each pair of them looked at would take minutes.
TEST(Arguments, MayBeMany) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({1});
  std::vector<ValueIndex> items;
  for (int i = 0; i < 100'000; ++i) items.push_back(maker.planned({1}));
  maker.call("test::ignore", {x, maker.list(items)});
  const auto method = *load_method(maker.outputs({items[0]}));
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(method->execute().ok());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), 2.0);
}

TEST(Arguments, ThatAreWrittenShareNoMemoryWithEachOther) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({4});
  const ValueIndex y = maker.planned_at(64, {2});
  const ValueIndex z = maker.planned_at(68, {2});
  maker.call("test::split", {x, y, z, y, z});
  const auto method = *load_method(maker.outputs({y}));
  EXPECT_EQ(code(method->execute()), Code::Malformed);
}

TEST(Arguments, ThatAMoveMadeOneAreSeen) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({2});
  const ValueIndex y = maker.planned({2});
  maker.move(x, y);
  maker.call("test::scale", {x, maker.integer(1), y, y});
  const auto method = *load_method(maker.outputs({y}));
  EXPECT_EQ(code(method->execute()), Code::Malformed);
}

TEST(Arguments, OfADelegateShareNoMemoryEither) {
  auto delegate = std::make_shared<FakeDelegate>();
  PlanMaker maker;
  const ValueIndex x = maker.planned_at(0, {2});
  const ValueIndex y = maker.planned_at(4, {2});
  maker.call_delegate("Fake", {x, y});
  RuntimeOptions options;
  options.delegates.push_back(delegate);
  const auto method = *load_method(maker.outputs({y}), options);
  EXPECT_EQ(code(method->execute()), Code::Malformed);
}

TEST(Limit, AllowsAsManyInstructionsAsItSays) {
  PlanMaker maker;
  const ValueIndex i = maker.integer(0);
  maker.call("test::plus", {i, i, i});
  maker.call("test::plus", {i, i, i});
  RuntimeOptions options;
  options.instruction_limit = 2;
  EXPECT_TRUE((*load_method(maker, options))->execute().ok());
  options.instruction_limit = 1;
  EXPECT_EQ(code((*load_method(maker, options))->execute()), Code::ResourceLimit);
}

TEST(Move, LetsBothValuesShareOneTensorUntilTheNextRun) {
  // The second run reads `out` before anything is moved there: it must be its own tensor again.
  PlanMaker maker;
  const ValueIndex x = maker.planned({1});
  const ValueIndex placeholder = maker.planned({1});
  const ValueIndex before = maker.planned({1});
  const ValueIndex after = maker.planned({1});
  maker.call("test::scale", {placeholder, maker.integer(1), before, before});
  maker.move(x, placeholder);
  maker.call("test::scale", {placeholder, maker.integer(1), after, after});
  const auto method = *load_method(maker.inputs({x}).outputs({before, after}));
  for (int again = 0; again < 2; ++again) {
    ASSERT_TRUE(run(*method, floats({1}, {7})).ok());
    EXPECT_EQ(output(*method, 0), std::vector<float>{0});
    EXPECT_EQ(output(*method, 1), std::vector<float>{7});
  }
}

TEST(Move, OfANumberIsPutBackToo) {
  PlanMaker maker;
  const ValueIndex from = maker.integer(3);
  const ValueIndex to = maker.integer(1);
  const ValueIndex before = maker.integer(0);
  maker.call("test::plus", {to, maker.integer(0), before, before});
  maker.move(from, to);
  const auto method = *load_method(maker.outputs({before, to}));
  for (int again = 0; again < 2; ++again) {
    ASSERT_TRUE(method->execute().ok());
    EXPECT_EQ(std::get<int64_t>(*method->output(0)), 1);
    EXPECT_EQ(std::get<int64_t>(*method->output(1)), 3);
  }
}

TEST(Move, BetweenTensorsThatDifferIsRefusedAtLoad) {
  PlanMaker maker;
  const ValueIndex two = maker.planned({2});
  const ValueIndex three = maker.planned({3});
  maker.move(two, three);
  const auto sizes = load_method(maker);
  EXPECT_EQ(code(sizes), Code::Malformed);
  EXPECT_EQ(
      message(sizes),
      "method \"forward\": instruction 0: it moves float32 [2] (value 0) to float32 [3] (value "
      "1); dtype, memory order and fixed sizes must be the same");
  PlanMaker dtypes;
  dtypes.move(dtypes.planned({2}, DType::Int32), dtypes.planned({2}));
  EXPECT_EQ(code(load_method(dtypes)), Code::Malformed);
  PlanMaker orders;
  orders.move(orders.planned({1, 2, 3, 4}), orders.channels_last(orders.planned({1, 2, 3, 4})));
  EXPECT_EQ(code(load_method(orders)), Code::Malformed);
}

TEST(Move, FromADynamicTensorKeepsItsSizes) {
  PlanMaker maker;
  const ValueIndex x = maker.dynamic(maker.planned({4}));
  const ValueIndex y = maker.dynamic(maker.planned({4}));
  const ValueIndex out = maker.dynamic(maker.planned({8}));
  maker.call("test::scale", {x, maker.integer(2), y, y});
  maker.move(y, out);
  const auto method = *load_method(maker.inputs({x}).outputs({out}));
  ASSERT_TRUE(run(*method, floats({3}, {1, 2, 3})).ok());
  EXPECT_EQ(output(*method), (std::vector<float>{2, 4, 6}));
}

TEST(Free, TakesATensorsMemoryUntilTheNextRun) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({1});
  const ValueIndex y = maker.planned({1});
  const ValueIndex z = maker.planned({1});
  maker.call("test::scale", {x, maker.integer(2), y, y});
  maker.call("test::scale", {y, maker.integer(2), z, z});
  maker.free(y);
  const auto method = *load_method(maker.inputs({x}).outputs({z}));
  for (int again = 0; again < 2; ++again) {
    ASSERT_TRUE(run(*method, floats({1}, {1})).ok());
    EXPECT_EQ(output(*method), std::vector<float>{4});
  }
}

TEST(Free, BeforeTheLastReadIsAnErrorThatSaysWhere) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({1});
  const ValueIndex y = maker.planned({1});
  maker.free(x);
  maker.call("test::scale", {x, maker.integer(2), y, y});
  const auto method = *load_method(maker.inputs({x}).outputs({y}));
  const auto result = run(*method, floats({1}, {1}));
  EXPECT_EQ(code(result), Code::Malformed);
  EXPECT_EQ(message(result),
            "method \"forward\": instruction 1 (test::scale): value 0 has no memory here");
}

TEST(Free, OfAnOutputIsAnError) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({1});
  maker.free(x);
  const auto method = *load_method(maker.inputs({x}).outputs({x}));
  const auto result = run(*method, floats({1}, {1}));
  EXPECT_EQ(code(result), Code::Malformed);
  EXPECT_EQ(message(result), "method \"forward\": output 0 \"output0\" has no memory at the end");
}

TEST(Free, OfAMovedTensorTakesTheMemoryOfBothUntilTheNextRun) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({1});
  const ValueIndex y = maker.planned({1});
  const ValueIndex z = maker.planned({1});
  const ValueIndex out = maker.planned({1});
  maker.call("test::scale", {x, maker.integer(2), y, y});
  maker.call("test::scale", {y, maker.integer(2), out, out});
  maker.move(y, z);
  maker.free(z);
  const auto method = *load_method(maker.inputs({x}).outputs({out}));
  for (int again = 0; again < 2; ++again) {
    ASSERT_TRUE(run(*method, floats({1}, {1})).ok());
    EXPECT_EQ(output(*method), std::vector<float>{4});
  }
}

TEST(Memory, ThatIsNeverGivenIsAnErrorAndNoCrash) {
  PlanMaker maker;
  const ValueIndex nowhere = maker.unplanned({1});
  const ValueIndex out = maker.planned({1});
  maker.call("test::scale", {nowhere, maker.integer(2), out, out});
  const auto result = (*load_method(maker.outputs({out})))->execute();
  EXPECT_EQ(code(result), Code::Malformed);
  EXPECT_EQ(message(result),
            "method \"forward\": instruction 0 (test::scale): value 0 has no memory here");
}

TEST(Memory, ThatAListsTensorLacksIsAnErrorToo) {
  PlanMaker maker;
  const ValueIndex a = maker.planned({1});
  const ValueIndex list = maker.list({a, maker.unplanned({1})});
  const ValueIndex out = maker.planned({2});
  maker.call("test::concat", {list, out, out});
  EXPECT_EQ(code((*load_method(maker.outputs({out})))->execute()), Code::Malformed);
}

TEST(Memory, ThatAConditionLacksIsAnErrorToo) {
  PlanMaker maker;
  maker.jump_false(maker.unplanned({1}, DType::Bool), 0);
  const auto result = (*load_method(maker))->execute();
  EXPECT_EQ(code(result), Code::Malformed);
  EXPECT_EQ(message(result),
            "method \"forward\": instruction 0 jumps on value 0, which has no memory here");
}

TEST(View, TakesItsPointerFromItsSourceAndLosesItAtTheNextRun) {
  PlanMaker maker;
  const ValueIndex x = maker.dynamic(maker.planned({2}));
  const ValueIndex view = maker.dynamic(maker.unplanned({2}));
  const ValueIndex out = maker.dynamic(maker.planned({2}));
  maker.call("test::view", {x, view, view});
  maker.call("test::scale", {view, maker.integer(3), out, out});
  const auto method = *load_method(maker.inputs({x}).outputs({out}));
  ASSERT_TRUE(run(*method, floats({2}, {1, 2})).ok());
  EXPECT_EQ(output(*method), (std::vector<float>{3, 6}));
  ASSERT_TRUE(run(*method, floats({1}, {5})).ok());
  EXPECT_EQ(output(*method), (std::vector<float>{15}));
}

TEST(Failure, NamesMethodInstructionAndOperator) {
  PlanMaker maker("encode");
  const ValueIndex x = maker.planned({1});
  const ValueIndex y = maker.planned({1});
  maker.call("test::scale", {x, maker.integer(2), y, y});
  maker.call("test::fail", {x, y, y});
  const auto method = *load_method(maker.inputs({x}).outputs({y}));
  const auto result = run(*method, floats({1}, {1}));
  EXPECT_EQ(code(result), Code::Failed);
  EXPECT_EQ(message(result), "method \"encode\": instruction 1 (test::fail): as it should");
}

TEST(Failure, ByAnExceptionLeavesTheMethodWhole) {
  // x < 0 takes the branch that runs out of memory.
  PlanMaker maker;
  const ValueIndex x = maker.planned({1});
  const ValueIndex positive = maker.planned({1}, DType::Bool);
  const ValueIndex y = maker.planned({1});
  const ValueIndex n = maker.integer(0);
  maker.call("test::plus", {n, maker.integer(1), n, n});
  maker.call("test::is_positive", {x, positive, positive});
  const uint32_t to_fail = maker.jump_false(positive, 0);
  maker.call("test::scale", {x, n, y, y});
  maker.jump_false(maker.boolean(false), maker.next() + 2);
  maker.set_destination(to_fail, maker.next());
  maker.call("test::out_of_memory", {x, y, y});
  const auto method = *load_method(maker.inputs({x}).outputs({y}));
  EXPECT_THROW((void)run(*method, floats({1}, {-1})), std::bad_alloc);
  EXPECT_FALSE(method->output(0).ok());
  ASSERT_TRUE(run(*method, floats({1}, {5})).ok());
  EXPECT_EQ(output(*method), std::vector<float>{5});
}

TEST(Lists, ReadTheirValuesAnewAtEachCall) {
  PlanMaker maker;
  const ValueIndex x = maker.dynamic(maker.planned({4}));
  const ValueIndex n = maker.integer(0);
  const ValueIndex shape = maker.ints({n});
  const ValueIndex out = maker.dynamic(maker.planned({4}));
  const ValueIndex count = maker.integer(0);
  const ValueIndex optional = maker.add(OptionalTensorList{{-1, static_cast<int32_t>(x)}});
  maker.call("test::size", {x, maker.integer(0), n});
  maker.call("test::fill", {shape, out, out});
  maker.call("test::count", {optional, count, count});
  const auto method = *load_method(maker.inputs({x}).outputs({out, count}));
  for (const int64_t size : {3, 1, 4}) {
    ASSERT_TRUE(run(*method, floats({size}, std::vector<float>(static_cast<size_t>(size)))).ok());
    EXPECT_EQ(output_shape(*method), std::vector<int64_t>{size});
    EXPECT_EQ(std::get<int64_t>(*method->output(1)), 1);
  }
}

TEST(Calls, ThatGiveSeveralOutputsDropTheListThatRepeatsThem) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({4});
  const ValueIndex a = maker.planned({2});
  const ValueIndex b = maker.planned({2});
  maker.call("test::split", {x, a, b, maker.list({a, b})});
  const auto method = *load_method(maker.inputs({x}).outputs({b, a}));
  ASSERT_TRUE(run(*method, floats({4}, {1, 2, 3, 4})).ok());
  EXPECT_EQ(output(*method), (std::vector<float>{3, 4}));
}

TEST(Profile, CountsAndTimesEachInstruction) {
  RuntimeOptions options;
  options.profile = true;
  const auto method = *load_method(loop(3), options);
  for (int again = 0; again < 2; ++again) {
    ASSERT_TRUE(run(*method, floats({2}, {1, 2})).ok());
    const auto rows = method->profile();
    ASSERT_EQ(rows.size(), 6u);
    EXPECT_EQ(rows[0].name, "test::scale");
    EXPECT_EQ(rows[5].name, "jump_false");
    for (const auto& row : rows) {
      EXPECT_EQ(row.count, 3u);
      EXPECT_GE(row.start_ns, 0);
      EXPECT_GE(row.total_ns, 0);
    }
    EXPECT_LE(rows[0].start_ns, rows[5].start_ns);
  }
}

TEST(Profile, IsEmptyOfNumbersUnlessAskedFor) {
  const auto method = *load_method(loop(3));
  ASSERT_TRUE(run(*method, floats({2}, {1, 2})).ok());
  for (const auto& row : method->profile()) EXPECT_EQ(row.count, 0u);
}

TEST(Threads, OfTheApplicationAreUsedForLongRangesOnly) {
  struct Seen {
    size_t calls = 0;
    size_t covered = 0;
  } seen;
  static const Kernel kTable[] = {
      {"test::parallel", "T>T", [](KernelContext& context, const Args& args, const Kernel&) {
         float* out = args.tensor(1).data<float>();
         context.parallel(static_cast<size_t>(args.tensor(1).numel()), 2,
                          [&](size_t begin, size_t end) {
                            for (size_t i = begin; i < end; ++i) out[i] = static_cast<float>(i);
                          });
         return Result<void>();
       }}};
  RuntimeOptions options;
  options.kernels.emplace_back(kTable);
  options.parallel_for.context = &seen;
  options.parallel_for.run = [](void* context, size_t count, size_t grain, ParallelBody body,
                                void* argument) {
    auto& s = *static_cast<Seen*>(context);
    ++s.calls;
    for (size_t begin = 0; begin < count; begin += grain) {
      body(argument, begin, std::min(begin + grain, count));
      s.covered += std::min(grain, count - begin);
    }
  };
  for (const int32_t size : {1, 2, 5}) {
    PlanMaker maker;
    const ValueIndex x = maker.planned({size});
    const ValueIndex out = maker.planned({size});
    maker.call("test::parallel", {x, out, out});
    const auto method = *load_method(maker.inputs({x}).outputs({out}), options);
    ASSERT_TRUE(run(*method, floats({size}, std::vector<float>(static_cast<size_t>(size)))).ok());
    EXPECT_EQ(output(*method).back(), static_cast<float>(size - 1));
  }
  EXPECT_EQ(seen.calls, 1u);
  EXPECT_EQ(seen.covered, 5u);
}

}  // namespace
}  // namespace pteron::test
