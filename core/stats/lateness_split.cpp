// SPDX-License-Identifier: GPL-3.0-or-later
// Walks from the due time to the callback and gives each stretch to one part.
#include "core/stats/lateness_split.h"

#include <algorithm>

#include "core/model/due_time.h"
#include "core/model/kernel_numbers.h"

namespace tickscope {

namespace {

/// Leaving deep idle takes less (ns); what is longer is not explained by it.
constexpr s64 longestIdleExit = 1'000'000;

}  // namespace

std::string_view codeOf(LatePart part) {
  constexpr std::array<std::string_view, latePartCount> codes{"A", "P", "I", "Q", "R", "S", "W"};
  return codes[static_cast<u8>(part)];
}

std::string_view clauseOf(LatePart part) {
  constexpr std::array<std::string_view, latePartCount> clauses{
      "before it was armed",
      "until the device's interrupt, which nothing on this CPU held up",
      "until the interrupt was taken",
      "behind earlier callbacks of the interrupt",
      "from due to raise",
      "from raise to entry of the softirq",
      "inside the softirq behind earlier callbacks"};
  return clauses[static_cast<u8>(part)];
}

LatePart LatenessSplit::greatest() const {
  const auto most = std::ranges::max_element(parts);
  return static_cast<LatePart>(most - parts.begin());
}

/// Only forward, and never past the callback: so the parts add up.
class LatenessSplitter::Cursor {
 public:
  Cursor(s64 from, s64 end) : at_(from), end_(end) {}
  void to(LatePart part, s64 time, LatenessSplit& split) {
    const s64 until = std::min(time, end_);
    if (until <= at_) return;
    split.parts[static_cast<u8>(part)] += until - at_;
    at_ = until;
  }
  void rest(LatePart part, LatenessSplit& split) { to(part, end_, split); }
  [[nodiscard]] s64 at() const { return at_; }

 private:
  s64 at_, end_;
};

LatenessSplitter::LatenessSplitter(const Recording& recording, const Buffer& buffer,
                                   const ReplayTables& tables, const ClockMap& clocks,
                                   std::span<const CpuBrackets> brackets)
    : events_(buffer.events),
      tables_(tables),
      clocks_(clocks),
      brackets_(brackets),
      ticks_(tickFunctionsOf(recording, clocks)) {}

Known<s64> LatenessSplitter::mono(Row row) const {
  if (row == noRow) return {};
  const auto at = clocks_.mono(events_.time(row), events_.cpu(row));
  return at ? Known<s64>(at->value.value) : Known<s64>{};
}

Known<LatenessSplit> LatenessSplitter::of(const ArmedSpan& span) const {
  if (span.end != SpanEnd::Expired || span.ended == noRow) return {};
  const auto due = dueTimeOf(span, tables_, clocks_);
  const auto ran = clocks_.mono(events_.time(span.ended), events_.cpu(span.ended));
  if (!due || !ran) return {};
  LatenessSplit split;
  split.due = due->value;
  split.error = due->error.value + ran->error.value;
  split.late = std::max<s64>(0, (ran->value - due->value).value);
  if (split.late == 0) return split;
  Cursor cursor(due->value.value, ran->value.value);
  if (const auto armed = mono(span.armed)) cursor.to(LatePart::Armed, *armed, split);
  const CpuBrackets& cpu = brackets_[events_.streamOf(span.ended)];
  const u32 at = cpu.innermostAt(span.ended);
  const Bracket* outer = nullptr;
  if (at != Bracket::none && cpu.nested[at].outer != Bracket::none) {
    outer = &cpu.nested[cpu.nested[at].outer];
  }
  const bool inSoftirq = outer && outer->kind == BracketKind::Softirq;
  const bool inInterrupt = outer && outer->kind == BracketKind::TimerInterrupt;
  if (inInterrupt && outer->entry != noRow) {
    hard(span, cpu, *outer, cursor, split);
  } else if (inSoftirq && outer->entry != noRow) {
    soft(span, cpu, *outer, cursor, split);
  } else if (events_.context(span.ended).hardIrq()) {
    untilInterrupt(cpu, span.ended, cursor, split);
  } else {
    cursor.rest(LatePart::Raise, split);
  }
  return split;
}

void LatenessSplitter::hard(const ArmedSpan& span, const CpuBrackets& cpu, const Bracket& outer,
                            Cursor& cursor, LatenessSplit& split) const {
  split.entry = outer.entry;
  untilInterrupt(cpu, outer.entry, cursor, split);
  longestBefore(cpu, outer, span.ended, cursor.at(), split);
  cursor.rest(LatePart::Queue, split);
}

void LatenessSplitter::soft(const ArmedSpan& span, const CpuBrackets& cpu, const Bracket& outer,
                            Cursor& cursor, LatenessSplit& split) const {
  split.entry = outer.entry;
  split.raise = outer.raised;
  const auto entered = mono(outer.entry);
  if (const auto raised = mono(outer.raised)) {
    // The interrupt that raised it may have been held up itself.
    if (const Bracket* const interrupt = timerInterruptAt(cpu, outer.raised)) {
      const bool wheel = outer.vector == timerVector;
      if (wheel) {
        if (const auto due = tickDue(cpu, *interrupt)) {
          cursor.to(LatePart::Raise, *due, split);
          untilInterrupt(cpu, interrupt->entry, cursor, split);
        }
      } else {
        // One that came since it was due, and did not raise: from there on it is the raise that is late.
        const auto before = std::find_if(
            std::make_reverse_iterator(cpu.nested.begin() + (interrupt - cpu.nested.data())),
            cpu.nested.rend(),
            [](const Bracket& b) { return b.kind == BracketKind::TimerInterrupt; });
        const auto last = before == cpu.nested.rend() ? Known<s64>{} : mono(before->entry);
        if (!last || *last <= cursor.at()) {
          untilInterrupt(cpu, interrupt->entry, cursor, split);
        }
      }
    }
    cursor.to(LatePart::Raise, *raised, split);
    if (entered) cursor.to(LatePart::Wait, *entered, split);
  } else if (entered) {
    cursor.to(LatePart::Raise, *entered, split);
  }
  longestBefore(cpu, outer, span.ended, cursor.at(), split);
  cursor.rest(LatePart::Within, split);
}

/// From where the cursor stands to the entry of the interrupt: P up to the last row that had interrupts on, I behind.
void LatenessSplitter::untilInterrupt(const CpuBrackets& cpu, Row interrupt, Cursor& cursor,
                                      LatenessSplit& split) const {
  const auto entered = mono(interrupt);
  if (!entered || *entered <= cursor.at()) return;
  const s64 from = cursor.at();
  const auto rows = events_.rowsOfStream(events_.streamOf(interrupt));
  Row on = noRow, off = noRow, other = noRow;
  Row before = noRow;
  for (u32 place = events_.placeInStream(interrupt); place > 0; --place) {
    const Row row = rows[place - 1];
    const auto at = mono(row);
    if (before == noRow) before = row;
    if (!at || *at <= from) break;
    const Context context = events_.context(row);
    if (context.hardIrq()) {
      if (other == noRow) other = row;
    } else if (context.irqsOff()) {
      // A switch has interrupts off itself and says nothing of the task that runs behind it.
      if (off == noRow && other == noRow && events_.kind(row) == kindOf<SchedSwitch>) break;
      if (off == noRow) off = row;
    } else {
      on = row;
      break;
    }
  }
  if (on != noRow) {
    cursor.to(LatePart::Device, *mono(on), split);
    split.by = LateBy::NotDelivered;
    split.byRow = on;
    if (split[LatePart::Device] >= *entered - cursor.at()) {
      cursor.to(LatePart::Interrupt, *entered, split);
      return;
    }
  }
  const bool idle = before != noRow && cpu.idleAt(before) && other == noRow;
  if (idle) {
    const bool longer = *entered - cursor.at() > longestIdleExit;
    split.by = longer ? LateBy::NotDelivered : LateBy::IdleExit;
    split.byRow = before;
    cursor.to(longer ? LatePart::Device : LatePart::Interrupt, *entered, split);
    return;
  }
  if (other != noRow) {
    split.by = LateBy::Interrupt;
    split.byRow = other;
  } else if (off != noRow) {
    split.by = LateBy::IrqsOff;
    split.byRow = off;
  } else {
    const Context context = before != noRow ? events_.context(before) : Context{};
    const bool lastOff = before != noRow && context.irqsOff() && !context.hardIrq() &&
                         events_.kind(before) != kindOf<SchedSwitch>;
    split.by = lastOff ? LateBy::IrqsOff : LateBy::Silent;
    split.byRow = before;
  }
  cursor.to(LatePart::Interrupt, *entered, split);
}

const Bracket* LatenessSplitter::timerInterruptAt(const CpuBrackets& cpu, Row row) const {
  return cpu.at(row, BracketKind::TimerInterrupt);
}

/// When the tick of that interrupt was due, mono ns.
Known<s64> LatenessSplitter::tickDue(const CpuBrackets& cpu, const Bracket& interrupt) const {
  const auto at = static_cast<u32>(&interrupt - cpu.nested.data());
  u32 seen = 0;
  for (u32 i = at + 1; i < cpu.nested.size() && seen < interrupt.callbacks; ++i) {
    const Bracket& inner = cpu.nested[i];
    if (inner.outer != at) continue;
    ++seen;
    if (inner.kind != BracketKind::HrtimerCallback || !inner.hasSpan()) continue;
    const Address function = events_.as<HrtimerExpireEntry>(inner.entry).function;
    if (std::ranges::find(ticks_, function) == ticks_.end()) continue;
    const auto due = dueTimeOf(tables_.spans[number(inner.span)], tables_, clocks_);
    return due ? Known<s64>(due->value.value) : Known<s64>{};
  }
  return {};
}

void LatenessSplitter::longestBefore(const CpuBrackets& cpu, const Bracket& outer, Row until,
                                     s64 from, LatenessSplit& split) const {
  const auto at = static_cast<u32>(&outer - cpu.nested.data());
  s64 longest = 0;
  for (u32 i = at + 1; i < cpu.nested.size(); ++i) {
    const Bracket& inner = cpu.nested[i];
    if (inner.entry != noRow && inner.entry >= until) break;
    if (inner.outer != at || !inner.whole()) continue;
    const auto begin = mono(inner.entry), end = mono(inner.exit);
    if (!begin || !end) continue;
    const s64 ns = *end - std::max(*begin, from);
    if (ns <= longest) continue;
    longest = ns;
    split.callback = inner.entry;
  }
}

}  // namespace tickscope
