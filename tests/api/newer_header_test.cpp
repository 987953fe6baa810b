// A program compiled with a C++ header that is newer than the library in use.
#include "pteron/pteron.h"
#undef PTERON_ABI_VERSION
#define PTERON_ABI_VERSION 1000

#include <gtest/gtest.h>

#include <string>

#include "pteron/pteron.hpp"

namespace {

TEST(NewerHeader, IsRefusedWithBothNumbers) {
  const auto expect_refusal = [](auto body) {
    try {
      body();
      FAIL() << "nothing was thrown";
    } catch (const pteron::Error& error) {
      EXPECT_EQ(error.status(), PTERON_UNSUPPORTED);
      EXPECT_NE(std::string(error.what()).find("1000"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find(pteron_version()), std::string::npos);
    }
  };
  expect_refusal([] { pteron::Program program("no/such/model.pte"); });
  expect_refusal([] { pteron::doctor(); });
}

}  // namespace
