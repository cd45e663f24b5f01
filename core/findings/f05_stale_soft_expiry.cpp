// SPDX-License-Identifier: GPL-3.0-or-later
// F05: a soft hrtimer is due, but the cached softirq_expires_next lies behind it, so that interrupts raise nothing.
#include <algorithm>
#include <array>
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
/// From ten times late.soft on, ten times, late soft timers alone are a bug.
constexpr s64 farFactor = 10;
constexpr std::size_t farInstances = 10;

/// What left the cached value behind.
enum class Trigger : u8 { WallClock, Unknown };

class StaleSoftExpiry final : public Detector {
 public:
  std::vector<Judged> detect(const Material& material, std::vector<NotJudged>& notJudged) override {
    if (material.profile.highRes.judged() == false ||
        material.profile.hrtimer.judged() == HrtimerRule::RP) {
      NotJudged item;
      item.why.words("{}", material.profile.highRes.judged() == false
                               ? "low resolution: soft hrtimers are raised by the tick"
                               : "this kernel has no soft hrtimers (4.16)");
      notJudged.push_back(std::move(item));
      return {};
    }
    Judged storms, late;
    storms.kind = 'a';
    late.kind = 'b';
    storms.judgedNs = late.judgedNs = material.judgedNs(blindKinds);
    lateLimit_ = material.scaled(Limit::LateSoft);
    for (const CpuBrackets& cpu : material.brackets) {
      const Softirqs softirqs = softirqsOf(cpu);
      const auto interrupts = interruptsOf(cpu, softirqs);
      for (const Interrupt& interrupt : interrupts) {
        ++interrupts_;
        empty_ += interrupt.empty;
      }
      for (const Wait& wait : waitsOf(material, cpu.cpu, softirqs, late.dropped)) {
        look(material, cpu.cpu, interrupts, wait, storms, late);
      }
    }
    storms.opportunities = late.opportunities;
    std::vector<Judged> all;
    if (material.recorded.has(Need::I)) {
      all.push_back(std::move(storms));
    } else {
      NotJudged item;
      item.kind = 'a';
      item.missing.push_back(eventsOf(Need::I));
      item.why.words("interrupts that expire nothing leave no row without {}", eventsOf(Need::I));
      notJudged.push_back(std::move(item));
    }
    all.push_back(std::move(late));
    return all;
  }

  void describe(const Material& material, const Cluster& cluster, Finding& finding) const override {
    const Place& place = places_[cluster.causeKey];
    const std::string name = material.callback(place.function);
    const auto& rule = material.profile.hrtimer;
    finding.confidence = Confidence(Proof::B, "expiry of the soft timer and raises are recorded");
    finding.confidence.times(material.profile.highRes.confidence, "high resolution");
    finding.upstream = {"U11"};
    if (cluster.kind == 'a') {
      describeStorms(material, place, name, cluster, finding);
    } else {
      describeLate(name, cluster, finding);
    }
    if (place.trigger == Trigger::WallClock) {
      finding.claim.words(
          " It is a timer of a clock that can be set, which moves its due time without an arm.");
    }
    if (rule.expected == HrtimerRule::R0) {
      finding.claim.words(" Kernels from 4.16 to 5.11 are known to do this.");
    } else if (rule.expected && *rule.expected > HrtimerRule::R0) {
      finding.claim.words(
          " By its release and its event formats this kernel should have the change that mended "
          "it.");
    }
    finding.disproof.words(
        "a raise of HRTIMER between the due time and the interrupts, or another CPU as the owner "
        "of the timer");
    counterEvidence(place, finding);
    for (const Instance& instance : finding.worst) {
      constexpr std::array<std::string_view, 4> remarks{"the soft timer is armed",
                                                        "behind its due time: nothing raised",
                                                        "HRTIMER is raised", "it runs"};
      for (std::size_t i = 0; i < remarks.size(); ++i) {
        if (instance.evidence[i] != noRow) {
          finding.evidence.push_back({instance.evidence[i], Sentence(std::string(remarks[i]))});
        }
      }
    }
  }

 private:
  struct Interrupt {
    Row entry = noRow, exit = noRow;
    bool empty = false;      ///< expired nothing, raised nothing
    bool activated = false;  ///< HRTIMER was raised before and had not run yet
  };
  /// A soft timer from its due time to the raise that served it.
  struct Wait {
    u32 span;
    TraceTime due;
    Row raise = noRow;  ///< noRow: it was taken back before
    Row end = noRow;    ///< it ran, or was taken back
    bool ran = false;
    bool wallClock = false;  ///< setting its clock moves it, which leaves no row
  };
  struct Place {
    Address function{};
    Cpu cpu{};
    Trigger trigger{};
  };
  struct Storm {
    u64 interrupts = 0, empty = 0;
    s64 inside = 0;  ///< ns in these interrupts
    s64 late = 0;    ///< ns from due time to the raise
  };

  /// Of HRTIMER on one CPU.
  struct Softirqs {
    std::vector<Row> raises;                  ///< ascending
    std::vector<std::pair<Row, Row>> active;  ///< raised to its exit, ascending and apart
  };

  static Softirqs softirqsOf(const CpuBrackets& cpu) {
    Softirqs made;
    for (const Bracket& bracket : cpu.nested) {
      if (bracket.kind != BracketKind::Softirq || bracket.vector != hrtimerVector) continue;
      if (bracket.raised != noRow) made.raises.push_back(bracket.raised);
      const Row from = bracket.raised != noRow ? bracket.raised : bracket.entry;
      made.active.emplace_back(from != noRow ? from : Row{0}, bracket.exit);
    }
    std::ranges::sort(made.raises);
    std::ranges::sort(made.active);
    for (std::size_t i = 1; i < made.active.size(); ++i) {
      made.active[i].second = std::max(made.active[i].second, made.active[i - 1].second);
    }
    return made;
  }

  static std::vector<Interrupt> interruptsOf(const CpuBrackets& cpu, const Softirqs& softirqs) {
    std::vector<Interrupt> made;
    for (const Bracket& bracket : cpu.nested) {
      if (bracket.kind != BracketKind::TimerInterrupt || !bracket.whole()) continue;
      Interrupt& interrupt = made.emplace_back();
      interrupt.entry = bracket.entry;
      interrupt.exit = bracket.exit;
      const auto raise = std::ranges::lower_bound(softirqs.raises, bracket.entry);
      const bool raised = raise != softirqs.raises.end() && *raise < bracket.exit;
      interrupt.empty = bracket.callbacks == 0 && !raised && !bracket.has(Bracket::Inferred);
      // K9: until the raised softirq has run no interrupt looks at the soft timers.
      auto active =
          std::ranges::upper_bound(softirqs.active, bracket.entry, {}, &std::pair<Row, Row>::first);
      if (active != softirqs.active.begin()) {
        --active;
        interrupt.activated = active->second == noRow || active->second > bracket.entry;
      }
    }
    std::ranges::sort(made, {}, &Interrupt::entry);
    return made;
  }

  /// Soft timers of this CPU that were due while armed.
  static std::vector<Wait> waitsOf(const Material& material, Cpu cpu, const Softirqs& softirqs,
                                   u64& dropped) {
    std::vector<Wait> waits;
    for (u32 i = 0; i < material.tables.spans.size(); ++i) {
      const ArmedSpan& span = material.tables.spans[i];
      if (!span.expiryKnown || span.owner != cpu || span.ended == noRow ||
          !material.isHrtimer(span) || !isSoft(span.clockBase())) {
        continue;
      }
      Wait wait;
      wait.span = i;
      wait.end = span.ended;
      wait.ran = span.end == SpanEnd::Expired;
      if (wait.ran && material.events.cpu(span.ended) != cpu) continue;
      if (!becameDue(material, span, wait)) continue;
      if (wait.ran) {
        const Bracket* const softirq =
            material.bracketsOf(span.ended).at(span.ended, BracketKind::Softirq);
        if (!softirq || softirq->raised == noRow) {
          ++dropped;
          continue;
        }
        // K9: raised before it was due, nothing more is raised until the softirq has run.
        if (material.time(softirq->raised) <= wait.due) continue;
        wait.raise = softirq->raised;
      } else {
        const auto raise = std::ranges::lower_bound(softirqs.raises, wait.due, {},
                                                    [&](Row row) { return material.time(row); });
        if (raise != softirqs.raises.end() && *raise < wait.end) wait.raise = *raise;
      }
      waits.push_back(wait);
    }
    std::ranges::stable_sort(waits, {}, &Wait::due);
    return waits;
  }

  /// When it was due at the latest; false: it was not before it ended.
  static bool becameDue(const Material& material, const ArmedSpan& span, Wait& wait) {
    if (hardOf(span.clockBase()) == ClockBase::Mono) {
      const auto due = material.dueTime(span);
      if (!due) return false;
      wait.due = due->value + TraceDelta{due->error.value};
    } else {
      // Its own clock may have been set: its expiry says how late it was by the offset of that moment.
      if (!wait.ran || material.events.kind(span.ended) != kindOf<HrtimerExpireEntry> ||
          span.armed == noRow || material.buffer.clock.unit != ClockUnit::Nanoseconds) {
        return false;
      }
      const s64 late = material.events.as<HrtimerExpireEntry>(span.ended).now.value - span.expires;
      wait.due = material.time(span.ended) + TraceDelta{-late};
      if (late <= 0) return false;
      wait.wallClock = true;
    }
    if (span.armed != noRow) wait.due = std::max(wait.due, material.time(span.armed));
    return material.time(span.ended) > wait.due;
  }

  void look(const Material& material, Cpu cpu, const std::vector<Interrupt>& interrupts,
            const Wait& wait, Judged& storms, Judged& late) {
    ++late.opportunities;
    const Row until = wait.raise != noRow ? wait.raise : wait.end;
    auto at = std::ranges::upper_bound(interrupts, wait.due, {}, [&](const Interrupt& interrupt) {
      return material.time(interrupt.entry);
    });
    const s64 gap = material.ticksToNs(Limit::SoftstaleGap);
    Storm storm;
    u64 run = 0, longest = 0;
    Row first = noRow, before = noRow, runBegin = noRow;
    for (; at != interrupts.end() && at->exit <= until; ++at) {
      if (at->activated) continue;
      ++storm.interrupts;
      if (first == noRow) first = at->entry;
      if (!at->empty) continue;
      ++storm.empty;
      storm.inside += material.nsBetween(at->entry, at->exit).value_or(0);
      run =
          before != noRow && material.nsBetween(before, at->entry).value_or(0) <= gap ? run + 1 : 1;
      if (run == 1) runBegin = at->entry;
      longest = std::max(longest, run);
      before = at->entry;
    }
    if (storm.interrupts == 0) return;
    const ArmedSpan& span = material.tables.spans[wait.span];
    const Row from = material.rowBefore(cpu, wait.due);
    if (material.isBlind(cpu, from != noRow ? from : first, wait.end, blindKinds) ||
        span.has(ArmedSpan::Uncertain)) {
      ++late.dropped;
      return;
    }
    const u64 least = material.thresholds.count(Limit::SoftstaleRun);
    TraceTime due = wait.due;
    bool isStorm = longest >= least;
    if (wait.wallClock) {
      // Its clock may have been set on the way: only a storm up to the raise shows that it was due.
      isStorm = run >= least && material.nsBetween(before, until).value_or(0) <= gap;
      if (!isStorm) {
        late.dropped += wait.ran && (material.time(until) - due).value >= lateLimit_;
        return;
      }
      if (material.time(runBegin).value - due.value > gap) due = material.time(runBegin);
    }
    storm.late = (material.time(until) - due).value;
    if (!isStorm && (!wait.ran || storm.late < lateLimit_)) return;
    std::vector<Instance>& instances = (isStorm ? storms : late).instances;
    if (isStorm && !instances.empty() && instances.back().cpu == cpu &&
        instances.back().when.to >= wait.due) {
      return;  // another timer of the same storm
    }
    Instance& instance = instances.emplace_back();
    instance.when = {due, material.time(until)};
    instance.cpu = cpu;
    instance.magnitude = isStorm ? static_cast<s64>(storm.empty) : storm.late;
    instance.timer = span.timer;
    instance.evidence = {span.armed, first, wait.raise, wait.ran ? wait.end : noRow};
    instance.detail = static_cast<u32>(storms_.size());
    storms_.push_back(storm);
    const Trigger trigger = wait.wallClock ? Trigger::WallClock : Trigger::Unknown;
    const auto key = std::tuple(material.timerOf(span).function, cpu, trigger);
    const auto [place, isNew] = placeAt_.try_emplace(key, static_cast<u32>(places_.size()));
    if (isNew) places_.push_back({material.timerOf(span).function, cpu, trigger});
    instance.causeKey = place->second;
  }

  void describeStorms(const Material& material, const Place& place, const std::string& name,
                      const Cluster& cluster, Finding& finding) const {
    Storm sum;
    s64 longest = 0;
    Table table;
    table.title = "Storms";
    table.columns = {{"begin", "s"},
                     {"length", "us"},
                     {"timer interrupts", ""},
                     {"empty", ""},
                     {"share of the CPU", "%"}};
    for (const Instance& instance : cluster.instances) {
      const Storm& storm = storms_[instance.detail];
      sum.interrupts += storm.interrupts;
      sum.empty += storm.empty;
      sum.inside += storm.inside;
      sum.late += storm.late;
      longest = std::max(longest, storm.late);
      if (table.rows.size() >= 20) continue;
      table.rows.push_back({Figure{static_cast<double>(instance.when.from.value) / 1e9, 6},
                            Figure{static_cast<double>(storm.late) / 1e3, 1},
                            static_cast<s64>(storm.interrupts), static_cast<s64>(storm.empty),
                            Figure{100.0 * static_cast<double>(storm.inside) /
                                       static_cast<double>(std::max<s64>(1, storm.late)),
                                   1}});
    }
    finding.grade = Grade::S1;
    finding.what = "interrupts of a storm that expired nothing";
    finding.title
        .words("CPU{}: {} of {} timer interrupts in {} expired nothing while ", number(place.cpu),
               sum.empty, sum.interrupts, countWords(cluster.instances.size(), "storm", "storms"))
        .symbol(name)
        .words(" was due");
    finding.claim
        .words(
            "In {} CPU{} took {} timer interrupts, {} of which expired nothing and raised "
            "nothing, {} apart on average. Its first soft timer (",
            countWords(cluster.instances.size(), "interval", "intervals"), number(place.cpu),
            sum.interrupts, sum.empty,
            nsWords(sum.late / static_cast<s64>(std::max<u64>(1, sum.interrupts))))
        .symbol(name)
        .words(
            ") was due at the begin of each, HRTIMER_SOFTIRQ was raised at its end: the cached "
            "softirq_expires_next was stale by {} at most. These interrupts take {:.2g} % of "
            "the CPU while it lasts.",
            nsWords(longest),
            100.0 * static_cast<double>(sum.inside) /
                static_cast<double>(std::max<s64>(1, sum.late)));
    finding.predicted.words("the first interrupt behind the due time raises HRTIMER");
    finding.observed.words(
        "{} interrupts without it, raised {} late at most; in the whole "
        "recording {} of {} timer interrupts expired and raised nothing",
        sum.interrupts, nsWords(longest), empty_, interrupts_);
    finding.tables.push_back(std::move(table));
    (void)material;
  }

  void describeLate(const std::string& name, const Cluster& cluster, Finding& finding) const {
    const s64 most = finding.distribution.greatest().value_or(0);
    u64 far = 0, passed = 0;
    for (const Instance& instance : cluster.instances) {
      far += instance.magnitude >= farFactor * lateLimit_;
      passed += storms_[instance.detail].interrupts;
    }
    finding.grade = far >= farInstances ? Grade::S1 : Grade::S2;
    finding.what = "raised late by";
    finding.unit = "ns";
    finding.byClockMap = true;
    finding.title.symbol(name).words(": HRTIMER raised up to {} late, {}", nsWords(most),
                                     countWords(finding.count, "time", "times"));
    finding.claim.words("Soft hrtimers of ")
        .symbol(name)
        .words(
            " were due, {} came behind their due times, and none of them raised HRTIMER_SOFTIRQ; "
            "it "
            "was raised up to {} late, {}. The cached softirq_expires_next was stale.",
            countWords(passed, "timer interrupt", "timer interrupts"), nsWords(most),
            countWords(finding.count, "time", "times"));
    finding.predicted.words("the first interrupt behind the due time raises HRTIMER");
    finding.observed.words("{} without it", countWords(passed, "interrupt", "interrupts"));
  }

  static void counterEvidence(const Place& place, Finding& finding) {
    CounterEvidence busy{"K2", CounterEvidence::Result::Absent, {}};
    busy.note.words(
        "it is the raise that is late; how long the softirq waited then is not counted");
    finding.counterEvidence.push_back(std::move(busy));
    CounterEvidence step{"K7", CounterEvidence::Result::Absent, {}};
    if (place.trigger == Trigger::WallClock) {
      step.result = CounterEvidence::Result::Excluded;
      step.note.words(
          "due by its own clock's reading at its expiry; interrupts that expire nothing, one after "
          "the other up to the raise, do not come from a clock that is set");
    } else {
      step.note.words("its clock is not set");
    }
    finding.counterEvidence.push_back(std::move(step));
    CounterEvidence active{"K9", CounterEvidence::Result::Excluded, {}};
    active.note.words("timers that came due while HRTIMER was raised already are left out");
    finding.counterEvidence.push_back(std::move(active));
  }

  s64 lateLimit_ = 0;
  u64 interrupts_ = 0, empty_ = 0;
  std::map<std::tuple<Address, Cpu, Trigger>, u32> placeAt_;
  std::vector<Place> places_;
  std::vector<Storm> storms_;
};

}  // namespace

extern const DetectorInfo f05StaleSoftExpiry;
constinit const DetectorInfo f05StaleSoftExpiry{
    .id = "F05",
    .name = "stale-soft-expiry",
    .line = "softirq_expires_next is stale: interrupt storm, late soft timers",
    .needs = {Needs{Need::H, Need::Q, Need::I}, Needs{Need::H, Need::Q}},
    .record = "stall",
    .byTimeAlone = "",
    .make = makeDetector<StaleSoftExpiry>,
};

}  // namespace tickscope
