// SPDX-License-Identifier: GPL-3.0-or-later
// The invariants of promptness on small scripts: each held, violated, not judged.
#include "core/model/promptness.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/trace_script.h"

namespace tickscope {
namespace {

using support::TraceScript;

struct Seen {
  u64 held, violated, unjudged;
  bool operator==(const Seen&) const = default;
};
void PrintTo(const Seen& seen, std::ostream* out) {
  *out << fmt::format("held {}, violated {}, not judged {}", seen.held, seen.violated,
                      seen.unjudged);
}

InvariantCount countOf(std::size_t invariant, const std::string& script) {
  const Analysis analysis = TraceScript(script).analysed();
  return invariantsOf(analysis, activityOf(analysis, 1))[invariant];
}
Seen seen(std::size_t invariant, const std::string& script) {
  const InvariantCount made = countOf(invariant, script);
  return {made.held, made.violated, made.notJudged};
}

// --- I07: HZ 250, a jiffy is 4 ms

/// A wheel timer for the next jiffies; the tick due `tick` ms behind its arm comes `late` ms later, raises TIMER, which
/// is run `wait` ms later.
std::string wheelRun(int tick, int late, int wait, const std::string& flags = "") {
  const int interrupt = (tick + late) * 1000, run = interrupt + wait * 1000 + 10;
  return fmt::format(
      "at 1.000\n0 cpu0 hrtimer_start hrtimer=k1 function=tick_sched_timer expires=+{}ms mode=ABS\n"
      "1us cpu0 timer_start timer=t1 expires=j+1 {}\n"
      "{}us cpu0 local_timer_entry vector=236\n"
      "{}us cpu0 hrtimer_expire_entry hrtimer=k1 function=tick_sched_timer\n"
      "{}us cpu0 softirq_raise vec=TIMER\n{}us cpu0 hrtimer_expire_exit hrtimer=k1\n"
      "{}us cpu0 local_timer_exit vector=236\n{}us cpu0 softirq_entry vec=TIMER\n"
      "{}us cpu0 timer_cancel timer=t1\n{}us cpu0 timer_expire_entry timer=t1\n"
      "{}us cpu0 timer_expire_exit timer=t1\n{}us cpu0 softirq_exit vec=TIMER\n",
      tick, flags, interrupt, interrupt + 2, interrupt + 3, interrupt + 4, interrupt + 5, run,
      run + 1, run + 2, run + 3, run + 4);
}

TEST(WheelPromptness, HoldsInTheBucketsJiffyAndWithinTheLimit) {
  EXPECT_EQ(seen(7, wheelRun(8, 0, 0)), (Seen{1, 0, 0})) << wheelRun(8, 0, 0);
  EXPECT_EQ(seen(7, wheelRun(20, 0, 0)), (Seen{1, 0, 0})) << "3 jiffies late";
}

TEST(WheelPromptness, HoldsWhereTheSoftirqWaitedOrTheTickWasLate) {
  EXPECT_EQ(seen(7, wheelRun(8, 0, 200)), (Seen{1, 0, 0})) << "the softirq waited";
  EXPECT_EQ(seen(7, wheelRun(8, 200, 0)), (Seen{1, 0, 0})) << "the tick came late";
}

TEST(WheelPromptness, IsViolatedWhereTheTickWasProgrammedTooLate) {
  EXPECT_EQ(seen(7, wheelRun(28, 0, 0)), (Seen{0, 1, 0})) << "5 jiffies late";
  EXPECT_EQ(seen(7, wheelRun(200, 0, 0)), (Seen{0, 1, 0}));
}

TEST(WheelPromptness, IsNotJudgedForDeferrableTimers) {
  const InvariantCount made = countOf(7, wheelRun(200, 0, 0, "flags=D"));
  EXPECT_EQ(made.judged(), 0U);
  EXPECT_EQ(made.why[number(BlindSpotKind::OutsideModel)], 1U);
}

/// An earlier tick that came behind the bucket's time and did not raise; `printed`: wheel events before it.
std::string afterTick(const std::string& printed) {
  std::string script = wheelRun(200, 0, 0);
  const std::string arm = "1us cpu0 timer_start";
  const std::size_t at = script.find('\n', script.find(arm)) + 1;
  script.insert(at, printed +
                        "100ms cpu0 local_timer_entry vector=236\n"
                        "100001us cpu0 hrtimer_expire_entry hrtimer=k2 function=tick_sched_timer\n"
                        "100002us cpu0 hrtimer_expire_exit hrtimer=k2\n"
                        "100003us cpu0 local_timer_exit vector=236\n");
  return script;
}

TEST(WheelPromptness, IsNotJudgedWhereJiffiesMayHaveStoodStill) {
  const InvariantCount made = countOf(7, afterTick(""));
  EXPECT_EQ(made.judged(), 0U) << afterTick("");
  EXPECT_EQ(made.why[number(BlindSpotKind::ClockNotAnchored)], 1U);
  const std::string printed = "90ms cpu1 timer_start timer=t2 expires=j+500 cpu=1\n";
  EXPECT_EQ(seen(7, afterTick(printed)), (Seen{0, 1, 0})) << afterTick(printed);
}

// --- I23

const std::string warm =
    "at 0.900\n0 cpu0 hrtimer_start hrtimer=p1 expires=+1ms\n1us cpu0 hrtimer_cancel hrtimer=p1\n"
    "at 1.000\n";

/// Timers due 2 ms behind their arm, whose interrupts come `us` behind it.
std::string served(int times, int us, const std::string& between = "") {
  return fmt::format(
      "repeat {} every 40ms\n0 cpu0 sh-72 hrtimer_start hrtimer=t1 function=f expires=+2ms\n"
      "1us cpu0 sh-72 call expires=+2ms\n{}{}us cpu0 local_timer_entry vector=236\n"
      "{}us cpu0 hrtimer_expire_entry hrtimer=t1\n{}us cpu0 hrtimer_expire_exit hrtimer=t1\n"
      "{}us cpu0 call expires=+100ms\n{}us cpu0 local_timer_exit vector=236\n{}end\n",
      times, between, us, us + 1, us + 2, us + 3, us + 4,
      between.find("cpu_idle") == std::string::npos
          ? ""
          : fmt::format("{}us cpu0 cpu_idle state=4294967295 cpu_id=0\n", us + 5));
}
const std::string many = warm + served(300, 2003);

TEST(InterruptPromptness, HoldsInTimeAndWithInterruptsOff) {
  const Seen inTime = seen(23, many);
  EXPECT_GE(inTime.held, 298U);
  EXPECT_EQ(inTime.violated, 0U);
  const Seen off = seen(23, many + served(1, 22'000,
                                          "1900us cpu0 sh-72 [d] timer_init timer=w7\n"
                                          "9000us cpu0 sh-72 [d] timer_init timer=w7\n"));
  EXPECT_EQ(off, (Seen{inTime.held + 1, 0, inTime.unjudged}));
}

TEST(InterruptPromptness, IsViolatedWhereInterruptsWereOnMeanwhile) {
  const Seen inTime = seen(23, many);
  const std::string on = "9000us cpu0 sh-72 [.] timer_init timer=w7\n";
  EXPECT_EQ(seen(23, many + served(1, 22'000, on)), (Seen{inTime.held, 1, inTime.unjudged}));
}

TEST(InterruptPromptness, IsNotJudgedWhereTheCpuWasIdleOrSilent) {
  const InvariantCount before = countOf(23, many);
  const auto more = [&](const std::string& between, BlindSpotKind why) {
    const InvariantCount made = countOf(23, many + served(1, 22'000, between));
    EXPECT_EQ(made.judged(), before.judged()) << between;
    EXPECT_EQ(made.why[number(why)], before.why[number(why)] + 1) << between;
  };
  more("5us cpu0 cpu_idle state=1 cpu_id=0\n", BlindSpotKind::OutsideModel);
  more("", BlindSpotKind::ContextNotVisible);
}

// --- I24

std::string empty(const std::string& at, const std::string& inside = "") {
  return "at " + at + "\n0 cpu0 local_timer_entry vector=236\n" + inside +
         "9us cpu0 local_timer_exit vector=236\n";
}
/// So that raises are recorded.
const std::string raising = empty("30.0", "1us cpu0 softirq_raise vec=HRTIMER\n");

TEST(InterruptUse, HoldsWithACallbackARaiseOrATimerTakenOut) {
  const Seen before = seen(24, many + raising);
  EXPECT_EQ(before.violated, 0U);
  EXPECT_GE(before.held, 300U);
  const std::string taken =
      "at 31.0\n0 cpu0 hrtimer_start hrtimer=t2 function=f expires=+1ms\n"
      "500us cpu1 hrtimer_cancel hrtimer=t2\n";
  EXPECT_EQ(seen(24, many + raising + taken + empty("31.001")),
            (Seen{before.held + 1, 0, before.unjudged}));
}

TEST(InterruptUse, IsViolatedByInterruptsForNothing) {
  const Seen before = seen(24, many + raising);
  const std::string on = "at 31.5\n0 cpu0 sh-72 [.] timer_init timer=w7\n";
  EXPECT_EQ(seen(24, many + raising + on + empty("32.0") + empty("32.001")),
            (Seen{before.held, 2, before.unjudged}));
}

TEST(InterruptUse, IsNotJudgedWithoutHighResolutionOrRaises) {
  const InvariantCount low = countOf(24, "kernel hres=off\n" + many + raising);
  EXPECT_EQ(low.judged(), 0U);
  EXPECT_EQ(low.why[number(BlindSpotKind::NotHighRes)], low.all());
  const InvariantCount unknown = countOf(24, many + empty("32.0"));
  EXPECT_EQ(unknown.violated, 0U);
  EXPECT_EQ(unknown.why[number(BlindSpotKind::NotRecorded)], 1U);
}

// --- I26

/// Two soft timers in one run; the second `gap` us behind the first, `inside` between them.
std::string softRun(int gap, const std::string& inside = "") {
  return fmt::format(
      "at 1.0\n0 cpu0 hrtimer_start hrtimer=s1 function=f expires=+1ms mode=ABS|SOFT\n"
      "1us cpu0 hrtimer_start hrtimer=s2 function=f expires=+1ms mode=ABS|SOFT\n"
      "1000us cpu0 local_timer_entry vector=236\n1001us cpu0 softirq_raise vec=HRTIMER\n"
      "1002us cpu0 local_timer_exit vector=236\n1003us cpu0 softirq_entry vec=HRTIMER\n"
      "1004us cpu0 hrtimer_expire_entry hrtimer=s1\n1500us cpu0 hrtimer_expire_exit hrtimer=s1\n"
      "{}{}us cpu0 hrtimer_expire_entry hrtimer=s2\n{}us cpu0 hrtimer_expire_exit hrtimer=s2\n"
      "{}us cpu0 softirq_exit vec=HRTIMER\n",
      inside, 1500 + gap, 1501 + gap, 1502 + gap);
}

TEST(SoftPromptness, HoldsBehindALongCallbackAndAnInterrupt) {
  EXPECT_EQ(seen(26, softRun(2)), (Seen{2, 0, 0})) << softRun(2);
  const std::string interrupt =
      "1501us cpu0 irq_handler_entry irq=9\n1600us cpu0 irq_handler_exit irq=9\n";
  EXPECT_EQ(seen(26, softRun(102, interrupt)), (Seen{2, 0, 0}));
}

TEST(SoftPromptness, IsViolatedByOtherWorkBetweenCallbacks) {
  EXPECT_EQ(seen(26, softRun(100, "1590us cpu0 timer_init timer=w7\n")), (Seen{1, 1, 0}));
}

TEST(SoftPromptness, IsNotJudgedOverSilence) {
  const InvariantCount made = countOf(26, softRun(100));
  EXPECT_EQ(made.held, 1U);
  EXPECT_EQ(made.why[number(BlindSpotKind::ContextNotVisible)], 1U);
  EXPECT_EQ(made.all(), 2U);
}

// --- I29

/// CPU 1 dies with a wheel timer on it, which `move` takes away or not, and logs again at 1 s.
std::string death(const std::string& move, const std::string& up) {
  return "at 1.0\n0 cpu1 timer_start timer=t1 expires=j+250 cpu=1\n"
         "20ms cpu0 kw-9 cpuhp_enter cpu=1 target=0 fun=timers_dead_cpu\n" +
         move + "21ms cpu0 kw-9 cpuhp_exit cpu=1 state=0 ret=0\n" + up +
         "900ms cpu1 timer_init timer=t9\n";
}
const std::string moved =
    "20100us cpu0 kw-9 timer_cancel timer=t1\n20101us cpu0 kw-9 timer_start timer=t1 "
    "expires=j+250 cpu=0\n";
const std::string broughtUp = "800ms cpu0 kw-9 cpuhp_enter cpu=1 target=200 fun=bringup_cpu\n";

TEST(OfflineCpu, HoldsWhereItsTimersAreMovedAndItIsBroughtUp) {
  EXPECT_EQ(seen(29, death(moved, broughtUp)), (Seen{2, 0, 0})) << death(moved, broughtUp);
}

TEST(OfflineCpu, IsViolatedByTimersLeftBehindAndByEventsOfTheDead) {
  EXPECT_EQ(seen(29, death("", broughtUp)), (Seen{1, 1, 0})) << "not moved";
  EXPECT_EQ(seen(29, death(moved, "")), (Seen{1, 1, 0})) << "not brought up";
}

TEST(OfflineCpu, IsNotJudgedWhereEventsWereLost) {
  const Seen made = seen(29, death(moved,
                                   "30ms cpu0 kw-9 timer_init timer=t8\nloss cpu0 3\n"
                                   "40ms cpu0 kw-9 timer_init timer=t8\n"));
  EXPECT_EQ(made, (Seen{1, 0, 1}));
}

}  // namespace
}  // namespace tickscope
