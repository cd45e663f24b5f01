// SPDX-License-Identifier: GPL-3.0-or-later
// A recording several times behind itself, for benchmarks that need more events than any recording has.
#pragma once

#include "core/trace/recording.h"

namespace tickscope::bench {

/// One buffer of a recording `times` times, each later by 2^30 jiffies of `hz`, which is a multiple of every wheel
/// bucket: all stamps, expiries and jiffies in the events move along, so each part is as true as the first.
/// Between the parts all CPUs have lost events, as timers that are armed at the end of one are not in the next.
/// Throws std::runtime_error when the memory does not suffice.
Recording repeated(const Recording& recording, u32 buffer, u32 times, u32 hz);

}  // namespace tickscope::bench
