// SPDX-License-Identifier: GPL-3.0-or-later
// The invariants that measure how late something came, or what an interrupt was for: I07, I23, I24, I26, I29.
#pragma once

#include "core/model/activity.h"

namespace tickscope {

struct PromptnessInput {
  const Recording& recording;
  const Buffer& buffer;
  const ReplayTables& tables;
  const ClockMap& clocks;
  const KernelProfile& profile;
  const Activity& activity;
  bool filtered = false;  ///< events of some timers are missing (B05)
};

/// Fills the five from nothing. A replay cannot: what is late depends on the machine, which only the whole recording
/// tells. Limits are the usual ones, scaled by the baseline (findings 1.8).
void countPromptness(const PromptnessInput& input, InvariantCounts& counts);

}  // namespace tickscope
