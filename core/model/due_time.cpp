// SPDX-License-Identifier: GPL-3.0-or-later
// Due times out of spans.
#include "core/model/due_time.h"

#include <string_view>

namespace tickscope {

Known<Bounded<MonoTime>> dueTimeOf(const ArmedSpan& span, const ReplayTables& tables,
                                   const ClockMap& clocks) {
  if (tables.timers[number(span.timer)].of == TimerClass::Hrtimer) {
    if (!span.expiryKnown) return {};
    if (hardOf(span.clockBase()) == ClockBase::Mono)
      return Bounded<MonoTime>{MonoTime{span.expires}, Ns{0}};
    const Row at = span.ended != noRow ? span.ended : span.armed;
    if (at == noRow) return {};
    const auto offset = clocks.boundedOffset(span.clockBase(), at);
    if (!offset) return {};
    return Bounded<MonoTime>{MonoTime{span.expires - offset->value}, Ns{offset->error}};
  }
  if (!span.secondKnown) return {};
  const auto begin = clocks.monoOf(static_cast<u64>(span.second));
  if (!begin) return {};
  return Bounded<MonoTime>{*begin, Ns{0}};
}

Known<s64> nsBetween(const Buffer& buffer, const ClockMap& clocks, Row from, Row to) {
  if (from == noRow || to == noRow) return {};
  const EventStore& events = buffer.events;
  if (buffer.clock.unit == ClockUnit::Nanoseconds) {
    return (events.time(to) - events.time(from)).value;
  }
  const auto begin = clocks.mono(events.time(from), events.cpu(from));
  const auto end = clocks.mono(events.time(to), events.cpu(to));
  if (!begin || !end) return {};
  return (end->value - begin->value).value;
}

std::vector<Address> tickFunctionsOf(const Recording& recording, const ClockMap& clocks) {
  std::vector<Address> functions;
  for (const std::string_view name : {"tick_sched_timer", "tick_nohz_handler"}) {
    if (const auto range = recording.metadata.symbols->rangeOf(name)) {
      functions.push_back(static_cast<Address>(range->from));
    }
  }
  // Other callbacks can keep the tick's grid too: behaviour decides only what has no name.
  if (functions.empty()) {
    const auto seen = clocks.jiffyMap().tickFunction();
    if (seen && !recording.metadata.symbols->at(*seen)) functions.push_back(*seen);
  }
  return functions;
}

}  // namespace tickscope
