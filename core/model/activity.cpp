// SPDX-License-Identifier: GPL-3.0-or-later
// Brackets first, then what they tell of the machine.
#include "core/model/activity.h"

namespace tickscope {

Activity activityOf(const Recording& recording, const Buffer& buffer, const ReplayTables& tables,
                    const ClockMap& clocks, int threads) {
  Activity made;
  made.brackets = bracketsOf(buffer.events, tables, threads);
  made.baseline = baselineOf(recording, buffer, tables, clocks, made.brackets);
  return made;
}

}  // namespace tickscope
