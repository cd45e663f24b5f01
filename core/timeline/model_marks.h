// SPDX-License-Identifier: GPL-3.0-or-later
// Armed timers and the step line as they stand in a window of time.
#pragma once

#include "core/timeline/lane_view.h"
#include "core/timeline/model_lanes.h"
#include "core/timeline/scene_builder.h"

namespace tickscope {

/// Fills the strip of a timer lane: bars of single timers where a few rows hold them, else how many are armed.
/// Its cost is bounded by the pixels and a fixed number of spans.
void addArmed(SceneStrip& strip, const ModelLanes& model, const SceneRequest& request,
              const ViewWindow& window);

/// Fills the strip of a programming lane with the time left; the label column gets the scale.
void addStepLine(SceneStrip& strip, const DueLine& line, bool nanoseconds,
                 const ViewWindow& window);

/// A life as a bar, all but its place in the strip.
SceneArmed barOf(const ModelLanes& model, SpanId id, const ViewWindow& window);
Ink inkOf(const ModelLanes& model, const ArmedSpan& span);
/// Connects the selected one with its deadline, in words too.
void markSelected(SceneArmed& bar, const ModelLanes& model, const SceneRequest& request,
                  const ViewWindow& window);

/// The bar of a scene at a place, `y` from the top of the strip; empty: none, or one that stands for many.
Known<SpanId> armedAt(const SceneStrip& strip, double x, double y);

/// A length of a few digits: `344.1 µs`.
std::string lengthInShort(s64 ns);

}  // namespace tickscope
