// SPDX-License-Identifier: GPL-3.0-or-later
// The table of requested, assigned and achieved timeouts, to three digits.
#include "core/stats/latency_table.h"

#include <gtest/gtest.h>

#include "tests/support/trace_script.h"

namespace tickscope {
namespace {

using support::TraceScript;

/// t1 asks for 1, t2 for 2, t3 for 100 jiffies at 1.016; they run in j+2, j+5 (bucket j+3) and j+110. t4 is deferrable,
/// t5 is cancelled.
const char* const script =
    "at 1.016\n0 cpu0 timer_start timer=t1 expires=j+1 function=a_fn\n"
    "0 cpu0 timer_start timer=t2 expires=j+2 function=b_fn\n"
    "0 cpu0 timer_start timer=t3 expires=j+100 function=a_fn\n"
    "0 cpu0 timer_start timer=t4 expires=j+1 flags=D\n"
    "0 cpu0 timer_start timer=t5 expires=j+1\n1us cpu0 timer_cancel timer=t5\n"
    "8ms cpu0 softirq_entry vec=TIMER\n8001us cpu0 timer_cancel timer=t1\n"
    "8001us cpu0 timer_expire_entry timer=t1\n8002us cpu0 timer_expire_exit timer=t1\n"
    "8003us cpu0 timer_cancel timer=t4\n8003us cpu0 timer_expire_entry timer=t4\n"
    "8004us cpu0 timer_expire_exit timer=t4\n8005us cpu0 softirq_exit vec=TIMER\n"
    "20ms cpu0 softirq_entry vec=TIMER\n20001us cpu0 timer_cancel timer=t2\n"
    "20001us cpu0 timer_expire_entry timer=t2 baseclk=j-2\n20002us cpu0 timer_expire_exit "
    "timer=t2\n"
    "20003us cpu0 softirq_exit vec=TIMER\n"
    "440ms cpu0 softirq_entry vec=TIMER\n440001us cpu0 timer_cancel timer=t3\n"
    "440001us cpu0 timer_expire_entry timer=t3 baseclk=j-4\n"
    "440002us cpu0 timer_expire_exit timer=t3\n440003us cpu0 softirq_exit vec=TIMER\n";

LatencyTable tableOf(Row from = Row{0}, Row to = noRow) {
  const Analysis analysis = TraceScript(script).analysed();
  return latencyOf(analysis.events(), analysis.tables, analysis.profile, from, to);
}

TEST(LatencyTable, RatiosOfAHandMadeTraceToThreeDigits) {
  const LatencyTable table = tableOf();
  // Achieved 2/1, 5/2, 110/100; assigned 2/1, 3/2, 106/100 (1.016 is jiffy 254, t3 lies in bucket 360).
  const RatioStats& achieved = table.all.achieved;
  const RatioStats& assigned = table.all.assigned;
  ASSERT_EQ(achieved.count(), 3U) << "deferrable and cancelled timers are left out";
  EXPECT_NEAR(*achieved.greatest(), 2.5, 0.0005);
  EXPECT_NEAR(*achieved.mean(), 1.8667, 0.0005);
  EXPECT_NEAR(*achieved.deviation(), 0.5793, 0.0005);
  ASSERT_EQ(assigned.count(), 3U);
  EXPECT_NEAR(*assigned.greatest(), 2.0, 0.0005);
  EXPECT_NEAR(*assigned.mean(), (2 + 1.5 + 1.06) / 3, 0.0005);
  EXPECT_EQ(*achieved.latestNs(), 40'000'000) << "110 instead of 100 jiffies of 4 ms";
}

TEST(LatencyTable, RowsAreByLevelCallbackAndCpu) {
  const LatencyTable table = tableOf();
  ASSERT_EQ(table.byLevel.size(), 2U);
  EXPECT_EQ(table.byLevel.at(0).achieved.count(), 2U);
  EXPECT_EQ(table.byLevel.at(1).achieved.count(), 1U);
  EXPECT_EQ(table.byCallback.size(), 2U);
  EXPECT_EQ(table.byCpu.at(Cpu{0}).achieved.count(), 3U);
  const LevelStats& first = table.levels.at({WheelBaseKind::LocalOrStd, u8{0}});
  EXPECT_EQ(first.arms, 3U);
  EXPECT_EQ(first.expiries, 2U);
  EXPECT_EQ(first.worstExcess, 0);
}

TEST(LatencyTable, PartsOfARecordingMergeToTheWhole) {
  const LatencyTable whole = tableOf();
  for (u32 cut = 0; cut < 6; ++cut) {
    LatencyTable parts = tableOf(Row{0}, Row{cut});
    parts.merge(tableOf(Row{cut}));
    EXPECT_EQ(parts.all.achieved.count(), whole.all.achieved.count()) << cut;
    EXPECT_DOUBLE_EQ(*parts.all.achieved.mean(), *whole.all.achieved.mean()) << cut;
    EXPECT_DOUBLE_EQ(*parts.all.achieved.deviation(), *whole.all.achieved.deviation()) << cut;
    EXPECT_EQ(parts.all.achieved.greatest(), whole.all.achieved.greatest()) << cut;
    EXPECT_EQ(parts.all.assigned.percentile(0.5), whole.all.assigned.percentile(0.5)) << cut;
    EXPECT_EQ(parts.byLevel.size(), whole.byLevel.size()) << cut;
  }
}

TEST(LatencyTable, FewValuesHaveNoAverageAndNoPercentile) {
  const Table shown = latencyTable(tableOf(), Requested::Achieved, LatencyRows::All,
                                   [](Address) { return std::string("fn"); });
  ASSERT_FALSE(shown.rows.empty());
  const auto& all = shown.rows.front();
  EXPECT_EQ(std::get<s64>(all[1]), 3);
  EXPECT_NEAR(std::get<Figure>(all[2]).value, 2.5, 0.0005);
  for (const std::size_t column : {3U, 4U, 5U, 6U}) {
    EXPECT_TRUE(std::holds_alternative<std::monostate>(all[column])) << shown.columns[column].name;
  }
}

TEST(RequestedVsAchieved, F18FiresForTimersBehindTheirRequestAndLeavesDeferrableOnesOut) {
  EXPECT_EQ(
      TraceScript(std::string(script) + "expect F18 cpu0 count=3 grade=S4\nexpect no S1\n").unmet(),
      "");
}

TEST(RequestedVsAchieved, F18IsSilentWhereNothingRan) {
  const std::string cancelled =
      "at 1.000\n0 cpu0 timer_start timer=t1 expires=j+1 flags=D\n8ms cpu0 softirq_entry "
      "vec=TIMER\n"
      "8001us cpu0 timer_cancel timer=t1\n8001us cpu0 timer_expire_entry timer=t1\n"
      "8002us cpu0 timer_expire_exit timer=t1\n8005us cpu0 softirq_exit vec=TIMER\n";
  EXPECT_EQ(TraceScript(cancelled + "expect no F18\n").unmet(), "");
}

}  // namespace
}  // namespace tickscope
