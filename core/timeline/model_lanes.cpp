// SPDX-License-Identifier: GPL-3.0-or-later
// Sorts the spans of a replay by CPU and time, and turns its rows and instants into places in time.
#include "core/timeline/model_lanes.h"

#include <algorithm>
#include <numeric>

namespace tickscope {

namespace {

// Lateness that is no fault yet, ns; wheel timers: jiffies.
constexpr s64 usualHard = 100'000, usualSoft = 500'000, usualWheel = 2;

/// Timers of a lane whose rank is kept, of the lost ones and of the others: no screen has rows for more.
constexpr std::ptrdiff_t mostRanked = 16;

/// So that differences of two times do not overflow.
s64 nearer(s64 time) { return std::clamp(time, -farthest + 1, farthest - 1); }

class ModelBuild {
 public:
  explicit ModelBuild(ModelLanes& lanes)
      : lanes_(lanes), timeline_(*lanes.timeline), store_(*timeline_.store) {}

  bool run(Progress& progress) {
    lanes_.tracks.resize(timeline_.tracks.size());
    for (const Discrepancy& one : lanes_.tables->discrepancies) {
      if (one.kind == DiscrepancyKind::Lost && one.timer) lost_.push_back(*one.timer);
    }
    std::ranges::sort(lost_);
    const auto& spans = lanes_.tables->spans;
    progress.begin("drawing up armed timers", spans.size());
    for (u32 i = 0; i < spans.size(); ++i) {
      if (i % pollEvery == pollEvery - 1 && !progress.advance(pollEvery)) return false;
      const Known<u32> track = trackOf(spans[i].owner);
      if (!track) continue;
      lists(*track, spans[i]).byBegin.push_back(SpanId{i});
    }
    for (CpuModelLanes& track : lanes_.tracks) {
      if (progress.cancelled()) return false;
      finish(track.wheel);
      finish(track.hrtimers);
    }
    for (const CpuLines& lines : lanes_.tables->cpus) {
      if (progress.cancelled()) return false;
      if (const Known<u32> track = trackOf(lines.cpu))
        lanes_.tracks[*track].due = dueLine(timeline_.tracks[*track], lines.expiresNext);
    }
    addBlindSpots();
    return true;
  }

 private:
  static constexpr u32 pollEvery = 1U << 15U;

  /// The first stream of a CPU: what is known is known of the CPU.
  [[nodiscard]] Known<u32> trackOf(Cpu cpu) const {
    const auto& tracks = timeline_.tracks;
    const auto at = std::ranges::lower_bound(tracks, cpu, {}, &CpuTrack::cpu);
    if (at == tracks.end() || at->cpu != cpu) return {};
    return static_cast<u32>(at - tracks.begin());
  }

  ArmedLane& lists(u32 track, const ArmedSpan& span) {
    return lanes_.isWheel(span) ? lanes_.tracks[track].wheel : lanes_.tracks[track].hrtimers;
  }

  void finish(ArmedLane& lane) {
    const u32 count = static_cast<u32>(lane.byBegin.size());
    std::vector<s64> times(count);
    for (u32 i = 0; i < count; ++i) times[i] = lanes_.endOf(lanes_.span(lane.byBegin[i]));
    std::ranges::sort(times);
    lane.ends = TimeColumn(times);
    struct At {
      s64 time;
      SpanId span;
    };
    std::vector<At> order(count);
    for (u32 i = 0; i < count; ++i)
      order[i] = {lanes_.beginOf(lanes_.span(lane.byBegin[i])), lane.byBegin[i]};
    std::ranges::stable_sort(order, {}, &At::time);
    for (u32 i = 0; i < count; ++i) {
      times[i] = order[i].time;
      lane.byBegin[i] = order[i].span;
    }
    lane.begins = TimeColumn(times);
    lane.byBegin.shrink_to_fit();
    lane.latest.build(count, [&](u32 i) { return lanes_.endOf(lanes_.span(lane.byBegin[i])); });
    if (lanes_.nanoseconds) addLate(lane);
    addTimers(lane);
  }

  void addTimers(ArmedLane& lane) {
    lane.byTimer = lane.byBegin;
    std::ranges::stable_sort(lane.byTimer, {}, [&](SpanId id) { return lanes_.span(id).timer; });
    for (u32 i = 0; i < lane.byTimer.size(); ++i) {
      const TimerId timer = lanes_.span(lane.byTimer[i]).timer;
      if (lane.timers.empty() || lane.timers.back().timer != timer)
        lane.timers.push_back({timer, i, 0});
      ++lane.timers.back().count;
    }
    lane.timers.shrink_to_fit();
    lane.ranked.resize(lane.timers.size());
    std::iota(lane.ranked.begin(), lane.ranked.end(), 0U);
    const auto isLost = [&](u32 place) {
      return std::ranges::binary_search(lost_, lane.timers[place].timer);
    };
    const auto others = std::ranges::stable_partition(lane.ranked, isLost).begin();
    lane.lost = static_cast<u32>(others - lane.ranked.begin());
    // Of each part the first ones only: nobody looks at more than fit a screen.
    const auto first = [&](auto begin, auto end) {
      const auto kept = begin + std::min<std::ptrdiff_t>(end - begin, mostRanked);
      std::partial_sort(begin, kept, end, [&](u32 a, u32 b) {
        const u32 more = lane.timers[a].count, fewer = lane.timers[b].count;
        return more != fewer ? more > fewer : a < b;
      });
      return kept;
    };
    const auto keptOthers = first(others, lane.ranked.end());
    const auto keptLost = first(lane.ranked.begin(), others);
    lane.ranked.erase(keptOthers, lane.ranked.end());
    lane.ranked.erase(keptLost, lane.ranked.begin() + lane.lost);
    lane.lost = static_cast<u32>(keptLost - lane.ranked.begin());
    lane.ranked.shrink_to_fit();
  }

  void addLate(ArmedLane& lane) {
    std::vector<TimeRange> late;
    for (const SpanId id : lane.byBegin) {
      const ArmedSpan& span = lanes_.span(id);
      if (lanes_.isLate(span))
        late.push_back({std::max(*lanes_.dueOf(span), lanes_.beginOf(span)), lanes_.endOf(span)});
    }
    std::ranges::sort(late, {}, &TimeRange::from);
    for (const TimeRange& one : late) {
      if (!lane.late.empty() && one.from <= lane.late.back().to) {
        lane.late.back().to = std::max(lane.late.back().to, one.to);
      } else {
        lane.late.push_back(one);
      }
    }
  }

  [[nodiscard]] DueLine dueLine(const CpuTrack& track, const StepLine& steps) const {
    std::vector<s64> at, due;
    const auto add = [&](Row row) {
      const Known<s64> value = steps.at(row);
      s64 next = DueLine::unknown;
      if (value && MonoTime{*value} == never) {
        next = DueLine::never;
      } else if (value) {
        const auto time = lanes_.clocks->trace(MonoTime{*value}, track.cpu);
        if (time) next = nearer(timeline_.relative(time->value));
      }
      if (!due.empty() && due.back() == next) return;
      const s64 now = timeline_.relative(store_.time(row));
      at.push_back(at.empty() ? now : std::max(now, at.back()));
      due.push_back(next);
    };
    if (steps.at(Row{0})) add(Row{0});
    for (Row row = steps.nextChange(Row{0}); row != noRow; row = steps.nextChange(row)) add(row);
    return {at, due, track.last};
  }

  void addBlindSpots() {
    for (const BlindSpot& spot : lanes_.tables->blindSpots) {
      // Losses are drawn from what the recorder said of them; the others leave the step line open.
      if (spot.kind != BlindSpotKind::CpuOffline || !spot.cpu) continue;
      const Known<u32> track = trackOf(*spot.cpu);
      if (!track || number(spot.from) >= store_.size()) continue;
      const s64 from = timeline_.relative(store_.time(spot.from));
      const s64 to = number(spot.to) < store_.size() ? timeline_.relative(store_.time(spot.to))
                                                     : timeline_.last;
      if (to > from) lanes_.tracks[*track].blind.push_back({spot.kind, from, to});
    }
    for (CpuModelLanes& track : lanes_.tracks)
      std::ranges::stable_sort(track.blind, {}, &LaneBlind::from);
  }

  ModelLanes& lanes_;
  const Timeline& timeline_;
  const EventStore& store_;
  std::vector<TimerId> lost_;  // ascending
};

}  // namespace

u32 ArmedLane::touching(s64 from, s64 to) const {
  const u32 begun = begins.lowerBound(to);
  const u32 ended = ends.lowerBound(from);
  return begun > ended ? begun - ended : 0;
}

Known<u32> ArmedLane::placeOf(TimerId timer) const {
  const auto at = std::ranges::lower_bound(timers, timer, {}, &LaneTimer::timer);
  if (at == timers.end() || at->timer != timer) return {};
  return static_cast<u32>(at - timers.begin());
}

DueLine::DueLine(const std::vector<s64>& at, const std::vector<s64>& due, s64 end)
    : at_(at), end_(end) {
  const u32 count = static_cast<u32>(at.size());
  left_.reserve(count);
  for (u32 step = 0; step < count; ++step) {
    if (due[step] == unknown || due[step] == never) {
      left_.push_back(due[step] == never ? wordNever : wordUnknown);
    } else if (due[step] >= at[step] && due[step] - at[step] < s64{firstWord}) {
      left_.push_back(static_cast<u32>(due[step] - at[step]));
    } else {
      left_.push_back(wordFar);
      far_.push_back({step, due[step]});
    }
  }
  far_.shrink_to_fit();
  begins_.build(count, [&](u32 step) { return leftAtBegin(step); });
  ends_.build(count, [&](u32 step) { return overAtEnd(step); });
}

s64 DueLine::dueOfWord(u32 step) const {
  if (left_[step] == wordNever) return never;
  if (left_[step] == wordUnknown) return unknown;
  return std::ranges::lower_bound(far_, step, {}, &Far::step)->due;
}

s64 DueLine::highest(u32 from, u32 to) const {
  return begins_.top(from, to, [&](u32 step) { return leftAtBegin(step); });
}

s64 DueLine::lowest(u32 from, u32 to) const {
  const s64 over = ends_.top(from, to, [&](u32 step) { return overAtEnd(step); });
  return over == RangeTop::none ? over : -over;
}

Known<u32> DueLine::stepAt(s64 time) const {
  const u32 after = at_.lowerBound(time + 1);
  if (after == 0) return {};
  return after - 1;
}

u64 DueLine::bytes() const {
  return at_.bytes() + left_.capacity() * sizeof(u32) + far_.capacity() * sizeof(Far) +
         begins_.bytes() + ends_.bytes();
}

s64 ModelLanes::beginOf(const ArmedSpan& span) const {
  if (span.armed == noRow) return 0;
  return timeline->relative(timeline->store->time(span.armed));
}

s64 ModelLanes::endOf(const ArmedSpan& span) const {
  if (span.ended == noRow) return timeline->last;
  return std::max(timeline->relative(timeline->store->time(span.ended)), beginOf(span));
}

Known<s64> ModelLanes::dueOf(const ArmedSpan& span) const {
  Known<MonoTime> due;
  if (isWheel(span)) {
    if (!span.secondKnown) return {};
    due = clocks->monoOf(static_cast<u64>(span.second));
  } else {
    if (!span.expiryKnown || span.expires == never.value) return {};
    const Row known = span.armed != noRow ? span.armed : span.ended != noRow ? span.ended : Row{0};
    const Known<s64> offset = clocks->offset(span.clockBase(), known);
    // An offset may carry a time that damaged files hold over the edge of what a number can.
    if (offset && std::abs(span.expires / 4) < farthest / 4 && std::abs(*offset / 4) < farthest / 4)
      due = MonoTime{span.expires - *offset};
  }
  if (!due) return {};
  const auto time = clocks->trace(*due, span.owner);
  if (!time) return {};
  return nearer(timeline->relative(time->value));
}

Known<s64> ModelLanes::latenessOf(const ArmedSpan& span) const {
  const Known<s64> due = dueOf(span);
  if (!due) return {};
  return endOf(span) - *due;
}

s64 ModelLanes::usualLateness(const ArmedSpan& span) const {
  if (!isWheel(span)) return isSoft(span.clockBase()) ? usualSoft : usualHard;
  const auto hz = clocks->hz();
  return usualWheel * ClockMap::tickNs(hz ? hz->hz : 100);
}

bool ModelLanes::isLate(const ArmedSpan& span, Known<s64> due) const {
  // Where events were lost or the trace contradicts, it may have ended before.
  if (!nanoseconds || span.end == SpanEnd::Unknown || span.has(ArmedSpan::Uncertain) ||
      span.has(ArmedSpan::Resynced) || span.has(ArmedSpan::Deferrable))
    return false;
  return due && endOf(span) - *due > usualLateness(span);
}

Known<SpanId> ModelLanes::spanAt(const ArmedLane& lane, TimerId timer, s64 time) const {
  const Known<u32> place = lane.placeOf(timer);
  if (!place) return {};
  const auto begin = lane.byTimer.begin() + lane.timers[*place].first;
  const auto after =
      std::upper_bound(begin, begin + lane.timers[*place].count, time,
                       [&](s64 wanted, SpanId id) { return wanted < beginOf(span(id)); });
  return after == begin ? *begin : *(after - 1);
}

Known<SpanId> ModelLanes::spanOfRow(Row row) const {
  if (number(row) >= timeline->store->size()) return {};
  const s64 time = timeline->relative(timeline->store->time(row));
  for (const CpuModelLanes& track : tracks) {
    for (const ArmedLane* lane : {&track.wheel, &track.hrtimers}) {
      for (u32 i = lane->begins.lowerBound(time);
           i < lane->begins.size() && lane->begins[i] == time; ++i) {
        if (span(lane->byBegin[i]).armed == row) return lane->byBegin[i];
      }
    }
  }
  const auto& ended = tables->endOrder;
  const auto at =
      std::ranges::lower_bound(ended, row, {}, [&](SpanId id) { return span(id).ended; });
  for (auto one = at; one != ended.end() && span(*one).ended == row; ++one) {
    if (span(*one).owner != noCpu) return *one;
  }
  return {};
}

u64 ModelLanes::bytes() const {
  u64 sum = tracks.capacity() * sizeof(CpuModelLanes);
  for (const CpuModelLanes& track : tracks) {
    for (const ArmedLane* lane : {&track.wheel, &track.hrtimers}) {
      sum += lane->begins.bytes() + lane->ends.bytes() + lane->latest.bytes();
      sum += (lane->byBegin.capacity() + lane->byTimer.capacity()) * sizeof(SpanId);
      sum += lane->late.capacity() * sizeof(TimeRange);
      sum += lane->timers.capacity() * sizeof(LaneTimer) + lane->ranked.capacity() * sizeof(u32);
    }
    sum += track.due.bytes() + track.blind.capacity() * sizeof(LaneBlind);
  }
  return sum;
}

Result<std::shared_ptr<const ModelLanes>> buildModelLanes(const Timeline& timeline,
                                                          const ReplayTables& tables,
                                                          const ClockMap& clocks, bool nanoseconds,
                                                          Progress& progress) {
  auto lanes = std::make_shared<ModelLanes>();
  lanes->timeline = &timeline;
  lanes->tables = &tables;
  lanes->clocks = &clocks;
  lanes->nanoseconds = nanoseconds;
  if (!ModelBuild(*lanes).run(progress)) return fail(Error::Kind::Cancelled, "Cancelled.");
  return std::shared_ptr<const ModelLanes>(std::move(lanes));
}

}  // namespace tickscope
