// State kept from run to run: read, set, put back, shared between methods.
#include <gtest/gtest.h>

#include "runtime/program_maker.h"

namespace pteron::test {
namespace {

Result<void> run(Method& method, float x) {
  auto array = floats({2}, {x, x});
  const HostValue host = array.host();
  return method.run(std::span(&host, 1));
}

// sum = buffer + x; buffer = sum.
PlanMaker accumulator(ValueIndex (*make)(PlanMaker&)) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({2});
  const ValueIndex buffer = make(maker);
  const ValueIndex sum = maker.planned({2});
  maker.call("test::add", {buffer, x, sum, sum});
  maker.call("test::copy_", {buffer, sum, buffer});
  maker.inputs({x}).outputs({sum});
  return maker;
}
ValueIndex zeros(PlanMaker& maker) { return maker.planned({2}); }
ValueIndex started(PlanMaker& maker) {
  const ValueIndex buffer = maker.initialized({2}, {10, 20});
  maker.def(buffer).name = "b_cache";
  return buffer;
}

TEST(State, StartsAtZeroAndIsKept) {
  const auto method = *load_method(accumulator(zeros));
  ASSERT_EQ(method->states().size(), 1u);
  EXPECT_EQ(method->states()[0].name, "state0");
  EXPECT_EQ(method->states()[0].shape, std::vector<int64_t>{2});
  EXPECT_EQ(state(*method), (std::vector<float>{0, 0}));
  ASSERT_TRUE(run(*method, 1).ok());
  ASSERT_TRUE(run(*method, 2).ok());
  EXPECT_EQ(state(*method), (std::vector<float>{3, 3}));
}

TEST(State, StartsAtTheFilesInitialValueAndGoesBackThere) {
  const auto method = *load_method(accumulator(started));
  EXPECT_EQ(method->states()[0].name, "b_cache");
  ASSERT_TRUE(run(*method, 1).ok());
  EXPECT_EQ(output(*method), (std::vector<float>{11, 21}));
  method->reset_state();
  EXPECT_EQ(state(*method), (std::vector<float>{10, 20}));
  ASSERT_TRUE(run(*method, 2).ok());
  EXPECT_EQ(output(*method), (std::vector<float>{12, 22}));
}

TEST(State, IsSetFromAnyLayout) {
  const auto method = *load_method(accumulator(zeros));
  const std::vector<float> memory = {5, 0, 4, 0};
  const std::vector<int64_t> shape = {2};
  const std::vector<int64_t> strides = {-8};
  ASSERT_TRUE(method
                  ->set_state(0, ArrayView{const_cast<float*>(&memory[2]), DType::Float32, shape,
                                           strides.data()})
                  .ok());
  EXPECT_EQ(state(*method), (std::vector<float>{4, 5}));
  ASSERT_TRUE(run(*method, 1).ok());
  EXPECT_EQ(output(*method), (std::vector<float>{5, 6}));
}

TEST(State, IsSetFromAViewOfItself) {
  const auto method = *load_method(accumulator(started));
  ArrayView view = std::get<ArrayView>(*method->state(0));
  const std::vector<int64_t> backwards = {-4};
  view.data = static_cast<float*>(view.data) + 1;
  view.strides = backwards.data();
  ASSERT_TRUE(method->set_state(0, view).ok());
  EXPECT_EQ(state(*method), (std::vector<float>{20, 10}));
}

TEST(State, OfAnotherMemoryOrderIsReadAndSetByItsStrides) {
  PlanMaker maker;
  const ValueIndex cache = maker.channels_last(maker.planned({1, 2, 1, 2}));
  const ValueIndex copy = maker.channels_last(maker.planned({1, 2, 1, 2}));
  maker.call("test::scale", {cache, maker.integer(1), copy, copy});
  const auto method = *load_method(maker.outputs({copy}));
  auto array = floats({1, 2, 1, 2}, {1, 2, 3, 4});
  ASSERT_TRUE(method->set_state(0, array.host()).ok());
  EXPECT_EQ(state(*method), array.values);
  const auto* memory = static_cast<float*>(std::get<ArrayView>(*method->state(0)).data);
  EXPECT_EQ(memory[1], 3);
  ASSERT_TRUE(method->execute().ok());
  EXPECT_EQ(output(*method), array.values);
}

TEST(State, IsRefusedFromWhatDoesNotFit) {
  const auto method = *load_method(accumulator(started));
  auto wrong = floats({1}, {1});
  EXPECT_EQ(message(method->set_state(0, wrong.host())),
            "method \"forward\": state 0 \"b_cache\": got float32 [1], but it is float32 [2]");
  EXPECT_FALSE(method->set_state(0, int64_t{1}).ok());
  EXPECT_FALSE(method->set_state(1, wrong.host()).ok());
  EXPECT_FALSE(method->state(1).ok());
  const std::vector<int64_t> shape = {2};
  EXPECT_FALSE(method->set_state(0, ArrayView{nullptr, DType::Float32, shape, nullptr}).ok());
  EXPECT_EQ(state(*method), (std::vector<float>{10, 20}));
}

TEST(State, StaysAtItsPlaceThoughTheProgramFreesIt) {
  PlanMaker maker = accumulator(started);
  maker.free(1);
  const auto method = *load_method(maker);
  for (int again = 0; again < 2; ++again) ASSERT_TRUE(run(*method, 1).ok());
  EXPECT_EQ(state(*method), (std::vector<float>{12, 22}));
  auto array = floats({2}, {1, 2});
  EXPECT_TRUE(method->set_state(0, array.host()).ok());
  method->reset_state();
  EXPECT_EQ(state(*method), (std::vector<float>{10, 20}));
}

TEST(State, AfterAFailedRunIsWhatTheRunLeftUntilItIsReset) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({2});
  const ValueIndex buffer = started(maker);
  const ValueIndex later = maker.initialized({2}, {1, 2});
  const ValueIndex sum = maker.planned({2});
  const ValueIndex y = maker.planned({2});
  maker.call("test::add", {buffer, x, sum, sum});
  maker.call("test::copy_", {buffer, sum, buffer});
  maker.call("test::fail", {x, y, y});
  maker.call("test::copy_", {later, sum, later});
  const auto method = *load_method(maker.inputs({x}).outputs({sum}));
  ASSERT_FALSE(run(*method, 1).ok());
  EXPECT_FALSE(method->output(0).ok());
  // What came before the failure has happened, what comes after it has not.
  EXPECT_EQ(state(*method, 0), (std::vector<float>{11, 21}));
  EXPECT_EQ(state(*method, 1), (std::vector<float>{1, 2}));
  method->reset_state();
  EXPECT_EQ(state(*method, 0), (std::vector<float>{10, 20}));
  EXPECT_EQ(state(*method, 1), (std::vector<float>{1, 2}));
  auto kept = floats({2}, {5, 6});
  ASSERT_TRUE(method->set_state(0, kept.host()).ok());
  EXPECT_EQ(state(*method, 0), kept.values);
}

TEST(State, OfARunThatWasRefusedIsAsBefore) {
  const auto method = *load_method(accumulator(started));
  ASSERT_TRUE(run(*method, 1).ok());
  auto wrong = floats({3}, {1, 2, 3});
  const HostValue values[] = {wrong.host()};
  ASSERT_FALSE(method->run(values).ok());
  EXPECT_EQ(state(*method), (std::vector<float>{11, 21}));
}

TEST(State, OfTwoMethodsIsTheirOwn) {
  const auto program = *load_program({accumulator(started)});
  const auto a = *Method::load(program, "forward");
  const auto b = *Method::load(program, "forward");
  ASSERT_TRUE(run(*a, 1).ok());
  EXPECT_EQ(state(*b), (std::vector<float>{10, 20}));
}

// A method that adds its input to a buffer in memory 2, and one that gives the buffer.
std::vector<PlanMaker> sharing(bool initial) {
  PlanMaker add("add");
  const ValueIndex x = add.planned({2});
  const ValueIndex buffer =
      initial ? add.initialized({2}, {5, 6}, 2) : add.planned({2}, DType::Float32, 2);
  const ValueIndex sum = add.planned({2});
  add.call("test::add", {buffer, x, sum, sum});
  add.call("test::copy_", {buffer, sum, buffer});
  add.inputs({x}).outputs({sum});
  PlanMaker get("get");
  const ValueIndex same =
      initial ? get.initialized({2}, {5, 6}, 2) : get.planned({2}, DType::Float32, 2);
  get.outputs({same});
  return {add, get};
}

TEST(SharedState, IsSeenByBothMethods) {
  for (const bool initial : {false, true}) {
    const auto program = *load_program(sharing(initial));
    auto add = *Method::load(program, "add");
    ASSERT_TRUE(run(*add, 1).ok());
    const auto get = *Method::load(program, "get", add.get());
    ASSERT_TRUE(get->execute().ok());
    const std::vector<float> wanted = initial ? std::vector<float>{6, 7} : std::vector<float>{1, 1};
    EXPECT_EQ(output(*get), wanted) << "loading a second method must not undo what the first did";
    ASSERT_TRUE(run(*add, 1).ok());
    get->reset_state();
    ASSERT_TRUE(run(*add, 1).ok());
    EXPECT_EQ(output(*add), wanted);
    // The memory outlives the method that it came from.
    add.reset();
    ASSERT_TRUE(get->execute().ok());
    EXPECT_EQ(output(*get), wanted);
  }
}

TEST(SharedState, IsNotSharedUnlessAskedFor) {
  const auto program = *load_program(sharing(false));
  const auto add = *Method::load(program, "add");
  ASSERT_TRUE(run(*add, 1).ok());
  const auto get = *Method::load(program, "get");
  ASSERT_TRUE(get->execute().ok());
  EXPECT_EQ(output(*get), (std::vector<float>{0, 0}));
}

TEST(SharedState, OfALargerBufferMustBeLoadedFirst) {
  PlanMaker small("small");
  small.outputs({small.planned({1}, DType::Float32, 2)});
  PlanMaker large("large");
  large.outputs({large.planned({100}, DType::Float32, 2)});
  const auto program = *load_program({small, large});
  const auto first = *Method::load(program, "small");
  EXPECT_EQ(message(Method::load(program, "large", first.get())),
            "method \"large\": it plans 400 bytes for shared buffer 2, but method \"small\", whose "
            "state it is to share, has 4; load the larger one first");
  const auto big = *Method::load(program, "large");
  EXPECT_TRUE(Method::load(program, "small", big.get()).ok());
}

TEST(SharedState, IsOfOneProgramOnly) {
  const auto one = *load_program(sharing(false));
  const auto other = *load_program(sharing(false));
  const auto method = *Method::load(one, "add");
  EXPECT_EQ(code(Method::load(other, "get", method.get())), Code::InvalidArgument);
}

}  // namespace
}  // namespace pteron::test
