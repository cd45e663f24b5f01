// SPDX-License-Identifier: GPL-3.0-or-later
// Where the state panel gets what it shows: functions that the application gives it, as panels compute nothing.
#pragma once

#include <functional>
#include <string>

#include "core/model/system_state.h"
#include "core/model/wheel_geometry.h"

namespace tickscope {

struct StateSource {
  /// The state after the event of a row; called in the GUI thread, so it must be quick. None: nothing to show.
  std::function<SystemState(Row)> stateAt;
  /// The last row before, the first row after, at which the state of a CPU changed.
  std::function<Known<Row>(Cpu, Row)> previousChange, nextChange;
  /// CLOCK_MONOTONIC at the event of a row.
  std::function<Known<MonoTime>(Row)> mono;
  /// What the clock of a base is ahead of CLOCK_MONOTONIC at a row, ns.
  std::function<Known<s64>(ClockBase, Row)> offset;
  WheelGeometry geometry;
  bool levels = true;  ///< false: a kernel before 4.8, whose wheel has other buckets
  Known<u32> hz;
  /// Why the recording can never tell what the device was programmed for, a clause; empty: it can.
  std::string programmingUntold;

  explicit operator bool() const { return static_cast<bool>(stateAt); }
};

}  // namespace tickscope
