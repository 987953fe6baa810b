// What models on a real OpenVINO take of memory, cores and threads: read from /proc, so on Linux
// only.
#include <gtest/gtest.h>
#include <malloc.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "base/cpu.h"
#include "openvino/library.h"
#include "program/decode.h"
#include "real_runs.h"

namespace pteron {
namespace {

using namespace real;

double resident_mb() {
  std::ifstream file("/proc/self/statm");
  double total = 0;
  double resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
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
    ASSERT_GE(heap_.size(), 6U);
    const double middle = middle_step(heap_);
    const double resident = middle_step(resident_);
    std::printf("growth in the middle interval: of the heap %.3f MB, resident %.2f MB\n", middle,
                resident);
    EXPECT_LT(middle, each_mb);
    EXPECT_LT(resident, each_mb + 1);
  }

 private:
  static double middle_step(const std::vector<double>& values) {
    std::vector<double> steps;
    for (size_t i = 1; i < values.size(); ++i) steps.push_back(values[i] - values[i - 1]);
    std::sort(steps.begin(), steps.end());
    return steps[steps.size() / 2];
  }

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

// ---- Cores and threads

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

}  // namespace
}  // namespace pteron
