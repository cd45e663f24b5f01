// SPDX-License-Identifier: GPL-3.0-or-later
// What ran on each CPU from an entry to its exit: interrupts, softirqs, callbacks, tasks, idle.
#pragma once

#include <vector>

#include "core/model/replay_tables.h"
#include "core/trace/event_store.h"

namespace tickscope {

enum class BracketKind : u8 {
  Interrupt,       ///< of a device, or another vector; the entry row says which
  TimerInterrupt,  ///< of the CPU's clock event device
  Softirq,
  HrtimerCallback,
  WheelCallback,
  Idle,
  Task  ///< from one sched_switch to the next; pid 0 is the idle task
};

struct Bracket {
  static constexpr u32 none = ~u32{0};
  enum Flag : u8 {
    /// A timer interrupt that no event marks: its rows are those in hard interrupt context around a callback.
    Inferred = 1,
    /// It is over, but was not seen to end; `exit` is empty. Without it an empty exit is the recording's end.
    EndNotSeen = 2,
  };
  Row entry = noRow;   ///< noRow: it began before the recording or in a gap
  Row exit = noRow;    ///< noRow: not seen
  Row raised = noRow;  ///< softirq: the first raise of its vector on this CPU since the last entry
  u32 outer = none;    ///< the bracket around it, in CpuBrackets::nested
  SpanId span{~u32{0}};  ///< callback: the armed span that ended by it
  BracketKind kind{};
  u8 vector = 0;  ///< softirq
  u8 flags = 0;
  u16 callbacks = 0;  ///< callbacks directly inside

  [[nodiscard]] bool has(Flag flag) const { return flags & flag; }
  /// Both ends were seen.
  [[nodiscard]] bool whole() const { return entry != noRow && exit != noRow; }
  [[nodiscard]] bool hasSpan() const { return number(span) != ~u32{0}; }
};

/// The brackets of one stream of events, by entry; one whose entry was not seen stands where its exit is.
struct CpuBrackets {
  Cpu cpu{};
  std::vector<Bracket> nested;  ///< interrupts, softirqs, callbacks
  std::vector<Bracket> tasks, idles;

  /// The innermost of `nested` that is open behind the event of that row (its own exit: no longer); Bracket::none.
  [[nodiscard]] u32 innermostAt(Row row) const;
  /// The innermost of that kind; nullptr: none.
  [[nodiscard]] const Bracket* at(Row row, BracketKind kind) const;
  /// What the CPU was switched to last; nullptr: not seen.
  [[nodiscard]] const Bracket* taskAt(Row row) const;
  /// nullptr: not idle, or cpu_idle is not recorded.
  [[nodiscard]] const Bracket* idleAt(Row row) const;
};

/// One for each stream of the store, in its order. Uses the threads for streams.
std::vector<CpuBrackets> bracketsOf(const EventStore& store, const ReplayTables& tables,
                                    int threads);

}  // namespace tickscope
