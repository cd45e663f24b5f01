// SPDX-License-Identifier: GPL-3.0-or-later
// F12: callbacks that a real-time task waits for; F16: what moving them would save.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/trace_script.h"

namespace tickscope {
namespace {

using support::unmet;

struct Burst {
  int callbacks = 64;  ///< of normal tasks
  int rtAt = 3;        ///< place of the real-time task's callback, from 1; 0: none
  int rtCpu = 0;       ///< where it sleeps
  int apartUs = 0;     ///< how far the due times lie apart
  int prio = 120;      ///< of the others
  int times = 5;
};

/// An interrupt each 20 ms; a callback each 3 us, of which it runs 2 us.
std::string burst(const Burst& b) {
  std::string script = fmt::format("at 1.0\nrepeat {} every 20ms\n", b.times);
  const int all = b.callbacks + (b.rtAt > 0 ? 1 : 0);
  for (int i = 1; i <= all; ++i) {
    script += fmt::format(
        "+{}ns cpu0 hrtimer_start hrtimer=h{} function=hrtimer_wakeup "
        "expires=+{}ns mode=ABS\n",
        i, i, 10'000'000 - i - (all - i) * b.apartUs * 1000);
  }
  script += "+10000us cpu0 local_timer_entry vector=236\n";
  for (int i = 1; i <= all; ++i) {
    const int at = 10'001 + 3 * (i - 1);
    const bool rt = i == b.rtAt;
    script += fmt::format(
        "+{}us cpu0 hrtimer_expire_entry hrtimer=h{} function=hrtimer_wakeup\n"
        "+{}us cpu0 sched_waking task={}:{} target_cpu={}\n"
        "+{}us cpu0 hrtimer_expire_exit hrtimer=h{}\n",
        at, i, at + 1, rt ? "cyclic-900" : fmt::format("grid-{}", 100 + i), rt ? 9 : b.prio,
        rt ? b.rtCpu : 0, at + 2, i);
  }
  const int end = 10'001 + 3 * all;
  script += fmt::format("+{}us cpu0 local_timer_exit vector=236\n", end);
  script += fmt::format("+{}us cpu0 sched_switch prev=idle next=grid-101:120\n", end + 2);
  script +=
      fmt::format("+{}us cpu0 grid-101 sched_switch prev=grid-101:120 next=idle\nend\n", end + 40);
  return script;
}

TEST(CallbackBurst, F12FiresForARealTimeTaskAmongManyOthers) {
  EXPECT_EQ(unmet(burst({}) + "expect F12 cpu0 count=5 grade=S2\nexpect no S1\n"), "");
}

TEST(CallbackBurst, F12NearSevenCallbacksAreNoBurst) {
  EXPECT_EQ(unmet(burst({.callbacks = 6}) + "expect no F12\nexpect judged F12\n"), "");
}

TEST(CallbackBurst, F12NearOfShortWaitsIsInefficiency) {
  // Seven others behind it, 20 us from its wake-up on.
  Thresholds limits;
  ASSERT_TRUE(limits.set("rt.delay=21us"));
  EXPECT_EQ(support::TraceScript(burst({.callbacks = 7, .rtAt = 1}) +
                                 "expect F12 cpu0 count=5 grade=S3\n")
                .unmet(limits),
            "");
}

TEST(CallbackBurst, F12TrapOnAnotherCpuOnlyWhatRanBeforeCounts) {
  EXPECT_EQ(unmet(burst({.rtCpu = 1}) + "expect F12 cpu0 count=5 grade=S3\n"), "");
  EXPECT_EQ(unmet(burst({.rtAt = 1, .rtCpu = 1}) + "expect no F12\n"), "") << "nothing ran before";
}

TEST(CallbackBurst, F12TrapABacklogIsTheLateInterrupts) {
  EXPECT_EQ(unmet(burst({.apartUs = 100}) + "expect no F12\n"), "");
}

TEST(CallbackBurst, F12ChargesWhatIsNotItsOwn) {
  const Findings findings = support::TraceScript(burst({})).findings();
  const auto found = std::ranges::find(findings.findings, "F12", &Finding::id);
  ASSERT_NE(found, findings.findings.end()) << support::findingLines(findings);
  // Two before it, and 61 + 1 us behind its wake-up that are others': 2 * 3 + (62 * 3 - 1).
  EXPECT_EQ(found->distribution.greatest(), 6'000 + 62 * 3'000 - 1'000);
}

TEST(WhatIfSoftirq, F16FiresWithExactBounds) {
  const Findings findings = support::TraceScript(burst({})).findings();
  const auto found = std::ranges::find(findings.findings, "F16", &Finding::id);
  ASSERT_NE(found, findings.findings.end()) << support::findingLines(findings);
  EXPECT_EQ(found->count, 5U);
  EXPECT_EQ(found->grade, Grade::S4);
  // 64 callbacks of 2 us go, a raise of 1 us comes.
  EXPECT_EQ(found->distribution.greatest(), 64 * 2'000 - 1'000);
  ASSERT_FALSE(found->tables.empty());
  ASSERT_EQ(found->tables.front().rows.size(), 1U);
}

TEST(WhatIfSoftirq, F16TrapRealTimeTasksStay) {
  EXPECT_EQ(unmet(burst({.prio = 50}) + "expect no F16\nexpect judged F16\n"), "");
}

TEST(WhatIfSoftirq, F16NearSevenCallbacksAreNoBurst) {
  EXPECT_EQ(unmet(burst({.callbacks = 6}) + "expect no F16\n"), "");
}

}  // namespace
}  // namespace tickscope
