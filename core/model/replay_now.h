// SPDX-License-Identifier: GPL-3.0-or-later
// What the replay knows of a CPU and of a timer while it runs; shared by its apply_*.cpp files.
#pragma once

#include <optional>

#include "core/model/kernel_numbers.h"
#include "core/model/replay.h"

namespace tickscope {

inline constexpr u8 noVector = 0xff;

struct Replay::TimerNow {
  TimerId id{};
  Known<SpanId> span;  ///< armed
  Known<SpanId>
      lastSpan;        ///< hrtimers: the one before; next_timer of its CPU may still point to it
  bool known = false;  ///< its state is known: first event seen, no loss since
  bool everStarted = false;
  Row lastRow = noRow, rowBefore = noRow;  ///< of its last two events
  Row announced = noRow;                   ///< the last cancel that belongs to another event
  Known<BaseTime>
      lastExpires;        ///< hrtimers: hard expiry of the last arm, for what RESTART adds to it
  Known<BaseTime> ranAt;  ///< hrtimers: time of the pass that ran it last
  Known<Cpu> running;     ///< its callback runs there
};

struct Replay::CpuNow {
  CpuNow(Cpu number, std::size_t at, const WheelRules& wheelRules, RuleSet rules)
      : cpu(number),
        index(at),
        hrtimers(rules),
        wheel{WheelModel(wheelRules), WheelModel(wheelRules), WheelModel(wheelRules)} {}

  Cpu cpu;
  std::size_t index;
  HrtimerModel hrtimers;
  std::array<WheelModel, wheelBaseCount> wheel;
  Known<u64> unseenFrom;  ///< as the wheel was told last
  bool online = true;
  bool warm = false;  ///< a complete timer interrupt was seen
  Row warmFrom = noRow;
  bool highRes = true;
  bool comingUp = true;  ///< not seen in high resolution yet, from the first row or since online

  /// Whether the model's word on the interrupt and on SA rests on evidence.
  bool interruptTold = false, softirqTold = false;
  void forgetContext() {
    interruptTold = softirqTold = false;
    hrtimers.forgetContext();
  }

  // The timer interrupt that runs.
  bool inTimerInterrupt = false, passOpen = false;
  Row interruptRow{};
  Known<MonoTime> passNow;  ///< of the hard pass, monotonic
  MonoTime lastPass{std::numeric_limits<s64>::min()};
  u32 retries = 0;  ///< further passes that expired timers
  bool raisedInInterrupt = false;
  Row raiseRow{};
  bool strangePass = false;           ///< a further pass without a reason
  u32 strangeInterrupts = 0;          ///< one after the other
  Known<MonoTime> softirqNextBefore;  ///< SE when the interrupt began
  std::optional<Operation> interrupt;
  std::array<Known<s64>, clockBaseCount> lastExpires;  ///< of the pass, by base
  u32 expiriesInPass = 0;

  // Softirqs.
  u8 softirq = noVector;
  Row softirqRow{};
  u32 wheelExpiriesInRun = 0;
  bool runSeen = false;          ///< a TIMER run of this CPU is over, nothing was lost since
  bool deletedSinceRun = false;  ///< a timer of this CPU's bases was deleted since
  bool raisedInRun = false;      ///< TIMER was raised again while it ran
  bool servedBefore = false;     ///< the run before this one may have served its raise
  u32 emptyRuns = 0;             ///< one after the other, not explained
  bool wheelCallback = false;    ///< a wheel callback runs here
  std::array<Known<u64>, wheelBaseCount> lastBaseClk;
  Known<BaseTime> softNow;

  u32 softirqEndCalls = 0;
  bool softPassEnded = false;  ///< before an interrupt that came between its end and softirq_exit

  // The operation on hrtimers whose trailing calls are awaited, and calls that wait for theirs.
  std::optional<Operation> operation;
  struct Waiting {
    Row row;
    CallSite site;
    Known<MonoTime> value;
  };
  std::vector<Waiting> waiting;
  Known<Address>
      restartAnnounced;  ///< HT0, HT1: its hrtimer_cancel was the row before, calls left out

  /// hrtimer whose expire_exit was the row before, in the interrupt and in the softirq below it
  Known<Address> lastExitHard, lastExitSoft;
  bool softCallbackRuns = false;
  Known<MonoTime> programmed;
  s64 changes = 0;  ///< spans begun and ended
  u32 place = 0;    ///< of the current row in its stream
};

}  // namespace tickscope
