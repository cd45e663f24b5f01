// SPDX-License-Identifier: GPL-3.0-or-later
// What the reference model adds to the lanes of a CPU: armed timers, what is due next, where nothing is known.
#pragma once

#include <limits>
#include <memory>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/model/clock_map.h"
#include "core/model/replay_tables.h"
#include "core/timeline/lane.h"
#include "core/timeline/range_top.h"

namespace tickscope {

/// Times here are relative to Timeline::origin, in units of the trace clock, as in the lanes.
struct TimeRange {
  s64 from{}, to{};
  bool operator==(const TimeRange&) const = default;
};

/// All lives of the timers of one class that one CPU holds. Those whose CPU is not known are in no lane.
struct ArmedLane {
  std::vector<s64> begins;      ///< ascending
  std::vector<SpanId> byBegin;  ///< beside `begins`
  std::vector<s64> ends;        ///< ascending
  std::vector<SpanId> byEnd;    ///< beside `ends`
  RangeTop latest;              ///< over the ends of byBegin
  std::vector<TimeRange>
      late;  ///< a timer was armed past its due time and the threshold; disjoint, ascending

  /// Spans that begin before `to` and do not end before `from`.
  [[nodiscard]] u32 touching(s64 from, s64 to) const;
  /// Armed after all that happened at `time`.
  [[nodiscard]] u32 armedAt(s64 time) const { return touching(time + 1, time + 1); }
};

/// To which time the clock event device is programmed, as steps.
struct DueLine {
  static constexpr s64 unknown = std::numeric_limits<s64>::min();
  static constexpr s64 never = std::numeric_limits<s64>::max();
  std::vector<s64> at;   ///< ascending; in force until the next
  std::vector<s64> due;  ///< a time, or unknown, or never
  s64 end = 0;           ///< of the last step
  RangeTop highest;      ///< over the time left at the begin of each step
  RangeTop lowest;       ///< over the negative of the time left at its end

  [[nodiscard]] bool known(u32 step) const { return due[step] != unknown && due[step] != never; }
  [[nodiscard]] s64 endOf(u32 step) const {
    return step + 1 < at.size() ? std::max(at[step + 1], at[step]) : std::max(end, at[step]);
  }
  /// The step in force at a time; empty: before the first.
  [[nodiscard]] Known<u32> stepAt(s64 time) const;
};

/// What the tops of a line are over: the time left at the begin of a step, and less of it at its end, so negative.
s64 highestOf(const DueLine& line, u32 step);
s64 negativeLowestOf(const DueLine& line, u32 step);

/// Where the recording cannot tell, with the reason.
struct LaneBlind {
  BlindSpotKind kind{};
  s64 from{}, to{};
};

struct CpuModelLanes {
  ArmedLane wheel, hrtimers;
  DueLine due;                   ///< empty: unknown from begin to end
  std::vector<LaneBlind> blind;  ///< by begin
};

/// Immutable. Refers to store, tables and clocks, which must outlive it.
struct ModelLanes {
  const Timeline* timeline = nullptr;
  const ReplayTables* tables = nullptr;
  const ClockMap* clocks = nullptr;
  bool nanoseconds = true;            ///< the trace clock counts them: lateness can be judged
  std::vector<CpuModelLanes> tracks;  ///< by track; later streams of a CPU have empty ones

  [[nodiscard]] const ArmedLane& armed(u32 track, LaneKind lane) const {
    return lane == LaneKind::Wheel ? tracks[track].wheel : tracks[track].hrtimers;
  }
  [[nodiscard]] const ArmedSpan& span(SpanId id) const { return tables->spans[number(id)]; }
  [[nodiscard]] bool isWheel(const ArmedSpan& span) const {
    return tables->timers[number(span.timer)].of == TimerClass::Wheel;
  }
  /// Where the recording begins, for spans from before it; where it ends, for those that are still armed.
  [[nodiscard]] s64 beginOf(const ArmedSpan& span) const;
  [[nodiscard]] s64 endOf(const ArmedSpan& span) const;
  /// When it falls due: an hrtimer at its hard expiry, a wheel timer with its bucket. Empty: not known, or never.
  [[nodiscard]] Known<s64> dueOf(const ArmedSpan& span) const;
  /// By how much it ended, or is still armed, past its due time; negative: before. Empty: not known.
  [[nodiscard]] Known<s64> latenessOf(const ArmedSpan& span) const;
  /// How much of that is usual: 100 µs for hard hrtimers, 500 µs for soft ones, two jiffies for wheel timers.
  [[nodiscard]] s64 usualLateness(const ArmedSpan& span) const;
  /// Armed for longer than usual after it was due, as far as the trace can tell.
  [[nodiscard]] bool isLate(const ArmedSpan& span) const { return isLate(span, dueOf(span)); }
  [[nodiscard]] bool isLate(const ArmedSpan& span, Known<s64> due) const;
  /// The span that a row begins or, if it begins none, ends. Empty: none in a lane.
  [[nodiscard]] Known<SpanId> spanOfRow(Row row) const;
  [[nodiscard]] u64 bytes() const;
};

/// `nanoseconds`: see ModelLanes. Errors: Cancelled.
Result<std::shared_ptr<const ModelLanes>> buildModelLanes(const Timeline& timeline,
                                                          const ReplayTables& tables,
                                                          const ClockMap& clocks, bool nanoseconds,
                                                          Progress& progress);

}  // namespace tickscope
