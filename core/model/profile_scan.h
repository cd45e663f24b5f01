// SPDX-License-Identifier: GPL-3.0-or-later
// What one pass over the rows shows of the kernel's habits: counts, without a judgement.
#pragma once

#include <vector>

#include "core/trace/recording.h"

namespace tickscope {

/// Softirq runs of vectors 1 and 8 by who ran them.
struct SoftirqRunners {
  u64 idle = 0;  ///< in the idle task: on the way out of an interrupt
  u64 ksoftirqd = 0, ktimersoftd = 0, ktimers = 0;
  u64 other =
      0;  ///< any other task: interrupt exit, or the task itself when it allowed softirqs again
  u64 unnamed = 0;
  [[nodiscard]] u64 inThreads() const { return ksoftirqd + ktimersoftd + ktimers; }
};

struct CpuHabits {
  Cpu cpu{};
  u64 ticks = 0;        ///< expiries of the tick function
  u64 taskTicks = 0;    ///< of these, while a task other than idle ran
  u64 idleWindows = 0;  ///< stretches of 6 ticks within one stay in the idle task
  u64 raisedTicks =
      0;              ///< ticks after which TIMER was raised, or ran where raises were not recorded
  u64 timerRuns = 0;  ///< TIMER softirqs that ended
  u64 emptyRuns =
      0;  ///< of these, without an expiry, and without a deletion here since the run before
  u64 stopsByIdle = 0;   ///< tick_stop success=1 in the idle task
  u64 stopsByTask = 0;   ///< in another task
  u64 stopsRefused = 0;  ///< success=0
  u64 tickArms = 0;      ///< starts of the tick function
  u64 tickSkips = 0;     ///< of these, not one tick after the start before (HZ known)
  /// expires modulo the tick's length, of at least nine in ten starts; empty: no such phase, or HZ unknown.
  Known<s64> tickPhase;
  u64 passes = 0;  ///< distinct `now` of hrtimer expiries that were looked at for `passesOnGrid`
  bool passesOnGrid = false;  ///< all of them lay within an eighth of a tick after one phase
};

struct Habits {
  std::vector<CpuHabits> cpus;
  SoftirqRunners runners;

  u64 expiries = 0;  ///< hrtimer_expire_entry
  u64 expiriesCancelled =
      0;  ///< of these, with hrtimer_cancel of the timer as the CPU's last hrtimer event
  u64 startsCancelled =
      0;  ///< hrtimer_start with hrtimer_cancel of the timer as the CPU's last hrtimer event

  u64 sleeperStarts = 0, sleeperStartsSoft = 0, sleeperStartsHard = 0;  ///< of hrtimer_wakeup
  u64 sleepersInSoftirq = 0, sleepersInInterrupt = 0;  ///< expiries of hrtimer_wakeup

  u64 wheelStarts = 0;
  u64 wheelIndexed = 0;  ///< with an index that is not 0
  u64 wheelFits = 0;     ///< index is what the expiry gives for its level
  u32 wheelMaxIndex = 0;

  u64 schedTimerStarts = 0, nohzHandlerStarts = 0;  ///< of tick_sched_timer, tick_nohz_handler

  [[nodiscard]] u64 sum(u64 CpuHabits::*member) const {
    u64 total = 0;
    for (const CpuHabits& cpu : cpus) total += cpu.*member;
    return total;
  }
};

/// One pass. `tickNs` is the length of a tick, where HZ is known.
Habits scanHabits(const Recording& recording, const Buffer& buffer, Known<s64> tickNs);

}  // namespace tickscope
