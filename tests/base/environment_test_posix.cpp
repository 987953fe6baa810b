// A process with more rights than its caller, which Windows does not have.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "base/temp_folder.h"

namespace pteron {
namespace {

constexpr const char* kName = "PTERON_TEST_VARIABLE";

std::string output_of(const std::string& command) {
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::array<char, 256> line{};
  const bool got = pipe != nullptr && std::fgets(line.data(), line.size(), pipe) != nullptr;
  if (pipe != nullptr) ::pclose(pipe);
  return got ? line.data() : "";
}

TEST(Environment, IsNotReadWithMoreRightsThanTheCaller) {
  const TempFolder top;
  const auto program = top / "print_environment";
  std::filesystem::copy(PTERON_PRINT_ENVIRONMENT, program);
  std::filesystem::permissions(top.path(), std::filesystem::perms(0755));
  ASSERT_EQ(::setenv(kName, "value", 1), 0);
  const std::string command = "'" + program.string() + "' " + kName;
  EXPECT_EQ(output_of(command), "value\n");

  constexpr uid_t kNobody = 65534;
  if (::geteuid() != 0 || ::chown(program.c_str(), kNobody, kNobody) != 0 ||
      ::chmod(program.c_str(), 04755) != 0) {
    GTEST_SKIP() << "only root can make a program run as another user";
  }
  const std::string answer = output_of(command);
  if (answer == "value\n") GTEST_SKIP() << "the temporary folder is mounted without set-user-ID";
  EXPECT_EQ(answer, "not read\n");
}

}  // namespace
}  // namespace pteron
