#include <gtest/gtest.h>
#include <sched.h>

#include "base/cpu.h"

namespace pteron {
namespace {

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
