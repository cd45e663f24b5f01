// SPDX-License-Identifier: GPL-3.0-or-later
// How the window writes and reads times.
#include "views/time_label.h"

#include <gtest/gtest.h>

#include <limits>

namespace tickscope {
namespace {

constexpr ClockUnit ns = ClockUnit::Nanoseconds;

std::string text(const QString& from) { return from.toStdString(); }

TEST(TimeLabel, GroupsDecimalsOfSeconds) {
  EXPECT_EQ(text(timeInGroups({6'403'416'103}, ns)), "6.403 416 103");
  EXPECT_EQ(text(timeInGroups({0}, ns)), "0.000 000 000");
  EXPECT_EQ(text(timeInGroups({1'000'000'000'007}, ns)), "1000.000 000 007");
  EXPECT_EQ(text(timeInGroups({-1}, ns)), "18446744073.709 551 615")
      << "times are unsigned, whatever a damaged file says";
  EXPECT_EQ(text(timeForCopy({6'403'416'103}, ns)), "6.403416103");
}

TEST(TimeLabel, GroupsCountsOfOtherClocks) {
  EXPECT_EQ(text(timeInGroups({1'234'567}, ClockUnit::Cycles)), "1 234 567");
  EXPECT_EQ(text(timeInGroups({12}, ClockUnit::Events)), "12");
  EXPECT_EQ(text(differenceInGroups({1'500}, ClockUnit::Events)), "+1 500");
}

TEST(TimeLabel, WritesDifferencesInMicroseconds) {
  EXPECT_EQ(text(differenceInGroups({101'405}, ns)), "+101.405");
  EXPECT_EQ(text(differenceInGroups({0}, ns)), "+0.000");
  EXPECT_EQ(text(differenceInGroups({1'304'250'123}, ns)), "+1 304 250.123");
  EXPECT_EQ(text(differenceInGroups({-5}, ns)), "−0.005");
  EXPECT_EQ(text(differenceInGroups({std::numeric_limits<s64>::min()}, ns)),
            "−9 223 372 036 854 775.808");
}

TEST(TimeLabel, ChoosesAUnitAndLosesNothing) {
  EXPECT_EQ(text(differenceWords({850}, ns)), "850 ns");
  EXPECT_EQ(text(differenceWords({3'172}, ns)), "3.172 µs");
  EXPECT_EQ(text(differenceWords({1'060'000}, ns)), "1.060 ms");
  EXPECT_EQ(text(differenceWords({1'060'004}, ns)), "1.060 004 ms");
  EXPECT_EQ(text(differenceWords({-2'500'000'000}, ns)), "−2.500 s");
  EXPECT_EQ(text(differenceWords({12}, ClockUnit::Cycles)), "12 cycles");
}

TEST(TimeLabel, ReadsWhatItWrites) {
  for (const s64 value : {s64{0}, s64{1}, s64{6'403'416'103}, s64{1'000'000'000'007}}) {
    for (const ClockUnit unit : {ns, ClockUnit::Cycles}) {
      EXPECT_EQ(readTime(timeInGroups({value}, unit), unit), TraceTime{value}) << value;
      EXPECT_EQ(readTime(timeForCopy({value}, unit), unit), TraceTime{value}) << value;
    }
  }
}

TEST(TimeLabel, ReadsUnitsAndRefusesWords) {
  EXPECT_EQ(readTime("1.5 ms", ns), TraceTime{1'500'000});
  EXPECT_EQ(readTime("12us", ns), TraceTime{12'000});
  EXPECT_EQ(readTime("12µs", ns), TraceTime{12'000});
  for (const char* bad : {"", "row", "-1", "1.0000000001", "6.4.3", "1e9"}) {
    EXPECT_FALSE(readTime(bad, ns)) << bad;
  }
  EXPECT_FALSE(readTime("1.5", ClockUnit::Cycles));
}

}  // namespace
}  // namespace tickscope
