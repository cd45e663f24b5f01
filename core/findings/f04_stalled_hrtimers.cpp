// SPDX-License-Identifier: GPL-3.0-or-later
// F04: the earliest hrtimer of a CPU is due and no timer interrupt comes.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "core/findings/dead_time.h"
#include "core/findings/detector.h"
#include "core/findings/figure_text.h"

namespace tickscope {

namespace {

constexpr BlindSpotSet blindKinds =
    blindSpots({BlindSpotKind::LostEvents, BlindSpotKind::Filtered, BlindSpotKind::CpuOffline,
                BlindSpotKind::Suspended, BlindSpotKind::NotHighRes, BlindSpotKind::Hang,
                BlindSpotKind::BeforeEvidence, BlindSpotKind::DeferredRearm});
/// An interrupt that belongs to a programming comes this soon behind its value, beyond the usual delay (ns).
constexpr s64 belongsNs = 50'000;
/// Stalls as equal as this have one cause, not a host that was away.
constexpr double equalSpread = 0.01;
constexpr u64 slotsPerCpu = 4;
/// Programming calls of an interrupt that gave up.
constexpr u32 hangCalls = 4;

class StalledHrtimers final : public Detector {
 public:
  std::vector<Judged> detect(const Material& material, std::vector<NotJudged>& notJudged) override {
    if (const auto why = whyNot(material); !why.empty()) {
      NotJudged item;
      item.why.words("{}", why);
      notJudged.push_back(std::move(item));
      return {};
    }
    std::vector<Judged> all(3);
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].kind = static_cast<char>('a' + i);
      all[i].judgedNs = material.judgedNs(blindKinds);
    }
    gather(material);
    for (const CpuBrackets& cpu : material.brackets) look(material, cpu, all);
    for (Judged& judged : all) judged.opportunities = opportunities_;
    keepRepeated(material, all);
    if (material.baseline.slow) {
      NotJudged item;
      item.kind = 'c';
      item.why.words("the machine is slow as a whole: interrupts are late without a cause here");
      notJudged.push_back(std::move(item));
      all.pop_back();
    }
    return all;
  }

  void describe(const Material& material, const Cluster& cluster, Finding& finding) const override {
    const auto cpu = static_cast<Cpu>(cluster.causeKey / slotsPerCpu);
    const s64 most = finding.distribution.greatest().value_or(0);
    const s64 median = finding.distribution.percentile(0.5).value_or(0);
    u64 waiting = 0, equal = 0, idle = 0, could = 0;
    for (const Instance& instance : cluster.instances) {
      waiting += stalls_[instance.detail].waiting;
      equal += isEqual(instance.magnitude, median);
      idle += stalls_[instance.detail].idle;
      could += stalls_[instance.detail].could;
    }
    finding.what = "without a timer interrupt behind the due time for";
    finding.unit = "ns";
    finding.byClockMap = true;
    finding.title.words("CPU{}: {} hrtimers waited up to {} in {}", number(cpu), waiting,
                        nsWords(most), countWords(finding.count, "stall", "stalls"));
    finding.claim.words(
        "On CPU{} the earliest hrtimer was due and no timer interrupt came for {} to {}, {}; {} "
        "waited.",
        number(cpu), nsWords(finding.distribution.least().value_or(0)), nsWords(most),
        countWords(finding.count, "time", "times"), countWords(waiting, "timer", "timers"));
    finding.disproof.words(
        "a timer interrupt of that CPU within these intervals, or another CPU as the owner");
    const double highRes = material.profile.highRes.confidence;
    switch (cluster.kind) {
      case 'a':
        finding.grade = Grade::S1;
        finding.confidence = Confidence(Proof::B, "the earliest timer and the calls are known");
        finding.confidence.times(highRes, "high resolution");
        sayNotProgrammed(material, cluster, finding);
        break;
      case 'b':
        finding.grade = material.baseline.slow ? Grade::S2 : Grade::S1;
        finding.confidence = Confidence(Proof::B, "the calls' values are recorded");
        finding.confidence.times(highRes, "high resolution");
        finding.claim.words(
            " The device had been programmed in time; the interrupt that came then belongs to an "
            "earlier programming.");
        finding.predicted.words("an interrupt at the value of the last programming");
        finding.observed.words("one at the value of a programming before it");
        break;
      default:
        finding.grade = Grade::S2;
        finding.confidence = Confidence(
            Proof::B, "the timer, the call and the interrupt are recorded, and it is equally late");
        finding.confidence.times(highRes, "high resolution");
        finding.claim.words(
            " The programming call was made; whether it reached the device, the trace cannot tell. "
            "{} of {} are {} late within 1 %. The CPU was idle in {}; in {} it logged events with "
            "interrupts on when it was late already.",
            equal, finding.count, nsWords(median), idle, could);
        finding.predicted.words("an interrupt within {} of the due time", nsWords(limit_));
        finding.observed.words("{} late (median), {} at most", nsWords(median), nsWords(most));
        break;
    }
    counterEvidence(finding);
    for (const Instance& instance : finding.worst) {
      const Stall& stall = stalls_[instance.detail];
      if (instance.evidence[0] != noRow) {
        finding.evidence.push_back({instance.evidence[0], Sentence("the timer is armed")});
      }
      if (instance.evidence[1] != noRow) {
        finding.evidence.push_back(
            {instance.evidence[1], Sentence(stall.missing != noRow ? "no programming call follows"
                                                                   : "last row before it is due")});
      }
      Sentence revived;
      revived.words("first timer interrupt, {} behind the due time", nsWords(instance.magnitude));
      finding.evidence.push_back({instance.evidence[2], std::move(revived)});
      if (instance.evidence[3] != noRow) {
        finding.evidence.push_back({instance.evidence[3], Sentence("the timer runs")});
      }
    }
  }

 private:
  struct Late {
    u32 span;
    TraceTime due;  ///< at the latest
  };
  struct Stall {
    u64 waiting = 0;
    Row missing = noRow;  ///< the operation that should have programmed
    Known<s64> value;     ///< what the device was programmed to, mono ns
    Known<s64> due;       ///< mono ns
    bool idle = false;    ///< up to the interrupt
    bool could = false;   ///< be interrupted when it was late already
  };

  static std::string whyNot(const Material& material) {
    if (material.profile.highRes.judged() != true) {
      return "high resolution is not known to be on: hrtimers may wait for the tick by design";
    }
    if (material.filtered) return "events of some timers were filtered out";
    const auto& types = material.events.types();
    const bool cancels = std::ranges::any_of(types, [&](const EventType& type) {
      if (type.kind != kindOf<HrtimerCancel>) return false;
      const auto index = static_cast<u16>(&type - types.data());
      for (u32 stream = 0; stream < material.events.streams().size(); ++stream) {
        if (material.events.count(index, stream) > 0) return true;
      }
      return false;
    });
    if (!cancels) return "no hrtimer_cancel was seen: which timers are armed is not known";
    return {};
  }

  /// K9: soft timers belong to the next event while HRTIMER_SOFTIRQ is not activated (__hrtimer_get_next_event).
  static bool softCounts(const Material& material, Cpu cpu, TraceTime due) {
    const CpuLines* const lines = material.linesOf(cpu);
    const Row at = material.rowBefore(cpu, due);
    if (!lines || at == noRow) return false;
    const auto context = lines->context.at(at);
    return context && (*context & CpuSoftirqTold) != 0 && (*context & CpuSoftirqActivated) == 0;
  }

  /// Timers by CPU that ran, or were taken out, behind their due time; and what else is usual.
  void gather(const Material& material) {
    const s64 plain = material.scaled(Limit::StallHr);
    std::vector<s64> usual;
    for (u32 i = 0; i < material.tables.spans.size(); ++i) {
      const ArmedSpan& span = material.tables.spans[i];
      if (!material.isHrtimer(span) || !span.expiryKnown || span.owner == noCpu ||
          span.ended == noRow || span.has(ArmedSpan::Uncertain) || span.has(ArmedSpan::Resynced)) {
        continue;
      }
      // A clock that can be set moves due times without a row.
      const ClockBase base = hardOf(span.clockBase());
      if (base != ClockBase::Mono && base != ClockBase::Boot) continue;
      if (span.end == SpanEnd::Expired && material.events.cpu(span.ended) != span.owner) continue;
      const auto due = material.dueTime(span);
      if (!due) continue;
      TraceTime latest = due->value + TraceDelta{due->error.value};
      if (span.armed != noRow) latest = std::max(latest, material.time(span.armed));
      const bool soft = isSoft(span.clockBase());
      if (soft && (material.baseline.slow || !softCounts(material, span.owner, latest))) continue;
      const s64 late = (material.time(span.ended) - latest).value;
      if (span.end == SpanEnd::Expired) ++opportunities_;
      if (late >= plain) {
        late_[span.owner].push_back({i, latest});
      } else if (span.end == SpanEnd::Expired && late >= 0 && !soft) {
        usual.push_back(late);
      }
    }
    limit_ = plain;
    if (!usual.empty()) {
      const auto at = usual.begin() + static_cast<std::ptrdiff_t>(usual.size() * 99 / 100);
      std::ranges::nth_element(usual, at);
      limit_ = std::max(limit_, static_cast<s64>(material.thresholds[Limit::BaseFactor] *
                                                 static_cast<double>(*at)));
    }
    for (auto& [cpu, late] : late_) std::ranges::stable_sort(late, {}, &Late::due);
  }

  void look(const Material& material, const CpuBrackets& cpu, std::vector<Judged>& all) {
    const auto found = late_.find(cpu.cpu);
    if (found == late_.end()) return;
    std::vector<const Bracket*> interrupts;
    for (const Bracket& bracket : cpu.nested) {
      if (bracket.kind == BracketKind::TimerInterrupt && bracket.entry != noRow) {
        interrupts.push_back(&bracket);
      }
    }
    std::ranges::sort(interrupts, {}, &Bracket::entry);
    Row served = noRow;  // the interrupt that ended the stall before
    for (const Late& late : found->second) {
      const auto next = std::ranges::upper_bound(
          interrupts, late.due, {},
          [&](const Bracket* bracket) { return material.time(bracket->entry); });
      if (next == interrupts.end()) continue;
      const Bracket& reviver = **next;
      TraceTime due = late.due;
      // K10: what is due inside an interrupt waits for its end.
      const Bracket* before = next == interrupts.begin() ? nullptr : *std::prev(next);
      if (before && before->exit != noRow) due = std::max(due, material.time(before->exit));
      const ArmedSpan& span = material.tables.spans[late.span];
      if (reviver.entry > span.ended) continue;
      if (isSoft(span.clockBase()) && !softCounts(material, cpu.cpu, due)) continue;
      if (served == reviver.entry) {
        ++stalls_.back().waiting;
        continue;
      }
      const s64 waited = (material.time(reviver.entry) - due).value;
      if (waited < limit_) continue;
      const Row from = material.rowBefore(cpu.cpu, due);
      const Row first = span.armed != noRow ? span.armed : from;
      if (from == noRow || material.isBlind(cpu.cpu, first, reviver.entry, blindKinds)) {
        ++all[0].dropped;
        continue;
      }
      if (isInnocent(material, cpu, reviver.entry, due, before)) continue;
      Stall stall;
      stall.waiting = 1;
      stall.idle = wasIdle(material, cpu, reviver);
      stall.could = !stall.idle && couldInterrupt(material, reviver.entry, due);
      const char kind = proofOf(material, cpu, reviver, late, from, stall);
      if (kind == 0) continue;
      if (kind != 'c') {
        // Whether the device's next event includes a soft timer is inferred: no claim by state rests on it.
        if (isSoft(span.clockBase())) continue;
        // K1
        if (!stall.idle && !stall.could && material.irqsOffBefore(reviver.entry)) continue;
      }
      served = reviver.entry;
      Instance& instance = all[static_cast<std::size_t>(kind - 'a')].instances.emplace_back();
      instance.when = {due, material.time(reviver.exit != noRow ? reviver.exit : reviver.entry)};
      instance.cpu = cpu.cpu;
      instance.causeKey = number(cpu.cpu) * slotsPerCpu + static_cast<u64>(kind - 'a');
      instance.magnitude = waited;
      instance.timer = span.timer;
      instance.evidence = {span.armed, stall.missing != noRow ? stall.missing : from, reviver.entry,
                           span.end == SpanEnd::Expired ? span.ended : noRow};
      instance.detail = static_cast<u32>(stalls_.size());
      stalls_.push_back(stall);
    }
  }

  /// K4, K6, K11.
  static bool isInnocent(const Material& material, const CpuBrackets& cpu, Row revived,
                         TraceTime due, const Bracket* before) {
    if (material.isSilent(cpu.cpu, due, material.time(revived))) return true;
    if (material.hotplugOrSuspend(cpu.cpu, due, material.time(revived))) return true;
    if (!before || before->exit == noRow) return false;
    u32 calls = 0;
    for (Row row = material.next(before->entry); row != noRow && row < before->exit;
         row = material.next(row)) {
      const EventKind kind = material.events.kind(row);
      calls += kind == kindOf<ProgramEvent> || kind == kindOf<ProgramEventProbe>;
    }
    return calls >= hangCalls;
  }

  /// Which of the three it is; 0: the interrupt was just late.
  char proofOf(const Material& material, const CpuBrackets& cpu, const Bracket& reviver,
               const Late& late, Row from, Stall& stall) const {
    const ArmedSpan& span = material.tables.spans[late.span];
    const auto dueMono = material.dueMono(span);
    if (dueMono) stall.due = dueMono->value.value;
    const CpuLines* const lines = material.linesOf(cpu.cpu);
    if (material.recorded.has(Need::PX) && lines && dueMono) {
      stall.value = lines->programmed.at(from);
      if (stall.value) {
        if (*stall.value > dueMono->value.value + dueMono->error.value) return 'a';
        return belongsToEarlier(material, *lines, reviver, from) ? 'b'
               : deadNs(material, from, reviver.exit) == 0       ? 'c'
                                                                 : char{0};
      }
    }
    // Without values: an operation that demanded a call and had none.
    for (const OperationCount& operation : material.tables.operations) {
      if (operation.row > from || operation.row < span.armed ||
          !operation.has(OperationCount::Judged) || operation.seen() >= operation.least) {
        continue;
      }
      if (operation.kind == OperationKind::Interrupt ||
          operation.kind == OperationKind::SoftirqEnd ||
          material.events.cpu(operation.row) != cpu.cpu) {
        continue;
      }
      if (!lastBefore(material, cpu, operation.row, from)) continue;
      stall.missing = operation.row;
      return 'a';
    }
    // K4: a CPU that stands still inside the interrupt did not run before it either.
    if (!wasCalled(material, cpu.cpu, span.armed, from)) return 0;
    return deadNs(material, from, reviver.exit) == 0 ? 'c' : char{0};
  }

  /// No timer interrupt, which programs anew, between the two rows.
  static bool lastBefore(const Material& material, const CpuBrackets& cpu, Row row, Row from) {
    (void)material;
    return std::ranges::none_of(cpu.nested, [&](const Bracket& bracket) {
      return bracket.kind == BracketKind::TimerInterrupt && bracket.entry != noRow &&
             bracket.entry > row && bracket.entry <= from;
    });
  }

  static bool belongsToEarlier(const Material& material, const CpuLines& lines,
                               const Bracket& reviver, Row from) {
    const auto came = material.mono(reviver.entry);
    if (!came) return false;
    const s64 tolerance = material.baseline.all.deviceDelay.p50 + belongsNs;
    Row row = lines.programmed.previousChange(from);
    for (int steps = 0; row != noRow && row != Row{0} && steps < 16; ++steps) {
      const auto value = lines.programmed.at(Row{number(row) - 1});
      const s64 behind = value ? came->value.value - *value : -1;
      if (behind >= 0 && behind <= tolerance) return true;
      row = lines.programmed.previousChange(Row{number(row) - 1});
    }
    return false;
  }

  static bool wasIdle(const Material& material, const CpuBrackets& cpu, const Bracket& reviver) {
    const Row last = material.previous(reviver.entry);
    return last != noRow && cpu.idleAt(last);
  }

  /// A programming call of the CPU behind the arm.
  static bool wasCalled(const Material& material, Cpu cpu, Row armed, Row from) {
    if (armed == noRow || !material.recorded.has(Need::P)) return false;
    for (Row row = from; row != noRow && row > armed; row = material.previous(row)) {
      const EventKind kind = material.events.kind(row);
      if (kind == kindOf<ProgramEvent> || kind == kindOf<ProgramEventProbe>) {
        return material.events.cpu(row) == cpu;
      }
    }
    return false;
  }

  /// A row of the CPU with interrupts on, later than the limit behind the due time and well before the interrupt.
  [[nodiscard]] bool couldInterrupt(const Material& material, Row revived, TraceTime due) const {
    constexpr u8 notTraced = 0x02;  // TRACE_FLAG_IRQS_NOSUPPORT
    for (Row row = material.previous(revived);
         row != noRow && (material.time(row) - due).value > limit_; row = material.previous(row)) {
      const Context context = material.events.context(row);
      if (!context.irqsOff() && !context.hardIrq() && !context.nmi() &&
          (context.flags & notTraced) == 0 &&
          (material.time(revived) - material.time(row)).value > belongsNs) {
        return true;
      }
    }
    return false;
  }

  static bool isEqual(s64 one, s64 other) {
    return std::abs(static_cast<double>(one - other)) <= equalSpread * static_cast<double>(other);
  }

  /// What the trace cannot decide must come again and again, and equally late: two may be chance.
  void keepRepeated(const Material& material, std::vector<Judged>& all) const {
    const auto least = material.thresholds.count(Limit::MinInstances);
    if (all[1].instances.size() < least) all[1].instances.clear();
    std::map<Cpu, std::vector<s64>> lateness;
    for (const Instance& instance : all[2].instances) {
      if (isProven(instance)) lateness[instance.cpu].push_back(instance.magnitude);
    }
    std::map<Cpu, s64> usual;  // of those that are equal; empty: too few
    for (auto& [cpu, of] : lateness) {
      std::ranges::sort(of);
      u64 most = 0;
      std::size_t middle = 0;
      for (std::size_t i = 0; i < of.size(); ++i) {
        u64 equal = 0;
        for (std::size_t k = i; k < of.size() && isEqual(of[k], of[i]); ++k) ++equal;
        if (equal > most) middle = i + equal / 2;
        most = std::max(most, equal);
      }
      if (most >= least && 2 * most >= of.size()) usual[cpu] = of[middle];
    }
    std::erase_if(all[2].instances, [&](const Instance& instance) {
      const auto found = usual.find(instance.cpu);
      if (found == usual.end()) return true;
      // K1: interrupts that were off end at no certain time behind the due time.
      return !isProven(instance) && !isEqual(instance.magnitude, found->second);
    });
  }

  /// Nothing seen held the interrupt back: the CPU was idle, or interrupts were on when it was late already.
  [[nodiscard]] bool isProven(const Instance& instance) const {
    return stalls_[instance.detail].idle || stalls_[instance.detail].could;
  }

  void sayNotProgrammed(const Material& material, const Cluster& cluster, Finding& finding) const {
    u64 byValue = 0, byCount = 0;
    s64 latest = 0;
    for (const Instance& instance : cluster.instances) {
      const Stall& stall = stalls_[instance.detail];
      byCount += stall.missing != noRow;
      if (stall.missing == noRow && stall.value && stall.due) {
        ++byValue;
        latest = std::max(latest, *stall.value - *stall.due);
      }
    }
    if (byValue > 0) {
      finding.claim.words(" The device was programmed for up to {} behind the due time, {}.",
                          nsWords(latest), countWords(byValue, "time", "times"));
    }
    if (byCount > 0) {
      finding.claim.words(
          " An operation before that had to program the device by the rule was followed by no "
          "programming call, {}.",
          countWords(byCount, "time", "times"));
      finding.confidence.times(material.profile.hrtimer.confidence, "programming rule");
    }
    finding.predicted.words("the device programmed for the earliest timer, or earlier");
    finding.observed.words("{} programmed for later, {} without the call", byValue, byCount);
  }

  void counterEvidence(Finding& finding) const {
    const auto add = [&](std::string_view id, std::string_view note) {
      CounterEvidence made{id, CounterEvidence::Result::Excluded, {}};
      made.note.words("{}", note);
      finding.counterEvidence.push_back(std::move(made));
    };
    add("K1",
        "stalls behind which interrupts may have been off are left out, unless they are as late as "
        "those of an idle CPU");
    add("K3", "stalls near lost or unrecorded events are left out");
    add("K4",
        "stalls in which the CPU was silent and not idle are left out; without a proof by the "
        "device's value also those whose interrupt stood still, and unequal ones");
    add("K6", "stalls with hotplug or suspend inside are left out");
    add("K9", "soft timers count only while HRTIMER_SOFTIRQ is not activated");
    add("K10", "what came due inside a timer interrupt counts from its end");
    add("K11", "stalls behind an interrupt that gave up programming are left out");
    CounterEvidence idle{"K8", CounterEvidence::Result::Absent, {}};
    idle.note.words("the limit of {} lies above the exit from deep idle", nsWords(limit_));
    finding.counterEvidence.push_back(std::move(idle));
  }

  s64 limit_ = 0;
  u64 opportunities_ = 0;
  std::map<Cpu, std::vector<Late>> late_;
  std::vector<Stall> stalls_;
};

}  // namespace

extern const DetectorInfo f04StalledHrtimers;
constinit const DetectorInfo f04StalledHrtimers{
    .id = "F04",
    .name = "stalled-hrtimers",
    .line = "the earliest hrtimer is due and nothing fires on that CPU",
    .needs = {Needs{Need::H, Need::I}, Needs{Need::H, Need::P}},
    .record = "stall",
    .byTimeAlone = "",
    .make = makeDetector<StalledHrtimers>,
};

}  // namespace tickscope
