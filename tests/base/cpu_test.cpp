#include "base/cpu.h"

#include <gtest/gtest.h>

namespace pteron {
namespace {

TEST(Cpu, ReadsAQuotaOfVersion2) {
  EXPECT_EQ(parse_cpu_max("200000 100000"), 2);
  EXPECT_EQ(parse_cpu_max("150000 100000"), 2);
  EXPECT_EQ(parse_cpu_max("1000 100000"), 1);
  EXPECT_EQ(parse_cpu_max("100000 100000"), 1);
  EXPECT_EQ(parse_cpu_max("100001 100000"), 2);
  for (const char* text :
       {"max 100000", "", "200000", "0 100000", "100000 0", "-1 100000", "x y"}) {
    EXPECT_EQ(parse_cpu_max(text), std::nullopt) << text;
  }
}

TEST(Cpu, ReadsAQuotaOfVersion1) {
  EXPECT_EQ(parse_cfs_quota("400000", "100000"), 4);
  EXPECT_EQ(parse_cfs_quota("50000", "100000"), 1);
  EXPECT_EQ(parse_cfs_quota("-1", "100000"), std::nullopt);
  EXPECT_EQ(parse_cfs_quota("", ""), std::nullopt);
}

}  // namespace
}  // namespace pteron
