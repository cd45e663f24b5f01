// SPDX-License-Identifier: GPL-3.0-or-later
// A column of times against the vector that it was made of.
#include "core/timeline/time_column.h"

#include <gtest/gtest.h>

#include <random>

namespace tickscope {
namespace {

void compare(const std::vector<s64>& times, const char* what) {
  const TimeColumn column(times);
  ASSERT_EQ(column.size(), times.size()) << what;
  for (u32 i = 0; i < column.size(); ++i) ASSERT_EQ(column[i], times[i]) << what << " place " << i;
  std::vector<s64> wanted = times;
  for (const s64 time : times) {
    wanted.push_back(time - 1);
    wanted.push_back(time + 1);
  }
  wanted.push_back(std::numeric_limits<s64>::min());
  wanted.push_back(std::numeric_limits<s64>::max());
  for (const s64 time : wanted) {
    const u32 expected = static_cast<u32>(std::ranges::lower_bound(times, time) - times.begin());
    ASSERT_EQ(column.lowerBound(time), expected) << what << " time " << time;
    for (const u32 start : {0U, expected / 2, expected})
      ASSERT_EQ(column.gallop(time, start), expected) << what << " " << time << " from " << start;
  }
}

TEST(TimeColumn, KeepsAndFindsEveryTime) {
  std::mt19937_64 random(3);
  for (const u64 step : {u64{1}, u64{1000}, u64{1} << 25U, u64{1} << 40U}) {
    for (const u32 count : {0U, 1U, 63U, 64U, 65U, 1000U}) {
      std::vector<s64> times;
      s64 time = -5000;
      for (u32 i = 0; i < count; ++i) {
        times.push_back(time);
        time += static_cast<s64>(random() % step);
      }
      const std::string what =
          "seed 3, step " + std::to_string(step) + ", count " + std::to_string(count);
      compare(times, what.c_str());
    }
  }
}

TEST(TimeColumn, TakesHalfTheRoomWhereTimesAreNear) {
  std::vector<s64> times(100'000);
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = static_cast<s64>(i) * 10'000;
  EXPECT_LE(TimeColumn(times).bytes(), times.size() * sizeof(s64) * 11 / 20);
}

TEST(TimeColumn, KeepsTimesThatAreFarApartWhole) {
  compare({-(s64{1} << 62), 0, 1, s64{1} << 62}, "the ends of what is drawn");
}

}  // namespace
}  // namespace tickscope
