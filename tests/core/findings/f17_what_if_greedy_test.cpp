// SPDX-License-Identifier: GPL-3.0-or-later
// F17: what a greedy walk on idle would save.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/findings/f17_greedy_walk.h"
#include "tests/support/trace_script.h"

namespace tickscope {
namespace {

using support::TraceScript;

/// Two timers: the second is due 5 ms behind the first, with slack; a third, due between, stands before it.
std::string pairOf(const std::string& slack) {
  return "at 1.000\n0 cpu0 cpu_idle state=1 cpu_id=0\nrepeat 5 every 20ms\n"
         "0 cpu0 [d] hrtimer_start hrtimer=a expires=+2ms mode=ABS\n"
         "1us cpu0 [d] hrtimer_start hrtimer=b expires=+7ms softexpires=+" +
         slack +
         " mode=ABS\n"
         "2001us cpu0 local_timer_entry vector=236\n2002us cpu0 hrtimer_expire_entry hrtimer=a\n"
         "2003us cpu0 hrtimer_expire_exit hrtimer=a\n2004us cpu0 local_timer_exit vector=236\n"
         "7003us cpu0 local_timer_entry vector=236\n7004us cpu0 hrtimer_expire_entry hrtimer=b\n"
         "7005us cpu0 hrtimer_expire_exit hrtimer=b\n7006us cpu0 local_timer_exit vector=236\n"
         "end\n";
}

TEST(WhatIfGreedy, F17FiresForTimersThatAnEarlierInterruptCouldHaveRun) {
  EXPECT_EQ(TraceScript(pairOf("1ms") + "expect F17 cpu0 count=5 grade=S4\n").unmet(), "");
}

TEST(WhatIfGreedy, F17NearSoftexpiresBehindTheEarlierInterruptSavesNothing) {
  EXPECT_EQ(TraceScript(pairOf("3ms") + "expect no F17\nexpect judged F17\n").unmet(), "");
}

TEST(WhatIfGreedy, F17TrapWithoutSlackNothingIsSaved) {
  EXPECT_EQ(TraceScript(pairOf("7ms") + "expect no F17\nexpect judged F17\n").unmet(), "");
}

/// The same by its definition alone: for each interrupt in turn, look at all sleeps.
u64 vanishedByDefinition(const std::vector<GreedySleep>& sleeps,
                         const std::vector<GreedyInterrupt>& interrupts) {
  std::vector<bool> early(sleeps.size());
  u64 vanished = 0;
  for (const GreedyInterrupt& interrupt : interrupts) {
    bool all = interrupt.count > 0;
    for (u32 i = interrupt.first; i < interrupt.first + interrupt.count; ++i) all &= early[i];
    if (interrupt.idle && !interrupt.fixed && all) {
      ++vanished;
      continue;
    }
    if (!interrupt.idle) continue;
    for (u32 s = 0; s < sleeps.size(); ++s) {
      early[s] = early[s] || (sleeps[s].cpu == interrupt.cpu && sleeps[s].movable &&
                              sleeps[s].armed <= interrupt.at && sleeps[s].soft <= interrupt.at &&
                              sleeps[s].ran > interrupt.at);
    }
  }
  return vanished;
}

TEST(WhatIfGreedy, TheWalkSavesAsMuchAsItsDefinitionAndNeverMoreThanThereIs) {
  constexpr u32 seed = 20;
  std::mt19937 random(seed);
  const auto upTo = [&](s64 most) { return std::uniform_int_distribution<s64>(0, most)(random); };
  for (int round = 0; round < 200; ++round) {
    std::vector<GreedySleep> sleeps;
    std::vector<GreedyInterrupt> interrupts;
    std::vector<u32> list;
    s64 at = 1000;
    for (u32 i = 0; i < 60; ++i) {
      at += 1 + upTo(100);
      GreedyInterrupt& interrupt = interrupts.emplace_back();
      interrupt.cpu = static_cast<Cpu>(upTo(1));
      interrupt.at = at;
      interrupt.idle = upTo(4) > 0;
      interrupt.fixed = upTo(9) == 0;
      interrupt.first = static_cast<u32>(list.size());
      interrupt.count = static_cast<u32>(upTo(2));
      for (u32 n = 0; n < interrupt.count; ++n) {
        GreedySleep& sleep = sleeps.emplace_back();
        sleep.cpu = interrupt.cpu;
        sleep.expires = at - upTo(3);
        sleep.soft = sleep.expires - upTo(300);
        sleep.armed = sleep.soft - upTo(200);
        sleep.ran = at;
        sleep.movable = upTo(3) > 0;
        list.push_back(static_cast<u32>(sleeps.size() - 1));
      }
    }
    const GreedyOutcome kept = greedyWalk(sleeps, interrupts, list, Rearm::InPlace);
    const auto vanished = static_cast<u64>(std::ranges::count(kept.vanished, true));
    ASSERT_EQ(vanished, vanishedByDefinition(sleeps, interrupts))
        << "seed " << seed << " round " << round;
    ASSERT_LE(vanished, interrupts.size());
    for (u32 s = 0; s < sleeps.size(); ++s) {
      ASSERT_LE(kept.ran[s], sleeps[s].ran) << "round " << round << " sleep " << s;
      if (!sleeps[s].movable) {
        ASSERT_EQ(kept.ran[s], sleeps[s].ran) << "round " << round;
      }
    }
  }
}

}  // namespace
}  // namespace tickscope
