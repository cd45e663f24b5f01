// SPDX-License-Identifier: GPL-3.0-or-later
// One pass over the spans, and the tables made of it.
#include "core/stats/latency_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/model/wheel_model.h"

namespace tickscope {

namespace {

constexpr u64 leastForMean = 5, leastForPercentile = 20, leastForP99 = 200;
constexpr s64 nsPerSecond = 1'000'000'000;

template <class Map>
void mergeAll(Map& into, const Map& from) {
  for (const auto& [key, stats] : from) into[key].merge(stats);
}

Cell figure(const Known<double>& value, bool enough, int digits = 2) {
  if (!value || !enough) return {};
  return Figure{*value, digits};
}

Cell milliseconds(const Known<s64>& ns) {
  if (!ns) return {};
  return Figure{static_cast<double>(*ns) / 1e6, 3};
}

void addFigures(const RatioStats& stats, std::vector<Cell>& cells) {
  cells.emplace_back(static_cast<s64>(stats.count()));
  cells.push_back(figure(stats.greatest(), true));
  cells.push_back(figure(stats.mean(), stats.count() >= leastForMean));
  cells.push_back(figure(stats.deviation(), stats.count() >= leastForMean));
  cells.push_back(figure(stats.percentile(0.5), stats.count() >= leastForPercentile));
  cells.push_back(figure(stats.percentile(0.99), stats.count() >= leastForP99));
  cells.push_back(milliseconds(stats.latestNs()));
}

std::string_view baseName(WheelBaseKind base, u8 bases) {
  if (base == WheelBaseKind::Def) return "deferrable";
  if (base == WheelBaseKind::Global) return "global";
  return bases == 3 ? "local" : bases == 2 ? "standard" : "all";
}

}  // namespace

void RatioStats::add(s64 got, s64 asked, Known<s64> late) {
  const double ratio = static_cast<double>(got) / static_cast<double>(std::max<s64>(asked, 1));
  ++count_;
  ++ratios_;
  sum_ += ratio;
  squares_ += ratio * ratio;
  greatest_ = ratios_ == 1 ? ratio : std::max(greatest_, ratio);
  thousandths_.add(std::llround(ratio * 1000));
  if (late) latest_ = latest_ ? std::max(*latest_, *late) : *late;
}

void RatioStats::addLate(s64 late) {
  ++count_;
  latest_ = latest_ ? std::max(*latest_, late) : late;
}

void RatioStats::merge(const RatioStats& other) {
  if (other.ratios_ > 0) {
    greatest_ = ratios_ > 0 ? std::max(greatest_, other.greatest_) : other.greatest_;
  }
  count_ += other.count_;
  ratios_ += other.ratios_;
  sum_ += other.sum_;
  squares_ += other.squares_;
  thousandths_.merge(other.thousandths_);
  if (other.latest_) latest_ = latest_ ? std::max(*latest_, *other.latest_) : other.latest_;
}

Known<double> RatioStats::greatest() const {
  return ratios_ > 0 ? Known<double>(greatest_) : Known<double>{};
}

Known<double> RatioStats::mean() const {
  if (ratios_ == 0) return {};
  return sum_ / static_cast<double>(ratios_);
}

Known<double> RatioStats::deviation() const {
  const auto average = mean();
  if (!average) return {};
  const double variance = squares_ / static_cast<double>(ratios_) - *average * *average;
  return std::sqrt(std::max(variance, 0.0));
}

Known<double> RatioStats::percentile(double share) const {
  const auto value = thousandths_.percentile(share);
  if (!value) return {};
  return static_cast<double>(*value) / 1000;
}

void LatencyStats::merge(const LatencyStats& other) {
  achieved.merge(other.achieved);
  assigned.merge(other.assigned);
}

void LevelStats::merge(const LevelStats& other) {
  arms += other.arms;
  expiries += other.expiries;
  worstExcess = std::max(worstExcess, other.worstExcess);
  latency.merge(other.latency);
}

void LatencyTable::merge(const LatencyTable& other) {
  all.merge(other.all);
  mergeAll(byLevel, other.byLevel);
  mergeAll(byCallback, other.byCallback);
  mergeAll(byCpu, other.byCpu);
  mergeAll(levels, other.levels);
  mergeAll(hrtimers, other.hrtimers);
}

LatencyTable latencyOf(const EventStore& events, const ReplayTables& tables,
                       const KernelProfile& profile, Row from, Row to) {
  LatencyTable made;
  const WheelGeometry geometry = wheelRulesOf(profile).geometry;
  const bool levels = profile.wheel.judged() == WheelKind::Levels;
  Known<s64> tick;
  if (const auto hz = profile.hz.judged(); hz && *hz > 0) tick = (nsPerSecond + *hz / 2) / *hz;
  for (const ArmedSpan& span : tables.spans) {
    if (span.armed == noRow || span.armed < from || span.armed >= to) continue;
    const EventKind armedBy = events.kind(span.armed);
    if (armedBy == kindOf<HrtimerStart>) {
      if (span.end != SpanEnd::Expired || events.kind(span.ended) != kindOf<HrtimerExpireEntry>) {
        continue;
      }
      const auto expiry = events.as<HrtimerExpireEntry>(span.ended);
      made.hrtimers[expiry.function].addLate(std::max<s64>(expiry.now.value - span.expires, 0));
      continue;
    }
    if (armedBy != kindOf<TimerStart>) continue;
    const auto arm = events.as<TimerStart>(span.armed);
    const u64 now = static_cast<u64>(arm.now.value), asked = static_cast<u64>(arm.expires.value);
    const u64 bucket = static_cast<u64>(span.second);
    const bool placed = levels && span.secondKnown;
    const u8 level = static_cast<u8>(span.bucketIndex / 64U);
    LevelStats* const of = placed ? &made.levels[{span.wheelBase(), level}] : nullptr;
    if (of) {
      ++of->arms;
      const u64 right = bucketFor(geometry, now, asked).expiry;
      of->worstExcess = std::max(of->worstExcess, geometry.distance(bucket, right));
    }
    if (span.end != SpanEnd::Expired || events.kind(span.ended) != kindOf<TimerExpireEntry>) {
      continue;
    }
    if (of) ++of->expiries;
    if (span.has(ArmedSpan::Deferrable)) continue;
    const auto expiry = events.as<TimerExpireEntry>(span.ended);
    const u64 ran = static_cast<u64>(expiry.now.value);
    const s64 timeout = geometry.distance(asked, now);
    const auto lateNs = [&](u64 at) {
      return tick ? Known<s64>(std::max<s64>(geometry.distance(at, asked), 0) * *tick)
                  : Known<s64>{};
    };
    LatencyStats one;
    one.achieved.add(geometry.distance(ran, now), timeout, lateNs(ran));
    if (span.secondKnown) {
      one.assigned.add(geometry.distance(bucket, now), timeout, lateNs(bucket));
    }
    made.all.merge(one);
    made.byCallback[expiry.function].merge(one);
    made.byCpu[events.cpu(span.ended)].merge(one);
    if (!of) continue;
    made.byLevel[level].merge(one);
    of->latency.merge(one);
  }
  return made;
}

Table latencyTable(const LatencyTable& latency, Requested what, LatencyRows rows,
                   const std::function<std::string(Address)>& name) {
  Table table;
  table.title = what == Requested::Assigned ? "Assigned / requested" : "Achieved / requested";
  table.columns = {{"of", ""},  {"n", ""},   {"max", ""}, {"avg", ""},
                   {"std", ""}, {"p50", ""}, {"p99", ""}, {"latest", "ms"}};
  const auto add = [&](Sentence label, const LatencyStats& stats) {
    const RatioStats& of = what == Requested::Assigned ? stats.assigned : stats.achieved;
    if (of.count() == 0) return;
    std::vector<Cell> cells{std::move(label)};
    addFigures(of, cells);
    table.rows.push_back(std::move(cells));
  };
  add(Sentence("all"), latency.all);
  for (const auto& [level, stats] : latency.byLevel) {
    add(Sentence(fmt::format("level {}", level)), stats);
  }
  if (rows == LatencyRows::Levels) return table;
  std::vector<std::pair<std::string, const LatencyStats*>> callbacks;
  for (const auto& [function, stats] : latency.byCallback) {
    callbacks.emplace_back(name(function), &stats);
  }
  std::ranges::stable_sort(callbacks, {}, &std::pair<std::string, const LatencyStats*>::first);
  for (const auto& [function, stats] : callbacks) {
    Sentence label;
    label.symbol(function);
    add(std::move(label), *stats);
  }
  for (const auto& [cpu, stats] : latency.byCpu) {
    add(Sentence(fmt::format("CPU{}", number(cpu))), stats);
  }
  return table;
}

Table levelTable(const LatencyTable& latency, u8 wheelBases) {
  Table table;
  table.title = "Levels";
  table.columns = {{"base", ""},         {"level", ""},        {"granule", "jiffies"},
                   {"arms", ""},         {"expiries", ""},     {"worst excess", "jiffies"},
                   {"assigned max", ""}, {"assigned avg", ""}, {"achieved max", ""},
                   {"achieved avg", ""}, {"latest", "ms"}};
  for (const auto& [key, stats] : latency.levels) {
    const auto& [base, level] = key;
    const auto& assigned = stats.latency.assigned;
    const auto& achieved = stats.latency.achieved;
    table.rows.push_back({Sentence(std::string(baseName(base, wheelBases))), s64{level},
                          static_cast<s64>(WheelGeometry::granularity(level)),
                          static_cast<s64>(stats.arms), static_cast<s64>(stats.expiries),
                          stats.worstExcess, figure(assigned.greatest(), true),
                          figure(assigned.mean(), assigned.count() >= leastForMean),
                          figure(achieved.greatest(), true),
                          figure(achieved.mean(), achieved.count() >= leastForMean),
                          milliseconds(achieved.latestNs())});
  }
  return table;
}

Table hrtimerLatencyTable(const LatencyTable& latency,
                          const std::function<std::string(Address)>& name) {
  Table table;
  table.title = "hrtimers behind their hard expiry";
  table.columns = {{"callback", ""}, {"n", ""}, {"latest", "ms"}};
  std::vector<std::pair<std::string, const RatioStats*>> rows;
  for (const auto& [function, stats] : latency.hrtimers) rows.emplace_back(name(function), &stats);
  std::ranges::stable_sort(rows, {}, &std::pair<std::string, const RatioStats*>::first);
  for (const auto& [function, stats] : rows) {
    Sentence label;
    label.symbol(function);
    table.rows.push_back(
        {label, static_cast<s64>(stats->count()), milliseconds(stats->latestNs())});
  }
  return table;
}

}  // namespace tickscope
