// SPDX-License-Identifier: GPL-3.0-or-later
// What ran on the CPUs of a recording and how late it was: read by findings, statistics and invariants of lateness.
#pragma once

#include "core/model/machine_baseline.h"

namespace tickscope {

struct Activity {
  std::vector<CpuBrackets> brackets;  ///< by stream
  MachineBaseline baseline;
};

/// Uses the threads for streams; the same for any number.
Activity activityOf(const Recording& recording, const Buffer& buffer, const ReplayTables& tables,
                    const ClockMap& clocks, int threads);

}  // namespace tickscope
