// SPDX-License-Identifier: GPL-3.0-or-later
// F22: clocks that are set, jiffies that stand still while ticks go on, hrtimers that run before their time.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>

#include "core/findings/detector.h"
#include "core/findings/figure_text.h"

namespace tickscope {

namespace {

/// Effects of a clock that was set show within this (ns of the trace's clock).
constexpr s64 effectNs = 2'000'000'000;
/// Most events that are looked at for the system call that set a clock.
constexpr u32 searched = 1'000'000;
constexpr std::array<std::string_view, 4> clockNames{"CLOCK_MONOTONIC", "CLOCK_REALTIME",
                                                     "CLOCK_BOOTTIME", "CLOCK_TAI"};
constexpr BlindSpotSet blindKinds =
    blindSpots({BlindSpotKind::LostEvents, BlindSpotKind::Filtered, BlindSpotKind::CpuOffline,
                BlindSpotKind::Suspended});

class TimeBase final : public Detector {
 public:
  std::vector<Judged> detect(const Material& material, std::vector<NotJudged>& notJudged) override {
    std::vector<Judged> all;
    if (material.recorded.has(Need::H)) steps(material, all, notJudged);
    if (material.recorded.has(Need::H) && material.recorded.has(Need::W)) {
      jiffies(material, all, notJudged);
    } else {
      NotJudged item;
      item.kind = 'b';
      item.missing.push_back(eventsOf(material.recorded.has(Need::H) ? Need::W : Need::H));
      item.why.words("{} not recorded", item.missing.front());
      notJudged.push_back(std::move(item));
    }
    if (material.recorded.has(Need::H)) early(material, all);
    return all;
  }

  void describe(const Material& material, const Cluster& cluster, Finding& finding) const override {
    if (cluster.kind == 'a') return describeSteps(material, cluster, finding);
    if (cluster.kind == 'b') return describeJiffies(material, cluster, finding);
    describeEarly(material, cluster, finding);
  }

 private:
  struct Step {
    ClockBase base{};
    s64 by = 0;
    u64 ran = 0;       ///< timers of that clock that expired within effectNs behind it
    u64 overdue = 0;   ///< of them: made due by the step
    Row call = noRow;  ///< the system call, where recorded
  };
  /// Offset of a clock against the monotonic one, ns.
  struct Reading {
    Row row{};
    ClockBase base{};
    s64 least = 0, most = 0;
  };
  struct Stall {
    u64 jiffy = 0;
    u64 ticks = 0;
    Row first = noRow;    ///< the first of these ticks
    bool silent = false;  ///< another CPU was mute meanwhile, not idle
  };

  // --- a: steps

  void steps(const Material& material, std::vector<Judged>& all,
             std::vector<NotJudged>& notJudged) {
    Judged judged;
    judged.kind = 'a';
    judged.judgedNs = material.judgedNs({});
    const s64 least = material.thresholds.ns(Limit::StepLeast);
    std::array<Known<Reading>, 4> last;
    for (const SpanId id : material.tables.endOrder) {
      const auto reading = readingOf(material, material.span(id));
      if (!reading) continue;
      Known<Reading>& before = last[number(reading->base)];
      if (before) {
        ++judged.opportunities;
        const bool forward = reading->least > before->most + least;
        const bool backward = reading->most < before->least - least;
        if (forward || backward) stepped(material, *before, *reading, judged);
      }
      before = reading;
    }
    if (judged.opportunities == 0) {
      NotJudged item;
      item.kind = 'a';
      item.why.words(
          "fewer than two expiries of hrtimers of CLOCK_REALTIME, CLOCK_BOOTTIME or CLOCK_TAI");
      notJudged.push_back(std::move(item));
      return;
    }
    all.push_back(std::move(judged));
  }

  /// The offset of a clock lies between what the row's time and the begin of its pass allow.
  static Known<Reading> readingOf(const Material& material, const ArmedSpan& span) {
    if (span.end != SpanEnd::Expired || !material.isHrtimer(span)) return {};
    const ClockBase base = hardOf(span.clockBase());
    if (base == ClockBase::Mono || material.timerOf(span).baseGuessed) return {};
    if (material.events.kind(span.ended) != kindOf<HrtimerExpireEntry>) return {};
    const CpuBrackets& cpu = material.bracketsOf(span.ended);
    const Bracket* pass = cpu.at(span.ended, material.events.context(span.ended).hardIrq()
                                                 ? BracketKind::TimerInterrupt
                                                 : BracketKind::Softirq);
    if (!pass || pass->entry == noRow) return {};
    const auto from = material.mono(pass->entry), to = material.mono(span.ended);
    if (!from || !to) return {};
    const s64 now = material.events.as<HrtimerExpireEntry>(span.ended).now.value;
    return Reading{span.ended, base, now - to->value.value - to->error.value,
                   now - from->value.value + from->error.value};
  }

  void stepped(const Material& material, const Reading& before, const Reading& after,
               Judged& judged) {
    if (suspended(material, before.row, after.row)) {
      ++judged.dropped;
      return;
    }
    const s64 by = (after.least - before.least) / 2 + (after.most - before.most) / 2;
    Instance& instance = judged.instances.emplace_back();
    instance.when = {material.time(before.row), material.time(after.row)};
    instance.cpu = material.events.cpu(after.row);
    instance.causeKey = number(after.base);
    instance.magnitude = std::abs(by);
    instance.evidence[0] = before.row;
    instance.evidence[1] = after.row;
    instance.detail = static_cast<u32>(steps_.size());
    Step& step = steps_.emplace_back();
    step.base = after.base;
    step.by = by;
    step.call = settingCall(material, before.row, after.row);
    instance.evidence[2] = step.call;
    effects(material, after.row, step);
  }

  static bool suspended(const Material& material, Row from, Row to) {
    return std::ranges::any_of(material.tables.blindSpots, [&](const BlindSpot& spot) {
      return spot.kind == BlindSpotKind::Suspended && spot.from <= to && from < spot.to;
    });
  }

  /// clock_settime, settimeofday or adjtimex between the two readings.
  static Row settingCall(const Material& material, Row from, Row to) {
    const auto sets = [](const std::string& name) {
      return name == "sys_enter_clock_settime" || name == "sys_enter_clock_settime32" ||
             name == "sys_enter_settimeofday" || name == "sys_enter_adjtimex" ||
             name == "sys_enter_clock_adjtime" || name == "sys_enter_clock_adjtime32";
    };
    std::vector<bool> wanted(material.events.types().size());
    bool any = false;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      wanted[i] = sets(material.events.types()[i].name);
      any = any || wanted[i];
    }
    if (!any) return noRow;
    const u32 last = std::min(number(to), number(from) + searched);
    for (u32 row = number(from); row < last; ++row) {
      if (wanted[material.events.typeIndex(Row{row})]) return Row{row};
    }
    return noRow;
  }

  static void effects(const Material& material, Row first, Step& step) {
    for (const SpanId id : spansFrom(material, first)) {
      const ArmedSpan& span = material.span(id);
      if (material.time(span.ended).value > material.time(first).value + effectNs) break;
      if (span.end != SpanEnd::Expired || !material.isHrtimer(span) ||
          hardOf(span.clockBase()) != step.base ||
          material.events.kind(span.ended) != kindOf<HrtimerExpireEntry>) {
        continue;
      }
      ++step.ran;
      const auto event = material.events.as<HrtimerExpireEntry>(span.ended);
      step.overdue += span.armed < first && step.by > 0 && span.expiryKnown &&
                      event.now.value - span.expires > material.thresholds.ns(Limit::StepLeast);
    }
  }

  static std::span<const SpanId> spansFrom(const Material& material, Row first) {
    const auto& order = material.tables.endOrder;
    const auto at = std::ranges::lower_bound(order, first, {},
                                             [&](SpanId id) { return material.span(id).ended; });
    return {at, order.end()};
  }

  void describeSteps(const Material& material, const Cluster& cluster, Finding& finding) const {
    const auto base = static_cast<ClockBase>(cluster.causeKey);
    const std::string_view clock = clockNames[number(base)];
    Table table;
    table.title = "Steps";
    table.columns = {{"seen between", "s"},
                     {"and", "s"},
                     {"by", "ms"},
                     {"its timers that ran within 2 s", ""},
                     {"made overdue by it", ""}};
    std::string sizes;
    u64 calls = 0;
    for (const Instance& instance : cluster.instances) {
      const Step& step = steps_[instance.detail];
      calls += step.call != noRow;
      if (table.rows.size() < 3) {
        sizes += fmt::format("{}{}{}", sizes.empty() ? "" : ", ", step.by > 0 ? "+" : "",
                             nsWords(step.by));
      }
      if (table.rows.size() >= 20) continue;
      table.rows.push_back({Figure{static_cast<double>(instance.when.from.value) / 1e9, 6},
                            Figure{static_cast<double>(instance.when.to.value) / 1e9, 6},
                            Figure{static_cast<double>(step.by) / 1e6, 3},
                            static_cast<s64>(step.ran), static_cast<s64>(step.overdue)});
    }
    if (cluster.instances.size() > 3) sizes += ", ...";
    finding.grade = Grade::S4;
    finding.confidence = Confidence(Proof::A, "expiries print both clocks");
    finding.what = "step";
    finding.unit = "ns";
    finding.byClockMap = true;
    finding.title.words("{} was set {}: {}", clock,
                        countWords(cluster.instances.size(), "time", "times"), sizes);
    finding.claim.words(
        "Between expiries of hrtimers of {} its offset against CLOCK_MONOTONIC changed {} ({}). "
        "Timers of that clock move with it by design; what was late or early near the step is "
        "not the timers' fault.",
        clock, countWords(cluster.instances.size(), "time", "times"), sizes);
    finding.predicted.words("one offset from the first to the last expiry");
    finding.observed.words("{} offsets", cluster.instances.size() + 1);
    finding.disproof.words(
        "a suspend, or a trace clock that stepped itself, between the two "
        "expiries");
    CounterEvidence lost{"K3", CounterEvidence::Result::Absent, {}};
    lost.note.words("each offset is read in the events themselves");
    CounterEvidence suspend{"K6", CounterEvidence::Result::Excluded, {}};
    suspend.note.words("steps across a suspend are left out: {}", finding.dropped);
    CounterEvidence set{"K7", CounterEvidence::Result::Absent, {}};
    set.note.words(
        "the step is the finding; the system call that set the clock was recorded for "
        "{} of {}",
        calls, cluster.instances.size());
    finding.counterEvidence = {std::move(lost), std::move(suspend), std::move(set)};
    finding.tables.push_back(std::move(table));
    for (const Instance& instance : finding.worst) {
      finding.evidence.push_back({instance.evidence[0], Sentence("the offset before")});
      if (instance.evidence[2] != noRow) {
        finding.evidence.push_back({instance.evidence[2], Sentence("sets the clock")});
      }
      Sentence after;
      after.words("{} further", nsWords(steps_[instance.detail].by));
      finding.evidence.push_back({instance.evidence[1], std::move(after)});
    }
    (void)material;
  }

  // --- b: jiffies

  /// The ticks of one CPU whose handler ran to its end.
  struct Ticks {
    Cpu cpu{};
    std::vector<std::pair<Row, s64>> ran;  ///< exit row, `now` in mono ns
  };

  void jiffies(const Material& material, std::vector<Judged>& all,
               std::vector<NotJudged>& notJudged) {
    const auto tick = material.tickNs();
    if (!tick) {
      NotJudged item;
      item.kind = 'b';
      item.why.words("HZ is not known");
      notJudged.push_back(std::move(item));
      return;
    }
    Judged judged;
    judged.kind = 'b';
    judged.judgedNs = material.judgedNs(blindKinds);
    const std::vector<Ticks> ticks = ticksOf(material);
    const auto readings = readingsOf(material);
    const auto least = static_cast<u64>(material.thresholds[Limit::JiffyTicks]);
    for (std::size_t i = 0; i < readings.size(); ++i) {
      // The last reading of each value.
      if (i + 1 < readings.size() && readings[i + 1].second <= readings[i].second) continue;
      ++judged.opportunities;
      const auto& [row, value] = readings[i];
      const auto ends = material.clocks.monoOf(value + 1);
      if (!ends) continue;
      for (const Ticks& cpu : ticks) {
        const auto from =
            std::ranges::lower_bound(cpu.ran, ends->value, {}, &std::pair<Row, s64>::second);
        const auto to = std::ranges::lower_bound(cpu.ran, row, {}, &std::pair<Row, s64>::first);
        if (from >= to || static_cast<u64>(to - from) < least) continue;
        if (material.isBlind(cpu.cpu, from->first, row, blindKinds)) {
          ++judged.dropped;
          continue;
        }
        Instance& instance = judged.instances.emplace_back();
        instance.when = {material.time(from->first), material.time(row)};
        instance.cpu = cpu.cpu;
        instance.magnitude = to - from;
        instance.evidence[0] = from->first;
        instance.evidence[1] = row;
        if (i + 1 < readings.size()) instance.evidence[2] = readings[i + 1].first;
        instance.detail = static_cast<u32>(stalls_.size());
        stalls_.push_back({value, static_cast<u64>(to - from), from->first,
                           anotherSilent(material, cpu.cpu, instance.when)});
        instance.causeKey = stalls_.back().silent;
        break;
      }
    }
    all.push_back(std::move(judged));
  }

  static std::vector<Ticks> ticksOf(const Material& material) {
    std::vector<Ticks> made;
    for (const CpuBrackets& cpu : material.brackets) {
      Ticks& ticks = made.emplace_back();
      ticks.cpu = cpu.cpu;
      for (const Bracket& bracket : cpu.nested) {
        if (bracket.kind != BracketKind::HrtimerCallback || !bracket.whole()) continue;
        const auto event = material.events.as<HrtimerExpireEntry>(bracket.entry);
        if (material.isTick(event.function)) {
          ticks.ran.emplace_back(bracket.exit, event.now.value);
        }
      }
      std::ranges::sort(ticks.ran);
    }
    return made;
  }

  /// Rows that print jiffies, by row.
  static std::vector<std::pair<Row, u64>> readingsOf(const Material& material) {
    std::vector<std::pair<Row, u64>> made;
    const EventStore& events = material.events;
    const auto add = [&](Row row) {
      if (row == noRow) return;
      const EventKind kind = events.kind(row);
      if (kind == kindOf<TimerStart>) {
        made.emplace_back(row, static_cast<u64>(events.as<TimerStart>(row).now.value));
      } else if (kind == kindOf<TimerExpireEntry>) {
        made.emplace_back(row, static_cast<u64>(events.as<TimerExpireEntry>(row).now.value));
      }
    };
    for (const ArmedSpan& span : material.tables.spans) {
      if (material.isHrtimer(span)) continue;
      add(span.armed);
      add(span.ended);
    }
    for (auto& [row, value] : made) value = material.clocks.unwrapped(value);
    std::ranges::sort(made);
    return made;
  }

  /// K1, K4: a CPU that may have to keep the time did not tick and was not idle.
  static bool anotherSilent(const Material& material, Cpu cpu, TimeSpan when) {
    return std::ranges::any_of(material.brackets, [&](const CpuBrackets& other) {
      return other.cpu != cpu && material.isSilent(other.cpu, when.from, when.to);
    });
  }

  void describeJiffies(const Material& material, const Cluster& cluster, Finding& finding) const {
    const u64 most = static_cast<u64>(finding.distribution.greatest().value_or(0));
    const bool silent = cluster.causeKey != 0;
    const Stall& worst = stalls_[finding.worst.front().detail];
    finding.grade = silent ? Grade::S4 : Grade::S2;
    finding.confidence = Confidence(Proof::A, "jiffies and the ticks' own time are printed");
    finding.confidence.times(material.profile.hz.confidence, "HZ");
    finding.what = "ticks without a new jiffy";
    finding.upstream = {"U37"};
    finding.title.words("jiffies stood still over up to {} ticks, {}", most,
                        countWords(finding.count, "time", "times"));
    finding.claim.words(
        "On CPU{} {} tick handlers ran to their end whose own time lies past the start of jiffy "
        "{}, and an event behind them still printed {}.",
        number(finding.worst.front().cpu), most, material.clocks.recordedJiffies(worst.jiffy + 1),
        material.clocks.recordedJiffies(worst.jiffy));
    if (silent) {
      finding.claim.words(
          " Another CPU was neither idle nor seen meanwhile: if it keeps the time, its interrupts "
          "were off or it did not run.");
    }
    finding.predicted.words("a new jiffy within {} ticks",
                            material.thresholds.count(Limit::JiffyTicks));
    finding.observed.words("{} ticks at most without one", most);
    finding.disproof.words("an event between them that prints a later jiffy");
    CounterEvidence run{"K4", CounterEvidence::Result::Absent, {}};
    if (silent) {
      run.result = CounterEvidence::Result::Excluded;
      run.note.words("named: another CPU was silent for longer than vm.silence");
    } else {
      run.note.words("no other CPU was silent for longer than vm.silence and not idle");
    }
    CounterEvidence lost{"K3", CounterEvidence::Result::Excluded, {}};
    lost.note.words("intervals with lost events are left out: {}", finding.dropped);
    finding.counterEvidence = {std::move(run), std::move(lost)};
    for (const Instance& instance : finding.worst) {
      finding.evidence.push_back({instance.evidence[0], Sentence("first tick past the jiffy")});
      finding.evidence.push_back({instance.evidence[1], Sentence("still the old jiffy")});
      if (instance.evidence[2] != noRow) {
        finding.evidence.push_back({instance.evidence[2], Sentence("and then the next")});
      }
    }
  }

  // --- c: hrtimers before their time

  void early(const Material& material, std::vector<Judged>& all) {
    Judged judged;
    judged.kind = 'c';
    judged.judgedNs = material.judgedNs(blindKinds);
    judged.opportunities = material.tables.ratios.softExpires.judged;
    std::map<Address, u64> keys;
    for (const Discrepancy& discrepancy : material.tables.discrepancies) {
      if (discrepancy.kind != DiscrepancyKind::BeforeSoftExpires || !discrepancy.timer ||
          !discrepancy.model || !discrepancy.trace) {
        continue;
      }
      const ModelTimer& timer = material.timer(*discrepancy.timer);
      if (material.isBlind(discrepancy.cpu, discrepancy.at, discrepancy.at, blindKinds)) {
        ++judged.dropped;
        continue;
      }
      Instance& instance = judged.instances.emplace_back();
      const TraceTime at = material.time(discrepancy.at);
      instance.when = {at, at};
      instance.cpu = discrepancy.cpu;
      instance.causeKey = number(timer.function);
      instance.magnitude = *discrepancy.model - *discrepancy.trace;
      instance.timer = *discrepancy.timer;
      instance.evidence[0] = armOf(material, *discrepancy.timer, discrepancy.at);
      instance.evidence[1] = discrepancy.at;
    }
    all.push_back(std::move(judged));
  }

  static Row armOf(const Material& material, TimerId timer, Row ended) {
    for (const SpanId id : spansFrom(material, ended)) {
      const ArmedSpan& span = material.span(id);
      if (span.ended != ended) break;
      if (span.timer == timer) return span.armed;
    }
    return noRow;
  }

  static void describeEarly(const Material& material, const Cluster& cluster, Finding& finding) {
    const std::string name = material.callback(static_cast<Address>(cluster.causeKey));
    const s64 most = finding.distribution.greatest().value_or(0);
    finding.grade = Grade::S1;
    finding.confidence = Confidence(Proof::A, "arm and expiry print times of one clock");
    finding.what = "early by";
    finding.unit = "ns";
    finding.title.symbol(name).words(": hrtimers expired before softexpires {}, by up to {}",
                                     countWords(finding.count, "time", "times"), nsWords(most));
    finding.claim.words("hrtimers of ")
        .symbol(name)
        .words(
            " expired {} in interrupts whose own time (`now`) lies before the softexpires that "
            "they "
            "were armed with, by up to {} on the timer's own clock.",
            countWords(finding.count, "time", "times"), nsWords(most));
    finding.predicted.words("`now` at or past softexpires");
    finding.observed.words("`now` up to {} before it", nsWords(most));
    finding.disproof.words("an arm between that was not recorded");
    CounterEvidence lost{"K3", CounterEvidence::Result::Excluded, {}};
    lost.note.words("expiries near lost events are left out: {}", finding.dropped);
    CounterEvidence step{"K7", CounterEvidence::Result::Absent, {}};
    step.note.words("both times are of the timer's own clock: a clock that is set moves neither");
    finding.counterEvidence = {std::move(lost), std::move(step)};
    for (const Instance& instance : finding.worst) {
      if (instance.evidence[0] != noRow) {
        finding.evidence.push_back({instance.evidence[0], Sentence("armed")});
      }
      Sentence remark;
      remark.words("{} too early", nsWords(instance.magnitude));
      finding.evidence.push_back({instance.evidence[1], std::move(remark)});
    }
  }

  std::vector<Step> steps_;
  std::vector<Stall> stalls_;
};

}  // namespace

extern const DetectorInfo f22TimeBase;
constinit const DetectorInfo f22TimeBase{
    .id = "F22",
    .name = "time-base",
    .line = "clocks set, jiffies that stand still, hrtimers before softexpires",
    .needs = {Needs{Need::H}},
    .record = "stall",
    .byTimeAlone = "",
    .make = makeDetector<TimeBase>,
};

}  // namespace tickscope
