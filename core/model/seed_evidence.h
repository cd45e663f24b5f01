// SPDX-License-Identifier: GPL-3.0-or-later
// Which timers of a dump were still armed, as listed, when a recording began.
#pragma once

#include "core/model/clock_map.h"
#include "core/trace/recording.h"
#include "core/trace/timer_list_dump.h"

namespace tickscope {

/// The dump without the timers that had been due before the recording, or that its rows show to be idle or armed for
/// another time. A dump tells of its own `now`: until the recording begins timers run, are cancelled and armed again.
/// What is left is right as far as the recording tells. Nothing is left of a dump whose pointers are longer than those
/// of the recording's machine.
TimerListDump stillArmed(const TimerListDump& dump, const Recording& recording,
                         const Buffer& buffer, const ClockMap& clocks);

/// Whether any timer is listed.
bool listsTimers(const TimerListDump& dump);

}  // namespace tickscope
