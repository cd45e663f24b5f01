// SPDX-License-Identifier: GPL-3.0-or-later
// F14: timer interrupts that expire and raise nothing, and interrupts that retry or give up programming.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "core/findings/detector.h"
#include "core/findings/figure_text.h"
#include "core/model/kernel_numbers.h"

namespace tickscope {

namespace {

constexpr BlindSpotSet blindKinds =
    blindSpots({BlindSpotKind::LostEvents, BlindSpotKind::Filtered, BlindSpotKind::CpuOffline,
                BlindSpotKind::Suspended, BlindSpotKind::NotHighRes});
/// An interrupt this much before the next expiry came by the device's granularity (ns).
constexpr s64 earlyNs = 10'000;
/// Programming calls of an interrupt that gave up: three passes and the forced one (hrtimer_interrupt).
constexpr u32 hangCalls = 4;
constexpr u64 slotsPerCpu = 4;

enum class Reason : u8 { Storm, Scattered, Hang, Retry };

class SpuriousInterrupts final : public Detector {
 public:
  std::vector<Judged> detect(const Material& material, std::vector<NotJudged>& notJudged) override {
    if (material.profile.highRes.judged() != true || material.filtered) {
      NotJudged item;
      item.why.words("{}", material.filtered
                               ? "expiries of some timers were filtered out"
                               : "high resolution is not known to be on: ticks may expire without "
                                 "an hrtimer");
      notJudged.push_back(std::move(item));
      return {};
    }
    std::vector<Judged> all;
    empties(material, all.emplace_back());
    if (material.recorded.has(Need::P)) {
      retries(material, all.emplace_back());
    } else {
      NotJudged item;
      item.kind = 'b';
      item.missing.push_back(eventsOf(Need::P));
      item.why.words("{} not recorded", eventsOf(Need::P));
      notJudged.push_back(std::move(item));
    }
    return all;
  }

  void describe(const Material& material, const Cluster& cluster, Finding& finding) const override {
    finding.confidence = Confidence(Proof::A, "rows between entry and exit counted");
    finding.confidence.times(material.profile.highRes.confidence, "high resolution");
    const auto cpu = static_cast<Cpu>(cluster.causeKey / slotsPerCpu);
    if (cluster.kind == 'a') {
      describeEmpties(material, cpu, cluster, finding);
    } else {
      describeRetries(material, cpu, cluster, finding);
    }
  }

 private:
  struct Interrupt {
    Row entry = noRow, exit = noRow;
    bool empty = false, explained = false, storm = false;
  };
  struct CpuSum {
    u64 interrupts = 0, empty = 0, cancelled = 0, early = 0;
    s64 judgedNs = 0;
    bool sameValue = false, timerPending = false;
  };

  static u64 keyOf(Cpu cpu, Reason reason) {
    return number(cpu) * slotsPerCpu + static_cast<u64>(reason);
  }

  // --- a: nothing expired, nothing raised

  void empties(const Material& material, Judged& judged) {
    judged.kind = 'a';
    judged.judgedNs = material.judgedNs(blindKinds);
    const Thresholds& limits = material.thresholds;
    for (const CpuBrackets& cpu : material.brackets) {
      std::vector<Interrupt> interrupts;
      for (const Bracket& bracket : cpu.nested) {
        if (bracket.kind != BracketKind::TimerInterrupt || !bracket.whole() ||
            bracket.has(Bracket::Inferred)) {
          continue;
        }
        Interrupt& interrupt = interrupts.emplace_back();
        interrupt.entry = bracket.entry;
        interrupt.exit = bracket.exit;
        interrupt.empty = bracket.callbacks == 0 && isEmpty(material, bracket);
      }
      std::ranges::sort(interrupts, {}, &Interrupt::entry);
      CpuSum& sum = sums_[cpu.cpu];
      sum.interrupts = interrupts.size();
      sum.judgedNs = material.judgedNs(cpu.cpu, blindKinds);
      judged.opportunities += interrupts.size();
      explain(material, cpu, interrupts, sum);
      markStorms(material, cpu, interrupts, sum);
      const bool often = static_cast<double>(sum.empty) >=
                             limits[Limit::SpuriousShare] * static_cast<double>(sum.interrupts) &&
                         static_cast<double>(sum.empty) * 1e9 >=
                             limits[Limit::SpuriousRate] * static_cast<double>(sum.judgedNs) &&
                         sum.interrupts >= limits.count(Limit::MinOpportunities) &&
                         sum.judgedNs > 0;
      for (const Interrupt& interrupt : interrupts) {
        if (!interrupt.empty || interrupt.explained || (!interrupt.storm && !often)) continue;
        if (material.isBlind(cpu.cpu, interrupt.entry, interrupt.exit, blindKinds)) {
          ++judged.dropped;
          continue;
        }
        Instance& instance = judged.instances.emplace_back();
        instance.when = {material.time(interrupt.entry), material.time(interrupt.exit)};
        instance.cpu = cpu.cpu;
        instance.causeKey = keyOf(cpu.cpu, interrupt.storm ? Reason::Storm : Reason::Scattered);
        instance.magnitude = material.nsBetween(interrupt.entry, interrupt.exit).value_or(0);
        instance.evidence[0] = interrupt.entry;
        instance.evidence[1] = interrupt.exit;
      }
    }
  }

  /// Nothing inside but programming calls and functions.
  static bool isEmpty(const Material& material, const Bracket& bracket) {
    for (Row row = material.next(bracket.entry); row != noRow && row < bracket.exit;
         row = material.next(row)) {
      const EventKind kind = material.events.kind(row);
      if (kind == kindOf<SoftirqRaise> || kind == kindOf<SchedWaking> ||
          kind == kindOf<HrtimerExpireEntry> || kind == kindOf<SchedWakeup> ||
          kind == kindOf<HrtimerStart> || kind == kindOf<HrtimerCancel>) {
        return false;
      }
    }
    return true;
  }

  /// A timer that was taken out before it expired.
  struct Taken {
    Row row;
    TraceTime due;
  };

  static std::vector<Taken> takenFrom(const Material& material, Cpu cpu) {
    std::vector<Taken> taken;
    for (const ArmedSpan& span : material.tables.spans) {
      if (span.owner != cpu || span.ended == noRow || !material.isHrtimer(span)) continue;
      if (span.end != SpanEnd::Cancelled && span.end != SpanEnd::Restarted) continue;
      const auto due = material.dueTime(span);
      if (due) taken.push_back({span.ended, due->value + TraceDelta{-due->error.value}});
    }
    std::ranges::sort(taken, {}, &Taken::row);
    return taken;
  }

  /// By design: the device fires for a timer that was taken out by another CPU, or here while interrupts were off
  /// and its time came; and just before an expiry. One each.
  static void explain(const Material& material, const CpuBrackets& cpu,
                      std::vector<Interrupt>& interrupts, CpuSum& sum) {
    const std::vector<Taken> taken = takenFrom(material, cpu.cpu);
    std::size_t next = 0;
    for (Interrupt& interrupt : interrupts) {
      // What was taken out before the previous interrupt, that one took into account.
      bool forOne = false;
      for (; next < taken.size() && taken[next].row < interrupt.entry; ++next) {
        forOne = forOne || taken[next].due <= material.time(interrupt.entry);
      }
      if (!interrupt.empty) continue;
      if (forOne) {
        interrupt.explained = true;
        ++sum.cancelled;
      } else if (expiresSoon(material, interrupt)) {
        interrupt.explained = true;
        ++sum.early;
      } else {
        ++sum.empty;
      }
    }
  }

  static bool expiresSoon(const Material& material, const Interrupt& interrupt) {
    for (Row row = material.next(interrupt.exit); row != noRow; row = material.next(row)) {
      const auto ns = material.nsBetween(interrupt.exit, row);
      if (!ns || *ns > earlyNs) return false;
      if (material.events.kind(row) == kindOf<HrtimerExpireEntry> &&
          material.events.context(row).hardIrq()) {
        return true;
      }
    }
    return false;
  }

  static void markStorms(const Material& material, const CpuBrackets& cpu,
                         std::vector<Interrupt>& interrupts, CpuSum& sum) {
    const u64 least = material.thresholds.count(Limit::SpuriousRun);
    const s64 tick = material.tickNs().value_or(4'000'000);
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= interrupts.size(); ++i) {
      if (i < interrupts.size() && interrupts[i].empty && !interrupts[i].explained) continue;
      bool isStorm = false;
      // A run of empty ones in a row: any `least` of them within a tick.
      for (std::size_t first = begin; first + least <= i; ++first) {
        const auto ns =
            material.nsBetween(interrupts[first].entry, interrupts[first + least - 1].entry);
        if (!ns || *ns > tick) continue;
        for (std::size_t k = first; k < first + least; ++k) interrupts[k].storm = true;
        isStorm = true;
      }
      if (isStorm) showWhy(material, cpu, interrupts[begin].entry, interrupts[i - 1].exit, sum);
      begin = i + 1;
    }
  }

  /// The programming values stand and have passed, or TIMER waits to be run.
  static void showWhy(const Material& material, const CpuBrackets& cpu, Row from, Row to,
                      CpuSum& sum) {
    if (!sum.sameValue && material.recorded.has(Need::PX)) {
      if (const CpuLines* lines = material.linesOf(cpu.cpu)) {
        const auto value = lines->programmed.at(to);
        const auto now = material.mono(to);
        sum.sameValue = value && now && lines->programmed.at(from) == value &&
                        *value <= now->value.value - now->error.value;
      }
    }
    if (sum.timerPending) return;
    sum.timerPending = std::ranges::any_of(cpu.nested, [&](const Bracket& bracket) {
      return bracket.kind == BracketKind::Softirq && bracket.vector == timerVector &&
             bracket.raised != noRow && bracket.raised < from && bracket.entry != noRow &&
             bracket.entry > to;
    });
  }

  void describeEmpties(const Material& material, Cpu cpu, const Cluster& cluster,
                       Finding& finding) const {
    const CpuSum& sum = sums_.at(cpu);
    const bool storm = cluster.causeKey % slotsPerCpu == static_cast<u64>(Reason::Storm);
    const double seconds = static_cast<double>(sum.judgedNs) / 1e9;
    const double rate = seconds > 0 ? static_cast<double>(sum.empty) / seconds : 0;
    const double share =
        100.0 * static_cast<double>(sum.empty) / static_cast<double>(sum.interrupts);
    finding.what = "length of the interrupt";
    finding.unit = "ns";
    if (storm) {
      finding.grade = sum.sameValue || sum.timerPending ? Grade::S1 : Grade::S2;
      finding.title.words("CPU{}: {} in storms of timer interrupts that expired nothing",
                          number(cpu), countWords(finding.count, "interrupt", "interrupts"));
    } else {
      finding.grade = Grade::S3;
      finding.title.words("CPU{}: {:.3g} % of the timer interrupts ({:.4g}/s) expired nothing",
                          number(cpu), share, rate);
    }
    finding.claim.words(
        "Of {} timer interrupts of CPU{} {} ({:.3g} %, {:.4g}/s) expired no hrtimer, raised no "
        "softirq and woke nobody, {} of them among {} and more in a row within a tick.",
        sum.interrupts, number(cpu), sum.empty, share, rate, storm ? finding.count : 0,
        material.thresholds.count(Limit::SpuriousRun));
    if (sum.sameValue) {
      finding.claim.words(
          " The device was programmed to one value that had passed, again and again.");
      finding.upstream = {"U23"};
    }
    if (sum.timerPending) {
      finding.claim.words(" TIMER_SOFTIRQ was raised before and waited to be run meanwhile.");
      finding.upstream.push_back("U07");
    }
    finding.predicted.words("an expiry, or a raise of HRTIMER, in each interrupt");
    finding.observed.words(
        "{} without; further {} by design (timers taken out when they were due: {}, just before an "
        "expiry: {})",
        sum.empty, sum.cancelled + sum.early, sum.cancelled, sum.early);
    finding.disproof.words(
        "another user of this interrupt, or expiries of these interrupts that were not recorded");
    const auto counter = [&](std::string_view id, std::string_view note) {
      CounterEvidence made{id, CounterEvidence::Result::Absent, {}};
      made.note.words("{}", note);
      finding.counterEvidence.push_back(std::move(made));
    };
    counter("K4", "a state by count: time in which the CPU did not run makes no interrupts");
    counter("K5", "only rows of timers, softirqs and wakeups count as use");
    counter("K13", "high resolution is on");
    for (const Instance& instance : finding.worst) {
      finding.evidence.push_back({instance.evidence[0], Sentence("begins")});
      finding.evidence.push_back({instance.evidence[1], Sentence("nothing in between")});
    }
  }

  // --- b: retries and hang

  void retries(const Material& material, Judged& judged) {
    judged.kind = 'b';
    judged.judgedNs = material.judgedNs(blindKinds);
    for (const OperationCount& operation : material.tables.operations) {
      if (operation.kind != OperationKind::Interrupt) continue;
      const Cpu cpu = material.events.cpu(operation.row);
      ++judged.opportunities;
      if (operation.enqueueSeen < 2) continue;
      const Bracket* const bracket =
          material.bracketsOf(operation.row).at(operation.row, BracketKind::TimerInterrupt);
      if (!bracket || !bracket->whole() ||
          material.isBlind(cpu, bracket->entry, bracket->exit, blindKinds)) {
        ++judged.dropped;
        continue;
      }
      const bool hang = operation.enqueueSeen >= hangCalls;
      Instance& instance = judged.instances.emplace_back();
      instance.when = {material.time(bracket->entry), material.time(bracket->exit)};
      instance.cpu = cpu;
      instance.causeKey = keyOf(cpu, hang ? Reason::Hang : Reason::Retry);
      instance.magnitude = operation.enqueueSeen;
      instance.evidence[0] = bracket->entry;
      instance.evidence[1] = bracket->exit;
      instance.detail = bracket->callbacks;
      if (!hang) continue;
      // Until the delay is over no timer of this CPU runs.
      const CpuBrackets& all = material.bracketsOf(operation.row);
      for (auto later = bracket + 1; later < all.nested.data() + all.nested.size(); ++later) {
        if (later->kind != BracketKind::TimerInterrupt || later->entry == noRow) continue;
        instance.evidence[2] = later->entry;
        instance.when.to = material.time(later->entry);
        break;
      }
    }
  }

  static u64 interruptsOf(const Material& material, Cpu cpu) {
    return static_cast<u64>(
        std::ranges::count_if(material.tables.operations, [&](const OperationCount& operation) {
          return operation.kind == OperationKind::Interrupt &&
                 material.events.cpu(operation.row) == cpu;
        }));
  }

  static void describeRetries(const Material& material, Cpu cpu, const Cluster& cluster,
                              Finding& finding) {
    const bool hang = cluster.causeKey % slotsPerCpu == static_cast<u64>(Reason::Hang);
    s64 longest = 0, backOff = 0;
    u64 callbacks = 0, busy = 0;
    for (const Instance& instance : cluster.instances) {
      longest = std::max(
          longest, material.nsBetween(instance.evidence[0], instance.evidence[1]).value_or(0));
      if (instance.evidence[2] != noRow) {
        backOff = std::max(
            backOff, material.nsBetween(instance.evidence[1], instance.evidence[2]).value_or(0));
      }
      callbacks = std::max<u64>(callbacks, instance.detail);
      busy += instance.detail >= material.thresholds.count(Limit::BurstCallbacks);
    }
    const double seconds = static_cast<double>(material.judgedNs(cpu, blindKinds)) / 1e9;
    const double rate = seconds > 0 ? static_cast<double>(finding.count) / seconds : 0;
    // Behind many callbacks the next timer is due already: what they take is what to look at. A retry by itself is
    // how the kernel meets a time that has passed; healthy guests make 110 a second.
    const bool behindFew = 2 * busy < finding.count &&
                           finding.count >= material.thresholds.count(Limit::MinOpportunities);
    const bool often = rate >= 1 && static_cast<double>(finding.count) >=
                                        material.thresholds[Limit::SpuriousShare] *
                                            static_cast<double>(interruptsOf(material, cpu));
    finding.grade = often && behindFew ? Grade::S3 : Grade::S4;
    if (hang) {
      // Severe is what the delay makes late.
      finding.grade = backOff >= material.scaled(Limit::StallHr)    ? Grade::S2
                      : backOff >= material.scaled(Limit::LateHard) ? Grade::S3
                                                                    : Grade::S4;
    }
    finding.what = "programming calls of an interrupt";
    if (hang) {
      finding.title.words("CPU{}: the timer interrupt gave up {} and backed off", number(cpu),
                          countWords(finding.count, "time", "times"));
      finding.claim.words(
          "{} on CPU{} hrtimer_interrupt found the next expiry in the past three times and then "
          "programmed a delay; the next timer interrupt came up to {} later.",
          countWords(finding.count, "time", "times"), number(cpu), nsWords(backOff));
    } else {
      finding.title.words("CPU{}: the timer interrupt programmed again {} ({:.3g}/s)", number(cpu),
                          countWords(finding.count, "time", "times"), rate);
      finding.claim.words(
          "{} on CPU{} hrtimer_interrupt found the next expiry in the past when it programmed the "
          "device, and made another pass.",
          countWords(finding.count, "time", "times"), number(cpu));
    }
    finding.claim.words(
        " The longest of these interrupts took {}, with up to {} callbacks in one of them.",
        nsWords(longest), callbacks);
    finding.predicted.words("one programming call an interrupt");
    finding.observed.words("up to {} calls", finding.distribution.greatest().value_or(0));
    finding.disproof.words("calls in the interrupt that other code than hrtimer_interrupt made");
    CounterEvidence silent{"K4", CounterEvidence::Result::Absent, {}};
    for (const Instance& instance : finding.worst) {
      if (material.isSilent(cpu, instance.when.from, material.time(instance.evidence[1]))) {
        silent.result = CounterEvidence::Result::Open;
      }
    }
    silent.note.words("{}", silent.result == CounterEvidence::Result::Open
                                ? "the CPU was silent within: it may not have run"
                                : "no silence longer than vm.silence within");
    finding.counterEvidence.push_back(std::move(silent));
    CounterEvidence stopped{"K11", CounterEvidence::Result::Absent, {}};
    stopped.note.words("the back-off is the finding itself");
    finding.counterEvidence.push_back(std::move(stopped));
    for (const Instance& instance : finding.worst) {
      finding.evidence.push_back({instance.evidence[0], Sentence("begins")});
      Sentence end;
      end.words("ends, {} programming calls within", instance.magnitude);
      finding.evidence.push_back({instance.evidence[1], std::move(end)});
    }
  }

  std::map<Cpu, CpuSum> sums_;
};

}  // namespace

extern const DetectorInfo f14SpuriousInterrupts;
constinit const DetectorInfo f14SpuriousInterrupts{
    .id = "F14",
    .name = "spurious-interrupts",
    .line = "timer interrupts that expire nothing, or that retry and back off",
    .needs = {Needs{Need::H, Need::I}},
    .record = "idle-wakeups",
    .byTimeAlone = "b",
    .make = makeDetector<SpuriousInterrupts>,
};

}  // namespace tickscope
