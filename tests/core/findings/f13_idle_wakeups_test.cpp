// SPDX-License-Identifier: GPL-3.0-or-later
// F13: idle CPUs that timers wake.
#include <gtest/gtest.h>

#include "tests/support/trace_script.h"

namespace tickscope {
namespace {

using support::TraceScript;

/// A timer that ends idle `runs` times, `every` apart; `inside` stands in the same interrupt behind it.
std::string poller(int runs, const std::string& every, const std::string& inside = "") {
  return "at 1.000\n0 cpu0 app-50 sched_switch prev=app-50:120 next=idle\nrepeat " +
         std::to_string(runs) + " every " + every +
         "\n1us cpu0 [d] hrtimer_start hrtimer=t1 expires=+500us mode=ABS\n"
         "2us cpu0 cpu_idle state=1 cpu_id=0\n"
         "501us cpu0 local_timer_entry vector=236\n"
         "502us cpu0 hrtimer_expire_entry hrtimer=t1\n503us cpu0 hrtimer_expire_exit hrtimer=t1\n" +
         inside +
         "510us cpu0 local_timer_exit vector=236\n511us cpu0 cpu_idle state=EXIT cpu_id=0\nend\n";
}

TEST(IdleWakeups, F13FiresForAPollerOfTwentyASecond) {
  EXPECT_EQ(TraceScript(poller(40, "50ms") + "expect F13 cpu0 count=40 grade=S4\n").unmet(), "");
}

TEST(IdleWakeups, F13NearStaysSilentAtNineASecond) {
  EXPECT_EQ(TraceScript(poller(18, "111ms") + "expect no F13\nexpect judged F13\n").unmet(), "");
}

TEST(IdleWakeups, F13TrapTwoCausesShareAWake) {
  // Each of two has half of 12 wakes a second: neither reaches the limit.
  const std::string second =
      "505us cpu0 hrtimer_expire_entry hrtimer=t2\n506us cpu0 hrtimer_expire_exit hrtimer=t2\n";
  std::string script = poller(24, "83ms", second);
  const std::string arm = "1us cpu0 [d] hrtimer_start hrtimer=t1";
  script.insert(script.find(arm), "0 cpu0 [d] hrtimer_start hrtimer=t2 expires=+501us mode=ABS\n");
  EXPECT_EQ(TraceScript(script + "expect no F13\nexpect judged F13\n").unmet(), "") << script;
  EXPECT_EQ(TraceScript(poller(24, "83ms") + "expect F13 count=24\n").unmet(), "");
}

TEST(IdleWakeups, F13TrapABusyCpuIsNotWoken) {
  std::string script = poller(40, "50ms");
  for (const std::string line :
       {"2us cpu0 cpu_idle state=1 cpu_id=0\n", "511us cpu0 cpu_idle state=EXIT cpu_id=0\n"}) {
    script.erase(script.find(line), line.size());
  }
  EXPECT_EQ(TraceScript(script + "at 4\n0 cpu0 cpu_idle state=1 cpu_id=0\n"
                                 "1ms cpu0 cpu_idle state=EXIT cpu_id=0\nexpect no F13\n")
                .unmet(),
            "");
}

}  // namespace
}  // namespace tickscope
