#include <gtest/gtest.h>
#include <sched.h>

#include "base/cpu.h"
#include "base/temp_folder.h"

namespace pteron {
namespace {

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

TEST(Cpu, CountsOnlyTheCoresOfTheAffinityMask) {
  EXPECT_GE(hardware_cores(), 1);
  EXPECT_GE(usable_cores(), 1);
  EXPECT_LE(usable_cores(), hardware_cores());
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(before), &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &before)) continue;
    CPU_SET(cpu, &one);
    break;
  }
  const int hardware = hardware_cores();
  ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(usable_cores(), 1);
  EXPECT_EQ(hardware_cores(), hardware);
  ASSERT_EQ(::sched_setaffinity(0, sizeof(before), &before), 0);
}

}  // namespace
}  // namespace pteron
