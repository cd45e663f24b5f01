// SPDX-License-Identifier: GPL-3.0-or-later
// Real events in coarse time, with the rows of one time in either order of their CPUs.
#pragma once

#include <memory>

#include "core/trace/recording.h"

namespace tickscope::support {

enum class TieOrder : u8 { FirstCpuFirst, LastCpuFirst };

/// The main buffer with its times rounded up to multiples of `grain`, in a store made anew. Rows of a CPU keep their order;
/// of those with equal times the CPUs change places. Not for recordings with lost events.
std::shared_ptr<const Recording> inCoarseTime(const Recording&, s64 grain, TieOrder order);

}  // namespace tickscope::support
