// SPDX-License-Identifier: GPL-3.0-or-later
// Builds all lanes of a buffer in one pass over its events.
#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/timeline/lane.h"

namespace tickscope {

/// Lanes with fewer events have no pyramid: walking along all of them costs as little.
inline constexpr u64 fewestForPyramid = 2048;

/// The lanes of a store, which must outlive the result. Takes `threads` threads, a CPU each at a time; the result does
/// not depend on their number. Errors: Cancelled.
Result<std::shared_ptr<const Timeline>> buildTimeline(const EventStore& store, int threads,
                                                      Progress& progress);

/// Which of lane_class an event counts as in its lane; 0 in lanes without classes.
u8 classOf(const EventStore& store, LaneRole role, Row row);

}  // namespace tickscope
