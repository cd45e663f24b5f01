// SPDX-License-Identifier: GPL-3.0-or-later
// Joins by names that outlive a reboot: finding, sub-kind and callback, never address or CPU.
#include "core/report/comparison.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "core/trace/event_text.h"

namespace tickscope {

namespace {

/// Rates that differ by less are the same.
constexpr double leastChange = 0.10;

struct FindingSum {
  u64 count = 0, opportunities = 0;
  s64 judgedNs = 0;
  Grade grade = Grade::S4;
  double confidence = 0;
  [[nodiscard]] Known<double> rate() const {
    if (judgedNs <= 0) return {};
    return static_cast<double>(count) * 1e9 / static_cast<double>(judgedNs);
  }
};
using FindingKey = std::tuple<std::string, char, std::string>;

std::map<FindingKey, FindingSum> sumsOf(const ComparedSide& side) {
  const EventText text(*side.analysis.recording, side.analysis.opened());
  std::map<FindingKey, FindingSum> sums;
  for (const Finding& finding : side.findings.findings) {
    std::set<std::string> callbacks;
    for (const Address function : finding.callbacks) callbacks.insert(text.symbol(function));
    FindingSum& sum =
        sums[{std::string(finding.id), finding.kind, fmt::format("{}", fmt::join(callbacks, " "))}];
    sum.count += finding.count;
    sum.opportunities = std::max(sum.opportunities, finding.opportunities);
    sum.judgedNs = std::max(sum.judgedNs, finding.judgedNs);
    sum.grade = std::min(sum.grade, finding.grade);
    sum.confidence = std::max(sum.confidence, finding.confidence.value());
  }
  return sums;
}

const JudgedCount* judgedOf(const ComparedSide& side, const std::string& id, char kind) {
  for (const JudgedCount& judged : side.findings.judged) {
    if (judged.id == id && judged.kind == kind && judged.opportunities > 0) return &judged;
  }
  return nullptr;
}

bool differ(Known<double> a, Known<double> b) {
  if (!a || !b) return a.has_value() != b.has_value();
  return std::abs(*a - *b) >= leastChange * std::max(std::abs(*a), std::abs(*b));
}

Cell count(Known<u64> value) {
  if (!value) return {};
  return static_cast<s64>(*value);
}
Cell figure(Known<double> value, int digits) {
  if (!value) return {};
  return Figure{*value, digits};
}

/// A finding, or what was judged without one, as two counts with their rates and what became of it.
std::vector<Cell> findingRow(const FindingKey& key, const ComparedSide& before,
                             const ComparedSide& after, const FindingSum* was, const FindingSum* is,
                             Comparison& made) {
  const auto& [id, kind, callbacks] = key;
  const JudgedCount* const judgedBefore = judgedOf(before, id, kind);
  const JudgedCount* const judgedAfter = judgedOf(after, id, kind);
  std::string status;
  if (was && !is) {
    status = judgedAfter ? "gone" : "no longer judged";
    ++(judgedAfter ? made.gone : made.noLongerJudged);
  } else if (!was && is) {
    status = judgedBefore ? "new" : "not judged before";
    ++made.appeared;
  } else if (was && is) {
    const bool changed = was->grade != is->grade || differ(was->rate(), is->rate());
    status = changed ? "changed" : "same";
    made.changed += changed ? 1 : 0;
  } else {
    status = judgedBefore && judgedAfter ? "none in either"
             : judgedBefore              ? "no longer judged"
                                         : "not judged before";
    made.noLongerJudged += judgedBefore && !judgedAfter ? 1 : 0;
  }
  Sentence names;
  if (!callbacks.empty()) names.symbol(callbacks);
  const auto instances = [](const FindingSum* sum, const JudgedCount* judged) -> Known<u64> {
    if (sum) return sum->count;
    return judged ? Known<u64>(0) : Known<u64>{};
  };
  const auto opportunities = [](const JudgedCount* judged) -> Known<u64> {
    return judged ? Known<u64>(judged->opportunities) : Known<u64>{};
  };
  const auto grade = [](const FindingSum* sum) {
    return sum ? Cell(Sentence(std::string(nameOf(sum->grade)))) : Cell{};
  };
  const auto rate = [](const FindingSum* sum) { return sum ? sum->rate() : Known<double>{}; };
  return {Sentence(id + (kind ? std::string(1, kind) : "")),
          Sentence(status),
          grade(was),
          count(instances(was, judgedBefore)),
          count(opportunities(judgedBefore)),
          figure(rate(was), 3),
          grade(is),
          count(instances(is, judgedAfter)),
          count(opportunities(judgedAfter)),
          figure(rate(is), 3),
          names};
}

Table findingsTable(const ComparedSide& before, const ComparedSide& after, Comparison& made) {
  Table table;
  table.title = "Findings";
  table.columns = {
      {"finding", ""},         {"", ""},          {"severity A", ""}, {"instances A", ""},
      {"opportunities A", ""}, {"rate A", "1/s"}, {"severity B", ""}, {"instances B", ""},
      {"opportunities B", ""}, {"rate B", "1/s"}, {"callbacks", ""}};
  const auto was = sumsOf(before), is = sumsOf(after);
  std::set<FindingKey> keys;
  std::set<std::pair<std::string, char>> named;
  for (const auto* sums : {&was, &is}) {
    for (const auto& [key, sum] : *sums) {
      keys.insert(key);
      named.emplace(std::get<0>(key), std::get<1>(key));
    }
  }
  for (const auto* side : {&before, &after}) {
    for (const JudgedCount& judged : side->findings.judged) {
      if (judged.opportunities == 0) continue;
      const std::pair name{std::string(judged.id), judged.kind};
      if (named.insert(name).second) keys.insert({name.first, name.second, ""});
    }
  }
  for (const FindingKey& key : keys) {
    const auto a = was.find(key), b = is.find(key);
    table.rows.push_back(findingRow(key, before, after, a == was.end() ? nullptr : &a->second,
                                    b == is.end() ? nullptr : &b->second, made));
  }
  return table;
}

/// Callbacks of one name, whatever their addresses and bases.
std::map<std::string, TimerStats> byName(const ComparedSide& side) {
  const EventText text(*side.analysis.recording, side.analysis.opened());
  std::map<std::string, TimerStats> named;
  for (const StatsRow& row : side.callbacks) {
    if (row.key.function == Address{}) continue;
    named[text.symbol(row.key.function)].merge(row.stats);
  }
  return named;
}

Table callbacksTable(const ComparedSide& before, const ComparedSide& after) {
  Table table;
  table.title = "Callbacks";
  table.columns.push_back({"callback", ""});
  for (const char* const side : {" A", " B"}) {
    for (const Column& column : std::initializer_list<Column>{{"arms", "1/s"},
                                                              {"expiries", "1/s"},
                                                              {"efficiency", ""},
                                                              {"calls", "1/s"},
                                                              {"late p50", "us"},
                                                              {"late max", "us"},
                                                              {"run max", "us"}}) {
      table.columns.push_back({column.name + side, column.unit});
    }
  }
  const auto a = byName(before), b = byName(after);
  std::set<std::string> names;
  for (const auto* side : {&a, &b}) {
    for (const auto& [name, stats] : *side) names.insert(name);
  }
  const auto append = [](std::vector<Cell>& cells, const TimerStats* s, const ComparedSide& side) {
    if (!s) {
      cells.resize(cells.size() + 7);
      return;
    }
    const auto rate = [&](u64 value) -> Known<double> {
      if (side.seconds <= 0) return {};
      return static_cast<double>(value) / side.seconds;
    };
    const auto us = [](Known<s64> ns) -> Known<double> {
      if (!ns) return {};
      return static_cast<double>(*ns) / 1e3;
    };
    const bool calls = !side.analysis.tables.operations.empty();
    cells.push_back(figure(rate(s->arms), 1));
    cells.push_back(figure(rate(s->expiries), 1));
    cells.push_back(figure(s->efficiency(), 3));
    cells.push_back(calls ? figure(rate(s->programmingCalls), 1) : Cell{});
    cells.push_back(figure(us(s->lateness.percentile(0.5)), 1));
    cells.push_back(figure(us(s->lateness.greatest()), 1));
    cells.push_back(figure(us(s->runTime.greatest()), 1));
  };
  for (const std::string& name : names) {
    std::vector<Cell> cells;
    cells.emplace_back(Sentence().symbol(name));
    const auto was = a.find(name), is = b.find(name);
    append(cells, was == a.end() ? nullptr : &was->second, before);
    append(cells, is == b.end() ? nullptr : &is->second, after);
    table.rows.push_back(std::move(cells));
  }
  return table;
}

/// n, max, avg, std of the ratios to what was asked for, as the message of the kernel's commit 2fe59f507a65 has them.
Table latencyComparison(const LatencyTable& before, const LatencyTable& after) {
  Table table;
  table.title = "Wheel timers: jiffies got over jiffies asked for";
  table.columns.push_back({"", ""});
  for (const char* const side : {" A", " B"}) {
    for (const char* const name : {"n", "max", "avg", "std"}) {
      table.columns.push_back({name + std::string(side), ""});
    }
  }
  const auto append = [](std::vector<Cell>& cells, const RatioStats* stats) {
    if (!stats || stats->count() == 0) {
      cells.resize(cells.size() + 4);
      return;
    }
    cells.push_back(count(stats->count()));
    cells.push_back(figure(stats->greatest(), 2));
    cells.push_back(figure(stats->mean(), 2));
    cells.push_back(figure(stats->deviation(), 2));
  };
  const auto row = [&](const std::string& name, const RatioStats* a, const RatioStats* b) {
    std::vector<Cell> cells{Sentence(name)};
    append(cells, a);
    append(cells, b);
    table.rows.push_back(std::move(cells));
  };
  row("achieved", &before.all.achieved, &after.all.achieved);
  row("assigned", &before.all.assigned, &after.all.assigned);
  std::set<u8> levels;
  for (const auto* side : {&before, &after}) {
    for (const auto& [level, stats] : side->byLevel) levels.insert(level);
  }
  for (const u8 level : levels) {
    const auto a = before.byLevel.find(level), b = after.byLevel.find(level);
    row(fmt::format("assigned, level {}", level),
        a == before.byLevel.end() ? nullptr : &a->second.assigned,
        b == after.byLevel.end() ? nullptr : &b->second.assigned);
  }
  return table;
}

}  // namespace

Comparison compare(const ComparedSide& before, const ComparedSide& after) {
  Comparison made;
  made.findings = findingsTable(before, after, made);
  made.latency = latencyComparison(before.latency, after.latency);
  made.callbacks = callbacksTable(before, after);
  return made;
}

}  // namespace tickscope
