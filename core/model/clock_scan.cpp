// SPDX-License-Identifier: GPL-3.0-or-later
// Looks at the few kinds of events that read a clock.
#include "core/model/clock_scan.h"

#include <tsl/robin_map.h>

#include <limits>

namespace tickscope {

namespace {

/// CLOCK_* of the kernel's interface.
constexpr s32 clockRealtime = 0, clockBoottime = 7, clockTai = 11;
constexpr u32 modeRelative = 1;
/// So many arms of a callback show its grid.
constexpr std::size_t armsWanted = 4000;
/// Of so many arms and expiries the callback is looked at.
constexpr u32 armsLookedAt = 40'000, expiriesWanted = 10'000;

class Scanner {
 public:
  /// `contexts`: the recording tells hard interrupts from softirqs.
  Scanner(const EventStore& events, bool contexts) : events_(events), contexts_(contexts) {}

  [[nodiscard]] bool sawHard() const { return sawHard_; }

  ClockScan run() {
    for (u32 i = 0; i < events_.size(); ++i) {
      const Row row{i};
      switch (events_.kind(row)) {
        case kindOf<HrtimerInit>:
          init(events_.as<HrtimerInit>(row));
          break;
        case kindOf<HrtimerSetup>:
          init(events_.as<HrtimerSetup>(row));
          break;
        case kindOf<HrtimerStart>:
          if (armsSeen_++ < armsLookedAt) armed(row, events_.as<HrtimerStart>(row));
          break;
        case kindOf<HrtimerExpireEntry>:
          expired(row, events_.as<HrtimerExpireEntry>(row));
          break;
        case kindOf<TimerStart>:
          if (recorded(row, 4)) jiffies(row, events_.as<TimerStart>(row).now);
          break;
        case kindOf<TimerExpireEntry>:
          if (recorded(row, 1)) jiffies(row, events_.as<TimerExpireEntry>(row).now);
          break;
        default:
          continue;
      }
      ++scan_.timerEvents;
    }
    return std::move(scan_);
  }

 private:
  static constexpr s64 none = std::numeric_limits<s64>::min();
  struct OneCpu {
    s64 hardNow = none, softNow = none;
    u64 jiffies = 0;
    bool anyJiffies = false;
    std::vector<u32> open;  // jiffy readings that wait for the next monotonic reading
  };

  [[nodiscard]] bool recorded(Row row, std::size_t field) const {
    return events_.type(row).recorded(field);
  }
  OneCpu& cpuOf(Cpu cpu) {
    if (number(cpu) >= cpus_.size()) cpus_.resize(number(cpu) + std::size_t{1});
    return cpus_[number(cpu)];
  }

  /// REALTIME + REL arms a MONOTONIC timer (__hrtimer_init).
  template <class P>
  void init(const P& event) {
    const bool relative = event.mode & modeRelative;
    ClockBase base = ClockBase::Mono;
    if (event.clockid == clockRealtime && !relative) base = ClockBase::Real;
    if (event.clockid == clockBoottime) base = ClockBase::Boot;
    if (event.clockid == clockTai) base = ClockBase::Tai;
    if (base != ClockBase::Mono) {
      others_[number(event.hrtimer)] = base;
    } else if (!others_.empty()) {
      others_.erase(number(event.hrtimer));
    }
  }

  void armed(Row row, const HrtimerStart& event) {
    if (!recorded(row, 2)) return;
    ArmGroup& group = groupOf(event.function);
    if (group.arms.size() >= armsWanted) return;
    group.arms.push_back({event.hrtimer, events_.cpu(row), event.expires.value});
    const Context context = events_.context(row);
    const bool interrupt = context.hardIrq() || context.softIrq();
    group.byTasks += contexts_ && !interrupt && events_.pid(row) != Pid{0};
    group.relative |= (event.mode & modeRelative) != 0;
    group.slack |= recorded(row, 3) && event.expires != event.softexpires;
  }
  ArmGroup& groupOf(Address function) {
    if (lastGroup_ < scan_.arms.size() && scan_.arms[lastGroup_].function == function) {
      return scan_.arms[lastGroup_];
    }
    const auto [found, isNew] =
        groups_.try_emplace(number(function), static_cast<u32>(scan_.arms.size()));
    if (isNew) {
      scan_.arms.emplace_back();
      scan_.arms.back().function = function;
    }
    lastGroup_ = found->second;
    return scan_.arms[lastGroup_];
  }

  void expired(Row row, const HrtimerExpireEntry& event) {
    if (!recorded(row, 1)) return;
    const s64 now = event.now.value;
    const s64 stamp = events_.time(row).value;
    const Cpu cpu = events_.cpu(row);
    OneCpu& here = cpuOf(cpu);
    ClockBase base = isCalendarTime(now) ? ClockBase::Real : ClockBase::Mono;
    if (!others_.empty()) {
      const auto found = others_.find(number(event.hrtimer));
      if (found != others_.end()) base = found->second;
    }
    // An interrupt that breaks into a pass of soft timers reads a later `now` than what follows it.
    const bool hard = !contexts_ || events_.context(row).hardIrq();
    sawHard_ |= hard;
    s64& last = hard ? here.hardNow : here.softNow;
    if (base != ClockBase::Mono) {
      scan_.readings.push_back(
          {row, base, cpu, stamp, now, last != none ? Known<s64>{last} : Known<s64>{}});
      return;
    }
    if (expiriesSeen_ < expiriesWanted) {
      ++expiriesSeen_;
      groupOf(event.function).expiries.push_back({event.hrtimer, cpu, now});
    }
    if (now <= last) return;
    last = now;
    scan_.anchors.push_back({{stamp, now}, row, cpu, hard});
    if (!hard) return;
    for (const u32 reading : here.open) scan_.jiffies[reading].monoAfter = now;
    here.open.clear();
  }

  void jiffies(Row row, Jiffies value) {
    const Cpu cpu = events_.cpu(row);
    OneCpu& here = cpuOf(cpu);
    const u64 jiffies = static_cast<u64>(value.value);
    if (here.anyJiffies && here.jiffies == jiffies) return;
    here.anyJiffies = true;
    here.jiffies = jiffies;
    here.open.push_back(static_cast<u32>(scan_.jiffies.size()));
    scan_.jiffies.push_back({events_.time(row).value, jiffies, cpu, {}});
  }

  const EventStore& events_;
  bool contexts_, sawHard_ = false;
  u32 armsSeen_ = 0, expiriesSeen_ = 0;
  ClockScan scan_;
  std::vector<OneCpu> cpus_;
  tsl::robin_map<u64, ClockBase> others_;  // timers initialised for another base than MONO
  tsl::robin_map<u64, u32> groups_;
  u32 lastGroup_ = 0;
};

}  // namespace

ClockScan scanClocks(const EventStore& events) {
  Scanner scanner(events, true);
  ClockScan scan = scanner.run();
  // Text may come without the column of flags.
  if (!scanner.sawHard() && !scan.anchors.empty()) return Scanner(events, false).run();
  return scan;
}

}  // namespace tickscope
