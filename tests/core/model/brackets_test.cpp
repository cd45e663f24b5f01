// SPDX-License-Identifier: GPL-3.0-or-later
// Entries paired with exits: nesting, missing ends, gaps, preempted softirqs, interrupts that no event marks.
#include "core/model/brackets.h"

#include <gtest/gtest.h>

#include "tests/support/trace_script.h"

namespace tickscope {
namespace {

CpuBrackets bracketsOf(const std::string& script) {
  const Analysis analysis = support::TraceScript(script).analysed();
  return bracketsOf(analysis.events(), analysis.tables, 1).at(0);
}

TEST(Brackets, NestCallbacksInTheirInterrupt) {
  const CpuBrackets cpu = bracketsOf(
      "0 cpu0 hrtimer_start hrtimer=t1 expires=+1ms\n"
      "1ms cpu0 local_timer_entry vector=236\n1001us cpu0 hrtimer_expire_entry hrtimer=t1\n"
      "1002us cpu0 hrtimer_expire_exit hrtimer=t1\n1003us cpu0 local_timer_exit vector=236\n");
  ASSERT_EQ(cpu.nested.size(), 2U);
  EXPECT_EQ(cpu.nested[0].kind, BracketKind::TimerInterrupt);
  EXPECT_EQ(cpu.nested[0].callbacks, 1U);
  EXPECT_EQ(cpu.nested[1].kind, BracketKind::HrtimerCallback);
  EXPECT_EQ(cpu.nested[1].outer, 0U);
  ASSERT_TRUE(cpu.nested[1].hasSpan());
  EXPECT_TRUE(cpu.nested[0].whole() && cpu.nested[1].whole());
  EXPECT_EQ(cpu.innermostAt(Row{2}), 1U);
  EXPECT_EQ(cpu.innermostAt(Row{3}), 0U);
  EXPECT_EQ(cpu.innermostAt(Row{4}), Bracket::none);
}

TEST(Brackets, TellTheTimersInterruptLineByWhatItRan) {
  const CpuBrackets cpu = bracketsOf(
      "0 cpu0 irq_handler_entry irq=7 name=arch_timer\n1us cpu0 irq_handler_exit irq=7\n"
      "0 cpu0 hrtimer_start hrtimer=t1 expires=+1ms\n"
      "1ms cpu0 irq_handler_entry irq=7 name=arch_timer\n"
      "1001us cpu0 hrtimer_expire_entry hrtimer=t1\n1002us cpu0 hrtimer_expire_exit hrtimer=t1\n"
      "1003us cpu0 irq_handler_exit irq=7\n"
      "2ms cpu0 irq_handler_entry irq=8 name=disk\n2001us cpu0 irq_handler_exit irq=8\n");
  ASSERT_EQ(cpu.nested.size(), 4U);
  EXPECT_EQ(cpu.nested[0].kind, BracketKind::TimerInterrupt);
  EXPECT_EQ(cpu.nested[1].kind, BracketKind::TimerInterrupt);
  EXPECT_EQ(cpu.nested[3].kind, BracketKind::Interrupt);
}

TEST(Brackets, InferAnInterruptThatNoEventMarks) {
  const CpuBrackets cpu = bracketsOf(
      "0 cpu0 hrtimer_start hrtimer=t1 expires=+1ms\n"
      "1ms cpu0 [dh] hrtimer_expire_entry hrtimer=t1\n"
      "1001us cpu0 [dh] hrtimer_expire_exit hrtimer=t1\n"
      "1002us cpu0 [dh] softirq_raise vec=TIMER\n1003us cpu0 sched_switch prev=idle next=sh-1\n");
  ASSERT_EQ(cpu.nested.size(), 2U);
  EXPECT_TRUE(cpu.nested[0].has(Bracket::Inferred));
  EXPECT_EQ(cpu.nested[0].kind, BracketKind::TimerInterrupt);
  EXPECT_EQ(cpu.nested[0].exit, Row{3});
}

TEST(Brackets, KeepTheFirstRaiseOfASoftirq) {
  const CpuBrackets cpu = bracketsOf(
      "0 cpu0 [dh] softirq_raise vec=TIMER\n1us cpu0 [dh] softirq_raise vec=TIMER\n"
      "5us cpu0 softirq_entry vec=TIMER\n6us cpu0 [dhs] softirq_raise vec=TIMER\n"
      "7us cpu0 softirq_exit vec=TIMER\n9us cpu0 softirq_entry vec=TIMER\n"
      "10us cpu0 softirq_exit vec=TIMER\n");
  ASSERT_EQ(cpu.nested.size(), 2U);
  EXPECT_EQ(cpu.nested[0].raised, Row{0});
  EXPECT_EQ(cpu.nested[1].raised, Row{3});
}

TEST(Brackets, LeaveEndsThatWereNotSeenEmpty) {
  const CpuBrackets cpu = bracketsOf(
      "0 cpu0 softirq_entry vec=TIMER\n1us cpu0 softirq_entry vec=TIMER\n"
      "2us cpu0 softirq_exit vec=TIMER\n3us cpu0 softirq_entry vec=RCU\n");
  ASSERT_EQ(cpu.nested.size(), 3U);
  EXPECT_TRUE(cpu.nested[0].has(Bracket::EndNotSeen));
  EXPECT_EQ(cpu.nested[0].exit, noRow);
  EXPECT_TRUE(cpu.nested[1].whole());
  // The recording ends within.
  EXPECT_FALSE(cpu.nested[2].has(Bracket::EndNotSeen));
  EXPECT_EQ(cpu.innermostAt(Row{3}), 2U);
}

TEST(Brackets, KnowNothingAcrossAGap) {
  const CpuBrackets cpu = bracketsOf(
      "0 cpu0 softirq_entry vec=TIMER\n0 cpu0 cpu_idle state=1 cpu_id=0\nloss cpu0 5\n"
      "1ms cpu0 softirq_exit vec=TIMER\n2ms cpu0 softirq_entry vec=RCU\n"
      "3ms cpu0 softirq_exit vec=RCU\n");
  ASSERT_EQ(cpu.nested.size(), 3U);
  EXPECT_TRUE(cpu.nested[0].has(Bracket::EndNotSeen));
  EXPECT_EQ(cpu.nested[1].entry, noRow);
  EXPECT_EQ(cpu.nested[1].exit, Row{2});
  EXPECT_TRUE(cpu.nested[2].whole());
  EXPECT_EQ(cpu.idleAt(Row{3}), nullptr);
}

TEST(Brackets, DoNotPutAnotherTasksInterruptIntoAPreemptedSoftirq) {
  const CpuBrackets cpu = bracketsOf(
      "kernel rt=yes\n0 cpu0 ktimers/0-15 sched_switch prev=idle next=ktimers/0-15\n"
      "1us cpu0 ktimers/0-15 softirq_entry vec=TIMER\n"
      "2us cpu0 ktimers/0-15 sched_switch prev=ktimers/0-15 next=rt-9:19\n"
      "3us cpu0 rt-9 [dh] irq_handler_entry irq=8 name=disk\n"
      "4us cpu0 rt-9 [dh] irq_handler_exit irq=8\n"
      "5us cpu0 rt-9 sched_switch prev=rt-9:19 next=ktimers/0-15\n"
      "6us cpu0 ktimers/0-15 [dh] irq_handler_entry irq=8 name=disk\n"
      "7us cpu0 ktimers/0-15 [dh] irq_handler_exit irq=8\n"
      "8us cpu0 ktimers/0-15 softirq_exit vec=TIMER\n");
  ASSERT_EQ(cpu.nested.size(), 3U);
  EXPECT_TRUE(cpu.nested[0].whole());
  EXPECT_EQ(cpu.nested[1].outer, Bracket::none);
  EXPECT_EQ(cpu.nested[2].outer, 0U);
  ASSERT_EQ(cpu.tasks.size(), 3U);
  EXPECT_EQ(cpu.taskAt(Row{3}), &cpu.tasks[1]);
}

TEST(Brackets, PairIdleWithItsEnd) {
  const CpuBrackets cpu = bracketsOf(
      "0 cpu0 cpu_idle state=1 cpu_id=0\n1ms cpu0 cpu_idle state=EXIT cpu_id=0\n"
      "2ms cpu0 cpu_idle state=2 cpu_id=0\n");
  ASSERT_EQ(cpu.idles.size(), 2U);
  EXPECT_TRUE(cpu.idles[0].whole());
  EXPECT_EQ(cpu.idleAt(Row{0}), &cpu.idles[0]);
  EXPECT_EQ(cpu.idleAt(Row{1}), nullptr);
  EXPECT_EQ(cpu.idleAt(Row{2}), &cpu.idles[1]);
}

}  // namespace
}  // namespace tickscope
