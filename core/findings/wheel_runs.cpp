// SPDX-License-Identifier: GPL-3.0-or-later
// Gathered from spans and brackets.
#include "core/findings/wheel_runs.h"

#include "core/model/kernel_numbers.h"

namespace tickscope {

WheelRuns::WheelRuns(const Material& material, const WheelGeometry& geometry) {
  const EventStore& store = material.events;
  std::vector<Printed> arms, expiries;
  for (const ArmedSpan& span : material.tables.spans) {
    if (span.armed == noRow) continue;
    switch (store.kind(span.armed)) {
      case kindOf<TimerStart>:
        arms.push_back({span.armed, static_cast<u64>(store.as<TimerStart>(span.armed).now.value)});
        break;
      case kindOf<HrtimerStart>:
        if (span.owner != noCpu && hardOf(span.clockBase()) == ClockBase::Mono &&
            material.isTick(span)) {
          ticks_.push_back({span.owner, span.armed, span.ended, MonoTime{span.expires}});
        }
        break;
      default:
        break;
    }
  }
  std::ranges::stable_sort(ticks_, {}, &Tick::cpu);
  for (const SpanId id : material.tables.endOrder) {
    const ArmedSpan& span = material.span(id);
    if (span.end != SpanEnd::Expired || store.kind(span.ended) != kindOf<TimerExpireEntry>) {
      continue;
    }
    expiries.push_back(
        {span.ended, static_cast<u64>(store.as<TimerExpireEntry>(span.ended).now.value)});
  }
  printed_.resize(arms.size() + expiries.size());
  std::ranges::merge(arms, expiries, printed_.begin(), {}, &Printed::row, &Printed::row);
  for (std::size_t i = 1; i < printed_.size(); ++i) {
    printed_[i].jiffies = geometry.later(printed_[i].jiffies, printed_[i - 1].jiffies);
  }
  for (const CpuBrackets& brackets : material.brackets) {
    OfCpu& cpu = cpus_.emplace_back();
    cpu.cpu = brackets.cpu;
    for (u32 i = 0; i < brackets.nested.size(); ++i) {
      const Bracket& bracket = brackets.nested[i];
      if (bracket.kind != BracketKind::Softirq || bracket.vector != timerVector ||
          !bracket.whole()) {
        continue;
      }
      empty_ = false;
      cpu.runs.push_back({bracket.entry, bracket.exit, printedBefore(bracket.entry), i});
    }
  }
}

Known<u64> WheelRuns::printedBefore(Row row) const {
  const auto after = std::ranges::upper_bound(printed_, row, {}, &Printed::row);
  return after == printed_.begin() ? Known<u64>{} : (after - 1)->jiffies;
}

Known<u64> WheelRuns::printedAfter(Row row) const {
  const auto at = std::ranges::lower_bound(printed_, row, {}, &Printed::row);
  return at == printed_.end() ? Known<u64>{} : at->jiffies;
}

Known<MonoTime> WheelRuns::tickArmedFor(Cpu cpu, Row row) const {
  const auto own = std::ranges::equal_range(ticks_, cpu, {}, &Tick::cpu);
  const auto after = std::ranges::upper_bound(own, row, {}, &Tick::armed);
  if (after == own.begin()) return {};
  const Tick& tick = *(after - 1);
  return tick.ended != noRow && tick.ended <= row ? Known<MonoTime>{} : tick.expires;
}

}  // namespace tickscope
