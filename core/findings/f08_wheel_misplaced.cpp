// SPDX-License-Identifier: GPL-3.0-or-later
// F08: wheel timers in buckets that no admissible base clock gives, and bases that run before their time.
#include <algorithm>
#include <map>
#include <set>

#include "core/findings/detector.h"
#include "core/model/recorded_field.h"
#include "core/model/wheel_model.h"
#include "core/stats/latency_table.h"

namespace tickscope {

namespace {

constexpr BlindSpotSet relevant =
    blindSpots({BlindSpotKind::LostEvents, BlindSpotKind::CpuOffline, BlindSpotKind::Filtered,
                BlindSpotKind::StaleFlags, BlindSpotKind::CpuInferred});
constexpr u8 wheelLevels = 9;

/// What an arm shows against what it should.
struct Arm {
  SpanId span{};
  s64 timeout = 0, excess = 0;  // jiffies
  double ratio = 0;             // of the bucket's distance to the predicted one's
  u8 level = 0, expected = 0;
  Known<ClkLag> lag;
  bool remote = false;  // armed by another CPU than the base's
  bool byTime = false;  // no index: proven by the run of the base in between
  bool design = false;  // a deferrable base that the rule does not forward
};

/// Cause of a: whose base, which base, and who should have forwarded it.
u64 keyOf(Cpu owner, const ArmedSpan& span, const Arm& arm) {
  return u64{number(owner)} << 8U | u64{span.base} << 4U | u64{arm.remote} << 2U |
         u64{arm.design} << 1U | u64{arm.byTime};
}

std::string_view baseName(u8 base, u8 bases) {
  if (bases == 1) return "base";
  if (static_cast<WheelBaseKind>(base) == WheelBaseKind::Def) return "deferrable base";
  if (bases == 2) return "standard base";
  return static_cast<WheelBaseKind>(base) == WheelBaseKind::Global ? "global base" : "local base";
}

class WheelMisplaced final : public Detector {
 public:
  std::vector<Judged> detect(const Material& material, std::vector<NotJudged>& notJudged) override {
    rules_ = wheelRulesOf(material.profile);
    if (material.profile.wheel.judged() != WheelKind::Levels) {
      NotJudged item;
      item.why.words("whether this kernel has the wheel of levels (4.8) is not known");
      notJudged.push_back(std::move(item));
      return {};
    }
    std::vector<Judged> all;
    all.push_back(misplaced(material));
    all.push_back(early(material));
    return all;
  }

  void describe(const Material& material, const Cluster& cluster, Finding& finding) const override {
    if (cluster.kind == 'a') {
      describeMisplaced(material, cluster, finding);
    } else {
      describeEarly(material, cluster, finding);
    }
  }

 private:
  // --- a
  Judged misplaced(const Material& material) {
    Judged judged;
    judged.kind = 'a';
    judged.judgedNs = material.judgedNs(relevant);
    std::vector<Row> unexplained;
    for (const Discrepancy& d : material.tables.discrepancies) {
      if (d.kind == DiscrepancyKind::BucketNotExplained) unexplained.push_back(d.at);
    }
    const bool indexed =
        material.profile.wheelTrace.expected.value_or(WheelTrace::WT2) >= WheelTrace::WT2;
    // F2 forwards every base at each arm; the older rules leave some behind, which the model then allows.
    const bool free = rules_.forward != ForwardRule::F2;
    if (indexed) {
      judged.opportunities = material.tables.invariants[5].judged();
      if (!unexplained.empty() || free) fromIndex(material, unexplained, free, judged);
    } else {
      fromExpiries(material, judged);
    }
    return judged;
  }

  void fromIndex(const Material& material, const std::vector<Row>& unexplained, bool free,
                 Judged& judged) {
    auto next = unexplained.begin();
    const auto& spans = material.tables.spans;
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const ArmedSpan& span = spans[i];
      if (span.armed == noRow) continue;
      while (next != unexplained.end() && *next < span.armed) ++next;
      const bool contradicts = next != unexplained.end() && *next == span.armed;
      if (!contradicts) {
        if (!free) {
          if (next == unexplained.end()) break;
          continue;
        }
        if (material.isHrtimer(span)) continue;
      }
      if (span.owner == noCpu || !span.secondKnown ||
          material.events.kind(span.armed) != kindOf<TimerStart>) {
        continue;
      }
      Arm arm = armOf(material, span);
      arm.span = SpanId{static_cast<u32>(i)};
      if (!contradicts && !isExcess(material, arm)) continue;
      arm.design = free && span.has(ArmedSpan::Deferrable);
      add(material, span, arm, judged);
    }
  }

  /// Without an index: the timer ran later than its bucket although its base had been run in between.
  void fromExpiries(const Material& material, Judged& judged) {
    struct Ran {
      Row row;
      u64 now;
    };
    std::map<std::pair<Cpu, u8>, std::vector<Ran>> ran;
    const auto nowOf = [&](Row row) {
      return static_cast<u64>(material.events.as<TimerExpireEntry>(row).now.value);
    };
    for (const SpanId id : material.tables.endOrder) {
      const ArmedSpan& span = material.span(id);
      if (span.end != SpanEnd::Expired || material.isHrtimer(span)) continue;
      ran[{material.events.cpu(span.ended), span.base}].push_back({span.ended, nowOf(span.ended)});
    }
    for (std::size_t i = 0; i < material.tables.spans.size(); ++i) {
      const ArmedSpan& span = material.tables.spans[i];
      if (span.armed == noRow || span.end != SpanEnd::Expired || material.isHrtimer(span) ||
          material.events.kind(span.armed) != kindOf<TimerStart>) {
        continue;
      }
      ++judged.opportunities;
      const auto event = material.events.as<TimerStart>(span.armed);
      const WheelGeometry& g = rules_.geometry;
      const u64 now = static_cast<u64>(event.now.value),
                asked = static_cast<u64>(event.expires.value);
      const Bucket right = bucketFor(g, now, asked);
      const u64 achieved = nowOf(span.ended);
      Arm arm;
      arm.span = SpanId{static_cast<u32>(i)};
      arm.byTime = true;
      arm.expected = arm.level = right.level();
      arm.timeout = g.distance(asked, now);
      arm.excess = g.distance(achieved, right.expiry);
      arm.ratio = static_cast<double>(g.distance(achieved, now)) /
                  static_cast<double>(std::max<s64>(g.distance(right.expiry, now), 1));
      if (!isExcess(material, arm)) continue;
      const auto& base = ran[{material.events.cpu(span.ended), span.base}];
      const auto from = std::ranges::upper_bound(base, span.armed, {}, &Ran::row);
      const bool passed = std::any_of(from, base.end(), [&](const Ran& r) {
        return r.row < span.ended && !g.before(r.now, right.expiry) &&
               g.before(r.now + 1, achieved);
      });
      if (!passed) continue;
      arm.design = span.has(ArmedSpan::Deferrable);
      add(material, span, arm, judged);
    }
  }

  [[nodiscard]] Arm armOf(const Material& material, const ArmedSpan& span) const {
    const auto event = material.events.as<TimerStart>(span.armed);
    const WheelGeometry& g = rules_.geometry;
    const u64 now = static_cast<u64>(event.now.value),
              asked = static_cast<u64>(event.expires.value);
    const u64 bucket = static_cast<u64>(span.second);
    const Bucket right = bucketFor(g, now, asked);
    Arm arm;
    arm.level = static_cast<u8>(span.bucketIndex / 64U);
    arm.expected = right.level();
    arm.timeout = g.distance(asked, now);
    arm.excess = std::max<s64>(g.distance(bucket, right.expiry), 0);
    arm.ratio = static_cast<double>(g.distance(bucket, now)) /
                static_cast<double>(std::max<s64>(g.distance(right.expiry, now), 1));
    arm.lag = impliedLag(g, span.bucketIndex, asked, now);
    arm.remote = span.owner != material.events.cpu(span.armed);
    return arm;
  }

  static bool isExcess(const Material& material, const Arm& arm) {
    return static_cast<double>(arm.excess) >= material.thresholds[Limit::StaleExcess] &&
           arm.ratio >= material.thresholds[Limit::StaleRatio];
  }

  void add(const Material& material, const ArmedSpan& span, const Arm& arm, Judged& judged) {
    const Cpu owner = arm.byTime ? material.events.cpu(span.ended) : span.owner;
    if (material.filtered ||
        material.isBlind(material.events.cpu(span.armed), span.armed, span.armed, relevant) ||
        material.isBlind(owner, span.armed, span.armed, relevant)) {
      ++judged.dropped;
      return;
    }
    Instance& made = judged.instances.emplace_back();
    made.when = {material.time(span.armed),
                 material.time(span.ended != noRow ? span.ended : span.armed)};
    made.cpu = owner;
    made.causeKey = keyOf(owner, span, arm);
    made.magnitude = arm.excess;
    made.evidence[0] = span.armed;
    made.evidence[1] = span.ended;
    made.timer = span.timer;
    made.detail = static_cast<u32>(arms_.size());
    arms_.push_back(arm);
  }

  void describeMisplaced(const Material& material, const Cluster& cluster, Finding& finding) const {
    const Arm& first = arms_[cluster.instances.front().detail];
    const u8 bases = material.tables.wheelBases;
    const std::string_view base = baseName(material.span(first.span).base, bases);
    const u32 cpu = number(cluster.instances.front().cpu);
    u64 late = 0;
    s64 least = std::numeric_limits<s64>::max(), most = 0, worst = 0;
    double ratio = 0;
    u64 lagLeast = ~u64{0}, lagMost = 0;
    std::array<std::array<s64, wheelLevels>, wheelLevels> levels{};
    std::set<u8> used;
    for (const Instance& instance : cluster.instances) {
      const Arm& arm = arms_[instance.detail];
      late += isExcess(material, arm);
      least = std::min(least, arm.timeout);
      most = std::max(most, arm.timeout);
      worst = std::max(worst, arm.excess);
      ratio = std::max(ratio, arm.ratio);
      if (arm.lag) {
        lagLeast = std::min(lagLeast, arm.lag->least);
        lagMost = std::max(lagMost, arm.lag->least);
      }
      if (arm.expected < wheelLevels && arm.level < wheelLevels) ++levels[arm.expected][arm.level];
      used.insert(arm.level);
    }
    const auto rule = material.profile.forward.expected.value_or(ForwardRule::F2);
    const bool proven =
        !first.byTime && finding.count >= material.thresholds.count(Limit::MinInstances);
    const bool severe = ratio >= material.thresholds[Limit::StaleS1Ratio] ||
                        static_cast<double>(worst) >= material.thresholds[Limit::StaleS1Jiffies];
    finding.grade = first.design ? Grade::S4 : proven || severe ? Grade::S1 : Grade::S2;
    finding.confidence =
        Confidence(first.byTime ? Proof::C : Proof::B,
                   first.byTime ? "no bucket index is recorded" : "bucket index of timer_start");
    finding.confidence.times(material.profile.wheel.confidence, "wheel of levels");
    if (!first.byTime) {
      finding.confidence.times(std::max(material.profile.wheelTrace.confidence, 0.0),
                               "index as placed");
    }
    finding.what = "bucket behind the predicted one by";
    finding.unit = "jiffies";
    const std::string timeouts = least != most ? fmt::format("{} to {} jiffies", least, most)
                                 : least == 1  ? "1 jiffy"
                                               : fmt::format("{} jiffies", least);
    finding.title.words(
        "CPU{}: {} of {} wheel timers armed into buckets that its clock does not "
        "give, up to {} jiffies behind",
        cpu, finding.count, finding.opportunities, worst);
    finding.claim.words("{} timers with timeouts of {} were put into ", finding.count, timeouts);
    if (first.byTime) {
      finding.claim.words(
          "a bucket of CPU{}'s {} up to {} jiffies behind the predicted one: the "
          "base had been run past that jiffy while they stayed pending.",
          cpu, base, worst);
    } else {
      finding.claim.words("level{} {} of CPU{}'s {}", used.size() > 1 ? "s" : "",
                          fmt::join(used, " and "), cpu, base);
      if (lagMost > 0) {
        finding.claim.words(", which base->clk at least {} jiffies behind jiffies gives",
                            lagLeast == lagMost ? fmt::format("{}", lagMost)
                                                : fmt::format("{} to {}", lagLeast, lagMost));
      } else {
        finding.claim.words(", which no base->clk gives");
      }
      finding.claim.words(
          ". {} of them lie {} jiffies or more behind the predicted bucket, the "
          "worst {} jiffies.",
          late, material.thresholds.count(Limit::StaleExcess), worst);
    }
    if (first.design) {
      finding.claim.words(" Rule {} does not forward this base when a timer is armed.",
                          valueText(rule));
    }
    finding.predicted.words(
        "rule {}: base->clk is forwarded when a timer is armed ({}), so that "
        "the level follows from the timeout",
        valueText(rule),
        rule == ForwardRule::F2   ? "always, 5.9"
        : rule == ForwardRule::F1 ? "after idle, 4.13"
                                  : "only while the base is idle, 4.8");
    finding.observed.words("base->clk was not forwarded when {}",
                           first.remote
                               ? "another CPU armed the timer (add_timer_on, or a chosen target)"
                               : "the CPU itself armed the timer (mod_timer, add_timer)");
    if (const auto seen = material.profile.forward.observed; seen && *seen != rule) {
      finding.observed.words("; the kernel was seen to follow {}", valueText(*seen));
    }
    finding.disproof.words(
        "a base->clk within the admissible set (jiffies, jiffies + 1, or a due "
        "bucket that has not been run) that gives the recorded index");
    finding.counterEvidence.push_back(
        {"K12", CounterEvidence::Result::Excluded,
         Sentence("the level is compared with that of the same timeout; coarse levels, the extra "
                  "jiffy and the clamp at the end of the wheel are in the prediction")});
    finding.counterEvidence.push_back(
        {"K14", CounterEvidence::Result::Excluded,
         Sentence("only arms that were traced count; a timer that keeps its bucket makes no "
                  "timer_start")});
    finding.upstream = {"U01"};
    if (material.hotplugOrSuspend(cluster.instances.front().cpu, TraceTime{0},
                                  cluster.instances.front().when.from)) {
      finding.upstream.emplace_back("U04");
    }
    Table table;
    table.title = "Levels, predicted by actual";
    table.columns.push_back({"predicted", ""});
    for (const u8 level : used) table.columns.push_back({fmt::format("level {}", level), ""});
    for (u8 row = 0; row < wheelLevels; ++row) {
      if (std::ranges::all_of(levels[row], [](s64 n) { return n == 0; })) continue;
      std::vector<Cell> cells{Sentence(fmt::format("level {}", row))};
      for (const u8 level : used) cells.emplace_back(levels[row][level]);
      table.rows.push_back(std::move(cells));
    }
    finding.tables.push_back(std::move(table));
    finding.tables.push_back(
        latencyTable(latencyOf(material.events, material.tables, material.profile),
                     first.byTime ? Requested::Achieved : Requested::Assigned, LatencyRows::All,
                     [&](Address function) { return material.callback(function); }));
    for (const Instance& instance : finding.worst) {
      const Arm& arm = arms_[instance.detail];
      Sentence remark;
      remark.words("{} jiffies asked for, level {} instead of {}, bucket {} jiffies behind",
                   arm.timeout, arm.level, arm.expected, arm.excess);
      finding.evidence.push_back({instance.evidence[0], remark});
      if (instance.evidence[1] != noRow) finding.evidence.push_back({instance.evidence[1], {}});
    }
  }

  // --- b
  Judged early(const Material& material) {
    Judged judged;
    judged.kind = 'b';
    judged.opportunities = material.tables.invariants[1].judged();
    judged.judgedNs = material.judgedNs(relevant);
    const WheelGeometry& g = rules_.geometry;
    for (const Discrepancy& d : material.tables.discrepancies) {
      if ((d.kind != DiscrepancyKind::BeforeBucket && d.kind != DiscrepancyKind::BaseClk) ||
          !d.timer || material.timer(*d.timer).of != TimerClass::Wheel ||
          material.events.kind(d.at) != kindOf<TimerExpireEntry>) {
        continue;
      }
      const auto event = material.events.as<TimerExpireEntry>(d.at);
      s64 by = 0;
      if (d.kind == DiscrepancyKind::BeforeBucket) {
        by =
            d.model ? g.distance(static_cast<u64>(*d.model), static_cast<u64>(event.now.value)) : 1;
      } else if (g.before(static_cast<u64>(event.now.value),
                          static_cast<u64>(event.baseclk.value))) {
        by = g.distance(static_cast<u64>(event.baseclk.value), static_cast<u64>(event.now.value));
      } else if (d.model && d.trace && d.model != bucketOf(material, d.at)) {
        // Its base was at a later time before. One that is merely not at the time of the bucket does not run early.
        by = g.distance(static_cast<u64>(*d.model), static_cast<u64>(*d.trace));
      }
      if (by <= 0) continue;
      if (material.filtered || material.isBlind(d.cpu, d.at, d.at, relevant)) {
        ++judged.dropped;
        continue;
      }
      Instance& made = judged.instances.emplace_back();
      made.when = {material.time(d.at), material.time(d.at)};
      made.cpu = d.cpu;
      made.causeKey = number(d.cpu);
      made.magnitude = by;
      made.evidence[0] = d.at;
      made.timer = d.timer;
      made.detail = static_cast<u32>(d.kind);
    }
    // One expiry may contradict in two ways.
    const auto same =
        std::ranges::unique(judged.instances, {}, [](const Instance& i) { return i.evidence[0]; });
    judged.instances.erase(same.begin(), same.end());
    return judged;
  }

  static Known<s64> bucketOf(const Material& material, Row expiry) {
    const auto& order = material.tables.endOrder;
    const auto found = std::ranges::lower_bound(order, expiry, {},
                                                [&](SpanId id) { return material.span(id).ended; });
    if (found == order.end() || material.span(*found).ended != expiry) return {};
    const ArmedSpan& span = material.span(*found);
    return span.secondKnown ? Known<s64>(span.second) : Known<s64>{};
  }

  void describeEarly(const Material& material, const Cluster& cluster, Finding& finding) const {
    const u32 cpu = number(cluster.instances.front().cpu);
    const auto before =
        static_cast<u64>(std::ranges::count_if(cluster.instances, [](const Instance& instance) {
          return instance.detail == number(DiscrepancyKind::BeforeBucket);
        }));
    const s64 worst = finding.distribution.greatest().value_or(0);
    finding.grade = Grade::S1;
    finding.confidence = Confidence(Proof::B, "bucket known, base clock recorded");
    finding.confidence.times(material.profile.wheel.confidence, "wheel of levels");
    finding.what = "ahead of its bucket, or base clock back by";
    finding.unit = "jiffies";
    finding.title.words("CPU{}: {} of {} wheel timers ran before their bucket's time", cpu,
                        finding.count, finding.opportunities);
    finding.claim.words(
        "{} wheel timers ran on CPU{} against the time of their base, by up to {} "
        "jiffies: {} before the jiffy of their bucket, {} at a base clock that had "
        "moved back or was ahead of jiffies.",
        finding.count, cpu, worst, before, finding.count - before);
    finding.predicted.words(
        "a bucket is run at its own time: baseclk equals the bucket expiry and "
        "never moves back");
    finding.observed.words("up to {} jiffies before it", worst);
    finding.disproof.words(
        "a timer_start of the same timer between arm and expiry that the "
        "recording lacks");
    finding.counterEvidence.push_back(
        {"K12", CounterEvidence::Result::Absent,
         Sentence("the clamp at the end of the wheel is in the predicted bucket")});
    finding.counterEvidence.push_back(
        {"K14", CounterEvidence::Result::Excluded,
         Sentence("a silent change keeps the bucket; a reused address begins anew")});
    finding.upstream = {"U02", "U03"};
    for (const Instance& instance : finding.worst) {
      Sentence remark;
      remark.words("{} jiffies too early", instance.magnitude);
      finding.evidence.push_back({instance.evidence[0], remark});
    }
  }

  WheelRules rules_;
  std::vector<Arm> arms_;
};

}  // namespace

extern const DetectorInfo f08WheelMisplaced;
constinit const DetectorInfo f08WheelMisplaced{
    .id = "F08",
    .name = "wheel-misplaced",
    .line = "wheel timers in too coarse a bucket, or before their bucket's time",
    .needs = {Needs{Need::W}},
    .record = "granularity",
    .byTimeAlone = "",
    .make = makeDetector<WheelMisplaced>,
};

}  // namespace tickscope
