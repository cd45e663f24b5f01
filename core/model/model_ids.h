// SPDX-License-Identifier: GPL-3.0-or-later
// Names of the things the model speaks of: timers, clock bases, wheel bases.
#pragma once

#include <limits>
#include <string_view>

#include "core/base/ids.h"

namespace tickscope {

/// One incarnation of a timer, from init to re-init; its place in ReplayTables::timers.
enum class TimerId : u32 {};
/// One life of an armed timer; its place in ReplayTables::spans.
enum class SpanId : u32 {};

/// HRTIMER_BASE_*: index order is the order in which an interrupt walks them; the soft ones follow the hard ones.
enum class ClockBase : u8 { Mono, Real, Boot, Tai, MonoSoft, RealSoft, BootSoft, TaiSoft };
inline constexpr std::size_t clockBaseCount = 8;
constexpr bool isSoft(ClockBase base) { return number(base) >= 4; }
constexpr ClockBase hardOf(ClockBase base) { return static_cast<ClockBase>(number(base) & 3U); }
constexpr ClockBase softOf(ClockBase base) { return static_cast<ClockBase>(number(base) | 4U); }

/// BASE_* of timer.c. Before 6.9 there is Std (in the place of Local) and Def.
enum class WheelBaseKind : u8 { LocalOrStd, Global, Def };
inline constexpr std::size_t wheelBaseCount = 3;

/// KTIME_MAX: no event.
inline constexpr MonoTime never{std::numeric_limits<s64>::max()};

}  // namespace tickscope
