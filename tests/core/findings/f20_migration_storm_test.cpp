// SPDX-License-Identifier: GPL-3.0-or-later
// F20: timers that change CPU with each arm, and the timer hierarchy.
#include <gtest/gtest.h>

#include "tests/support/trace_script.h"

namespace tickscope {
namespace {

using support::TraceScript;

/// A wheel timer that is armed by turns on CPU 0 and on `other`, each pair `every` apart.
std::string byTurns(int pairs, const std::string& every, const std::string& other) {
  return "at 1.000\nrepeat " + std::to_string(pairs) + " every " + every +
         "\n0 cpu0 sh-50 [d] timer_start timer=t1 expires=j+100 cpu=0\n"
         "500us cpu0 sh-50 [d] timer_cancel timer=t1\n501us cpu0 sh-50 [d] timer_start timer=t1 "
         "expires=j+100 cpu=" +
         other +
         "\n900us cpu0 sh-50 [d] timer_cancel timer=t1\nend\n0 cpu1 idle cpu_idle state=1 "
         "cpu_id=1\n0 cpu0 idle softirq_entry vec=TIMER\n1us cpu0 idle timer_expire_entry "
         "timer=t2\n";
}

TEST(MigrationStorm, F20aFiresForATimerThatFlipsBetweenCpus) {
  EXPECT_EQ(TraceScript(byTurns(50, "10ms", "1") + "expect F20 count=99 grade=S3\n").unmet(), "");
}

TEST(MigrationStorm, F20aNearAtNinetyASecondItIsSilent) {
  EXPECT_EQ(TraceScript(byTurns(50, "23ms", "1") + "expect no F20\nexpect judged F20\n").unmet(),
            "");
}

TEST(MigrationStorm, F20aTrapATimerThatStaysIsNoStorm) {
  EXPECT_EQ(TraceScript(byTurns(50, "10ms", "0") + "expect no F20\nexpect judged F20\n").unmet(),
            "");
}

std::string spin(int times, const std::string& every) {
  return byTurns(2, "10ms", "0") + "at 2.000\nrepeat " + std::to_string(times) + " every " + every +
         "\n0 cpu1 idle tmigr_handle_remote group=g lvl=0\nend\n";
}

TEST(MigrationStorm, F20bFiresForRemoteHandlingThatSpins) {
  EXPECT_EQ(TraceScript(spin(120, "10us") + "expect F20 cpu1 count=1\n").unmet(), "");
}

TEST(MigrationStorm, F20bNearFewerThanTheLimitAreWork) {
  EXPECT_EQ(TraceScript(spin(99, "10us") + "expect no F20\nexpect judged F20\n").unmet(), "");
}

TEST(MigrationStorm, F20bTrapTheSamePerTickIsNoSpin) {
  EXPECT_EQ(TraceScript(spin(120, "4ms") + "expect no F20\n").unmet(), "");
}

/// All CPUs go idle; the last one wakes for `wakeup` although a global timer is due after five jiffies.
std::string lastIdle(const std::string& wakeup, const std::string& back) {
  return "kernel bases=LOCAL/GLOBAL/DEF\nat 1.000\n"
         "0 cpu0 sh-50 [d] timer_start timer=t1 expires=j+5 cpu=0\n"
         "1ms cpu1 idle [d] tmigr_cpu_idle nextevt=9223372036854775807 "
         "wakeup=9223372036854775807 cpu=1\n"
         "2ms cpu0 idle [d] tmigr_cpu_idle nextevt=9223372036854775807 wakeup=" +
         wakeup + " cpu=0\n" + back +
         " cpu0 idle [d] tmigr_cpu_active wakeup=0 cpu=0\n"
         "900ms cpu0 idle softirq_entry vec=TIMER\n900010us cpu0 idle timer_cancel timer=t1\n"
         "900011us cpu0 idle timer_expire_entry timer=t1\n"
         "900012us cpu0 idle timer_expire_exit timer=t1\n900013us cpu0 idle softirq_exit "
         "vec=TIMER\n";
}

TEST(MigrationStorm, F20cFiresForALastCpuThatWakesForNobody) {
  EXPECT_EQ(TraceScript(lastIdle("9223372036854775807", "800ms") + "expect F20 count=1\n").unmet(),
            "");
}

TEST(MigrationStorm, F20cNearAPlannedWakeupIsOne) {
  EXPECT_EQ(TraceScript(lastIdle("1020000000", "800ms") + "expect no F20\n").unmet(), "");
}

TEST(MigrationStorm, F20cTrapACpuThatComesBackWithinATick) {
  EXPECT_EQ(TraceScript(lastIdle("9223372036854775807", "3ms") + "expect no F20\n").unmet(), "");
}

}  // namespace
}  // namespace tickscope
