// Where regions begin and end, and what a run makes of them, with a compiler of the test's own.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "kernels/tables.h"
#include "lowering/lowering.h"
#include "runtime/program_maker.h"

namespace pteron {
namespace {

using test::floats;
using test::PlanMaker;

// Stands for a compiled model: what runs is the test's.
class Stub final : public CompiledDelegate {
 public:
  using Run = std::function<Result<void>(const Args&)>;

  Stub(size_t inputs, Run run) : inputs_(inputs), run_(std::move(run)) {}

  Result<std::unique_ptr<DelegateInstance>> instantiate(const Args&) override {
    class Instance final : public DelegateInstance {
     public:
      Instance(size_t inputs, Run run) : inputs_(inputs), run_(std::move(run)) {}
      size_t input_count() const override { return inputs_; }
      Result<void> execute(KernelContext&, const Args& args) override { return run_(args); }

     private:
      size_t inputs_;
      Run run_;
    };
    return std::unique_ptr<DelegateInstance>(std::make_unique<Instance>(inputs_, run_));
  }
  ExecutionReport report() const override { return {"a stub", "", "", "", {}}; }

 private:
  size_t inputs_;
  Run run_;
};

class Regions : public testing::Test {
 protected:
  std::unique_ptr<Method> load(const PlanMaker& maker, Accelerate when = Accelerate::On) {
    RuntimeOptions options;
    for (const auto& table : all_kernels()) options.kernels.push_back(table);
    options.accelerator = make_accelerator(
        [this](LoweredRegion region) -> Result<std::shared_ptr<CompiledDelegate>> {
          size_t inputs = 0;
          const std::string parameter = "type=\"Parameter\"";
          const std::string& text = region.model.text;
          for (size_t at = text.find(parameter); at != std::string::npos;
               at = text.find(parameter, at + 1))
            ++inputs;
          compiled_.push_back(std::move(region));
          if (!refusal_.empty()) return Error{refusal_code_, refusal_};
          return std::shared_ptr<CompiledDelegate>(std::make_shared<Stub>(inputs, run_));
        },
        when);
    auto method = test::load_method(maker, std::move(options));
    EXPECT_TRUE(method.ok()) << test::message(method);
    return *std::move(method);
  }

  // The regions' bounds, "0-2 3-4".
  static std::string bounds(const Method& method) {
    std::string text;
    for (const auto& region : method.acceleration().regions) {
      text += (text.empty() ? "" : " ") + std::to_string(region.begin) + "-" +
              std::to_string(region.end);
    }
    return text;
  }

  Stub::Run run_ = [](const Args&) { return Result<void>(); };
  std::string refusal_;
  Code refusal_code_ = Code::Unsupported;
  std::vector<LoweredRegion> compiled_;
};

// out = relu(in), as often as is asked.
ValueIndex relu(PlanMaker& maker, ValueIndex in) {
  const ValueIndex out = maker.planned({4});
  maker.call("aten::relu.out", {in, out});
  return out;
}

TEST_F(Regions, EndAtWhatHasNoRow) {
  PlanMaker maker;
  const ValueIndex in = maker.planned({4});
  const ValueIndex a = relu(maker, relu(maker, in));
  const ValueIndex b = maker.planned({4});
  maker.call("test::scale", {a, maker.real(2), b});
  const ValueIndex out = relu(maker, b);
  maker.inputs({in}).outputs({out});
  const auto method = load(maker);
  EXPECT_EQ(bounds(*method), "0-2 3-4");
  const auto report = method->acceleration();
  ASSERT_EQ(report.kept.size(), 1u);
  EXPECT_EQ(report.kept[0].name, "test::scale");
  EXPECT_EQ(report.kept[0].reason, "no row for it");
  ASSERT_EQ(report.operators.size(), 2u);
  EXPECT_EQ(report.operators[0].name, "aten::relu.out");
  EXPECT_EQ(report.operators[0].compiled, 3u);
  EXPECT_EQ(report.operators[1].kernels, 1u);
}

TEST_F(Regions, BeginWhereAJumpLeads) {
  PlanMaker maker;
  const ValueIndex in = maker.planned({4});
  const ValueIndex condition = maker.planned({1}, DType::Bool);
  const uint32_t jump = maker.jump_false(condition, 0);
  const ValueIndex a = relu(maker, in);
  maker.set_destination(jump, maker.next());
  const ValueIndex out = relu(maker, in);
  maker.inputs({in, condition}).outputs({out, a});
  const auto method = load(maker);
  EXPECT_EQ(bounds(*method), "1-2 2-3");
}

// What lies where an input does is written after the model has run.
TEST_F(Regions, StageWhatLiesWhereAnInputDoes) {
  PlanMaker maker;
  const ValueIndex in = maker.planned_at(0, {4});
  const ValueIndex a = maker.planned_at(64, {4});
  const ValueIndex out = maker.planned_at(0, {4});
  maker.call("aten::relu.out", {in, a});
  maker.call("aten::relu.out", {a, out});
  maker.inputs({in}).outputs({out, a});
  const auto method = load(maker);
  ASSERT_EQ(compiled_.size(), 1u);
  size_t staged = 0;
  for (const bool one : compiled_[0].staged) staged += one ? 1 : 0;
  EXPECT_EQ(compiled_[0].staged.size(), 2u);
  EXPECT_EQ(staged, 1u);
}

// Memory that is written again holds something else: the second relu reads the sum.
TEST_F(Regions, FollowMemoryNotNames) {
  PlanMaker maker;
  const ValueIndex in = maker.planned_at(0, {4});
  const ValueIndex first = maker.planned_at(64, {4});
  const ValueIndex second = maker.planned_at(64, {4});
  const ValueIndex out = maker.planned_at(128, {4});
  maker.call("aten::relu.out", {in, first});
  maker.call("aten::add.out", {first, in, maker.integer(1), second});
  maker.call("aten::relu.out", {first, out});
  maker.inputs({in}).outputs({out});
  const auto method = load(maker);
  ASSERT_EQ(compiled_.size(), 1u);
  const std::string& text = compiled_[0].model.text;
  // Parameter, relu, add, relu of the sum.
  EXPECT_NE(text.find("type=\"Add\""), std::string::npos) << text;
}

TEST_F(Regions, LeaveARunThatFailsToKernels) {
  PlanMaker maker;
  const ValueIndex in = maker.planned({4});
  const ValueIndex out = relu(maker, in);
  maker.inputs({in}).outputs({out});
  int runs = 0;
  run_ = [&](const Args&) -> Result<void> {
    ++runs;
    return Error{Code::Failed, "the device is gone"};
  };
  const auto method = load(maker);
  EXPECT_EQ(bounds(*method), "0-1");
  auto x = floats({4}, {-1, 2, -3, 4});
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(method->run(std::vector<HostValue>{x.host()}).ok());
    EXPECT_EQ(test::output(*method), (std::vector<float>{0, 2, 0, 4}));
  }
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(bounds(*method), "");
  ASSERT_EQ(method->acceleration().kept.size(), 1u);
  EXPECT_EQ(method->acceleration().kept[0].reason, "the device is gone");
}

// An index that is out of range is the kernel's to refuse; one that is not is the model's.
TEST_F(Regions, LookAtIntegersBeforeARun) {
  PlanMaker maker;
  const ValueIndex in = maker.planned({4}, DType::Int64);
  const ValueIndex out = maker.planned({2, 2}, DType::Int64);
  maker.call("aten::view_copy.out", {in, maker.ints({maker.integer(2), maker.integer(2)}), out});
  maker.inputs({in}).outputs({out});
  int runs = 0;
  run_ = [&](const Args&) {
    ++runs;
    return Result<void>();
  };
  const auto method = load(maker);
  EXPECT_EQ(bounds(*method), "0-1");
  test::Array<int64_t> x{{1, 2, 3, int64_t{1} << 40}, {4}, DType::Int64};
  ASSERT_TRUE(method->run(std::vector<HostValue>{x.host()}).ok());
  EXPECT_EQ(runs, 0);
  auto got = method->output(0);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(static_cast<const int64_t*>(std::get<ArrayView>(*got).data)[3], int64_t{1} << 40);
  x.values[3] = 4;
  ASSERT_TRUE(method->run(std::vector<HostValue>{x.host()}).ok());
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(bounds(*method), "0-1");
  ASSERT_EQ(method->acceleration().kept.size(), 1u);
  EXPECT_NE(method->acceleration().kept[0].reason.find("not within"), std::string::npos);
}

TEST_F(Regions, ThatRepayNothingAreLeftByThemselves) {
  PlanMaker maker;
  const ValueIndex in = maker.planned({4});
  maker.inputs({in}).outputs({relu(maker, in)});
  const auto method = load(maker, Accelerate::Auto);
  EXPECT_TRUE(compiled_.empty());
  EXPECT_EQ(bounds(*method), "");
}

// Without OpenVINO the first region asks for it, and no other.
TEST_F(Regions, AskForWhatIsMissingOnce) {
  PlanMaker maker;
  const ValueIndex in = maker.planned({4});
  const ValueIndex a = relu(maker, in);
  const ValueIndex b = maker.planned({4});
  maker.call("test::scale", {a, maker.real(2), b});
  maker.inputs({in}).outputs({relu(maker, b)});
  refusal_ = "OpenVINO not found";
  refusal_code_ = Code::Missing;
  const auto method = load(maker);
  EXPECT_EQ(compiled_.size(), 1u);
  EXPECT_EQ(bounds(*method), "");
  auto x = floats({4}, {-1, 2, -3, 4});
  ASSERT_TRUE(method->run(std::vector<HostValue>{x.host()}).ok());
  EXPECT_EQ(test::output(*method), (std::vector<float>{0, 4, 0, 8}));
}

// Sizes that a run decides are asked of the model, and views and numbers that others read are made.
TEST_F(Regions, MakeTheViewsThatOthersRead) {
  PlanMaker maker;
  const ValueIndex in = maker.planned({4});
  const ValueIndex a = relu(maker, in);
  const ValueIndex view = maker.unplanned({2, 2});
  maker.call("executorch_prim::et_view.default",
             {a, maker.ints({maker.integer(2), maker.integer(2)}), view});
  const ValueIndex out = maker.planned({2, 2});
  maker.call("test::scale", {view, maker.real(2), out});
  maker.inputs({in}).outputs({out});
  run_ = [](const Args& args) {
    auto* from = args.value(0).tensor->data<float>();
    std::copy_n(from, 4, args.value(1).tensor->data<float>());
    return Result<void>();
  };
  const auto method = load(maker);
  EXPECT_EQ(bounds(*method), "0-2");
  auto x = floats({4}, {-1, 2, -3, 4});
  ASSERT_TRUE(method->run(std::vector<HostValue>{x.host()}).ok());
  EXPECT_EQ(test::output(*method), (std::vector<float>{-2, 4, -6, 8}));
}

}  // namespace
}  // namespace pteron
