// SPDX-License-Identifier: GPL-3.0-or-later
// What the replay writes down: step lines, checkpoints, blind spots; and the live state for comparison.
#include <algorithm>

#include "core/model/replay.h"
#include "core/model/replay_now.h"
#include "core/model/state_at.h"

namespace tickscope {

SystemState Replay::snapshot() const {
  SystemState state;
  state.row = now_;
  state.time = store_.time(now_);
  for (const auto& cpu : cpus_) {
    CpuState& made = state.cpus.emplace_back();
    made.cpu = cpu->cpu;
    made.online = cpu->online;
    for (std::size_t place = 0; place < tables_.wheelBases; ++place) {
      WheelBaseState& base = made.wheel.emplace_back();
      base.kind = tables_.wheelBases == 2 && place == 1 ? WheelBaseKind::Def
                                                        : static_cast<WheelBaseKind>(place);
      const WheelModel& model = cpu->wheel[number(base.kind)];
      base.clk = model.clk();
      base.nextExpiry = model.nextExpiry();
      for (const SpanId id : open_) {
        const ArmedSpan& span = tables_.spans[number(id)];
        if (span.owner != cpu->cpu || span.wheelBase() != base.kind || !model.find(id)) continue;
        if (span.left != noRow) continue;
        if (tables_.timers[number(span.timer)].of != TimerClass::Wheel) continue;
        base.timers.push_back(stateTimerOf(tables_, store_, id));
      }
    }
    for (std::size_t base = 0; base < clockBaseCount; ++base) {
      cpu->hrtimers.tree(static_cast<ClockBase>(base)).forEach([&](const HrtimerTree::Timer& t) {
        if (tables_.spans[number(t.span)].left != noRow) return;
        made.hrtimers[base].push_back(stateTimerOf(tables_, store_, t.span));
      });
    }
    const HrtimerScalars& scalars = cpu->hrtimers.scalars(rule_);
    made.expiresNext = scalars.expiresNext;
    made.softirqExpiresNext = scalars.softirqExpiresNext;
    made.programmed = cpu->programmed;
    if (cpu->interruptTold) made.inInterrupt = cpu->hrtimers.inInterrupt();
    if (cpu->softirqTold) made.softirqActivated = cpu->hrtimers.softirqActivated();
    for (WheelBaseState& base : made.wheel) {
      std::ranges::sort(base.timers, {}, &StateTimer::span);
    }
  }
  for (const SpanId id : unplaced_) {
    if (tables_.spans[number(id)].left != noRow) continue;
    state.ownerUnknown.push_back(stateTimerOf(tables_, store_, id));
  }
  for (const SpanId id : open_) {
    const ArmedSpan& span = tables_.spans[number(id)];
    if (span.owner != noCpu || span.left != noRow) continue;
    if (tables_.timers[number(span.timer)].of != TimerClass::Wheel) continue;
    state.ownerUnknown.push_back(stateTimerOf(tables_, store_, id));
  }
  return state;
}

void Replay::recordLines(CpuNow& cpu, Row row) {
  CpuLines& lines = tables_.cpus[cpu.index];
  const Known<u64> unseenFrom =
      nextLoss_ == 0 ? hindsight_.wheelFloor(cpu.index, row) : Known<u64>{};
  if (cpu.unseenFrom != unseenFrom) {
    cpu.unseenFrom = unseenFrom;
    for (WheelModel& base : cpu.wheel) base.setUnseenFrom(unseenFrom);
  }
  for (std::size_t i = 0; i < wheelBaseCount; ++i) {
    if (!cpu.wheel[i].takeChanged()) continue;
    const auto asNumber = [](Known<u64> jiffies) -> Known<s64> {
      if (!jiffies) return {};
      return static_cast<s64>(*jiffies);
    };
    lines.clk[i].set(row, asNumber(cpu.wheel[i].clk()));
    lines.nextExpiry[i].set(row, asNumber(cpu.wheel[i].nextExpiry()));
  }
  const auto ns = [](Known<MonoTime> t) -> Known<s64> {
    if (!t) return {};
    return t->value;
  };
  const HrtimerScalars& scalars = cpu.hrtimers.scalars(rule_);
  lines.expiresNext.set(row, ns(scalars.expiresNext));
  lines.softirqExpiresNext.set(row, ns(scalars.softirqExpiresNext));
  lines.programmed.set(row, ns(cpu.programmed));
  lines.context.set(row, s64{cpu.online ? CpuOnline : 0} |
                             s64{cpu.interruptTold ? CpuInterruptTold : 0} |
                             s64{cpu.hrtimers.inInterrupt() ? CpuInInterrupt : 0} |
                             s64{cpu.softirqTold ? CpuSoftirqTold : 0} |
                             s64{cpu.hrtimers.softirqActivated() ? CpuSoftirqActivated : 0});
}

void Replay::checkpoint(Row row) {
  Checkpoint& made = tables_.checkpoints.emplace_back();
  made.row = row;
  made.first = static_cast<u32>(tables_.openSpans.size());
  made.count = static_cast<u32>(open_.size());
  tables_.openSpans.insert(tables_.openSpans.end(), open_.begin(), open_.end());
  // Eight rows a copied number, so that checkpoints stay small beside the events however many timers are armed.
  nextCheckpoint_ = number(row) + std::max<u32>(4096, made.count * 8);
}

void Replay::addBlindSpots() {
  const auto all = [&](BlindSpotKind kind) {
    tables_.blindSpots.push_back({kind, {}, Row{0}, noRow});
  };
  if (in_.filtered) all(BlindSpotKind::Filtered);
  if (!callsTraced_ && !callsByProbe_) all(BlindSpotKind::ProgrammingNotTraced);
  if (!wheelExpiriesTold_ || !hrtimersComplete_) all(BlindSpotKind::NotRecorded);
  if (!softirqsTraced_) all(BlindSpotKind::ContextNotVisible);
  if (!orderKnown_) all(BlindSpotKind::ClockNotAnchored);
  for (const auto& cpu : cpus_) {
    if (!cpu->highRes) {
      tables_.blindSpots.push_back({BlindSpotKind::NotHighRes, cpu->cpu, Row{0}, noRow});
    }
    tables_.blindSpots.push_back({BlindSpotKind::BeforeEvidence, cpu->cpu, Row{0}, cpu->warmFrom});
  }
  for (const TimeSpan& span : in_.clocks.blindSpans()) {
    tables_.blindSpots.push_back({BlindSpotKind::ClockNotAnchored,
                                  {},
                                  Row{store_.lowerBound(span.from)},
                                  Row{store_.lowerBound(span.to)}});
  }
  std::ranges::stable_sort(tables_.blindSpots, {}, &BlindSpot::from);
}

ReplayTables Replay::finish() {
  addBlindSpots();
  for (auto& cpu : cpus_) {
    // A call behind it may belong to a cancel that is no longer recorded.
    if (cpu->operation) {
      cpu->operation->blind = true;
      cpu->operation->why = BlindSpotKind::EndOfRecording;
    }
    closeOperation(*cpu);
  }
  const auto leftAt = [&](SpanId id) { return tables_.spans[number(id)].leftAt(); };
  std::ranges::stable_sort(tables_.beforeRecording, {}, leftAt);
  const auto endOf = [&](SpanId id) { return tables_.spans[number(id)].ended; };
  if (!std::ranges::is_sorted(tables_.endOrder, {}, endOf)) {
    // Timers of a CPU that died end at its last row.
    std::ranges::stable_sort(tables_.endOrder, {}, endOf);
  }
  tables_.trim();
  return std::move(tables_);
}

Hindsight Replay::takeHindsight() {
  hindsight_.rewind();
  return std::move(hindsight_);
}

}  // namespace tickscope
