// SPDX-License-Identifier: GPL-3.0-or-later
// F07: timers that are armed again and again and hardly ever expire.
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
    "1012us cpu0 hrtimer_expire_exit hrtimer=p1\n1013us cpu0 local_timer_exit vector=236\n";

std::string unmet(const std::string& script) { return TraceScript(recorded + script).unmet(); }

/// Restarts by one task, `every` one behind the other.
std::string restarts(int times, const std::string& every, const std::string& timeout,
                     const std::string& function = "demo_fn") {
  return "at 1.000\nrepeat " + std::to_string(times) + " every " + every +
         "\n0 cpu0 sh-72 hrtimer_start hrtimer=t1 function=" + function + " expires=+" + timeout +
         " was_armed=1\nend\n0 cpu0 hrtimer_cancel hrtimer=t1\n"
         "1s cpu0 hrtimer_start hrtimer=t2 expires=+1us\n"
         "1000003us cpu0 hrtimer_expire_entry hrtimer=t2\n"
         "1000004us cpu0 hrtimer_expire_exit hrtimer=t2\n";
}

TEST(RestartChurn, F07FiresForATimeoutThatIsPushedAhead) {
  EXPECT_EQ(unmet(restarts(2000, "100us", "300us") + "expect F07 cpu0 count=2000 grade=S4\n"), "");
}

TEST(RestartChurn, F07NearStaysUnderItsRate) {
  EXPECT_EQ(unmet(restarts(570, "5263us", "30ms") + "expect no F07\nexpect judged F07\n"), "")
      << "190 a second";
  EXPECT_EQ(unmet(restarts(630, "4761us", "30ms") + "expect F07\n"), "") << "210 a second";
}

TEST(RestartChurn, F07NearNeedsATimeoutOfTwiceTheGap) {
  EXPECT_EQ(unmet(restarts(2000, "100us", "190us") + "expect no F07\n"), "");
  EXPECT_EQ(unmet(restarts(2000, "100us", "210us") + "expect F07\n"), "");
}

TEST(RestartChurn, F07NearIsSilentWhereATenthExpires) {
  const auto script = [](int pushed) {
    return "at 1.000\nrepeat 100 every 3ms\n"
           "0 cpu0 sh-72 hrtimer_start hrtimer=t1 function=demo_fn expires=+300us\n"
           "300us cpu0 hrtimer_expire_entry hrtimer=t1\n301us cpu0 hrtimer_expire_exit hrtimer=t1\n"
           "end\nat 1.300\nrepeat " +
           std::to_string(pushed) +
           " every 100us\n0 cpu0 sh-72 hrtimer_start hrtimer=t1 function=demo_fn expires=+300us "
           "was_armed=1\nend\n0 cpu0 hrtimer_cancel hrtimer=t1\n";
  };
  EXPECT_EQ(unmet(script(800) + "expect no F07\n"), "") << "100 of 900 expire";
  EXPECT_EQ(unmet(script(1000) + "expect F07 grade=S4\n"), "") << "100 of 1,100 expire";
}

TEST(RestartChurn, F07TrapSleepsWithATimeoutAreUseOfTheInterface) {
  // A futex or poll: cancelled when what it waits for comes.
  const std::string script =
      "at 1.000\nrepeat 2000 every 100us\n"
      "0 cpu0 sh-72 hrtimer_start hrtimer=t1 function=hrtimer_wakeup expires=+10ms\n"
      "50us cpu0 sh-72 hrtimer_cancel hrtimer=t1\nend\n"
      "0 cpu0 hrtimer_start hrtimer=t2 expires=+1us\n2us cpu0 hrtimer_expire_entry hrtimer=t2\n";
  EXPECT_EQ(unmet(script + "expect F07 grade=S4\nexpect no S3\n"), "");
}

TEST(RestartChurn, F07TrapTheFairServerIsTheKernelsDesign) {
  EXPECT_EQ(unmet(restarts(2000, "100us", "1s", "dl_task_timer") + "expect no F07\n"), "");
}

TEST(RestartChurn, F07TrapTheTickIsNoTimeout) {
  EXPECT_EQ(unmet(restarts(2000, "100us", "4ms", "tick_sched_timer") + "expect no F07\n"), "");
}

TEST(RestartChurn, F07TrapRestingDoesNotHideBusySeconds) {
  // Idle seconds, in which each arm expires, are not looked at.
  const std::string resting =
      "at 3.000\nrepeat 300 every 100ms\n"
      "0 cpu0 sh-72 hrtimer_start hrtimer=t1 function=demo_fn expires=+300us\n"
      "300us cpu0 hrtimer_expire_entry hrtimer=t1\n301us cpu0 hrtimer_expire_exit hrtimer=t1\n"
      "end\n";
  EXPECT_EQ(unmet(restarts(2000, "100us", "300us") + resting + "expect F07 count=2000\n"), "");
}

TEST(RestartChurn, F07IsS4ForWheelTimers) {
  const std::string script =
      "at 1.000\nrepeat 2000 every 100us\n0 cpu0 sh-72 timer_cancel timer=w1\n"
      "1us cpu0 sh-72 timer_start timer=w1 function=watchdog_fn expires=j+30\nend\n"
      "0 cpu0 timer_cancel timer=w1\n0 cpu0 timer_start timer=w2 expires=j+1\n"
      "8ms cpu0 timer_cancel timer=w2\n8ms cpu0 timer_expire_entry timer=w2\n";
  EXPECT_EQ(unmet(script + "expect F07 grade=S4\nexpect no S3\n"), "");
}

}  // namespace
}  // namespace tickscope
