// SPDX-License-Identifier: GPL-3.0-or-later
// The scan behind Hindsight.
#include "core/model/hindsight.h"

#include <algorithm>
#include <limits>

#include "core/base/interner.h"
#include "core/model/armed_span.h"
#include "core/model/kernel_numbers.h"

namespace tickscope {

namespace {

constexpr MonoTime longAgo{std::numeric_limits<s64>::min()};

struct Passes {
  MonoTime hard = longAgo;     // `now` of the last pass over the hard trees
  MonoTime before = longAgo;   // and of the one before it
  MonoTime atRaise = longAgo;  // the last pass before the raise that the next soft pass answers
  bool raised = false;
  Known<u64> wheel;  // jiffies up to which the wheel bases of the CPU have surely been run
};

}  // namespace

std::vector<Loss> lossesByRow(const EventStore& store) {
  std::vector<Loss> losses(store.losses().begin(), store.losses().end());
  std::ranges::stable_sort(losses, {}, [](const Loss& loss) { return loss.next.value_or(noRow); });
  return losses;
}

std::vector<Cpu> cpusOf(const EventStore& store) {
  std::vector<Cpu> cpus;
  for (const Stream& stream : store.streams()) cpus.push_back(stream.cpu);
  std::ranges::sort(cpus);
  cpus.erase(std::ranges::unique(cpus).begin(), cpus.end());
  return cpus;
}

std::size_t indexOf(std::span<const Cpu> cpus, Cpu cpu) {
  return static_cast<std::size_t>(std::ranges::lower_bound(cpus, cpu) - cpus.begin());
}

Hindsight::Hindsight(const EventStore& store, const WheelGeometry& geometry) {
  const std::vector<Cpu> cpus = cpusOf(store);
  std::vector<std::size_t> indexOfStream;
  for (const Stream& stream : store.streams()) indexOfStream.push_back(indexOf(cpus, stream.cpu));
  cpus_.resize(cpus.size());
  std::vector<Passes> passes(cpus.size());
  AddressPool addresses;
  constexpr u32 none = ~u32{0};
  std::vector<u32> openStart;  // by address: its start that has not ended, or none
  // A gap on any CPU is a new beginning: what was armed in it is unseen until its next row.
  std::vector<u32> mentioned;  // by address: the part between gaps in which it was seen last
  u32 part = 0;
  const std::vector<Loss> gaps = lossesByRow(store);

  // The first mention of an address; true when it was armed before the recording, or in a gap.
  const auto first = [&](Address address, bool armedBefore) {
    const u32 id = addresses.intern(static_cast<u64>(address));
    if (id < openStart.size()) {
      if (mentioned[id] == part) return false;
    } else {
      openStart.push_back(none);
      mentioned.push_back(part);
    }
    mentioned[id] = part;
    return armedBefore;
  };
  AddressPool wheelTimers;
  const auto isNewOnWheel = [&](Address address) {
    const u32 known = wheelTimers.size();
    return wheelTimers.intern(static_cast<u64>(address)) == known;
  };
  const auto behind = [&](const Passes& p) -> Known<u64> {
    if (!p.wheel) return {};
    return geometry.wrap(*p.wheel + 1);
  };
  const auto idOf = [&](Address address) { return addresses.intern(static_cast<u64>(address)); };

  for (u32 r = 0; r < store.size(); ++r) {
    const Row row{r};
    while (part < gaps.size() && gaps[part].next.value_or(noRow) <= row) ++part;
    switch (store.kind(row)) {
      case kindOf<HrtimerInit>:
        first(store.as<HrtimerInit>(row).hrtimer, false);
        break;
      case kindOf<HrtimerSetup>:
        first(store.as<HrtimerSetup>(row).hrtimer, false);
        break;
      case kindOf<HrtimerStart>: {
        const auto start = store.as<HrtimerStart>(row);
        if (first(start.hrtimer, start.wasArmed)) {
          // Which CPU held it is not known: it may have been any.
          for (std::size_t c = 0; c < cpus.size(); ++c) {
            cpus_[c].unseen.push_back({row, passes[c].hard});
          }
        }
        openStart[idOf(start.hrtimer)] = static_cast<u32>(expiryCpu_.size());
        expiryCpu_.push_back(noCpu);
        break;
      }
      case kindOf<HrtimerCancel>:
        if (first(store.as<HrtimerCancel>(row).hrtimer, true)) {
          for (std::size_t c = 0; c < cpus.size(); ++c) {
            cpus_[c].unseen.push_back({row, passes[c].hard});
          }
        }
        break;
      case kindOf<SoftirqRaise>:
        if (store.as<SoftirqRaise>(row).vec == hrtimerVector) {
          Passes& p = passes[indexOfStream[store.streamOf(row)]];
          if (!p.raised) p.atRaise = p.hard;
          p.raised = true;
        }
        break;
      case kindOf<SoftirqExit>:
        if (store.as<SoftirqExit>(row).vec == hrtimerVector) {
          passes[indexOfStream[store.streamOf(row)]].raised = false;
        }
        break;
      case kindOf<HrtimerExpireEntry>: {
        const auto entry = store.as<HrtimerExpireEntry>(row);
        const std::size_t c = indexOfStream[store.streamOf(row)];
        Passes& p = passes[c];
        const bool soft = !store.context(row).hardIrq();
        // Larger ones are of a wall clock, whose distance to mono the scan does not know.
        if (!soft && entry.now.value < leastWallTime && entry.now.value != p.hard.value) {
          p.before = p.hard;
          p.hard = {entry.now.value};
        }
        if (first(entry.hrtimer, true)) {
          cpus_[c].unseen.push_back({row, soft ? p.atRaise : p.before});
        }
        if (u32& open = openStart[idOf(entry.hrtimer)]; open != none) {
          expiryCpu_[open] = store.cpu(row);
          open = none;
        }
        break;
      }
      case kindOf<HrtimerExpireExit>:
        first(store.as<HrtimerExpireExit>(row).hrtimer, false);
        break;
      case kindOf<TimerInit>:
        isNewOnWheel(store.as<TimerInit>(row).timer);
        break;
      case kindOf<TimerStart>:
        isNewOnWheel(
            store.as<TimerStart>(row).timer);  // a pending one would print timer_cancel first
        break;
      case kindOf<TimerCancel>:
        // Whose base it lay in is not told; the expiry that it may announce comes with the next row.
        if (!isNewOnWheel(store.as<TimerCancel>(row).timer)) break;
        for (std::size_t c = 0; c < cpus.size(); ++c) {
          cpus_[c].wheel.push_back({row, behind(passes[c])});
        }
        break;
      case kindOf<TimerExpireEntry>: {
        const auto event = store.as<TimerExpireEntry>(row);
        passes[indexOfStream[store.streamOf(row)]].wheel = static_cast<u64>(event.now.value);
        isNewOnWheel(event.timer);
        break;
      }
      default:
        break;
    }
  }
  for (std::size_t c = 0; c < cpus.size(); ++c) {
    // Timers that no row mentions were not due in the last pass either.
    cpus_[c].unseen.push_back({noRow, passes[c].hard});
    MonoTime least = never;
    for (auto at = cpus_[c].unseen.rbegin(); at != cpus_[c].unseen.rend(); ++at) {
      least = std::min(least, at->lo);
      at->lo = least;
    }
    Known<u64> from = behind(passes[c]);
    cpus_[c].wheel.push_back({noRow, from});
    for (auto at = cpus_[c].wheel.rbegin(); at != cpus_[c].wheel.rend(); ++at) {
      if (from && at->from) {
        from = geometry.earlier(*from, *at->from);
      } else {
        from.reset();
      }
      at->from = from;
    }
  }
}

Known<u64> Hindsight::wheelFloor(std::size_t cpuIndex, Row row) {
  OfCpu& cpu = cpus_[cpuIndex];
  while (cpu.nextWheel + 1 < cpu.wheel.size() && cpu.wheel[cpu.nextWheel].seen <= row) {
    ++cpu.nextWheel;
  }
  return cpu.wheel[cpu.nextWheel].from;
}

MonoTime Hindsight::floor(std::size_t cpuIndex, Row row) {
  OfCpu& cpu = cpus_[cpuIndex];
  while (cpu.next + 1 < cpu.unseen.size() && cpu.unseen[cpu.next].seen <= row) ++cpu.next;
  return cpu.unseen[cpu.next].lo;
}

}  // namespace tickscope
