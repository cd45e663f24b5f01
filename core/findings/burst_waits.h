// SPDX-License-Identifier: GPL-3.0-or-later
// How long real-time tasks wait for the other callbacks of a hard timer interrupt.
#pragma once

#include "core/findings/expiry_batches.h"

namespace tickscope {

/// One real-time task and one interrupt of its CPU. Times in ns.
struct BurstWait {
  Pid pid{};
  StringId comm{};
  s32 prio{};
  Row wake = noRow;           ///< its wake-up; noRow: it ran when the interrupt came
  u32 position = 0;           ///< of its callback, from 1; 0: it ran
  bool elsewhere = false;     ///< woken on another CPU: only what ran before its callback counts
  s64 normal = 0;             ///< callbacks that woke only tasks without real-time priority
  s64 other = 0;              ///< other callbacks
  s64 before = 0, after = 0;  ///< of both: before its own callback, and behind it
  /// normal + other; what it waited because of callbacks that are not its own.
  [[nodiscard]] s64 all() const { return normal + other; }
};

/// Empty for batches in softirq, and without an end.
std::vector<BurstWait> burstWaitsOf(const Material& material, const ExpiryBatches& all,
                                    const ExpiryBatch& batch);

/// Whether the batch is long by number or by time (burst.n, burst.time).
bool isBurst(const Material& material, const ExpiryBatches& all, const ExpiryBatch& batch);

/// Callbacks that do nothing but wake a task or queue its signal.
bool onlyWakes(const Material& material, Address function);

}  // namespace tickscope
