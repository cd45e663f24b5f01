// SPDX-License-Identifier: GPL-3.0-or-later
// Answers out of the tables.
#include "core/findings/material.h"

#include <algorithm>

#include "core/model/due_time.h"
#include "core/model/hindsight.h"

namespace tickscope {

namespace {

/// For limits in ticks where HZ is not known.
constexpr u32 usualHz = 250;

Needs recordedGroups(const EventStore& store, const ReplayTables& tables) {
  const auto has = [&](auto... kinds) { return (... || store.firstPossible(kinds)); };
  Needs groups;
  using enum Need;
  if (has(kindOf<TimerStart>) && has(kindOf<TimerExpireEntry>)) groups.add(W);
  if (has(kindOf<HrtimerStart>) && has(kindOf<HrtimerExpireEntry>)) groups.add(H);
  if (has(kindOf<SoftirqEntry>) && has(kindOf<SoftirqExit>)) groups.add(Q);
  if (has(kindOf<LocalTimerEntry>, kindOf<IrqHandlerEntry>)) groups.add(I);
  if (has(kindOf<ProgramEvent>, kindOf<ProgramEventProbe>)) groups.add(P);
  if (has(kindOf<ProgramEventProbe>) && !tables.cpus.empty() &&
      std::ranges::any_of(tables.cpus,
                          [](const CpuLines& cpu) { return cpu.programmed.size() > 0; })) {
    groups.add(PX);
  }
  if (has(kindOf<SchedSwitch>) && has(kindOf<SchedWaking>, kindOf<SchedWakeup>)) groups.add(S);
  if (has(kindOf<CpuIdle>)) groups.add(C);
  if (has(kindOf<TickStop>)) groups.add(N);
  if (has(kindOf<TmigrCpuIdle>, kindOf<TmigrHandleRemote>, kindOf<TmigrCpuActive>)) groups.add(M);
  if (has(kindOf<CpuhpEnter>, kindOf<CpuhpExit>)) groups.add(U);
  if (has(kindOf<IpiRaise>, kindOf<IpiEntry>, kindOf<IpiSendCpu>, kindOf<CsdQueueCpu>,
          kindOf<CsdFunctionEntry>, kindOf<VectorEntry>)) {
    groups.add(X);
  }
  if (std::ranges::any_of(store.types(), [&](const EventType& type) {
        const auto index = static_cast<u16>(&type - store.types().data());
        for (u32 stream = 0; stream < store.streams().size(); ++stream) {
          if (type.name == "kernel_stack" && store.count(index, stream)) return true;
        }
        return false;
      })) {
    groups.add(K);
  }
  return groups;
}

}  // namespace

std::string_view eventsOf(Need group) {
  switch (group) {
    case Need::W:
      return "timer:timer_*";
    case Need::H:
      return "timer:hrtimer_*";
    case Need::Q:
      return "irq:softirq_*";
    case Need::I:
      return "irq_vectors:local_timer_* or irq:irq_handler_*";
    case Need::P:
      return "tick_program_event";
    case Need::PX:
      return "tick_program_event with its arguments";
    case Need::S:
      return "sched:sched_switch and sched:sched_waking";
    case Need::C:
      return "power:cpu_idle";
    case Need::N:
      return "timer:tick_stop";
    case Need::M:
      return "timer_migration:*";
    case Need::U:
      return "cpuhp:*";
    case Need::X:
      return "ipi:*";
    case Need::K:
      return "kernel stacks";
  }
  return "";
}

Material::Material(const MaterialParts& parts)
    : recording(parts.recording),
      buffer(parts.buffer),
      events(parts.buffer.events),
      clocks(parts.clocks),
      profile(parts.profile),
      tables(parts.tables),
      thresholds(parts.thresholds),
      filtered(parts.filtered),
      text(parts.recording, parts.buffer),
      brackets(parts.activity.brackets),
      baseline(parts.activity.baseline),
      recorded(recordedGroups(events, tables)),
      tickFunctions_(tickFunctionsOf(recording, clocks)) {
  for (const Cpu cpu : cpusOf(events)) {
    Blind& blind = blind_.emplace_back();
    blind.cpu = cpu;
    for (const BlindSpot& spot : tables.blindSpots) {
      if (!spot.cpu || *spot.cpu == cpu) blind.spots.push_back(spot);
    }
  }
  for (const BlindSpot& spot : tables.blindSpots) {
    if (spot.kind != BlindSpotKind::CpuOffline || events.empty()) continue;
    const Row last{events.size() - 1};
    offline_.push_back(
        {spot.cpu, {events.time(std::min(spot.from, last)), events.time(std::min(spot.to, last))}});
  }
  for (u16 type = 0; type < events.types().size(); ++type) {
    if (events.types()[type].kind != kindOf<SuspendResume>) continue;
    for (u32 row = 0; row < events.size(); ++row) {
      if (events.typeIndex(Row{row}) != type) continue;
      const TraceTime at = events.time(Row{row});
      offline_.push_back({{}, {at, at}});
    }
  }
}

Known<s64> Material::nsBetween(Row from, Row to) const {
  return tickscope::nsBetween(buffer, clocks, from, to);
}

Known<Bounded<MonoTime>> Material::dueMono(const ArmedSpan& span) const {
  return dueTimeOf(span, tables, clocks);
}

Known<Bounded<TraceTime>> Material::dueTime(const ArmedSpan& span) const {
  const auto due = dueMono(span);
  if (!due) return {};
  const Row at = span.ended != noRow ? span.ended : span.armed;
  const Cpu cpu = span.owner != noCpu ? span.owner : at != noRow ? events.cpu(at) : Cpu{0};
  auto when = clocks.trace(due->value, cpu);
  if (when) when->error.value += due->error.value;
  return when;
}

Known<s64> Material::tickNs() const {
  const auto hz = profile.hz.judged();
  if (!hz || *hz == 0) return {};
  return ClockMap::tickNs(*hz);
}

s64 Material::ticksToNs(Limit limit) const {
  const s64 tick = tickNs().value_or(ClockMap::tickNs(usualHz));
  return static_cast<s64>(thresholds[limit] * static_cast<double>(tick));
}

s64 Material::scaled(Limit limit, const DelayRange& own) const {
  const LimitUnit unit = thresholdInfos[static_cast<u8>(limit)].unit;
  const s64 plain = unit == LimitUnit::Time ? thresholds.ns(limit) : ticksToNs(limit);
  return baseline.limit(plain, thresholds[Limit::BaseFactor], own);
}

const CpuBrackets* Material::bracketsOf(Cpu cpu) const {
  const auto found = std::ranges::find(brackets, cpu, &CpuBrackets::cpu);
  return found == brackets.end() ? nullptr : &*found;
}

const CpuLines* Material::linesOf(Cpu cpu) const {
  const auto found = std::ranges::lower_bound(tables.cpus, cpu, {}, &CpuLines::cpu);
  return found == tables.cpus.end() || found->cpu != cpu ? nullptr : &*found;
}

Row Material::rowAtOrAfter(Cpu cpu, TraceTime t) const {
  const auto rows = events.rowsOf(cpu);
  const auto found = std::ranges::lower_bound(rows, Row{events.lowerBound(t)});
  return found == rows.end() ? noRow : *found;
}

Row Material::rowBefore(Cpu cpu, TraceTime t) const {
  const auto rows = events.rowsOf(cpu);
  const auto found = std::ranges::lower_bound(rows, Row{events.lowerBound(t)});
  return found == rows.begin() ? noRow : *(found - 1);
}

Row Material::next(Row row) const {
  const auto rows = events.rowsOfStream(events.streamOf(row));
  const u32 at = events.placeInStream(row) + 1;
  return at < rows.size() ? rows[at] : noRow;
}

Row Material::previous(Row row) const {
  const u32 at = events.placeInStream(row);
  return at > 0 ? events.rowsOfStream(events.streamOf(row))[at - 1] : noRow;
}

bool Material::isTick(Address function) const {
  return std::ranges::find(tickFunctions_, function) != tickFunctions_.end();
}

Known<Owner> Material::ownerOf(const ArmedSpan& span) const {
  if (span.armed == noRow || span.has(ArmedSpan::Restart) || span.has(ArmedSpan::MovedHere)) {
    return {};
  }
  return taskOf(span.armed);
}

Owner Material::taskOf(Row row) const {
  Owner owner;
  owner.pid = events.pid(row);
  owner.comm = text.comm(owner.pid);
  const Context context = events.context(row);
  owner.interrupted = context.hardIrq() || context.softIrq() || context.nmi();
  return owner;
}

bool Material::isBlind(Cpu cpu, Row from, Row to, BlindSpotSet kinds) const {
  const auto found = std::ranges::lower_bound(blind_, cpu, {}, &Blind::cpu);
  if (found == blind_.end() || found->cpu != cpu) return true;
  return std::ranges::any_of(found->spots, [&](const BlindSpot& spot) {
    return kinds[number(spot.kind)] && spot.from <= to && from < spot.to;
  });
}

s64 Material::judgedNs(Cpu cpu, BlindSpotSet kinds) const {
  const auto rows = events.rowsOf(cpu);
  const auto found = std::ranges::lower_bound(blind_, cpu, {}, &Blind::cpu);
  if (rows.empty() || found == blind_.end() || found->cpu != cpu) return 0;
  s64 judged = 0;
  // Spots are by their begin; what lies between them is judged.
  Row from = rows.front();
  const Row last = rows.back();
  const auto add = [&](Row to) {
    if (to <= from) return;
    judged += nsBetween(from, to).value_or(0);
  };
  for (const BlindSpot& spot : found->spots) {
    if (!kinds[number(spot.kind)] || spot.from >= spot.to) continue;
    add(std::min(spot.from, last));
    from = std::max(from, spot.to);
    if (from >= last) return judged;
  }
  add(last);
  return judged;
}

s64 Material::judgedNs(BlindSpotSet kinds) const {
  s64 sum = 0;
  for (const Blind& cpu : blind_) sum += judgedNs(cpu.cpu, kinds);
  return sum;
}

bool Material::isSilent(Cpu cpu, TraceTime from, TraceTime to) const {
  const CpuBrackets* const made = bracketsOf(cpu);
  if (!made) return false;
  const s64 most = ticksToNs(Limit::Silence);
  Row before = rowBefore(cpu, from);
  if (before == noRow) before = rowAtOrAfter(cpu, from);
  while (before != noRow && time(before) <= to) {
    const Row after = next(before);
    if (after == noRow) return false;
    if (nsBetween(before, after).value_or(0) > most && time(after) > from &&
        !made->idleAt(before)) {
      return true;
    }
    before = after;
  }
  return false;
}

bool Material::irqsOffBefore(Row row) const {
  const Row before = previous(row);
  if (before == noRow) return false;
  const Context context = events.context(before);
  return context.irqsOff() && !context.hardIrq();
}

bool Material::hotplugOrSuspend(Cpu cpu, TraceTime from, TraceTime to) const {
  return std::ranges::any_of(offline_, [&](const Offline& spot) {
    return (!spot.cpu || *spot.cpu == cpu) && spot.when.from <= to && from <= spot.when.to;
  });
}

bool Material::clockStep(ClockBase base, Row from, Row to) const {
  const auto& epochs = clocks.epochs(base);
  for (std::size_t i = 1; i < epochs.size(); ++i) {
    // It was set somewhere between the two readings.
    if (epochs[i - 1].last <= to && from <= epochs[i].first) return true;
  }
  return std::ranges::any_of(tables.blindSpots, [&](const BlindSpot& spot) {
    return spot.kind == BlindSpotKind::ClockNotAnchored && spot.from <= to && from < spot.to;
  });
}

}  // namespace tickscope
