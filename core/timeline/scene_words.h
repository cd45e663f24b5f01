// SPDX-License-Identifier: GPL-3.0-or-later
// The words of a scene: names of spans, sums of a view, reasons why nothing is known.
#pragma once

#include <string>

#include "core/timeline/lane_view.h"
#include "core/timeline/scene_builder.h"

namespace tickscope {

/// What a span's or operation's row is called in its lane: the task, the interrupt, the softirq, the callback.
std::string nameOfRow(const EventStore& store, const SceneNames& names, Row row,
                      bool asPrevious = false);
/// What must be recorded to see the lane.
std::string_view neededFor(LaneKind lane);
/// "1,204 events lost"; "events lost" where their number is not known.
std::string lossWords(const LaneLoss& loss);
/// The sums of a CPU's lanes in view as a sentence. `views` are by lane.
std::string headerWords(const Timeline& timeline, const CpuTrack& track, const SceneNames& names,
                        const ViewWindow& window, const std::array<LaneView, laneCount>& views,
                        bool durations);

}  // namespace tickscope
