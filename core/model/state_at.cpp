// SPDX-License-Identifier: GPL-3.0-or-later
// Reading a state back from checkpoints, spans and step lines.
#include "core/model/state_at.h"

#include <algorithm>

namespace tickscope {

namespace {

/// The row at which a span entered the table.
Row enteredAt(const ArmedSpan& span) {
  if (span.has(ArmedSpan::Seeded)) return Row{0};
  return span.armed == noRow ? span.ended : span.armed;
}

Known<u64> jiffies(Known<s64> value) {
  if (!value) return {};
  return static_cast<u64>(*value);
}
Known<MonoTime> mono(Known<s64> value) {
  if (!value) return {};
  return MonoTime{*value};
}

WheelBaseKind baseAt(const ReplayTables& tables, std::size_t place) {
  if (tables.wheelBases == 2 && place == 1) return WheelBaseKind::Def;
  return static_cast<WheelBaseKind>(place);
}

/// The lines of a CPU whose steps change what a state shows; none for a CPU that is not there.
template <class F>
void forEachLine(const ReplayTables& tables, Cpu cpu, F&& f) {
  const auto lines = std::ranges::lower_bound(tables.cpus, cpu, {}, &CpuLines::cpu);
  if (lines == tables.cpus.end() || lines->cpu != cpu) return;
  for (std::size_t i = 0; i < wheelBaseCount; ++i) {
    f(lines->clk[i]);
    f(lines->nextExpiry[i]);
  }
  f(lines->expiresNext);
  f(lines->softirqExpiresNext);
  f(lines->context);
  f(lines->timers);
}

struct Builder {
  const ReplayTables& tables;
  const EventStore& store;
  SystemState& state;

  CpuState* cpuOf(Cpu cpu) const {
    const auto at = std::ranges::lower_bound(state.cpus, cpu, {}, &CpuState::cpu);
    return at != state.cpus.end() && at->cpu == cpu ? &*at : nullptr;
  }

  void add(SpanId id) const {
    const ArmedSpan& span = tables.spans[number(id)];
    const StateTimer timer = stateTimerOf(tables, store, id);
    const bool wheel = tables.timers[number(span.timer)].of == TimerClass::Wheel;
    CpuState* cpu = span.owner == noCpu ? nullptr : cpuOf(span.owner);
    // A wheel timer from before the recording shows its CPU at the end, but not its base.
    if (!cpu || (wheel && span.armed == noRow)) {
      state.ownerUnknown.push_back(timer);
      return;
    }
    if (!wheel) {
      cpu->hrtimers[span.base].push_back(timer);
      return;
    }
    for (WheelBaseState& base : cpu->wheel) {
      if (base.kind == span.wheelBase()) base.timers.push_back(timer);
    }
  }
};

}  // namespace

StateTimer stateTimerOf(const ReplayTables& tables, const EventStore& store, SpanId id) {
  const ArmedSpan& span = tables.spans[number(id)];
  const ModelTimer& model = tables.timers[number(span.timer)];
  StateTimer timer;
  timer.span = id;
  timer.timer = span.timer;
  timer.address = model.address;
  timer.function = model.function;
  if (span.expiryKnown) timer.expires = span.expires;
  if (span.secondKnown) timer.second = span.second;
  timer.bucketIndex = span.bucketIndex;
  timer.flags = span.flags;
  if (span.armed != noRow) {
    timer.armedRow = span.armed;
    const Context context = store.context(span.armed);
    if (!context.hardIrq() && !context.softIrq() && !span.has(ArmedSpan::MovedHere)) {
      timer.armedBy = store.pid(span.armed);
    }
  }
  return timer;
}

void sortAsKernel(CpuState& cpu) {
  for (WheelBaseState& base : cpu.wheel) {
    std::ranges::sort(base.timers, [](const StateTimer& a, const StateTimer& b) {
      if (a.second != b.second) return a.second < b.second;
      if (a.bucketIndex / 64 != b.bucketIndex / 64) return a.bucketIndex / 64 > b.bucketIndex / 64;
      return a.span > b.span;
    });
  }
  for (auto& tree : cpu.hrtimers) {
    std::ranges::sort(tree, [](const StateTimer& a, const StateTimer& b) {
      if (a.expires != b.expires) return a.expires < b.expires;
      return a.span < b.span;
    });
  }
}

SystemState stateAt(const ReplayTables& tables, const EventStore& store, Row row) {
  SystemState state;
  state.row = row;
  state.time = store.time(row);
  for (const CpuLines& lines : tables.cpus) {
    CpuState& cpu = state.cpus.emplace_back();
    cpu.cpu = lines.cpu;
    for (std::size_t place = 0; place < tables.wheelBases; ++place) {
      WheelBaseState& base = cpu.wheel.emplace_back();
      base.kind = baseAt(tables, place);
      base.clk = jiffies(lines.clk[number(base.kind)].at(row));
      base.nextExpiry = jiffies(lines.nextExpiry[number(base.kind)].at(row));
    }
    cpu.expiresNext = mono(lines.expiresNext.at(row));
    cpu.softirqExpiresNext = mono(lines.softirqExpiresNext.at(row));
    cpu.programmed = mono(lines.programmed.at(row));
    const s64 bits = lines.context.at(row).value_or(CpuOnline);
    cpu.online = bits & CpuOnline;
    if (bits & CpuInterruptTold) cpu.inInterrupt = (bits & CpuInInterrupt) != 0;
    if (bits & CpuSoftirqTold) cpu.softirqActivated = (bits & CpuSoftirqActivated) != 0;
    for (const BlindSpot& spot : tables.blindSpots) {
      if (spot.cpu && *spot.cpu != lines.cpu) continue;
      if (spot.from <= row && row < spot.to) cpu.unknown.push_back(spot.kind);
    }
  }

  const Builder builder{tables, store, state};
  const auto live = [&](const ArmedSpan& span) {
    return span.leftAt() == noRow || span.leftAt() > row;
  };
  const auto after = std::ranges::upper_bound(tables.checkpoints, row, {}, &Checkpoint::row);
  Row from{0};
  bool fromStart = true;
  if (after != tables.checkpoints.begin()) {
    const Checkpoint& checkpoint = *(after - 1);
    from = checkpoint.row;
    fromStart = false;
    for (u32 i = 0; i < checkpoint.count; ++i) {
      const SpanId id = tables.openSpans[checkpoint.first + i];
      if (live(tables.spans[number(id)])) builder.add(id);
    }
  }
  auto span = fromStart ? tables.spans.begin()
                        : std::ranges::upper_bound(tables.spans, from, {}, enteredAt);
  for (; span != tables.spans.end() && enteredAt(*span) <= row; ++span) {
    if ((span->armed != noRow || span->has(ArmedSpan::Seeded)) && live(*span)) {
      builder.add(static_cast<SpanId>(span - tables.spans.begin()));
    }
  }
  // Those from before the recording stand from its first row until they are first seen.
  const auto leftAt = [&](SpanId id) { return tables.spans[number(id)].leftAt(); };
  for (auto id = std::ranges::upper_bound(tables.beforeRecording, row, {}, leftAt);
       id != tables.beforeRecording.end(); ++id) {
    builder.add(*id);
  }
  for (CpuState& cpu : state.cpus) sortAsKernel(cpu);
  std::ranges::sort(state.ownerUnknown, {}, &StateTimer::span);
  return state;
}

Row nextChange(const ReplayTables& tables, Cpu cpu, Row row) {
  Row next = noRow;
  forEachLine(tables, cpu,
              [&](const StepLine& line) { next = std::min(next, line.nextChange(row)); });
  return next;
}

Row previousChange(const ReplayTables& tables, Cpu cpu, Row row) {
  Row previous = noRow;
  forEachLine(tables, cpu, [&](const StepLine& line) {
    const Row at = line.previousChange(row);
    if (at != noRow && (previous == noRow || at > previous)) previous = at;
  });
  return previous;
}

}  // namespace tickscope
