// What rows bring to the forms that OpenVINO runs fast, and that the numbers stay those of kernels.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "kernels/tables.h"
#include "lowering/lowering.h"
#include "openvino/openvino.h"
#include "runtime/program_maker.h"

namespace pteron {
namespace {

using test::PlanMaker;

size_t count(const std::string& text, const std::string& operation) {
  const std::string wanted = "type=\"" + operation + "\"";
  size_t times = 0;
  for (size_t at = text.find(wanted); at != std::string::npos; at = text.find(wanted, at + 1))
    ++times;
  return times;
}

std::vector<float> made_up(size_t count, uint32_t seed) {
  std::vector<float> numbers(count);
  uint32_t state = seed;
  for (float& number : numbers) {
    state = state * 1664525u + 1013904223u;
    number = static_cast<float>(state >> 8) / 8388608.0f - 1.0f;
  }
  return numbers;
}

// Adds the instructions of the forms.
class Maker : public PlanMaker {
 public:
  ValueIndex tensor(std::vector<int32_t> sizes, DType dtype = DType::Float32) {
    return planned(std::move(sizes), dtype);
  }
  ValueIndex numbers(const std::vector<int64_t>& values) {
    std::vector<ValueIndex> items;
    for (const int64_t value : values) items.push_back(integer(value));
    return ints(items);
  }
  ValueIndex view(ValueIndex from, std::vector<int32_t> sizes) {
    const ValueIndex out = tensor(sizes);
    call("aten::view_copy.out", {from, numbers({sizes.begin(), sizes.end()}), out});
    return out;
  }
  ValueIndex convolution(ValueIndex x, ValueIndex weight, ValueIndex bias, int64_t groups,
                         std::vector<int32_t> sizes) {
    const ValueIndex out = tensor(std::move(sizes));
    call("aten::convolution.out",
         {x, weight, bias, numbers({1, 1}), numbers({1, 1}), numbers({1, 1}), boolean(false),
          numbers({0, 0}), integer(groups), out});
    return out;
  }
  // With made-up statistics of two channels.
  ValueIndex norm(ValueIndex x, std::vector<int32_t> sizes) {
    const ValueIndex out = tensor(std::move(sizes));
    call("aten::_native_batch_norm_legit_no_training.out",
         {x, constant({2}, {0.5f, -1.5f}), constant({2}, {0.25f, 1}), constant({2}, {0.1f, -0.2f}),
          constant({2}, {2, 0.5f}), real(0.1), real(1e-3), out, unplanned({0}), unplanned({0})});
    return out;
  }
  // softmax(q k) v of three heads with rows of eight, as PyTorch 2's export has it; the guard gives
  // zeros where all scores of a row are -inf.
  ValueIndex attention(ValueIndex q, ValueIndex k, ValueIndex v, double factor, bool is_guarded) {
    const ValueIndex scaled_q = tensor({1, 3, 5, 8});
    call("aten::mul.Scalar_out", {q, real(factor), scaled_q});
    const ValueIndex turned = tensor({1, 3, 8, 6});
    call("aten::permute_copy.out", {k, numbers({0, 1, 3, 2}), turned});
    const ValueIndex scaled_k = tensor({1, 3, 8, 6});
    call("aten::mul.Scalar_out", {turned, real(factor), scaled_k});
    const ValueIndex product = tensor({3, 5, 6});
    call("aten::bmm.out", {view(scaled_q, {3, 5, 8}), view(scaled_k, {3, 8, 6}), product});
    const ValueIndex scores = view(product, {1, 3, 5, 6});
    ValueIndex weights = tensor({1, 3, 5, 6});
    call("aten::_softmax.out", {scores, integer(-1), boolean(false), weights});
    if (is_guarded) weights = guarded(scores, weights);
    const ValueIndex out = tensor({3, 5, 4});
    call("aten::bmm.out", {view(weights, {3, 5, 6}), view(v, {3, 6, 4}), out});
    return out;
  }

 private:
  ValueIndex guarded(ValueIndex scores, ValueIndex weights) {
    const ValueIndex infinite = tensor({1, 3, 5, 6}, DType::Bool);
    call("aten::eq.Scalar_out", {scores, real(-HUGE_VAL), infinite});
    const ValueIndex finite = tensor({1, 3, 5, 6}, DType::Bool);
    call("aten::logical_not.out", {infinite, finite});
    const ValueIndex some = tensor({1, 3, 5, 1}, DType::Bool);
    call("aten::any.out", {finite, integer(-1), boolean(true), some});
    const ValueIndex all_infinite = tensor({1, 3, 5, 1}, DType::Bool);
    call("aten::logical_not.out", {some, all_infinite});
    const ValueIndex zeros = tensor({1, 3, 5, 6});
    call("aten::full_like.out", {weights, integer(0), none(), zeros});
    const ValueIndex out = tensor({1, 3, 5, 6});
    call("aten::where.self_out", {all_infinite, zeros, weights, out});
    return out;
  }
};

class Forms : public testing::Test {
 protected:
  void SetUp() override {
    const char* place = std::getenv("PTERON_TEST_OPENVINO_2025_4_1");
    if (place == nullptr) GTEST_SKIP() << "PTERON_TEST_OPENVINO_2025_4_1 is not set";
    openvino_.library = place;
  }

  // Runs the program by kernels and compiled, which have to agree.
  void run(const PlanMaker& maker, std::vector<test::Array<float>> inputs) {
    std::vector<float> results[2];
    for (const bool compiled : {false, true}) {
      RuntimeOptions options;
      for (const auto& table : all_kernels()) options.kernels.push_back(table);
      if (compiled) options.accelerator = accelerator();
      auto method = test::load_method(maker, std::move(options));
      ASSERT_TRUE(method.ok()) << test::message(method);
      std::vector<HostValue> values;
      for (auto& input : inputs) values.push_back(input.host());
      const auto ran = (*method)->run(values);
      ASSERT_TRUE(ran.ok()) << test::message(ran);
      results[compiled ? 1 : 0] = test::output(**method);
      const auto report = (*method)->acceleration();
      ASSERT_EQ(report.regions.size(), compiled ? 1u : 0u);
      for (const auto& kept : report.kept) ADD_FAILURE() << kept.name << ": " << kept.reason;
    }
    ASSERT_EQ(results[0].size(), results[1].size());
    for (size_t i = 0; i < results[0].size(); ++i)
      EXPECT_NEAR(results[1][i], results[0][i], 1e-5 * std::max(1.0f, std::fabs(results[0][i])));
  }

  std::shared_ptr<Accelerator> accelerator() {
    return make_accelerator(
        [this](LoweredRegion region) {
          text_ = region.model.text;
          auto copies =
              std::make_shared<decltype(region.model.copies)>(std::move(region.model.copies));
          return compile_model(openvino_,
                               {std::move(region.model.text), region.model.weights,
                                region.model.weights_size, std::move(copies)},
                               std::move(region.staged));
        },
        Accelerate::On);
  }

  OpenvinoOptions openvino_;
  std::string text_;
};

TEST_F(Forms, NormsBecomeAConvolutionsWeights) {
  for (const bool has_bias : {false, true}) {
    for (const int64_t groups : {1, 2}) {
      Maker maker;
      const ValueIndex x = maker.tensor({1, 2, 4, 4});
      const int32_t depth = groups == 1 ? 2 : 1;
      const ValueIndex weight =
          maker.constant({2, depth, 3, 3}, made_up(static_cast<size_t>(2 * depth * 9), 3));
      const ValueIndex bias = has_bias ? maker.constant({2}, {0.5f, -2}) : maker.none();
      const ValueIndex y = maker.convolution(x, weight, bias, groups, {1, 2, 4, 4});
      maker.inputs({x}).outputs({maker.norm(y, {1, 2, 4, 4})});
      run(maker, {test::floats({1, 2, 4, 4}, made_up(32, 1))});
      EXPECT_EQ(count(text_, "BatchNormInference"), 0u);
      EXPECT_EQ(count(text_, groups == 1 ? "Convolution" : "GroupConvolution"), 1u);
    }
  }
}

TEST_F(Forms, NormsOfAnythingElseStay) {
  Maker maker;
  const ValueIndex x = maker.tensor({1, 2, 4, 4});
  maker.inputs({x}).outputs({maker.norm(x, {1, 2, 4, 4})});
  run(maker, {test::floats({1, 2, 4, 4}, made_up(32, 1))});
  EXPECT_EQ(count(text_, "BatchNormInference"), 1u);
}

// where(x > 0, x, w * x) is what the exporter makes of PReLU.
TEST_F(Forms, ChoicesBecomePRelu) {
  Maker maker;
  const ValueIndex x = maker.tensor({1, 2, 4, 4});
  const ValueIndex positive = maker.tensor({1, 2, 4, 4}, DType::Bool);
  maker.call("aten::gt.Scalar_out", {x, maker.integer(0), positive});
  const ValueIndex scaled = maker.tensor({1, 2, 4, 4});
  maker.call("aten::mul.out", {maker.constant({1, 2, 1, 1}, {0.25f, -3}), x, scaled});
  const ValueIndex out = maker.tensor({1, 2, 4, 4});
  maker.call("aten::where.self_out", {positive, x, scaled, out});
  maker.inputs({x}).outputs({out});
  run(maker, {test::floats({1, 2, 4, 4}, made_up(32, 1))});
  EXPECT_EQ(count(text_, "PReLU"), 1u);
  EXPECT_EQ(count(text_, "Select"), 0u);
}

TEST_F(Forms, ProductsAndSoftmaxBecomeAttention) {
  // The operation's own factor is 1 / sqrt(8), of which queries and keys have the root each.
  for (const double factor : {std::pow(8, -0.25), 0.5}) {
    for (const bool is_guarded : {false, true}) {
      Maker maker;
      const ValueIndex q = maker.tensor({1, 3, 5, 8});
      const ValueIndex k = maker.tensor({1, 3, 6, 8});
      const ValueIndex v = maker.tensor({1, 3, 6, 4});
      maker.inputs({q, k, v}).outputs({maker.attention(q, k, v, factor, is_guarded)});
      run(maker,
          {test::floats({1, 3, 5, 8}, made_up(120, 1)), test::floats({1, 3, 6, 8}, made_up(144, 2)),
           test::floats({1, 3, 6, 4}, made_up(72, 3))});
      EXPECT_EQ(count(text_, "ScaledDotProductAttention"), 1u);
      EXPECT_EQ(count(text_, "MatMul"), 0u);
      EXPECT_EQ(count(text_, "Select"), 0u);
    }
  }
}

// Transpositions one after another are one, or none, or the product's own.
TEST_F(Forms, TranspositionsVanish) {
  Maker maker;
  const ValueIndex x = maker.tensor({2, 3});
  const ValueIndex once = maker.tensor({3, 2});
  maker.call("aten::t_copy.out", {x, once});
  const ValueIndex twice = maker.tensor({2, 3});
  maker.call("aten::t_copy.out", {once, twice});
  const ValueIndex out = maker.tensor({2, 2});
  maker.call("aten::mm.out", {twice, once, out});
  maker.inputs({x}).outputs({out});
  run(maker, {test::floats({2, 3}, made_up(6, 1))});
  EXPECT_EQ(count(text_, "Transpose"), 0u);
}

}  // namespace
}  // namespace pteron
