// SPDX-License-Identifier: GPL-3.0-or-later
// Pyramids against sums that are made bin by bin.
#include "core/timeline/pyramid.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

namespace tickscope {
namespace {

TEST(Pyramid, HasAtMost65536BinsAndHalvesFromLevelToLevel) {
  Pyramid pyramid((s64{1} << 40) - 1, u64{1} << 30);
  pyramid.finish();
  ASSERT_EQ(pyramid.bins(0).size(), Pyramid::mostBins);
  for (u32 level = 1; level < pyramid.levels(); ++level) {
    EXPECT_EQ(pyramid.bins(level).size(), (pyramid.bins(level - 1).size() + 1) / 2) << level;
  }
  EXPECT_EQ(pyramid.bins(pyramid.levels() - 1).size(), Pyramid::fewestBins);
}

TEST(Pyramid, TakesTheCoarsestLevelThatIsNotWiderThanAsked) {
  Pyramid pyramid((s64{1} << 26) - 1, u64{1} << 30);  // 2^16 bins of 2^10
  pyramid.finish();
  EXPECT_FALSE(pyramid.levelFor(1023.9));
  EXPECT_EQ(pyramid.levelFor(1024), 0U);
  EXPECT_EQ(pyramid.levelFor(2047.9), 0U);
  EXPECT_EQ(pyramid.levelFor(2048), 1U);
  EXPECT_EQ(pyramid.levelFor(1e18), pyramid.levels() - 1);
  EXPECT_FALSE(pyramid.levelFor(std::numeric_limits<double>::quiet_NaN()));
}

TEST(Pyramid, BusyTimeOfHoursDoesNotSaturate) {
  const s64 year = s64{365} * 86400 * 1'000'000'000;
  Pyramid pyramid(year - 1, u64{1} << 20);
  pyramid.addBusy(0, year);
  pyramid.finish();
  u64 sum = 0;
  const u32 top = pyramid.levels() - 1;
  for (u64 b = 0; b < pyramid.bins(top).size(); ++b) sum += pyramid.busy(top, b);
  EXPECT_NEAR(static_cast<double>(sum), static_cast<double>(year),
              static_cast<double>(year) * 1e-6);
}

TEST(Pyramid, StandsTimesOutOfItsRangeAndAtTheEndsOfNumbers) {
  constexpr s64 least = std::numeric_limits<s64>::min();
  constexpr s64 most = std::numeric_limits<s64>::max();
  Pyramid pyramid(most - 1, u64{1} << 20);
  pyramid.add(least, 1, 1);
  pyramid.add(most, 1, 2);
  pyramid.addBusy(least, most);
  pyramid.addBusy(most, least);
  pyramid.finish();
  EXPECT_EQ(pyramid.bins(0).front().count, 1U);
  EXPECT_EQ(pyramid.bins(0).back().count, 1U);
}

RC_GTEST_PROP(Pyramid, EveryLevelHoldsTheSumsOfWhatWasAdded, ()) {
  const auto last = *rc::gen::inRange<s64>(0, 1'000'000);
  struct Added {
    s64 time;
    u32 count;
    u8 classes;
    s64 busy;
  };
  const auto added = *rc::gen::container<std::vector<Added>>(rc::gen::apply(
      [](s64 time, u32 count, u8 classes, s64 busy) {
        return Added{time, count, classes, busy};
      },
      rc::gen::inRange<s64>(0, last + 1), rc::gen::inRange<u32>(0, 5), rc::gen::arbitrary<u8>(),
      rc::gen::inRange<s64>(0, 5000)));
  Pyramid pyramid(last, 8 * 4096);
  for (const Added& one : added) {
    pyramid.add(one.time, one.count, one.classes);
    pyramid.addBusy(one.time, one.time + one.busy);
  }
  pyramid.finish();
  std::vector<u32> finest(pyramid.bins(0).size());
  for (const Added& one : added)
    finest[static_cast<u64>(one.time) >> pyramid.shift(0)] += one.count;
  for (u32 level = 0; level < pyramid.levels(); ++level) {
    const s64 length = s64{1} << pyramid.shift(level);
    const s64 end = static_cast<s64>(pyramid.bins(0).size()) << pyramid.shift(0);
    for (std::size_t b = 0; b < pyramid.bins(level).size(); ++b) {
      const s64 from = static_cast<s64>(b) * length;
      const s64 to = std::min(from + length, end);
      u64 count = 0, busy = 0;
      u8 classes = 0;
      for (const Added& one : added) {
        if (one.time >= from && one.time < to) {
          count += one.count;
          classes = static_cast<u8>(classes | one.classes);
        }
        const s64 begin = std::max(one.time, from);
        const s64 behind = std::min(one.time + one.busy, to);
        if (behind > begin) busy += static_cast<u64>(behind - begin);
      }
      u32 densest = 0;
      for (s64 f = from >> pyramid.shift(0);
           f < (to + (s64{1} << pyramid.shift(0)) - 1) >> pyramid.shift(0); ++f) {
        densest = std::max(densest, finest[static_cast<std::size_t>(f)]);
      }
      const Bin bin = pyramid.bins(level)[b];
      RC_ASSERT(bin.count == count);
      RC_ASSERT(bin.classes == classes);
      RC_ASSERT(bin.densest == densest);
      RC_ASSERT(pyramid.busy(level, b) == busy);
    }
  }
}

}  // namespace
}  // namespace tickscope
