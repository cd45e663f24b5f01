// SPDX-License-Identifier: GPL-3.0-or-later
// What would have happened had idle interrupts run every timer past its softexpires: a walk over recorded times.
#pragma once

#include <span>
#include <vector>

#include "core/base/ids.h"

namespace tickscope {

/// An armed timer of a hard base that expired. Times are ns of CLOCK_MONOTONIC.
struct GreedySleep {
  static constexpr u32 none = ~u32{0};
  Cpu cpu{};
  s64 armed = 0, soft = 0, expires = 0;
  s64 ran = 0;           ///< when it expired in the recording
  s64 runNs = 0;         ///< how long its callback took
  u32 before = none;     ///< the sleep of the same timer and owner before it
  bool movable = false;  ///< it has slack and may be run early
};

/// A timer interrupt and the sleeps that it ran: `count` entries of a list from `first` on.
struct GreedyInterrupt {
  Cpu cpu{};
  s64 at = 0;
  s64 ns = 0;          ///< how long it took
  bool idle = false;   ///< it hit the idle task: here the walk is greedy
  bool fixed = false;  ///< it ran the tick or what is not known, and stays
  u32 first = 0, count = 0;
};

/// What becomes of the arm that follows on one that ran early.
enum class Rearm : u8 {
  InPlace,  ///< it stays where it was: absolute times
  Shifted   ///< it comes earlier by as much: times relative to now
};

struct GreedyOutcome {
  std::vector<bool> vanished;  ///< by interrupt
  std::vector<s64> ran;        ///< by sleep: when it runs in this walk
  u64 ranEarly = 0;
  s64 longestBefore = 0, longestAfter = 0;  ///< interrupts that hit idle, ns
  u64 mostBefore = 0, mostAfter = 0;        ///< sleeps run by one of them
};

/// Interrupts by time; `list` names sleeps. A sleep that no earlier idle interrupt of its CPU could run stays with
/// its own interrupt; an interrupt vanishes when all that it ran has run before.
GreedyOutcome greedyWalk(std::span<const GreedySleep> sleeps,
                         std::span<const GreedyInterrupt> interrupts, std::span<const u32> list,
                         Rearm rearm);

}  // namespace tickscope
