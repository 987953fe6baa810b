// Models on a real OpenVINO through the C interface, as applications meet it: many threads, many
// calls, memory, precision, caches, folders. Each test is a process of its own under ctest. Linux
// only: it reads /proc.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/cpu.h"
#include "base/temp_folder.h"
#include "npz.h"
#include "openvino/library.h"
#include "program/decode.h"
#include "pteron/pteron.h"

namespace pteron {
namespace {

namespace fs = std::filesystem;
using tools::Array;
using Clock = std::chrono::steady_clock;

#define NEEDS(version, place)                                                               \
  const char* const place = std::getenv("PTERON_TEST_OPENVINO_" version);                   \
  if (place == nullptr) {                                                                   \
    GTEST_SKIP() << "PTERON_TEST_OPENVINO_" version " does not say where that OpenVINO is"; \
  }

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

#define NEEDS_PLAIN_MEMORY()                                                  \
  if (kSanitized) {                                                           \
    GTEST_SKIP() << "a sanitizer keeps freed memory, so growth says nothing"; \
  }

struct Freer {
  void operator()(pteron_program* program) const { pteron_program_free(program); }
  void operator()(pteron_method* method) const { pteron_method_free(method); }
};
using ProgramHandle = std::unique_ptr<pteron_program, Freer>;
using MethodHandle = std::unique_ptr<pteron_method, Freer>;

struct Outcome {
  pteron_status status;
  std::string message;
};

Outcome call(const std::function<pteron_status(pteron_error**)>& function) {
  pteron_error* error = nullptr;
  const pteron_status status = function(&error);
  Outcome outcome{status, error != nullptr ? pteron_error_message(error) : ""};
  pteron_error_free(error);
  return outcome;
}

std::string model_path(const std::string& name) {
  return std::string(PTERON_TEST_DATA) + "/models/" + name + ".pte";
}

pteron_program_options options_for(const char* openvino) {
  pteron_program_options options = PTERON_INIT(pteron_program_options);
  options.openvino = openvino;
  return options;
}

ProgramHandle open(const std::string& path, const pteron_program_options& options) {
  pteron_program* program = nullptr;
  const Outcome outcome = call([&](pteron_error** error) {
    return pteron_program_open(path.c_str(), &options, &program, error);
  });
  EXPECT_EQ(outcome.status, PTERON_OK) << outcome.message;
  return ProgramHandle(program);
}

Outcome try_load(const ProgramHandle& program, MethodHandle& method) {
  pteron_method* loaded = nullptr;
  Outcome outcome = call([&](pteron_error** error) {
    return pteron_method_load(program.get(), nullptr, nullptr, &loaded, error);
  });
  method.reset(loaded);
  return outcome;
}

MethodHandle load(const ProgramHandle& program) {
  MethodHandle method;
  const Outcome outcome = try_load(program, method);
  EXPECT_EQ(outcome.status, PTERON_OK) << outcome.message;
  return method;
}

// in0..., out0... of a model's .npz.
struct Data {
  explicit Data(const std::string& name)
      : arrays(tools::read_npz(std::string(PTERON_TEST_DATA) + "/models/" + name + ".npz")) {}
  const Array& at(const std::string& key) const {
    for (const auto& [name, array] : arrays) {
      if (name == key) return array;
    }
    std::abort();
  }
  tools::NamedArrays arrays;
};

pteron_value value_of(const Array& array) {
  return pteron_tensor_value(const_cast<char*>(array.data.data()), array.dtype,
                             static_cast<int32_t>(array.shape.size()), array.shape.data());
}

// Runs on one input; output 0's elements, or none if anything failed.
std::vector<float> run(const MethodHandle& method, const Array& input) {
  const pteron_value in = value_of(input);
  pteron_value out{};
  if (pteron_method_run(method.get(), &in, 1, nullptr) != PTERON_OK ||
      pteron_method_get_output(method.get(), 0, &out, nullptr) != PTERON_OK) {
    return {};
  }
  const pteron_tensor& tensor = out.as.tensor;
  size_t count = 1;
  for (int32_t i = 0; i < tensor.rank; ++i) count *= static_cast<size_t>(tensor.shape[i]);
  const auto* data = static_cast<const float*>(tensor.data);
  return std::vector<float>(data, data + count);
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size() || a.empty()) return INFINITY;
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max<double>(largest, std::fabs(a[i] - b[i]));
  return largest;
}

std::vector<float> floats_of(const Array& array) {
  std::vector<float> values(array.data.size() / sizeof(float));
  std::memcpy(values.data(), array.data.data(), array.data.size());
  return values;
}

Array scaled(Array array, float factor) {
  std::vector<float> values = floats_of(array);
  for (float& value : values) value *= factor;
  std::memcpy(array.data.data(), values.data(), array.data.size());
  return array;
}

double resident_mb() {
  std::ifstream file("/proc/self/statm");
  double total = 0;
  double resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

std::string execution(const MethodHandle& method) {
  char* json = nullptr;
  EXPECT_EQ(pteron_method_execution(method.get(), &json, nullptr), PTERON_OK);
  std::string text = json != nullptr ? json : "";
  pteron_string_free(json);
  return text;
}

void on_threads(int count, const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  threads.reserve(static_cast<size_t>(count));
  for (int t = 0; t < count; ++t) threads.emplace_back(work, t);
  for (std::thread& thread : threads) thread.join();
}

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

// ---- Memory

// Memory looked at between equal numbers of calls: what the heap has given out, since resident
// memory takes in a megabyte of leaks unchanged, and that too, roughly. OpenVINO's second thread
// takes part first at some call or other on a busy machine, and takes up to 14 MB then, once; a
// leak takes in every interval. So the middle of the intervals counts.
class Growth {
 public:
  void look() {
    const auto heap = ::mallinfo2();
    heap_.push_back(static_cast<double>(heap.uordblks + heap.hblkhd) / (1 << 20));
    resident_.push_back(resident_mb());
  }
  void expect_below(double each_mb) const {
    std::vector<double> steps;
    for (size_t i = 1; i < heap_.size(); ++i) steps.push_back(heap_[i] - heap_[i - 1]);
    ASSERT_GE(steps.size(), 5U);
    std::sort(steps.begin(), steps.end());
    const double middle = steps[steps.size() / 2];
    const double resident = resident_.back() - resident_.front();
    std::printf("growth: of the heap in the middle interval %.3f MB; resident, in all, %.2f MB\n",
                middle, resident);
    EXPECT_LT(middle, each_mb);
    EXPECT_LT(resident, each_mb * static_cast<double>(steps.size()) + 32);
  }

 private:
  std::vector<double> heap_;
  std::vector<double> resident_;
};

// What `count` further pieces of work add to resident memory, each, in MB. Everything stays alive.
double each_adds(int count, const std::function<void()>& make) {
  const double before = resident_mb();
  for (int i = 0; i < count; ++i) make();
  return (resident_mb() - before) / count;
}

TEST(RealRuns, AFurtherMethodCostsWhatAFurtherRequestDoesAndItsOwnBuffers) {
  NEEDS("2025_4_1", place);
  NEEDS_PLAIN_MEMORY();
  constexpr int kFurther = 16;
  const auto loaded = load_openvino(place);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  const OpenvinoLibrary& ov = **loaded;
  for (const char* model : {"pnet", "crepe"}) {
    const Data data(model);
    const Array& input = data.at("in0");
    const ProgramHandle program =
        open(model_path(std::string(model) + "_openvino"), options_for(place));
    const MethodHandle first = load(program);
    for (int i = 0; i < 3; ++i) ASSERT_FALSE(run(first, input).empty());
    std::vector<MethodHandle> methods;
    const double ours = each_adds(kFurther, [&] {
      methods.push_back(load(program));
      for (int i = 0; i < 3; ++i) (void)run(methods.back(), input);
    });

    // Plain C: the same blob, a request that has the input in the caller's memory.
    auto file = open_file(model_path(std::string(model) + "_openvino"), false);
    ASSERT_TRUE(file.ok());
    const auto decoded = decode_program(*std::move(file));
    ASSERT_TRUE(decoded.ok());
    const Bytes blob = decoded->plans[0].delegates[0].payload;
    ov::ov_core_t* core = nullptr;
    ASSERT_EQ(ov->ov_core_create(&core), ov::ov_status_e::Ok);
    ASSERT_EQ(ov->ov_core_set_property(core, "CPU", "EXECUTION_MODE_HINT", "ACCURACY"),
              ov::ov_status_e::Ok);
    ASSERT_EQ(ov->ov_core_set_property(core, "CPU", "INFERENCE_PRECISION_HINT", "f32"),
              ov::ov_status_e::Ok);
    ov::ov_compiled_model_t* compiled = nullptr;
    ASSERT_EQ(ov->ov_core_import_model(core, reinterpret_cast<const char*>(blob.data()),
                                       blob.size(), "CPU", &compiled),
              ov::ov_status_e::Ok);
    const auto request_and_runs = [&] {
      ov::ov_infer_request_t* request = nullptr;
      ASSERT_EQ(ov->ov_compiled_model_create_infer_request(compiled, &request),
                ov::ov_status_e::Ok);
      auto* shape = const_cast<int64_t*>(input.shape.data());
      ov::ov_tensor_t* tensor = nullptr;
      ASSERT_EQ(ov->ov_tensor_create_from_host_ptr(
                    ov::ov_element_type_e::F32, {static_cast<int64_t>(input.shape.size()), shape},
                    const_cast<char*>(input.data.data()), &tensor),
                ov::ov_status_e::Ok);
      ASSERT_EQ(ov->ov_infer_request_set_input_tensor_by_index(request, 0, tensor),
                ov::ov_status_e::Ok);
      for (int i = 0; i < 3; ++i)
        ASSERT_EQ(ov->ov_infer_request_infer(request), ov::ov_status_e::Ok);
    };
    request_and_runs();
    const double plain = each_adds(kFurther, request_and_runs);

    double buffers = static_cast<double>(input.data.size());
    for (const auto& [name, array] : data.arrays) {
      if (name.rfind("out", 0) == 0) buffers += static_cast<double>(array.data.size());
    }
    buffers /= 1 << 20;
    std::printf(
        "%s: a further method %.2f MB, a further request in plain C %.2f MB, its inputs "
        "and outputs %.2f MB\n",
        model, ours, plain, buffers);
    EXPECT_LE(ours, plain + 1 + buffers) << model;
  }
}

TEST(RealRuns, TenThousandCallsGiveTheSameBitsAndDoNotGrow) {
  NEEDS("2025_4_1", place);
  const Data data("lstm");
  const MethodHandle method = load(open(model_path("lstm_openvino"), options_for(place)));
  const std::vector<float> first = run(method, data.at("in0"));
  ASSERT_FALSE(first.empty());
  Growth growth;
  for (int i = 1; i <= 10'000; ++i) {
    ASSERT_EQ(run(method, data.at("in0")), first) << "run " << i;
    if (i % 1'000 == 0) growth.look();
  }
  if (!kSanitized) growth.expect_below(0.1);  // 100 bytes a call.
}

TEST(RealRuns, TenThousandRunsEachOnAThreadOfItsOwnDoNotGrow) {
  NEEDS("2025_4_1", place);
  NEEDS_PLAIN_MEMORY();
  const Data data("lstm");
  const MethodHandle method = load(open(model_path("lstm_openvino"), options_for(place)));
  const std::vector<float> first = run(method, data.at("in0"));
  int right = 0;
  Growth growth;
  for (int i = 1; i <= 10'000; ++i) {
    std::thread([&] { right += run(method, data.at("in0")) == first ? 1 : 0; }).join();
    if (i % 1'000 == 0) growth.look();
  }
  EXPECT_EQ(right, 10'000);
  growth.expect_below(0.1);
}

TEST(RealRuns, TwoHundredLoadsAndUnloadsDoNotGrow) {
  NEEDS("2025_4_1", place);
  NEEDS_PLAIN_MEMORY();
  const Data data("pnet");
  Growth growth;
  for (int i = 1; i <= 200; ++i) {
    ASSERT_FALSE(
        run(load(open(model_path("pnet_openvino"), options_for(place))), data.at("in0")).empty());
    if (i % 20 == 0) growth.look();
  }
  growth.expect_below(0.5);
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

// OpenVINO keeps what it made for a shape, of 5,000 operators and shapes at first: P-Net takes 700
// MB for it in time. docs/finding_openvino.md says how to have it keep less.
TEST(RealRuns, ManyShapesHaveTheirOwnOutputsAndTakeBoundedMemory) {
  NEEDS("2025_4_1", place);
  NEEDS_PLAIN_MEMORY();
  pteron_program_options options = options_for(place);
  const char* key = "CPU_RUNTIME_CACHE_CAPACITY";
  const char* capacity = "100";
  options.config_keys = &key;
  options.config_values = &capacity;
  options.config_count = 1;
  const MethodHandle method = load(open(model_path("pnet_dynamic_openvino"), options));
  // A 3x3 convolution, a 2x2 pooling that rounds up, two more 3x3 convolutions.
  const auto map_size = [](int64_t n) { return (n - 2 + 1) / 2 - 4; };
  uint32_t random = 1;
  const auto next_size = [&] {
    random = random * 1664525U + 1013904223U;
    return int64_t{16} + (random >> 24) % 48;
  };
  Growth growth;
  for (int i = 1; i <= 1'000; ++i) {
    const int64_t shape[] = {1, 3, next_size(), next_size()};
    std::vector<float> picture(static_cast<size_t>(3 * shape[2] * shape[3]), 0.5F);
    const pteron_value in = pteron_tensor_value(picture.data(), PTERON_FLOAT32, 4, shape);
    ASSERT_EQ(pteron_method_run(method.get(), &in, 1, nullptr), PTERON_OK);
    pteron_value out{};
    ASSERT_EQ(pteron_method_get_output(method.get(), 0, &out, nullptr), PTERON_OK);
    ASSERT_EQ(out.as.tensor.shape[2], map_size(shape[2]));
    ASSERT_EQ(out.as.tensor.shape[3], map_size(shape[3]));
    if (i >= 400 && i % 100 == 0) growth.look();
  }
  growth.expect_below(1);
}

// ---- Precision

class RealPrecision : public testing::TestWithParam<const char*> {};

TEST_P(RealPrecision, IsTheProgramsUnderEachInstructionSet) {
  NEEDS("2025_4_1", place);
  if (GetParam()[0] != '\0') ::setenv("ONEDNN_MAX_CPU_ISA", GetParam(), 1);
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

TEST(RealRuns, ThreadsAreAsManyAsAskedFor) {
  NEEDS("2025_4_1", place);
  const Data data("crepe");
  pteron_program_options options = options_for(place);
  options.threads = 1;
  const MethodHandle method = load(open(model_path("crepe_openvino"), options));
  ASSERT_FALSE(run(method, data.at("in0")).empty());
  const auto cpu_seconds = [] {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
  };
  const double cpu = cpu_seconds();
  const auto start = Clock::now();
  for (int i = 0; i < 10; ++i) (void)run(method, data.at("in0"));
  const double wall = std::chrono::duration<double>(Clock::now() - start).count();
  EXPECT_LE(cpu_seconds() - cpu, wall * 1.1);
}

TEST(RealRuns, AProcessOnOneCoreUsesOneThreadAndTheDoctorSaysSo) {
  NEEDS("2025_4_1", place);
  if (hardware_cores() < 2) GTEST_SKIP() << "this machine has one core";
  cpu_set_t all;
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &all) && CPU_COUNT(&one) == 0) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  const MethodHandle method = load(open(model_path("lstm_openvino"), options_for(place)));
  EXPECT_NE(execution(method).find("\"INFERENCE_NUM_THREADS\": \"1\""), std::string::npos)
      << execution(method);
  const pteron_program_options options = options_for(place);
  char* json = nullptr;
  ASSERT_EQ(pteron_doctor(&options, &json, nullptr), PTERON_OK);
  EXPECT_NE(std::string(json).find("may use only 1 of"), std::string::npos) << json;
  pteron_string_free(json);
}

// Bound to the same first cores, the threads of several processes would wait for each other.
TEST(RealRuns, ThreadsAreFreeToRunOnEveryCoreIfTheirNumberIsCapped) {
  NEEDS("2025_4_1", place);
  cpu_set_t all;
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  const Data data("crepe");
  pteron_program_options options = options_for(place);
  options.threads = 2;
  options.time_limit = 1000;  // On OpenVINO's threads.
  const MethodHandle method = load(open(model_path("crepe_openvino"), options));
  for (int i = 0; i < 10; ++i) ASSERT_FALSE(run(method, data.at("in0")).empty());
  int threads = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/task")) {
    cpu_set_t its;
    const auto id = static_cast<pid_t>(std::stol(entry.path().filename().string()));
    ASSERT_EQ(::sched_getaffinity(id, sizeof its, &its), 0);
    EXPECT_NE(CPU_EQUAL(&its, &all), 0) << "thread " << id << " is bound to some cores";
    ++threads;
  }
  EXPECT_GT(threads, 1);
  EXPECT_NE(execution(method).find("\"ENABLE_CPU_PINNING\": \"NO\""), std::string::npos);
}

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
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST(RealRuns, ASecondLoadAddsNoFileToTheCacheAndAnyFolderNameDoes) {
  NEEDS("2025_4_1", place);
  const TempFolder top;
  const fs::path folder = fs::path(top.text()) /
                          "\xd0\xbf\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82 \xe6\xa8\xa1 \xc3\xa9";
  fs::create_directories(folder / "cache");
  fs::copy(model_path("lstm_openvino"), folder / "lstm.pte");
  const std::string cache = (folder / "cache").string();
  const Data data("lstm");
  pteron_program_options options = options_for(place);
  options.cache_dir = cache.c_str();
  const auto files = [&] {
    std::map<std::string, uintmax_t> sizes;
    for (const auto& entry : fs::recursive_directory_iterator(folder / "cache")) {
      if (entry.is_regular_file()) sizes[entry.path().string()] = entry.file_size();
    }
    return sizes;
  };
  std::map<std::string, uintmax_t> after_first;
  for (int i = 0; i < 2; ++i) {
    const MethodHandle method = load(open((folder / "lstm.pte").string(), options));
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
    const std::string name = entry.path().filename().string();
    for (const char* part : {"libopenvino_c.so", "libopenvino.so", "libopenvino_intel_cpu_plugin",
                             "libopenvino_ir_frontend", "libtbb.so"}) {
      if (name.rfind(part, 0) == 0) fs::copy(entry.path(), fs::path(top.text()) / name);
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
