// SPDX-License-Identifier: GPL-3.0-or-later
// Learns the kernel profile of a recording from its formats, symbols, listings, behaviour and version.
#pragma once

#include <array>

#include "core/model/clock_map.h"
#include "core/model/kernel_profile.h"
#include "core/model/profile_overrides.h"
#include "core/trace/recording.h"
#include "core/trace/timer_list_dump.h"

namespace tickscope {

/// One pass over the buffer. `hz` is what the clock map learned; `dump` may be null. Formats are of the whole file,
/// events without rows included; absent formats count only where the file holds the whole group of timer events.
KernelProfile learnProfile(const Recording& recording, const Buffer& buffer,
                           const ProfileOverrides& overrides, Known<ClockMap::HzResult> hz,
                           const TimerListDump* dump);

/// What a replay that predicts for all rules has counted.
struct Observed {
  /// Operations on hrtimers whose number of programming calls was seen and for which at least two rules differ, by
  /// whether the number is one that the rule allows.
  std::array<u64, hrtimerRuleCount> fits{}, misses{};
  /// timer_start rows of timers that are not deferrable, on a base whose clk would give another bucket were it not
  /// forwarded since the base was last run; and those of them that needed a clk lagging behind jiffies.
  u64 tellingArms = 0, staleArms = 0;
  /// The same of the deferrable base.
  u64 tellingDeferrable = 0, staleDeferrable = 0;
};

/// Adds later evidence of behaviour: sets `observed` of the hrtimer rule and the forwarding rule. `expected` changes
/// only where formats, symbols and the oldest rule of the version left more than one value, one of which fits.
void observe(KernelProfile& profile, const Observed& observed);

}  // namespace tickscope
