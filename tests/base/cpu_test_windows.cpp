#include <gtest/gtest.h>
#include <windows.h>

#include "base/cpu.h"

namespace pteron {
namespace {

TEST(Cpu, CountsOnlyTheCoresOfTheAffinityMask) {
  EXPECT_GE(hardware_cores(), 1);
  EXPECT_GE(usable_cores(), 1);
  EXPECT_LE(usable_cores(), hardware_cores());
  DWORD_PTR before = 0;
  DWORD_PTR all = 0;
  ASSERT_TRUE(GetProcessAffinityMask(GetCurrentProcess(), &before, &all));
  const DWORD_PTR first = before & (~before + 1);
  const int hardware = hardware_cores();
  ASSERT_TRUE(SetProcessAffinityMask(GetCurrentProcess(), first));
  EXPECT_EQ(usable_cores(), 1);
  EXPECT_EQ(hardware_cores(), hardware);
  ASSERT_TRUE(SetProcessAffinityMask(GetCurrentProcess(), before));
}

}  // namespace
}  // namespace pteron
