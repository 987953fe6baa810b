// A process that forks: the child goes on with what the parent made, and ends.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <thread>

#include "operators.h"

namespace {

constexpr unsigned kSeconds = 60;  // After which a child that hangs is killed.

// Runs `body` in a forked child; what it returns is the child's exit status.
void expect_child_succeeds(const std::function<int()>& body) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(kSeconds);
    _exit(body());
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

struct Model {
  ProgramHandle program;
  MethodHandle method;
  std::vector<float> picture = std::vector<float>(3 * 96 * 128, 0.25f);

  // What another run gives, or nothing if it fails.
  std::vector<float> outcome() {
    const int64_t shape[] = {1, 3, 96, 128};
    const pteron_value input = pteron_tensor_value(picture.data(), PTERON_FLOAT32, 4, shape);
    pteron_value value{};
    if (pteron_method_run(method.get(), &input, 1, nullptr) != PTERON_OK) return {};
    if (pteron_method_get_output(method.get(), 0, &value, nullptr) != PTERON_OK) return {};
    return floats_of(value).data;
  }
};

Model load_model(const char* name, const pteron_program_options& options) {
  Model model;
  const std::string path = std::string(PTERON_TEST_DATA) + "/models/" + name;
  pteron_program* program = nullptr;
  pteron_method* method = nullptr;
  EXPECT_EQ(pteron_program_open(path.c_str(), &options, &program, nullptr), PTERON_OK);
  model.program.reset(program);
  EXPECT_EQ(pteron_method_load(program, nullptr, nullptr, &method, nullptr), PTERON_OK);
  model.method.reset(method);
  return model;
}

pteron_program_options four_threads() {
  pteron_program_options options = PTERON_INIT(pteron_program_options);
  options.threads = 4;
  return options;
}

// First: the tests after it may load OpenVINO into this process.
TEST(Fork, BeforeOpenvinoIsLoadedLeavesTheChildFreeToLoadIt) {
  const char* folder = std::getenv("PTERON_TEST_OPENVINO_2025_4_1");
  if (!folder) GTEST_SKIP() << "PTERON_TEST_OPENVINO_2025_4_1 is not set";
  pteron_program_options options = PTERON_INIT(pteron_program_options);
  options.openvino = folder;
  for (int i = 0; i < 2; ++i) {
    expect_child_succeeds([&] {
      Model model = load_model("pnet_openvino.pte", options);
      return model.outcome().empty() ? 1 : 0;
    });
  }
}

TEST(Fork, LeavesTheChildAMethodThatRunsAndCanBeFreed) {
  Model model = load_model("pnet_portable.pte", four_threads());
  const std::vector<float> wanted = model.outcome();  // The pool's threads have started.
  ASSERT_FALSE(wanted.empty());
  for (int i = 0; i < 10; ++i) {
    expect_child_succeeds([&] {
      if (model.outcome() != wanted) return 1;
      model.method.reset();
      model.program.reset();
      Model other = load_model("pnet_portable.pte", four_threads());
      return other.outcome() == wanted ? 0 : 2;
    });
  }
  EXPECT_EQ(model.outcome(), wanted);
}

TEST(Fork, LeavesTheChildAMethodThatWasStartedOnce) {
  Model model = load_model("pnet_portable.pte", four_threads());
  const std::vector<float> wanted = model.outcome();
  const int64_t shape[] = {1, 3, 96, 128};
  const pteron_value input = pteron_tensor_value(model.picture.data(), PTERON_FLOAT32, 4, shape);
  expect_ok(bind_input(model.method, 0, input));
  const auto in_background = [&] {
    return pteron_method_start(model.method.get(), nullptr) == PTERON_OK &&
           pteron_method_wait(model.method.get(), nullptr) == PTERON_OK;
  };
  ASSERT_TRUE(in_background());
  expect_child_succeeds([&] {
    if (!in_background()) return 1;
    model.method.reset();
    return 0;
  });
  EXPECT_TRUE(in_background());
  // A run that is going on is the parent's.
  expect_ok(call([&](pteron_error** e) { return pteron_method_start(model.method.get(), e); }));
  expect_child_succeeds([&] {
    if (pteron_method_wait(model.method.get(), nullptr) != PTERON_FAILED) return 1;
    model.method.reset();
    return 0;
  });
  expect_ok(call([&](pteron_error** e) { return pteron_method_wait(model.method.get(), e); }));
}

// The run's thread is the parent's, so nobody would ever give the method back.
TEST(Fork, LeavesTheChildNoMethodThatAnotherThreadWasRunning) {
  Gate gate;
  const WithOperators with({gate.op()});
  const programs::File file = programs::one_operator();
  ProgramHandle program = open(file, &with.options);
  MethodHandle method = load(program);
  Floats x{{1, 2, 3}, {1, 3}};
  std::thread runner([&] { expect_ok(run(method, {x.value()})); });
  gate.wait_until_entered();
  expect_child_succeeds([&] {
    const Outcome outcome = run(method, {x.value()});
    if (outcome.status != PTERON_BUSY) return 1;
    if (outcome.message.find("the process that was forked") == std::string::npos) return 2;
    method.reset();
    program.reset();
    return 0;
  });
  gate.open();
  runner.join();
  expect_ok(run(method, {x.value()}));
  expect_child_succeeds([&] {
    if (run(method, {x.value()}).status != PTERON_OK) return 1;
    method.reset();
    return 0;
  });
}

// A compilation in the child would wait for threads that only the parent has.
TEST(Fork, AfterOpenvinoIsLoadedMakesTheChildsLoadsFailAtOnce) {
  const char* folder = std::getenv("PTERON_TEST_OPENVINO_2025_4_1");
  if (!folder) GTEST_SKIP() << "PTERON_TEST_OPENVINO_2025_4_1 is not set";
  pteron_program_options options = PTERON_INIT(pteron_program_options);
  options.openvino = folder;
  Model model = load_model("pnet_openvino.pte", options);
  const std::vector<float> wanted = model.outcome();
  ASSERT_FALSE(wanted.empty());
  expect_child_succeeds([&] {
    const std::string path = std::string(PTERON_TEST_DATA) + "/models/lstm_openvino.pte";
    pteron_program* program = nullptr;
    pteron_method* method = nullptr;
    pteron_error* error = nullptr;
    if (pteron_program_open(path.c_str(), &options, &program, nullptr) != PTERON_OK) return 1;
    if (pteron_method_load(program, nullptr, nullptr, &method, &error) != PTERON_UNSUPPORTED)
      return 2;
    const std::string message = pteron_error_message(error);
    pteron_error_free(error);
    pteron_program_free(program);
    model.method.reset();
    model.program.reset();
    // What needs no OpenVINO runs.
    if (load_model("pnet_portable.pte", four_threads()).outcome().empty()) return 3;
    return message.find("forked") == std::string::npos ? 4 : 0;
  });
  EXPECT_EQ(model.outcome(), wanted);
}

}  // namespace
