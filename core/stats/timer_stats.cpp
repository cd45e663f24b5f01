// SPDX-License-Identifier: GPL-3.0-or-later
// One walk over spans, callbacks and operations.
#include "core/stats/timer_stats.h"

#include <algorithm>
#include <map>

#include "core/model/due_time.h"
#include "core/model/kernel_numbers.h"
#include "core/trace/event_text.h"

namespace tickscope {

namespace {

/// Percentiles of fewer values say less than their greatest (findings 3).
constexpr u64 fewForMedian = 5, fewForP99 = 200;

class Walk {
 public:
  Walk(const Buffer& buffer, const ReplayTables& tables, const ClockMap& clocks, StatsBy by)
      : store_(buffer.events), tables_(tables), clocks_(clocks), by_(by) {
    wakes_ =
        std::ranges::any_of(store_.types(),
                            [](const EventType& type) { return type.kind == kindOf<SchedWaking>; })
            ? kindOf<SchedWaking>
            : kindOf<SchedWakeup>;
    if (const auto hz = clocks.hz()) tickNs_ = ClockMap::tickNs(hz->hz);
    keyAt_.resize(tables.spans.size());
    for (const SpanId id : tables.endOrder) {
      const ArmedSpan& span = tables.spans[number(id)];
      if (span.end == SpanEnd::Restarted) restartRows_.push_back(span.ended);
    }
  }

  void spans() {
    std::vector<Cpu> lastCpu(tables_.timers.size(), noCpu);
    for (u32 i = 0; i < tables_.spans.size(); ++i) {
      const ArmedSpan& span = tables_.spans[i];
      TimerStats& stats = statsOf(i);
      if (span.armed != noRow) begun(span, stats, lastCpu[number(span.timer)]);
      if (span.ended == noRow) continue;
      seen(stats, span.ended);
      switch (span.end) {
        case SpanEnd::Open:
          break;
        case SpanEnd::Unknown:
        case SpanEnd::ReInitialised:
          ++stats.unknownEnds;
          break;
        case SpanEnd::Moved:
          break;  // its next span goes on
        case SpanEnd::Cancelled:
          ++stats.cancels;
          ++stats.ended;
          break;
        case SpanEnd::Restarted:
          ++stats.ended;
          break;
        case SpanEnd::Expired:
        case SpanEnd::ExpiredAtStart:
          ++stats.ended;
          ++stats.expiries;
          expired(span, stats);
          break;
      }
    }
  }

  void callbacks(const CpuBrackets& cpu) {
    for (const Bracket& bracket : cpu.nested) {
      const bool callback = bracket.kind == BracketKind::HrtimerCallback ||
                            bracket.kind == BracketKind::WheelCallback;
      if (!callback || !bracket.hasSpan()) continue;
      TimerStats& stats = statsOf(number(bracket.span));
      if (bracket.whole()) {
        if (const auto ns = between(bracket.entry, bracket.exit)) stats.runTime.add(*ns);
        stats.wakes += wakesIn(bracket);
      }
      if (bracket.outer == Bracket::none) continue;
      u32 outermost = bracket.outer;
      while (cpu.nested[outermost].outer != Bracket::none) outermost = cpu.nested[outermost].outer;
      const Row entry = cpu.nested[outermost].entry;
      if (entry != noRow && cpu.idleAt(entry)) ++stats.idleExpiries;
    }
  }

  void operations() {
    for (const OperationCount& operation : tables_.operations) {
      if (number(operation.timer) >= tables_.timers.size()) continue;
      const auto found =
          std::ranges::lower_bound(spanAt_, operation.row, {}, &std::pair<Row, u32>::first);
      if (found == spanAt_.end() || found->first != operation.row) continue;
      statsOf(found->second).programmingCalls += operation.seen();
    }
  }

  /// Of spans by the row that armed them, for operations.
  void index() {
    if (tables_.operations.empty()) return;
    for (u32 i = 0; i < tables_.spans.size(); ++i) {
      const ArmedSpan& span = tables_.spans[i];
      if (span.armed != noRow) spanAt_.emplace_back(span.armed, i);
      if (span.end == SpanEnd::Cancelled) spanAt_.emplace_back(span.ended, i);
    }
    std::ranges::stable_sort(spanAt_, {}, &std::pair<Row, u32>::first);
  }

  std::vector<StatsRow> take() {
    std::vector<StatsRow> rows;
    for (auto& [key, stats] : rows_) rows.push_back({key, std::move(stats)});
    return rows;
  }

 private:
  TimerStats& statsOf(u32 span) {
    if (!keyAt_[span]) keyAt_[span] = &rows_[keyOf(tables_.spans[span])];
    return *keyAt_[span];
  }

  [[nodiscard]] StatsKey keyOf(const ArmedSpan& span) const {
    const ModelTimer& timer = tables_.timers[number(span.timer)];
    StatsKey key;
    key.of = timer.of;
    key.function = timer.function;
    if (timer.of == TimerClass::Hrtimer) {
      key.soft = isSoft(span.clockBase());
    } else {
      key.deferrable = span.has(ArmedSpan::Deferrable);
    }
    if (by_ == StatsBy::Timer) key.timer = span.timer;
    if (by_ == StatsBy::Owner && span.armed != noRow && !span.has(ArmedSpan::Restart) &&
        !span.has(ArmedSpan::MovedHere)) {
      const Context context = store_.context(span.armed);
      key.owner = store_.pid(span.armed);
      key.interrupted = context.hardIrq() || context.softIrq() || context.nmi();
    }
    return key;
  }

  static void seen(TimerStats& stats, Row row) {
    if (stats.first == noRow || row < stats.first) stats.first = row;
    if (stats.last == noRow || row > stats.last) stats.last = row;
  }

  void begun(const ArmedSpan& span, TimerStats& stats, Cpu& lastCpu) {
    seen(stats, span.armed);
    if (span.has(ArmedSpan::MovedHere)) return;
    ++stats.arms;
    const Cpu cpu = store_.cpu(span.armed);
    if (lastCpu != noCpu && lastCpu != cpu) ++stats.cpuChanges;
    lastCpu = cpu;
    if (span.has(ArmedSpan::Restart)) ++stats.byCallback;
    if (std::ranges::binary_search(restartRows_, span.armed)) ++stats.restarts;
    const bool wheel = tables_.timers[number(span.timer)].of == TimerClass::Wheel;
    if (wheel) {
      const auto level = static_cast<std::size_t>(span.bucketIndex / 64);
      if (level < stats.levels.size()) ++stats.levels[level];
      if (tickNs_ && store_.kind(span.armed) == kindOf<TimerStart>) {
        const s64 jiffies = span.expires - clocksNow(span.armed);
        stats.timeout.add(std::max<s64>(0, jiffies) * *tickNs_);
      }
      return;
    }
    stats.slackGiven.add(std::max<s64>(0, span.expires - span.second));
    const auto due = dueTimeOf(span, tables_, clocks_);
    const auto armed = clocks_.mono(store_.time(span.armed), cpu);
    if (due && armed) stats.timeout.add(std::max<s64>(0, (due->value - armed->value).value));
  }

  /// Jiffies that the arm's own event prints, unwrapped.
  [[nodiscard]] s64 clocksNow(Row row) const {
    return static_cast<s64>(
        clocks_.unwrapped(static_cast<u64>(store_.as<TimerStart>(row).now.value)));
  }

  void expired(const ArmedSpan& span, TimerStats& stats) const {
    const auto due = dueTimeOf(span, tables_, clocks_);
    const auto ran = clocks_.mono(store_.time(span.ended), store_.cpu(span.ended));
    if (!due || !ran) return;
    stats.lateness.add(std::max<s64>(0, (ran->value - due->value).value));
    if (tables_.timers[number(span.timer)].of == TimerClass::Wheel || !span.secondKnown) return;
    const s64 slack = span.expires - span.second;
    stats.slackUsed.add(std::clamp<s64>((ran->value - due->value).value + slack, 0, slack));
  }

  [[nodiscard]] Known<s64> between(Row from, Row to) const {
    const auto begin = clocks_.mono(store_.time(from), store_.cpu(from));
    const auto end = clocks_.mono(store_.time(to), store_.cpu(to));
    if (!begin || !end) return {};
    return std::max<s64>(0, (end->value - begin->value).value);
  }

  [[nodiscard]] u64 wakesIn(const Bracket& bracket) const {
    const auto rows = store_.rowsOfStream(store_.streamOf(bracket.entry));
    u64 wakes = 0;
    for (u32 at = store_.placeInStream(bracket.entry) + 1; rows[at] != bracket.exit; ++at) {
      wakes += store_.kind(rows[at]) == wakes_ ? 1 : 0;
    }
    return wakes;
  }

  const EventStore& store_;
  const ReplayTables& tables_;
  const ClockMap& clocks_;
  StatsBy by_;
  EventKind wakes_{};
  Known<s64> tickNs_;
  std::map<StatsKey, TimerStats> rows_;
  std::vector<TimerStats*> keyAt_;  // by span
  std::vector<std::pair<Row, u32>> spanAt_;
  std::vector<Row> restartRows_;  // ends of spans by a restart, which are the arms of the next
};

Cell count(u64 value) { return static_cast<s64>(value); }

Cell micro(Known<s64> ns) {
  if (!ns) return {};
  return Figure{static_cast<double>(*ns) / 1e3, 3};
}

Cell median(const Histogram& h) {
  return h.count() < fewForMedian ? Cell{} : micro(h.percentile(0.5));
}

Cell p99(const Histogram& h) { return h.count() < fewForP99 ? Cell{} : micro(h.percentile(0.99)); }

std::string_view kindText(const StatsKey& key) {
  if (key.of == TimerClass::Hrtimer) return key.soft ? "hrtimer soft" : "hrtimer hard";
  return key.deferrable ? "deferrable" : "wheel";
}

std::string levelsText(const TimerStats& stats) {
  std::string text;
  for (std::size_t level = 0; level < stats.levels.size(); ++level) {
    if (!stats.levels[level]) continue;
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", level, stats.levels[level]);
  }
  return text;
}

}  // namespace

void TimerStats::merge(const TimerStats& other) {
  arms += other.arms;
  restarts += other.restarts;
  byCallback += other.byCallback;
  cancels += other.cancels;
  expiries += other.expiries;
  ended += other.ended;
  unknownEnds += other.unknownEnds;
  wakes += other.wakes;
  idleExpiries += other.idleExpiries;
  programmingCalls += other.programmingCalls;
  cpuChanges += other.cpuChanges;
  timeout.merge(other.timeout);
  slackGiven.merge(other.slackGiven);
  slackUsed.merge(other.slackUsed);
  lateness.merge(other.lateness);
  runTime.merge(other.runTime);
  for (std::size_t i = 0; i < levels.size(); ++i) levels[i] += other.levels[i];
  if (other.first != noRow && (first == noRow || other.first < first)) first = other.first;
  if (other.last != noRow && (last == noRow || other.last > last)) last = other.last;
}

Known<double> TimerStats::efficiency() const {
  if (ended == 0) return {};
  return static_cast<double>(expiries) / static_cast<double>(ended);
}

std::vector<StatsRow> timerStatsOf(const Buffer& buffer, const ReplayTables& tables,
                                   const ClockMap& clocks, std::span<const CpuBrackets> brackets,
                                   StatsBy by) {
  Walk walk(buffer, tables, clocks, by);
  walk.spans();
  for (const CpuBrackets& cpu : brackets) walk.callbacks(cpu);
  walk.index();
  walk.operations();
  return walk.take();
}

Table timerTable(const std::vector<StatsRow>& rows, const Recording& recording,
                 const Buffer& buffer, const ReplayTables& tables, StatsBy by, double seconds) {
  const EventText text(recording, buffer);
  Table table;
  if (by == StatsBy::Timer) table.columns.push_back({"timer", ""});
  if (by == StatsBy::Owner) table.columns.push_back({"armed by", ""});
  for (const Column& column : std::initializer_list<Column>{{"callback", ""},
                                                            {"kind", ""},
                                                            {"arms", ""},
                                                            {"rate", "1/s"},
                                                            {"restarts", ""},
                                                            {"by callback", ""},
                                                            {"cancels", ""},
                                                            {"expiries", ""},
                                                            {"unknown ends", ""},
                                                            {"efficiency", ""},
                                                            {"wakes", ""},
                                                            {"idle expiries", ""},
                                                            {"calls", ""},
                                                            {"timeout p50", "us"},
                                                            {"slack given p50", "us"},
                                                            {"slack used p50", "us"},
                                                            {"late p50", "us"},
                                                            {"late p99", "us"},
                                                            {"late max", "us"},
                                                            {"run p50", "us"},
                                                            {"run p99", "us"},
                                                            {"run max", "us"},
                                                            {"run sum", "us"},
                                                            {"CPU changes", ""},
                                                            {"levels", ""}}) {
    table.columns.push_back(column);
  }
  std::vector<const StatsRow*> order;
  for (const StatsRow& row : rows) order.push_back(&row);
  std::ranges::stable_sort(
      order, [](const StatsRow* a, const StatsRow* b) { return a->stats.arms > b->stats.arms; });
  const bool calls = !tables.operations.empty();
  for (const StatsRow* row : order) {
    const TimerStats& s = row->stats;
    std::vector<Cell> cells;
    if (by == StatsBy::Timer) {
      cells.emplace_back(Sentence().address(tables.timers[number(*row->key.timer)].address));
    }
    if (by == StatsBy::Owner) {
      Sentence who;
      if (row->key.owner) {
        who.task(text.comm(*row->key.owner)).words("-").pid(*row->key.owner);
        if (row->key.interrupted) who.words(" (interrupted)");
      } else {
        who.words("before the recording, or its callback");
      }
      cells.emplace_back(std::move(who));
    }
    Sentence callback;
    if (row->key.function == Address{}) {
      callback.words("not seen");
    } else {
      callback.symbol(text.symbol(row->key.function));
    }
    const bool hrtimer = row->key.of == TimerClass::Hrtimer;
    const auto efficiency = s.efficiency();
    for (Cell cell : std::initializer_list<Cell>{
             callback,
             Sentence(std::string(kindText(row->key))),
             count(s.arms),
             seconds > 0 ? Cell(Figure{static_cast<double>(s.arms) / seconds, 1}) : Cell{},
             count(s.restarts),
             hrtimer ? count(s.byCallback) : Cell{},
             count(s.cancels),
             count(s.expiries),
             count(s.unknownEnds),
             efficiency ? Cell(Figure{*efficiency, 3}) : Cell{},
             count(s.wakes),
             count(s.idleExpiries),
             calls && hrtimer ? count(s.programmingCalls) : Cell{},
             median(s.timeout),
             hrtimer ? median(s.slackGiven) : Cell{},
             hrtimer ? median(s.slackUsed) : Cell{},
             median(s.lateness),
             p99(s.lateness),
             micro(s.lateness.greatest()),
             median(s.runTime),
             p99(s.runTime),
             micro(s.runTime.greatest()),
             s.runTime.empty() ? Cell{} : Cell(Figure{s.runTime.sum() / 1e3, 3}),
             count(s.cpuChanges),
             hrtimer ? Cell{} : Cell(Sentence(levelsText(s)))}) {
      cells.push_back(std::move(cell));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace tickscope
