// SPDX-License-Identifier: GPL-3.0-or-later
// F11: callbacks that run too long, and what makes them only look so.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/trace_script.h"

namespace tickscope {
namespace {

using support::unmet;

/// `times` expiries of h1 in hard interrupt that run `us`; `inside` are events between.
std::string hard(int us, int times = 5, const std::string& inside = "") {
  return fmt::format(
      "at 1.0\nrepeat {} every 50ms\n"
      "0 cpu0 hrtimer_start hrtimer=h1 function=slow expires=+1ms mode=ABS\n"
      "+1000us cpu0 local_timer_entry vector=236\n"
      "+1001us cpu0 hrtimer_expire_entry hrtimer=h1 function=slow\n{}"
      "+{}us cpu0 hrtimer_expire_exit hrtimer=h1\n+{}us cpu0 local_timer_exit vector=236\nend\n",
      times, inside, 1001 + us, 1002 + us);
}

/// A run of t1 in the softirq that lasts `us`, begun 8 ms behind the arm.
std::string wheel(int us, const std::string& inside = "", int times = 5) {
  return fmt::format(
      "at 1.0\nrepeat {} every 100ms\n0 cpu0 timer_start timer=t1 expires=j+1\n"
      "+8000us cpu0 softirq_entry vec=TIMER\n+8001us cpu0 timer_cancel timer=t1\n"
      "+8002us cpu0 timer_expire_entry timer=t1\n{}"
      "+{}us cpu0 timer_expire_exit timer=t1\n+{}us cpu0 softirq_exit vec=TIMER\nend\n",
      times, inside, 8002 + us, 8003 + us);
}

TEST(LongCallback, F11FiresForASpinInHardInterrupt) {
  EXPECT_EQ(unmet(hard(2000) + "expect F11 cpu0 count=5 grade=S3\nexpect no S1\n"), "");
}

TEST(LongCallback, F11NearIsSilentBelowTheLimit) {
  EXPECT_EQ(unmet(hard(90) + "expect no F11\nexpect judged F11\n"), "");
}

TEST(LongCallback, F11FiresForTheWheelFromTwoMilliseconds) {
  EXPECT_EQ(unmet(wheel(2100) + "expect F11 cpu0 count=5 grade=S3\n"), "");
  EXPECT_EQ(unmet(wheel(1900) + "expect no F11\n"), "");
}

TEST(LongCallback, F11TrapInterruptsInsideAreNotItsOwn) {
  const std::string interrupt =
      "+8100us cpu0 irq_handler_entry irq=9\n+9700us cpu0 irq_handler_exit irq=9\n";
  EXPECT_EQ(unmet(wheel(3000, interrupt) + "expect no F11\nexpect judged F11\n"), "");
  EXPECT_EQ(unmet(wheel(4000, interrupt) + "expect F11 cpu0 count=5\n"), "");
}

TEST(LongCallback, F11TrapSilenceOfACpuThatWasAwayIsLeftOut) {
  // One run of ten with a hole of 12 ms, three ticks; the other nine are short.
  EXPECT_EQ(unmet(hard(20, 9) + "at 3.0\n" + hard(12'000, 1).substr(7) +
                  "expect no F11\nexpect judged F11\n"),
            "");
}

TEST(LongCallback, F11FiresForASilenceThatIsTheCallbacksHabit) {
  EXPECT_EQ(unmet(hard(12'000) + "expect F11 cpu0 count=5\n"), "");
}

TEST(LongCallback, F11TrapAMissingExitMakesNoRun) {
  EXPECT_EQ(unmet("at 1.0\nrepeat 5 every 50ms\n"
                  "0 cpu0 hrtimer_start hrtimer=h1 function=slow expires=+1ms mode=ABS\n"
                  "+1000us cpu0 local_timer_entry vector=236\n"
                  "+1001us cpu0 hrtimer_expire_entry hrtimer=h1 function=slow\n"
                  "+3002us cpu0 local_timer_exit vector=236\nend\nexpect no F11\n"),
            "");
}

TEST(LongCallback, F11TrapALossInsideMakesNoRun) {
  EXPECT_EQ(unmet("at 1.0\n"
                  "0 cpu0 hrtimer_start hrtimer=h1 function=slow expires=+1ms mode=ABS\n"
                  "+1000us cpu0 local_timer_entry vector=236\n"
                  "+1001us cpu0 hrtimer_expire_entry hrtimer=h1 function=slow\nloss cpu0 5\n"
                  "+3001us cpu0 hrtimer_expire_exit hrtimer=h1\n"
                  "+3002us cpu0 local_timer_exit vector=236\nexpect no F11\n"),
            "");
}

TEST(LongCallback, F11SaysHarmWhereAnotherTimerHadToWait) {
  // h2 is due in the middle of h1's run and follows it in the same interrupt.
  EXPECT_EQ(unmet("at 1.0\nrepeat 5 every 50ms\n"
                  "0 cpu0 hrtimer_start hrtimer=h1 function=slow expires=+1ms mode=ABS\n"
                  "+1us cpu0 hrtimer_start hrtimer=h2 function=quick expires=+1200us mode=ABS\n"
                  "+1000us cpu0 local_timer_entry vector=236\n"
                  "+1001us cpu0 hrtimer_expire_entry hrtimer=h1 function=slow\n"
                  "+3001us cpu0 hrtimer_expire_exit hrtimer=h1\n"
                  "+3002us cpu0 hrtimer_expire_entry hrtimer=h2 function=quick\n"
                  "+3003us cpu0 hrtimer_expire_exit hrtimer=h2\n"
                  "+3004us cpu0 local_timer_exit vector=236\nend\n"
                  "expect F11 cpu0 count=5 grade=S2\n"),
            "");
}

}  // namespace
}  // namespace tickscope
