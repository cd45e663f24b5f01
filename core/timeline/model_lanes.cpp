// SPDX-License-Identifier: GPL-3.0-or-later
// Sorts the spans of a replay by CPU and time, and turns its rows and instants into places in time.
#include "core/timeline/model_lanes.h"

#include <algorithm>
#include <numeric>

namespace tickscope {

namespace {

// Lateness that is no fault yet, ns; wheel timers: jiffies.
constexpr s64 usualHard = 100'000, usualSoft = 500'000, usualWheel = 2;

/// So that differences of two times do not overflow.
s64 nearer(s64 time) { return std::clamp(time, -farthest + 1, farthest - 1); }

u32 placeOf(const std::vector<s64>& times, s64 time) {
  return static_cast<u32>(std::ranges::lower_bound(times, time) - times.begin());
}

class ModelBuild {
 public:
  explicit ModelBuild(ModelLanes& lanes)
      : lanes_(lanes), timeline_(*lanes.timeline), store_(*timeline_.store) {}

  bool run(Progress& progress) {
    lanes_.tracks.resize(timeline_.tracks.size());
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
        addDue(lanes_.tracks[*track].due, timeline_.tracks[*track], lines.expiresNext);
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
    struct At {
      s64 time;
      SpanId span;
    };
    std::vector<At> order(count);
    const auto fill = [&](auto&& timeOf) {
      for (u32 i = 0; i < count; ++i)
        order[i] = {timeOf(lanes_.span(lane.byBegin[i])), lane.byBegin[i]};
      std::ranges::stable_sort(order, {}, &At::time);
    };
    lane.ends.resize(count);
    lane.byEnd.resize(count);
    fill([&](const ArmedSpan& span) { return lanes_.endOf(span); });
    for (u32 i = 0; i < count; ++i) {
      lane.ends[i] = order[i].time;
      lane.byEnd[i] = order[i].span;
    }
    lane.begins.resize(count);
    fill([&](const ArmedSpan& span) { return lanes_.beginOf(span); });
    for (u32 i = 0; i < count; ++i) {
      lane.begins[i] = order[i].time;
      lane.byBegin[i] = order[i].span;
    }
    lane.latest.build(count, [&](u32 i) { return lanes_.endOf(lanes_.span(lane.byBegin[i])); });
    if (lanes_.nanoseconds) addLate(lane);
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

  void addDue(DueLine& line, const CpuTrack& track, const StepLine& steps) {
    const auto add = [&](Row row) {
      const Known<s64> value = steps.at(row);
      s64 due = DueLine::unknown;
      if (value && MonoTime{*value} == never) {
        due = DueLine::never;
      } else if (value) {
        const auto time = lanes_.clocks->trace(MonoTime{*value}, track.cpu);
        if (time) due = nearer(timeline_.relative(time->value));
      }
      if (!line.due.empty() && line.due.back() == due) return;
      const s64 at = timeline_.relative(store_.time(row));
      line.at.push_back(line.at.empty() ? at : std::max(at, line.at.back()));
      line.due.push_back(due);
    };
    if (steps.at(Row{0})) add(Row{0});
    for (Row row = steps.nextChange(Row{0}); row != noRow; row = steps.nextChange(row)) add(row);
    line.end = track.last;
    const u32 count = static_cast<u32>(line.at.size());
    line.highest.build(count, [&](u32 i) { return highestOf(line, i); });
    line.lowest.build(count, [&](u32 i) { return negativeLowestOf(line, i); });
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
};

}  // namespace

u32 ArmedLane::touching(s64 from, s64 to) const {
  const u32 begun = placeOf(begins, to);
  const u32 ended = placeOf(ends, from);
  return begun > ended ? begun - ended : 0;
}

s64 highestOf(const DueLine& line, u32 step) {
  return line.known(step) ? line.due[step] - line.at[step] : RangeTop::none;
}

s64 negativeLowestOf(const DueLine& line, u32 step) {
  return line.known(step) ? line.endOf(step) - line.due[step] : RangeTop::none;
}

Known<u32> DueLine::stepAt(s64 time) const {
  const auto after = std::ranges::upper_bound(at, time);
  if (after == at.begin()) return {};
  return static_cast<u32>(after - at.begin()) - 1;
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

Known<SpanId> ModelLanes::spanOfRow(Row row) const {
  if (number(row) >= timeline->store->size()) return {};
  const s64 time = timeline->relative(timeline->store->time(row));
  Known<SpanId> ended;
  for (const CpuModelLanes& track : tracks) {
    for (const ArmedLane* lane : {&track.wheel, &track.hrtimers}) {
      for (u32 i = placeOf(lane->begins, time); i < lane->begins.size() && lane->begins[i] == time;
           ++i) {
        if (span(lane->byBegin[i]).armed == row) return lane->byBegin[i];
      }
      for (u32 i = placeOf(lane->ends, time); i < lane->ends.size() && lane->ends[i] == time; ++i) {
        if (span(lane->byEnd[i]).ended == row) ended = lane->byEnd[i];
      }
    }
  }
  return ended;
}

u64 ModelLanes::bytes() const {
  u64 sum = tracks.capacity() * sizeof(CpuModelLanes);
  for (const CpuModelLanes& track : tracks) {
    for (const ArmedLane* lane : {&track.wheel, &track.hrtimers}) {
      sum += (lane->begins.capacity() + lane->ends.capacity()) * sizeof(s64);
      sum += (lane->byBegin.capacity() + lane->byEnd.capacity()) * sizeof(SpanId);
      sum += lane->latest.bytes() + lane->late.capacity() * sizeof(TimeRange);
    }
    sum += (track.due.at.capacity() + track.due.due.capacity()) * sizeof(s64);
    sum += track.due.highest.bytes() + track.due.lowest.bytes();
    sum += track.blind.capacity() * sizeof(LaneBlind);
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
