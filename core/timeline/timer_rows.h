// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of single timers: how many a CPU gets, which timers have them, and what stands in one.
#pragma once

#include "core/timeline/lane_layout.h"
#include "core/timeline/lane_view.h"
#include "core/timeline/model_lanes.h"
#include "core/timeline/scene_builder.h"

namespace tickscope {

/// Rows below one lane (look.md 5).
inline constexpr u32 mostTimerRows = 4;

/// Gives the timer lanes of a layout their rows: lost timers have theirs in any case, others as far as all lanes
/// still fit `page` logical pixels. The same for any part of the recording, so that lanes stand still.
void fitTimerRows(LaneLayout& layout, const ModelLanes& model, s64 page);

/// The timers of a lane that get `rows` rows in a window of time: the selected one, those lost in view, then those
/// with most lives in view. Places in ArmedLane::timers in an order that is the same for any window.
std::vector<u32> timersInRows(const ModelLanes& model, const ArmedLane& lane, s64 from, s64 to,
                              u32 rows, Known<TimerId> selected);

/// What they are called: callback, or the task for callbacks that only wake one; with the end of their address where
/// two have the same name.
std::vector<std::string> namesOfTimers(const ModelLanes& model, const SceneNames& names,
                                       const ArmedLane& lane, const std::vector<u32>& places);

/// Fills a strip with the lives of one timer: armed spans, deadlines, lateness, and what happened to it. Its cost is
/// bounded by `mostCells` and a fixed number of spans. Needs strip.timer.
void addTimerRow(SceneStrip& strip, const ModelLanes& model, const SceneRequest& request,
                 const ViewWindow& window, u32 mostCells);

/// The event of a life of the timer that is nearest to `time`, at most `reach` away; empty: none.
Known<Row> nearestOfTimer(const ModelLanes& model, const ArmedLane& lane, TimerId timer, s64 time,
                          s64 reach);

}  // namespace tickscope
