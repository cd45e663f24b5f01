// SPDX-License-Identifier: GPL-3.0-or-later
// F03: wheel timers that stay pending although their base was run past their bucket, or with nothing to run it.
#include <algorithm>
#include <map>

#include "core/findings/detector.h"
#include "core/findings/wheel_runs.h"
#include "core/model/recorded_field.h"
#include "core/model/wheel_model.h"

namespace tickscope {

namespace {

constexpr BlindSpotSet ofOwner =
    blindSpots({BlindSpotKind::LostEvents, BlindSpotKind::CpuOffline, BlindSpotKind::Filtered,
                BlindSpotKind::Suspended, BlindSpotKind::Identity, BlindSpotKind::StaleFlags,
                BlindSpotKind::CpuInferred});
/// Rows of any CPU may end a timer.
constexpr BlindSpotSet ofAll = blindSpots({BlindSpotKind::LostEvents});

/// Losses further apart are another finding.
constexpr s64 burstNs = 1'000'000'000;
/// A timer that runs after all was lost when it had to wait this long past the proof, or this many timeouts.
constexpr s64 rescuedNs = 1'000'000'000, rescuedTimeouts = 100;
/// b: as many timers, or runs past one of them, are more than one odd case.
constexpr u64 manyTimers = 2, manyRuns = 10;
constexpr u64 runsThatProve = 2;

struct Lost {
  SpanId span{};
  char kind = 0;
  Row proof =
      noRow;  // a: a later bucket of the base runs; b: the end of the second run; c: the idle entry
  Row end = noRow;                // up to which it is known to have been pending
  s64 overdue = 0;                // jiffies
  u64 runs = 0;                   // of its CPU, past its bucket
  u32 together = 0, expired = 0;  // of the same bucket: also lost, and run
  bool rescued = false;
};

class LostWheelTimer final : public Detector {
 public:
  std::vector<Judged> detect(const Material& material, std::vector<NotJudged>& notJudged) override {
    rules_ = wheelRulesOf(material.profile);
    const auto reject = [&](char kind, std::string_view why) {
      NotJudged item;
      item.kind = kind;
      item.why.words("{}", why);
      notJudged.push_back(std::move(item));
    };
    if (!material.profile.wheel.judged()) {
      reject(0, "whether this kernel's wheel has levels (4.8) is not known");
      return {};
    }
    if (!recordsCancels(material)) {
      reject(0, "timer_cancel is not recorded, so that pending and cancelled timers look alike");
      return {};
    }
    const bool runsRecorded = material.recorded.has(Need::Q);
    const bool idleRecorded = material.recorded.has(Need::C);
    ordered_ = material.buffer.clock.unit == ClockUnit::Nanoseconds;
    runs_ = WheelRuns(material, rules_.geometry);

    Judged a, b, c;
    a.kind = 'a';
    b.kind = 'b';
    c.kind = 'c';
    baseClkRecorded_ =
        recordsField<TimerExpireEntry>(material.events, placeOf<TimerExpireEntry>("baseclk"));
    if (baseClkRecorded_) {
      gatherBuckets(material);
    } else {
      byModel(material, a);
    }
    pending(material, runsRecorded, idleRecorded, a, b, c);
    company(material);
    for (Judged* judged : {&a, &b, &c}) {
      judged->judgedNs = material.judgedNs(ofOwner);
      toInstances(material, *judged);
    }
    std::vector<Judged> all{std::move(a)};
    if (runsRecorded) {
      all.push_back(std::move(b));
    } else {
      reject('b', "TIMER softirqs are not recorded");
    }
    if (idleRecorded && material.tickNs()) {
      if (material.tables.wheelBases == 3) {
        reject('c',
               "timers of the global bases are looked after by other CPUs; those of the others "
               "are judged");
      }
      all.push_back(std::move(c));
    } else {
      reject('c', "it is not recorded when CPUs were idle, or HZ is not known");
    }
    return all;
  }

  void describe(const Material& material, const Cluster& cluster, Finding& finding) const override;

 private:
  static bool recordsCancels(const Material& material) {
    const EventStore& store = material.events;
    for (u16 type = 0; type < store.types().size(); ++type) {
      if (store.types()[type].kind != kindOf<TimerCancel>) continue;
      for (u32 stream = 0; stream < store.streams().size(); ++stream) {
        if (store.count(type, stream)) return true;
      }
    }
    return false;
  }

  // --- a: a later bucket of the same base was run
  void gatherBuckets(const Material& material) {
    for (const SpanId id : material.tables.endOrder) {
      const ArmedSpan& span = material.span(id);
      if (span.end != SpanEnd::Expired || span.owner == noCpu ||
          material.events.kind(span.ended) != kindOf<TimerExpireEntry>) {
        continue;
      }
      const u64 clk =
          static_cast<u64>(material.events.as<TimerExpireEntry>(span.ended).baseclk.value);
      auto& base = bucketsRun_[{span.owner, span.base}];
      if (base.empty() || rules_.geometry.before(base.back().clk, clk)) {
        base.push_back({span.ended, clk});
      }
    }
  }

  /// The first row, while it was pending, at which its base runs a later bucket; noRow: none.
  [[nodiscard]] Row laterBucket(const ArmedSpan& span, Row end) const {
    const auto found = bucketsRun_.find({span.owner, span.base});
    if (found == bucketsRun_.end()) return noRow;
    const auto& base = found->second;
    const auto from = std::ranges::upper_bound(base, span.armed, {}, &BucketRun::row);
    const auto to = std::lower_bound(from, base.end(), end,
                                     [](const BucketRun& run, Row row) { return run.row < row; });
    const auto at = std::partition_point(from, to, [&](const BucketRun& run) {
      return !rules_.geometry.before(static_cast<u64>(span.second), run.clk);
    });
    return at == to ? noRow : at->row;
  }

  /// Without baseclk in the events: where the model's base clock passes the bucket.
  void byModel(const Material& material, Judged& judged) {
    struct Proof {
      Row at;
      TimerId timer;
    };
    std::vector<Proof> proofs;
    for (const Discrepancy& d : material.tables.discrepancies) {
      if (d.kind == DiscrepancyKind::Lost && d.timer &&
          material.timer(*d.timer).of == TimerClass::Wheel &&
          material.events.kind(d.at) == kindOf<TimerExpireEntry>) {
        proofs.push_back({d.at, *d.timer});
      }
    }
    if (proofs.empty()) return;
    std::map<TimerId, std::vector<Row>> rows;
    for (const Proof& proof : proofs) rows[proof.timer].push_back(proof.at);
    const auto& spans = material.tables.spans;
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const ArmedSpan& span = spans[i];
      const auto found = rows.find(span.timer);
      if (found == rows.end() || span.armed == noRow || !span.secondKnown) continue;
      for (const Row at : found->second) {
        if (at < span.armed || (span.ended != noRow && at >= span.ended)) continue;
        consider(material, SpanId{static_cast<u32>(i)}, 'a', at, judged);
        break;
      }
    }
  }

  // --- b: runs of its CPU that knew later jiffies; c: nothing that would run it
  void pending(const Material& material, bool runsRecorded, bool idleRecorded, Judged& a, Judged& b,
               Judged& c) {
    const WheelGeometry& g = rules_.geometry;
    const s64 grace = static_cast<s64>(material.thresholds[Limit::LostGrace]);
    std::vector<bool> known(material.tables.spans.size());
    for (const Lost& lost : lost_) known[number(lost.span)] = true;
    u64 served = 0;
    const auto& spans = material.tables.spans;
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const ArmedSpan& span = spans[i];
      if (span.armed == noRow || !span.secondKnown || span.owner == noCpu ||
          material.isHrtimer(span)) {
        continue;
      }
      const u64 bucket = static_cast<u64>(span.second);
      if (span.end == SpanEnd::Expired) {
        ++served;
        const auto event = material.events.as<TimerExpireEntry>(span.ended);
        if (g.distance(static_cast<u64>(event.now.value), bucket) <= grace) continue;
      } else if (span.end == SpanEnd::Unknown || span.end == SpanEnd::ReInitialised) {
        continue;
      } else {
        const auto now = runs_.printedBefore(endOf(material, span));
        if (!now || g.distance(*now, bucket) <= grace) continue;
      }
      const SpanId id{static_cast<u32>(i)};
      if (known[i] || span.has(ArmedSpan::Uncertain)) continue;
      if (baseClkRecorded_) {
        const Row later = laterBucket(span, endOf(material, span));
        if (later != noRow && consider(material, id, 'a', later, a)) continue;
      }
      if (runsRecorded && span.end != SpanEnd::Expired) {
        const Row second = runThatProves(material, span);
        if (second != noRow && consider(material, id, 'b', second, b)) continue;
      }
      if (idleRecorded) withoutWaker(material, id, c);
    }
    a.opportunities = b.opportunities = c.opportunities = served;
    for (const Lost& lost : lost_) {
      Judged& of = lost.kind == 'a' ? a : lost.kind == 'b' ? b : c;
      of.opportunities += span(material, lost).end != SpanEnd::Expired;
    }
  }

  static const ArmedSpan& span(const Material& material, const Lost& lost) {
    return material.span(lost.span);
  }

  static Row endOf(const Material& material, const ArmedSpan& span) {
    return span.ended != noRow ? span.ended : Row{material.events.size() - 1};
  }

  /// The end of the second run that began with jiffies past the bucket; noRow: there were fewer.
  [[nodiscard]] Row runThatProves(const Material& material, const ArmedSpan& span) const {
    u64 count = 0;
    Row proof = noRow;
    const Row end = endOf(material, span);
    runs_.forEach(span.owner, span.armed, end, [&](const WheelRuns::Run& run) {
      if (run.exit >= end || !passes(material, run, span)) return true;
      if (++count < runsThatProve) return true;
      proof = run.exit;
      return false;
    });
    return proof;
  }

  [[nodiscard]] bool passes(const Material& material, const WheelRuns::Run& run,
                            const ArmedSpan& span) const {
    if (!run.surely || !rules_.geometry.before(static_cast<u64>(span.second), *run.surely)) {
      return false;
    }
    // Another CPU may run the global base of one that is idle, which then leaves it alone.
    return material.tables.wheelBases != 3 || span.wheelBase() != WheelBaseKind::Global ||
           material.events.pid(run.exit) != Pid{0};
  }

  /// True when it is lost, or was dropped.
  bool consider(const Material& material, SpanId id, char kind, Row proof, Judged& judged) {
    const ArmedSpan& span = material.span(id);
    const WheelGeometry& g = rules_.geometry;
    const s64 grace = static_cast<s64>(material.thresholds[Limit::LostGrace]);
    if (span.end == SpanEnd::Unknown || span.end == SpanEnd::ReInitialised || span.owner == noCpu) {
      return false;
    }
    Lost lost;
    lost.span = id;
    lost.kind = kind;
    lost.proof = proof;
    lost.end = endOf(material, span);
    bool blind = material.filtered || span.has(ArmedSpan::Uncertain) ||
                 material.isBlind(span.owner, span.armed, proof, ofOwner) ||
                 (!ordered_ && material.events.cpu(lost.end) != span.owner);
    for (const CpuBrackets& cpu : material.brackets) {
      blind = blind || material.isBlind(cpu.cpu, span.armed, proof, ofAll);
    }
    if (!blind) {
      // What was lost later may be its end.
      for (const BlindSpot& spot : material.tables.blindSpots) {
        if (ofAll[number(spot.kind)] && spot.from > proof) lost.end = std::min(lost.end, spot.from);
      }
    }
    Known<u64> now = runs_.printedBefore(lost.end);
    if (span.end == SpanEnd::Restarted && lost.end == span.ended) {
      // The arm that follows prints jiffies of the same moment.
      const Row start = material.next(lost.end);
      if (start != noRow && material.events.kind(start) == kindOf<TimerStart>) {
        now = static_cast<u64>(material.events.as<TimerStart>(start).now.value);
      }
    }
    if (!now) return false;
    const u64 bucket = static_cast<u64>(span.second);
    lost.overdue = g.distance(*now, bucket);
    if (lost.overdue <= grace) return false;
    bool finished = runs_.empty();
    runs_.forEach(span.owner, span.armed, lost.end, [&](const WheelRuns::Run& run) {
      finished = finished || (run.exit >= proof && run.exit < lost.end);
      lost.runs += run.exit < lost.end && passes(material, run, span);
      return true;
    });
    if (kind != 'c' && !finished) return false;
    if (span.end == SpanEnd::Expired && lost.end == span.ended) {
      const auto armed = material.events.as<TimerStart>(span.armed);
      const s64 timeout = std::max<s64>(
          g.distance(static_cast<u64>(armed.expires.value), static_cast<u64>(armed.now.value)), 1);
      lost.rescued = true;
      const s64 waited = material.nsBetween(proof, span.ended).value_or(0);
      if (kind != 'c' && lost.overdue <= rescuedTimeouts * timeout && waited <= rescuedNs) {
        return false;
      }
    }
    if (blind) {
      ++judged.dropped;
      return true;
    }
    lost_.push_back(lost);
    return true;
  }

  /// The CPU slept over its bucket with the tick armed for later.
  void withoutWaker(const Material& material, SpanId id, Judged& judged) {
    const ArmedSpan& span = material.span(id);
    if (span.has(ArmedSpan::Deferrable) || span.wheelBase() == WheelBaseKind::Def) return;
    if (material.tables.wheelBases == 3 && span.wheelBase() == WheelBaseKind::Global) return;
    const auto due = material.dueMono(span);
    const auto when = material.dueTime(span);
    const CpuBrackets* const brackets = material.bracketsOf(span.owner);
    const auto tick = material.tickNs();
    if (!due || !when || !brackets || !tick) return;
    const s64 grace = material.ticksToNs(Limit::LostGrace);
    const Row before = material.rowBefore(span.owner, when->value);
    if (before == noRow) return;
    const Bracket* const idle = brackets->idleAt(before);
    if (!idle || !idle->whole()) return;
    const auto woken = material.mono(idle->exit);
    if (!woken || woken->value.value - due->value.value <= grace + woken->error.value) return;
    if (span.armed > idle->entry || (span.ended != noRow && span.ended < idle->exit)) return;
    bool ran = false;
    runs_.forEach(span.owner, idle->entry, idle->exit, [&](const WheelRuns::Run&) {
      ran = true;
      return false;
    });
    if (ran) return;
    const auto armedFor = runs_.tickArmedFor(span.owner, before);
    if (!armedFor || armedFor->value - due->value.value <= grace) return;
    consider(material, id, 'c', idle->entry, judged);
  }

  /// Others of the same bucket: all lost, or only some.
  void company(const Material& material) {
    if (lost_.empty()) return;
    std::map<std::tuple<Cpu, u8, s64>, std::vector<std::size_t>> buckets;
    for (std::size_t i = 0; i < lost_.size(); ++i) {
      const ArmedSpan& own = span(material, lost_[i]);
      buckets[{own.owner, own.base, own.second}].push_back(i);
    }
    for (const auto& [key, members] : buckets) {
      for (const std::size_t i : members) lost_[i].together = static_cast<u32>(members.size() - 1);
    }
    for (const SpanId id : material.tables.endOrder) {
      const ArmedSpan& other = material.span(id);
      if (other.end != SpanEnd::Expired || !other.secondKnown) continue;
      const auto found = buckets.find({other.owner, other.base, other.second});
      if (found == buckets.end() || material.isHrtimer(other)) continue;
      for (const std::size_t i : found->second) lost_[i].expired += lost_[i].span != id;
    }
  }

  void toInstances(const Material& material, Judged& judged) {
    std::vector<u32> order;
    for (u32 i = 0; i < lost_.size(); ++i) {
      if (lost_[i].kind == judged.kind) order.push_back(i);
    }
    std::ranges::sort(order, {}, [&](u32 i) { return std::pair(lost_[i].proof, lost_[i].span); });
    struct Burst {
      u64 number = 0;
      Row last = noRow;
    };
    std::map<u64, Burst> bursts;
    for (const u32 i : order) {
      const Lost& lost = lost_[i];
      const ArmedSpan& own = span(material, lost);
      const u64 base = u64{number(own.owner)} << 4U | own.base;
      Burst& burst = bursts[base];
      if (burst.last != noRow && material.nsBetween(burst.last, lost.proof).value_or(0) > burstNs) {
        ++burst.number;
      }
      burst.last = lost.proof;
      Instance& made = judged.instances.emplace_back();
      made.when = {material.time(own.armed), material.time(lost.end)};
      if (const auto due = material.dueTime(own); due && due->value > made.when.from) {
        made.when.from = due->value;
      }
      made.cpu = own.owner;
      made.causeKey = base << 24U | burst.number;
      made.magnitude = lost.overdue;
      made.evidence = {own.armed, lost.proof, lost.end, noRow};
      made.timer = own.timer;
      made.detail = i;
    }
  }

  WheelRules rules_;
  WheelRuns runs_;
  struct BucketRun {
    Row row;
    u64 clk;
  };
  std::map<std::pair<Cpu, u8>, std::vector<BucketRun>> bucketsRun_;  // of a base, ascending in both
  std::vector<Lost> lost_;
  bool ordered_ = true, baseClkRecorded_ = false;
};

std::string_view endText(const Lost& lost, SpanEnd end) {
  if (lost.rescued) return "run after all";
  switch (end) {
    case SpanEnd::Restarted:
      return "armed again";
    case SpanEnd::Cancelled:
      return "cancelled";
    case SpanEnd::Moved:
      return "moved by CPU hotplug";
    default:
      return "still pending";
  }
}

void LostWheelTimer::describe(const Material& material, const Cluster& cluster,
                              Finding& finding) const {
  const u32 cpu = number(cluster.instances.front().cpu);
  const s64 worst = finding.distribution.greatest().value_or(0);
  u64 runs = 0, together = 0, expired = 0;
  Table table;
  table.title = "Lost timers";
  table.columns = {{"timer", ""},
                   {"callback", ""},
                   {"armed by", ""},
                   {"armed at", "jiffies"},
                   {"bucket", "jiffies"},
                   {"overdue", "jiffies"},
                   {"runs past it", ""},
                   {"same bucket, lost", ""},
                   {"same bucket, run", ""},
                   {"then", ""}};
  for (const Instance& instance : cluster.instances) {
    const Lost& lost = lost_[instance.detail];
    const ArmedSpan& own = span(material, lost);
    runs = std::max(runs, lost.runs);
    together += lost.together > 0;
    expired += lost.expired > 0;
    if (table.rows.size() == 20) continue;
    Sentence timer, callback, owner;
    timer.address(material.timerOf(own).address);
    callback.symbol(material.callback(material.timerOf(own).function));
    if (const auto by = material.ownerOf(own)) {
      owner.task(by->comm);
      if (by->interrupted) owner.words(" (interrupted)");
    }
    Cell armedAt;
    if (material.events.kind(own.armed) == kindOf<TimerStart>) {
      armedAt = material.events.as<TimerStart>(own.armed).now.value;
    }
    table.rows.push_back({timer, callback, owner, armedAt, own.second, lost.overdue,
                          static_cast<s64>(lost.runs), s64{lost.together}, s64{lost.expired},
                          Sentence(std::string(endText(lost, own.end)))});
  }
  finding.what = "overdue by";
  finding.unit = "jiffies";
  finding.upstream = {"U03"};
  const char kind = cluster.kind;
  const Instance& first = cluster.instances.front();
  const Lost& one = lost_[first.detail];
  const ArmedSpan& own = span(material, one);
  const std::string name = material.callback(material.timerOf(own).function);
  const auto level = own.bucketIndex / 64U;
  finding.title.words("CPU{}: {} wheel timer{}", cpu, finding.count, finding.count > 1 ? "s" : "");
  finding.title.words(" (").symbol(name).words("{}) ", finding.callbacks.size() > 1 ? ", ..." : "");
  finding.claim.words("timer ").address(material.timerOf(own).address).words(" (").symbol(name);
  finding.claim.words("), armed");
  if (const auto by = material.ownerOf(own)) finding.claim.words(" by ").task(by->comm);
  if (material.events.kind(own.armed) == kindOf<TimerStart>) {
    finding.claim.words(" at jiffy {}", material.events.as<TimerStart>(own.armed).now.value);
  }
  finding.claim.words(" for bucket {} (level {}) on CPU{}, was still pending {} jiffies after it",
                      own.second, level, cpu, one.overdue);
  if (kind == 'a') {
    finding.grade = Grade::S1;
    finding.confidence = Confidence(baseClkRecorded_ ? Proof::A : Proof::B,
                                    baseClkRecorded_ ? "baseclk of a later bucket of the same base"
                                                     : "base clock of the model");
    finding.title.words(
        "pending after the base was run past the bucket, up to {} "
        "jiffies overdue",
        worst);
    finding.claim.words(", while that base had been run past that bucket");
    if (baseClkRecorded_ && material.events.kind(one.proof) == kindOf<TimerExpireEntry>) {
      finding.claim.words(" (baseclk {})",
                          material.events.as<TimerExpireEntry>(one.proof).baseclk.value);
    }
    finding.claim.words(".");
    finding.predicted.words("all timers of a bucket run before base->clk passes it");
    finding.observed.words("a timer of a later bucket of the same base ran first in {} cases",
                           finding.count);
  } else if (kind == 'b') {
    finding.grade = finding.count >= manyTimers || runs >= manyRuns ? Grade::S1 : Grade::S2;
    finding.confidence = Confidence(Proof::B, "TIMER softirqs finished after the bucket's jiffy");
    finding.title.words("pending after later TIMER softirqs, up to {} jiffies overdue", worst);
    finding.claim.words(
        ", while {} TIMER softirqs of that CPU had begun and finished with later "
        "jiffies.",
        one.runs);
    finding.predicted.words("a TIMER softirq runs every bucket up to jiffies");
    finding.observed.words("up to {} TIMER softirqs past the bucket", runs);
  } else {
    finding.grade = Grade::S1;
    finding.confidence = Confidence(Proof::B, "idle, with the tick armed for later");
    finding.title.words("waiting on an idle CPU whose tick was armed for later, up to {} jiffies",
                        worst);
    finding.claim.words(": the CPU was idle and its tick was armed for a later time.");
    finding.predicted.words(
        "an idle CPU arms its tick for the first bucket that is not deferrable");
    finding.observed.words("the tick was armed for later");
    if (material.tables.wheelBases == 3) finding.upstream.emplace_back("U25");
  }
  if (finding.count > 1) {
    finding.claim.words(" {} more of this base, up to {} jiffies overdue.", finding.count - 1,
                        worst);
  }
  if (together + expired > 0) {
    finding.claim.words(
        " Other timers of the same bucket were lost too in {} cases, and ran in {}.", together,
        expired);
  }
  finding.confidence.times(material.profile.wheel.confidence, "wheel of levels");
  if (rules_.kind == WheelKind::Levels) {
    finding.confidence.times(material.profile.wheelTrace.confidence, "bucket as recorded");
  }
  finding.disproof.words(
      "a timer_cancel of one of these timers between its arm and the run past "
      "its bucket");
  using enum CounterEvidence::Result;
  finding.counterEvidence = {
      {"K2", Absent,
       Sentence(kind == 'c' ? "the CPU was idle: no softirq was held up"
                            : "softirqs of the CPU ran and finished past the bucket's jiffy")},
      {"K3", Excluded, Sentence("timers with lost events between arm and proof are left out")},
      {"K6", Excluded, Sentence("timers of CPUs that were offline or suspended are left out")},
      {"K14", Excluded,
       Sentence("timers re-initialised without a cancel are left out; a silent change keeps the "
                "bucket")},
      {"K15", material.tables.wheelBases == 3 ? Excluded : Absent,
       Sentence(material.tables.wheelBases == 3
                    ? "the proof is by runs of the timer's own base, on whatever CPU"
                    : "each CPU runs its own bases before 6.9")}};
  finding.tables.push_back(std::move(table));
  for (const Instance& instance : finding.worst) {
    const Lost& lost = lost_[instance.detail];
    Sentence armed, proof, end;
    armed.words("armed for bucket {}", span(material, lost).second);
    finding.evidence.push_back({span(material, lost).armed, armed});
    proof.words("{}", kind == 'a'   ? "its base runs a later bucket"
                      : kind == 'b' ? "second TIMER softirq past its bucket ends"
                                    : "the CPU goes idle");
    finding.evidence.push_back({lost.proof, proof});
    end.words("{}, {} jiffies overdue", endText(lost, span(material, lost).end), lost.overdue);
    finding.evidence.push_back({lost.end, end});
  }
}

}  // namespace

extern const DetectorInfo f03LostWheelTimer;
constinit const DetectorInfo f03LostWheelTimer{
    .id = "F03",
    .name = "lost-wheel-timer",
    .line = "wheel timers that stay pending past their bucket",
    .needs = {Needs{Need::W}},
    .record = "stall",
    .byTimeAlone = "",
    .make = makeDetector<LostWheelTimer>,
};

}  // namespace tickscope
