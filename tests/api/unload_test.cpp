// The end of a process, and of the library in it.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "pteron/pteron.h"

namespace {

// The folder with OpenVINO 2025.4.1's libraries, or empty after saying why a test is skipped.
std::string openvino() {
  const char* folder = std::getenv("PTERON_TEST_OPENVINO_2025_4_1");
  return folder ? folder : "";
}

void expect_clean_exits(const std::string& arguments) {
  const std::string command = "'" PTERON_EXIT_HOST "' " + arguments;
  for (int i = 0; i < 20; ++i) {
    const int status = std::system(command.c_str());
    ASSERT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
    ASSERT_EQ(WEXITSTATUS(status), 0);
  }
}

TEST(Exit, WithoutFreeingIsClean) { expect_clean_exits("'" PTERON_SCALE_PTE "' never"); }

TEST(Exit, ThatFreesInItsLastHandlerIsClean) { expect_clean_exits("'" PTERON_SCALE_PTE "' late"); }

TEST(Exit, WithoutFreeingOpenvinoIsClean) {
  if (openvino().empty()) GTEST_SKIP() << "PTERON_TEST_OPENVINO_2025_4_1 is not set";
  expect_clean_exits("'" PTERON_TEST_DATA "/models/crepe_openvino.pte' never '" + openvino() + "'");
}

TEST(Exit, ThatFreesAfterOpenvinosOwnHandlersIsClean) {
  if (openvino().empty()) GTEST_SKIP() << "PTERON_TEST_OPENVINO_2025_4_1 is not set";
  expect_clean_exits("'" PTERON_TEST_DATA "/models/crepe_openvino.pte' late '" + openvino() + "'");
}

// The functions of a library that was opened by hand.
class Library {
 public:
  Library() : handle_(dlopen(PTERON_LIBRARY, RTLD_NOW | RTLD_LOCAL)) {}
  bool ok() const { return handle_ != nullptr; }
  template <typename Function>
  Function* find(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(handle_, name));
  }
  void close() { EXPECT_EQ(dlclose(handle_), 0); }

 private:
  void* handle_;
};

void run_and_close(const std::string& model, const char* openvino) {
  Library library;
  ASSERT_TRUE(library.ok()) << dlerror();
  const auto open = library.find<decltype(pteron_program_open)>("pteron_program_open");
  const auto load = library.find<decltype(pteron_method_load)>("pteron_method_load");
  const auto bind = library.find<decltype(pteron_method_bind_input)>("pteron_method_bind_input");
  const auto start = library.find<decltype(pteron_method_start)>("pteron_method_start");
  const auto wait = library.find<decltype(pteron_method_wait)>("pteron_method_wait");
  const auto free_method = library.find<decltype(pteron_method_free)>("pteron_method_free");
  const auto free_program = library.find<decltype(pteron_program_free)>("pteron_program_free");

  pteron_operator op = PTERON_INIT(pteron_operator);
  op.name = "my_ops::scale.out";
  op.signature = "TD>T";
  op.run = [](void*, pteron_call*) { return PTERON_OK; };
  pteron_program_options options = PTERON_INIT(pteron_program_options);
  options.operators = &op;
  options.operator_count = 1;
  options.openvino = openvino;
  pteron_program* program = nullptr;
  pteron_method* method = nullptr;
  ASSERT_EQ(open(model.c_str(), &options, &program, nullptr), PTERON_OK);
  ASSERT_EQ(load(program, nullptr, nullptr, &method, nullptr), PTERON_OK);
  static float zeros[8 * 1024];
  const int64_t shape[] = {openvino ? 8 : 4, openvino ? 1024 : 3};
  const pteron_value in = pteron_tensor_value(zeros, PTERON_FLOAT32, 2, shape);
  ASSERT_EQ(bind(method, 0, &in, nullptr), PTERON_OK);
  ASSERT_EQ(start(method, nullptr), PTERON_OK);
  ASSERT_EQ(wait(method, nullptr), PTERON_OK);
  free_method(method);
  free_program(program);
  library.close();
}

TEST(Unload, AfterARunIsClean) {
  for (int i = 0; i < 20; ++i) run_and_close(PTERON_SCALE_PTE, nullptr);
}

TEST(Unload, AfterARunOnOpenvinoIsClean) {
  if (openvino().empty()) GTEST_SKIP() << "PTERON_TEST_OPENVINO_2025_4_1 is not set";
  const std::string folder = openvino();
  for (int i = 0; i < 20; ++i)
    run_and_close(PTERON_TEST_DATA "/models/crepe_openvino.pte", folder.c_str());
}

}  // namespace
