// SPDX-License-Identifier: GPL-3.0-or-later
// F06: restarts that program the clock event device twice.
#include <gtest/gtest.h>

#include "tests/support/trace_script.h"

namespace tickscope {
namespace {

using support::TraceScript;

/// One of each event that says what is armed, before the anchor of the script.
const std::string recorded =
    "at 0.900\n0 cpu0 hrtimer_start hrtimer=p1 expires=+1ms\n1us cpu0 hrtimer_cancel hrtimer=p1\n"
    "2us cpu0 hrtimer_start hrtimer=p1 expires=+1ms\n"
    "1010us cpu0 local_timer_entry vector=236\n1011us cpu0 hrtimer_expire_entry hrtimer=p1\n"
    "1012us cpu0 hrtimer_expire_exit hrtimer=p1\n1012us cpu0 call from=hrtimer_interrupt\n1013us "
    "cpu0 local_timer_exit vector=236\n";

std::string unmet(const std::string& script) { return TraceScript(recorded + script).unmet(); }

/// A tick at 1.000, after which the next is due at 1.100: what is restarted behind it is first.
const std::string tick =
    "at 1.000\n0 cpu0 local_timer_entry vector=236\n"
    "1us cpu0 hrtimer_expire_entry hrtimer=tick function=tick_sched_timer\n"
    "2us cpu0 hrtimer_expire_exit hrtimer=tick\n3us cpu0 hrtimer_start hrtimer=tick "
    "expires=+100ms\n"
    "4us cpu0 call from=hrtimer_interrupt\n5us cpu0 local_timer_exit vector=236\nat 1.001\n"
    "0 cpu0 sh-72 hrtimer_start hrtimer=t1 function=demo_fn expires=+300us\n"
    "1us cpu0 sh-72 call from=hrtimer_reprogram\nat 1.0011\n";

/// Restarts while first: with two calls, or with one as since 5.15.
std::string restarts(int times, bool twice) {
  const std::string before = "0 cpu0 sh-72 call from=hrtimer_force_reprogram\n";
  const std::string start =
      "2us cpu0 sh-72 hrtimer_start hrtimer=t1 function=demo_fn expires=+300us was_armed=1\n";
  return "repeat " + std::to_string(times) + " every 100us\n" + (twice ? before : "") + start +
         (twice ? "4us cpu0 sh-72 call from=hrtimer_reprogram\n"
                : "4us cpu0 sh-72 call from=hrtimer_force_reprogram\n") +
         "end\n";
}

TEST(DoubleReprogram, F06FiresForRestartsWithTwoCalls) {
  EXPECT_EQ(unmet(tick + restarts(30, true) + "expect F06 cpu0 count=30 grade=S2\nexpect no S1\n"),
            "");
}

TEST(DoubleReprogram, F06FiresForKernelsThatDoSoByDesignToo) {
  EXPECT_EQ(unmet("kernel hrule=R1\n" + tick + restarts(30, true) + "expect F06 cpu0 count=30\n"),
            "");
}

TEST(DoubleReprogram, F06IsSilentForOneCallARestart) {
  EXPECT_EQ(unmet(tick + restarts(30, false) + "expect no F06\nexpect judged F06\n"), "");
}

TEST(DoubleReprogram, F06NearStaysUnderItsShareOfRestarts) {
  EXPECT_EQ(unmet(tick + restarts(97, false) + restarts(4, true) + "expect no F06\n"), "");
  EXPECT_EQ(unmet(tick + restarts(95, false) + restarts(6, true) + "expect F06 count=6\n"), "");
}

TEST(DoubleReprogram, F06NearNeedsEnoughRestarts) {
  EXPECT_EQ(unmet(tick + restarts(19, true) + "expect no F06\n"), "");
  EXPECT_EQ(unmet(tick + restarts(20, true) + "expect F06 count=20\n"), "");
}

TEST(DoubleReprogram, F06TrapCancelAndStartByTheUserIsNoRestart) {
  const std::string script =
      tick +
      "repeat 30 every 100us\n0 cpu0 sh-72 call from=hrtimer_force_reprogram\n"
      "1us cpu0 sh-72 hrtimer_cancel hrtimer=t1\n"
      "60us cpu0 sh-72 hrtimer_start hrtimer=t1 function=demo_fn expires=+300us was_armed=0\n"
      "61us cpu0 sh-72 call from=hrtimer_reprogram\nend\n";
  EXPECT_EQ(unmet(script + "expect no F06\n"), "");
}

TEST(DoubleReprogram, F06TrapIdleExitOfTheTickIsByDesign) {
  const std::string script =
      tick +
      "repeat 30 every 100us\n0 cpu0 call from=hrtimer_force_reprogram\n"
      "1us cpu0 hrtimer_cancel hrtimer=tick\n"
      "2us cpu0 hrtimer_start hrtimer=tick function=tick_sched_timer expires=+4ms was_armed=0\n"
      "3us cpu0 call from=hrtimer_reprogram\nend\n";
  EXPECT_EQ(unmet(script + "expect no F06\n"), "");
}

TEST(DoubleReprogram, F06TrapInterruptsDoNotCount) {
  // K10: restarts within the timer interrupt and the interrupt's own call.
  const std::string script =
      tick +
      "repeat 30 every 100us\n0 cpu0 local_timer_entry vector=236\n"
      "2us cpu0 hrtimer_start hrtimer=t1 function=demo_fn expires=+300us was_armed=1\n"
      "3us cpu0 call from=hrtimer_reprogram\n4us cpu0 call from=hrtimer_interrupt\n"
      "5us cpu0 local_timer_exit vector=236\nend\n";
  EXPECT_EQ(unmet(script + "expect no F06\n"), "");
}

TEST(DoubleReprogram, F06IsNotJudgedWithoutProgrammingCalls) {
  const std::string script =
      "at 1.000\nrepeat 30 every 100us\n"
      "0 cpu0 sh-72 hrtimer_start hrtimer=t1 expires=+300us was_armed=1\nend\n"
      "0 cpu0 hrtimer_expire_entry hrtimer=t1\n1us cpu0 hrtimer_expire_exit hrtimer=t1\n";
  EXPECT_EQ(TraceScript(script + "expect no F06\nexpect not-judged F06\n").unmet(), "");
}

}  // namespace
}  // namespace tickscope
