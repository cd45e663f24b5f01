// SPDX-License-Identifier: GPL-3.0-or-later
// What timers did in a recording, by callback, by owner or by timer.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "core/base/table.h"
#include "core/model/brackets.h"
#include "core/model/clock_map.h"
#include "core/stats/histogram.h"
#include "core/trace/recording.h"

namespace tickscope {

/// Counts and distributions of one row; mergeable. Times in ns.
struct TimerStats {
  u64 arms = 0;        ///< spans that begin in the recording
  u64 restarts = 0;    ///< of them, of a timer that was armed
  u64 byCallback = 0;  ///< of them, by HRTIMER_RESTART of the callback
  u64 cancels = 0, expiries = 0;
  u64 ended = 0;  ///< spans that ended in the recording, in whatever way is known
  u64 unknownEnds = 0;
  u64 wakes = 0;         ///< sched_waking (else sched_wakeup) inside its callbacks
  u64 idleExpiries = 0;  ///< expiries in an interrupt that came while the CPU was idle
  u64 programmingCalls = 0;
  u64 cpuChanges = 0;  ///< arms on another CPU than the one before
  Histogram timeout;   ///< expires - time of the arm; what was armed in the past counts as 0
  Histogram slackGiven, slackUsed;  ///< hrtimers: expires - softexpires; expiry - softexpires
  Histogram
      lateness;  ///< expiry - hard expires, wheel: - begin of the bucket's jiffy; never negative
  Histogram runTime;            ///< of its callbacks, what interrupted them included
  std::array<u64, 9> levels{};  ///< arms by level of the wheel
  Row first = noRow, last = noRow;

  void merge(const TimerStats& other);
  /// Expiries a span that ended; 1: a timer that always fires, 0: a timeout that never does. Empty: none ended.
  [[nodiscard]] Known<double> efficiency() const;
};

enum class StatsBy : u8 { Callback, Owner, Timer };

struct StatsKey {
  TimerClass of{};
  bool soft = false, deferrable = false;
  Address function{};
  /// Owner: who armed it; empty: before the recording, or by its own callback. Timer: the incarnation.
  Known<Pid> owner;
  bool interrupted = false;  ///< armed in an interrupt: the task only stood there
  Known<TimerId> timer;
  auto operator<=>(const StatsKey&) const = default;
};

struct StatsRow {
  StatsKey key;
  TimerStats stats;
};

/// By key. `brackets` by stream.
std::vector<StatsRow> timerStatsOf(const Buffer& buffer, const ReplayTables& tables,
                                   const ClockMap& clocks, std::span<const CpuBrackets> brackets,
                                   StatsBy by);

/// The columns of findings 3, most arms first; ties by name. `seconds`: what rates are counted over; 0: no rates.
Table timerTable(const std::vector<StatsRow>& rows, const Recording& recording,
                 const Buffer& buffer, const ReplayTables& tables, StatsBy by, double seconds);

}  // namespace tickscope
