// SPDX-License-Identifier: GPL-3.0-or-later
// F04: CPUs on which hrtimers are due and no interrupt comes.
#include <gtest/gtest.h>

#include "tests/support/trace_script.h"

namespace tickscope {
namespace {

using support::TraceScript;

std::string unmet(const std::string& script) { return TraceScript(script).unmet(); }

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
