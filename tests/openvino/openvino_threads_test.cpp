// Methods of one program on many threads, on the fake OpenVINO, which counts what was made and
// whether a request was used twice at a time.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/shared_library.h"
#include "fake/fake_openvino.h"
#include "openvino/openvino.h"
#include "runtime/program_maker.h"

namespace pteron::test {
namespace {

constexpr const char* kLibrary = PTERON_FAKE_OPENVINO;
constexpr int kThreads = 8;

template <typename Function>
Function* find(const char* name) {
  const auto library = SharedLibrary::open(kLibrary);
  EXPECT_TRUE(library.ok()) << library.error().message;
  return library->find<Function>(name);
}

long long count(const char* what) { return find<fake_count_t>("fake_count")(what); }

void script(const char* text) {
  const char* wrong = find<fake_script_t>("fake_script")(text);
  EXPECT_EQ(wrong, nullptr) << wrong;
}

// y = x + 1, by the delegate.
PlanMaker add_one(const std::string& name) {
  PlanMaker maker(name);
  const ValueIndex x = maker.planned({2, 3});
  const ValueIndex y = maker.planned({2, 3});
  maker.call_delegate("OpenvinoBackend", {x, y},
                      "FAKEBLOB\ninput f32 2,3 x\noutput f32 2,3 y\nop add_one\n");
  maker.inputs({x}).outputs({y});
  return maker;
}

RuntimeOptions with_openvino() {
  OpenvinoOptions options;
  options.library = kLibrary;
  RuntimeOptions runtime;
  runtime.delegates.push_back(make_openvino_delegate(options));
  return runtime;
}

// Whether a method gives right results for inputs that no other thread has.
bool runs_right(Method& method, int thread) {
  for (int i = 0; i < 100; ++i) {
    const auto base = static_cast<float>(1000 * thread + i);
    auto array = floats({2, 3}, {base, base + 1, base + 2, base + 3, base + 4, base + 5});
    const HostValue host = array.host();
    if (!method.run(std::span(&host, 1)).ok()) return false;
    for (float& value : array.values) value += 1;
    if (output(method) != array.values) return false;
  }
  return true;
}

void on_threads(const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) threads.emplace_back(work, t);
  for (std::thread& thread : threads) thread.join();
}

TEST(OpenvinoThreads, EightMethodsOfOneProgramAreRightAndImportItOnce) {
  const auto program = *load_program({add_one("forward")}, with_openvino());
  std::atomic<int> right{0};
  on_threads([&](int t) {
    const auto method = Method::load(program, "forward");
    if (method.ok() && runs_right(**method, t)) ++right;
  });
  EXPECT_EQ(right, kThreads);
  EXPECT_EQ(count("ov_core_import_model"), 1);
  EXPECT_EQ(count("ov_core_create"), 1);
  EXPECT_EQ(count("ov_compiled_model_create_infer_request"), kThreads);
  EXPECT_EQ(count("overlaps"), 0);
  EXPECT_EQ(count("bad_frees"), 0);
  EXPECT_EQ(count("live infer_request"), 0);
}

TEST(OpenvinoThreads, EightDifferentMethodsOfOneBlobImportItOnce) {
  std::vector<PlanMaker> makers;
  makers.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) makers.push_back(add_one("method" + std::to_string(t)));
  const auto program = *load_program(makers, with_openvino());
  std::atomic<int> right{0};
  on_threads([&](int t) {
    const auto method = Method::load(program, "method" + std::to_string(t));
    if (method.ok() && runs_right(**method, t)) ++right;
  });
  EXPECT_EQ(right, kThreads);
  EXPECT_EQ(count("ov_core_import_model"), 1);
}

TEST(OpenvinoThreads, AnImportThatFailedIsTriedAgainByTheNext) {
  script("fail ov_core_import_model -1 0 3 it is Monday\n");
  const auto program = *load_program({add_one("forward")}, with_openvino());
  std::atomic<int> right{0};
  std::atomic<int> failed{0};
  on_threads([&](int t) {
    const auto method = Method::load(program, "forward");
    if (!method.ok()) {
      failed += message(method).find("it is Monday") != std::string::npos ? 1 : 0;
    } else if (runs_right(**method, t)) {
      ++right;
    }
  });
  EXPECT_EQ(failed, 3);
  EXPECT_EQ(right, kThreads - 3);
  EXPECT_EQ(count("ov_core_import_model"), 4);
}

TEST(OpenvinoThreads, AMethodLoadsAndGoesWhileOthersRun) {
  const auto program = *load_program({add_one("forward")}, with_openvino());
  std::atomic<int> right{0};
  on_threads([&](int t) {
    bool all = true;
    for (int round = 0; round < 5; ++round) {
      const auto method = Method::load(program, "forward");
      all = all && method.ok() && runs_right(**method, t);
    }
    right += all ? 1 : 0;
  });
  EXPECT_EQ(right, kThreads);
  EXPECT_EQ(count("ov_core_import_model"), 1);
  EXPECT_EQ(count("live infer_request"), 0);
}

}  // namespace
}  // namespace pteron::test
