#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace pteron {
namespace {

Error broken() { return {Code::Malformed, "broken"}; }

Result<std::unique_ptr<int>> half(int number) {
  if (number % 2 != 0) return broken();
  return std::make_unique<int>(number / 2);
}

Result<int> quarter(int number) {
  PTERON_ASSIGN(const std::unique_ptr<int> once, half(number));
  PTERON_ASSIGN(const std::unique_ptr<int> twice, half(*once));
  return *twice;
}

Result<void> check(int number) {
  PTERON_TRY(quarter(number));
  return {};
}

TEST(Result, HoldsAValueOrAnError) {
  auto good = half(8);
  ASSERT_TRUE(good.ok());
  EXPECT_TRUE(static_cast<bool>(good));
  EXPECT_EQ(**good, 4);
  const std::unique_ptr<int> taken = *std::move(good);
  EXPECT_EQ(*taken, 4);
  const auto bad = half(7);
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().code, Code::Malformed);
  EXPECT_EQ(bad.error().message, "broken");
}

TEST(Result, HandsAnErrorOn) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).error().message, "broken");
  EXPECT_TRUE(check(4).ok());
  EXPECT_EQ(check(2).error().message, "broken");
}

TEST(Result, OfVoidMovesItsError) {
  Result<void> first = broken();
  Result<void> second = std::move(first);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().message, "broken");
  Result<void> third;
  EXPECT_TRUE(third.ok());
  third = std::move(second);
  ASSERT_FALSE(third.ok());
  const Error taken = std::move(third).error();
  EXPECT_EQ(taken.message, "broken");
}

}  // namespace
}  // namespace pteron
