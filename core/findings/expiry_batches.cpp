// SPDX-License-Identifier: GPL-3.0-or-later
// Gathers callbacks by the bracket around them, and the wake-ups between their entry and exit.
#include "core/findings/expiry_batches.h"

#include <algorithm>

#include "core/model/kernel_numbers.h"

namespace tickscope {

namespace {

class Gathering {
 public:
  explicit Gathering(const Material& material)
      : material_(material), events_(material.events), waking_(isRecorded(kindOf<SchedWaking>)) {
    made_.wakesRecorded = waking_ || isRecorded(kindOf<SchedWakeup>);
  }

  ExpiryBatches run() {
    for (u32 stream = 0; stream < material_.brackets.size(); ++stream) add(stream);
    std::ranges::stable_sort(made_.batches, {}, &ExpiryBatch::entry);
    return std::move(made_);
  }

 private:
  [[nodiscard]] bool isRecorded(EventKind kind) const {
    for (u16 type = 0; type < events_.types().size(); ++type) {
      if (events_.types()[type].kind != kind) continue;
      for (u32 stream = 0; stream < events_.streams().size(); ++stream) {
        if (events_.count(type, stream) > 0) return true;
      }
    }
    return false;
  }

  void add(u32 stream) {
    const CpuBrackets& cpu = material_.brackets[stream];
    // A batch's callbacks follow each other; between those of a softirq lie whole interrupts with their own.
    for (u32 at = 0; at < cpu.nested.size(); ++at) {
      const Bracket& outer = cpu.nested[at];
      const bool hard = outer.kind == BracketKind::TimerInterrupt;
      const bool soft = outer.kind == BracketKind::Softirq && outer.vector == hrtimerVector;
      if (outer.entry == noRow || outer.callbacks == 0 || (!hard && !soft)) continue;
      ExpiryBatch batch;
      batch.cpu = cpu.cpu;
      batch.stream = stream;
      batch.bracket = at;
      batch.hard = hard;
      batch.entry = outer.entry;
      batch.exit = outer.exit;
      batch.firstCallback = static_cast<u32>(made_.callbacks.size());
      batch.firstWake = static_cast<u32>(made_.wakes.size());
      for (u32 i = at + 1; i < cpu.nested.size() && batch.callbacks < outer.callbacks; ++i) {
        const Bracket& inner = cpu.nested[i];
        if (inner.outer != at || inner.kind != BracketKind::HrtimerCallback) continue;
        add(cpu, inner);
        ++batch.callbacks;
        if (outer.exit == noRow) batch.exit = inner.exit;
      }
      batch.wakes = static_cast<u32>(made_.wakes.size()) - batch.firstWake;
      if (batch.callbacks > 0) made_.batches.push_back(batch);
    }
  }

  void add(const CpuBrackets& cpu, const Bracket& bracket) {
    BatchCallback callback;
    callback.entry = bracket.entry;
    callback.exit = bracket.exit;
    callback.span = bracket.span;
    callback.function = events_.as<HrtimerExpireEntry>(bracket.entry).function;
    callback.tick = material_.isTick(callback.function);
    callback.firstWake = static_cast<u32>(made_.wakes.size());
    if (made_.wakesRecorded && bracket.exit != noRow) wakesIn(cpu, bracket);
    callback.wakes = static_cast<u32>(made_.wakes.size()) - callback.firstWake;
    made_.callbacks.push_back(callback);
  }

  void wakesIn(const CpuBrackets& cpu, const Bracket& bracket) {
    const auto rows = events_.rowsOfStream(events_.streamOf(bracket.entry));
    const u32 end = events_.placeInStream(bracket.exit);
    for (u32 at = events_.placeInStream(bracket.entry) + 1; at < end; ++at) {
      const Row row = rows[at];
      TimerWake wake;
      if (waking_) {
        if (events_.kind(row) != kindOf<SchedWaking>) continue;
        note(wake, events_.as<SchedWaking>(row));
      } else {
        if (events_.kind(row) != kindOf<SchedWakeup>) continue;
        note(wake, events_.as<SchedWakeup>(row));
      }
      // What an interrupt inside of a softirq's callback wakes is not the callback's.
      if (const u32 innermost = cpu.innermostAt(row);
          innermost == Bracket::none || &cpu.nested[innermost] != &bracket) {
        continue;
      }
      wake.row = row;
      wake.callback = static_cast<u32>(made_.callbacks.size());
      wake.idleTarget = wasIdle(wake.target, row);
      made_.wakes.push_back(wake);
    }
  }

  template <class Event>
  static void note(TimerWake& wake, const Event& event) {
    wake.pid = event.task.pid;
    wake.comm = event.task.comm;
    wake.prio = event.task.prio;
    wake.target = static_cast<Cpu>(event.targetCpu);
  }

  [[nodiscard]] bool wasIdle(Cpu target, Row row) const {
    const CpuBrackets* const cpu = material_.bracketsOf(target);
    if (!cpu) return false;
    if (cpu->idleAt(row)) return true;
    const Bracket* const task = cpu->taskAt(row);
    return task && number(events_.as<SchedSwitch>(task->entry).next.pid) == 0;
  }

  const Material& material_;
  const EventStore& events_;
  bool waking_;
  ExpiryBatches made_;
};

}  // namespace

ExpiryBatches expiryBatchesOf(const Material& material) { return Gathering(material).run(); }

}  // namespace tickscope
