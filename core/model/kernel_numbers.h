// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers of the kernel that the events of this folder carry.
#pragma once

#include "core/base/quantity.h"

namespace tickscope {

/// TIMER_SOFTIRQ and HRTIMER_SOFTIRQ (interrupt.h).
inline constexpr u32 timerVector = 1, hrtimerVector = 8;

/// cpu_idle's state on the way out (PWR_EVENT_EXIT).
inline constexpr u32 idleExit = 0xffffffff;

/// Bits of hrtimer_start.mode (hrtimer.h; HARD since 5.4, LAZY since 7.1).
inline constexpr u32 relativeMode = 1, pinnedMode = 2, softMode = 4, hardMode = 8, lazyMode = 0x10;

/// CLOCK_REALTIME and CLOCK_TAI read more than this (ns) since 1982; CLOCK_MONOTONIC after twelve years of uptime.
inline constexpr s64 leastWallTime = 400'000'000'000'000'000;

}  // namespace tickscope
