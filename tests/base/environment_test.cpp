#include "base/environment.h"

#include <gtest/gtest.h>

#include "base/set_environment.h"

namespace pteron {
namespace {

constexpr const char* kName = "PTERON_TEST_VARIABLE";

TEST(Environment, ReadsAVariableAnewEachTime) {
  test::set_environment(kName, std::nullopt);
  EXPECT_EQ(read_environment(kName), std::nullopt);
  for (const std::string& value :
       {std::string("größe 模型"), std::string(), std::string(30000, 'x')}) {
    test::set_environment(kName, value);
    EXPECT_EQ(read_environment(kName), value);
  }
}

}  // namespace
}  // namespace pteron
