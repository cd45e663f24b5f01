// SPDX-License-Identifier: GPL-3.0-or-later
// Owners are handed on from arm to arm of a timer, steps are taken from one expiry to the next.
#include "core/findings/timer_series.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace tickscope {

TimerUsers::TimerUsers(const Material& material) {
  const ReplayTables& tables = material.tables;
  std::map<std::tuple<Address, s64, bool>, u32> known;
  std::vector<Known<Pid>> lastOwner(tables.timers.size());
  userOf_.reserve(tables.spans.size());
  for (const ArmedSpan& span : tables.spans) {
    const ModelTimer& timer = material.timerOf(span);
    Known<Pid>& owner = lastOwner[number(span.timer)];
    // What arms itself in its callback keeps the owner that it had.
    if (span.armed != noRow && !span.has(ArmedSpan::Restart) && !span.has(ArmedSpan::MovedHere)) {
      const Context context = material.events.context(span.armed);
      const bool interrupted = context.hardIrq() || context.softIrq() || context.nmi();
      if (!interrupted && number(material.events.pid(span.armed)) != 0) {
        owner = material.events.pid(span.armed);
      }
    }
    const bool hrtimer = timer.of == TimerClass::Hrtimer;
    const auto key = std::tuple(timer.function, owner ? s64{number(*owner)} : s64{-1}, hrtimer);
    const auto [at, isNew] = known.try_emplace(key, static_cast<u32>(users_.size()));
    if (isNew) users_.push_back({timer.function, owner, hrtimer});
    userOf_.push_back(at->second);
  }
  std::map<std::pair<u32, Address>, u32> places;
  for (const SpanId id : tables.endOrder) {
    const ArmedSpan& span = material.span(id);
    if (span.end != SpanEnd::Expired || !span.expiryKnown) continue;
    const u32 user = userOf(id);
    const Address timer = material.timerOf(span).address;
    const auto [at, isNew] =
        places.try_emplace(std::pair(user, timer), static_cast<u32>(series_.size()));
    if (isNew) series_.push_back({user, timer, {}});
    series_[at->second].expired.push_back(id);
  }
}

Known<s64> requestedStep(const Material& material, SpanId from, SpanId to) {
  const ArmedSpan& before = material.span(from);
  const ArmedSpan& after = material.span(to);
  if (before.base != after.base) return {};
  constexpr BlindSpotSet gaps = blindSpots({BlindSpotKind::LostEvents, BlindSpotKind::Suspended});
  if (after.owner != noCpu && material.isBlind(after.owner, before.ended, after.ended, gaps)) {
    return {};
  }
  if (!material.isHrtimer(before)) {
    const auto tick = material.tickNs();
    if (!tick) return {};
    return (after.expires - before.expires) * *tick;
  }
  if (hardOf(before.clockBase()) != ClockBase::Mono &&
      material.clockStep(before.clockBase(), before.ended, after.ended)) {
    return {};
  }
  return after.expires - before.expires;
}

std::vector<s64> stepsOf(const Material& material, const TimerSeries& series) {
  std::vector<s64> steps;
  for (std::size_t i = 1; i < series.expired.size(); ++i) {
    if (const auto step = requestedStep(material, series.expired[i - 1], series.expired[i])) {
      steps.push_back(*step);
    }
  }
  return steps;
}

Known<Period> periodOf(std::vector<s64> steps) {
  if (steps.size() + 1 < TimerUsers::leastExpiries) return {};
  std::ranges::sort(steps);
  const std::size_t n = steps.size();
  const s64 median = steps[n / 2];
  if (median <= 0) return {};
  const s64 range = steps[(3 * n) / 4] - steps[n / 4];
  const double spread = static_cast<double>(range) / static_cast<double>(median);
  if (spread > TimerUsers::widestSpread) return {};
  return Period{median, spread};
}

Known<s32> priorityAt(const Material& material, Row row) {
  const Bracket* const task = material.bracketsOf(row).taskAt(row);
  if (!task || task->entry == noRow) return {};
  const Task next = material.events.as<SchedSwitch>(task->entry).next;
  if (next.pid != material.events.pid(row)) return {};
  return next.prio;
}

Sentence ownerWords(const Material& material, const TimerUser& user) {
  Sentence words;
  if (!user.owner) return words.words("in interrupts");
  return words.words("by ").task(material.text.comm(*user.owner)).words("-").pid(*user.owner);
}

}  // namespace tickscope
