// SPDX-License-Identifier: GPL-3.0-or-later
// F05: soft hrtimers that are due while interrupts raise nothing.
#include <gtest/gtest.h>

#include "tests/support/trace_script.h"

namespace tickscope {
namespace {

using support::unmet;

/// A soft timer due at 1.010 and one of each event before it.
const std::string armed =
    "at 0.900\n0 cpu0 hrtimer_start hrtimer=p1 expires=+1ms\n1us cpu0 hrtimer_cancel hrtimer=p1\n"
    "at 1.000\n0 cpu0 sh-72 hrtimer_start hrtimer=s1 function=soft_fn expires=+10ms "
    "mode=ABS|SOFT\nat 1.010\n";

/// Timer interrupts that expire and raise nothing.
std::string empties(int times, const std::string& every = "100us") {
  return "repeat " + std::to_string(times) + " every " + every +
         "\n10us cpu0 local_timer_entry vector=236\n12us cpu0 call from=hrtimer_interrupt\n"
         "13us cpu0 local_timer_exit vector=236\nend\n";
}

/// The interrupt that raises HRTIMER, and its run.
const std::string served =
    "50us cpu0 local_timer_entry vector=236\n51us cpu0 softirq_raise vec=HRTIMER\n"
    "52us cpu0 call from=hrtimer_interrupt\n53us cpu0 local_timer_exit vector=236\n"
    "54us cpu0 softirq_entry vec=HRTIMER\n55us cpu0 hrtimer_expire_entry hrtimer=s1\n"
    "57us cpu0 hrtimer_expire_exit hrtimer=s1\n58us cpu0 softirq_exit vec=HRTIMER\n";

TEST(StaleSoftExpiry, F05aFiresForAStormBehindTheDueTime) {
  EXPECT_EQ(unmet(armed + empties(20) + served + "expect F05a cpu0 count=1\nexpect no F05b\n"), "");
}

TEST(StaleSoftExpiry, F05NearARunOfSevenIsNoStorm) {
  EXPECT_EQ(unmet(armed + empties(7, "30us") + served + "expect no F05\nexpect judged F05a\n"), "");
  EXPECT_EQ(unmet(armed + empties(8, "30us") + served + "expect F05a count=1\n"), "");
}

TEST(StaleSoftExpiry, F05NearGapsOfHalfATickEndAStorm) {
  EXPECT_EQ(unmet(armed + empties(10, "2100us") + served + "expect no F05a\n"), "");
  EXPECT_EQ(unmet(armed + empties(10, "1900us") + served + "expect F05a count=1\n"), "");
}

TEST(StaleSoftExpiry, F05bFiresForASoftTimerThatInterruptsPassBy) {
  EXPECT_EQ(
      unmet(armed + empties(3, "300us") + served + "expect F05b cpu0 count=1\nexpect no F05a\n"),
      "");
}

TEST(StaleSoftExpiry, F05NearLateBelowItsLimit) {
  EXPECT_EQ(unmet(armed + empties(3, "140us") + served + "expect no F05\n"), "");
}

TEST(StaleSoftExpiry, F05IsSilentWhenTheFirstInterruptRaises) {
  EXPECT_EQ(unmet(armed + served + "expect no F05\nexpect judged F05a\n"), "");
}

TEST(StaleSoftExpiry, F05TrapNoInterruptBehindTheDueTimeIsNotStale) {
  EXPECT_EQ(unmet(armed + "at 1.030\n" + served + "expect no F05\n"), "");
}

TEST(StaleSoftExpiry, F05TrapActivatedSoftirqHoldsBackTheRaise) {
  // K9: raised before the due time for another timer; the thread starves.
  const std::string script =
      "at 0.900\n0 cpu0 hrtimer_start hrtimer=p1 expires=+1ms\n1us cpu0 hrtimer_cancel hrtimer=p1\n"
      "at 1.000\n0 cpu0 sh-72 hrtimer_start hrtimer=s1 function=soft_fn expires=+10ms "
      "mode=ABS|SOFT\n1us cpu0 sh-72 hrtimer_start hrtimer=s2 function=other_fn expires=+8999us "
      "mode=ABS|SOFT\nat 1.009\n5us cpu0 local_timer_entry vector=236\n"
      "6us cpu0 softirq_raise vec=HRTIMER\n7us cpu0 local_timer_exit vector=236\nat 1.010\n" +
      empties(20) +
      "0 cpu0 softirq_entry vec=HRTIMER\n1us cpu0 hrtimer_expire_entry hrtimer=s2\n"
      "2us cpu0 hrtimer_expire_exit hrtimer=s2\n3us cpu0 hrtimer_expire_entry hrtimer=s1\n"
      "4us cpu0 hrtimer_expire_exit hrtimer=s1\n5us cpu0 softirq_exit vec=HRTIMER\n";
  EXPECT_EQ(unmet(script + "expect no F05\n"), "");
}

TEST(StaleSoftExpiry, F05TrapAClockThatIsSetMovesTheDueTime) {
  // Hard timers expire, nothing is empty; the clock is set 5 ms ahead shortly before the raise.
  const std::string hard =
      "repeat 9 every 100us\n0 cpu0 hrtimer_start hrtimer=h1 expires=+10us\n"
      "11us cpu0 local_timer_entry vector=236\n12us cpu0 hrtimer_expire_entry hrtimer=h1\n"
      "13us cpu0 hrtimer_expire_exit hrtimer=h1\n14us cpu0 local_timer_exit vector=236\nend\n";
  const std::string script =
      "realtime 1700000000s\nat 0.900\n0 cpu0 hrtimer_start hrtimer=p1 expires=+1ms\n"
      "1us cpu0 hrtimer_cancel hrtimer=p1\nat 1.000\n"
      "0 cpu0 sh-72 hrtimer_start hrtimer=s1 function=soft_fn expires=R+10ms mode=ABS|SOFT\n"
      "at 1.006\n" +
      hard +
      "realtime 1700000000.005s\n50us cpu0 local_timer_entry vector=236\n"
      "51us cpu0 softirq_raise vec=HRTIMER\n53us cpu0 local_timer_exit vector=236\n"
      "54us cpu0 softirq_entry vec=HRTIMER\n55us cpu0 hrtimer_expire_entry hrtimer=s1 now=R\n"
      "57us cpu0 hrtimer_expire_exit hrtimer=s1\n58us cpu0 softirq_exit vec=HRTIMER\n";
  EXPECT_EQ(unmet(script + "expect no F05\n"), "");
}

}  // namespace
}  // namespace tickscope
