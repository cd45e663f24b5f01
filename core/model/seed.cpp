// SPDX-License-Identifier: GPL-3.0-or-later
// Timers known from a /proc/timer_list dump that was taken before the recording.
#include <algorithm>

#include "core/model/replay.h"
#include "core/model/replay_now.h"
#include "core/model/state_text.h"

namespace tickscope {

void Replay::seed(const TimerListDump& dump) {
  const Symbols& symbols = *in_.recording.metadata.symbols;
  for (const ListedCpu& listed : dump.cpus) {
    CpuNow* cpu = cpuNow(listed.cpu);
    if (!cpu) continue;
    const bool softBases = listed.bases.size() > 4;
    for (const ListedBase& listedBase : listed.bases) {
      if (listedBase.index >= (softBases ? clockBaseCount : 4)) continue;
      const auto base = static_cast<ClockBase>(listedBase.index);
      for (const ListedTimer& line : listedBase.timers) {
        const auto id = static_cast<TimerId>(tables_.timers.size());
        ModelTimer made;
        made.of = TimerClass::Hrtimer;
        made.base = base;
        if (const auto range = symbols.rangeOf(line.function)) {
          made.function = static_cast<Address>(range->from);
        }
        const Known<Address> address = plainPointer(line.pointer);
        if (address) made.address = *address;
        tables_.timers.push_back(made);
        ArmedSpan span;
        span.timer = id;
        span.expires = line.expires.value;
        span.second = line.softExpires.value;
        span.owner = cpu->cpu;
        span.base = number(base);
        span.flags = ArmedSpan::Seeded;
        const SpanId opened = open(span);
        const MonoTime x{std::max<s64>(0, line.expires.value - listedBase.offset.value_or(0))};
        cpu->hrtimers.enqueueRemote(opened, base, x, line.expires);
        if (address) {
          const u32 place = hrtimerAddresses_.intern(static_cast<u64>(*address));
          if (place == hrtimers_.size()) {
            TimerNow& now = hrtimers_.emplace_back();
            now.id = id;
            now.span = opened;
            now.known = now.everStarted = true;
            continue;
          }
        }
        seeds_.push_back({opened, cpu->index, made.function});
      }
    }
  }
}

/// The seeded timer that an event of an unknown one must mean: same callback, on `cpu` (null: any), due at `now` if
/// that is given. Of several that are due the first in the queue; of several otherwise none.
Known<SpanId> Replay::takeSeed(const CpuNow* cpu, Address function, Known<s64> now) {
  auto best = seeds_.end();
  for (auto seed = seeds_.begin(); seed != seeds_.end(); ++seed) {
    if (seed->function != function || (cpu && seed->cpu != cpu->index)) continue;
    const ArmedSpan& span = tables_.spans[number(seed->span)];
    if (now && span.second > *now) continue;
    if (best != seeds_.end() && !now) return {};
    if (best == seeds_.end() || span.expires < tables_.spans[number(best->span)].expires) {
      best = seed;
    }
  }
  if (best == seeds_.end()) return {};
  const SpanId span = best->span;
  seeds_.erase(best);
  return span;
}

void Replay::adopt(TimerNow& timer, SpanId seeded, Address address) {
  // Its first row made a timer of its own, which nothing else names.
  const bool firstRow = timer.rowBefore == timer.lastRow;
  if (firstRow && number(timer.id) + 1 == tables_.timers.size()) tables_.timers.pop_back();
  timer.id = tables_.spans[number(seeded)].timer;
  tables_.timers[number(timer.id)].address = address;
  timer.span = seeded;
  timer.known = timer.everStarted = true;
}

}  // namespace tickscope
