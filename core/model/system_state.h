// SPDX-License-Identifier: GPL-3.0-or-later
// The reference state at one row: what every CPU's wheel bases and hrtimer trees hold, as far as is known.
#pragma once

#include <array>
#include <vector>

#include "core/model/armed_span.h"
#include "core/model/blind_spot.h"

namespace tickscope {

/// An armed timer as the state shows it.
struct StateTimer {
  SpanId span{};
  TimerId timer{};
  Address address{}, function{};  ///< function 0: not seen
  Known<s64> expires;             ///< wheel: jiffies; hrtimer: ns of its own clock
  Known<s64> second;              ///< wheel: bucket expiry, jiffies; hrtimer: softexpires, ns
  u16 bucketIndex = 0;
  Known<Row> armedRow;  ///< empty: before the recording
  Known<Pid> armedBy;   ///< task of that row; empty as well when armed in an interrupt
  u8 flags = 0;         ///< ArmedSpan::Flag
};

struct WheelBaseState {
  WheelBaseKind kind{};
  Known<u64> clk, nextExpiry;  ///< jiffies
  std::vector<StateTimer>
      timers;  ///< by bucket expiry, then level descending, then last armed first
};

struct CpuState {
  Cpu cpu{};
  bool online = true;
  std::vector<WheelBaseState> wheel;  ///< those that the kernel has: one, two or three
  /// By ClockBase; each in tree order (expires, then insertion).
  std::array<std::vector<StateTimer>, clockBaseCount> hrtimers;
  Known<MonoTime> expiresNext;         ///< `never`: stopped, or inside the timer interrupt
  Known<MonoTime> softirqExpiresNext;  ///< `never`: none
  Known<MonoTime> programmed;          ///< value of the last programming call, where recorded
  Known<bool> inInterrupt;             ///< in hrtimer_interrupt
  Known<bool> softirqActivated;        ///< HRTIMER_SOFTIRQ raised, not yet run
  std::vector<BlindSpotKind> unknown;  ///< blind spots that cover this CPU here
};

struct SystemState {
  Row row{};
  TraceTime time{};
  std::vector<CpuState> cpus;            ///< ascending
  std::vector<StateTimer> ownerUnknown;  ///< armed timers whose CPU the trace does not tell
};

}  // namespace tickscope
