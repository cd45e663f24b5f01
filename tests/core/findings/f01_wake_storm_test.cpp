// SPDX-License-Identifier: GPL-3.0-or-later
// F01: many wakes of one due time, and what only looks like it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "core/findings/time_grid.h"
#include "tests/support/trace_script.h"

namespace tickscope {
namespace {

using support::unmet;

struct Storm {
  int wakes = 64;
  int times = 10;
  int apartUs = 0;  ///< due times, up to the interrupt
  int aheadUs = 0;  ///< hard expiry of each behind the interrupt: slack
  int lateMs = 0;   ///< how late the interrupt comes
  bool soft = false;
  bool outside = false;  ///< one callback; the others are woken by the task that it woke
};

/// Each 10.3 ms (no multiple of a tick: it shall not pass for one) an interrupt, or a run of the softirq, in which `wakes` callbacks wake a task each.
std::string storm(const Storm& s) {
  std::string script =
      fmt::format("at 1.0\nrepeat {} every {}us\n", s.times, 10'300 + 2'000 * s.lateMs);
  const int callbacks = s.outside ? 1 : s.wakes;
  const std::string mode = s.soft ? "ABS|SOFT" : "ABS";
  for (int i = 0; i < callbacks; ++i) {
    script += fmt::format(
        "+{}ns cpu0 hrtimer_start hrtimer=h{} function=hrtimer_wakeup expires=+{}ns "
        "softexpires=+{}ns mode={}\n",
        i, i, 5'000'000 - i - (callbacks - 1 - i) * s.apartUs * 1000 + s.aheadUs * 1000 * (i + 1),
        5'000'000 - i - (callbacks - 1 - i) * s.apartUs * 1000, mode);
  }
  const int begin = 5'000 + 1'000 * s.lateMs;
  if (s.soft) {
    script += fmt::format(
        "+{}us cpu0 local_timer_entry vector=236\n"
        "+{}us cpu0 softirq_raise vec=HRTIMER\n"
        "+{}us cpu0 local_timer_exit vector=236\n+{}us cpu0 softirq_entry "
        "vec=HRTIMER\n",
        begin, begin + 1, begin + 1, begin + 1);
  } else {
    script += fmt::format("+{}us cpu0 local_timer_entry vector=236\n", begin);
  }
  for (int i = 0; i < callbacks; ++i) {
    const int at = begin + 2 + 3 * i;
    script += fmt::format(
        "+{}us cpu0 hrtimer_expire_entry hrtimer=h{} function=hrtimer_wakeup\n"
        "+{}us cpu0 sched_waking task=grid-{}:120 target_cpu=0\n"
        "+{}us cpu0 hrtimer_expire_exit hrtimer=h{}\n",
        at, i, at + 1, 100 + i, at + 2, i);
  }
  const int end = begin + 3 + 3 * callbacks;
  script += fmt::format("+{}us cpu0 {}\n", end,
                        s.soft ? "softirq_exit vec=HRTIMER" : "local_timer_exit vector=236");
  script += fmt::format("+{}us cpu0 sched_switch prev=idle next=grid-100:120\n", end + 1);
  for (int i = 1; s.outside && i < s.wakes; ++i) {
    script += fmt::format("+{}us cpu0 grid-100 sched_waking task=grid-{}:120 target_cpu=0\n",
                          end + 1 + i, 100 + i);
  }
  script +=
      fmt::format("+{}us cpu0 grid-100 sched_switch prev=grid-100:120 next=idle\nend\n", end + 200);
  return script;
}

TEST(WakeStorm, F01FiresForSleepersOfOneGrid) {
  EXPECT_EQ(unmet(storm({}) + "expect F01 cpu0 count=10\nexpect no S1\n"), "");
}

TEST(WakeStorm, F01TrapRandomSleepersOfABusyPhaseAreNoStorm) {
  constexpr unsigned seed = 7;
  std::mt19937 random(seed);
  // For 10 ms of each 400 ms about 8 wakes in a window of 200 us; over the second around it is far less than one.
  std::string script = "at 1.0\nrepeat 3 every 400ms\n";
  for (int at = 1'000, i = 0; at < 11'000; at += 8 + static_cast<int>(random() % 33), ++i) {
    const int who = i % 16;
    script += fmt::format(
        "+{}us cpu0 hrtimer_start hrtimer=h{} function=hrtimer_wakeup expires=+3us "
        "softexpires=+3us mode=ABS\n+{}us cpu0 local_timer_entry vector=236\n"
        "+{}us cpu0 hrtimer_expire_entry hrtimer=h{} function=hrtimer_wakeup\n"
        "+{}ns cpu0 sched_waking task=rand-{}:120 target_cpu=0\n"
        "+{}us cpu0 hrtimer_expire_exit hrtimer=h{}\n+{}us cpu0 local_timer_exit vector=236\n",
        at, who, at + 3, at + 4, who, 1000 * (at + 4) + 500, 100 + who, at + 5, who, at + 6);
  }
  EXPECT_EQ(unmet(script + "end\nexpect no F01\nexpect judged F01\n"), "") << "seed " << seed;
}

TEST(WakeStorm, F01SaysTheGrid) {
  const Findings findings = support::TraceScript(storm({})).findings();
  const auto found = std::ranges::find(findings.findings, "F01", &Finding::id);
  ASSERT_NE(found, findings.findings.end()) << support::findingLines(findings);
  EXPECT_NE(found->title.text().find("every 10.3 ms"), std::string::npos) << found->title.text();
}

TEST(WakeStorm, F01NearSevenWakesAreNoStorm) {
  EXPECT_EQ(unmet(storm({.wakes = 7}) + "expect no F01\nexpect judged F01\n"), "");
  EXPECT_EQ(unmet(storm({.wakes = 8}) + "expect F01 cpu0 count=10\n"), "");
}

TEST(WakeStorm, F01NearFourInstantsAreANote) {
  EXPECT_EQ(unmet(storm({.times = 4}) + "expect F01 cpu0 count=4 grade=S4\n"), "");
}

TEST(WakeStorm, F01TrapABacklogHasOtherDueTimes) {
  EXPECT_EQ(unmet(storm({.apartUs = 400, .lateMs = 30}) + "expect no F01\n"), "");
  EXPECT_EQ(unmet(storm({.lateMs = 30}) + "expect F01 cpu0 count=10\n"), "")
      << "one due time, late or not";
}

TEST(WakeStorm, F01TrapSlackThatMergesIsASaving) {
  EXPECT_EQ(unmet(storm({.aheadUs = 150}) + "expect no F01\n"), "");
}

TEST(WakeStorm, F01TrapABroadcastIsNotTheTimers) {
  EXPECT_EQ(unmet(storm({.outside = true}) + "expect no F01\n"), "");
}

TEST(WakeStorm, F01TrapInSoftirqItIsANote) {
  EXPECT_EQ(unmet(storm({.soft = true}) + "expect F01 cpu0 count=10 grade=S4\n"), "");
}

TEST(WakeStorm, F01TrapWakesAtRandomPhasesAreChance) {
  // 64 sleepers of about 1 ms each: sixty thousand wakes a second; nine at once are no wonder.
  std::mt19937_64 random(7);
  std::string script = "at 1.0\n";
  for (int i = 0; i < 3'000; ++i) {
    const int wakes = 1 + static_cast<int>(random() % 9);
    const int at = i * 100;
    for (int k = 0; k < wakes; ++k) {
      script += fmt::format(
          "+{}us cpu0 hrtimer_start hrtimer=h{} function=hrtimer_wakeup "
          "expires=+10us mode=ABS\n",
          at + k, k);
    }
    script += fmt::format("+{}us cpu0 local_timer_entry vector=236\n", at + 20);
    for (int k = 0; k < wakes; ++k) {
      const int ns = (at + 21) * 1000 + k * 1500;
      script += fmt::format(
          "+{}ns cpu0 hrtimer_expire_entry hrtimer=h{} function=hrtimer_wakeup\n"
          "+{}ns cpu0 sched_waking task=rnd-{}:120 target_cpu=0\n"
          "+{}ns cpu0 hrtimer_expire_exit hrtimer=h{}\n",
          ns, k, ns + 500, 100 + k, ns + 1000, k);
    }
    script += fmt::format("+{}us cpu0 local_timer_exit vector=236\n", at + 40);
  }
  EXPECT_EQ(unmet(script + "expect no F01\nexpect judged F01\n"), "") << "seed 7";
}

TEST(TimeGridOf, FindsPeriodAndPhase) {
  std::vector<s64> times;
  for (s64 k = 0; k < 20; ++k) times.push_back(3'000'000 + k * 10'000'000);
  const auto grid = gridOf(times, 50'000, 0.8, 5);
  ASSERT_TRUE(grid.has_value());
  EXPECT_EQ(grid->period, 10'000'000);
  EXPECT_EQ(grid->phase, 3'000'000);
  EXPECT_EQ(grid->on, 20U);
}

TEST(TimeGridOf, TakesTheWidestThatHolds) {
  // Two of three periods are left out at times: 20, 10, 10, 20 ms; the grid is 10 ms.
  const auto grid =
      gridOf({0, 20'000'000, 30'000'000, 40'000'000, 60'000'000, 70'000'000}, 50'000, 0.8, 5);
  ASSERT_TRUE(grid.has_value());
  EXPECT_EQ(grid->period, 10'000'000);
}

TEST(TimeGridOf, FindsNoneInRandomTimes) {
  std::mt19937_64 random(11);
  std::vector<s64> times{0};
  for (int i = 0; i < 60; ++i) {
    times.push_back(times.back() + 1'000'000 + static_cast<s64>(random() % 20'000'000));
  }
  EXPECT_FALSE(gridOf(times, 50'000, 0.8, 5).has_value()) << "seed 11";
  EXPECT_FALSE(gridOf({0, 10'000'000, 20'000'000}, 50'000, 0.8, 5).has_value()) << "too few";
}

}  // namespace
}  // namespace tickscope
