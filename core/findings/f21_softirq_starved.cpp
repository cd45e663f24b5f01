// SPDX-License-Identifier: GPL-3.0-or-later
// F21: a: softirqs that wait far too long from raise to entry; b: a run of TIMER that re-armed timers keep alive.
#include <algorithm>
#include <map>
#include <tuple>

#include "core/findings/detector.h"
#include "core/findings/f21_softirq_waits.h"
#include "core/findings/figure_text.h"
#include "core/model/kernel_numbers.h"

namespace tickscope {

namespace {

constexpr BlindSpotSet blindKinds =
    blindSpots({BlindSpotKind::LostEvents, BlindSpotKind::Suspended, BlindSpotKind::CpuOffline});

/// The same timer so often in one bucket's time keeps the softirq alive; a stock kernel runs it once (clk goes ahead
/// before the callbacks run, timer.c:__run_timers).
constexpr u64 loopExpiries = 3;

class SoftirqStarved final : public Detector {
 public:
  std::vector<Judged> detect(const Material& material, std::vector<NotJudged>& notJudged) override {
    // Where the machine is not slow as a whole, its longest waits are what is looked for.
    limit_ = material.scaled(
        Limit::StarveTicks, material.baseline.slow ? material.baseline.all.softWait : DelayRange{});
    severe_ = std::max(material.scaled(Limit::StarveS2Ticks), limit_);
    Judged waits, loops;
    waits.kind = 'a';
    loops.kind = 'b';
    waits.judgedNs = loops.judgedNs = material.judgedNs(blindKinds);
    for (u32 stream = 0; stream < material.brackets.size(); ++stream) {
      const CpuBrackets& cpu = material.brackets[stream];
      for (u32 at = 0; at < cpu.nested.size(); ++at) {
        const Bracket& bracket = cpu.nested[at];
        if (bracket.kind != BracketKind::Softirq || bracket.entry == noRow) continue;
        // Other vectors stand in the way of these two; on their own they are no matter of timers.
        const bool timers = bracket.vector == timerVector || bracket.vector == hrtimerVector;
        if (timers && bracket.raised != noRow) judgeWait(material, cpu, bracket, waits);
        if (bracket.vector == timerVector && bracket.callbacks > 0) {
          judgeLoop(material, cpu, at, loops);
        }
      }
    }
    std::vector<Judged> made;
    if (waits.opportunities > 0) {
      made.push_back(std::move(waits));
    } else {
      NotJudged item;
      item.kind = 'a';
      item.why.words("no raise of a softirq with its entry is recorded");
      item.missing = {"irq:softirq_raise"};
      notJudged.push_back(std::move(item));
    }
    if (hasBaseClk(material)) {
      made.push_back(std::move(loops));
    } else if (material.recorded.has(Need::W)) {
      NotJudged item;
      item.kind = 'b';
      item.why.words(
          "timer_expire_entry has no field baseclk: which bucket a run is in is not known");
      notJudged.push_back(std::move(item));
    }
    return made;
  }

  void describe(const Material& material, const Cluster& cluster, Finding& finding) const override {
    if (cluster.kind == 'b') {
      describeLoop(material, cluster, finding);
    } else {
      describeWait(material, cluster, finding);
    }
    evidence(material, finding);
  }

 private:
  struct Key {
    Cpu cpu{};
    u32 vector = 0;
    Blocker by{};
    u32 other = 0;  ///< vector in its way
    Pid task{};
    auto operator<=>(const Key&) const = default;
  };
  struct Loop {
    Address function{};
    u64 expiries = 0;
    s64 lengthNs = 0;
  };

  static bool hasBaseClk(const Material& material) {
    constexpr std::size_t baseclk = 3;  // its place in TimerExpireEntry::Fields
    return std::ranges::any_of(material.events.types(), [](const EventType& type) {
      return type.kind == kindOf<TimerExpireEntry> && type.recorded(baseclk);
    });
  }

  void judgeWait(const Material& material, const CpuBrackets& cpu, const Bracket& bracket,
                 Judged& judged) {
    const auto raised = material.nsBetween(bracket.raised, bracket.entry);
    if (!raised) return;
    ++judged.opportunities;
    const s64 error = errorOf(material, bracket.raised, bracket.entry);
    if (*raised < limit_ + error) return;
    // A run of the vector goes on: its callbacks delay the next, it does not starve.
    const Row begin = waitBegin(cpu, bracket);
    const auto ns = begin != noRow ? material.nsBetween(begin, bracket.entry) : Known<s64>{};
    if (!ns) {
      ++judged.dropped;
      return;
    }
    if (*ns < limit_ + error) {
      ++ownRuns_;
      return;
    }
    if (material.isBlind(cpu.cpu, begin, bracket.entry, blindKinds) ||
        material.hotplugOrSuspend(cpu.cpu, material.time(begin), material.time(bracket.entry))) {
      ++judged.dropped;
      return;
    }
    const SoftirqWait wait = softirqWaitOf(material, cpu, bracket, begin);
    if (wait.whole - wait.dead < limit_ || 2 * wait.dead > wait.whole) {
      ++judged.dropped;
      ++away_;
      return;
    }
    Key key;
    key.cpu = cpu.cpu;
    key.vector = bracket.vector;
    key.by = wait.by;
    key.other = wait.vector;
    key.task = wait.task;
    const auto [at, isNew] = keyAt_.try_emplace(key, keys_.size());
    if (isNew) keys_.push_back(key);
    Instance& made = judged.instances.emplace_back();
    made.when = {material.time(begin), material.time(bracket.entry)};
    made.cpu = cpu.cpu;
    made.causeKey = at->second;
    made.magnitude = wait.whole - wait.dead;
    made.evidence = {bracket.raised, wait.byRow == bracket.raised ? noRow : wait.byRow, wait.woken,
                     bracket.entry};
    made.detail = static_cast<u32>(waits_.size());
    waits_.push_back(wait);
  }

  /// Clocks of coarse units, or that are mapped, err.
  static s64 errorOf(const Material& material, Row from, Row to) {
    if (material.buffer.clock.unit == ClockUnit::Nanoseconds) return 0;
    const auto begin = material.mono(from), end = material.mono(to);
    return begin && end ? begin->error.value + end->error.value : 0;
  }

  void judgeLoop(const Material& material, const CpuBrackets& cpu, u32 at, Judged& judged) {
    ++judged.opportunities;
    const Bracket& run = cpu.nested[at];
    if (run.callbacks < loopExpiries) return;
    struct Seen {
      u64 count = 0;
      Row first = noRow, last = noRow;
      u32 bracket = 0;
    };
    std::map<std::pair<Address, s64>, Seen> seen;
    for (u32 i = at + 1, left = run.callbacks; i < cpu.nested.size() && left > 0; ++i) {
      const Bracket& inner = cpu.nested[i];
      if (inner.outer != at) continue;
      --left;
      if (inner.kind != BracketKind::WheelCallback || inner.entry == noRow) continue;
      const auto event = material.events.as<TimerExpireEntry>(inner.entry);
      Seen& one = seen[{event.timer, event.baseclk.value}];
      if (one.count++ == 0) one.first = inner.entry;
      one.last = inner.entry;
      one.bracket = i;
    }
    for (const auto& [timer, one] : seen) {
      if (one.count < loopExpiries) continue;
      if (material.isBlind(cpu.cpu, one.first, one.last, blindKinds)) {
        ++judged.dropped;
        continue;
      }
      const Bracket& last = cpu.nested[one.bracket];
      Instance& made = judged.instances.emplace_back();
      made.when = {material.time(one.first), material.time(one.last)};
      made.cpu = cpu.cpu;
      made.magnitude = static_cast<s64>(one.count);
      made.evidence = {run.entry, one.first, one.last, run.exit};
      made.detail = static_cast<u32>(loops_.size());
      if (last.hasSpan()) made.timer = material.span(last.span).timer;
      Loop loop;
      loop.function = material.events.as<TimerExpireEntry>(one.first).function;
      if (loop.function == Address{} && made.timer) {
        loop.function = material.timer(*made.timer).function;
      }
      loop.expiries = one.count;
      loop.lengthNs = material.nsBetween(one.first, one.last).value_or(0);
      made.causeKey = number(loop.function);
      loops_.push_back(loop);
    }
  }

  [[nodiscard]] Sentence blame(const Material& material, const Key& key,
                               const SoftirqWait& wait) const {
    Sentence made;
    switch (key.by) {
      case Blocker::Softirq:
        made.words("softirq {} ran", vectorName(key.other));
        break;
      case Blocker::Thread:
        made.words("its thread was to run it while ").task(material.text.comm(key.task));
        made.words("-").pid(key.task).words(" ran");
        if (wait.prio != 0) {
          made.words(" (prio {}{})", wait.prio, wait.prio < 100 ? ", real time" : "");
        }
        break;
      case Blocker::Task:
        made.task(material.text.comm(key.task)).words("-").pid(key.task).words(" ran");
        if (wait.softirqsOff)
          made.words(" with softirqs off");
        else if (wait.irqsOff)
          made.words(" with interrupts off");
        break;
      case Blocker::Interrupts:
        made.words("hard interrupts ran");
        break;
      case Blocker::Idle:
        made.words("the CPU was idle");
        break;
      case Blocker::Unknown:
        made.words("what ran is not recorded");
        break;
    }
    return made;
  }

  void describeWait(const Material& material, const Cluster& cluster, Finding& finding) const {
    const Key& key = keys_[cluster.causeKey];
    const Instance& worst = finding.worst.front();
    const SoftirqWait& wait = waits_[worst.detail];
    const s64 most = worst.magnitude;
    // Sections of other code are not the timers' fault, whatever they delay; nor is what interrupts take.
    const bool elsewhere = key.by == Blocker::Task || key.by == Blocker::Interrupts ||
                           key.by == Blocker::Idle || key.by == Blocker::Unknown;
    finding.grade = key.by == Blocker::Task ? Grade::S3
                    : elsewhere             ? Grade::S4
                    : most >= severe_       ? Grade::S2
                                            : Grade::S3;
    finding.confidence = Confidence(Proof::A, "the trace states raise and entry");
    finding.what = "raise to entry";
    finding.unit = "ns";
    finding.title.words(
        "{} on CPU{} waited up to {} from raise to entry, {}: ", vectorName(key.vector),
        number(key.cpu), nsWords(most), countWords(finding.count, "time", "times"));
    finding.title.append(blame(material, key, wait));
    finding.claim.words("{} on CPU{} waited {} from raise to entry; for {} of it ",
                        vectorName(key.vector), number(key.cpu), nsWords(wait.whole),
                        nsWords(wait.byNs));
    finding.claim.append(blame(material, key, wait));
    finding.claim.words(". {} of {} raises waited longer than {}.", finding.count,
                        finding.opportunities, nsWords(limit_));
    if (wait.dead > 0) {
      finding.claim.words(" {} without a sign that the CPU ran are not counted.",
                          nsWords(wait.dead));
    }
    finding.predicted.words("entry at most {} behind the raise", nsWords(limit_));
    finding.observed.words("{} longer than that, {} at most", finding.count, nsWords(most));
    finding.disproof.words("an entry of {} on CPU{} between the raise and the entry shown",
                           vectorName(key.vector), number(key.cpu));
    using enum CounterEvidence::Result;
    finding.counterEvidence.push_back(
        {"K1", Absent,
         Sentence(wait.irqsOff ? "interrupts were off in the task named: that is the cause"
                               : "the CPU took interrupts or logged rows with interrupts on")});
    finding.counterEvidence.push_back(
        {"K2", Absent,
         Sentence("other vectors and softirqs off are what is named, if they took most")});
    if (ownRuns_) {
      finding.counterEvidence.push_back(
          {"own run", Excluded,
           Sentence(fmt::format("{} within a run of the same vector left out: its callbacks took "
                                "the time",
                                countWords(ownRuns_, "raise", "raises")))});
    }
    finding.counterEvidence.push_back(
        {"K4", away_ ? Excluded : Absent,
         Sentence(away_ ? fmt::format("{} in which the CPU shows no sign of running left out",
                                      countWords(away_, "wait", "waits"))
                        : std::string("no wait is long only by time in which the CPU shows no sign "
                                      "of running"))});
    if (key.by == Blocker::Thread) {
      finding.upstream = {"U10", "U44"};
    } else if (key.vector == timerVector) {
      finding.upstream = {"U07"};
    }
  }

  void describeLoop(const Material& material, const Cluster& cluster, Finding& finding) const {
    const Loop& loop = loops_[finding.worst.front().detail];
    finding.grade = Grade::S1;
    finding.confidence = Confidence(Proof::A, "the trace states timer and baseclk of each expiry");
    finding.what = "expiries of one timer in one bucket's time";
    finding.unit = "";
    const std::string name = material.callback(loop.function);
    finding.title.symbol(name).words(" re-arms itself for now: {} expiries in one run of TIMER",
                                     loop.expiries);
    finding.claim.words("In one run of TIMER on CPU{} the timer of ",
                        number(finding.worst.front().cpu));
    finding.claim.symbol(name).words(
        " expired {} times with the same baseclk within {}: re-armed by its callback it keeps the "
        "softirq from leaving. {}.",
        loop.expiries, nsWords(loop.lengthNs),
        countWords(cluster.instances.size(), "run does so", "runs do so"));
    finding.predicted.words(
        "one expiry a timer and bucket: the base's clock goes ahead before its callbacks run");
    finding.observed.words("{} at most", loop.expiries);
    finding.disproof.words("different timers at that address, or a baseclk that moves on");
    using enum CounterEvidence::Result;
    finding.counterEvidence.push_back({"K1", Absent, Sentence("a count within one softirq")});
    finding.counterEvidence.push_back({"K2", Absent, Sentence("a count within one softirq")});
    finding.counterEvidence.push_back({"K4", Absent, Sentence("a count, no time")});
    finding.upstream = {"U43"};
  }

  void evidence(const Material& material, Finding& finding) const {
    for (const Instance& instance : finding.worst) {
      if (finding.kind == 'b') {
        finding.evidence.push_back({instance.evidence[0], Sentence("the run begins")});
        finding.evidence.push_back({instance.evidence[1], Sentence("expires first")});
        Sentence last;
        last.words("for the {}th time, same baseclk", instance.magnitude);
        finding.evidence.push_back({instance.evidence[2], std::move(last)});
        continue;
      }
      const SoftirqWait& wait = waits_[instance.detail];
      finding.evidence.push_back({instance.evidence[0], Sentence("raised")});
      if (instance.evidence[1] != noRow) {
        finding.evidence.push_back(
            {instance.evidence[1], blame(material, keys_[instance.causeKey], wait)});
      }
      if (instance.evidence[2] != noRow && instance.evidence[2] != instance.evidence[1]) {
        finding.evidence.push_back({instance.evidence[2], Sentence("its thread is woken")});
      }
      Sentence entry;
      entry.words("entered after {}", nsWords(wait.whole));
      finding.evidence.push_back({instance.evidence[3], std::move(entry)});
    }
  }

  s64 limit_ = 0, severe_ = 0;
  u64 away_ = 0, ownRuns_ = 0;
  std::map<Key, std::size_t> keyAt_;
  std::vector<Key> keys_;
  std::vector<SoftirqWait> waits_;
  std::vector<Loop> loops_;
};

}  // namespace

extern const DetectorInfo f21SoftirqStarved;
constinit const DetectorInfo f21SoftirqStarved{
    .id = "F21",
    .name = "softirq-starved",
    .line = "softirqs wait from raise to entry, or never leave",
    .needs = {Needs{Need::Q}},
    .record = "isolation",
    .byTimeAlone = "a",
    .make = makeDetector<SoftirqStarved>,
};

}  // namespace tickscope
