// SPDX-License-Identifier: GPL-3.0-or-later
// How late and slow this machine is when nothing is wrong: what limits of time are measured against.
#pragma once

#include <span>
#include <vector>

#include "core/model/brackets.h"
#include "core/model/clock_map.h"
#include "core/trace/recording.h"

namespace tickscope {

/// Exact order statistics, ns.
struct DelayRange {
  u64 count = 0;
  s64 p50 = 0, p75 = 0, p90 = 0, p99 = 0, most = 0;
};

struct CpuBaseline {
  Cpu cpu{};
  DelayRange deviceDelay;  ///< timer interrupt - due time of its first timer (dev.delay)
  DelayRange tickRun;      ///< run time of the tick handler (tick.run)
  DelayRange softWait;     ///< TIMER: raise to entry (soft.wait)
};

/// A healthy kernel on a slow machine breaks every fixed limit of time, so limits scale with it (findings 1.8).
struct MachineBaseline {
  std::vector<CpuBaseline> cpus;  ///< ascending
  CpuBaseline all;                ///< over all CPUs; `cpu` without meaning
  double scale = 1;               ///< s: tick.run p50 / 10 us, within 1..50
  bool slow = false;              ///< dev.delay p75 over 1 ms, or s over 5

  /// The limit in use, in ns: the default scaled, or `factor` times the p99 of what it is measured against.
  [[nodiscard]] s64 limit(s64 defaultNs, double factor, const DelayRange& own) const;
};

/// Spans inside blind spots and intervals in which the CPU was not seen are left out.
MachineBaseline baselineOf(const Recording& recording, const Buffer& buffer,
                           const ReplayTables& tables, const ClockMap& clocks,
                           std::span<const CpuBrackets> brackets);

}  // namespace tickscope
