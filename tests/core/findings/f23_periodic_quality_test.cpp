// SPDX-License-Identifier: GPL-3.0-or-later
// F23: periods that are missed or drift, and slack.
#include <gtest/gtest.h>

#include "tests/support/trace_script.h"

namespace tickscope {
namespace {

using support::TraceScript;

/// A task that sleeps `runs` times: armed at the begin of each turn, run after `timeout`, turns `every` apart.
std::string sleeper(int runs, const std::string& every, const std::string& timeout,
                    const std::string& softly = "", const std::string& prio = "120") {
  return "at 1.000\n0 cpu0 sched_switch prev=idle next=app-50:" + prio + "\nrepeat " +
         std::to_string(runs) + " every " + every +
         "\n1us cpu0 app-50 [d] hrtimer_start hrtimer=t1 expires=+" + timeout +
         (softly.empty() ? "" : " softexpires=+" + softly) +
         " mode=ABS\n4ms cpu0 app-50 local_timer_entry vector=236\n"
         "4001us cpu0 app-50 hrtimer_expire_entry hrtimer=t1\n"
         "4002us cpu0 app-50 hrtimer_expire_exit hrtimer=t1\n"
         "4003us cpu0 app-50 local_timer_exit vector=236\nend\n";
}

TEST(PeriodicQuality, F23aFiresForMissedPeriodsOfAGrid) {
  // 24 steps of 10 ms, one of 60 ms, two of 10 ms.
  const std::string script =
      sleeper(25, "10ms", "3999us") + sleeper(3, "10ms", "3999us").replace(0, 8, "at 1.300");
  EXPECT_EQ(TraceScript(script + "expect F23 cpu0 count=1 grade=S3\n").unmet(), "") << script;
}

TEST(PeriodicQuality, F23aNearAnExactGridMissesNothing) {
  EXPECT_EQ(
      TraceScript(sleeper(40, "10ms", "3999us") + "expect no F23\nexpect judged F23\n").unmet(),
      "");
}

/// Steps of `first` and `second` by turns, armed 3.999 ms before each expiry.
std::string relative(const std::string& first, const std::string& second) {
  std::string script =
      "at 1.000\n0 cpu0 sched_switch prev=idle next=app-50:120\nrepeat 20 every " + second + "\n";
  for (const std::string& begin : {std::string("0"), first}) {
    script += begin + "us cpu0 app-50 [d] hrtimer_start hrtimer=t1 expires=+3999us mode=ABS\n";
    const int at = std::stoi(begin) + 4000;
    const auto line = [&](int later, const std::string& event) {
      script += std::to_string(at + later) + "us cpu0 app-50 " + event + "\n";
    };
    line(0, "local_timer_entry vector=236");
    line(1, "hrtimer_expire_entry hrtimer=t1");
    line(2, "hrtimer_expire_exit hrtimer=t1");
    line(3, "local_timer_exit vector=236");
  }
  return script + "end\n";
}

TEST(PeriodicQuality, F23aFiresForARelativeRearmThatDrifts) {
  // Steps of 4.02 and 4.04 ms for a timeout of 3.999 ms.
  EXPECT_EQ(TraceScript(relative("4020", "8060us") + "expect F23 cpu0 count=39 grade=S4\n").unmet(),
            "")
      << relative("4020", "8060us");
}

TEST(PeriodicQuality, F23aTrapAPauseForWorkIsNoDrift) {
  EXPECT_EQ(TraceScript(relative("5200", "10500us") + "expect no F23\nexpect judged F23\n").unmet(),
            "");
}

TEST(PeriodicQuality, F23aTrapRandomSleepersAreNotPeriodic) {
  EXPECT_EQ(TraceScript(relative("4100", "10500us") + "expect no F23\nexpect judged F23\n").unmet(),
            "");
}

TEST(PeriodicQuality, F23aNearFewerThanTwentyExpiriesAreNoPeriod) {
  EXPECT_EQ(TraceScript(sleeper(15, "10ms", "3999us") +
                        sleeper(3, "10ms", "3999us").replace(0, 8, "at 1.300") + "expect no F23\n")
                .unmet(),
            "");
}

TEST(PeriodicQuality, F23bFiresForSlackOfAThirdOfTheTimeout) {
  EXPECT_EQ(
      TraceScript(sleeper(10, "10ms", "3999us", "2700us") + "expect F23 cpu0 count=10 grade=S4\n")
          .unmet(),
      "");
}

TEST(PeriodicQuality, F23bNearSlackOfATenthIsNone) {
  EXPECT_EQ(TraceScript(sleeper(10, "10ms", "3999us", "3600us") + "expect no F23\n").unmet(), "");
}

TEST(PeriodicQuality, F23bFiresForAnySlackOfARealTimeTask) {
  EXPECT_EQ(TraceScript(sleeper(10, "10ms", "3999us", "3950us", "9") +
                        "expect F23 cpu0 count=10 grade=S3\n")
                .unmet(),
            "");
}

}  // namespace
}  // namespace tickscope
