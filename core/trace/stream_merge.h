// SPDX-License-Identifier: GPL-3.0-or-later
// One order for the events of several streams, each of which keeps its own.
#pragma once

#include <span>
#include <vector>

#include "core/base/ids.h"
#include "core/base/progress.h"
#include "core/trace/event_arena.h"

namespace tickscope {

struct MergeInput {
  std::span<const EventGroup* const> groups;
  std::span<const u32> groupFirst;  ///< position of each group's first event
  u32 firstGroup;                   ///< number of groups[0] in the store
  u32 first, count;                 ///< positions of the stream
};

/// Fills order (row -> slot) and rowOf (position -> row). The key is the running maximum of a stream's times, so that
/// backward times never reorder a CPU; equal keys go to the earlier stream. `backward` gets the positions whose time
/// is below that of the position before. False: cancelled.
[[nodiscard]] bool mergeStreams(std::span<const MergeInput> inputs, std::span<u32> order,
                                std::span<Row> rowOf, std::vector<u32>& backward,
                                Progress& progress);

}  // namespace tickscope
