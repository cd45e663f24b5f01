// SPDX-License-Identifier: GPL-3.0-or-later
// HZ by each of its methods, the phase of jiffies, lag and 32-bit wraps.
#include "core/model/jiffy_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace tickscope {
namespace {

constexpr s64 second = 1'000'000'000, ms = 1'000'000, us = 1'000;
constexpr u64 bootWrap = u64{1} << 32U;

/// A kernel whose jiffies have passed INITIAL_JIFFIES at mono 0 and a phase of the grid.
struct TrueJiffies {
  u32 hz;
  s64 shift = 0;  ///< ns of the boundaries after multiples of the tick
  [[nodiscard]] s64 tick() const { return JiffyMap::tickNs(hz); }
  [[nodiscard]] u64 at(s64 mono) const {
    return bootWrap - 300 * hz + static_cast<u64>((mono - shift) / tick());
  }
  [[nodiscard]] s64 phase() const { return shift - static_cast<s64>(bootWrap - 300 * hz) * tick(); }
};

/// Readings at random times, each value of jiffies once; a timekeeper that is up to `late` ns late.
std::vector<JiffyPoint> pointsOf(const TrueJiffies& truth, s64 from, s64 to, u32 seed, s64 late,
                                 u64 mask = ~u64{0}) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<s64> pause(truth.tick() / 7, 3 * truth.tick()), lag(0, late);
  std::vector<JiffyPoint> points;
  u64 last = 0;
  for (s64 mono = from; mono < to; mono += pause(random)) {
    const u64 jiffies = truth.at(mono - lag(random));
    if (jiffies <= last) continue;
    last = jiffies;
    points.push_back({mono, mono, 0, {}, jiffies & mask});
  }
  return points;
}

/// Arms of a tick on two CPUs that runs, stops for a while and is put off.
std::vector<ArmGroup> ticksOf(const TrueJiffies& truth, s64 from, s64 to, s64 skew = 0) {
  ArmGroup group;
  group.function = Address{0xffffffff81001000};
  const s64 first = from / truth.tick() * truth.tick() + truth.shift;
  for (const u16 cpu : {u16{0}, u16{1}}) {
    const auto timer = static_cast<Address>(0xffff888000000000 + cpu);
    s64 count = 0;
    for (s64 at = first + cpu * skew; at < to; at += truth.tick()) {
      ++count;
      if (count % 50 > 40) continue;
      group.arms.push_back({timer, Cpu{cpu}, at});
      if (count % 50 == 40) group.arms.push_back({timer, Cpu{cpu}, at + 881'589'423'400});
    }
  }
  return {group};
}

TEST(JiffyMap, FindsEveryUsualRateByTheTickAlone) {
  for (const u32 hz :
       {24U, 32U, 48U, 64U, 100U, 128U, 200U, 250U, 256U, 300U, 500U, 512U, 1000U, 1024U, 1200U}) {
    const TrueJiffies truth{hz};
    const auto arms = ticksOf(truth, 50 * second, 55 * second);
    const JiffyMap map = JiffyMap::fit({}, arms, StampUnit::None, u8{64});
    ASSERT_TRUE(map.hz()) << hz;
    EXPECT_EQ(map.hz()->hz, hz);
    EXPECT_GE(map.hz()->confidence, 0.9) << hz;
    EXPECT_EQ(map.tickFunction(), arms[0].function) << hz;
    EXPECT_FALSE(map.phase()) << hz;
  }
}

TEST(JiffyMap, FindsEveryUsualRateByTheSlopeAlone) {
  for (const u32 hz :
       {24U, 32U, 48U, 64U, 100U, 128U, 200U, 250U, 256U, 300U, 500U, 512U, 1000U, 1024U, 1200U}) {
    for (u32 seed = 1; seed <= 5; ++seed) {
      const TrueJiffies truth{hz, 1234};
      const auto points = pointsOf(truth, 400 * second, 410 * second, seed, truth.tick());
      const JiffyMap map = JiffyMap::fit(points, {}, StampUnit::None, u8{64});
      ASSERT_TRUE(map.hz()) << hz << ", seed " << seed;
      EXPECT_EQ(map.hz()->hz, hz) << "seed " << seed << ": " << map.hz()->evidence;
      EXPECT_GE(map.hz()->confidence, 0.9) << hz;
    }
  }
}

TEST(JiffyMap, UsesAClockOfKnownUnitWhereThereIsNoMap) {
  const TrueJiffies truth{100};
  auto points = pointsOf(truth, 400 * second, 405 * second, 1, 0);
  for (JiffyPoint& point : points) point.mono.reset();
  const JiffyMap byNs = JiffyMap::fit(points, {}, StampUnit::Nanoseconds, u8{64});
  ASSERT_TRUE(byNs.hz());
  EXPECT_EQ(byNs.hz()->hz, 100U);
  EXPECT_FALSE(byNs.phase()) << "no monotonic time is known";
  EXPECT_FALSE(byNs.at({402 * second}));
  EXPECT_FALSE(JiffyMap::fit(points, {}, StampUnit::None, u8{64}).hz());
  for (JiffyPoint& point : points) point.stamp /= 10 * ms;
  const JiffyMap byTenMs = JiffyMap::fit(points, {}, StampUnit::TenMs, u8{64});
  ASSERT_TRUE(byTenMs.hz());
  EXPECT_EQ(byTenMs.hz()->hz, 100U);
}

TEST(JiffyMap, TrustsTheTimeSinceBootOnlyALittle) {
  const TrueJiffies truth{250};
  const auto points = pointsOf(truth, 900 * second, 900 * second + 20 * ms, 1, 0);
  const JiffyMap map = JiffyMap::fit(points, {}, StampUnit::None, u8{64});
  ASSERT_TRUE(map.hz());
  EXPECT_EQ(map.hz()->hz, 250U);
  EXPECT_LE(map.hz()->confidence, 0.6);
}

TEST(JiffyMap, PrefersTheTickWithDoubtWhereJiffiesContradictIt) {
  const auto points = pointsOf(TrueJiffies{250}, 400 * second, 410 * second, 1, 0);
  auto arms = ticksOf(TrueJiffies{200}, 400 * second, 410 * second);
  const JiffyMap other = JiffyMap::fit(points, arms, StampUnit::None, u8{64});
  ASSERT_TRUE(other.hz());
  EXPECT_EQ(other.hz()->hz, 250U) << "a timer of 5 ms is no tick: " << other.hz()->evidence;
  const auto ticks = ticksOf(TrueJiffies{250}, 400 * second, 410 * second);
  arms.push_back(ticks.front());
  const JiffyMap both = JiffyMap::fit(points, arms, StampUnit::None, u8{64});
  EXPECT_EQ(both.hz()->hz, 250U);
  EXPECT_GE(both.hz()->confidence, 0.9);
  EXPECT_TRUE(both.onGrid());
  const JiffyMap neither = JiffyMap::fit({}, arms, StampUnit::None, u8{64});
  ASSERT_TRUE(neither.hz());
  EXPECT_LE(neither.hz()->confidence, 0.6) << "two callbacks could be the tick";
}

TEST(JiffyMap, TakesNoSleeperForATick) {
  auto arms = ticksOf(TrueJiffies{1000}, 400 * second, 401 * second);
  arms[0].byTasks = static_cast<u32>(arms[0].arms.size());
  EXPECT_FALSE(JiffyMap::fit({}, arms, StampUnit::None, u8{64}).hz());
  arms[0].byTasks = 0;
  arms[0].relative = true;
  EXPECT_FALSE(JiffyMap::fit({}, arms, StampUnit::None, u8{64}).hz());
}

TEST(JiffyMap, FindsThePhaseOnTheGridOfTheTick) {
  for (const s64 shift : {s64{0}, 1'234'567 * s64{1}}) {
    for (u32 seed = 1; seed <= 10; ++seed) {
      const TrueJiffies truth{250, shift};
      auto points = pointsOf(truth, 400 * second, 402 * second, seed, 2 * ms);
      for (JiffyPoint& point : points) point.error = 20 * us;
      const auto arms = ticksOf(truth, 400 * second, 402 * second);
      const JiffyMap map = JiffyMap::fit(points, arms, StampUnit::None, u8{64});
      ASSERT_TRUE(map.phase()) << "seed " << seed;
      EXPECT_TRUE(map.onGrid()) << "seed " << seed;
      EXPECT_EQ(*map.phase(), truth.phase()) << "seed " << seed;
    }
  }
}

TEST(JiffyMap, TakesTheEarliestReadingForThePhaseWhereCpusAreSkewed) {
  const TrueJiffies truth{250};
  const auto points = pointsOf(truth, 400 * second, 404 * second, 1, 0);
  const auto arms = ticksOf(truth, 400 * second, 404 * second, 500 * us);
  const JiffyMap map = JiffyMap::fit(points, arms, StampUnit::None, u8{64});
  ASSERT_TRUE(map.phase());
  EXPECT_FALSE(map.onGrid());
  EXPECT_GE(*map.phase(), truth.phase());
  EXPECT_LT(*map.phase(), truth.phase() + ms);
}

TEST(JiffyMap, BoundsJiffiesByTheClockAndByWhatWasRead) {
  const TrueJiffies truth{250};
  for (u32 seed = 1; seed <= 5; ++seed) {
    auto points = pointsOf(truth, 400 * second, 404 * second, seed, 0);
    // All CPUs slept for 100 ms and the next reading was 25 jiffies behind.
    std::erase_if(points, [](const JiffyPoint& p) {
      return *p.mono > 402 * second && *p.mono < 402 * second + 100 * ms;
    });
    const s64 behind = 402 * second + 100 * ms - 10;
    const auto at = std::partition_point(points.begin(), points.end(),
                                         [&](const JiffyPoint& p) { return *p.mono < behind; });
    points.insert(at, {behind, behind, 0, {}, truth.at(402 * second)});
    const auto arms = ticksOf(truth, 400 * second, 404 * second);
    const JiffyMap map = JiffyMap::fit(points, arms, StampUnit::None, u8{64});
    EXPECT_EQ(map.worstLag(), 24U) << "seed " << seed;
    for (s64 mono = 400 * second + 20 * ms; mono < 404 * second; mono += 333 * us) {
      const bool asleep = mono >= 402 * second && mono < behind + 10;
      const auto range = map.at({mono});
      ASSERT_TRUE(range) << mono;
      const u64 jiffies = asleep ? truth.at(402 * second) : truth.at(mono);
      ASSERT_LE(range->earliest, jiffies) << "seed " << seed << " at " << mono;
      ASSERT_GE(range->latest, jiffies) << "seed " << seed << " at " << mono;
      ASSERT_LE(range->latest, truth.at(mono)) << "seed " << seed << " at " << mono;
    }
  }
}

TEST(JiffyMap, UnwrapsJiffiesOf32BitKernels) {
  const TrueJiffies truth{250};
  // Across the wrap 300 s after boot, and long after it.
  for (const s64 from : {298 * second, 5'000 * second}) {
    const auto points = pointsOf(truth, from, from + 5 * second, 1, 0, 0xffffffffU);
    const auto arms = ticksOf(truth, from, from + 5 * second);
    const JiffyMap map = JiffyMap::fit(points, arms, StampUnit::None, u8{32});
    ASSERT_TRUE(map.phase()) << from;
    EXPECT_EQ(*map.phase(), truth.phase()) << from;
    for (s64 mono = from + 100 * ms; mono < from + 5 * second; mono += 99 * ms) {
      const u64 whole = truth.at(mono);
      const auto range = map.at({mono});
      ASSERT_TRUE(range);
      EXPECT_EQ(range->latest, whole) << from << " at " << mono;
      EXPECT_EQ(map.unwrapped(whole & 0xffffffffU), whole) << from << " at " << mono;
      EXPECT_EQ(map.recorded(whole), whole & 0xffffffffU) << from << " at " << mono;
      EXPECT_EQ(map.monoOf(whole), map.monoOf(whole & 0xffffffffU)) << from << " at " << mono;
      EXPECT_EQ(map.monoOf(whole)->value, mono / truth.tick() * truth.tick()) << from;
    }
  }
}

TEST(JiffyMap, CrossesTheWrapOf64BitKernelsWithoutOne) {
  const TrueJiffies truth{1000};
  const auto points = pointsOf(truth, 298 * second, 302 * second, 1, 0);
  const JiffyMap map = JiffyMap::fit(points, {}, StampUnit::None, u8{64});
  ASSERT_TRUE(map.hz());
  EXPECT_EQ(map.hz()->hz, 1000U);
  EXPECT_EQ(map.unwrapped(bootWrap + 5), bootWrap + 5);
  EXPECT_EQ(map.unwrapped(5), 5U);
  EXPECT_EQ(map.recorded(bootWrap + 5), bootWrap + 5);
}

TEST(JiffyMap, IsNotShiftedByOneDamagedReading) {
  const TrueJiffies truth{250};
  auto points = pointsOf(truth, 400 * second, 404 * second, 1, 0);
  points[points.size() / 2].jiffies += 5'000'000;
  const auto arms = ticksOf(truth, 400 * second, 404 * second);
  const JiffyMap map = JiffyMap::fit(points, arms, StampUnit::None, u8{64});
  ASSERT_TRUE(map.phase());
  EXPECT_EQ(*map.phase(), truth.phase());
}

TEST(JiffyMap, SurvivesNumbersFromDamagedFiles) {
  std::mt19937_64 random(9);
  for (int round = 0; round < 300; ++round) {
    std::vector<JiffyPoint> points;
    for (int i = 0; i < 40; ++i) {
      const s64 mono = static_cast<s64>(random());
      points.push_back({mono, mono, 0, mono, random() >> (random() % 40)});
    }
    ArmGroup group;
    for (int i = 0; i < 40; ++i) {
      group.arms.push_back({Address{1}, Cpu{0}, static_cast<s64>(random())});
    }
    for (const u8 bits : {u8{32}, u8{64}}) {
      const JiffyMap map = JiffyMap::fit(points, std::vector{group}, StampUnit::Nanoseconds, bits);
      (void)map.at({static_cast<s64>(random())});
      (void)map.monoOf(random());
      if (map.hz()) {
        EXPECT_GE(map.hz()->hz, 24U) << "round " << round;
        EXPECT_LE(map.hz()->hz, 1200U) << "round " << round;
      }
    }
  }
}

}  // namespace
}  // namespace tickscope
