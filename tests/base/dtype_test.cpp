#include "base/dtype.h"

#include <gtest/gtest.h>

#include <set>

namespace pteron {
namespace {

TEST(DType, TakesOnlyTheNumbersOfTheSchema) {
  int known = 0;
  std::set<std::string_view> names;
  for (int64_t number = -300; number < 300; ++number) {
    const auto dtype = dtype_from_number(number);
    if (!dtype) continue;
    ++known;
    EXPECT_EQ(static_cast<int64_t>(*dtype), number);
    EXPECT_GT(dtype_size(*dtype), 0U) << number;
    EXPECT_NE(dtype_name(*dtype), "unknown") << number;
    names.insert(dtype_name(*dtype));
  }
  EXPECT_EQ(known, 25);
  EXPECT_EQ(names.size(), 25U);
  for (const int64_t number : {-1, 8, 18, 21, 30, 256 + 6}) {
    EXPECT_FALSE(dtype_from_number(number)) << number;
  }
}

TEST(DType, KnowsItsSizeAndName) {
  EXPECT_EQ(dtype_size(DType::Float32), 4U);
  EXPECT_EQ(dtype_size(DType::BFloat16), 2U);
  EXPECT_EQ(dtype_size(DType::Bool), 1U);
  EXPECT_EQ(dtype_size(DType::UInt64), 8U);
  EXPECT_EQ(dtype_name(DType::Float32), "float32");
  EXPECT_EQ(dtype_name(DType::QUInt8), "quint8");
}

}  // namespace
}  // namespace pteron
