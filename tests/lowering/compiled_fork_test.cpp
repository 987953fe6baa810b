// A process that forks after its programs were compiled: the child's runs are its kernels'.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "pteron/pteron.hpp"

namespace {

TEST(CompiledFork, TheChildRunsByKernels) {
  const char* place = std::getenv("PTERON_TEST_OPENVINO_2025_4_1");
  if (place == nullptr) GTEST_SKIP() << "PTERON_TEST_OPENVINO_2025_4_1 is not set";
  const std::string path = PTERON_TEST_DATA "/models/pnet_portable.pte";
  pteron::Method method =
      pteron::Program(path, pteron::Options().openvino(place).accelerate(pteron::Accelerate::On))
          .load();
  const std::vector<int64_t> shape = method.input_spec(0).shape;
  size_t count = 1;
  for (const int64_t size : shape) count *= static_cast<size_t>(size);
  const std::vector<float> picture(count, 0.25f);
  const auto run = [&] {
    return method({pteron::tensor(picture, shape)})[0].tensor().to_vector<float>();
  };
  const std::vector<float> wanted = run();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);
    const std::vector<float> got = run();
    bool same = got.size() == wanted.size();
    for (size_t i = 0; same && i < got.size(); ++i) same = std::fabs(got[i] - wanted[i]) < 1e-4f;
    _exit(same ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(run(), wanted);
}

}  // namespace
