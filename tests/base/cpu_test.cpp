#include "base/cpu.h"

#include <gtest/gtest.h>

#include "base/temp_folder.h"

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

TEST(Cpu, TakesTheLeastQuotaOfAllGroupsAbove) {
  const TempFolder mount;
  mount.write("a/b/cpu.max", "800000 100000\n");
  mount.write("a/cpu.max", "300000 100000\n");
  mount.write("other/cpu.max", "100000 100000\n");
  EXPECT_EQ(cgroup_cores("0::/a/b\n", mount.text()), 3);
  EXPECT_EQ(cgroup_cores("0::/\n", mount.text()), std::nullopt);
  mount.write("cpu.max", "200000 100000\n");
  EXPECT_EQ(cgroup_cores("0::/a/b\n", mount.text()), 2);
  // In a container the folder's name is the host's, and the mounted root is the container's group.
  EXPECT_EQ(cgroup_cores("0::/docker/1234\n", mount.text()), 2);
}

TEST(Cpu, FindsTheCpuControllerOfVersion1) {
  const TempFolder mount;
  mount.write("cpu/docker/1234/cpu.cfs_quota_us", "250000\n");
  mount.write("cpu/docker/1234/cpu.cfs_period_us", "100000\n");
  const std::string groups = "3:memory:/m\n2:cpu,cpuacct:/docker/1234\n1:cpuset:/docker/none\n";
  EXPECT_EQ(cgroup_cores(groups, mount.text()), 3);
  EXPECT_EQ(cgroup_cores("2:cpuset:/docker/1234\n", mount.text()), std::nullopt);
}

TEST(Cpu, TakesOddGroupTextForNoLimit) {
  const TempFolder mount;
  for (const char* text : {"", "\n\n", "0", "0:", "::", "0::", "0::relative", "cpu:cpu:"}) {
    EXPECT_EQ(cgroup_cores(text, mount.text()), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace pteron
