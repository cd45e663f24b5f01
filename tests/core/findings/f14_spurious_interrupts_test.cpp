// SPDX-License-Identifier: GPL-3.0-or-later
// F14: timer interrupts that expire nothing, that retry, or that give up.
#include <gtest/gtest.h>

#include "tests/support/trace_script.h"

namespace tickscope {
namespace {

using support::unmet;

/// Interrupts with an expiry each, every 10 ms.
std::string useful(int times, const std::string& inside = "call from=hrtimer_interrupt") {
  return "repeat " + std::to_string(times) +
         " every 10ms\n0 cpu0 hrtimer_start hrtimer=t1 function=used_fn expires=+5ms\n"
         "5001us cpu0 local_timer_entry vector=236\n5002us cpu0 hrtimer_expire_entry hrtimer=t1\n"
         "5003us cpu0 hrtimer_expire_exit hrtimer=t1\n5004us cpu0 " +
         inside + "\n5006us cpu0 local_timer_exit vector=236\nend\n";
}

std::string empties(int times, const std::string& every) {
  return "repeat " + std::to_string(times) + " every " + every +
         "\n10us cpu0 local_timer_entry vector=236\n12us cpu0 call from=hrtimer_interrupt\n"
         "13us cpu0 local_timer_exit vector=236\nend\n";
}

const std::string begin = "at 1.000\n";

TEST(SpuriousInterrupts, F14aFiresForAStorm) {
  EXPECT_EQ(unmet(begin + useful(30) + empties(20, "100us") + useful(30) +
                  "expect F14a cpu0 count=20 grade=S2\nexpect no S1\n"),
            "");
}

TEST(SpuriousInterrupts, F14aNearARunOfSevenIsNoStorm) {
  EXPECT_EQ(unmet(begin + useful(30) + empties(7, "100us") + useful(30) +
                  "expect no F14a\nexpect judged F14a\n"),
            "");
  EXPECT_EQ(unmet(begin + useful(30) + empties(8, "100us") + useful(30) + "expect F14a count=8\n"),
            "");
}

TEST(SpuriousInterrupts, F14aFiresForAShareOfAllInterrupts) {
  EXPECT_EQ(unmet(begin + useful(30) + empties(40, "5ms") + "expect F14a count=40 grade=S3\n"), "");
}

TEST(SpuriousInterrupts, F14aNearAFifthOfThemOrFiftyASecond) {
  EXPECT_EQ(unmet(begin + useful(170) + empties(40, "5ms") + "expect no F14a\n"), "") << "19 %";
  EXPECT_EQ(unmet(begin + useful(30) + empties(40, "30ms") + "expect no F14a\n"), "")
      << "27 a second";
}

TEST(SpuriousInterrupts, F14aTrapTimersTakenOutWhenDue) {
  // Another CPU takes the timer out; its interrupt still comes, once. A task that is not idle arms on its own CPU.
  const std::string script =
      begin + useful(10) +
      "repeat 40 every 4ms\n0 cpu0 sh-9 hrtimer_start hrtimer=t2 function=taken_fn expires=+1ms\n"
      "500us cpu1 hrtimer_cancel hrtimer=t2\n1001us cpu0 local_timer_entry vector=236\n"
      "1002us cpu0 call from=hrtimer_interrupt\n1003us cpu0 local_timer_exit vector=236\nend\n";
  EXPECT_EQ(unmet(script + "expect no F14a\nexpect judged F14a\n"), "");
}

TEST(SpuriousInterrupts, F14aTrapInterruptsThatRaiseAreOfUse) {
  const std::string script =
      begin + useful(10) +
      "repeat 40 every 4ms\n0 cpu0 local_timer_entry vector=236\n"
      "1us cpu0 softirq_raise vec=HRTIMER\n2us cpu0 local_timer_exit vector=236\n"
      "3us cpu0 softirq_entry vec=HRTIMER\n4us cpu0 softirq_exit vec=HRTIMER\nend\n";
  EXPECT_EQ(unmet(script + "expect no F14a\n"), "");
}

TEST(SpuriousInterrupts, F14aTrapJustBeforeAnExpiry) {
  const std::string script =
      begin +
      "repeat 40 every 4ms\n0 cpu0 hrtimer_start hrtimer=t1 expires=+1ms\n"
      "990us cpu0 local_timer_entry vector=236\n991us cpu0 call from=hrtimer_interrupt\n"
      "993us cpu0 local_timer_exit vector=236\n1000us cpu0 local_timer_entry vector=236\n"
      "1001us cpu0 hrtimer_expire_entry hrtimer=t1\n1002us cpu0 hrtimer_expire_exit hrtimer=t1\n"
      "1003us cpu0 call from=hrtimer_interrupt\n1004us cpu0 local_timer_exit vector=236\nend\n";
  EXPECT_EQ(unmet(script + "expect no F14a\n"), "");
}

TEST(SpuriousInterrupts, F14aIsNotJudgedInLowResolution) {
  EXPECT_EQ(unmet("kernel hres=no\n" + begin + useful(30) + empties(40, "5ms") +
                  "expect no F14\nexpect not-judged F14\n"),
            "");
}

TEST(SpuriousInterrupts, F14bFiresForAnInterruptThatGivesUp) {
  const std::string four =
      "call from=hrtimer_interrupt\n5004us cpu0 call from=hrtimer_interrupt\n"
      "5005us cpu0 call from=hrtimer_interrupt\n5005us cpu0 call from=hrtimer_interrupt";
  EXPECT_EQ(unmet(begin + useful(30) + useful(3, four) + useful(30) +
                  "expect F14b cpu0 count=3 grade=S2\n"),
            "");
}

TEST(SpuriousInterrupts, F14bIsANoteWhenTheDelayMakesNothingLate) {
  const std::string brief =
      "repeat 3 every 5ms\n0 cpu0 hrtimer_start hrtimer=t1 expires=+5000us\n"
      "5000us cpu0 local_timer_entry vector=236\n5001us cpu0 hrtimer_expire_entry hrtimer=t1\n"
      "5002us cpu0 hrtimer_expire_exit hrtimer=t1\n5003us cpu0 call from=hrtimer_interrupt\n"
      "5004us cpu0 call from=hrtimer_interrupt\n5005us cpu0 call from=hrtimer_interrupt\n"
      "5005us cpu0 call from=hrtimer_interrupt\n5006us cpu0 local_timer_exit vector=236\n"
      "5040us cpu0 local_timer_entry vector=236\n5041us cpu0 call from=hrtimer_interrupt\n"
      "5042us cpu0 local_timer_exit vector=236\nend\n";
  EXPECT_EQ(unmet(begin + useful(30) + brief + useful(30) + "expect F14b cpu0 count=3 grade=S4\n"),
            "");
}

TEST(SpuriousInterrupts, F14bTellsRetriesApart) {
  const std::string two = "call from=hrtimer_interrupt\n5005us cpu0 call from=hrtimer_interrupt";
  EXPECT_EQ(unmet(begin + useful(30) + useful(10, two) + useful(30) +
                  "expect F14b cpu0 count=10 grade=S4\n"),
            "");
  EXPECT_EQ(unmet(begin + useful(30) + useful(20, two) + useful(30) +
                  "expect F14b cpu0 count=20 grade=S3\n"),
            "");
}

}  // namespace
}  // namespace tickscope
