// SPDX-License-Identifier: GPL-3.0-or-later
// F15: timers on the wrong CPU.
#include <gtest/gtest.h>

#include "tests/support/trace_script.h"

namespace tickscope {
namespace {

using support::TraceScript;

/// CPU 1 dies with a wheel timer on it, which `rest` moves or not; timers_dead_cpu runs on CPU 0.
std::string offline(const std::string& rest) {
  return "at 1.000\n0 cpu1 sh-50 [d] timer_start timer=t1 expires=j+40 cpu=1\n"
         "1ms cpu1 idle cpu_idle state=1 cpu_id=1\n"
         "20ms cpu0 kw-9 cpuhp_enter cpu=1 target=0 fun=timers_dead_cpu\n" +
         rest +
         "21ms cpu0 kw-9 cpuhp_exit cpu=1 state=0 ret=0\n"
         "500ms cpu0 kw-9 sched_switch prev=kw-9:120 next=idle\n"
         "501ms cpu0 idle cpu_idle state=1 cpu_id=0\n"
         "502ms cpu0 idle softirq_entry vec=TIMER\n502001us cpu0 idle timer_expire_entry timer=t2\n"
         "502002us cpu0 idle timer_expire_exit timer=t2\n503ms cpu0 idle softirq_exit vec=TIMER\n";
}

TEST(WrongCpu, F15cFiresForAWheelTimerThatStaysOnADeadCpu) {
  EXPECT_EQ(TraceScript(offline("") + "expect F15 cpu1 count=1\n").unmet(), "");
}

TEST(WrongCpu, F15cTrapTimersThatAreMovedAreNotLeft) {
  EXPECT_EQ(TraceScript(offline("20100us cpu0 kw-9 [d] timer_cancel timer=t1\n"
                                "20101us cpu0 kw-9 [d] timer_start timer=t1 expires=j+35 cpu=0\n") +
                        "expect no F15\nexpect judged F15\n")
                .unmet(),
            "");
}

/// A task of CPU 1 whose timer runs on `cpu` and wakes it on CPU 1.
std::string sleeper(const std::string& cpu, const std::string& prio) {
  return "at 1.000\nrepeat 5 every 10ms\n"
         "0 cpu1 idle sched_switch prev=idle next=rt-50:" +
         prio +
         "\n1us cpu1 rt-50 [d] hrtimer_start hrtimer=t1 expires=+2ms mode=ABS\n"
         "2us cpu1 rt-50 [d] sched_switch prev=rt-50:" +
         prio + " next=idle\n2001us " + cpu + " idle local_timer_entry vector=236\n2002us " + cpu +
         " idle hrtimer_expire_entry hrtimer=t1\n2003us " + cpu +
         " idle sched_waking task=rt-50:" + prio + " target_cpu=1\n2004us " + cpu +
         " idle hrtimer_expire_exit hrtimer=t1\n2005us " + cpu +
         " idle local_timer_exit vector=236\nend\n";
}

TEST(WrongCpu, F15bFiresForARealTimeSleeperWhoseTimerRunsElsewhere) {
  EXPECT_EQ(TraceScript(sleeper("cpu0", "9") + "expect F15 cpu0 count=5 grade=S3\n").unmet(), "");
}

TEST(WrongCpu, F15bNearARealTimeSleeperAtHome) {
  EXPECT_EQ(TraceScript(sleeper("cpu1", "9") + "expect no F15\nexpect judged F15\n").unmet(), "");
}

TEST(WrongCpu, F15bTrapPlacementOfNormalTasksIsPolicy) {
  EXPECT_EQ(TraceScript(sleeper("cpu0", "120") + "expect no F15\n").unmet(), "");
}

}  // namespace
}  // namespace tickscope
