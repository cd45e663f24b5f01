// SPDX-License-Identifier: GPL-3.0-or-later
// F02: TIMER softirqs raised on ticks with nothing to expire.
#include <gtest/gtest.h>

#include "tests/support/trace_script.h"

namespace tickscope {
namespace {

using support::unmet;

/// A wheel timer that runs, and the tick armed.
const std::string begun =
    "at 0.900\n0 cpu0 timer_start timer=t0 expires=j+1\n"
    "8ms cpu0 softirq_raise vec=TIMER\n8ms cpu0 softirq_entry vec=TIMER\n"
    "8001us cpu0 timer_cancel timer=t0\n8001us cpu0 timer_expire_entry timer=t0\n"
    "8002us cpu0 timer_expire_exit timer=t0\n8003us cpu0 softirq_exit vec=TIMER\n"
    "99ms cpu0 hrtimer_start hrtimer=tick function=tick_sched_timer expires=+1ms "
    "mode=ABS|PINNED|HARD\nat 1.000\n";

/// `times` ticks; `before` are lines of each before it, `inside` what its softirq does; "-": it raises none.
std::string ticks(int times, const std::string& inside = "", const std::string& before = "") {
  std::string text = "repeat " + std::to_string(times) + " every 4ms\n" + before +
                     "0 cpu0 [dh] hrtimer_expire_entry hrtimer=tick\n";
  if (inside != "-") text += "1us cpu0 [dh] softirq_raise vec=TIMER\n";
  text +=
      "2us cpu0 [dh] hrtimer_expire_exit hrtimer=tick\n"
      "3us cpu0 [dh] hrtimer_start hrtimer=tick function=tick_sched_timer expires=+3997us "
      "mode=ABS|PINNED|HARD\n";
  if (inside != "-") {
    text +=
        "5us cpu0 [s] softirq_entry vec=TIMER\n" + inside + "9us cpu0 [s] softirq_exit vec=TIMER\n";
  }
  return text + "end\n";
}

TEST(EmptySoftirq, F02FiresWhenEachTickRaisesForNothing) {
  EXPECT_EQ(unmet(begun + ticks(40) + "expect F02 cpu0 count=40 grade=S2\n"), "");
}

TEST(EmptySoftirq, F02NearIsSilentForFewerTicksInARow) {
  EXPECT_EQ(unmet(begun + ticks(19) + ticks(1, "-") + "expect F02 count=19\n"), "");
  EXPECT_EQ(
      unmet(begun + ticks(9) + ticks(200, "-") + ticks(9) + "expect no F02\nexpect judged F02\n"),
      "");
}

TEST(EmptySoftirq, F02NearIsSilentBelowHalfOfTheTicks) {
  const std::string third = ticks(1) + ticks(2, "-");
  std::string script = begun;
  for (int i = 0; i < 20; ++i) script += third;
  EXPECT_EQ(unmet(script + "expect no F02\nexpect judged F02\n"), "");
}

TEST(EmptySoftirq, F02TrapATimerRemovedBeforeItsRunExplainsOne) {
  const std::string removed =
      "-3ms cpu0 timer_start timer=r$i expires=j+0\n-1ms cpu1 timer_cancel timer=r$i\n";
  EXPECT_EQ(unmet(begun + ticks(40, "", removed) + "expect no F02\nexpect judged F02\n"), "");
}

TEST(EmptySoftirq, F02TrapARemovedTimerOfTheFutureExplainsNone) {
  const std::string removed =
      "-3ms cpu0 timer_start timer=r$i expires=j+5000\n-1ms cpu1 timer_cancel timer=r$i\n";
  EXPECT_EQ(unmet(begun + ticks(40, "", removed) + "expect F02 cpu0 count=40\n"), "");
}

TEST(EmptySoftirq, F02TrapTimersThatRunAreNoEmptyRuns) {
  const std::string inside =
      "6us cpu0 [s] timer_cancel timer=w$i\n7us cpu0 [s] timer_expire_entry timer=w$i\n"
      "8us cpu0 [s] timer_expire_exit timer=w$i\n";
  EXPECT_EQ(unmet(begun + ticks(40, inside, "-5ms cpu0 timer_start timer=w$i expires=j+0\n") +
                  "expect no F02\nexpect judged F02\n"),
            "");
}

TEST(EmptySoftirq, F02TrapARunWithoutARaiseOfItsOwnIsNoRaise) {
  std::string script = begun;
  const std::string inside =
      "6us cpu0 [s] timer_cancel timer=w$i\n7us cpu0 [s] timer_expire_entry timer=w$i\n"
      "8us cpu0 [s] timer_expire_exit timer=w$i\n9us cpu0 [s] softirq_exit vec=TIMER\n"
      "10us cpu0 [s] softirq_entry vec=TIMER\n";
  std::string text = ticks(40, inside, "-5ms cpu0 timer_start timer=w$i expires=j+0\n");
  text.replace(text.rfind("9us"), 3, "11us");
  EXPECT_EQ(unmet(script + text + "expect no F02\nexpect judged F02\n"), "");
}

TEST(EmptySoftirq, F02TrapTheHierarchyAsksForRunsOf69) {
  const std::string rule = "kernel raise=SR3 bases=LOCAL/GLOBAL/DEF\n";
  EXPECT_EQ(unmet(rule + begun + ticks(30) + "expect no F02\nexpect judged F02\n"), "");
  EXPECT_EQ(unmet(rule + begun + ticks(80) + "expect F02 cpu0 count=80\n"), "")
      << "but not on each of many ticks";
  const std::string seen = "6us cpu0 [s] tmigr_handle_remote group=1 lvl=0\n";
  EXPECT_EQ(unmet(rule + begun + ticks(80, seen) + "expect no F02\n"), "");
}

TEST(EmptySoftirq, F02TrapOlderKernelsRaiseOnEachTickByDesign) {
  EXPECT_EQ(unmet("kernel raise=SR1 next=NX0 fwd=F1\n" + begun + ticks(40) +
                  "expect F02 cpu0 count=40 grade=S4\n"),
            "");
}

TEST(EmptySoftirq, F02TrapWithoutCancelsNothingIsJudged) {
  const std::string script =
      "at 0.900\n0 cpu0 timer_start timer=t0 expires=j+1\n8ms cpu0 softirq_entry vec=TIMER\n"
      "8001us cpu0 timer_expire_entry timer=t0\n8002us cpu0 timer_expire_exit timer=t0\n"
      "8003us cpu0 softirq_exit vec=TIMER\nat 1.000\n";
  EXPECT_EQ(unmet(script + ticks(40) + "expect no F02\nexpect not-judged F02\n"), "");
}

TEST(EmptySoftirq, F02TrapAGapExplainsOneRun) {
  // The run that touches the gap is left out, the one behind it may follow a timer that was removed in it.
  EXPECT_EQ(unmet(begun + ticks(40) + "loss cpu0 3\n" + ticks(1) + "expect F02 cpu0 count=39\n"),
            "");
}

TEST(EmptySoftirq, F02GradesAThreadThatIsWokenByRuleAsACost) {
  std::string script = begun + ticks(40);
  for (std::size_t at = 0; (at = script.find("[s] softirq_", at)) != std::string::npos;) {
    const std::string task = "ksoftirqd/0-12 ";
    script.insert(at, task);
    at += task.size() + 1;
  }
  EXPECT_EQ(
      unmet("kernel raise=SR1 next=NX0 fwd=F1\n" + script + "expect F02 cpu0 count=40 grade=S3\n"),
      "");
}

}  // namespace
}  // namespace tickscope
