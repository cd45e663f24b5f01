// SPDX-License-Identifier: GPL-3.0-or-later
// When an armed timer has to run, how long rows are apart, and which callbacks are the tick.
#pragma once

#include <vector>

#include "core/model/clock_map.h"
#include "core/model/replay_tables.h"
#include "core/trace/recording.h"

namespace tickscope {

/// hrtimer: its hard expiry; wheel: when the jiffy of its bucket begins. On the monotonic clock; empty: not known.
Known<Bounded<MonoTime>> dueTimeOf(const ArmedSpan& span, const ReplayTables& tables,
                                   const ClockMap& clocks);

/// From one row to another in ns; by the trace's own clock where that counts ns. Empty: it cannot be told.
Known<s64> nsBetween(const Buffer& buffer, const ClockMap& clocks, Row from, Row to);

/// Callbacks of the tick by name; without symbols by the grid on which they expire.
std::vector<Address> tickFunctionsOf(const Recording& recording, const ClockMap& clocks);

}  // namespace tickscope
