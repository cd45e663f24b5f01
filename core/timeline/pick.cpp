// SPDX-License-Identifier: GPL-3.0-or-later
// Searches in lanes by place and by row.
#include "core/timeline/pick.h"

#include <algorithm>
#include <cmath>

namespace tickscope {

Picked pickAt(const Timeline& timeline, const CpuTrack& track, const Lane& lane,
              const ViewWindow& window, double x, double reach) {
  Picked picked;
  const double perPixel = window.units() / window.width;
  const double middle =
      static_cast<double>(window.from) + std::clamp(x, -100.0, window.width + 100) * perPixel;
  const auto bounded = [](double value) {
    constexpr double limit = static_cast<double>(farthest);
    return static_cast<s64>(std::clamp(value, -limit / 2, limit / 2));
  };
  const s64 at = bounded(middle);
  picked.from = bounded(std::floor(middle - reach * perPixel));
  picked.to = std::max(picked.from + 1, bounded(std::ceil(middle + reach * perPixel)));
  if (lane.rows.empty()) return picked;
  const u32 begin = timeline.lowerBound(lane, picked.from);
  const u32 end = timeline.gallop(lane, picked.to, begin);
  picked.counted =
      countedBefore(timeline, track, lane, end) - countedBefore(timeline, track, lane, begin);
  if (isLaneOfTime(lane.kind)) {
    picked.busy = busyBefore(timeline, track, lane, picked.to) -
                  busyBefore(timeline, track, lane, picked.from);
  }
  if (end > begin) picked.event = nearestEvent(timeline, lane, at);

  const LaneView here = viewLane(timeline, track, lane, ViewWindow::bounded(at, at + 1, 1, 1));
  for (const LaneSpan& span : here.spans) {
    if (span.from > at || span.to < at) continue;
    if (!picked.span || span.depth >= picked.span->depth) picked.span = span;
  }
  if (picked.span && picked.span->to < track.last && !picked.span->endKnown) {
    // The window of one unit cuts the span: its end stands with the event behind it.
    const u32 next = timeline.lowerBound(lane, at + 1);
    const u32 last = static_cast<u32>(std::min<u64>(lane.rows.size(), u64{next} + 64));
    for (u32 place = next; place < last; ++place) {
      const s64 time = timeline.timeAt(lane, place);
      const LaneView then =
          viewLane(timeline, track, lane, ViewWindow::bounded(time, time + 1, 1, 1));
      const auto whole = std::find_if(
          then.spans.begin(), then.spans.end(),
          [&](const LaneSpan& span) { return span.row == picked.span->row && span.endKnown; });
      if (whole == then.spans.end()) continue;
      picked.span = *whole;
      break;
    }
  }
  return picked;
}

Known<Row> eventBefore(const Timeline& timeline, const Lane& lane, s64 time) {
  const u32 place = timeline.lowerBound(lane, time);
  if (place == 0) return {};
  return lane.rows[place - 1];
}

Known<Row> eventFrom(const Timeline& timeline, const Lane& lane, s64 time) {
  const u32 place = timeline.lowerBound(lane, time);
  if (place >= lane.rows.size()) return {};
  return lane.rows[place];
}

Known<Row> nearestEvent(const Timeline& timeline, const Lane& lane, s64 time) {
  if (lane.rows.empty()) return {};
  const u32 place = timeline.lowerBound(lane, time);
  if (place == 0) return lane.rows.front();
  if (place >= lane.rows.size()) return lane.rows.back();
  const s64 before = time - timeline.timeAt(lane, place - 1);
  const s64 behind = timeline.timeAt(lane, place) - time;
  return lane.rows[behind <= before ? place : place - 1];
}

Known<Row> previousEvent(const Lane& lane, Row row) {
  const auto at = std::lower_bound(lane.rows.begin(), lane.rows.end(), row);
  if (at == lane.rows.begin()) return {};
  return *std::prev(at);
}

Known<Row> nextEvent(const Lane& lane, Row row) {
  const auto at = std::upper_bound(lane.rows.begin(), lane.rows.end(), row);
  if (at == lane.rows.end()) return {};
  return *at;
}

Known<TrackLane> laneOf(const Timeline& timeline, Row row) {
  if (!timeline.store || number(row) >= timeline.store->size()) return {};
  const LaneRole role = timeline.roles.of(timeline.store->typeIndex(row));
  if (role.part == LanePart::None) return {};
  const u32 stream = timeline.store->streamOf(row);
  for (u32 t = 0; t < timeline.tracks.size(); ++t) {
    if (timeline.tracks[t].stream == stream) return TrackLane{t, role.lane};
  }
  return {};
}

}  // namespace tickscope
