// SPDX-License-Identifier: GPL-3.0-or-later
// Measures a machine's own delays.
#include "core/model/machine_baseline.h"

#include <algorithm>

#include "core/model/due_time.h"
#include "core/model/hindsight.h"
#include "core/model/kernel_numbers.h"

namespace tickscope {

namespace {

/// Findings 1.8.
constexpr double usualTickRun = 10'000, leastScale = 1, mostScale = 50, slowScale = 5;
constexpr s64 slowDelay = 1'000'000;

struct Delays {
  std::vector<s64> device, tick, soft;
};

DelayRange rangeOf(std::vector<s64>& values) {
  DelayRange range;
  range.count = values.size();
  if (values.empty()) return range;
  std::ranges::sort(values);
  // The least value that so many hundredths of them do not exceed.
  const auto at = [&](std::size_t hundredths) {
    return values[(values.size() * hundredths + 99) / 100 - 1];
  };
  range.p50 = at(50);
  range.p75 = at(75);
  range.p90 = at(90);
  range.p99 = at(99);
  range.most = values.back();
  return range;
}

void append(std::vector<s64>& all, const std::vector<s64>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

class Measurement {
 public:
  Measurement(const Recording& recording, const Buffer& buffer, const ReplayTables& tables,
              const ClockMap& clocks)
      : buffer_(buffer),
        store_(buffer.events),
        tables_(tables),
        clocks_(clocks),
        ticks_(tickFunctionsOf(recording, clocks)) {}

  void add(const CpuBrackets& cpu, Delays& delays) const {
    // The earliest due time of what an interrupt ran, by the interrupt's place.
    u32 interrupt = Bracket::none;
    Known<MonoTime> earliest;
    const auto close = [&] {
      if (interrupt == Bracket::none || !earliest) return;
      const Bracket& bracket = cpu.nested[interrupt];
      if (bracket.entry == noRow) return;
      const auto entered = clocks_.mono(store_.time(bracket.entry), cpu.cpu);
      if (entered) delays.device.push_back(std::max<s64>(0, (entered->value - *earliest).value));
    };
    for (const Bracket& bracket : cpu.nested) {
      if (bracket.kind == BracketKind::Softirq && bracket.vector == timerVector) {
        if (const auto ns = between(bracket.raised, bracket.entry)) delays.soft.push_back(*ns);
      }
      if (bracket.kind != BracketKind::HrtimerCallback || bracket.entry == noRow) continue;
      const auto event = store_.as<HrtimerExpireEntry>(bracket.entry);
      if (std::ranges::find(ticks_, event.function) != ticks_.end()) {
        if (const auto ns = between(bracket.entry, bracket.exit)) delays.tick.push_back(*ns);
      }
      if (bracket.outer == Bracket::none ||
          cpu.nested[bracket.outer].kind != BracketKind::TimerInterrupt || !bracket.hasSpan()) {
        continue;
      }
      if (bracket.outer != interrupt) {
        close();
        interrupt = bracket.outer;
        earliest.reset();
      }
      const ArmedSpan& span = tables_.spans[number(bracket.span)];
      const auto due = dueTimeOf(span, tables_, clocks_);
      // What was armed when it was due already says nothing about the device.
      if (!due || span.armed == noRow) continue;
      const auto armed = clocks_.mono(store_.time(span.armed), store_.cpu(span.armed));
      if (!armed || armed->value > due->value) continue;
      if (!earliest || due->value < *earliest) earliest = due->value;
    }
    close();
  }

 private:
  [[nodiscard]] Known<s64> between(Row from, Row to) const {
    return nsBetween(buffer_, clocks_, from, to);
  }

  const Buffer& buffer_;
  const EventStore& store_;
  const ReplayTables& tables_;
  const ClockMap& clocks_;
  std::vector<Address> ticks_;
};

}  // namespace

s64 MachineBaseline::limit(s64 defaultNs, double factor, const DelayRange& own) const {
  const double scaled = static_cast<double>(defaultNs) * scale;
  return static_cast<s64>(std::max(scaled, factor * static_cast<double>(own.p99)));
}

MachineBaseline baselineOf(const Recording& recording, const Buffer& buffer,
                           const ReplayTables& tables, const ClockMap& clocks,
                           std::span<const CpuBrackets> brackets) {
  MachineBaseline made;
  const Measurement measurement(recording, buffer, tables, clocks);
  Delays all;
  for (const Cpu cpu : cpusOf(buffer.events)) {
    Delays delays;
    for (const CpuBrackets& stream : brackets) {
      if (stream.cpu == cpu) measurement.add(stream, delays);
    }
    append(all.device, delays.device);
    append(all.tick, delays.tick);
    append(all.soft, delays.soft);
    made.cpus.push_back({cpu, rangeOf(delays.device), rangeOf(delays.tick), rangeOf(delays.soft)});
  }
  made.all = {Cpu{}, rangeOf(all.device), rangeOf(all.tick), rangeOf(all.soft)};
  made.scale =
      std::clamp(static_cast<double>(made.all.tickRun.p50) / usualTickRun, leastScale, mostScale);
  made.slow = made.all.deviceDelay.p75 > slowDelay || made.scale > slowScale;
  return made;
}

}  // namespace tickscope
