// SPDX-License-Identifier: GPL-3.0-or-later
// What a CPU did between the raise of a softirq and its entry.
#pragma once

#include <string>

#include "core/findings/material.h"

namespace tickscope {

enum class Blocker : u8 {
  Unknown,
  Softirq,     ///< another vector, or an earlier run of its own
  Thread,      ///< a task ran, and the softirq's thread waited for it
  Task,        ///< a task ran, whose softirqs were off or whose return did not run them
  Interrupts,  ///< hard interrupts
  Idle         ///< the CPU was idle with a raised softirq
};

struct SoftirqWait {
  s64 whole = 0;             ///< ns, raise to entry
  s64 dead = 0;              ///< of it, time in which the CPU cannot have run (K4)
  Blocker by{};              ///< what took most of the rest
  u32 vector = 0;            ///< Blocker::Softirq
  Pid task{};                ///< Blocker::Thread and Task
  s32 prio = 0;              ///< of it; 0 with pid 0: not known
  s64 byNs = 0;              ///< how long
  bool softirqsOff = false;  ///< a row of that task says so
  bool irqsOff = false;      ///< its rows had interrupts off
  Row byRow = noRow;         ///< the first row of it
  Row woken = noRow;         ///< the thread's wake-up
};

/// Where the wait of that softirq begins: its raise, or the exit of the run of the same vector that it was raised in
/// (one vector runs once at a time on a CPU); noRow: that exit was not seen. Precondition: it has a raise.
Row waitBegin(const CpuBrackets& cpu, const Bracket& bracket);

/// Precondition: the bracket has a raise and an entry, `begin` is its waitBegin() and not noRow.
SoftirqWait softirqWaitOf(const Material& material, const CpuBrackets& cpu, const Bracket& bracket,
                          Row begin);

/// "TIMER", "NET_RX".
std::string_view vectorName(u32 vector);
/// ksoftirqd/N, ktimers/N, ktimersoftd/N.
bool isSoftirqThread(std::string_view comm);

}  // namespace tickscope
