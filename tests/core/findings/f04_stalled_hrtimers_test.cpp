// SPDX-License-Identifier: GPL-3.0-or-later
// F04: CPUs on which hrtimers are due and no interrupt comes.
#include <gtest/gtest.h>

#include "tests/support/trace_script.h"

namespace tickscope {
namespace {

using support::unmet;

/// A timer armed 2 ms ahead whose interrupt comes `at` behind the arm. `value`: what the device is told.
std::string served(int times, const std::string& value, int atUs, const std::string& between = "") {
  const auto us = [&](int more) { return std::to_string(atUs + more) + "us cpu0 "; };
  return "repeat " + std::to_string(times) +
         " every 40ms\n0 cpu0 sh-72 hrtimer_start hrtimer=t1 function=stalled_fn expires=+2ms\n" +
         (value.empty() ? "" : "1us cpu0 sh-72 call expires=" + value + "\n") + between + us(0) +
         "local_timer_entry vector=236\n" + us(1) + "hrtimer_expire_entry hrtimer=t1\n" + us(2) +
         "hrtimer_expire_exit hrtimer=t1\n" + us(3) + "call expires=+100ms\n" + us(4) +
         "local_timer_exit vector=236\n" +
         (between.find("cpu_idle") == std::string::npos
              ? ""
              : us(5) + "cpu_idle state=4294967295 cpu_id=0\n") +
         "end\n";
}

const std::string begin =
    "at 0.900\n0 cpu0 hrtimer_start hrtimer=p1 expires=+1ms\n1us cpu0 hrtimer_cancel hrtimer=p1\n"
    "at 1.000\n";
/// Idle from the arm to the interrupt.
const std::string idle = "5us cpu0 cpu_idle state=1 cpu_id=0\n";

TEST(StalledHrtimers, F04aFiresWhenTheDeviceIsProgrammedForLater) {
  EXPECT_EQ(unmet(begin + served(300, "+1999us", 2003, idle) + served(3, "+20ms", 20010, idle) +
                  "expect F04a cpu0 count=3 grade=S1\n"),
            "");
}

TEST(StalledHrtimers, F04NearWaitsBelowAMillisecond) {
  EXPECT_EQ(unmet(begin + served(300, "+1999us", 2003, idle) + served(3, "+2900us", 2950, idle) +
                  "expect no F04\nexpect judged F04a\n"),
            "");
  EXPECT_EQ(unmet(begin + served(300, "+1999us", 2003, idle) + served(3, "+3100us", 3150, idle) +
                  "expect F04a count=3\n"),
            "");
}

TEST(StalledHrtimers, F04bFiresForAnInterruptOfAnEarlierProgramming) {
  const std::string superseded =
      "1us cpu0 sh-72 call expires=+20ms\n2us cpu0 sh-72 call "
      "expires=+1998us\n";
  EXPECT_EQ(unmet(begin + served(300, "+1999us", 2003, idle) +
                  served(4, "", 20010, superseded + idle) + "expect F04b cpu0 count=4 grade=S1\n"),
            "");
}

TEST(StalledHrtimers, F04cFiresForEqualStallsOfAnIdleCpu) {
  EXPECT_EQ(unmet(begin + served(300, "+1999us", 2003, idle) + served(5, "+1999us", 22003, idle) +
                  "expect F04c cpu0 count=5 grade=S2\nexpect no S1\n"),
            "");
}

TEST(StalledHrtimers, F04TrapStolenTimeIsNotEquallyLate) {
  std::string script = begin + served(300, "+1999us", 2003, idle);
  for (const int late : {13700, 14300, 15000, 15800, 16400, 17000}) {
    script += served(1, "+1999us", late, idle);
  }
  EXPECT_EQ(unmet(script + "expect no F04\n"), "");
}

TEST(StalledHrtimers, F04TrapTwoEqualStallsOfThreeAreChance) {
  std::string script = begin + served(300, "+1999us", 2003, idle);
  for (const int late : {4133, 5213, 4133}) script += served(1, "+1999us", late, idle);
  EXPECT_EQ(unmet(script + "expect no F04\nexpect judged F04c\n"), "");
  EXPECT_EQ(unmet(script + served(1, "+1999us", 4133, idle) + "expect F04c count=4\n"), "");
}

TEST(StalledHrtimers, F04TrapAnInterruptThatStandsStillTellsOfStolenTime) {
  // K4: equally late on the grid of the host, and then 3 ms without a row inside the interrupt.
  const auto stalls = [](const std::string& exit) {
    return "repeat 5 every 40ms\n0 cpu0 sh-72 hrtimer_start hrtimer=t1 function=stalled_fn "
           "expires=+2ms\n1us cpu0 sh-72 call expires=+1999us\n5us cpu0 cpu_idle state=1 "
           "cpu_id=0\n22003us cpu0 local_timer_entry vector=236\n22004us cpu0 "
           "hrtimer_expire_entry hrtimer=t1\n22005us cpu0 hrtimer_expire_exit hrtimer=t1\n22006us "
           "cpu0 call expires=+100ms\n" +
           exit + "us cpu0 local_timer_exit vector=236\n26ms cpu0 cpu_idle state=4294967295 " +
           "cpu_id=0\nend\n";
  };
  const std::string usual = begin + served(300, "+1999us", 2003, idle);
  EXPECT_EQ(unmet(usual + stalls("22007") + "expect F04c cpu0 count=5\n"), "");
  EXPECT_EQ(unmet(usual + stalls("25007") + "expect no F04\nexpect judged F04c\n"), "");
}

/// Rows of a task that hold a lock in their own moment, each 2 ms until the interrupt at 22 ms.
std::string locked(const std::string& between = "") {
  std::string rows;
  for (int ms = 4; ms <= 20; ms += 2) {
    if (ms == 12) rows += between;
    rows += std::to_string(ms) + "ms cpu0 sh-72 [d] timer_init timer=w7\n";
  }
  return rows;
}

TEST(StalledHrtimers, F04cFiresOnABusyCpuWhoseInterruptsWereOnMeanwhile) {
  const std::string on = "11ms cpu0 sh-72 timer_init timer=w8\n";
  EXPECT_EQ(unmet(begin + served(300, "+1999us", 2003) + served(5, "+1999us", 22003, locked(on)) +
                  "expect F04c cpu0 count=5 grade=S2\n"),
            "");
}

TEST(StalledHrtimers, F04TrapABusyCpuMayHaveHadInterruptsOff) {
  // K1: no row says that interrupts were on, or only one that comes before the timer is late.
  const std::string usual = begin + served(300, "+1999us", 2003);
  EXPECT_EQ(unmet(usual + served(5, "+1999us", 22003, locked()) + "expect no F04\n"), "");
  const std::string early = "2100us cpu0 sh-72 timer_init timer=w8\n";
  EXPECT_EQ(unmet(usual + served(5, "+1999us", 22003, early + locked()) + "expect no F04\n"), "");
}

TEST(StalledHrtimers, F04cTakesWhatIsAsLateAsOnTheIdleCpuAndNoOther) {
  const std::string proven =
      begin + served(300, "+1999us", 2003, idle) + served(5, "+1999us", 22003, idle);
  EXPECT_EQ(unmet(proven + served(2, "+1999us", 22003, locked()) + "expect F04c count=7\n"), "");
  EXPECT_EQ(unmet(proven + served(2, "+1999us", 23003, locked()) + "expect F04c count=5\n"), "");
}

/// As served() on an idle CPU for a timer of a soft base; `raised`: rows that activate HRTIMER_SOFTIRQ before.
std::string servedSoft(int times, int atUs, const std::string& raised = "") {
  const auto us = [&](int more) { return std::to_string(atUs + more) + "us cpu0 "; };
  return "repeat " + std::to_string(times) +
         " every 40ms\n0 cpu0 sh-72 hrtimer_start hrtimer=s1 function=soft_fn expires=+2ms "
         "mode=ABS|SOFT\n1us cpu0 sh-72 call expires=+1999us\n5us cpu0 cpu_idle state=1 "
         "cpu_id=0\n" +
         raised + us(0) + "local_timer_entry vector=236\n" +
         (raised.empty() ? us(1) + "softirq_raise vec=HRTIMER\n" : "") + us(2) +
         "call expires=+100ms\n" + us(3) + "local_timer_exit vector=236\n" + us(4) +
         "softirq_entry vec=HRTIMER\n" + us(5) + "hrtimer_expire_entry hrtimer=s1\n" + us(6) +
         "hrtimer_expire_exit hrtimer=s1\n" + us(7) + "softirq_exit vec=HRTIMER\n" + us(8) +
         "cpu_idle state=4294967295 cpu_id=0\nend\n";
}

TEST(StalledHrtimers, F04cCountsSoftTimersWhileTheirSoftirqIsNotActivated) {
  const std::string usual = begin + served(300, "+1999us", 2003, idle) + servedSoft(20, 2003);
  EXPECT_EQ(unmet(usual + servedSoft(5, 22003) + "expect F04c cpu0 count=5 grade=S2\n"), "");
  const std::string before = "6us cpu0 [d] softirq_raise vec=HRTIMER\n";
  EXPECT_EQ(unmet(usual + servedSoft(5, 22003, before) + "expect no F04\nexpect judged F04c\n"),
            "");
  // Due inside an interrupt that raises it for this very timer.
  const std::string inside =
      "1998us cpu0 local_timer_entry vector=236\n2005us cpu0 softirq_raise vec=HRTIMER\n2007us "
      "cpu0 local_timer_exit vector=236\n";
  EXPECT_EQ(unmet(usual + servedSoft(5, 22003, inside) + "expect no F04\nexpect judged F04c\n"),
            "");
}

/// The same script with calls that show no value.
std::string withoutValues(std::string script) {
  for (auto at = script.find("call expires="); at != std::string::npos;
       at = script.find("call expires=", at)) {
    script.replace(at, script.find('\n', at) - at, "call from=hrtimer_reprogram");
  }
  return script;
}

TEST(StalledHrtimers, F04cNeedsNoValueOfTheCallButTheCall) {
  EXPECT_EQ(unmet(withoutValues(begin + served(300, "+1999us", 2003, idle) +
                                served(5, "+1999us", 22003, idle) +
                                "expect F04c cpu0 count=5 grade=S2\n")),
            "");
  EXPECT_EQ(unmet(withoutValues(begin + served(300, "+1999us", 2003, idle) +
                                served(5, "", 22003, idle) + "expect no F04c\n")),
            "");
}

TEST(StalledHrtimers, F04TrapInterruptsOff) {
  // K1: the row before the late interrupt says that interrupts were off.
  const std::string off = "1990us cpu0 sh-72 [d] timer_init timer=w7\n";
  EXPECT_EQ(unmet(begin + served(300, "+1999us", 2003) + served(5, "+20ms", 9000, off) +
                  "expect no F04\n"),
            "");
}

TEST(StalledHrtimers, F04TrapASilentCpuMayNotHaveRun) {
  // K4: not idle, and no row for 30 ms.
  EXPECT_EQ(
      unmet(begin + served(300, "+1999us", 2003) + served(5, "+20ms", 32000) + "expect no F04\n"),
      "");
}

TEST(StalledHrtimers, F04IsNotJudgedWithoutCancels) {
  EXPECT_EQ(
      unmet("at 1.000\n" + served(30, "+1999us", 2003) + "expect no F04\nexpect not-judged F04\n"),
      "");
}

TEST(StalledHrtimers, F04IsNotJudgedInLowResolution) {
  EXPECT_EQ(unmet("kernel hres=no\n" + begin + served(30, "", 20000, idle) +
                  "expect no F04\nexpect not-judged F04\n"),
            "");
}

}  // namespace
}  // namespace tickscope
