// SPDX-License-Identifier: GPL-3.0-or-later
// F09: what long wheel timeouts lose to the granule of their level.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/trace_script.h"

namespace tickscope {
namespace {

using support::TraceScript;

/// A timer asked for `timeout` jiffies that runs in its bucket.
std::string servedLate(int timeout) {
  return "at 1.002\n0 cpu0 timer_start timer=t1 expires=j+" + std::to_string(timeout) +
         "\nat 60\n0 cpu0 softirq_entry vec=TIMER\n+1us cpu0 timer_cancel timer=t1\n"
         "+1us cpu0 timer_expire_entry timer=t1\n+3us cpu0 timer_expire_exit timer=t1\n"
         "+4us cpu0 softirq_exit vec=TIMER\n";
}

TEST(CoarseByDesign, F09FiresForTimeoutsAboveTheFirstLevel) {
  for (const int timeout : {101, 700, 5001}) {
    EXPECT_EQ(TraceScript(servedLate(timeout) + "expect F09 cpu0 count=1 grade=S4\n").unmet(), "")
        << servedLate(timeout);
  }
}

TEST(CoarseByDesign, F09NearStaysSilentInTheFirstLevel) {
  EXPECT_EQ(TraceScript(servedLate(63) + "expect no F09\n").unmet(), "");
}

TEST(CoarseByDesign, F09TrapLatenessPastTheBucketIsNotItsOwn) {
  // Jiffy 250 + 101 lies in bucket 352: one jiffy behind, though it ran seconds later.
  const Findings findings = TraceScript(servedLate(101)).findings();
  const auto found = std::ranges::find(findings.findings, "F09", &Finding::id);
  ASSERT_NE(found, findings.findings.end());
  EXPECT_EQ(found->distribution.greatest(), 1);
}

TEST(CoarseByDesign, F09NeverCountsMoreThanAGranule) {
  for (const int timeout : {64, 503, 511, 4031, 4100}) {
    for (int begin = 1000; begin < 1064; begin += 4) {
      const std::string script =
          "at 0." + std::to_string(begin).substr(1) + "\n" +
          "0 cpu0 timer_start timer=t1 expires=j+" + std::to_string(timeout) +
          "\nat 1\n0 cpu0 timer_start timer=t2 expires=j+1\n"
          "8ms cpu0 timer_cancel timer=t2\n8ms cpu0 timer_expire_entry timer=t2\n";
      const Findings findings = TraceScript(script).findings();
      for (const Finding& finding : findings.findings) {
        if (finding.id != "F09") continue;
        EXPECT_LE(static_cast<double>(*finding.distribution.greatest()), 8.0 / 63 * timeout + 1)
            << script;
      }
    }
  }
}

TEST(CoarseByDesign, F09IsNotJudgedOnTheCascadingWheel) {
  EXPECT_EQ(TraceScript("kernel wheel=cascade\n" + servedLate(700) +
                        "expect no F09\nexpect not-judged F09\n")
                .unmet(),
            "");
}

}  // namespace
}  // namespace tickscope
