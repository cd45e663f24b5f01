// SPDX-License-Identifier: GPL-3.0-or-later
// The density rules: when events become columns, when bars, glyphs or badges.
#pragma once

#include "core/timeline/lane_view.h"

namespace tickscope {

struct MarkSpace {
  s32 height{};         ///< of the strip, logical pixels
  u32 most{};           ///< the densest place in view, over all CPUs: heights can be compared
  bool folded = false;  ///< in a folded header: columns only
};

struct Marks {
  std::vector<SceneColumn> columns;
  std::vector<SceneGlyph> glyphs;
  std::vector<SceneLink> links;
  bool dense = false;  ///< some place holds more than can be told apart
};

/// A span is drawn as a bar from 2 pixels on.
bool isWide(const LaneSpan& span, const ViewWindow& window);
/// The largest figure that a column of the lane stands for.
u32 mostOf(const LaneView& view, const ViewWindow& window);
/// Columns and glyphs of a lane of instants.
Marks marksOfInstants(const LaneView& view, LaneKind kind, const ViewWindow& window,
                      MarkSpace space);
/// Columns of what is too short for a bar in a lane of time, raises, links.
Marks marksOfTime(const EventStore& store, const LaneView& view, LaneKind kind,
                  const ViewWindow& window, MarkSpace space, bool durations);
Ink inkOfRow(const EventStore& store, LaneKind kind, Row row, bool asPrevious);

}  // namespace tickscope
