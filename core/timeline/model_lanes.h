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
#include "core/timeline/time_column.h"

namespace tickscope {

/// Times here are relative to Timeline::origin, in units of the trace clock, as in the lanes.
struct TimeRange {
  s64 from{}, to{};
  bool operator==(const TimeRange&) const = default;
};

/// A timer of a lane: its lives there are byTimer[first .. first + count).
struct LaneTimer {
  TimerId timer{};
  u32 first = 0, count = 0;
};

/// All lives of the timers of one class that one CPU holds. Those whose CPU is not known are in no lane.
struct ArmedLane {
  TimeColumn begins;
  std::vector<SpanId> byBegin;  ///< beside `begins`
  TimeColumn ends;
  RangeTop latest;  ///< over the ends of byBegin
  std::vector<TimeRange>
      late;  ///< a timer was armed past its due time and the threshold; disjoint, ascending
  std::vector<SpanId> byTimer;    ///< the lives of each timer together, by begin
  std::vector<LaneTimer> timers;  ///< by id
  std::vector<u32> ranked;        ///< places of `timers`: lost ones, then those with most lives
  u32 lost = 0;                   ///< of these, so many are lost ones

  /// Spans that begin before `to` and do not end before `from`.
  [[nodiscard]] u32 touching(s64 from, s64 to) const;
  /// Armed after all that happened at `time`.
  [[nodiscard]] u32 armedAt(s64 time) const { return touching(time + 1, time + 1); }
  /// Empty: it was never armed here.
  [[nodiscard]] Known<u32> placeOf(TimerId timer) const;
};

/// To which time the clock event device is programmed, as steps.
class DueLine {
 public:
  static constexpr s64 unknown = std::numeric_limits<s64>::min();
  static constexpr s64 never = std::numeric_limits<s64>::max();

  DueLine() = default;
  /// `at` ascends; `due` beside it: a time, or unknown, or never. `end` of the last step.
  DueLine(const std::vector<s64>& at, const std::vector<s64>& due, s64 end);

  [[nodiscard]] bool empty() const { return at_.empty(); }
  [[nodiscard]] u32 size() const { return at_.size(); }
  /// When a step comes into force, until the next.
  [[nodiscard]] s64 at(u32 step) const { return at_[step]; }
  [[nodiscard]] const TimeColumn& times() const { return at_; }
  [[nodiscard]] s64 due(u32 step) const {
    const u32 left = left_[step];
    return left < firstWord ? at_[step] + left : dueOfWord(step);
  }
  [[nodiscard]] bool known(u32 step) const {
    return left_[step] != wordUnknown && left_[step] != wordNever;
  }
  [[nodiscard]] s64 end() const { return end_; }
  [[nodiscard]] s64 endOf(u32 step) const {
    return step + 1 < at_.size() ? at_[step + 1] : std::max(end_, at_[step]);
  }
  /// The step in force at a time; empty: before the first.
  [[nodiscard]] Known<u32> stepAt(s64 time) const;
  /// The most time left at the begin, the least at the end of the steps from..to - 1; RangeTop::none: not known.
  [[nodiscard]] s64 highest(u32 from, u32 to) const;
  [[nodiscard]] s64 lowest(u32 from, u32 to) const;
  [[nodiscard]] u64 bytes() const;

 private:
  // The time left where it fits 32 bits, as it does but for the longest sleeps; else one of these words.
  static constexpr u32 wordUnknown = ~u32{0}, wordNever = wordUnknown - 1, wordFar = wordNever - 1;
  static constexpr u32 firstWord = wordFar;
  struct Far {
    u32 step;
    s64 due;
  };
  [[nodiscard]] s64 dueOfWord(u32 step) const;
  [[nodiscard]] s64 leftAtBegin(u32 step) const {
    return known(step) ? due(step) - at(step) : RangeTop::none;
  }
  [[nodiscard]] s64 overAtEnd(u32 step) const {
    return known(step) ? endOf(step) - due(step) : RangeTop::none;
  }

  TimeColumn at_;
  std::vector<u32> left_;
  std::vector<Far> far_;  // by step
  s64 end_ = 0;
  RangeTop begins_, ends_;
};

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
  /// The life of a timer of a lane at a time: the last that began, else the first. Empty: the lane has not the timer.
  [[nodiscard]] Known<SpanId> spanAt(const ArmedLane& lane, TimerId timer, s64 time) const;
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
