// SPDX-License-Identifier: GPL-3.0-or-later
// F09: what long wheel timeouts lose to the granule of their level.
#include <gtest/gtest.h>

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
  EXPECT_EQ(TraceScript(servedLate(63) + "expect no F09\nexpect no S4\n").unmet(), "");
}

}  // namespace
}  // namespace tickscope
