// SPDX-License-Identifier: GPL-3.0-or-later
// F10: late expiries by the part that made them late; the parts add up.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>

#include "core/stats/lateness_split.h"
#include "tests/support/trace_script.h"

namespace tickscope {
namespace {

using support::TraceScript;
using support::unmet;

/// h1, due 10 ms behind its arm, runs in an interrupt that comes `us` later; `between` are events before it.
std::string late(int us, const std::string& between = "", const std::string& arm = "",
                 int times = 5) {
  return fmt::format(
      "repeat {} every 100ms\n"
      "0 cpu0 hrtimer_start hrtimer=h1 function=f expires=+10ms mode=ABS {}\n{}"
      "+{}us cpu0 local_timer_entry vector=236\n+{}us cpu0 hrtimer_expire_entry hrtimer=h1 "
      "function=f\n+{}us cpu0 hrtimer_expire_exit hrtimer=h1\n"
      "+{}us cpu0 local_timer_exit vector=236\nend\n",
      times, arm, between, 10'000 + us, 10'001 + us, 10'002 + us, 10'003 + us);
}
/// A machine that is not slow as a whole: most expiries are in time.
const std::string inTime = "at 1.0\n" + late(1, "", "", 30) + "at 10.0\n";

TEST(LateExpiry, F10FiresForEachPartAlone) {
  // P: rows with interrupts on go by, and none comes.
  EXPECT_EQ(unmet(inTime +
                  late(3000,
                       "+1us cpu0 sched_switch prev=idle next=sh-7:120\n"
                       "+12900us cpu0 sh-7 [.] tick_stop success=0 dependency=1\n") +
                  "expect F10 cpu0 count=5 grade=S4\n"),
            "");
  // I: another interrupt runs.
  EXPECT_EQ(unmet(inTime +
                  late(3000,
                       "+9000us cpu0 irq_handler_entry irq=9\n"
                       "+12990us cpu0 irq_handler_exit irq=9\n") +
                  "expect F10 cpu0 count=5 grade=S3\n"),
            "");
}

TEST(LateExpiry, F10NearIsSilentBelowTheLimit) {
  EXPECT_EQ(unmet(inTime + late(90) + "expect no F10\nexpect judged F10\n"), "");
  EXPECT_EQ(unmet(inTime + late(110) + "expect F10 cpu0 count=5 grade=S4\n"), "");
}

TEST(LateExpiry, F10TrapSlackIsNotLate) {
  EXPECT_EQ(unmet(inTime + late(0, "", "softexpires=+7ms") + "expect no F10\n"), "");
}

TEST(LateExpiry, F10TrapLowResolutionHasATickFree) {
  EXPECT_EQ(unmet("kernel hres=off\n" + inTime + late(3900) + "expect no F10\n"), "");
}

/// h1 in the softirq, raised `raise` and entered `entry` us behind the due time.
std::string soft(int raise, int entry, int arm = 0) {
  return fmt::format(
      "at 1.0\nrepeat 5 every 200ms\n"
      "+{}us cpu0 hrtimer_start hrtimer=h1 function=f expires=+{}us mode=ABS|SOFT\n"
      "+{}us cpu0 local_timer_entry vector=236\n+{}us cpu0 softirq_raise vec=HRTIMER\n"
      "+{}us cpu0 local_timer_exit vector=236\n+{}us cpu0 softirq_entry vec=HRTIMER\n"
      "+{}us cpu0 hrtimer_expire_entry hrtimer=h1 function=f\n"
      "+{}us cpu0 hrtimer_expire_exit hrtimer=h1\n+{}us cpu0 softirq_exit vec=HRTIMER\nend\n",
      arm, 10'000 - arm, 10'000 + raise, 10'001 + raise, 10'002 + raise, 10'003 + raise + entry,
      10'004 + raise + entry, 10'005 + raise + entry, 10'006 + raise + entry);
}

/// The split of each expiry of a script.
std::vector<LatenessSplit> splitsOf(const std::string& text) {
  const TraceScript script(text);
  const Analysis analysis = script.analysed();
  std::vector<LatenessSplit> made;
  const auto brackets = bracketsOf(analysis.events(), analysis.tables, 1);
  const LatenessSplitter splitter(*analysis.recording, analysis.opened(), analysis.tables,
                                  analysis.clocks, brackets);
  for (const ArmedSpan& span : analysis.tables.spans) {
    if (const auto split = splitter.of(span)) made.push_back(*split);
  }
  return made;
}

TEST(LatenessSplitOf, PartsAddUpToTheLateness) {
  for (const std::string& script :
       {inTime + late(3000), inTime + late(90), soft(0, 3000), soft(3000, 0), soft(700, 900),
        inTime +
            late(3000,
                 "+9000us cpu0 irq_handler_entry irq=9\n+12990us cpu0 irq_handler_exit irq=9\n"),
        inTime + late(0, "", "softexpires=+7ms")}) {
    const auto splits = splitsOf(script);
    ASSERT_GE(splits.size(), 5U) << script;
    for (const LatenessSplit& split : splits) {
      EXPECT_EQ(std::accumulate(split.parts.begin(), split.parts.end(), s64{0}), split.late)
          << script;
      EXPECT_GE(*std::ranges::min_element(split.parts), 0) << script;
    }
  }
}

TEST(LatenessSplitOf, GivesASoftTimersWaitToTheSoftirq) {
  const LatenessSplit split = splitsOf(soft(0, 3000)).front();
  EXPECT_EQ(split.greatest(), LatePart::Wait);
  EXPECT_EQ(split[LatePart::Wait], 3'002'000);
  EXPECT_EQ(split[LatePart::Within], 1'000);
  EXPECT_EQ(split.late, 3'004'000);
}

TEST(LatenessSplitOf, GivesTimeBehindOtherCallbacksToTheQueue) {
  const auto splits = splitsOf(
      "at 1.0\n0 cpu0 hrtimer_start hrtimer=h1 function=f expires=+10ms mode=ABS\n"
      "+1us cpu0 hrtimer_start hrtimer=h2 function=g expires=+9999us mode=ABS\n"
      "+10000us cpu0 local_timer_entry vector=236\n"
      "+10001us cpu0 hrtimer_expire_entry hrtimer=h1 function=f\n"
      "+12001us cpu0 hrtimer_expire_exit hrtimer=h1\n"
      "+12002us cpu0 hrtimer_expire_entry hrtimer=h2 function=g\n"
      "+12003us cpu0 hrtimer_expire_exit hrtimer=h2\n+12004us cpu0 local_timer_exit vector=236\n");
  ASSERT_EQ(splits.size(), 2U);
  EXPECT_EQ(splits[1][LatePart::Queue], 2'002'000);
  EXPECT_NE(splits[1].callback, noRow);
}

TEST(LateExpiry, F10TrapArmedInThePastIsTheCallersLateness) {
  EXPECT_EQ(unmet("at 1.0\nrepeat 5 every 100ms\n"
                  "0 cpu0 hrtimer_start hrtimer=h1 function=f expires=-40ms mode=ABS\n"
                  "+2us cpu0 local_timer_entry vector=236\n"
                  "+3us cpu0 hrtimer_expire_entry hrtimer=h1 function=f\n"
                  "+4us cpu0 hrtimer_expire_exit hrtimer=h1\n"
                  "+5us cpu0 local_timer_exit vector=236\nend\nexpect F10 cpu0 count=5 grade=S4\n"),
            "");
}

}  // namespace
}  // namespace tickscope
