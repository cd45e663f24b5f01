// SPDX-License-Identifier: GPL-3.0-or-later
// Two recordings beside one another, before and after a patch: findings, callbacks, latency.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/analysis.h"
#include "core/stats/latency_table.h"
#include "core/stats/timer_stats.h"

namespace tickscope {

/// One of the two recordings.
struct ComparedSide {
  const Analysis& analysis;
  const Findings& findings;
  std::vector<StatsRow> callbacks;  ///< timerStatsOf by callback
  LatencyTable latency;
  double seconds = 0;  ///< recorded time
};

struct Comparison {
  /// Findings by id, sub-kind and callback: gone, new, changed, same, no longer judged, not judged before.
  Table findings;
  /// Callbacks by name, with rates, efficiency and lateness of both.
  Table callbacks;
  /// Achieved and assigned of the wheel: max, avg, std (as the kernel's commit 2fe59f507a65 tells them).
  Table latency;
  u32 gone = 0, appeared = 0, changed = 0, noLongerJudged = 0;
};

Comparison compare(const ComparedSide& before, const ComparedSide& after);

}  // namespace tickscope
