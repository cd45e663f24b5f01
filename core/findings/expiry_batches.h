// SPDX-License-Identifier: GPL-3.0-or-later
// Hrtimers that expire together, in one interrupt or one run of the softirq, and whom they wake.
#pragma once

#include <vector>

#include "core/findings/material.h"

namespace tickscope {

/// A task made runnable between entry and exit of a callback.
struct TimerWake {
  Row row{};
  Pid pid{};
  StringId comm{};
  s32 prio{};  ///< the kernel's: below 0 deadline, below 100 real time
  Cpu target{};
  bool idleTarget = false;  ///< that CPU was idle; false also where neither S nor C tells
  u32 callback = 0;         ///< in ExpiryBatches::callbacks
};

struct BatchCallback {
  Row entry{}, exit = noRow;
  SpanId span{~u32{0}};
  Address function{};
  bool tick = false;
  u32 firstWake = 0, wakes = 0;

  [[nodiscard]] bool hasSpan() const { return number(span) != ~u32{0}; }
};

struct ExpiryBatch {
  Cpu cpu{};
  u32 stream = 0, bracket = 0;  ///< its interrupt or softirq in CpuBrackets::nested
  bool hard = false;            ///< in hard interrupt
  Row entry{},
      exit = noRow;  ///< of the interrupt or softirq; of the last callback where that has no end
  u32 firstCallback = 0, callbacks = 0;
  u32 firstWake = 0, wakes = 0;  ///< the tick's own included
};

struct ExpiryBatches {
  std::vector<ExpiryBatch> batches;  ///< by entry
  std::vector<BatchCallback> callbacks;
  std::vector<TimerWake> wakes;
  bool wakesRecorded = false;  ///< sched_waking or sched_wakeup

  [[nodiscard]] std::span<const BatchCallback> callbacksOf(const ExpiryBatch& batch) const {
    return std::span(callbacks).subspan(batch.firstCallback, batch.callbacks);
  }
  [[nodiscard]] std::span<const TimerWake> wakesOf(const ExpiryBatch& batch) const {
    return std::span(wakes).subspan(batch.firstWake, batch.wakes);
  }
  [[nodiscard]] std::span<const TimerWake> wakesOf(const BatchCallback& callback) const {
    return std::span(wakes).subspan(callback.firstWake, callback.wakes);
  }
};

/// Batches whose interrupt or softirq was not seen to begin are left out.
ExpiryBatches expiryBatchesOf(const Material& material);

/// Priorities below are those of SCHED_FIFO, SCHED_RR and SCHED_DEADLINE (MAX_RT_PRIO, sched/prio.h).
inline constexpr s32 firstNormalPrio = 100;
constexpr bool isRealTime(s32 prio) { return prio < firstNormalPrio; }

}  // namespace tickscope
