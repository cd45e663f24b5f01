// SPDX-License-Identifier: GPL-3.0-or-later
// F15: timers on the wrong CPU: where they disturb, away from the task that waits, or left on an offline CPU.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/findings/detector.h"
#include "core/findings/expiry_batches.h"
#include "core/findings/f19_disturbances.h"
#include "core/findings/figure_text.h"

namespace tickscope {

namespace {

constexpr BlindSpotSet blindKinds =
    blindSpots({BlindSpotKind::LostEvents, BlindSpotKind::Suspended, BlindSpotKind::Filtered});
/// Bits of timer_start.flags since 4.8 (timer.h, TIMER_*).
constexpr u32 flagsCpu = 0x3ffff, flagsPinned = 1U << 20U;
/// A moved hrtimer is overdue for good when its new CPU has run other hrtimers so often since.
constexpr u64 interruptsPast = 2;

class WrongCpu final : public Detector {
 public:
  std::vector<Judged> detect(const Material& material, std::vector<NotJudged>& notJudged) override {
    isolated_ = isolatedCpus(material);
    Judged misplaced{.kind = 'a', .judgedNs = material.judgedNs(blindKinds), .instances = {}};
    Judged away{.kind = 'b', .judgedNs = misplaced.judgedNs, .instances = {}};
    Judged offline{.kind = 'c', .judgedNs = misplaced.judgedNs, .instances = {}};
    std::vector<Judged> all;
    if (material.recorded.has(Need::W)) {
      pinnedElsewhere(material, misplaced);
      deferredWaits(material, misplaced);
      all.push_back(std::move(misplaced));
    }
    if (material.recorded.has(Need::H) && material.recorded.has(Need::S)) {
      awayFromTask(material, away);
      all.push_back(std::move(away));
    }
    if (material.recorded.has(Need::U)) {
      leftOffline(material, offline);
      all.push_back(std::move(offline));
    } else {
      NotJudged item;
      item.kind = 'c';
      item.why.words("cpuhp:* not recorded");
      item.missing = {"cpuhp:*"};
      item.record = "stall";
      notJudged.push_back(std::move(item));
    }
    return all;
  }

  void describe(const Material& material, const Cluster& cluster, Finding& finding) const override {
    const Key& key = keys_[cluster.causeKey];
    const std::string name = material.callback(key.function);
    finding.unit = "ns";
    switch (key.of) {
      case Of::Pinned:
        describePinned(key, name, finding);
        break;
      case Of::Deferred:
        describeDeferred(key, name, finding);
        break;
      case Of::Away:
        describeAway(material, cluster, key, name, finding);
        break;
      case Of::WheelLeft:
      case Of::HrtimerLeft:
        describeLeft(cluster, key, name, finding);
        break;
    }
    for (const Instance& instance : finding.worst) {
      for (std::size_t i = 0; i < instance.evidence.size(); ++i) {
        if (instance.evidence[i] == noRow) continue;
        finding.evidence.push_back({instance.evidence[i], remark(key.of, i)});
      }
    }
    finding.counterEvidence.push_back(
        {"K6", CounterEvidence::Result::Absent,
         Sentence(cluster.kind == 'c' ? "the CPU is offline by the rows of hotplug themselves"
                                      : "no CPU was taken off in between")});
    finding.counterEvidence.push_back(
        {"K15", CounterEvidence::Result::Absent,
         Sentence(cluster.kind == 'c' ? "it did not expire on another CPU either"
                                      : "the CPU that ran it is that of the row")});
  }

 private:
  enum class Of : u8 { Pinned, Deferred, Away, WheelLeft, HrtimerLeft };
  struct Key {
    Of of{};
    Address function{};
    Cpu from{}, to{};
    bool operator<(const Key& other) const {
      return std::tie(of, function, from, to) <
             std::tie(other.of, other.function, other.from, other.to);
    }
  };

  u64 keyFor(const Key& key) {
    const auto [at, isNew] = keyAt_.try_emplace(key, keys_.size());
    if (isNew) keys_.push_back(key);
    return at->second;
  }

  [[nodiscard]] bool isIsolated(Cpu cpu) const {
    return std::ranges::binary_search(isolated_.cpus, cpu);
  }

  static Sentence remark(Of of, std::size_t place) {
    switch (place) {
      case 0:
        return Sentence("armed");
      case 1:
        return Sentence(of == Of::WheelLeft || of == Of::HrtimerLeft ? "ended" : "expires");
      case 2:
        return Sentence(of == Of::WheelLeft || of == Of::HrtimerLeft ? "timers leave the CPU"
                                                                     : "wakes its task");
      default:
        return Sentence("the task runs");
    }
  }

  /// Pinned to an isolated CPU by another one.
  void pinnedElsewhere(const Material& material, Judged& judged) {
    if (isolated_.cpus.empty() || material.profile.wheel.judged() != WheelKind::Levels) return;
    for (const ArmedSpan& span : material.tables.spans) {
      if (material.isHrtimer(span) || span.armed == noRow ||
          material.events.kind(span.armed) != kindOf<TimerStart>) {
        continue;
      }
      const auto event = material.events.as<TimerStart>(span.armed);
      const auto target = static_cast<Cpu>(event.flags & flagsCpu);
      if (!(event.flags & flagsPinned) || !isIsolated(target)) continue;
      ++judged.opportunities;
      const Cpu from = material.events.cpu(span.armed);
      if (from == target || span.end != SpanEnd::Expired ||
          material.events.cpu(span.ended) != target) {
        continue;
      }
      if (material.isBlind(target, span.armed, span.ended, blindKinds)) {
        ++judged.dropped;
        continue;
      }
      Instance& instance = judged.instances.emplace_back();
      instance.when = {material.time(span.armed), material.time(span.ended)};
      instance.cpu = target;
      instance.causeKey = keyFor({Of::Pinned, event.function, from, target});
      instance.magnitude = material.nsBetween(span.armed, span.ended).value_or(0);
      instance.evidence = {span.armed, span.ended, noRow, noRow};
      instance.timer = span.timer;
    }
  }

  /// Deferrable timers that idle held back although a task waited for them.
  void deferredWaits(const Material& material, Judged& judged) {
    const auto tick = material.tickNs();
    if (!tick) return;
    for (const CpuBrackets& cpu : material.brackets) {
      for (const Bracket& callback : cpu.nested) {
        if (callback.kind != BracketKind::WheelCallback || !callback.hasSpan()) continue;
        const ArmedSpan& span = material.span(callback.span);
        if (!span.has(ArmedSpan::Deferrable) || !span.secondKnown || !callback.whole()) continue;
        ++judged.opportunities;
        const auto event = material.events.as<TimerExpireEntry>(callback.entry);
        const s64 late = event.now.value - span.second;
        if (static_cast<double>(late) < material.thresholds[Limit::LateWheel]) continue;
        const Row wake = userWake(material, callback);
        const auto due = material.dueTime(span);
        if (wake == noRow || !due) continue;
        const Row before = material.rowBefore(cpu.cpu, due->value);
        if (before == noRow || !cpu.idleAt(before)) continue;
        if (material.isBlind(cpu.cpu, before, callback.entry, blindKinds)) {
          ++judged.dropped;
          continue;
        }
        Instance& instance = judged.instances.emplace_back();
        instance.when = {due->value, material.time(callback.entry)};
        instance.cpu = cpu.cpu;
        instance.causeKey = keyFor({Of::Deferred, event.function, cpu.cpu, cpu.cpu});
        instance.magnitude = late * *tick;
        instance.evidence = {span.armed, callback.entry, wake, noRow};
        instance.timer = span.timer;
      }
    }
  }

  /// The callback wakes a task that is none of the kernel's.
  static Row userWake(const Material& material, const Bracket& callback) {
    for (Row row = material.next(callback.entry); row != noRow && row < callback.exit;
         row = material.next(row)) {
      if (material.events.kind(row) != kindOf<SchedWaking>) continue;
      const auto event = material.events.as<SchedWaking>(row);
      if (!isKernelThread(material.events.text(event.task.comm))) return row;
    }
    return noRow;
  }

  /// Armed by a task on its CPU, run on another, and the task woken back there.
  void awayFromTask(const Material& material, Judged& judged) {
    const ExpiryBatches batches = expiryBatchesOf(material);
    for (const TimerWake& wake : batches.wakes) {
      const BatchCallback& callback = batches.callbacks[wake.callback];
      if (callback.tick || !callback.hasSpan()) continue;
      const ArmedSpan& span = material.span(callback.span);
      if (span.armed == noRow || span.has(ArmedSpan::Restart) || span.has(ArmedSpan::MovedHere)) {
        continue;
      }
      if (material.events.pid(span.armed) != wake.pid) continue;
      const Cpu home = material.events.cpu(span.armed);
      if (!isRealTime(wake.prio) && !isIsolated(home)) continue;
      ++judged.opportunities;
      const Cpu ran = material.events.cpu(callback.entry);
      if (ran == home || wake.target != home) continue;
      if (material.isBlind(ran, span.armed, callback.entry, blindKinds) ||
          material.isBlind(home, span.armed, callback.entry, blindKinds) ||
          material.hotplugOrSuspend(home, material.time(span.armed), material.time(wake.row))) {
        ++judged.dropped;
        continue;
      }
      const Row runs = runsOn(material, home, wake);
      Instance& instance = judged.instances.emplace_back();
      instance.when = {material.time(callback.entry),
                       material.time(runs != noRow ? runs : wake.row)};
      instance.cpu = ran;
      instance.causeKey = keyFor({Of::Away, callback.function, home, ran});
      instance.magnitude = runs != noRow ? material.nsBetween(callback.entry, runs).value_or(0) : 0;
      instance.evidence = {span.armed, callback.entry, wake.row, runs};
      instance.timer = span.timer;
      instance.detail = static_cast<u32>(number(wake.pid));
      if (isRealTime(wake.prio)) realTimeWakes_.insert(wake.row);
    }
  }

  /// Where the woken task gets that CPU; noRow: not within the next switches.
  static Row runsOn(const Material& material, Cpu cpu, const TimerWake& wake) {
    const CpuBrackets* const brackets = material.bracketsOf(cpu);
    if (!brackets) return noRow;
    auto task = std::ranges::lower_bound(brackets->tasks, wake.row, {}, &Bracket::entry);
    for (int i = 0; i < 4 && task != brackets->tasks.end(); ++i, ++task) {
      if (material.events.as<SchedSwitch>(task->entry).next.pid == wake.pid) return task->entry;
    }
    return noRow;
  }

  void leftOffline(const Material& material, Judged& judged) {
    const EventStore& events = material.events;
    if (events.empty()) return;
    const Row last{events.size() - 1};
    for (const BlindSpot& spot : material.tables.blindSpots) {
      if (spot.kind != BlindSpotKind::CpuOffline || !spot.cpu) continue;
      const Row back = std::min(spot.to, last);
      const Row moved = timersMoved(material, *spot.cpu, spot.from, back);
      for (u32 i = 0; i < material.tables.spans.size(); ++i) {
        const ArmedSpan& span = material.tables.spans[i];
        if (span.armed == noRow || span.armed > back) continue;
        if (material.isHrtimer(span)) {
          if (span.has(ArmedSpan::MovedHere) && span.armed == spot.from) {
            judgeMoved(material, span, i, *spot.cpu, last, judged);
          }
        } else if (span.owner == *spot.cpu && moved != noRow &&
                   (span.ended == noRow || span.ended > spot.from)) {
          judgeWheel(material, span, i, *spot.cpu, moved, back, judged);
        }
      }
    }
  }

  /// Behind timers_dead_cpu the wheel of that CPU is empty; noRow: not seen.
  static Row timersMoved(const Material& material, Cpu cpu, Row from, Row to) {
    Row entered = noRow;
    for (u32 r = number(from); r <= number(to); ++r) {
      const Row row{r};
      if (material.events.kind(row) == kindOf<CpuhpEnter>) {
        const auto event = material.events.as<CpuhpEnter>(row);
        if (event.cpu != number(cpu)) continue;
        if (entered != noRow) return row;
        if (material.text.symbol(event.fun).starts_with("timers_dead_cpu")) entered = row;
      } else if (entered != noRow && material.events.kind(row) == kindOf<CpuhpExit> &&
                 material.events.as<CpuhpExit>(row).cpu == number(cpu)) {
        return row;
      }
    }
    return noRow;
  }

  void judgeWheel(const Material& material, const ArmedSpan& span, u32 id, Cpu cpu, Row moved,
                  Row back, Judged& judged) {
    ++judged.opportunities;
    const s64 grace = material.ticksToNs(Limit::LostGrace);
    const Row ended = span.ended != noRow ? std::min(span.ended, back) : back;
    const auto stayed = material.nsBetween(moved, ended);
    if (!stayed || *stayed <= grace) return;
    if (material.filtered || blindAnywhere(material, span.armed, ended)) {
      ++judged.dropped;
      return;
    }
    // An end by expiry on another CPU is a move whose rows are not there.
    if (span.end == SpanEnd::Expired && span.ended <= back) return;
    const auto due = material.dueMono(span);
    const auto until = material.mono(ended);
    const s64 overdue = due && until ? (until->value - due->value).value : 0;
    add(material, span, id, {Of::WheelLeft, material.timerOf(span).function, cpu, cpu},
        std::max<s64>(0, overdue - grace), ended, moved, judged);
  }

  void judgeMoved(const Material& material, const ArmedSpan& span, u32 id, Cpu cpu, Row last,
                  Judged& judged) {
    ++judged.opportunities;
    const Row ended = span.ended != noRow ? span.ended : last;
    const auto due = material.dueMono(span);
    const auto until = material.mono(ended);
    const auto begin = material.mono(span.armed);
    if (!due || !until || !begin || span.has(ArmedSpan::Uncertain)) return;
    const s64 from = std::max(due->value.value, begin->value.value);
    const s64 overdue = until->value.value - from - material.ticksToNs(Limit::LostGrace);
    if (overdue <= 0) return;
    if (material.filtered || blindAnywhere(material, span.armed, ended)) {
      ++judged.dropped;
      return;
    }
    const CpuBrackets* const target = material.bracketsOf(span.owner);
    if (!target) return;
    u64 passed = 0;
    for (const Bracket& bracket : target->nested) {
      if (bracket.kind != BracketKind::TimerInterrupt || bracket.entry == noRow) continue;
      if (bracket.entry <= span.armed || bracket.entry >= ended || bracket.callbacks == 0) continue;
      const auto at = material.mono(bracket.entry);
      passed += at && at->value.value > from;
    }
    if (passed < interruptsPast) return;
    add(material, span, id, {Of::HrtimerLeft, material.timerOf(span).function, cpu, span.owner},
        overdue, ended, span.armed, judged);
  }

  static bool blindAnywhere(const Material& material, Row from, Row to) {
    return std::ranges::any_of(material.brackets, [&](const CpuBrackets& cpu) {
      return material.isBlind(cpu.cpu, from, to, blindKinds);
    });
  }

  void add(const Material& material, const ArmedSpan& span, u32 id, const Key& key, s64 overdue,
           Row ended, Row moved, Judged& judged) {
    Instance& instance = judged.instances.emplace_back();
    instance.when = {material.time(moved), material.time(ended)};
    instance.cpu = key.from;
    instance.causeKey = keyFor(key);
    instance.magnitude = overdue;
    instance.evidence = {span.armed, ended, moved == span.armed ? noRow : moved, noRow};
    instance.timer = span.timer;
    instance.detail = id;
  }

  static void describePinned(const Key& key, const std::string& name, Finding& finding) {
    finding.grade = Grade::S3;
    finding.confidence = Confidence(Proof::A, "the arm names its CPU and that it is pinned");
    finding.what = "armed for";
    finding.title.symbol(name).words(" on isolated CPU {}: armed there by CPU {} {}",
                                     number(key.to), number(key.from),
                                     countWords(finding.count, "time", "times"));
    finding.claim.words("{} of ", countWords(finding.count, "timer", "timers"))
        .symbol(name)
        .words(" were pinned to isolated CPU {} by CPU {} and expired there.", number(key.to),
               number(key.from));
    finding.predicted.words("no timers of other CPUs on an isolated one");
    finding.observed.words("{} pinned from CPU {}", finding.count, number(key.from));
    finding.disproof.words("work that has to be done on that very CPU");
    finding.advice.emplace_back("add_timer_on() only for CPUs that keep house");
  }

  static void describeDeferred(const Key& key, const std::string& name, Finding& finding) {
    finding.grade = Grade::S3;
    finding.confidence = Confidence(Proof::B, "bucket, idle and wake are in the trace");
    finding.what = "behind its bucket by";
    finding.title.symbol(name).words(" deferred by idle on CPU {} though a task waited, {}",
                                     number(key.to), countWords(finding.count, "time", "times"));
    finding.claim.words("Deferrable timer ")
        .symbol(name)
        .words(
            " expired up to {} behind its bucket because CPU {} was idle, and woke a task that "
            "waited for it, {}.",
            nsWords(finding.distribution.greatest().value_or(0)), number(key.to),
            countWords(finding.count, "time", "times"));
    finding.predicted.words("deferrable timers for work that nothing waits for");
    finding.observed.words("a task is woken in the callback");
    finding.disproof.words("a task that does not wait for this timer alone");
    finding.advice.emplace_back("a timer that is not deferrable");
  }

  void describeAway(const Material& material, const Cluster& cluster, const Key& key,
                    const std::string& name, Finding& finding) const {
    const bool realTime = std::ranges::any_of(cluster.instances, [&](const Instance& i) {
      return realTimeWakes_.contains(i.evidence[2]);
    });
    // Timers of isolated CPUs run on those that keep house, so that they do not interrupt: that is policy.
    finding.grade = realTime ? Grade::S3 : Grade::S4;
    finding.confidence = Confidence(Proof::A, "arm, expiry and wake are rows of the trace");
    finding.what = "from expiry to the task by";
    const auto pid = static_cast<Pid>(finding.first->detail);
    finding.title.symbol(name).words(" of CPU {} expires on CPU {} and wakes ", number(key.from),
                                     number(key.to));
    finding.title.task(material.text.comm(pid))
        .words(" back there, {}", countWords(finding.count, "time", "times"));
    finding.claim.symbol(name)
        .words(
            " was armed on CPU {} by a task that was woken there again, {}; it expired on CPU "
            "{}, so that each wake took an interrupt between CPUs: ",
            number(key.from), countWords(finding.count, "time", "times"), number(key.to))
        .words("{} at most from expiry to the task.",
               nsWords(finding.distribution.greatest().value_or(0)));
    if (!realTime) {
      finding.claim.words(" CPU {} is isolated: its timers run on other CPUs by policy.",
                          number(key.from));
    }
    finding.predicted.words("{} of {} such timers expire where they are armed",
                            finding.opportunities, finding.opportunities);
    finding.observed.words("{} expired on CPU {}", finding.count, number(key.to));
    finding.disproof.words("a task that was moved to CPU {} after the arm", number(key.from));
  }

  void describeLeft(const Cluster& cluster, const Key& key, const std::string& name,
                    Finding& finding) const {
    const bool overdue =
        std::ranges::any_of(cluster.instances, [](const Instance& i) { return i.magnitude > 0; });
    const bool wheel = key.of == Of::WheelLeft;
    finding.grade = overdue ? Grade::S1 : Grade::S2;
    finding.confidence = wheel ? Confidence(Proof::B, "moves of wheel timers have rows")
                               : Confidence(Proof::B, "its new CPU ran later hrtimers");
    finding.what = "overdue by more than the grace by";
    finding.title.words("{} ", countWords(finding.count, "timer", "timers"))
        .symbol(name)
        .words(" left behind on offline CPU {}", number(key.from));
    finding.claim.words("{} of ", countWords(finding.count, "timer", "timers")).symbol(name);
    if (wheel) {
      finding.claim.words(
          " stayed on the wheel of CPU {} after timers_dead_cpu had moved its "
          "timers",
          number(key.from));
    } else {
      finding.claim.words(
          " belonged to CPU {} when it went offline and expired on no CPU although "
          "CPU {} ran later hrtimers",
          number(key.from), number(key.to));
    }
    finding.claim.words("{}.", overdue ? ", past their due time" : "; they were not due yet");
    finding.predicted.words("armed again on another CPU within the grace");
    finding.observed.words("still armed; overdue by up to {}",
                           nsWords(finding.distribution.greatest().value_or(0)));
    finding.disproof.words("a row that cancels, arms or expires the timer in between");
    if (wheel) {
      finding.upstream = {"U04"};
    } else {
      finding.upstream = {"U13", "U14", "U15", "U17"};
    }
  }

  IsolatedCpus isolated_;
  std::set<Row> realTimeWakes_;  ///< wakes of real-time tasks away from the CPU that armed
  std::vector<Key> keys_;
  std::map<Key, u64> keyAt_;
};

}  // namespace

extern const DetectorInfo f15WrongCpu;
constinit const DetectorInfo f15WrongCpu{
    .id = "F15",
    .name = "wrong-cpu",
    .line = "a: misplaced; b: expires away from its task; c: on an offline CPU",
    .needs = {Needs{Need::W}, Needs{Need::H}},
    .record = "stall",
    .byTimeAlone = "",
    .make = makeDetector<WrongCpu>,
};

}  // namespace tickscope
