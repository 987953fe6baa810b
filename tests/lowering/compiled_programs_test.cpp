// Whole programs with their own operators compiled for OpenVINO, against the same by kernels: what
// holds over several runs, and what happens when one cannot be compiled or fails.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pteron/pteron.hpp"

namespace {

using nlohmann::json;
using pteron::Accelerate;
using pteron::Method;
using pteron::Options;
using pteron::Program;

const std::string kModels = PTERON_TEST_DATA "/models/";
const std::string kGolden = PTERON_GOLDEN_DIR "/portable/";

json acceleration(const Method& method) {
  char* text = nullptr;
  EXPECT_EQ(pteron_method_execution(method.c_method(), &text, nullptr), PTERON_OK);
  json whole = json::parse(text);
  pteron_string_free(text);
  return whole["accelerated"];
}

void expect_whole_in_one_region(const Method& method) {
  const json found = acceleration(method);
  EXPECT_EQ(found["regions"].size(), 1u) << found;
  for (const json& row : found["operators"]) EXPECT_EQ(row["kernels"], 0) << row;
}

// Numbers that differ from one another and from run to run.
std::vector<float> made_up(size_t count, uint32_t seed) {
  std::vector<float> numbers(count);
  uint32_t state = seed;
  for (float& number : numbers) {
    state = state * 1664525u + 1013904223u;
    number = static_cast<float>(state >> 8) / 8388608.0f - 1.0f;
  }
  return numbers;
}

void expect_same(const pteron::Outputs& got, const pteron::Outputs& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const auto a = got[i].tensor();
    const auto b = wanted[i].tensor();
    ASSERT_EQ(a.shape().to_vector(), b.shape().to_vector()) << "output " << i;
    const auto x = a.to_vector<float>();
    const auto y = b.to_vector<float>();
    for (size_t k = 0; k < y.size(); ++k)
      ASSERT_NEAR(x[k], y[k], 1e-4 * std::max(1.0f, std::fabs(y[k]))) << "output " << i << " " << k;
  }
}

class CompiledPrograms : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const char* place = std::getenv(GetParam());
    if (place == nullptr) GTEST_SKIP() << GetParam() << " is not set";
    openvino_ = place;
  }
  Program open(const std::string& path, Accelerate when) const {
    return Program(path, Options().openvino(openvino_).accelerate(when));
  }

  std::string openvino_;
};

TEST_P(CompiledPrograms, BatchesOfAnySizeAlternateInOneModel) {
  const std::string path = kModels + "crepe_dynamic_portable.pte";
  Method compiled = open(path, Accelerate::On).load();
  Method kernels = open(path, Accelerate::Off).load();
  expect_whole_in_one_region(compiled);
  for (const int64_t batch : {1, 3, 8, 64, 2, 1, 64, 3, 8, 2}) {
    const auto frames = made_up(static_cast<size_t>(batch) * 1024, static_cast<uint32_t>(batch));
    const pteron::Shape shape{batch, 1024};
    expect_same(compiled({pteron::tensor(frames, shape)}),
                kernels({pteron::tensor(frames, shape)}));
  }
  expect_whole_in_one_region(compiled);
}

TEST_P(CompiledPrograms, PicturesOfAnySizeAlternateInOneModel) {
  const std::string path = kModels + "pnet_dynamic_portable.pte";
  Method compiled = open(path, Accelerate::On).load();
  Method kernels = open(path, Accelerate::Off).load();
  expect_whole_in_one_region(compiled);
  for (int round = 0; round < 2; ++round) {
    for (const auto& [height, width] :
         {std::pair<int64_t, int64_t>{96, 128}, {48, 64}, {200, 80}, {24, 24}, {256, 300}}) {
      const auto picture = made_up(static_cast<size_t>(3 * height * width), 7);
      const pteron::Shape shape{1, 3, height, width};
      expect_same(compiled({pteron::tensor(picture, shape)}),
                  kernels({pteron::tensor(picture, shape)}));
    }
  }
  expect_whole_in_one_region(compiled);
}

// A cache of keys is written at places that the caller names, in each of 100 steps.
TEST_P(CompiledPrograms, StateIsRightOverAHundredSteps) {
  const std::string path = kGolden + "extra__kv_state/model.pte";
  Method compiled = open(path, Accelerate::On).load();
  Method kernels = open(path, Accelerate::Off).load();
  EXPECT_FALSE(acceleration(compiled)["regions"].empty());
  for (uint32_t step = 0; step < 100; ++step) {
    const auto keys = made_up(8, step);
    const std::vector<int64_t> places{step % 2, 2 + step % 2};
    const pteron::Shape shape{1, 2, 4};
    const pteron::Shape count{2};
    expect_same(compiled({pteron::tensor(keys, shape), pteron::tensor(places, count)}),
                kernels({pteron::tensor(keys, shape), pteron::tensor(places, count)}));
  }
  // A place that is none: an error, and the state is as it was.
  const auto states = [&] {
    std::vector<std::vector<char>> all;
    for (size_t i = 0; i < compiled.state_count(); ++i) {
      const auto state = compiled.state(i);
      const auto* bytes = static_cast<const char*>(state.raw());
      all.emplace_back(bytes, bytes + state.bytes());
    }
    return all;
  };
  const auto before = states();
  const auto keys = made_up(8, 1);
  const std::vector<int64_t> nowhere{0, 1000};
  EXPECT_THROW(compiled({pteron::tensor(keys, pteron::Shape{1, 2, 4}),
                         pteron::tensor(nowhere, pteron::Shape{2})}),
               pteron::Error);
  EXPECT_EQ(states(), before);
}

// Methods of one plan, and several methods of a program, keep apart what they compute.
TEST_P(CompiledPrograms, MethodsShareWhatIsCompiled) {
  const Program program = open(kModels + "pnet_portable.pte", Accelerate::On);
  Method one = program.load();
  Method other = program.load();
  const std::vector<int64_t> shape = one.input_spec(0).shape;
  size_t count = 1;
  for (const int64_t size : shape) count *= static_cast<size_t>(size);
  const auto a = made_up(count, 1);
  const auto b = made_up(count, 2);
  const auto first = one({pteron::tensor(a, shape)});
  other({pteron::tensor(b, shape)});
  Method kernels = open(kModels + "pnet_portable.pte", Accelerate::Off).load();
  expect_same(first, kernels({pteron::tensor(a, shape)}));
}

TEST_P(CompiledPrograms, LittleWorkStaysWithKernelsByItself) {
  Method method = open(kGolden + "models__ModuleAdd/model.pte", Accelerate::Auto).load();
  const json found = acceleration(method);
  EXPECT_TRUE(found["regions"].empty()) << found;
  EXPECT_EQ(found["kept"][0]["reason"], "too little work to repay compiling it");
}

INSTANTIATE_TEST_SUITE_P(Both, CompiledPrograms,
                         testing::Values("PTERON_TEST_OPENVINO_2025_4_1",
                                         "PTERON_TEST_OPENVINO_2026_4_1"),
                         [](const auto& one) {
                           return std::string(one.index == 0 ? "On2025" : "On2026");
                         });

// Without OpenVINO everything runs as it did, and the reason is there to read.
TEST(CompiledProgramsWithout, OpenvinoKernelsRunAndSayWhy) {
  Method method =
      Program(kModels + "pnet_portable.pte",
              Options().openvino("/nowhere/libopenvino_c.so").accelerate(Accelerate::On))
          .load();
  const json found = acceleration(method);
  EXPECT_TRUE(found["regions"].empty());
  ASSERT_FALSE(found["kept"].empty());
  EXPECT_NE(found["kept"][0]["reason"].get<std::string>().find("/nowhere/libopenvino_c.so"),
            std::string::npos)
      << found["kept"][0];
}

}  // namespace
