// SPDX-License-Identifier: GPL-3.0-or-later
// What lies at a place of a lane: for the pointer, for snapping, for stepping along a lane.
#pragma once

#include "core/timeline/lane_view.h"

namespace tickscope {

struct Picked {
  Known<Row> event;      ///< the nearest event within reach
  Known<LaneSpan> span;  ///< the innermost span around the place
  u64 counted = 0;       ///< events that count within reach
  u64 busy = 0;          ///< units of busy time within reach
  s64 from{}, to{};      ///< what is within reach
};

/// `reach` in logical pixels to both sides. Costs some searches and a short walk.
Picked pickAt(const Timeline& timeline, const CpuTrack& track, const Lane& lane,
              const ViewWindow& window, double x, double reach);

/// The event of a lane nearest to a time; empty: the lane has none.
Known<Row> nearestEvent(const Timeline& timeline, const Lane& lane, s64 time);
/// The event of the lane before or behind a row, which need not be of the lane; empty: there is none.
Known<Row> previousEvent(const Lane& lane, Row row);
Known<Row> nextEvent(const Lane& lane, Row row);
/// The last event of the lane before a time, the first not before it.
Known<Row> eventBefore(const Timeline& timeline, const Lane& lane, s64 time);
Known<Row> eventFrom(const Timeline& timeline, const Lane& lane, s64 time);

struct TrackLane {
  u32 track{};
  LaneKind lane{};
};
/// Where a row is drawn; empty: in no lane.
Known<TrackLane> laneOf(const Timeline& timeline, Row row);

}  // namespace tickscope
