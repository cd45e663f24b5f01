// SPDX-License-Identifier: GPL-3.0-or-later
// What events tell about clocks: readings of ktime and jiffies, and periodic arms.
#pragma once

#include <span>
#include <vector>

#include "core/model/clock_fit.h"
#include "core/model/model_ids.h"
#include "core/trace/event_store.h"

namespace tickscope {

/// The first hrtimer expiry of a pass, of a timer of the MONO base.
struct PassAnchor {
  ClockAnchor at;
  Row row;
  Cpu cpu;
  bool hard;  ///< in the interrupt itself: what follows on this CPU read the clock later
};

/// An expiry of a timer of another base.
struct BaseReading {
  Row row;
  ClockBase base;  ///< a hard one: what it says holds for the soft one too
  Cpu cpu;
  s64 stamp, now;
  Known<s64>
      monoBefore;  ///< the monotonic `now` that this CPU read before it, maybe in the same pass
};

/// The first event of a CPU that shows a new value of jiffies.
struct JiffyReading {
  s64 stamp;
  u64 jiffies;  ///< as recorded
  Cpu cpu;
  Known<s64> monoAfter;  ///< what this CPU read first after it
};

/// The first arms and expiries of one hrtimer callback.
struct ArmGroup {
  struct Arm {
    Address timer;
    Cpu cpu;
    s64 time;  ///< ns of the timer's clock: expires of an arm, now of an expiry
  };
  Address function;
  std::vector<Arm> arms, expiries;
  u32 byTasks = 0;        ///< of `arms`: in the context of a task, which never arms a tick
  bool relative = false;  ///< some were relative
  bool slack = false;     ///< some had a soft expiry before the hard one
};

struct ClockScan {
  std::vector<PassAnchor> anchors;
  std::vector<BaseReading> readings;
  std::vector<JiffyReading> jiffies;
  std::vector<ArmGroup> arms;
  u32 timerEvents = 0;  ///< of the kinds that were looked at
};

/// One pass over the rows.
ClockScan scanClocks(const EventStore& events);

/// A time of 2001 or later, which no monotonic clock reaches: REAL or TAI.
constexpr bool isCalendarTime(s64 now) { return now >= 1'000'000'000'000'000'000; }

}  // namespace tickscope
