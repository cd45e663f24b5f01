// SPDX-License-Identifier: GPL-3.0-or-later
// Looks for the first row of each listed timer.
#include "core/model/seed_evidence.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "core/model/recorded_field.h"
#include "core/model/state_text.h"

namespace tickscope {

namespace {

/// A timer that has not run by then was not armed as listed. Latencies of interrupts are well below.
constexpr s64 latestRun = 1'000'000;

struct Listed {
  const ListedTimer* timer{};
  Cpu cpu{};
  Known<Address> address;
  Known<u64> function;
  s64 due = std::numeric_limits<s64>::min();  ///< monotonic ns
  enum class Is : u8 { Open, Armed, Gone } is = Is::Open;
};

class FirstRows {
 public:
  FirstRows(const TimerListDump& dump, const Recording& recording, const Buffer& buffer,
            const ClockMap& clocks)
      : dump_(dump), recording_(recording), events_(buffer.events), clocks_(clocks) {}

  TimerListDump run() {
    collect();
    if (!foreign_) look();
    TimerListDump left = dump_;
    std::size_t next = 0;
    for (ListedCpu& cpu : left.cpus) {
      for (ListedBase& base : cpu.bases) {
        std::vector<ListedTimer> armed;
        for (ListedTimer& timer : base.timers) {
          const bool gone = foreign_ || timers_[next].is == Listed::Is::Gone;
          ++next;
          if (!gone) armed.push_back(std::move(timer));
        }
        base.timers = std::move(armed);
      }
    }
    return left;
  }

 private:
  void collect() {
    const Symbols& symbols = *recording_.metadata.symbols;
    for (const ListedCpu& cpu : dump_.cpus) {
      for (const ListedBase& base : cpu.bases) {
        const bool monotonic = base.index % 4 == 0;
        for (const ListedTimer& timer : base.timers) {
          Listed made;
          made.timer = &timer;
          made.cpu = cpu.cpu;
          made.address = plainPointer(timer.pointer);
          if (const auto range = symbols.rangeOf(timer.function)) made.function = range->from;
          if (monotonic || base.offset) {
            const u64 due = static_cast<u64>(timer.expires.value) -
                            static_cast<u64>(monotonic ? 0 : *base.offset);
            made.due = static_cast<s64>(due);
          }
          if (recording_.metadata.wordSize == 4 && made.address) foreign_ = true;
          if (made.address) {
            ofAddress_.emplace(static_cast<u64>(*made.address), timers_.size());
          }
          timers_.push_back(std::move(made));
        }
      }
    }
    for (std::size_t i = 0; i < timers_.size(); ++i) byDue_.push_back(i);
    std::ranges::stable_sort(byDue_, {}, [&](std::size_t i) { return timers_[i].due; });
  }

  void look() {
    const bool tellsArmed = recordsField<HrtimerStart>(events_, placeOf<HrtimerStart>("was_armed"));
    for (u32 i = 0; i < events_.size(); ++i) {
      const Row row{i};
      if (i == 0 || i + 1 == events_.size()) passed(row);
      if (nextDue_ == byDue_.size()) return;
      switch (events_.kind(row)) {
        case kindOf<HrtimerInit>:
          if (const Address at = events_.as<HrtimerInit>(row).hrtimer; isFirst(at, row)) {
            decide(at, false);
          }
          break;
        case kindOf<HrtimerSetup>:
          if (const Address at = events_.as<HrtimerSetup>(row).hrtimer; isFirst(at, row)) {
            decide(at, false);
          }
          break;
        case kindOf<HrtimerCancel>:
          if (const Address at = events_.as<HrtimerCancel>(row).hrtimer; isFirst(at, row)) {
            decide(at, true);
          }
          break;
        case kindOf<HrtimerStart>: {
          const auto start = events_.as<HrtimerStart>(row);
          // Kernels that do not print was_armed print the cancel of an armed timer first.
          if (isFirst(start.hrtimer, row)) decide(start.hrtimer, tellsArmed && start.wasArmed);
          break;
        }
        case kindOf<HrtimerExpireEntry>: {
          const auto entry = events_.as<HrtimerExpireEntry>(row);
          if (isFirst(entry.hrtimer, row)) expired(row, entry);
          break;
        }
        default:
          break;
      }
    }
  }

  bool isFirst(Address address, Row row) {
    passed(row);
    return seen_.insert(static_cast<u64>(address)).second;
  }

  /// Timers that are overdue at a row.
  void passed(Row row) {
    const auto now = clocks_.mono(events_.time(row), events_.cpu(row));
    while (nextDue_ < byDue_.size()) {
      Listed& timer = timers_[byDue_[nextDue_]];
      if (timer.is == Listed::Is::Open) {
        if (!now) return;
        const s64 least = now->value.value - now->error.value;
        if (least < std::numeric_limits<s64>::min() + latestRun) return;
        if (timer.due >= least - latestRun) return;
        timer.is = Listed::Is::Gone;
      }
      ++nextDue_;
    }
  }

  void decide(Address address, bool armed) {
    const auto found = ofAddress_.find(static_cast<u64>(address));
    if (found == ofAddress_.end()) return;
    Listed& timer = timers_[found->second];
    if (timer.is == Listed::Is::Open) timer.is = armed ? Listed::Is::Armed : Listed::Is::Gone;
  }

  static bool dueAt(const Listed& timer, s64 now) {
    return timer.timer->softExpires.value <= now && timer.timer->expires.value >= now - latestRun;
  }

  void expired(Row row, const HrtimerExpireEntry& entry) {
    const s64 now = entry.now.value;
    if (now < std::numeric_limits<s64>::min() + latestRun) return;
    if (const auto found = ofAddress_.find(static_cast<u64>(entry.hrtimer));
        found != ofAddress_.end()) {
      decide(entry.hrtimer, dueAt(timers_[found->second], now));
      return;
    }
    // A hashed pointer: by what the line says beside it.
    Listed* best = nullptr;
    for (Listed& timer : timers_) {
      if (timer.is != Listed::Is::Open || timer.address || timer.cpu != events_.cpu(row)) continue;
      if (!timer.function || *timer.function != static_cast<u64>(entry.function)) continue;
      if (!dueAt(timer, now)) continue;
      if (!best || timer.timer->expires.value < best->timer->expires.value) best = &timer;
    }
    if (best) best->is = Listed::Is::Armed;
  }

  const TimerListDump& dump_;
  const Recording& recording_;
  const EventStore& events_;
  const ClockMap& clocks_;
  bool foreign_ = false;
  std::vector<Listed> timers_;
  std::vector<std::size_t> byDue_;
  std::size_t nextDue_ = 0;
  std::unordered_map<u64, std::size_t> ofAddress_;
  std::unordered_set<u64> seen_;
};

}  // namespace

TimerListDump stillArmed(const TimerListDump& dump, const Recording& recording,
                         const Buffer& buffer, const ClockMap& clocks) {
  return FirstRows(dump, recording, buffer, clocks).run();
}

bool listsTimers(const TimerListDump& dump) {
  return std::ranges::any_of(dump.cpus, [](const ListedCpu& cpu) {
    return std::ranges::any_of(cpu.bases,
                               [](const ListedBase& base) { return !base.timers.empty(); });
  });
}

}  // namespace tickscope
