// SPDX-License-Identifier: GPL-3.0-or-later
// F03: wheel timers that stay pending past their bucket.
#include <gtest/gtest.h>

#include "tests/support/trace_script.h"

namespace tickscope {
namespace {

using support::unmet;

/// Runs t2, armed for each 20 ms, `times` times behind the anchor.
std::string runs(int times) {
  return "repeat " + std::to_string(times) +
         " every 20ms\n0 cpu0 timer_start timer=t2 expires=j+1\n8ms cpu0 softirq_entry vec=TIMER\n"
         "8001us cpu0 timer_cancel timer=t2\n8001us cpu0 timer_expire_entry timer=t2\n"
         "8002us cpu0 timer_expire_exit timer=t2\n8003us cpu0 softirq_exit vec=TIMER\nend\n";
}

/// The same runs without a timer; t3 of another CPU prints jiffies.
std::string emptyRuns(int times) {
  return "repeat " + std::to_string(times) +
         " every 20ms\n0 cpu1 timer_start timer=t3 expires=j+100 cpu=1\n"
         "1ms cpu1 timer_cancel timer=t3\n8ms cpu0 softirq_entry vec=TIMER\n"
         "8003us cpu0 softirq_exit vec=TIMER\nend\n";
}

const std::string armed =
    "at 1.000\n0 cpu0 sh-72 timer_start timer=t1 expires=j+3 function=lost_fn\nat 1.040\n";
const std::string cancelled =
    "0 cpu0 timer_cancel timer=t1\n0 cpu0 timer_start timer=t9 expires=j+9\n";

TEST(LostWheelTimer, F03aFiresWhenTheBaseRunsALaterBucket) {
  EXPECT_EQ(
      unmet(armed + runs(5) + cancelled + "expect F03a cpu0 count=1 grade=S1\nexpect no F03b\n"),
      "");
}

TEST(LostWheelTimer, F03aFiresForTimersThatAreStillPendingAtTheEnd) {
  EXPECT_EQ(unmet(armed + runs(5) + "expect F03a cpu0 count=1 grade=S1\n"), "");
}

TEST(LostWheelTimer, F03aFiresForEachTimerOfABurstOnce) {
  const std::string more =
      "at 1.000\nrepeat 4 every 40ms\n0 cpu0 timer_start timer=l$i expires=j+1\n"
      "0 cpu0 timer_start timer=t2 expires=j+4\n20ms cpu0 softirq_entry vec=TIMER\n"
      "20001us cpu0 timer_cancel timer=t2\n20001us cpu0 timer_expire_entry timer=t2\n"
      "20002us cpu0 timer_expire_exit timer=t2\n20003us cpu0 softirq_exit vec=TIMER\nend\n";
  EXPECT_EQ(unmet(more + runs(2) + "expect F03a cpu0 count=4 grade=S1\n"), "");
}

TEST(LostWheelTimer, F03NearIsSilentWhenCancelledBeforeTheGraceEnds) {
  // Bucket j+4 of 1.000 is 1.016; a later bucket runs at 1.020, and 1.024 is two jiffies past it.
  const std::string script =
      "at 1.000\n0 cpu0 timer_start timer=t1 expires=j+3\n0 cpu0 timer_start timer=t2 expires=j+4\n"
      "20ms cpu0 softirq_entry vec=TIMER\n20001us cpu0 timer_cancel timer=t2\n"
      "20001us cpu0 timer_expire_entry timer=t2\n20002us cpu0 timer_expire_exit timer=t2\n"
      "20003us cpu0 softirq_exit vec=TIMER\n";
  const std::string stop = " cpu0 timer_cancel timer=t1\nat 1.200\n" + runs(2);
  EXPECT_EQ(unmet(script + "24ms cpu0 timer_start timer=t4 expires=j+900\n25ms" + stop +
                  "expect no F03\nexpect judged F03a\n"),
            "");
  EXPECT_EQ(unmet(script + "28ms cpu0 timer_start timer=t4 expires=j+900\n29ms" + stop +
                  "expect F03a count=1\n"),
            "")
      << "one jiffy later it is";
}

/// Expiries are recorded.
const std::string before = "at 0.900\n" + runs(1);

TEST(LostWheelTimer, F03bFiresWhenSoftirqsThatKnewLaterJiffiesFinish) {
  EXPECT_EQ(unmet(before + armed + emptyRuns(4) + cancelled +
                  "expect F03b cpu0 count=1\nexpect no F03a\n"),
            "");
}

TEST(LostWheelTimer, F03bNearOneSoftirqIsTooFew) {
  EXPECT_EQ(
      unmet(before + armed + emptyRuns(1) + cancelled + "expect no F03\nexpect judged F03b\n"), "");
}

TEST(LostWheelTimer, F03bTrapJiffiesThatNoEventPrintedDoNotCount) {
  const std::string silent =
      "repeat 4 every 20ms\n8ms cpu0 softirq_entry vec=TIMER\n8003us cpu0 softirq_exit vec=TIMER\n"
      "end\n";
  EXPECT_EQ(unmet(before + armed + silent + cancelled + "expect no F03\nexpect judged F03b\n"), "");
}

TEST(LostWheelTimer, F03TrapATimerThatRunsLateIsNotLost) {
  const std::string late =
      "0 cpu0 softirq_entry vec=TIMER\n1us cpu0 timer_cancel timer=t1\n"
      "1us cpu0 timer_expire_entry timer=t1\n2us cpu0 timer_expire_exit timer=t1\n"
      "3us cpu0 softirq_exit vec=TIMER\n";
  EXPECT_EQ(unmet(armed + late + runs(3) + "expect no F03\nexpect judged F03a\n"), "");
}

TEST(LostWheelTimer, F03TrapCancelsOfOtherCpusEndATimer) {
  EXPECT_EQ(unmet(armed + "0 cpu1 timer_cancel timer=t1\n" + runs(5) + "expect no F03\n"), "");
}

TEST(LostWheelTimer, F03TrapWithoutCancelsNothingIsJudged) {
  const std::string script =
      "at 1.000\n0 cpu0 timer_start timer=t1 expires=j+3\nat 1.040\n"
      "repeat 4 every 20ms\n0 cpu0 timer_start timer=t2 expires=j+1\n"
      "8ms cpu0 softirq_entry vec=TIMER\n8001us cpu0 timer_expire_entry timer=t2\n"
      "8002us cpu0 timer_expire_exit timer=t2\n8003us cpu0 softirq_exit vec=TIMER\nend\n";
  EXPECT_EQ(unmet(script + "expect no F03\nexpect not-judged F03\n"), "");
}

TEST(LostWheelTimer, F03TrapAGapOfAnyCpuMayHideTheCancel) {
  const std::string other = "0 cpu1 timer_start timer=t5 expires=j+900 cpu=1\n";
  const std::string again = "1us cpu1 timer_cancel timer=t5\n";
  const std::string begin = "at 0.900\n" + other + armed;
  EXPECT_EQ(unmet(begin + "loss cpu1 3\n" + again + runs(5) + "expect no F03\n"), "");
  EXPECT_EQ(unmet(begin + again + runs(5) + "expect F03a count=1\n"), "") << "without the gap";
}

TEST(LostWheelTimer, F03TrapAnAddressThatIsInitialisedAnewIsNoLoss) {
  EXPECT_EQ(unmet(armed + "0 cpu0 timer_init timer=t1\n" + runs(5) + "expect no F03\n"), "");
}

TEST(LostWheelTimer, F03TrapATimerFromBeforeTheRecordingHasNoBucket) {
  EXPECT_EQ(unmet("at 1.000\n" + runs(5) + "0 cpu0 timer_cancel timer=t1\nexpect no F03\n"), "");
}

/// The CPU sleeps from 1.000 to 1.100 with the tick armed for `tick`; t1 is due at 1.016.
std::string asleep(const std::string& tick, const std::string& flags) {
  const std::string ticking =
      "at 0.900\nrepeat 20 every 4ms\n"
      "0 cpu0 hrtimer_start hrtimer=tick function=tick_sched_timer expires=+4ms "
      "mode=ABS|PINNED|HARD\n+4ms cpu0 [dh] hrtimer_expire_entry hrtimer=tick\n"
      "+4001us cpu0 [dh] hrtimer_expire_exit hrtimer=tick\nend\n";
  const std::string ran =
      "at 0.990\n0 cpu0 timer_start timer=t0 expires=j+1\n8ms cpu0 softirq_entry vec=TIMER\n"
      "8001us cpu0 timer_cancel timer=t0\n8001us cpu0 timer_expire_entry timer=t0\n"
      "8002us cpu0 timer_expire_exit timer=t0\n8003us cpu0 softirq_exit vec=TIMER\n";
  return ticking + ran + "at 1.000\n0 cpu0 timer_start timer=t1 expires=j+3 " + flags +
         "\n1us cpu0 hrtimer_start hrtimer=tick function=tick_sched_timer expires=" + tick +
         " mode=ABS|PINNED|HARD\n2us cpu0 cpu_idle state=1\n"
         "100ms cpu0 cpu_idle state=4294967295\n101ms cpu0 timer_start timer=t7 expires=j+9\n";
}

TEST(LostWheelTimer, F03cFiresOnAnIdleCpuWhoseTickIsArmedForLater) {
  EXPECT_EQ(unmet(asleep("+500ms", "") + "expect F03c cpu0 count=1\n"), "");
}

TEST(LostWheelTimer, F03cNearIsSilentWhenTheTickIsArmedInTime) {
  EXPECT_EQ(unmet(asleep("+16ms", "") + "expect no F03\nexpect judged F03c\n"), "");
}

TEST(LostWheelTimer, F03cTrapDeferrableTimersMaySleepOn) {
  EXPECT_EQ(unmet(asleep("+500ms", "flags=D") + "expect no F03\n"), "");
}

}  // namespace
}  // namespace tickscope
