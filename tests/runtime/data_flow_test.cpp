#include "runtime/data_flow.h"

#include <gtest/gtest.h>

#include "runtime/program_maker.h"

namespace pteron::test {
namespace {

// Steps as a loaded method has them, for the operators and moves of a plan.
std::vector<std::vector<Step>> steps_of(const Plan& plan) {
  std::vector<Step> steps;
  for (const Instruction& instruction : plan.chains[0].instructions) {
    Step& step = steps.emplace_back();
    if (const auto* call = std::get_if<KernelCall>(&instruction)) {
      step.kind = StepKind::Kernel;
      for (const Kernel& kernel : kernels()) {
        if (kernel.name == plan.operators[call->op]) step.kernel = &kernel;
      }
      step.args = std::span(call->args).first(Signature(step.kernel->signature).size());
    } else if (const auto* move = std::get_if<MoveCall>(&instruction)) {
      step.kind = StepKind::Move;
      step.from = move->from;
      step.to = move->to;
    } else if (const auto* jump = std::get_if<JumpFalseCall>(&instruction)) {
      step.kind = StepKind::JumpFalse;
      step.from = jump->condition;
      step.to = jump->destination;
    }
  }
  std::vector<std::vector<Step>> chains;
  chains.push_back(std::move(steps));
  return chains;
}

// A plan with its analysis. The plan lives as long as the spans in the steps.
struct Analysis {
  explicit Analysis(const PlanMaker& maker)
      : plan(maker.plan()), chains(steps_of(plan)), result(analyze_data_flow(plan, chains)) {}
  bool borrows(size_t input = 0) const { return (*result).input_is_borrowable[input]; }
  bool redirects(size_t output = 0) const { return (*result).output_is_redirectable[output]; }
  std::vector<ValueIndex> states() const { return (*result).states; }
  Plan plan;
  std::vector<std::vector<Step>> chains;
  Result<DataFlow> result;
};

TEST(DataFlow, OfOneCallBorrowsItsInputAndRedirectsItsOutput) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({4});
  const ValueIndex y = maker.planned({4});
  maker.call("test::scale", {x, maker.integer(1), y, y});
  const Analysis flow(maker.inputs({x}).outputs({y}));
  EXPECT_TRUE(flow.borrows());
  EXPECT_TRUE(flow.redirects());
  EXPECT_TRUE(flow.states().empty());
}

TEST(DataFlow, BorrowsAnInputWhosePlaceIsUsedAgainAfterItsLastRead) {
  PlanMaker maker;
  const ValueIndex x = maker.planned_at(0, {4});
  const ValueIndex y = maker.planned_at(16, {4});
  const ValueIndex z = maker.planned_at(0, {4});
  maker.call("test::scale", {x, maker.integer(1), y, y});
  maker.call("test::scale", {y, maker.integer(1), z, z});
  const Analysis flow(maker.inputs({x}).outputs({z}));
  EXPECT_TRUE(flow.borrows());
  EXPECT_TRUE(flow.redirects());
}

TEST(DataFlow, DoesNotBorrowAnInputThatIsReadAfterItsPlaceWasWrittenTo) {
  PlanMaker maker;
  const ValueIndex x = maker.planned_at(0, {4});
  const ValueIndex y = maker.planned_at(8, {4});
  const ValueIndex z = maker.planned_at(64, {4});
  maker.call("test::scale", {x, maker.integer(1), y, y});
  maker.call("test::scale", {x, maker.integer(1), z, z});
  EXPECT_FALSE(Analysis(maker.inputs({x}).outputs({z})).borrows());
}

TEST(DataFlow, DoesNotBorrowAnInputThatComesOutAlsoAfterAMove) {
  PlanMaker direct;
  const ValueIndex x = direct.planned({4});
  const ValueIndex y = direct.planned({4});
  const Analysis flow(direct.inputs({x, y}).outputs({x}));
  EXPECT_FALSE(flow.borrows(0));
  EXPECT_TRUE(flow.borrows(1));

  PlanMaker moved;
  const ValueIndex a = moved.planned({4});
  const ValueIndex b = moved.planned({4});
  moved.move(a, b);
  EXPECT_FALSE(Analysis(moved.inputs({a}).outputs({b})).borrows());
}

TEST(DataFlow, DoesNotBorrowAnInputThatIsReadByAnotherName) {
  PlanMaker maker;
  const ValueIndex x = maker.planned_at(0, {2, 2});
  const ValueIndex view = maker.planned_at(0, {4});
  const ValueIndex y = maker.planned_at(64, {4});
  maker.call("test::scale", {view, maker.integer(1), y, y});
  const Analysis flow(maker.inputs({x}).outputs({y}));
  EXPECT_FALSE(flow.borrows());
  EXPECT_TRUE(flow.states().empty());
}

TEST(DataFlow, DoesNotBorrowAnInputThatIsChangedInPlaceAlsoAfterAMove) {
  PlanMaker direct;
  const ValueIndex x = direct.planned({4});
  const ValueIndex y = direct.planned({4});
  direct.call("test::copy_", {x, y, x});
  EXPECT_FALSE(Analysis(direct.inputs({x, y}).outputs({x})).borrows());

  PlanMaker moved;
  const ValueIndex a = moved.planned({4});
  const ValueIndex b = moved.planned({4});
  const ValueIndex c = moved.planned({4});
  moved.move(a, c);
  moved.call("test::copy_", {c, b, c});
  const Analysis flow(moved.inputs({a, b}).outputs({c}));
  EXPECT_FALSE(flow.borrows(0));
  EXPECT_TRUE(flow.borrows(1));
}

TEST(DataFlow, RedirectsAnOutputWithoutAPlannedPlace) {
  PlanMaker maker;
  const ValueIndex x = maker.unplanned({4});
  const ValueIndex y = maker.unplanned({4});
  maker.call("test::scale", {x, maker.integer(1), y, y});
  const Analysis flow(maker.inputs({x}).outputs({y}));
  EXPECT_TRUE(flow.borrows());
  EXPECT_TRUE(flow.redirects());
}

TEST(DataFlow, RedirectsAnOutputThatLiesWhereSomethingLayBefore) {
  PlanMaker maker;
  const ValueIndex x = maker.planned_at(64, {4});
  const ValueIndex y = maker.planned_at(0, {4});
  const ValueIndex z = maker.planned_at(32, {4});
  const ValueIndex out = maker.planned_at(0, {4});
  maker.call("test::scale", {x, maker.integer(1), y, y});
  maker.call("test::scale", {y, maker.integer(1), z, z});
  maker.call("test::scale", {z, maker.integer(1), out, out});
  EXPECT_TRUE(Analysis(maker.inputs({x}).outputs({out})).redirects());
}

TEST(DataFlow, DoesNotRedirectAnOutputThatSomebodyReadsByAnotherName) {
  for (const bool view_is_output : {false, true}) {
    PlanMaker maker;
    const ValueIndex x = maker.planned_at(64, {4});
    const ValueIndex out = maker.planned_at(0, {4});
    const ValueIndex view = maker.planned_at(0, {2, 2});
    const ValueIndex other = maker.planned_at(128, {2, 2});
    maker.call("test::scale", {x, maker.integer(1), out, out});
    if (!view_is_output) maker.call("test::scale", {view, maker.integer(1), other, other});
    maker.inputs({x}).outputs({out, view_is_output ? view : other});
    const Analysis flow(maker);
    EXPECT_FALSE(flow.redirects(0));
    EXPECT_EQ(flow.redirects(1), !view_is_output);
    EXPECT_TRUE(flow.states().empty());
  }
}

TEST(DataFlow, DoesNotRedirectWhatIsWrittenTwiceNamedTwiceOrChangedInPlace) {
  PlanMaker twice;
  ValueIndex x = twice.planned({4});
  ValueIndex y = twice.planned({4});
  twice.call("test::scale", {x, twice.integer(1), y, y});
  twice.call("test::scale", {x, twice.integer(1), y, y});
  EXPECT_FALSE(Analysis(twice.inputs({x}).outputs({y})).redirects());

  PlanMaker named;
  x = named.planned({4});
  y = named.planned({4});
  named.call("test::scale", {x, named.integer(1), y, y});
  EXPECT_FALSE(Analysis(named.inputs({x}).outputs({y, y})).redirects());

  PlanMaker appended;
  x = appended.planned({4});
  y = appended.dynamic(appended.planned({2, 4}));
  appended.call("test::append", {y, x, appended.integer(0)});
  EXPECT_FALSE(Analysis(appended.inputs({x}).outputs({y})).redirects());
}

// y = x; jump to `destination` unless true; z = y.
Analysis around_a_jump(uint32_t destination) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({4});
  const ValueIndex y = maker.planned({4});
  const ValueIndex z = maker.planned({4});
  maker.call("test::scale", {x, maker.integer(1), y, y});
  maker.jump_false(maker.boolean(true), destination);
  maker.call("test::scale", {y, maker.integer(1), z, z});
  return Analysis(maker.inputs({x}).outputs({y, z}));
}

TEST(DataFlow, RedirectsAnOutputThatNoJumpPassesOverOrComesBackTo) {
  const Analysis back = around_a_jump(0);
  EXPECT_FALSE(back.redirects(0)) << "it may be written again";
  EXPECT_TRUE(back.redirects(1)) << "after the loop";
  EXPECT_TRUE(back.borrows());
  const Analysis over = around_a_jump(3);
  EXPECT_TRUE(over.redirects(0)) << "before the jump";
  EXPECT_FALSE(over.redirects(1)) << "it may not be written at all";
  const Analysis next = around_a_jump(2);
  EXPECT_TRUE(next.redirects(0));
  EXPECT_TRUE(next.redirects(1));
  // A loop of one instruction, which never ends or never begins.
  const Analysis itself = around_a_jump(1);
  EXPECT_FALSE(itself.redirects(0));
  EXPECT_TRUE(itself.redirects(1));
}

TEST(DataFlow, DoesNotRedirectAnOutputWhosePlaceALaterBranchReads) {
  PlanMaker maker;
  const ValueIndex x = maker.planned_at(64, {4});
  const ValueIndex out = maker.planned_at(0, {4});
  const ValueIndex view = maker.planned_at(0, {2, 2});
  const ValueIndex other = maker.planned_at(128, {2, 2});
  maker.call("test::scale", {x, maker.integer(1), out, out});
  maker.jump_false(maker.boolean(true), 3);
  maker.call("test::scale", {view, maker.integer(1), other, other});
  EXPECT_FALSE(Analysis(maker.inputs({x}).outputs({out})).redirects());
}

TEST(DataFlow, DoesNotRedirectAnOutputInALoopWhosePlaceTheNextRoundReads) {
  PlanMaker maker;
  const ValueIndex x = maker.planned_at(64, {4});
  const ValueIndex other = maker.planned_at(128, {2, 2});
  const ValueIndex view = maker.planned_at(0, {2, 2});
  const ValueIndex out = maker.planned_at(0, {4});
  maker.call("test::scale", {x, maker.integer(1), out, out});
  maker.call("test::scale", {view, maker.integer(1), other, other});
  maker.call("test::scale", {x, maker.integer(1), out, out});
  maker.jump_false(maker.boolean(true), 1);
  EXPECT_FALSE(Analysis(maker.inputs({x}).outputs({out})).redirects());
}

TEST(DataFlow, DoesNotBorrowAnInputThatALoopReadsAfterItsPlaceWasWrittenTo) {
  PlanMaker maker;
  const ValueIndex x = maker.planned_at(0, {4});
  const ValueIndex y = maker.planned_at(64, {4});
  const ValueIndex z = maker.planned_at(0, {4});
  maker.call("test::scale", {x, maker.integer(1), y, y});
  maker.call("test::scale", {y, maker.integer(1), z, z});
  maker.jump_false(maker.boolean(true), 0);
  EXPECT_FALSE(Analysis(maker.inputs({x}).outputs({z})).borrows());
}

TEST(DataFlow, FindsStateThatIsReadBeforeItIsWritten) {
  PlanMaker maker;
  const ValueIndex cache = maker.planned({4});
  const ValueIndex x = maker.planned({4});
  const ValueIndex sum = maker.planned({4});
  maker.call("test::add", {cache, x, sum, sum});
  maker.call("test::copy_", {cache, sum, cache});
  const Analysis flow(maker.inputs({x}).outputs({sum}));
  EXPECT_EQ(flow.states(), std::vector<ValueIndex>{cache});
}

TEST(DataFlow, NamesStateOnceThoughItIsReadAsAViewToo) {
  PlanMaker maker;
  const ValueIndex cache = maker.planned_at(0, {2, 2});
  const ValueIndex view = maker.planned_at(0, {4});
  const ValueIndex x = maker.planned_at(64, {4});
  const ValueIndex sum = maker.planned_at(128, {4});
  maker.call("test::add", {view, x, sum, sum});
  maker.call("test::copy_", {cache, sum, cache});
  EXPECT_EQ(Analysis(maker.inputs({x}).outputs({sum})).states(), std::vector<ValueIndex>{cache});
}

TEST(DataFlow, FindsStateThatHasInitialDataOrANameOrIsChangedInPlace) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({4});
  const ValueIndex changed = maker.planned({4}, DType::Float32, 2);
  const ValueIndex started = maker.initialized({2}, {1, 2});
  const ValueIndex named = maker.planned({4});
  maker.def(named).name = "b_last";
  maker.call("test::copy_", {changed, x, changed});
  maker.call("test::scale", {x, maker.integer(1), named, named});
  const Analysis flow(maker.inputs({x}).outputs({named}));
  EXPECT_EQ(flow.states(), (std::vector<ValueIndex>{changed, started, named}));
  EXPECT_EQ((*flow.result).initialized, std::vector<ValueIndex>{started});
  EXPECT_FALSE(flow.redirects()) << "it would be missing from the state";
}

TEST(DataFlow, CallsAResultNoStateWhateverMemoryItLiesIn) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({4}, DType::Float32, 3);
  const ValueIndex y = maker.planned({4}, DType::Float32, 2);
  const ValueIndex z = maker.planned({4}, DType::Float32, 3);
  maker.call("test::scale", {x, maker.integer(1), y, y});
  maker.call("test::scale", {y, maker.integer(1), z, z});
  const Analysis flow(maker.inputs({x}).outputs({z}));
  EXPECT_TRUE(flow.states().empty());
  EXPECT_FALSE(flow.redirects()) << "another method may share the memory, and read it there";
}

TEST(DataFlow, RefusesAConstantThatIsWrittenTo) {
  PlanMaker maker;
  const ValueIndex x = maker.planned({1});
  const ValueIndex weight = maker.constant({1}, {1});
  maker.call("test::scale", {x, maker.integer(1), weight, weight});
  const Analysis flow(maker.inputs({x}));
  EXPECT_EQ(code(flow.result), Code::Malformed);
  EXPECT_EQ(message(flow.result), "instruction 0 writes to value 1, which is a constant");
}

TEST(DataFlow, RefusesAConstantThatIsWrittenToThroughMovesInAnyOrder) {
  PlanMaker maker;
  const ValueIndex weight = maker.constant({1}, {1});
  const ValueIndex a = maker.planned({1});
  const ValueIndex b = maker.planned({1});
  const ValueIndex x = maker.planned({1});
  maker.call("test::scale", {x, maker.integer(1), b, b});
  maker.move(a, b);
  maker.move(weight, a);
  maker.jump_false(maker.boolean(false), 0);
  EXPECT_EQ(code(Analysis(maker.inputs({x})).result), Code::Malformed);
}

TEST(DataFlow, RefusesAConstantInAListThatIsWrittenTo) {
  static const Kernel kWriter{"test::writer", "T>V", nullptr};
  PlanMaker maker;
  const ValueIndex x = maker.planned({1});
  const ValueIndex list = maker.list({x, maker.external("w", {1})});
  const Plan plan = maker.plan();
  const std::vector<ValueIndex> args = {x, list};
  std::vector<std::vector<Step>> chains(1);
  Step& step = chains[0].emplace_back();
  step.kind = StepKind::Kernel;
  step.kernel = &kWriter;
  step.args = args;
  EXPECT_EQ(code(analyze_data_flow(plan, chains)), Code::Malformed);
}

TEST(DataFlow, RefusesAConstantAsInput) {
  PlanMaker maker;
  const ValueIndex weight = maker.constant({1}, {1});
  const Analysis flow(maker.inputs({weight}));
  EXPECT_EQ(code(flow.result), Code::Malformed);
  EXPECT_EQ(message(flow.result), "input 0 is value 0, which is a constant");
}

TEST(DataFlow, RefusesAViewThatIsWrittenTo) {
  // A view may be larger than what it views.
  PlanMaker maker;
  const ValueIndex x = maker.planned({1});
  const ValueIndex view = maker.dynamic(maker.planned({1000}));
  const ValueIndex big = maker.planned({1000});
  maker.call("test::view", {x, view, view});
  maker.call("test::scale", {big, maker.integer(1), view, view});
  const Analysis flow(maker.inputs({x, big}));
  EXPECT_EQ(code(flow.result), Code::Malformed);
  EXPECT_EQ(message(flow.result),
            "instruction 1 writes to value 1, which is a view of another value");
}

TEST(DataFlow, OfManyMovesTakesLittleTime) {
  PlanMaker maker;
  std::vector<ValueIndex> values;
  for (int i = 0; i < 20'000; ++i) values.push_back(maker.planned_at(0, {1}));
  for (size_t i = values.size(); i-- > 1;) maker.move(values[i - 1], values[i]);
  const Analysis flow(maker.inputs({values[0]}).outputs(values));
  EXPECT_TRUE(flow.result.ok());
}

}  // namespace
}  // namespace pteron::test
