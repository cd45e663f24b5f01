// SPDX-License-Identifier: GPL-3.0-or-later
// Charges the time of an interrupt to its callbacks, for each task that waits.
#include "core/findings/burst_waits.h"

#include <algorithm>

namespace tickscope {

namespace {

/// Where the batch's time went: each callback from its entry to that of the next one, the last to its exit.
class Charge {
 public:
  Charge(const Material& material, const ExpiryBatches& all, const ExpiryBatch& batch)
      : material_(material), all_(all), callbacks_(all.callbacksOf(batch)) {}

  /// Adds what the callbacks but `own` ran between two rows.
  void add(BurstWait& wait, s64& part, Row from, Row to, u32 own) const {
    for (u32 i = 0; i < callbacks_.size(); ++i) {
      if (i == own) continue;
      const Row begin = std::max(callbacks_[i].entry, from);
      const Row end = std::min(endOf(i), to);
      if (begin == noRow || end == noRow || begin >= end) continue;
      const s64 ns = material_.nsBetween(begin, end).value_or(0);
      part += ns;
      (isNormal(callbacks_[i]) ? wait.normal : wait.other) += ns;
    }
  }
  [[nodiscard]] Row first() const { return callbacks_.front().entry; }
  [[nodiscard]] Row last() const { return endOf(static_cast<u32>(callbacks_.size()) - 1); }

 private:
  [[nodiscard]] Row endOf(u32 i) const {
    if (i + 1 < callbacks_.size()) return callbacks_[i + 1].entry;
    return callbacks_[i].exit != noRow ? callbacks_[i].exit : callbacks_[i].entry;
  }
  [[nodiscard]] bool isNormal(const BatchCallback& callback) const {
    const auto wakes = all_.wakesOf(callback);
    return !callback.tick && !wakes.empty() &&
           std::ranges::none_of(wakes, [](const TimerWake& w) { return isRealTime(w.prio); });
  }

  const Material& material_;
  const ExpiryBatches& all_;
  std::span<const BatchCallback> callbacks_;
};

/// Stopper threads stand above all classes for a moment; nobody's latency is theirs.
bool isStopper(const Material& material, StringId comm) {
  return material.events.text(comm).starts_with("migration/");
}

}  // namespace

std::vector<BurstWait> burstWaitsOf(const Material& material, const ExpiryBatches& all,
                                    const ExpiryBatch& batch) {
  std::vector<BurstWait> waits;
  if (!batch.hard || batch.exit == noRow || batch.callbacks == 0) return waits;
  const Charge charge(material, all, batch);
  constexpr u32 none = ~u32{0};
  const CpuBrackets& cpu = material.brackets[batch.stream];
  if (const Bracket* const running = cpu.taskAt(batch.entry)) {
    const Task task = material.events.as<SchedSwitch>(running->entry).next;
    if (number(task.pid) != 0 && isRealTime(task.prio) && !isStopper(material, task.comm)) {
      BurstWait wait;
      wait.pid = task.pid;
      wait.comm = task.comm;
      wait.prio = task.prio;
      charge.add(wait, wait.after, charge.first(), charge.last(), none);
      waits.push_back(wait);
    }
  }
  for (const TimerWake& wake : all.wakesOf(batch)) {
    const BatchCallback& callback = all.callbacks[wake.callback];
    if (!isRealTime(wake.prio) || callback.tick || isStopper(material, wake.comm)) continue;
    BurstWait wait;
    wait.pid = wake.pid;
    wait.comm = wake.comm;
    wait.prio = wake.prio;
    wait.wake = wake.row;
    wait.elsewhere = wake.target != batch.cpu;
    const u32 own = wake.callback - batch.firstCallback;
    wait.position = own + 1;
    Row due = charge.first();
    if (callback.hasSpan()) {
      // It does not wait before its own timer is due.
      if (const auto at = material.dueTime(material.span(callback.span));
          at && at->value > material.time(due)) {
        const Row row = material.rowAtOrAfter(batch.cpu, at->value);
        due = row == noRow ? callback.entry : std::min(row, callback.entry);
      }
    }
    charge.add(wait, wait.before, due, callback.entry, own);
    if (!wait.elsewhere) charge.add(wait, wait.after, wake.row, charge.last(), own);
    waits.push_back(wait);
  }
  return waits;
}

bool isBurst(const Material& material, const ExpiryBatches& all, const ExpiryBatch& batch) {
  if (batch.callbacks >= material.thresholds.count(Limit::BurstCallbacks)) return true;
  if (batch.callbacks < 2) return false;
  // Of the callbacks: the interrupt around them also holds time in which the CPU did not run.
  const auto callbacks = all.callbacksOf(batch);
  const auto ns = material.nsBetween(callbacks.front().entry, callbacks.back().exit);
  const DelayRange own = material.baseline.slow ? material.baseline.all.tickRun : DelayRange{};
  return ns && *ns >= material.scaled(Limit::BurstTime, own);
}

bool onlyWakes(const Material& material, Address function) {
  const std::string name = material.callback(function);
  return name == "hrtimer_wakeup" || name == "process_timeout" || name == "posix_timer_fn" ||
         name == "timerfd_tmrproc";
}

}  // namespace tickscope
