// SPDX-License-Identifier: GPL-3.0-or-later
// Names that kernels give to the numbers in timer, softirq, tick and sched events, where the
// recording has no table.
#pragma once

#include <string>
#include <string_view>

#include "core/base/quantity.h"

namespace tickscope {

/// `ABS|PINNED|HARD`; combinations that no kernel names as hex.
std::string hrtimerModeName(u32 mode);
/// The value of an enumerator of hrtimer modes, `HRTIMER_MODE_ABS_PINNED_HARD`: print formats list
/// these by name.
Known<u64> hrtimerModeValue(std::string_view enumerator);
/// `CLOCK_MONOTONIC`; unknown ones as hex.
std::string clockName(s32 clock);
/// `TIMER` of softirq vector 1; unknown ones as hex.
std::string softirqName(u32 vector);
/// `SCHED` of a tick dependency bit; `NONE` of 0; unknown ones as hex.
std::string tickDependencyName(s32 dependency);
/// `REALTIME` of an alarm's type.
std::string alarmTypeName(u8 type);
/// `S`, `R+`, `D|K`: sched_switch.prev_state with the bits of kernels since 4.14.
std::string taskStateName(s64 state);
/// `D|P`: the flags in timer_start.flags (4.8 and later); empty when none is set.
std::string wheelFlagNames(u32 flags);

}  // namespace tickscope
