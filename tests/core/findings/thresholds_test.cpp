// SPDX-License-Identifier: GPL-3.0-or-later
// Thresholds by name and unit; the arithmetic of confidence; known upstream commits.
#include "core/findings/thresholds.h"

#include <gtest/gtest.h>

#include <set>

#include "core/findings/confidence.h"
#include "core/findings/detector.h"
#include "core/findings/upstream.h"

namespace tickscope {
namespace {

TEST(Thresholds, TakeBackWhatTheyPrint) {
  for (std::size_t i = 0; i < limitCount; ++i) {
    const ThresholdInfo& info = thresholdInfos[i];
    for (const double value : {info.value, info.value * 3}) {
      Thresholds thresholds;
      const std::string text = std::string(info.name) + "=" + limitText(info.unit, value);
      ASSERT_TRUE(thresholds.set(text)) << text;
      EXPECT_NEAR(thresholds[static_cast<Limit>(i)], value, 1e-9 * value) << text;
    }
  }
}

TEST(Thresholds, FiguresWithoutUnitHaveThatOfTheDefault) {
  Thresholds thresholds;
  ASSERT_TRUE(thresholds.set("late.hard=300"));
  EXPECT_EQ(thresholds.ns(Limit::LateHard), 300'000);
  ASSERT_TRUE(thresholds.set("stall.hr=2"));
  EXPECT_EQ(thresholds.ns(Limit::StallHr), 2'000'000);
  ASSERT_TRUE(thresholds.set("double.share=7"));
  EXPECT_DOUBLE_EQ(thresholds[Limit::DoubleShare], 0.07);
  ASSERT_TRUE(thresholds.set("late.hard=1s"));
  EXPECT_EQ(thresholds.ns(Limit::LateHard), 1'000'000'000);
}

TEST(Thresholds, RefuseOtherNamesUnitsAndValues) {
  for (const char* const bad :
       {"", "late.hard", "late.hard=", "late.hard=-1us", "late.hard=nan", "late.hard=1 ticks",
        "late.hard=1us1", "no.such=1", "storm.wakes=3 ms"}) {
    Thresholds thresholds;
    const auto set = thresholds.set(bad);
    ASSERT_FALSE(set) << bad;
    EXPECT_EQ(set.error().kind, Error::Kind::Usage) << bad;
    EXPECT_EQ(thresholds, Thresholds()) << bad;
  }
}

TEST(Thresholds, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const ThresholdInfo& info : thresholdInfos) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_FALSE(info.why.empty()) << info.name;
  }
}

TEST(Confidence, KeepsEachStep) {
  Confidence sure(Proof::B);
  sure.times(0.9, "a fact");
  sure.times(1.0, "costs nothing and is not told");
  sure.minus(0.10, "few");
  EXPECT_NEAR(sure.value(), 0.85 * 0.9 - 0.10, 1e-12);
  ASSERT_EQ(sure.steps().size(), 3U);
  EXPECT_NEAR(sure.steps()[1].value, 0.765, 1e-12);
  sure.minus(5, "much");
  EXPECT_EQ(sure.value(), 0);
}

TEST(Detectors, StandInOrderWithWhatTheyNeed) {
  std::string_view before;
  for (const DetectorInfo* const info : detectors()) {
    EXPECT_LT(before, info->id);
    before = info->id;
    EXPECT_FALSE(info->needs[0].empty()) << info->id;
    EXPECT_FALSE(info->record.empty()) << info->id;
    EXPECT_NE(info->make(), nullptr) << info->id;
  }
  EXPECT_EQ(detectors().size(), 23U);
}

TEST(KnownUpstream, IsReadWhole) {
  EXPECT_EQ(knownUpstream().size(), 49U);
  const UpstreamCommit* const commit = upstreamCommit("U12");
  ASSERT_NE(commit, nullptr);
  EXPECT_EQ(commit->hash, "627ef5ae2df8");
  EXPECT_EQ(commit->verified, UpstreamCommit::Verified::Release);
  EXPECT_EQ(upstreamCommit("U99"), nullptr);
  EXPECT_EQ(upstreamCommit("U49")->verified, UpstreamCommit::Verified::No);
  for (const UpstreamCommit& one : knownUpstream()) {
    EXPECT_GE(one.hash.size(), 12U) << one.id;
    EXPECT_FALSE(one.subject.empty()) << one.id;
  }
}

}  // namespace
}  // namespace tickscope
