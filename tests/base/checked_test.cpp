#include "base/checked.h"

#include <gtest/gtest.h>

namespace pteron {
namespace {

constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();

TEST(Checked, AddsUpToTheLargestNumberAndNoFurther) {
  uint64_t sum = 0;
  EXPECT_TRUE(checked_add(kMost - 1, uint64_t{1}, sum));
  EXPECT_EQ(sum, kMost);
  EXPECT_FALSE(checked_add(kMost, uint64_t{1}, sum));
  uint8_t small = 0;
  EXPECT_TRUE(checked_add(uint8_t{200}, uint8_t{55}, small));
  EXPECT_EQ(small, 255);
  EXPECT_FALSE(checked_add(uint8_t{200}, uint8_t{56}, small));
}

TEST(Checked, MultipliesUpToTheLargestNumberAndNoFurther) {
  uint64_t product = 0;
  EXPECT_TRUE(checked_mul(uint64_t{1} << 32, (uint64_t{1} << 32) - 1, product));
  EXPECT_EQ(product, 0xFFFFFFFF00000000U);
  EXPECT_FALSE(checked_mul(uint64_t{1} << 32, uint64_t{1} << 32, product));
  EXPECT_TRUE(checked_mul(uint64_t{0}, kMost, product));
  EXPECT_EQ(product, 0U);
  EXPECT_TRUE(checked_mul(kMost, uint64_t{0}, product));
  EXPECT_EQ(product, 0U);
}

TEST(Checked, FitsOnlyWhatEndsInside) {
  EXPECT_TRUE(fits(0, 0, 0));
  EXPECT_TRUE(fits(10, 0, 10));
  EXPECT_TRUE(fits(3, 7, 10));
  EXPECT_FALSE(fits(4, 7, 10));
  EXPECT_FALSE(fits(11, 0, 10));
  EXPECT_FALSE(fits(kMost, kMost, 10));
  EXPECT_FALSE(fits(1, kMost, kMost));
}

}  // namespace
}  // namespace pteron
