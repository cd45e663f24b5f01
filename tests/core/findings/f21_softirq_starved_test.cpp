// SPDX-License-Identifier: GPL-3.0-or-later
// F21: softirqs that wait for their entry, and a run that its own timer keeps alive.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/trace_script.h"

namespace tickscope {
namespace {

using support::unmet;

/// TIMER raised by a tick's interrupt and entered `us` later, the CPU busy with sh; an interrupt each ms between.
std::string starved(int us, const std::string& entryTask = "sh-7", const std::string& before = "") {
  std::string script =
      "at 1.0\nrepeat 5 every 200ms\n0 cpu0 sched_switch prev=idle next=sh-7:120\n"
      "+1us cpu0 sh-7 local_timer_entry vector=236\n+2us cpu0 sh-7 softirq_raise vec=TIMER\n"
      "+3us cpu0 sh-7 local_timer_exit vector=236\n" +
      before;
  for (int at = 1000; at < us; at += 1000) {
    script += fmt::format(
        "+{}us cpu0 sh-7 irq_handler_entry irq=9\n"
        "+{}us cpu0 sh-7 irq_handler_exit irq=9\n",
        at, at + 2);
  }
  script += fmt::format(
      "+{}us cpu0 {} softirq_entry vec=TIMER\n+{}us cpu0 {} softirq_exit "
      "vec=TIMER\n+{}us cpu0 sh-7 sched_switch prev=sh-7:120 next=idle\nend\n",
      us + 2, entryTask, us + 3, entryTask, us + 5);
  return script;
}

TEST(SoftirqStarved, F21FiresForSoftirqsOffFiftyMilliseconds) {
  EXPECT_EQ(unmet(starved(50'000) + "expect F21 cpu0 count=5 grade=S3\nexpect no S1\n"), "");
}

TEST(SoftirqStarved, F21NearIsSilentBelowATick) {
  EXPECT_EQ(unmet(starved(3'600) + "expect no F21\nexpect judged F21\n"), "");
}

TEST(SoftirqStarved, F21FiresForAThreadBehindAHog) {
  EXPECT_EQ(unmet(starved(50'000, "ksoftirqd/0-12",
                          "+4us cpu0 sh-7 sched_waking task=ksoftirqd/0-12:120 target_cpu=0\n") +
                  "expect F21 cpu0 count=5 grade=S2\n"),
            "");
}

TEST(SoftirqStarved, F21TrapACpuThatDidNotRunIsLeftOut) {
  EXPECT_EQ(unmet("at 1.0\nrepeat 5 every 200ms\n0 cpu0 sched_switch prev=idle next=sh-7:120\n"
                  "+1us cpu0 sh-7 local_timer_entry vector=236\n"
                  "+2us cpu0 sh-7 softirq_raise vec=TIMER\n"
                  "+3us cpu0 sh-7 local_timer_exit vector=236\n"
                  "+50000us cpu0 sh-7 softirq_entry vec=TIMER\n"
                  "+50001us cpu0 sh-7 softirq_exit vec=TIMER\n"
                  "+50002us cpu0 sh-7 sched_switch prev=sh-7:120 next=idle\nend\n"
                  "expect no F21\nexpect judged F21\n"),
            "");
}

/// TIMER is raised in an interrupt inside of its own run of 10 ms and entered again `us` behind the end of that run.
std::string raisedInOwnRun(int us) {
  std::string script =
      "at 1.0\nrepeat 5 every 200ms\n0 cpu0 sched_switch prev=idle next=sh-7:120\n"
      "+1us cpu0 sh-7 local_timer_entry vector=236\n+2us cpu0 sh-7 softirq_raise vec=TIMER\n"
      "+3us cpu0 sh-7 local_timer_exit vector=236\n+4us cpu0 sh-7 softirq_entry vec=TIMER\n"
      "+100us cpu0 sh-7 local_timer_entry vector=236\n+101us cpu0 sh-7 softirq_raise vec=TIMER\n"
      "+102us cpu0 sh-7 local_timer_exit vector=236\n";
  for (int at = 1000; at < 10'000 + us; at += 1000) {
    script += fmt::format(
        "+{}us cpu0 sh-7 irq_handler_entry irq=9\n+{}us cpu0 sh-7 irq_handler_exit irq=9\n", at,
        at + 2);
    if (at == 9000) script += "+10000us cpu0 sh-7 softirq_exit vec=TIMER\n";
    if (at == 9000) ++at;
  }
  return script + fmt::format(
                      "+{}us cpu0 sh-7 softirq_entry vec=TIMER\n+{}us cpu0 sh-7 softirq_exit "
                      "vec=TIMER\n+{}us cpu0 sh-7 sched_switch prev=sh-7:120 next=idle\nend\n",
                      10'000 + us, 10'001 + us, 10'005 + us);
}

TEST(SoftirqStarved, F21TrapARaiseInsideOfItsOwnRunWaitsFromItsEnd) {
  EXPECT_EQ(unmet(raisedInOwnRun(3) + "expect no F21\nexpect judged F21\n"), "");
}

TEST(SoftirqStarved, F21FiresForAWaitBehindItsOwnRun) {
  EXPECT_EQ(unmet(raisedInOwnRun(50'500) + "expect F21 cpu0 count=5 grade=S3\n"), "");
}

/// t1 runs `times` in one run of TIMER; its bucket moves on by a jiffy each time, or not.
std::string loop(int times, bool stock) {
  std::string script =
      "at 1.0\nrepeat 4 every 100ms\n0 cpu0 timer_start timer=t1 expires=j+1\n"
      "+8000us cpu0 softirq_entry vec=TIMER\n";
  for (int i = 0; i < times; ++i) {
    const int at = 8'001 + 10 * i;
    script += fmt::format(
        "+{}us cpu0 timer_cancel timer=t1\n"
        "+{}us cpu0 timer_expire_entry timer=t1 now=j+0 baseclk=j+{}\n"
        "+{}us cpu0 timer_start timer=t1 expires=j+{}\n"
        "+{}us cpu0 timer_expire_exit timer=t1\n",
        at, at + 1, stock ? i : 0, at + 2, stock ? i : 0, at + 3);
  }
  script +=
      fmt::format("+{}us cpu0 timer_cancel timer=t1\n+{}us cpu0 softirq_exit vec=TIMER\nend\n",
                  8'002 + 10 * times, 8'003 + 10 * times);
  return script;
}

TEST(SoftirqStarved, F21FiresForATimerThatKeepsItsRunAlive) {
  EXPECT_EQ(unmet(loop(20, false) + "expect F21 cpu0 count=4 grade=S1\n"), "");
}

TEST(SoftirqStarved, F21NearTwoExpiriesAreNoLoop) {
  EXPECT_EQ(unmet(loop(2, false) + "expect no F21\n"), "");
}

TEST(SoftirqStarved, F21TrapAStockKernelPutsItAJiffyAhead) {
  EXPECT_EQ(unmet(loop(20, true) + "expect no F21\nexpect judged F21\n"), "");
}

}  // namespace
}  // namespace tickscope
