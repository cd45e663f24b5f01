// SPDX-License-Identifier: GPL-3.0-or-later
// Counts habits of the kernel, a CPU after the other, looking only at the kinds of rows that tell.
#include "core/model/profile_scan.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/model/kernel_numbers.h"

namespace tickscope {

namespace {

constexpr u32 mostPasses = 2000;
constexpr u32 windowTicks = 6;

enum class Look : u8 {
  Skip,
  HrtimerStart,
  HrtimerCancel,
  HrtimerExpiry,
  TimerStart,
  TimerCancel,
  TimerExpiry,
  SoftirqRaise,
  SoftirqEntry,
  SoftirqExit,
  TickStop,
  SchedSwitch
};

constexpr std::array<Look, kindCount> looks = [] {
  std::array<Look, kindCount> table{};
  table[number(kindOf<HrtimerStart>)] = Look::HrtimerStart;
  table[number(kindOf<HrtimerCancel>)] = Look::HrtimerCancel;
  table[number(kindOf<HrtimerExpireEntry>)] = Look::HrtimerExpiry;
  table[number(kindOf<TimerStart>)] = Look::TimerStart;
  table[number(kindOf<TimerCancel>)] = Look::TimerCancel;
  table[number(kindOf<TimerExpireEntry>)] = Look::TimerExpiry;
  table[number(kindOf<SoftirqRaise>)] = Look::SoftirqRaise;
  table[number(kindOf<SoftirqEntry>)] = Look::SoftirqEntry;
  table[number(kindOf<SoftirqExit>)] = Look::SoftirqExit;
  table[number(kindOf<TickStop>)] = Look::TickStop;
  table[number(kindOf<SchedSwitch>)] = Look::SchedSwitch;
  return table;
}();

s64 modulo(s64 value, s64 by) {
  const s64 rest = value % by;
  return rest < 0 ? rest + by : rest;
}

/// Whether all values lie within `width` on a circle of `round`.
bool within(std::vector<s64> values, s64 width, s64 round) {
  std::sort(values.begin(), values.end());
  s64 widestGap = values.front() + round - values.back();
  for (std::size_t i = 1; i < values.size(); ++i) {
    widestGap = std::max(widestGap, values[i] - values[i - 1]);
  }
  return round - widestGap <= width;
}

class Scan {
 public:
  Scan(const Recording& recording, const Buffer& buffer, Known<s64> tickNs)
      : recording_(recording), events_(buffer.events), tickNs_(tickNs) {
    const auto symbol = [&](std::string_view name) -> Known<Address> {
      if (recording.metadata.lastBoot) return {};
      const auto range = recording.metadata.symbols->rangeOf(name);
      if (!range) return {};
      return static_cast<Address>(range->from);
    };
    schedTimer_ = symbol("tick_sched_timer");
    nohzHandler_ = symbol("tick_nohz_handler");
    sleeper_ = symbol("hrtimer_wakeup");
    raisesRecorded_ = events_.firstPossible(kindOf<SoftirqRaise>).has_value();
    switchesRecorded_ = events_.firstPossible(kindOf<SchedSwitch>).has_value();
    looksOfType_.reserve(events_.types().size());
    for (const EventType& type : events_.types()) looksOfType_.push_back(looks[number(type.kind)]);
  }

  Habits run() {
    for (u32 stream = 0; stream < events_.streams().size(); ++stream) {
      cpu_ = {};
      cpu_.cpu = events_.streams()[stream].cpu;
      state_ = {};
      passes_.clear();
      for (const Row row : events_.rowsOfStream(stream)) look(row);
      // The candidate leads by eight in ten: it has nine, the others one.
      if (state_.phaseLead * 10 < cpu_.tickArms * 8) cpu_.tickPhase.reset();
      cpu_.passes = passes_.size();
      if (tickNs_ && !passes_.empty()) {
        cpu_.passesOnGrid = within(passes_, *tickNs_ / 8, *tickNs_);
      }
      found_.cpus.push_back(cpu_);
    }
    return std::move(found_);
  }

 private:
  struct CpuState {
    Known<Address> cancelled;  // the last hrtimer event, if it was a cancel
    BaseTime lastNow{};
    Known<BaseTime> tickExpires;
    u64 phaseLead = 0;   // starts with the candidate's phase, less those with another
    bool raised = true;  // since the last tick; before the first one nothing counts
    bool inRun = false;
    u32 expired = 0;
    u32 detached = 0;  // since the run before, the expired ones included
    u32 idleTicks = 0;
  };

  void look(Row row) {
    switch (looksOfType_[events_.typeIndex(row)]) {
      case Look::Skip:
        return;
      case Look::HrtimerStart:
        return start(events_.as<HrtimerStart>(row));
      case Look::HrtimerCancel:
        state_.cancelled = events_.as<HrtimerCancel>(row).hrtimer;
        return;
      case Look::HrtimerExpiry:
        return expiry(row, events_.as<HrtimerExpireEntry>(row));
      case Look::TimerStart:
        return wheelStart(events_.as<TimerStart>(row));
      case Look::TimerCancel:
        ++state_.detached;
        return;
      case Look::TimerExpiry:
        ++state_.expired;
        return;
      case Look::SoftirqRaise:
        if (events_.as<SoftirqRaise>(row).vec == timerVector) raised();
        return;
      case Look::SoftirqEntry:
        return entry(row, events_.as<SoftirqEntry>(row).vec);
      case Look::SoftirqExit:
        if (events_.as<SoftirqExit>(row).vec == timerVector) exit();
        return;
      case Look::TickStop:
        return stop(row, events_.as<TickStop>(row).success != 0);
      case Look::SchedSwitch:
        // A stay in the idle task begins or ends.
        state_.idleTicks = 0;
        return;
    }
  }

  [[nodiscard]] bool isTick(Address function) const {
    return (schedTimer_ && function == *schedTimer_) || (nohzHandler_ && function == *nohzHandler_);
  }

  void start(const HrtimerStart& event) {
    if (state_.cancelled == event.hrtimer) ++found_.startsCancelled;
    state_.cancelled.reset();
    if (sleeper_ && event.function == *sleeper_) {
      ++found_.sleeperStarts;
      if (event.mode & softMode) ++found_.sleeperStartsSoft;
      if (event.mode & hardMode) ++found_.sleeperStartsHard;
      return;
    }
    if (!isTick(event.function)) return;
    ++cpu_.tickArms;
    ++(schedTimer_ && event.function == *schedTimer_ ? found_.schedTimerStarts
                                                     : found_.nohzHandlerStarts);
    if (!tickNs_) return;
    if (state_.tickExpires && (event.expires - *state_.tickExpires).value != *tickNs_) {
      ++cpu_.tickSkips;
    }
    state_.tickExpires = event.expires;
    const s64 phase = modulo(event.expires.value, *tickNs_);
    if (state_.phaseLead == 0) cpu_.tickPhase = phase;
    if (cpu_.tickPhase == phase) {
      ++state_.phaseLead;
    } else {
      --state_.phaseLead;
    }
  }

  void expiry(Row row, const HrtimerExpireEntry& event) {
    ++found_.expiries;
    if (state_.cancelled == event.hrtimer) ++found_.expiriesCancelled;
    state_.cancelled.reset();
    if (isTick(event.function)) return tick(row);
    if (sleeper_ && event.function == *sleeper_) {
      const Context context = events_.context(row);
      if (context.hardIrq()) {
        ++found_.sleepersInInterrupt;
      } else if (context.softIrq()) {
        ++found_.sleepersInSoftirq;
      }
    }
    if (tickNs_ && event.now != state_.lastNow && passes_.size() < mostPasses) {
      state_.lastNow = event.now;
      passes_.push_back(modulo(event.now.value, *tickNs_));
    }
  }

  void tick(Row row) {
    ++cpu_.ticks;
    state_.raised = false;
    if (number(events_.pid(row)) != 0) {
      ++cpu_.taskTicks;
      state_.idleTicks = 0;
    } else if (switchesRecorded_ && ++state_.idleTicks == windowTicks) {
      ++cpu_.idleWindows;
      state_.idleTicks = 0;
    }
  }

  void raised() {
    if (!state_.raised) ++cpu_.raisedTicks;
    state_.raised = true;
  }

  void entry(Row row, u32 vector) {
    if (vector != timerVector && vector != hrtimerVector) return;
    ranBy(events_.pid(row));
    if (vector == hrtimerVector) return;
    if (!raisesRecorded_) raised();
    state_.inRun = true;
    state_.expired = 0;
  }

  void exit() {
    if (!state_.inRun) return;
    state_.inRun = false;
    ++cpu_.timerRuns;
    // The first timer's deletion leaves next_expiry as it was: the tick raises once for it.
    if (state_.expired == 0 && state_.detached == 0) ++cpu_.emptyRuns;
    state_.detached = 0;
  }

  void ranBy(Pid pid) {
    SoftirqRunners& runners = found_.runners;
    if (number(pid) == 0) {
      ++runners.idle;
      return;
    }
    const Known<std::string_view> name = recording_.metadata.tasks.of(pid);
    if (!name) {
      ++runners.unnamed;
    } else if (name->starts_with("ksoftirqd/")) {
      ++runners.ksoftirqd;
    } else if (name->starts_with("ktimersoftd/")) {
      ++runners.ktimersoftd;
    } else if (name->starts_with("ktimers/")) {
      ++runners.ktimers;
    } else {
      ++runners.other;
    }
  }

  void wheelStart(const TimerStart& event) {
    ++found_.wheelStarts;
    const u32 index = event.flags >> 22U;
    found_.wheelMaxIndex = std::max(found_.wheelMaxIndex, index);
    if (index != 0) ++found_.wheelIndexed;
    const u32 level = index / 64;
    const u64 slot = (static_cast<u64>(event.expires.value) >> (3U * level)) + 1;
    if (level < 9 && slot % 64 == index % 64) ++found_.wheelFits;
  }

  void stop(Row row, bool success) {
    if (!success) {
      ++cpu_.stopsRefused;
    } else {
      ++(number(events_.pid(row)) == 0 ? cpu_.stopsByIdle : cpu_.stopsByTask);
    }
  }

  const Recording& recording_;
  const EventStore& events_;
  Known<s64> tickNs_;
  Known<Address> schedTimer_, nohzHandler_, sleeper_;
  bool raisesRecorded_ = false, switchesRecorded_ = false;
  std::vector<Look> looksOfType_;
  Habits found_;
  CpuHabits cpu_;
  CpuState state_;
  std::vector<s64> passes_;
};

}  // namespace

Habits scanHabits(const Recording& recording, const Buffer& buffer, Known<s64> tickNs) {
  return Scan(recording, buffer, tickNs).run();
}

}  // namespace tickscope
