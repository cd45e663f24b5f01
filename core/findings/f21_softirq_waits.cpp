// SPDX-License-Identifier: GPL-3.0-or-later
// Gives each gap between two rows of the wait to what the CPU was in.
#include "core/findings/f21_softirq_waits.h"

#include <algorithm>
#include <array>
#include <map>

#include "core/findings/dead_time.h"

namespace tickscope {

namespace {

/// TRACE_FLAG_BH_OFF (trace_events.h, 6.1 and later).
constexpr u8 bhOffFlag = 0x80;

struct Share {
  s64 ns = 0;
  Row first = noRow;
  bool softirqsOff = false;
  u64 rows = 0, irqsOffRows = 0;
};
struct What {
  Blocker by{};
  u32 vector = 0;
  Pid task{};
  auto operator<=>(const What&) const = default;
};

What whatAt(const Material& material, const CpuBrackets& cpu, Row row) {
  What what;
  const u32 at = cpu.innermostAt(row);
  for (u32 i = at; i != Bracket::none; i = cpu.nested[i].outer) {
    const BracketKind kind = cpu.nested[i].kind;
    if (kind == BracketKind::TimerInterrupt || kind == BracketKind::Interrupt) {
      what.by = Blocker::Interrupts;
      return what;
    }
    if (kind == BracketKind::Softirq) {
      what.by = Blocker::Softirq;
      what.vector = cpu.nested[i].vector;
      return what;
    }
  }
  what.task = material.events.pid(row);
  if (material.events.kind(row) == kindOf<SchedSwitch>) {
    what.task = material.events.as<SchedSwitch>(row).next.pid;
  }
  what.by = number(what.task) == 0 ? Blocker::Idle : Blocker::Task;
  return what;
}

}  // namespace

std::string_view vectorName(u32 vector) {
  // softirq_to_name of interrupt.h.
  constexpr std::array<std::string_view, 10> names{
      "HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"};
  return vector < names.size() ? names[vector] : "unknown";
}

bool isSoftirqThread(std::string_view comm) {
  return comm.starts_with("ksoftirqd/") || comm.starts_with("ktimers/") ||
         comm.starts_with("ktimersoftd/");
}

Row waitBegin(const CpuBrackets& cpu, const Bracket& bracket) {
  for (u32 i = cpu.innermostAt(bracket.raised); i != Bracket::none; i = cpu.nested[i].outer) {
    const Bracket& around = cpu.nested[i];
    if (around.kind == BracketKind::Softirq && around.vector == bracket.vector) return around.exit;
  }
  return bracket.raised;
}

SoftirqWait softirqWaitOf(const Material& material, const CpuBrackets& cpu, const Bracket& bracket,
                          Row begin) {
  const EventStore& events = material.events;
  SoftirqWait wait;
  wait.whole = material.nsBetween(begin, bracket.entry).value_or(0);
  wait.dead = std::min(wait.whole, deadNs(material, begin, bracket.entry));
  const Pid thread = events.pid(bracket.entry);
  const bool threaded = isSoftirqThread(material.text.comm(thread));
  std::map<What, Share> shares;
  for (Row row = begin; row < bracket.entry;) {
    const Row after = material.next(row);
    if (after == noRow) break;
    if (events.kind(row) == kindOf<SchedWaking> && wait.woken == noRow &&
        isSoftirqThread(events.text(events.as<SchedWaking>(row).task.comm))) {
      wait.woken = row;
    }
    const What what = whatAt(material, cpu, row);
    Share& share = shares[what];
    if (share.first == noRow) share.first = row;
    share.ns += material.nsBetween(row, std::min(after, bracket.entry)).value_or(0);
    const Context context = events.context(row);
    if (!context.hardIrq()) {
      ++share.rows;
      share.irqsOffRows += context.irqsOff();
    }
    share.softirqsOff |= (context.flags & bhOffFlag) != 0;
    // An interrupt sees the state of the task that it interrupts.
    if (what.by == Blocker::Interrupts && (context.flags & bhOffFlag) != 0) {
      What under;
      under.by = Blocker::Task;
      under.task = events.pid(row);
      shares[under].softirqsOff = true;
    }
    row = after;
  }
  for (const auto& [what, share] : shares) {
    if (share.ns <= wait.byNs) continue;
    wait.byNs = share.ns;
    wait.by = what.by;
    wait.vector = what.vector;
    wait.task = what.task;
    wait.byRow = share.first;
    wait.softirqsOff = share.softirqsOff;
    wait.irqsOff = share.rows > 0 && share.rows == share.irqsOffRows;
  }
  if (wait.by == Blocker::Task) {
    if (threaded || wait.woken != noRow) wait.by = Blocker::Thread;
    if (wait.softirqsOff) wait.by = Blocker::Task;
    if (const Bracket* const task = cpu.taskAt(wait.byRow)) {
      const Task next = events.as<SchedSwitch>(task->entry).next;
      if (next.pid == wait.task) wait.prio = next.prio;
    }
  }
  return wait;
}

}  // namespace tickscope
