// SPDX-License-Identifier: GPL-3.0-or-later
// What one wheel base concludes from single arms, expiries and runs.
#include "core/model/wheel_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace tickscope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr u64 boot = 100000;

WheelModel baseAt(u64 jiffies, ForwardRule forward = ForwardRule::F2) {
  WheelRules rules;
  rules.forward = forward;
  rules.next = forward == ForwardRule::F2 ? NextRule::NX1 : NextRule::NX0;
  WheelModel model(rules);
  model.reset(jiffies);
  return model;
}

/// What a kernel records that computes the index with `clk`.
RecordedArm armAt(u64 now, u64 expires, u64 clk) {
  return {.expires = expires,
          .now = now,
          .index = bucketFor(WheelGeometry{}, clk, expires).index,
          .bucketExpiry = {}};
}
RecordedArm armAt(u64 now, u64 expires) { return armAt(now, expires, now); }

SpanId span(u32 number) { return SpanId{number}; }

TEST(WheelArm, IsExplainedByAClkThatWasForwarded) {
  WheelModel model = baseAt(boot);
  const ArmResult result = model.arm(span(1), armAt(boot + 500, boot + 501), false);
  EXPECT_EQ(result.explained, true);
  ASSERT_TRUE(result.bucket);
  EXPECT_EQ(result.bucket->expiry, boot + 502);
  EXPECT_EQ(model.clk(), boot + 500);
  EXPECT_EQ(model.firstPending(), boot + 502);
  EXPECT_EQ(model.nextExpiry(), boot + 502);
}

TEST(WheelArm, OfAStaleBaseIsNotExplainedAndItsLagIsNamed) {
  WheelModel model = baseAt(boot);
  const ArmResult result = model.arm(span(1), armAt(boot + 504, boot + 505, boot), false);
  EXPECT_EQ(result.explained, false);
  ASSERT_TRUE(result.lag);
  EXPECT_LE(result.lag->least, 504U);
  EXPECT_GE(result.lag->most, 504U);
  // It lies where the record says, not where it should.
  ASSERT_TRUE(result.bucket);
  EXPECT_EQ(result.bucket->level(), 2);
  EXPECT_EQ(result.bucket->expiry, bucketFor(WheelGeometry{}, boot, boot + 505).expiry);
}

TEST(WheelArm, BehindABucketThatIsDueIsExplained) {
  WheelModel model = baseAt(boot);
  model.arm(span(1), armAt(boot, boot + 9), false);
  // Its bucket is due since 100 jiffies and the softirq has not come: clk waits there.
  const ArmResult result = model.arm(span(2), armAt(boot + 110, boot + 111, boot + 10), false);
  EXPECT_EQ(result.explained, true);
  EXPECT_EQ(result.bucket->level(), 1);
}

TEST(WheelArm, BehindATimerThatWasDeletedIsExplained) {
  WheelModel model = baseAt(boot);
  model.arm(span(1), armAt(boot, boot + 9), false);
  EXPECT_TRUE(model.disarm(span(1)));
  EXPECT_EQ(model.firstPending(), Known<u64>{});
  // next_expiry still names the deleted timer's bucket.
  EXPECT_EQ(model.arm(span(2), armAt(boot + 110, boot + 111, boot + 10), false).explained, true);
}

TEST(WheelArm, OfABaseFromBeforeTheRecordingIsJudgedOnceItsStateIsKnown) {
  WheelModel model{WheelRules{}};
  // Nothing is known: a timer from before may have been due for long.
  EXPECT_EQ(model.arm(span(1), armAt(boot, boot + 1, boot - 100), false).explained, Known<bool>{});
  EXPECT_EQ(model.arm(span(2), armAt(boot, boot + 1), false).explained, true);
  model.disarm(span(1));
  model.disarm(span(2));
  model.idle(boot + 5);
  EXPECT_EQ(model.arm(span(3), armAt(boot + 400, boot + 401, boot + 5), false).explained, false);
  model.disarm(span(3));
  model.nothingDue(boot + 600);
  EXPECT_EQ(model.arm(span(4), armAt(boot + 610, boot + 650, boot + 580), false).explained, false);
  EXPECT_EQ(model.nextExpiry(), Known<u64>{});
}

TEST(WheelArm, InThePastTellsClk) {
  WheelModel model{WheelRules{}};
  const ArmResult result = model.arm(span(1), armAt(boot, boot - 20, boot - 6), false);
  EXPECT_EQ(result.explained, true);
  EXPECT_EQ(result.bucket->expiry, boot - 6);
  EXPECT_EQ(model.clk(), boot - 6);
}

TEST(WheelArm, WithABucketExpiryThatIsNotThatOfTheIndexIsNotExplained) {
  WheelModel model = baseAt(boot);
  RecordedArm arm = armAt(boot, boot + 100);
  arm.bucketExpiry = bucketFor(WheelGeometry{}, boot, boot + 100).expiry + 8;
  EXPECT_EQ(model.arm(span(1), arm, false).explained, false);
}

TEST(WheelArm, OnADeferrableBaseMayBeCoarseOnlyUnderTheOlderRules) {
  for (const auto& [rule, healthy] :
       {std::pair{ForwardRule::F0, true}, std::pair{ForwardRule::F1, true},
        std::pair{ForwardRule::F2, false}}) {
    WheelModel model = baseAt(boot, rule);
    const ArmResult result = model.arm(span(1), armAt(boot + 300, boot + 301, boot), true);
    EXPECT_EQ(result.explained, healthy) << "F" << static_cast<int>(rule);
  }
}

TEST(WheelArm, ThatNoClkGivesIsNotExplainedUnderAnyRule) {
  for (const ForwardRule rule : {ForwardRule::F0, ForwardRule::F1, ForwardRule::F2}) {
    WheelModel model = baseAt(boot, rule);
    RecordedArm arm = armAt(boot, boot + 10);
    arm.index = static_cast<u16>(*arm.index ^ 1U);
    EXPECT_EQ(model.arm(span(1), arm, false).explained, false) << "F" << static_cast<int>(rule);
  }
}

TEST(WheelArm, AfterLostEventsIsNotHeldAgainstTheBase) {
  WheelModel model = baseAt(boot);
  model.forgetClk();
  EXPECT_EQ(model.clk(), Known<u64>{});
  EXPECT_NE(model.arm(span(1), armAt(boot + 20, boot + 60, boot), false).explained, false);
}

TEST(WheelExpiry, OutsideItsBucketIsNamed) {
  WheelModel model = baseAt(boot);
  model.arm(span(1), armAt(boot, boot + 10), false);
  model.arm(span(2), armAt(boot, boot + 20), false);
  EXPECT_EQ(model.expire(span(1), boot + 10, boot + 10).atItsBucket, false);
  EXPECT_EQ(model.expire(span(2), boot + 21, boot + 21).atItsBucket, true);
  EXPECT_EQ(model.size(), 0U);
}

TEST(WheelExpiry, GoesByBucketTimeThenLevelThenLastArmedFirst) {
  const u64 due = (boot / 64 + 2) * 64;
  const auto fill = [&](WheelModel& model) {
    model.arm(span(1), armAt(due - 520, due - 1, due - 520), false);
    model.arm(span(2), armAt(due - 100, due - 1, due - 100), false);
    model.arm(span(3), armAt(due - 100, due - 2, due - 100), false);
    model.arm(span(4), armAt(due - 10, due - 1, due - 10), false);
  };
  WheelModel model = baseAt(due - 520);
  fill(model);
  std::vector<SpanId> order;
  model.collect(due, order);
  // Span 3 rounds up to the same bucket of level 1 as span 2 and was armed after it.
  ASSERT_THAT(order, ElementsAre(span(1), span(3), span(2), span(4)));
  for (const SpanId id : order) {
    const WheelModel::Expiry expiry = model.expire(id, due, due);
    EXPECT_NE(expiry.inOrder, false) << number(id);
    EXPECT_EQ(expiry.atItsBucket, true) << number(id);
    EXPECT_THAT(expiry.lost, IsEmpty()) << number(id);
  }
  for (const auto& [first, second] : {std::pair{2U, 1U}, std::pair{2U, 3U}, std::pair{4U, 2U}}) {
    WheelModel other = baseAt(due - 520);
    fill(other);
    other.expire(span(first), due, due);
    EXPECT_EQ(other.expire(span(second), due, due).inOrder, false) << first << " " << second;
  }
}

TEST(WheelExpiry, OfAnEarlierBucketTimeThanTheLastIsOutOfOrder) {
  WheelModel model = baseAt(boot);
  model.arm(span(1), armAt(boot, boot + 30), false);
  model.expire(span(1), boot + 31, boot + 31);
  EXPECT_EQ(model.expire({}, boot + 40, boot + 20).inOrder, false);
}

TEST(WheelExpiry, AtALaterClkWhichACallbackForwardedIsAtItsBucket) {
  const u64 due = (boot / 8 + 20) * 8;
  WheelModel model = baseAt(due - 100);
  model.arm(span(1), armAt(due - 100, due - 1, due - 100), false);
  model.arm(span(2), armAt(due - 5, due - 1, due - 5), false);
  EXPECT_EQ(model.expire(span(1), due, due).atItsBucket, true);
  // The callback of span 1 takes 5 jiffies and arms another timer: clk moves on while span 2 waits.
  model.arm(span(3), armAt(due + 5, due + 20, due + 5), false);
  const WheelModel::Expiry expiry = model.expire(span(2), due + 5, due + 4);
  EXPECT_EQ(expiry.atItsBucket, true);
  EXPECT_EQ(expiry.inOrder, true);
  EXPECT_THAT(expiry.lost, IsEmpty());
  // Without a run of that bucket time before it, the same numbers are wrong.
  WheelModel other = baseAt(due - 100);
  other.arm(span(2), armAt(due - 5, due - 1, due - 5), false);
  EXPECT_EQ(other.expire(span(2), due + 5, due + 4).atItsBucket, false);
}

TEST(WheelLoss, IsNamedWhenALaterBucketIsRun) {
  WheelModel model = baseAt(boot);
  model.arm(span(1), armAt(boot, boot + 10), false);
  model.arm(span(2), armAt(boot, boot + 10), false);
  model.arm(span(3), armAt(boot, boot + 20), false);
  // Both of one bucket run in one run: the second is not lost while the first runs.
  EXPECT_THAT(model.expire(span(2), boot + 11, boot + 11).lost, IsEmpty());
  EXPECT_THAT(model.expire(span(3), boot + 21, boot + 21).lost, ElementsAre(span(1)));
  ASSERT_NE(model.find(span(1)), nullptr);
  EXPECT_TRUE(model.find(span(1))->lost);
  EXPECT_EQ(model.firstPending(), Known<u64>{});
  // It is named once, and is pending until somebody takes it off.
  model.arm(span(4), armAt(boot + 21, boot + 30), false);
  EXPECT_THAT(model.expire(span(4), boot + 31, boot + 31).lost, IsEmpty());
  EXPECT_TRUE(model.disarm(span(1)));
  EXPECT_EQ(model.size(), 0U);
}

TEST(WheelLoss, IsNamedWhenTwoRunsLeaveATimerThatIsDue) {
  WheelModel model = baseAt(boot);
  model.arm(span(1), armAt(boot, boot + 10), false);
  EXPECT_THAT(model.endOfRun(boot + 5), IsEmpty());
  EXPECT_THAT(model.endOfRun(boot + 15), IsEmpty());
  EXPECT_THAT(model.endOfRun(boot + 25), ElementsAre(span(1)));
  EXPECT_THAT(model.endOfRun(boot + 35), IsEmpty());
}

TEST(WheelLoss, IsNotClaimedOfTimersFromBeforeLostEvents) {
  WheelModel model = baseAt(boot);
  model.arm(span(1), armAt(boot, boot + 10), false);
  model.forgetClk();
  model.arm(span(2), armAt(boot + 12, boot + 20, boot + 12), false);
  const WheelModel::Expiry expiry = model.expire(span(2), boot + 21, boot + 21);
  EXPECT_THAT(expiry.lost, IsEmpty());
  ASSERT_NE(model.find(span(1)), nullptr);
  EXPECT_TRUE(model.find(span(1))->uncertain);
}

TEST(WheelBase, IsEmptyAndKnownAfterBringUp) {
  WheelModel model{WheelRules{}};
  model.arm(span(1), armAt(boot, boot + 10), false);
  model.reset(boot + 50);
  EXPECT_EQ(model.size(), 0U);
  EXPECT_EQ(model.find(span(1)), nullptr);
  EXPECT_EQ(model.clk(), boot + 50);
  EXPECT_EQ(model.firstPending(), Known<u64>{});
  EXPECT_FALSE(model.disarm(span(1)));
}

TEST(WheelBase, KnowsClkAfterAnExpiry) {
  WheelModel model{WheelRules{}};
  model.expire({}, boot, boot);
  EXPECT_EQ(model.clk(), boot + 1);
  ASSERT_TRUE(model.clkRange());
  EXPECT_EQ(model.clkRange()->least, boot + 1);
}

TEST(WheelBase, TakesAnyNumbersOfADamagedFile) {
  constexpr u64 seed = 99;
  std::mt19937_64 random(seed);
  const u64 edges[] = {0, 1, ~u64{0}, u64{1} << 63U, u64{1} << 31U, 0xffffffff, boot};
  const auto any = [&] { return edges[random() % 7] + random() % 3 - 1; };
  for (u32 round = 0; round < 200; ++round) {
    WheelRules rules;
    rules.geometry.wordBits = round % 2 ? 32 : 64;
    rules.geometry.clampBug = round % 5 == 0;
    rules.kind = round % 7 == 0 ? WheelKind::Cascade : WheelKind::Levels;
    rules.forward = static_cast<ForwardRule>(round % 3);
    rules.next = round % 3 == 2 ? NextRule::NX1 : NextRule::NX0;
    WheelModel model(rules);
    std::size_t pending = 0;
    for (u32 step = 0; step < 200; ++step) {
      const SpanId id = span(static_cast<u32>(random() % 40));
      const bool was = model.find(id) != nullptr;
      switch (random() % 10) {
        case 0:
          EXPECT_EQ(model.disarm(id), was) << "seed " << seed << " round " << round;
          pending -= was;
          break;
        case 1:
          model.expire(id, any(), random() % 3 ? Known<u64>(any()) : Known<u64>());
          pending -= was;
          break;
        case 2:
          model.endOfRun(any());
          break;
        case 3:
          model.idle(any());
          break;
        case 4:
          if (random() % 8 == 0) model.forgetClk();
          model.nothingDue(any());
          break;
        default: {
          RecordedArm arm{.expires = any(), .now = any(), .index = {}, .bucketExpiry = {}};
          if (random() % 4) arm.index = static_cast<u16>(random() % 1024);
          if (random() % 2) arm.bucketExpiry = any();
          model.arm(id, arm, random() % 4 == 0);
          pending += !was;
        }
      }
      ASSERT_EQ(model.size(), pending) << "seed " << seed << " round " << round;
      std::vector<SpanId> due;
      model.collect(any(), due);
      ASSERT_LE(due.size(), pending);
      ASSERT_EQ(model.firstPending().has_value() || due.empty(), true);
      const Known<u64> next = model.nextExpiry();
      ASSERT_TRUE(!next || model.firstPending());
    }
  }
}

TEST(CascadeWheel, RunsTimersAtTheirExpiry) {
  WheelRules rules;
  rules.kind = WheelKind::Cascade;
  WheelModel model(rules);
  const auto arm = [&](u32 id, u64 now, u64 expires) {
    return model.arm(span(id), {.expires = expires, .now = now, .index = {}, .bucketExpiry = {}},
                     false);
  };
  EXPECT_EQ(arm(1, boot, boot + 300).bucket, Known<Bucket>{});
  arm(2, boot, boot + 5);
  arm(3, boot, boot + 7);
  EXPECT_EQ(model.firstPending(), boot + 5);
  const WheelModel::Expiry first = model.expire(span(2), boot + 5, {});
  EXPECT_EQ(first.atItsBucket, true);
  EXPECT_THAT(first.lost, IsEmpty());
  const WheelModel::Expiry late = model.expire(span(1), boot + 301, {});
  EXPECT_EQ(late.atItsBucket, true);
  EXPECT_EQ(late.inOrder, true);
  EXPECT_THAT(late.lost, ElementsAre(span(3)));
  arm(4, boot + 301, boot + 310);
  EXPECT_EQ(model.expire(span(4), boot + 309, {}).atItsBucket, false);
}

TEST(CascadeWheel, DoesNotOrderTimersThatWerePastWhenArmed) {
  WheelRules rules;
  rules.kind = WheelKind::Cascade;
  WheelModel model(rules);
  const RecordedArm past{.expires = boot - 50, .now = boot, .index = {}, .bucketExpiry = {}};
  const RecordedArm next{.expires = boot + 1, .now = boot, .index = {}, .bucketExpiry = {}};
  model.arm(span(1), past, false);
  model.arm(span(2), next, false);
  // timer_jiffies may be either value: the past one runs with or before the other.
  EXPECT_THAT(model.expire(span(2), boot + 1, {}).lost, IsEmpty());
  const WheelModel::Expiry expiry = model.expire(span(1), boot + 1, {});
  EXPECT_EQ(expiry.atItsBucket, true);
  EXPECT_NE(expiry.inOrder, false);
}

}  // namespace
}  // namespace tickscope
