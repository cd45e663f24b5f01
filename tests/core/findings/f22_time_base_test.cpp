// SPDX-License-Identifier: GPL-3.0-or-later
// F22: clocks that are set, jiffies that stand still, hrtimers before their time.
#include <gtest/gtest.h>

#include "tests/support/trace_script.h"

namespace tickscope {
namespace {

using support::unmet;

/// Expiries of timers of CLOCK_REALTIME, 10 ms apart.
std::string readings(int times) {
  return "repeat " + std::to_string(times) +
         " every 10ms\n0 cpu0 hrtimer_start hrtimer=r1 function=real_fn expires=R+1ms\n"
         "1002us cpu0 local_timer_entry vector=236\n"
         "1003us cpu0 hrtimer_expire_entry hrtimer=r1 now=R\n"
         "1004us cpu0 hrtimer_expire_exit hrtimer=r1\n1005us cpu0 local_timer_exit vector=236\n"
         "end\n";
}

const std::string begin = "realtime 1700000000s\nat 1.000\n";

TEST(TimeBase, F22aFiresForStepsAheadAndBack) {
  EXPECT_EQ(unmet(begin + readings(5) + "realtime 1700003600s\n" + readings(5) +
                  "realtime 1700003595s\n" + readings(5) + "expect F22a count=2 grade=S4\n"),
            "");
}

TEST(TimeBase, F22aNearBelowTheLeastStep) {
  EXPECT_EQ(unmet(begin + readings(5) + "realtime 1700000000.0009s\n" + readings(5) +
                  "expect no F22a\nexpect judged F22a\n"),
            "");
  EXPECT_EQ(unmet(begin + readings(5) + "realtime 1700000000.0012s\n" + readings(5) +
                  "expect F22a count=1\n"),
            "");
}

TEST(TimeBase, F22aTrapASlewIsNoStep) {
  std::string script = begin;
  for (int i = 1; i <= 10; ++i) {
    script += readings(1) + "realtime 1700000000.00" + std::string(i < 10 ? "0" : "") +
              std::to_string(i) + "s\n";
  }
  EXPECT_EQ(unmet(script + readings(2) + "expect no F22a\n"), "") << script;
}

/// Ticks of cpu0, 4 ms apart, each to its end.
std::string ticks(int times) {
  return "repeat " + std::to_string(times) +
         " every 4ms\n0 cpu0 local_timer_entry vector=236\n"
         "1us cpu0 hrtimer_expire_entry hrtimer=tick function=tick_sched_timer\n"
         "2us cpu0 hrtimer_expire_exit hrtimer=tick\n"
         "3us cpu0 hrtimer_start hrtimer=tick expires=+3997us\n"
         "5us cpu0 local_timer_exit vector=236\nend\n";
}

/// An arm that prints jiffies `behind` those of its time.
std::string printed(int behind, const std::string& name) {
  const std::string now = behind == 0 ? "j" : "j-" + std::to_string(behind);
  return "10us cpu0 timer_start timer=" + name + " now=" + now + " expires=j+50\n";
}

/// A wheel timer that runs, which prints jiffies too.
const std::string wheel =
    "at 0.980\n0 cpu0 timer_start timer=w9 expires=j+1\n9ms cpu0 softirq_entry vec=TIMER\n"
    "9ms cpu0 timer_cancel timer=w9\n9ms cpu0 timer_expire_entry timer=w9\n"
    "9ms cpu0 timer_expire_exit timer=w9\n9ms cpu0 softirq_exit vec=TIMER\nat 1.000\n";

TEST(TimeBase, F22bFiresWhenTicksBringNoJiffy) {
  EXPECT_EQ(unmet(wheel + ticks(10) + printed(0, "w1") + ticks(12) + printed(12, "w2") + ticks(3) +
                  printed(0, "w3") + "expect F22b count=1\n"),
            "");
}

TEST(TimeBase, F22bNearSevenTicks) {
  EXPECT_EQ(unmet(wheel + ticks(10) + printed(0, "w1") + ticks(7) + printed(7, "w2") + ticks(3) +
                  printed(0, "w3") + "expect no F22b\nexpect judged F22b\n"),
            "");
}

TEST(TimeBase, F22bTrapWithoutTicksNobodyNeedsJiffies) {
  EXPECT_EQ(unmet(wheel + ticks(10) + printed(0, "w1") + "at 1.500\n" + printed(115, "w2") +
                  ticks(3) + printed(0, "w3") + "expect no F22b\n"),
            "");
}

TEST(TimeBase, F22cFiresForExpiriesBeforeSoftexpires) {
  const std::string script =
      "at 1.000\n0 cpu0 hrtimer_start hrtimer=p1 expires=+1ms\n1us cpu0 hrtimer_cancel hrtimer=p1\n"
      "repeat 5 every 10ms\n0 cpu0 hrtimer_start hrtimer=t1 function=early_fn expires=+5ms\n"
      "4900us cpu0 local_timer_entry vector=236\n4901us cpu0 hrtimer_expire_entry hrtimer=t1\n"
      "4902us cpu0 hrtimer_expire_exit hrtimer=t1\n4903us cpu0 local_timer_exit vector=236\nend\n";
  EXPECT_EQ(unmet(script + "expect F22c cpu0 grade=S1\n"), "");
}

TEST(TimeBase, F22cIsSilentWithinTheSlack) {
  const std::string script =
      "at 1.000\n0 cpu0 hrtimer_start hrtimer=p1 expires=+1ms\n1us cpu0 hrtimer_cancel hrtimer=p1\n"
      "repeat 5 every 10ms\n"
      "0 cpu0 hrtimer_start hrtimer=t1 function=slack_fn expires=+5ms softexpires=+4ms\n"
      "4900us cpu0 local_timer_entry vector=236\n4901us cpu0 hrtimer_expire_entry hrtimer=t1\n"
      "4902us cpu0 hrtimer_expire_exit hrtimer=t1\n4903us cpu0 local_timer_exit vector=236\nend\n";
  EXPECT_EQ(unmet(script + "expect no F22\nexpect judged F22c\n"), "");
}

}  // namespace
}  // namespace tickscope
