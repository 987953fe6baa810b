// Models on a real OpenVINO through the C interface, as applications meet it: many threads, many
// calls, precision, caches, folders. Each test is a process of its own under ctest.
#include "real_runs.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <map>

#include "base/paths.h"
#include "base/set_environment.h"
#include "base/temp_folder.h"

namespace pteron {
namespace {

using namespace real;

// ---- Threads

TEST(RealRuns, EightThreadsOnEightMethodsOfOneProgramAreRight) {
  NEEDS("2025_4_1", place);
  const Data data("pnet");
  const ProgramHandle program = open(model_path("pnet_openvino"), options_for(place));
  const auto factor = [](int t) { return 1.0F - 0.1F * static_cast<float>(t); };
  std::vector<Array> inputs;
  std::vector<std::vector<float>> wanted;
  {
    const MethodHandle alone = load(program);
    for (int t = 0; t < 8; ++t) {
      inputs.push_back(scaled(data.at("in0"), factor(t)));
      wanted.push_back(run(alone, inputs.back()));
    }
  }
  ASSERT_LE(largest_difference(wanted[0], floats_of(data.at("out0"))), 1e-4);
  ASSERT_GT(largest_difference(wanted[0], wanted[7]), 1e-3);
  std::atomic<int> right{0};
  on_threads(8, [&](int t) {
    const auto slot = static_cast<size_t>(t);
    const MethodHandle method = load(program);
    for (int i = 0; i < 50; ++i)
      right += largest_difference(run(method, inputs[slot]), wanted[slot]) <= 1e-6 ? 1 : 0;
  });
  EXPECT_EQ(right, 8 * 50);
}

TEST(RealRuns, TwoModelsOnThreadsThatComeAndGoAreRight) {
  NEEDS("2025_4_1", place);
  const Data data[] = {Data("pnet"), Data("lstm")};
  const ProgramHandle programs[] = {open(model_path("pnet_openvino"), options_for(place)),
                                    open(model_path("lstm_openvino"), options_for(place))};
  std::vector<MethodHandle> methods;
  for (int slot = 0; slot < 4; ++slot) methods.push_back(load(programs[slot % 2]));
  std::atomic<int> right{0};
  for (int round = 0; round < 100; ++round) {
    on_threads(4, [&](int t) {
      const std::vector<float> got = run(methods[static_cast<size_t>(t)], data[t % 2].at("in0"));
      right += largest_difference(got, floats_of(data[t % 2].at("out0"))) <= 1e-4 ? 1 : 0;
    });
  }
  EXPECT_EQ(right, 400);
}

TEST(RealRuns, EightThreadsLoadProgramsAtOnce) {
  NEEDS("2025_4_1", place);
  const Data data[] = {Data("pnet"), Data("lstm")};
  std::atomic<int> right{0};
  for (int round = 0; round < 5; ++round) {
    on_threads(8, [&](int t) {
      const ProgramHandle program =
          open(model_path(t % 2 == 0 ? "pnet_openvino" : "lstm_openvino"), options_for(place));
      const std::vector<float> got = run(load(program), data[t % 2].at("in0"));
      right += largest_difference(got, floats_of(data[t % 2].at("out0"))) <= 1e-4 ? 1 : 0;
    });
  }
  EXPECT_EQ(right, 40);
}

TEST(RealRuns, ACancelledOrOverdueRunLeavesTheNextOnesRight) {
  NEEDS("2025_4_1", place);
  const Data data("crepe");
  const Array& input = data.at("in0");
  const pteron_value in = value_of(input);
  pteron_program_options options = options_for(place);
  const std::vector<float> wanted = run(load(open(model_path("crepe_openvino"), options)), input);
  ASSERT_FALSE(wanted.empty());

  options.time_limit = 1000;
  const MethodHandle method = load(open(model_path("crepe_openvino"), options));
  ASSERT_EQ(run(method, input), wanted);
  const auto start = Clock::now();
  ASSERT_EQ(run(method, input), wanted);
  const auto usual = Clock::now() - start;
  int cancelled = 0;
  for (int i = 0; i < 200; ++i) {
    // From before its beginning to after its end.
    std::thread canceller([&] {
      std::this_thread::sleep_for(usual * i / 160);
      pteron_method_cancel(method.get());
    });
    const Outcome outcome =
        call([&](pteron_error** error) { return pteron_method_run(method.get(), &in, 1, error); });
    canceller.join();
    if (outcome.status != PTERON_OK) {
      ++cancelled;
      ASSERT_EQ(outcome.status, PTERON_CANCELLED) << outcome.message;
    }
    if (i % 10 == 0) {
      ASSERT_EQ(run(method, input), wanted);
    }
  }
  EXPECT_GT(cancelled, 0);
  EXPECT_EQ(run(method, input), wanted);

  options.time_limit = 1e-6;
  const MethodHandle hurried = load(open(model_path("crepe_openvino"), options));
  for (int i = 0; i < 20; ++i) {
    const Outcome outcome =
        call([&](pteron_error** error) { return pteron_method_run(hurried.get(), &in, 1, error); });
    ASSERT_EQ(outcome.status, PTERON_CANCELLED) << outcome.message;
  }
}

// ---- Precision

class RealPrecision : public testing::TestWithParam<const char*> {};

TEST_P(RealPrecision, IsTheProgramsUnderEachInstructionSet) {
  NEEDS("2025_4_1", place);
  if (GetParam()[0] != '\0') test::set_environment("ONEDNN_MAX_CPU_ISA", GetParam());
  const Data data("lstm");
  const std::vector<float> eager = floats_of(data.at("out0"));
  pteron_program_options options = options_for(place);
  const MethodHandle method = load(open(model_path("lstm_openvino"), options));
  EXPECT_LE(largest_difference(run(method, data.at("in0")), eager), 1e-5);
  EXPECT_NE(execution(method).find("\"precision\": \"f32\""), std::string::npos)
      << execution(method);

  options.precision = PTERON_PRECISION_FAST;
  const MethodHandle fast = load(open(model_path("lstm_openvino"), options));
  const double off = largest_difference(run(fast, data.at("in0")), eager);
  const bool is_bf16 = execution(fast).find("\"precision\": \"bf16\"") != std::string::npos;
  std::printf("precision fast is %s and %.3g off\n", is_bf16 ? "bf16" : "not bf16", off);
  if (is_bf16) {
    EXPECT_GT(off, 1e-3) << "bf16 must show, or this test proves nothing";
  }
}

INSTANTIATE_TEST_SUITE_P(All, RealPrecision, testing::Values("", "AVX2", "AVX512_CORE"),
                         [](const auto& chosen) {
                           const std::string name = chosen.param;
                           return name.empty() ? std::string("OfThisCpu") : name;
                         });

// ---- Threads, caches and folders

// Each with a pool of its own, or sharing one with another method, beside OpenVINO's threads.
TEST(RealRuns, UndelegatedModelsInParallelGiveTheBitsThatTheyGiveAlone) {
  NEEDS("2025_4_1", place);
  const Data data("crepe");
  const Array& input = data.at("in0");
  pteron_program_options options = options_for(place);
  options.threads = 2;
  const std::vector<ProgramHandle> programs = [&] {
    std::vector<ProgramHandle> opened;
    for (const char* name : {"crepe_portable", "crepe_portable", "crepe_openvino"})
      opened.push_back(open(model_path(name), options));
    return opened;
  }();
  struct Runner {
    MethodHandle method;
    std::vector<float> alone;
    int different = 0;
  };
  std::vector<Runner> runners;
  for (const size_t program : {0, 0, 1, 2}) {
    Runner& runner = runners.emplace_back();
    runner.method = load(programs[program]);
    runner.alone = run(runner.method, input);
    ASSERT_FALSE(runner.alone.empty());
  }
  on_threads(static_cast<int>(runners.size()), [&](int t) {
    Runner& runner = runners[static_cast<size_t>(t)];
    for (int i = 0; i < 20; ++i)
      if (run(runner.method, input) != runner.alone) ++runner.different;
  });
  for (const Runner& runner : runners) EXPECT_EQ(runner.different, 0);
}

// Compiled models are imported, which writes nothing there for a CPU: nothing grows old in it.
TEST(RealRuns, TheCacheHidesNoOptionAndKeepsNothingOfACpus) {
  NEEDS("2025_4_1", place);
  const TempFolder cache;
  const std::string folder = cache.text();
  const auto loads_with = [&](const std::function<void(pteron_program_options&)>& change,
                              const char* property) {
    pteron_program_options options = options_for(place);
    options.cache_dir = folder.c_str();
    change(options);
    const std::string text = execution(load(open(model_path("lstm_openvino"), options)));
    EXPECT_NE(text.find(property), std::string::npos) << "wanted " << property << " in " << text;
  };
  for (int again = 0; again < 2; ++again) {
    loads_with([](auto&) {}, "\"NUM_STREAMS\": \"1\"");
    loads_with([](auto&) {}, "\"precision\": \"f32\"");
    loads_with([](auto& o) { o.threads = 1; }, "\"INFERENCE_NUM_THREADS\": \"1\"");
    loads_with([](auto& o) { o.hint = PTERON_HINT_THROUGHPUT; },
               "\"PERFORMANCE_HINT\": \"THROUGHPUT\"");
    loads_with([](auto& o) { o.precision = PTERON_PRECISION_FAST; },
               "\"EXECUTION_MODE_HINT\": \"PERFORMANCE\"");
    loads_with(
        [](auto& o) {
          static const char* const key = "NUM_STREAMS";
          static const char* const value = "2";
          o.config_keys = &key;
          o.config_values = &value;
          o.config_count = 1;
        },
        "\"NUM_STREAMS\": \"2\"");
  }
  EXPECT_TRUE(fs::is_empty(cache.path()));
}

TEST(RealRuns, ASecondLoadAddsNoFileToTheCacheAndAnyFolderNameDoes) {
  NEEDS("2025_4_1", place);
  const TempFolder top;
  const fs::path folder = top / path_from_utf8("привет 模 é");
  fs::create_directories(folder / "cache");
  fs::copy(model_path("lstm_openvino"), folder / "lstm.pte");
  const std::string cache = path_to_utf8(folder / "cache");
  const Data data("lstm");
  pteron_program_options options = options_for(place);
  options.cache_dir = cache.c_str();
  const auto files = [&] {
    std::map<std::string, uintmax_t> sizes;
    for (const auto& entry : fs::recursive_directory_iterator(folder / "cache")) {
      if (entry.is_regular_file()) sizes[path_to_utf8(entry.path())] = entry.file_size();
    }
    return sizes;
  };
  std::map<std::string, uintmax_t> after_first;
  for (int i = 0; i < 2; ++i) {
    const MethodHandle method = load(open(path_to_utf8(folder / "lstm.pte"), options));
    EXPECT_LE(largest_difference(run(method, data.at("in0")), floats_of(data.at("out0"))), 1e-5);
    if (i == 0) after_first = files();
  }
  EXPECT_EQ(files(), after_first);
  std::printf("the cache has %zu file(s)\n", after_first.size());
}

// What docs/finding_openvino.md lists for a folder of one's own.
TEST(RealRuns, FiveLibrariesInAFolderOfTheirOwnAreEnough) {
  NEEDS("2025_4_1", place);
  const TempFolder top;
  for (const auto& entry : fs::directory_iterator(place)) {
    std::string name = entry.path().filename().string();
    if (name.rfind("lib", 0) == 0) name.erase(0, 3);
    for (const char* part : {"openvino_c.", "openvino.", "openvino_intel_cpu_plugin.",
                             "openvino_ir_frontend.", "tbb.", "tbb12."}) {
      if (name.rfind(part, 0) == 0) fs::copy(entry.path(), top / entry.path().filename());
    }
  }
  const std::string folder = top.text();
  const Data data("lstm");
  const MethodHandle method = load(open(model_path("lstm_openvino"), options_for(folder.c_str())));
  ASSERT_NE(method, nullptr);
  EXPECT_LE(largest_difference(run(method, data.at("in0")), floats_of(data.at("out0"))), 1e-5);
}

TEST(RealRuns, WithoutOpenvinoADelegatedProgramDoesNotRunOnAnythingElse) {
  const TempFolder empty;
  const std::string folder = empty.text();
  MethodHandle method;
  const Outcome outcome =
      try_load(open(model_path("lstm_openvino"), options_for(folder.c_str())), method);
  EXPECT_EQ(outcome.status, PTERON_MISSING);
  EXPECT_NE(outcome.message.find(folder), std::string::npos) << outcome.message;
  EXPECT_EQ(method, nullptr);
}

TEST(RealRuns, ADeviceThatIsNotThereIsAnErrorAndNoReasonToTakeTheCpu) {
  NEEDS("2025_4_1", place);
  for (const char* device : {"NPU", "GPU.7"}) {
    pteron_program_options options = options_for(place);
    options.device = device;
    MethodHandle method;
    const Outcome outcome = try_load(open(model_path("lstm_openvino"), options), method);
    EXPECT_EQ(outcome.status, PTERON_MISSING) << outcome.message;
    EXPECT_NE(outcome.message.find("this machine has"), std::string::npos) << outcome.message;
    EXPECT_EQ(method, nullptr);
  }
}

// ---- Versions

TEST(RealVersions, A2026_4RefusesEveryModelOf2025_4AndNamesBothAndTheRemedy) {
  NEEDS("2026_4_1", place);
  for (const char* model : {"lstm", "pnet", "crepe", "pnet_dynamic"}) {
    MethodHandle method;
    const Outcome outcome =
        try_load(open(model_path(std::string(model) + "_openvino"), options_for(place)), method);
    EXPECT_EQ(outcome.status, PTERON_UNSUPPORTED) << outcome.message;
    for (const char* text : {"method \"forward\"", "instruction 0", "by an OpenVINO before 2026",
                             "this process runs OpenVINO 2026.4.1",
                             "export the model again beside OpenVINO 2026.4.1"}) {
      EXPECT_NE(outcome.message.find(text), std::string::npos) << outcome.message;
    }
    EXPECT_EQ(outcome.message.find('\n'), std::string::npos);
  }
}

TEST(RealVersions, A2025_0IsRefusedWithTheLowestVersionThatWillDo) {
  NEEDS("2025_0_0", place);
  MethodHandle method;
  const Outcome outcome = try_load(open(model_path("lstm_openvino"), options_for(place)), method);
  EXPECT_NE(outcome.status, PTERON_OK);
  for (const char* text : {"2025.0", "2025.1"})
    EXPECT_NE(outcome.message.find(text), std::string::npos) << outcome.message;
}

}  // namespace
}  // namespace pteron
