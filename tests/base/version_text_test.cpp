#include "base/version_text.h"

#include <gtest/gtest.h>

namespace pteron {
namespace {

TEST(VersionText, ComparesRunsOfDigitsAsNumbers) {
  const char* const in_order[] = {"",
                                  "libopenvino_c.so",
                                  "libopenvino_c.so.999",
                                  "libopenvino_c.so.2541",
                                  "libopenvino_c.so.2641",
                                  "libopenvino_c.so.25100",
                                  "libopenvino_c.so.99999999999999999999999999",
                                  "openvino_2025.4",
                                  "openvino_2025.4.1",
                                  "openvino_2025.10",
                                  "openvino_2026"};
  for (size_t i = 0; i < std::size(in_order); ++i) {
    for (size_t j = 0; j < std::size(in_order); ++j) {
      EXPECT_EQ(version_less(in_order[i], in_order[j]), i < j) << in_order[i] << ' ' << in_order[j];
    }
  }
}

TEST(VersionText, TakesLeadingZerosForNothing) {
  EXPECT_FALSE(version_less("a007", "a7"));
  EXPECT_FALSE(version_less("a7", "a007"));
  EXPECT_TRUE(version_less("a000", "a1"));
}

}  // namespace
}  // namespace pteron
