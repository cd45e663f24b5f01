// SPDX-License-Identifier: GPL-3.0-or-later
// Where the lateness of one expiry went: parts whose sum is the lateness exactly.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "core/model/brackets.h"
#include "core/model/clock_map.h"
#include "core/trace/recording.h"

namespace tickscope {

enum class LatePart : u8 {
  Armed,      ///< A: it was armed after it was due
  Device,     ///< P: device or hypervisor: interrupts were on, or the CPU idle, and none came
  Interrupt,  ///< I: interrupts off, another interrupt, exit of idle, or a busy CPU without events
  Queue,      ///< Q: entry of the interrupt to the callback: callbacks before it
  Raise,      ///< R: soft and wheel: due to raise; the wheel's includes up to a tick
  Wait,       ///< S: raise to entry of the softirq
  Within      ///< W: entry of the softirq to the callback: callbacks before it
};
inline constexpr std::size_t latePartCount = 7;
/// "A", "P", ...
std::string_view codeOf(LatePart part);
/// "behind earlier callbacks": a clause.
std::string_view clauseOf(LatePart part);

/// What stood in the way of the interrupt.
enum class LateBy : u8 {
  Nothing,      ///< no such part
  IrqsOff,      ///< a row says that interrupts were off outside of an interrupt
  Interrupt,    ///< another interrupt ran
  IdleExit,     ///< the CPU was idle
  Silent,       ///< busy without events: interrupts off or not running, not recorded
  NotDelivered  ///< interrupts were on
};

struct LatenessSplit {
  s64 late = 0;                            ///< ns; the sum of the parts
  s64 error = 0;                           ///< half-width of it, ns
  std::array<s64, latePartCount> parts{};  ///< ns, none below 0
  MonoTime due{};
  LateBy by{};           ///< of the parts P and I
  Row byRow = noRow;     ///< the row that shows it
  Row callback = noRow;  ///< parts Q and W: the entry of the longest callback before it
  Row raise = noRow;     ///< parts R and S
  Row entry = noRow;     ///< of the interrupt or softirq that it ran in

  [[nodiscard]] s64 operator[](LatePart part) const { return parts[static_cast<u8>(part)]; }
  [[nodiscard]] LatePart greatest() const;
};

class LatenessSplitter {
 public:
  /// All must outlive it. `brackets` by stream.
  LatenessSplitter(const Recording& recording, const Buffer& buffer, const ReplayTables& tables,
                   const ClockMap& clocks, std::span<const CpuBrackets> brackets);

  /// Of the expiry that ended the span. Empty: it ended otherwise, when it was due is not known, or the clock has no
  /// map there. What ran before it was due has a lateness of 0.
  [[nodiscard]] Known<LatenessSplit> of(const ArmedSpan& span) const;

 private:
  class Cursor;
  void hard(const ArmedSpan& span, const CpuBrackets& cpu, const Bracket& outer, Cursor& cursor,
            LatenessSplit& split) const;
  void soft(const ArmedSpan& span, const CpuBrackets& cpu, const Bracket& outer, Cursor& cursor,
            LatenessSplit& split) const;
  void untilInterrupt(const CpuBrackets& cpu, Row interrupt, Cursor& cursor,
                      LatenessSplit& split) const;
  [[nodiscard]] const Bracket* timerInterruptAt(const CpuBrackets& cpu, Row row) const;
  [[nodiscard]] Known<s64> tickDue(const CpuBrackets& cpu, const Bracket& interrupt) const;
  [[nodiscard]] Known<s64> mono(Row row) const;
  void longestBefore(const CpuBrackets& cpu, const Bracket& outer, Row until, s64 from,
                     LatenessSplit& split) const;

  const EventStore& events_;
  const ReplayTables& tables_;
  const ClockMap& clocks_;
  std::span<const CpuBrackets> brackets_;
  std::vector<Address> ticks_;
};

}  // namespace tickscope
