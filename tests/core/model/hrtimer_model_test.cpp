// SPDX-License-Identifier: GPL-3.0-or-later
// Sequences of hrtimer operations: double reprogramming, unseen timers, hotplug, clock steps, learning.
#include "core/model/hrtimer_model.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tickscope {
namespace {

using Start = HrtimerModel::Start;
constexpr ClockBase hard = ClockBase::Mono, soft = ClockBase::MonoSoft;
const RuleSet allRules{(1U << hrtimerRuleCount) - 1};

Start arm(u32 span, ClockBase base, s64 x, Known<SpanId> was = {}) {
  return {.span = SpanId{span}, .was = was, .base = base, .x = MonoTime{x}, .expires = BaseTime{x}};
}

HrtimerModel known(RuleSet rules = allRules) {
  HrtimerModel model(rules);
  model.beginInterrupt(MonoTime{0});
  model.endInterrupt();
  model.softirqRaised();
  model.endSoftirq();
  return model;
}

std::string text(Calls calls) {
  return calls.known() ? fmt::format("{}", calls.least)
                       : fmt::format("[{},{}]", calls.least, calls.most);
}
/// "removal+enqueue" under a rule.
std::string text(const CallsByRule& calls, HrtimerRule rule) {
  const OperationCalls& of = calls[number(rule)];
  return text(of.removal) + "+" + text(of.enqueue);
}

TEST(DoubleReprogramming, FirstSoftTimerRestartedOverAndOverCostsTwoCallsOnlyUnderR1) {
  HrtimerModel model = known();
  model.start(arm(1, hard, 4'000'000));  // the tick
  model.start(arm(2, soft, 300'000));
  u32 span = 2;
  for (u32 i = 1; i <= 30; ++i) {
    const auto calls = model.start(arm(span + 1, soft, 300'000 + i * 100'000, SpanId{span}));
    ++span;
    EXPECT_EQ(text(calls, HrtimerRule::R1), "1+1") << i;
    EXPECT_EQ(text(calls, HrtimerRule::R2), "0+1") << i;
    EXPECT_EQ(text(calls, HrtimerRule::R3), "0+1") << i;
    EXPECT_EQ(text(calls, HrtimerRule::R4), "0+1") << i;
    EXPECT_EQ(text(calls, HrtimerRule::R0), i == 1 ? "1+0" : "0+0") << i;
    // The first of the two carries the tick's expiry, the second that of the timer.
    EXPECT_EQ(model.scalars(HrtimerRule::R1).expiresNext, MonoTime{300'000 + i * 100'000});
    EXPECT_EQ(model.scalars(HrtimerRule::R1).nextTimer, SpanId{span});
  }
}

TEST(DoubleReprogramming, BehindAnEarlierHardTimerNothingIsProgrammed) {
  HrtimerModel model = known();
  model.start(arm(1, hard, 150'000));
  model.start(arm(2, soft, 300'000));
  for (u32 span = 2; span < 12; ++span) {
    const auto calls = model.start(arm(span + 1, soft, 300'000 + span * 100'000, SpanId{span}));
    for (const HrtimerRule rule :
         {HrtimerRule::R0, HrtimerRule::R1, HrtimerRule::R2, HrtimerRule::R3}) {
      EXPECT_EQ(text(calls, rule), "0+0") << span << " rule " << int{number(rule)};
    }
  }
}

TEST(DoubleReprogramming, RestartBehindTheTickTakesTheCallOfTheRemovalOnly) {
  HrtimerModel model = known();
  model.start(arm(1, hard, 4'000'000));
  model.start(arm(2, soft, 3'900'000));
  const auto calls = model.start(arm(3, soft, 4'200'000, SpanId{2}));
  EXPECT_EQ(text(calls, HrtimerRule::R1), "1+0");
  EXPECT_EQ(text(calls, HrtimerRule::R3), "0+1");
}

TEST(DoubleReprogramming, WhileSoftirqsWaitRestartsOfTheSoftTimerProgramNothing) {
  HrtimerModel model = known();
  model.start(arm(1, hard, 4'000'000));
  model.start(arm(2, soft, 300'000));
  EXPECT_EQ(model.beginInterrupt(MonoTime{300'100}).raises[number(HrtimerRule::R1)], true);
  model.softirqRaised();
  model.endInterrupt();
  for (u32 span = 2; span < 10; ++span) {
    const auto calls = model.start(arm(span + 1, soft, 400'000 + span * 1000, SpanId{span}));
    EXPECT_EQ(text(calls, HrtimerRule::R1), "0+0");
  }
  EXPECT_EQ(text(model.endSoftirq(), HrtimerRule::R1), "0+1") << "then it is programmed at once";
}

TEST(HrtimerUnseenTimers, ScalarsAreUnknownUntilTheFirstInterruptEnds) {
  HrtimerModel model(allRules);
  EXPECT_FALSE(model.scalars(HrtimerRule::R3).expiresNext);
  EXPECT_EQ(text(model.start(arm(1, hard, 1000)), HrtimerRule::R3), "0+[0,1]");
  model.beginInterrupt({});
  EXPECT_EQ(model.scalars(HrtimerRule::R3).expiresNext, never);
  model.endInterrupt();
  EXPECT_EQ(model.scalars(HrtimerRule::R3).expiresNext, MonoTime{1000});
  EXPECT_EQ(model.scalars(HrtimerRule::R3).nextTimer, SpanId{1});
}

TEST(HrtimerUnseenTimers, FloorDecidesWhatIsKnown) {
  HrtimerModel model = known();
  model.setFloor(MonoTime{1000});
  model.beginInterrupt({});
  model.endInterrupt();
  model.start(arm(1, hard, 2000));
  EXPECT_FALSE(model.scalars(HrtimerRule::R3).expiresNext)
      << "one may be due between 1000 and 2000";
  EXPECT_EQ(text(model.start(arm(2, hard, 1000)), HrtimerRule::R3), "0+[0,1]")
      << "equal to an unseen one it does not program";
  EXPECT_EQ(text(model.start(arm(3, hard, 999)), HrtimerRule::R3), "0+1") << "before all of them";
  EXPECT_EQ(text(model.start(arm(4, hard, 999)), HrtimerRule::R3), "0+0") << "x == E";
  EXPECT_EQ(model.scalars(HrtimerRule::R3).expiresNext, MonoTime{999});
}

TEST(HrtimerUnseenTimers, RestartOfAFirstTimerBeforeTheFloorIsKnownAfterItOpen) {
  for (const s64 before : {900, 1100}) {
    HrtimerModel model = known();
    model.setFloor(MonoTime{1000});
    model.beginInterrupt({});
    model.endInterrupt();
    model.start(arm(1, hard, before));
    model.start(arm(2, hard, 5000));
    HrtimerModel later = model;
    const auto calls = later.start(arm(3, hard, 2000, SpanId{1}));
    if (before < 1000) {
      EXPECT_EQ(text(calls, HrtimerRule::R3), "0+1");
      EXPECT_EQ(text(calls, HrtimerRule::R1), "1+[0,1]") << "an unseen one may be due before 2000";
      EXPECT_EQ(text(model.start(arm(3, hard, 950, SpanId{1})), HrtimerRule::R1), "1+1");
    } else {
      EXPECT_EQ(text(calls, HrtimerRule::R3), "0+[0,1]");
      EXPECT_EQ(text(calls, HrtimerRule::R1), "[0,1]+[0,1]");
      EXPECT_EQ(text(calls[number(HrtimerRule::R1)].sum()), "[0,2]");
    }
  }
}

TEST(HrtimerUnseenTimers, CancelOfOneMayProgram) {
  HrtimerModel model = known();
  model.setFloor(MonoTime{1000});
  model.beginInterrupt({});
  model.endInterrupt();
  model.start(arm(1, hard, 4000));
  HrtimerModel settled = model;
  EXPECT_EQ(text(model.cancel(SpanId{77}), HrtimerRule::R3), "[0,1]+0");
  settled.start(arm(2, hard, 500));
  EXPECT_EQ(text(settled.cancel(SpanId{77}), HrtimerRule::R3), "0+0") << "a known one is first";
}

TEST(HrtimerUnseenTimers, StartOnAnUnknownCpuCoversBothAndLowersTheFloor) {
  HrtimerModel model = known();
  model.start(arm(1, hard, 4000));
  Start op = arm(2, hard, 3000);
  op.owner = {};
  EXPECT_EQ(text(model.start(op), HrtimerRule::R3), "0+[0,1]");
  EXPECT_EQ(model.floor(), MonoTime{3000});
  EXPECT_FALSE(model.queued(SpanId{2}));
  EXPECT_FALSE(model.scalars(HrtimerRule::R3).expiresNext) << "3000 or 4000";
  model.learnExpiresNext(MonoTime{3000});
  EXPECT_EQ(model.scalars(HrtimerRule::R3).nextTimer, SpanId{2}) << "the call told that it is here";
}

TEST(HrtimerLearning, ACallThatContradictsLeavesTheFirstTimerOpen) {
  HrtimerModel model = known();
  model.start(arm(1, hard, 4000));
  model.learnExpiresNext(MonoTime{3500});
  EXPECT_EQ(model.scalars(HrtimerRule::R3).expiresNext, MonoTime{3500});
  EXPECT_FALSE(model.scalars(HrtimerRule::R3).nextTimer);
}

TEST(HrtimerInterrupt, RaisesTheSoftirqWhenSoftirqNextIsReached) {
  HrtimerModel model = known();
  model.start(arm(1, soft, 1000));
  const auto early = model.beginInterrupt(MonoTime{999});
  const auto late = model.beginInterrupt(MonoTime{1000});
  EXPECT_EQ(early.raises[number(HrtimerRule::R3)], false);
  EXPECT_EQ(late.raises[number(HrtimerRule::R3)], true);
  EXPECT_FALSE(model.beginInterrupt({}).raises[number(HrtimerRule::R3)]);
}

TEST(HrtimerInterrupt, StartOfAnotherAsNextInsideKeepsR2FromProgrammingTwice) {
  HrtimerModel model = known();
  model.start(arm(1, hard, 1000));
  model.start(arm(2, hard, 9000));
  model.beginInterrupt(MonoTime{1000});
  model.expire(SpanId{1});
  Start self = arm(3, hard, 2000, SpanId{1});
  self.callbackRuns = true;
  self.armed = false;
  EXPECT_EQ(text(model.start(self), HrtimerRule::R2), "0+1");
  const auto again = model.start(arm(4, hard, 2000, SpanId{3}));
  EXPECT_EQ(text(again, HrtimerRule::R2), "0+0") << "E is 2000 already";
  EXPECT_EQ(text(again, HrtimerRule::R3), "0+0");
}

TEST(HrtimerInterrupt, CancelOfTheQueuedNextTimerInsideProgramsUpToR3) {
  // The walk runs MONO first; its callback cancels the REAL timer that next_timer points to.
  HrtimerModel model = known();
  model.start(arm(1, ClockBase::Real, 1000));
  model.start(arm(2, hard, 1000));
  model.start(arm(3, hard, 9000));
  model.beginInterrupt(MonoTime{1000});
  model.expire(SpanId{2});
  HrtimerModel other = model;
  const auto cancelled = model.cancel(SpanId{1});
  EXPECT_EQ(text(cancelled, HrtimerRule::R1), "1+0");
  EXPECT_EQ(text(cancelled, HrtimerRule::R3), "1+0");
  EXPECT_EQ(text(cancelled, HrtimerRule::R4), "0+0");
  const auto restarted = other.start(arm(4, ClockBase::Real, 5000, SpanId{1}));
  EXPECT_EQ(text(restarted, HrtimerRule::R1), "1+0");
  EXPECT_EQ(text(restarted, HrtimerRule::R2), "0+1");
  EXPECT_EQ(text(restarted, HrtimerRule::R3), "0+0");
}

TEST(HrtimerNextTimer, TakenOutByAnotherCpuStaysAndCostsACallAtItsNextStart) {
  HrtimerModel model = known();
  model.start(arm(1, hard, 1000));
  model.start(arm(2, hard, 4000));
  model.cancelRemote(SpanId{1});
  EXPECT_EQ(model.scalars(HrtimerRule::R3).nextTimer, SpanId{1});
  EXPECT_EQ(model.scalars(HrtimerRule::R3).expiresNext, MonoTime{1000});
  Start op = arm(3, hard, 2000, SpanId{1});
  op.armed = false;
  const auto calls = model.start(op);
  EXPECT_EQ(text(calls, HrtimerRule::R3), "0+1") << "FORCE: the device leaves the stale time";
  EXPECT_EQ(text(calls, HrtimerRule::R1), "0+0") << "2000 is behind the stale 1000";
}

TEST(HrtimerNextTimer, SoftWinsATieOnlyUnderR0) {
  HrtimerModel model = known();
  model.start(arm(1, hard, 1000));
  model.start(arm(2, soft, 1000));
  model.retrigger();
  EXPECT_EQ(model.scalars(HrtimerRule::R0).nextTimer, SpanId{2});
  EXPECT_EQ(model.scalars(HrtimerRule::R1).nextTimer, SpanId{1});
  EXPECT_EQ(model.scalars(HrtimerRule::R3).nextTimer, SpanId{1});
}

TEST(HrtimerNextTimer, ATieBetweenBasesGoesToTheLowerOne) {
  HrtimerModel model = known();
  model.start(arm(1, ClockBase::Tai, 1000));
  model.start(arm(2, ClockBase::Real, 1000));
  model.retrigger();
  EXPECT_EQ(model.scalars(HrtimerRule::R3).nextTimer, SpanId{2});
}

TEST(HrtimerSoftirqNext, StaysTooEarlyAfterACancelAndIsRenewedByTheInterrupt) {
  HrtimerModel model = known();
  model.start(arm(1, hard, 1000));
  model.start(arm(2, soft, 2000));
  model.cancel(SpanId{2});
  EXPECT_EQ(model.scalars(HrtimerRule::R3).softirqExpiresNext, MonoTime{2000});
  model.beginInterrupt(MonoTime{1000});
  model.expire(SpanId{1});
  model.endInterrupt();
  EXPECT_EQ(model.scalars(HrtimerRule::R3).softirqExpiresNext, never);
  EXPECT_EQ(model.scalars(HrtimerRule::R0).softirqExpiresNext, MonoTime{2000}) << "R0 keeps it";
}

TEST(HrtimerSoftirqNext, IsMovedByARemoteStart) {
  HrtimerModel model = known();
  model.start(arm(1, hard, 1000));
  model.enqueueRemote(SpanId{2}, soft, MonoTime{3000}, BaseTime{3000});
  EXPECT_EQ(model.scalars(HrtimerRule::R3).softirqExpiresNext, MonoTime{3000});
  EXPECT_EQ(model.scalars(HrtimerRule::R3).expiresNext, MonoTime{1000});
}

TEST(HrtimerHotplug, EverythingLeavesInTreeOrderBaseByBase) {
  HrtimerModel model = known();
  model.start(arm(1, soft, 10));
  model.start(arm(2, ClockBase::Real, 40));
  model.start(arm(3, hard, 30));
  model.start(arm(4, hard, 20));
  EXPECT_EQ(model.takeAll(), (std::vector<SpanId>{SpanId{4}, SpanId{3}, SpanId{2}, SpanId{1}}));
  EXPECT_FALSE(model.queued(SpanId{4}));
  EXPECT_EQ(model.first(false), never);
  EXPECT_FALSE(model.scalars(HrtimerRule::R3).expiresNext);
}

TEST(HrtimerClockStep, MovesWhatIsFirstButProgramsOnlyAtTheRetrigger) {
  HrtimerModel model = known();
  Start real = arm(1, ClockBase::Real, 0);
  real.x = MonoTime{9000};
  real.expires = BaseTime{109'000};
  model.start(real);
  model.start(arm(2, hard, 5000));
  model.shift(ClockBase::Real, 6000);
  EXPECT_EQ(model.first(false), MonoTime{3000});
  EXPECT_EQ(model.scalars(HrtimerRule::R3).expiresNext, MonoTime{5000});
  EXPECT_EQ(text(model.retrigger(), HrtimerRule::R3), "0+1");
  EXPECT_EQ(model.scalars(HrtimerRule::R3).expiresNext, MonoTime{3000});
}

TEST(HrtimerHang, SilencesAllUntilTheNextInterruptEnds) {
  HrtimerModel model = known();
  model.start(arm(1, hard, 4000));
  EXPECT_EQ(text(model.hang(), HrtimerRule::R3), "0+1");
  EXPECT_EQ(text(model.start(arm(2, hard, 1000)), HrtimerRule::R3), "0+0");
  EXPECT_EQ(model.scalars(HrtimerRule::R3).expiresNext, MonoTime{1000})
      << "kept, but not programmed";
  model.beginInterrupt(MonoTime{500});
  EXPECT_EQ(text(model.endInterrupt(), HrtimerRule::R3), "0+1");
  EXPECT_FALSE(model.hanging());
}

}  // namespace
}  // namespace tickscope
