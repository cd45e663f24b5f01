// SPDX-License-Identifier: GPL-3.0-or-later
// F19: what disturbs a task that has an isolated CPU for itself.
#include <gtest/gtest.h>

#include "tests/support/trace_script.h"

namespace tickscope {
namespace {

using support::TraceScript;

/// CPU 1 stops its tick for rt-50 and is left alone for two seconds; then `runs` interrupts, `every` apart.
std::string isolated(int runs, const std::string& every, const std::string& inside = "") {
  return "at 1.000\n0 cpu1 idle sched_switch prev=idle next=rt-50:120\n"
         "1us cpu1 rt-50 [d] hrtimer_start hrtimer=t1 expires=+4s mode=ABS\n"
         "2us cpu1 rt-50 [d] tick_stop success=1 dependency=0\n" +
         inside + "at 3.000\nrepeat " + std::to_string(runs) + " every " + every +
         "\n0 cpu1 rt-50 local_timer_entry vector=236\n"
         "2us cpu1 rt-50 local_timer_exit vector=236\nend\n"
         "at 9.000\n0 cpu1 rt-50 [d] sched_switch prev=rt-50:120 next=idle\n"
         "1us cpu1 idle sched_waking task=rt-50:120 target_cpu=1\n";
}

TEST(IsolationBroken, F19FiresForTwoDisturbancesASecond) {
  EXPECT_EQ(TraceScript(isolated(14, "400ms") + "expect F19 cpu1 count=14 grade=S3\n").unmet(), "");
}

TEST(IsolationBroken, F19NearStaysSilentAtHalfADisturbanceASecond) {
  EXPECT_EQ(TraceScript(isolated(3, "2s") + "expect no F19\nexpect judged F19\n").unmet(), "");
}

TEST(IsolationBroken, F19TrapTwoTasksAreNoIsolation) {
  const std::string second = "3us cpu1 rt-50 sched_wakeup task=b-51:120 target_cpu=1\n";
  EXPECT_EQ(TraceScript(isolated(14, "400ms", second) + "expect no F19\n").unmet(), "");
}

TEST(IsolationBroken, F19TrapTheFirstSecondIsStartUp) {
  std::string script = isolated(14, "50ms");
  script.replace(script.find("at 3.000"), 8, "at 1.100");
  EXPECT_EQ(TraceScript(script + "expect no F19\nexpect judged F19\n").unmet(), "");
}

TEST(IsolationBroken, F19TrapWithoutAnIsolatedCpuNothingIsJudged) {
  std::string script = isolated(14, "400ms");
  const std::string stop = "2us cpu1 rt-50 [d] tick_stop success=1 dependency=0\n";
  script.erase(script.find(stop), stop.size());
  EXPECT_EQ(TraceScript(script + "expect not-judged F19\n").unmet(), "");
}

}  // namespace
}  // namespace tickscope
