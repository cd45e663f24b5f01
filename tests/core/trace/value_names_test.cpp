// SPDX-License-Identifier: GPL-3.0-or-later
// Names of values, and values of names.
#include "core/trace/value_names.h"

#include <gtest/gtest.h>

namespace tickscope {
namespace {

TEST(ValueNames, EveryNamedModeReadsBack) {
  for (u32 mode = 0; mode < 12; ++mode) {
    std::string enumerator = "HRTIMER_MODE_" + hrtimerModeName(mode);
    for (char& c : enumerator) c = c == '|' ? '_' : c;
    EXPECT_EQ(hrtimerModeValue(enumerator), Known<u64>(mode)) << enumerator;
  }
}

TEST(ValueNames, SoftAndHardTogetherHaveNoName) {
  EXPECT_EQ(hrtimerModeName(0x0c), "0xc");
  EXPECT_EQ(hrtimerModeName(0x1a), "0x1a");
}

TEST(ValueNames, UnknownEnumeratorsHaveNoValue) {
  EXPECT_FALSE(hrtimerModeValue("HRTIMER_MODE_ABS_SOMETHING"));
  EXPECT_FALSE(hrtimerModeValue("HRTIMER_NORESTART"));
  EXPECT_EQ(hrtimerModeValue("HRTIMER_MODE_ABS_PINNED_HARD_LAZY_REARM"), Known<u64>(0x1a));
}

TEST(ValueNames, TaskStates) {
  EXPECT_EQ(taskStateName(0), "R");
  EXPECT_EQ(taskStateName(0x100), "R+");
  EXPECT_EQ(taskStateName(1), "S");
  EXPECT_EQ(taskStateName(0x82), "D|I");
  EXPECT_EQ(taskStateName(0x80), "I");
  EXPECT_EQ(taskStateName(0x402), "D");
}

TEST(ValueNames, WheelFlagsIgnoreCpuAndIndex) {
  EXPECT_EQ(wheelFlagNames(0x00040000 | 0x3ffff | 0xffc00000), "M");
  EXPECT_EQ(wheelFlagNames(0x00380000), "D|P|I");
  EXPECT_EQ(wheelFlagNames(5), "");
}

TEST(ValueNames, AlarmsOfAnyType) {
  EXPECT_EQ(alarmTypeName(4), "BOOTTIME Freezer");
  EXPECT_EQ(alarmTypeName(2), "0x4");
  EXPECT_EQ(alarmTypeName(200), "0xc8");
}

}  // namespace
}  // namespace tickscope
