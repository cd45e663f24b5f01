// SPDX-License-Identifier: GPL-3.0-or-later
// A /proc/timer_list dump as it was printed.
#pragma once

#include <string>
#include <vector>

#include "core/base/ids.h"

namespace tickscope {

/// One ` #N: <ptr>, function, S:01` line with its ` # expires at a-b nsecs` line.
struct ListedTimer {
  std::string pointer;  ///< as printed, often hashed
  std::string function;
  std::string state;  ///< "S:01"
  BaseTime softExpires{}, expires{};
};

struct ListedBase {
  u32 index{};
  Known<u64> resolution;  ///< ns
  std::string getTime;    ///< ktime_get, ktime_get_real, ...
  Known<s64> offset;      ///< ns
  std::vector<ListedTimer> timers;
};

/// A `name : value` line of a CPU or of the head, in order.
struct ListedValue {
  std::string name, value;
};

struct ListedCpu {
  Cpu cpu{};
  std::vector<ListedBase> bases;
  std::vector<ListedValue> values;  ///< .expires_next, .hres_active, jiffies, ...
};

struct TimerListDump {
  std::string version;  ///< "v0.9"
  Known<u64> hrtimerMaxClockBases;
  Known<MonoTime> now;
  std::vector<ListedCpu> cpus;
  std::vector<ListedValue> devices;  ///< tick devices, in order
  u64 linesNotUnderstood{};
};

}  // namespace tickscope
