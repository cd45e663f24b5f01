// SPDX-License-Identifier: GPL-3.0-or-later
// All that detectors read, and the questions that many of them ask of it.
#pragma once

#include <bitset>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "core/base/sentence.h"
#include "core/findings/thresholds.h"
#include "core/model/activity.h"
#include "core/model/clock_map.h"
#include "core/model/replay_tables.h"
#include "core/trace/event_text.h"
#include "core/trace/recording.h"

namespace tickscope {

/// Groups of events that findings need.
enum class Need : u8 {
  W,   ///< timer_start, timer_cancel, timer_expire_entry
  H,   ///< hrtimer_start, hrtimer_cancel, hrtimer_expire_entry
  Q,   ///< softirq_raise, softirq_entry, softirq_exit
  I,   ///< timer interrupt entry and exit
  P,   ///< programming calls
  PX,  ///< programming calls with their value
  S,   ///< sched_switch, sched_waking or sched_wakeup
  C,   ///< cpu_idle
  N,   ///< tick_stop
  M,   ///< timer_migration
  U,   ///< cpuhp
  X,   ///< IPIs
  K,   ///< kernel stacks
};
inline constexpr std::size_t needCount = 13;
class Needs {
 public:
  constexpr Needs() = default;
  constexpr Needs(std::initializer_list<Need> groups) {
    for (const Need group : groups) bits_ |= 1U << static_cast<u8>(group);
  }
  [[nodiscard]] constexpr bool has(Need group) const {
    return (bits_ >> static_cast<u8>(group)) & 1U;
  }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  [[nodiscard]] constexpr bool contains(Needs other) const {
    return (bits_ & other.bits_) == other.bits_;
  }
  constexpr void add(Need group) { bits_ |= 1U << static_cast<u8>(group); }
  /// Those that `other` has and this has not.
  [[nodiscard]] constexpr Needs missing(Needs other) const {
    Needs left;
    left.bits_ = other.bits_ & ~bits_;
    return left;
  }
  bool operator==(const Needs&) const = default;

 private:
  u32 bits_ = 0;
};
/// The events of a group as a person asks for them: "timer:timer_start".
std::string_view eventsOf(Need group);

using BlindSpotSet = std::bitset<blindSpotKindCount>;
constexpr BlindSpotSet blindSpots(std::initializer_list<BlindSpotKind> kinds) {
  u64 bits = 0;
  for (const BlindSpotKind kind : kinds) bits |= u64{1} << number(kind);
  return BlindSpotSet(bits);
}

/// Who armed a timer.
struct Owner {
  Pid pid{};
  std::string comm;
  bool interrupted = false;  ///< armed in interrupt or softirq context: the task only stood there
};

struct MaterialParts {
  const Recording& recording;
  const Buffer& buffer;
  const ClockMap& clocks;
  const KernelProfile& profile;
  const ReplayTables& tables;
  const Activity& activity;
  const Thresholds& thresholds;
  bool filtered = false;
};

class Material {
 public:
  explicit Material(const MaterialParts& parts);

  const Recording& recording;
  const Buffer& buffer;
  const EventStore& events;
  const ClockMap& clocks;
  const KernelProfile& profile;
  const ReplayTables& tables;
  const Thresholds& thresholds;
  const bool filtered;  ///< events of some timers were left out (B05)
  const EventText text;
  const std::vector<CpuBrackets>& brackets;  ///< by stream
  const MachineBaseline& baseline;
  const Needs recorded;

  // --- Time
  [[nodiscard]] TraceTime time(Row row) const { return events.time(row); }
  /// Monotonic ns of a row; empty without a map there.
  [[nodiscard]] Known<Bounded<MonoTime>> mono(Row row) const {
    return clocks.mono(events.time(row), events.cpu(row));
  }
  /// From one row to another in ns; by the trace's own clock where that counts ns. Empty: it cannot be told.
  [[nodiscard]] Known<s64> nsBetween(Row from, Row to) const;
  /// When the span was due on the trace's clock: hrtimer by its hard expiry, wheel by the begin of its bucket's jiffy.
  [[nodiscard]] Known<Bounded<TraceTime>> dueTime(const ArmedSpan& span) const;
  /// The same on the monotonic clock.
  [[nodiscard]] Known<Bounded<MonoTime>> dueMono(const ArmedSpan& span) const;
  /// A tick in ns; empty: HZ is not known.
  [[nodiscard]] Known<s64> tickNs() const;
  /// A limit given in ticks, in ns; HZ 250 where it is not known.
  [[nodiscard]] s64 ticksToNs(Limit limit) const;
  /// A limit of time as this machine has it (findings 1.8); `own` is what it is measured against.
  [[nodiscard]] s64 scaled(Limit limit, const DelayRange& own = {}) const;

  // --- Where
  [[nodiscard]] const CpuBrackets& bracketsOf(Row row) const {
    return brackets[events.streamOf(row)];
  }
  /// nullptr: no events of that CPU.
  [[nodiscard]] const CpuBrackets* bracketsOf(Cpu cpu) const;
  [[nodiscard]] const CpuLines* linesOf(Cpu cpu) const;
  /// The last row of a CPU before, and the first at or after a time; noRow: none.
  [[nodiscard]] Row rowBefore(Cpu cpu, TraceTime time) const;
  [[nodiscard]] Row rowAtOrAfter(Cpu cpu, TraceTime time) const;
  /// The next and the previous row of the same CPU; noRow: none.
  [[nodiscard]] Row next(Row row) const;
  [[nodiscard]] Row previous(Row row) const;

  // --- Timers
  [[nodiscard]] const ArmedSpan& span(SpanId id) const { return tables.spans[number(id)]; }
  [[nodiscard]] const ModelTimer& timer(TimerId id) const { return tables.timers[number(id)]; }
  [[nodiscard]] const ModelTimer& timerOf(const ArmedSpan& span) const { return timer(span.timer); }
  [[nodiscard]] bool isHrtimer(const ArmedSpan& span) const {
    return timerOf(span).of == TimerClass::Hrtimer;
  }
  /// The tick's own hrtimer, or any callback that the profile names as the tick.
  [[nodiscard]] bool isTick(Address function) const;
  [[nodiscard]] bool isTick(const ArmedSpan& span) const { return isTick(timerOf(span).function); }
  /// The callback's name as kernel text has it, "0x..." without symbols.
  [[nodiscard]] std::string callback(Address function) const { return text.symbol(function); }
  /// Empty: armed before the recording, or by its callback's return value (then the callback itself re-armed it).
  [[nodiscard]] Known<Owner> ownerOf(const ArmedSpan& span) const;
  [[nodiscard]] Owner taskOf(Row row) const;

  // --- What the trace cannot carry
  /// A blind spot of one of these kinds touches [from, to] of that CPU.
  [[nodiscard]] bool isBlind(Cpu cpu, Row from, Row to, BlindSpotSet kinds) const;
  /// ns of that CPU between its first and last row outside such blind spots; 0 when the clock does not carry time.
  [[nodiscard]] s64 judgedNs(Cpu cpu, BlindSpotSet kinds) const;
  [[nodiscard]] s64 judgedNs(BlindSpotSet kinds) const;

  // --- Innocent causes that many detectors look for
  /// K4: not idle, and no event of the CPU over more than vm.silence that overlaps [from, to].
  [[nodiscard]] bool isSilent(Cpu cpu, TraceTime from, TraceTime to) const;
  /// K1: the last row of the CPU before `row` says that interrupts were off outside of an interrupt.
  [[nodiscard]] bool irqsOffBefore(Row row) const;
  /// K6: offline, or a row of CPU hotplug or suspend, within [from, to].
  [[nodiscard]] bool hotplugOrSuspend(Cpu cpu, TraceTime from, TraceTime to) const;
  /// K7: the offset of that clock, or the map of the trace clock, changes within [from, to].
  [[nodiscard]] bool clockStep(ClockBase base, Row from, Row to) const;

 private:
  struct Blind {
    Cpu cpu;
    std::vector<BlindSpot> spots;
  };
  struct Offline {
    Known<Cpu> cpu;  ///< empty: all
    TimeSpan when;
  };
  std::vector<Blind> blind_;
  std::vector<Offline> offline_;
  std::vector<Address> tickFunctions_;
};

}  // namespace tickscope
