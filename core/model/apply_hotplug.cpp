// SPDX-License-Identifier: GPL-3.0-or-later
// A CPU goes offline and comes back: the dying CPU moves its hrtimers without any row (hrtimers_cpu_dying).
#include <algorithm>

#include "core/model/replay.h"
#include "core/model/replay_now.h"

namespace tickscope {

void Replay::findDeaths() {
  const Symbols& symbols = *in_.recording.metadata.symbols;
  bool recorded = hasRows(kindOf<CpuhpEnter>);
  if (!recorded) return;
  std::vector<Row> lastOf(cpus_.size(), noRow);
  std::vector<bool> dead(cpus_.size(), false);
  for (u32 r = 0; r < store_.size(); ++r) {
    const Row row{r};
    const std::size_t at = cpuOfStream_[store_.streamOf(row)];
    lastOf[at] = row;
    dead[at] = false;
    if (store_.kind(row) != kindOf<CpuhpEnter>) continue;
    const auto event = store_.as<CpuhpEnter>(row);
    const auto symbol = symbols.at(event.fun);
    if (!symbol || symbol->name != "timers_dead_cpu") continue;
    const std::size_t gone = indexOf(cpuNumbers_, static_cast<Cpu>(event.cpu));
    if (gone >= cpuNumbers_.size() || number(cpuNumbers_[gone]) != event.cpu || dead[gone] ||
        lastOf[gone] == noRow) {
      continue;
    }
    dead[gone] = true;
    deaths_.push_back({cpuNumbers_[gone], lastOf[gone]});
  }
  std::ranges::sort(deaths_, {}, &Death::last);
}

void Replay::died(CpuNow& cpu, Row row) {
  closeOperation(cpu);
  cpu.online = false;
  cpu.inTimerInterrupt = cpu.passOpen = false;
  cpu.interrupt.reset();
  cpu.softirq = noVector;
  cpu.forgetContext();
  CpuNow* target = nullptr;
  for (auto& other : cpus_) {
    if (other->online) {
      target = other.get();
      break;
    }
  }
  for (const SpanId id : cpu.hrtimers.takeAll()) {
    const ArmedSpan old = tables_.spans[number(id)];
    const ModelTimer& timer = tables_.timers[number(old.timer)];
    TimerNow& now = this->timer(TimerClass::Hrtimer, timer.address);
    const bool tick = isTick(timer.function);
    close(id, row, tick || !target ? SpanEnd::Cancelled : SpanEnd::Moved);
    now.span.reset();
    if (tick || !target) continue;
    ArmedSpan moved = old;
    moved.armed = row;
    moved.ended = moved.left = noRow;
    moved.end = SpanEnd::Open;
    moved.owner = target->cpu;
    moved.flags |= ArmedSpan::MovedHere;
    now.span = open(moved);
    if (const auto x = monoOf(old.expires, old.clockBase(), row)) {
      target->hrtimers.enqueueRemote(*now.span, old.clockBase(), *x, BaseTime{old.expires});
    }
  }
  for (WheelModel& base : cpu.wheel) base.forgetClk();  // its timers are moved by rows of their own
  tables_.blindSpots.push_back({BlindSpotKind::CpuOffline, cpu.cpu, row, noRow});
  recordLines(cpu, row);
  if (target) recordLines(*target, row);
}

void Replay::cameUp(CpuNow& cpu, Row row) {
  cpu.online = true;
  cpu.comingUp = true;
  cpu.warm = false;
  cpu.forgetContext();
  cpu.hrtimers.forgetScalars();
  for (WheelModel& base : cpu.wheel) base.forgetClk();
  for (auto spot = tables_.blindSpots.rbegin(); spot != tables_.blindSpots.rend(); ++spot) {
    if (spot->kind != BlindSpotKind::CpuOffline || spot->cpu != cpu.cpu) continue;
    spot->to = row;
    break;
  }
  recordLines(cpu, row);
}

/// A CPU makes its tick when it has come up: it was offline, if no row said so (the control CPU's rows may be lost).
void Replay::tickMadeAnew(Row row) {
  CpuNow& cpu = *cpuNow(store_.cpu(row));
  if (cpu.comingUp) return;  // known already
  if (cpu.passOpen) cpu.hrtimers.endInterrupt();
  cpu.passOpen = false;
  for (const SpanId id : cpu.hrtimers.takeAll()) {
    // Moved while it was offline; where to shows when they expire.
    tables_.spans[number(id)].flags |= ArmedSpan::Uncertain;
  }
  cpu.hrtimers.forgetScalars();
  cpu.comingUp = true;
  cpu.warm = false;
}

bool Replay::hasRows(EventKind kind) const { return store_.firstPossible(kind).has_value(); }

}  // namespace tickscope
