// SPDX-License-Identifier: GPL-3.0-or-later
// F08: timers in buckets that no admissible clock gives, and timers that run before theirs.
#include <gtest/gtest.h>

#include "tests/support/trace_script.h"

namespace tickscope {
namespace {

/// A base that is known to have run up to now.
const std::string known =
    "at 1.000\n0 cpu0 timer_start timer=t0 expires=j+1\nat 1.008\n0 cpu0 softirq_entry vec=TIMER\n"
    "+1us cpu0 timer_cancel timer=t0\n+1us cpu0 timer_expire_entry timer=t0\n"
    "+2us cpu0 timer_expire_exit timer=t0\n+3us cpu0 softirq_exit vec=TIMER\n";

/// Timeouts, each two seconds after the base ran last; those of a jiffy end in the bucket at j+6 if it is coarse.
std::string armed(const std::string& how, int times = 4) {
  return "at 3.016\nrepeat " + std::to_string(times) +
         " every 2.048\n0 cpu0 timer_start timer=t1 " + how +
         "\n+24ms cpu0 softirq_entry vec=TIMER\n+24001us cpu0 timer_cancel timer=t1\n"
         "+24001us cpu0 timer_expire_entry timer=t1\n+24002us cpu0 timer_expire_exit timer=t1\n"
         "+24003us cpu0 softirq_exit vec=TIMER\nend\n";
}

/// The same, cancelled before they run.
std::string cancelled(const std::string& how) {
  return "at 3.016\nrepeat 4 every 2.048\n0 cpu0 timer_start timer=t1 " + how +
         "\n+1ms cpu0 timer_cancel timer=t1\nend\n";
}

using support::unmet;

TEST(WheelMisplaced, F08FiresForShortTimeoutsInCoarseLevels) {
  EXPECT_EQ(unmet(known + armed("expires=j+1 clk=j-500") + "expect F08 cpu0 count=4 grade=S1\n"),
            "");
}

TEST(WheelMisplaced, F08NearIsSilentWhileTheLevelStaysTheSame) {
  EXPECT_EQ(unmet(known + cancelled("expires=j+1 clk=j-61") + "expect no F08\nexpect judged F08\n"),
            "");
}

TEST(WheelMisplaced, F08NearTwoArmsAloneAreNoBugYet) {
  EXPECT_EQ(
      unmet(known + armed("expires=j+1 clk=j-500", 2) + "expect F08 cpu0 count=2\nexpect no S1\n"),
      "");
}

TEST(WheelMisplaced, F08TrapTheExtraJiffyIsNoExcess) {
  EXPECT_EQ(unmet(known + cancelled("expires=j+1 clk=j") + "expect no F08\n"), "");
  EXPECT_EQ(unmet(known + cancelled("expires=j+1 clk=j+1") + "expect no F08\n"), "");
}

TEST(WheelMisplaced, F08TrapLongTimeoutsAreCoarseByDesign) {
  EXPECT_EQ(unmet(known + cancelled("expires=j+700") + "expect no F08\n"), "");
}

TEST(WheelMisplaced, F08TrapTheDeferrableBaseStaysBehindUnderTheOlderRules) {
  const std::string arms = armed("expires=j+1 clk=j-500 flags=D");
  EXPECT_EQ(unmet("kernel fwd=F1 next=NX0 raise=SR1\n" + known + arms +
                  "expect F08 cpu0 count=4 grade=S4\nexpect no S1\n"),
            "");
  EXPECT_EQ(unmet("kernel fwd=F2\n" + known + arms + "expect no F08\n"), "") << "F2 forwards it";
}

TEST(WheelMisplaced, F08FiresForTheRuleThatIsKnownToLeaveBasesBehind) {
  EXPECT_EQ(unmet("kernel fwd=F0 next=NX0 raise=SR1\n" + known + armed("expires=j+1 clk=j-500") +
                  "expect F08 cpu0 count=4 grade=S1\n"),
            "");
}

/// Runs t1 two jiffies before its bucket, four times.
std::string early(int jiffies) {
  return "at 3.000\nrepeat 4 every 2.048\n0 cpu0 timer_start timer=t1 expires=j+9\n+" +
         std::to_string(4 * (10 - jiffies)) + "ms cpu0 softirq_entry vec=TIMER\n+" +
         std::to_string(4000 * (10 - jiffies) + 1) + "us cpu0 timer_cancel timer=t1\n+" +
         std::to_string(4000 * (10 - jiffies) + 1) + "us cpu0 timer_expire_entry timer=t1\n+" +
         std::to_string(4000 * (10 - jiffies) + 2) + "us cpu0 timer_expire_exit timer=t1\n+" +
         std::to_string(4000 * (10 - jiffies) + 3) + "us cpu0 softirq_exit vec=TIMER\nend\n";
}

TEST(WheelMisplaced, F08bFiresForTimersBeforeTheirBucket) {
  EXPECT_EQ(unmet(known + early(2) + "expect F08b cpu0 count=4 grade=S1\n"), "");
}

TEST(WheelMisplaced, F08bNearIsSilentAtTheBucketsOwnJiffy) {
  EXPECT_EQ(unmet(known + early(0) + "expect no F08\nexpect judged F08b\n"), "");
}

TEST(WheelMisplaced, F08bTrapARunWithTheClockOfAnotherListIsNotEarly) {
  // As where lists of collected timers were overwritten: at the jiffy of its bucket, with an older base clock.
  EXPECT_EQ(
      unmet(known + "at 3.000\nrepeat 4 every 2.048\n0 cpu0 timer_start timer=t1 expires=j+9\n"
                    "40ms cpu0 softirq_entry vec=TIMER\n40001us cpu0 timer_cancel timer=t1\n"
                    "40001us cpu0 timer_expire_entry timer=t1 baseclk=j-2\n"
                    "40002us cpu0 timer_expire_exit timer=t1\n40003us cpu0 softirq_exit vec=TIMER\n"
                    "end\nexpect no F08b\nexpect judged F08b\n"),
      "");
}

TEST(WheelMisplaced, F08TrapWithoutAnIndexLatenessAloneProvesNothing) {
  // Eight jiffies late; nothing shows that the base was run in between.
  const std::string late =
      "kernel fwd=F0 next=NX0 raise=SR1 wtrace=WT0\nwithout timer_start.bucket_expiry\n" + known +
      "at 3.000\nrepeat 4 every 2.048\n0 cpu0 timer_start timer=t1 expires=j+1\n";
  const std::string ran =
      "+40ms cpu0 softirq_entry vec=TIMER\n+40001us cpu0 timer_cancel timer=t1\n"
      "+40001us cpu0 timer_expire_entry timer=t1\n+40002us cpu0 timer_expire_exit timer=t1\n"
      "+40003us cpu0 softirq_exit vec=TIMER\nend\n";
  EXPECT_EQ(unmet(late + ran + "expect no F08\nexpect judged F08\n"), "");
  const std::string other =
      "+1us cpu0 timer_start timer=t2 expires=j+3\n+16ms cpu0 softirq_entry vec=TIMER\n"
      "+16001us cpu0 timer_cancel timer=t2\n+16001us cpu0 timer_expire_entry timer=t2\n"
      "+16002us cpu0 timer_expire_exit timer=t2\n+16003us cpu0 softirq_exit vec=TIMER\n";
  EXPECT_EQ(unmet(late + other + ran + "expect F08 cpu0 count=4\n"), "") << "the base was run";
}

}  // namespace
}  // namespace tickscope
