// SPDX-License-Identifier: GPL-3.0-or-later
// F09: long wheel timeouts are served late by up to an eighth, by design of the wheel since 4.8.
#include <algorithm>
#include <map>

#include "core/findings/detector.h"
#include "core/findings/figure_text.h"
#include "core/model/wheel_geometry.h"

namespace tickscope {

namespace {

/// Timeouts from here on lie in level 1 or above, where a bucket is longer than a jiffy (timer.c, LVL_SIZE).
constexpr u64 firstCoarse = 64;

class CoarseByDesign final : public Detector {
 public:
  std::vector<Judged> detect(const Material& material, std::vector<NotJudged>& notJudged) override {
    if (material.profile.wheel.judged() != WheelKind::Levels) {
      NotJudged item;
      item.why.words("whether this kernel has the wheel of levels (4.8) is not known");
      notJudged.push_back(std::move(item));
      return {};
    }
    Judged judged;
    judged.judgedNs = material.judgedNs({});
    for (std::size_t i = 0; i < material.tables.spans.size(); ++i) {
      const ArmedSpan& span = material.tables.spans[i];
      if (span.armed == noRow || material.isHrtimer(span) || !span.secondKnown) continue;
      if (material.events.kind(span.armed) != kindOf<TimerStart>) continue;
      const auto event = material.events.as<TimerStart>(span.armed);
      const s64 timeout = (event.expires - event.now).value;
      if (timeout < static_cast<s64>(firstCoarse)) continue;
      ++judged.opportunities;
      const s64 late = span.second - span.expires;
      // More than one granule is not the wheel's design; of a clamped timer the bucket is earlier than asked for.
      if (late <= 0 || late > granule(span)) continue;
      Instance& made = judged.instances.emplace_back();
      made.when = {material.time(span.armed),
                   material.time(span.ended != noRow ? span.ended : span.armed)};
      made.cpu = material.events.cpu(span.armed);
      made.causeKey = number(event.function);
      made.magnitude = late;
      made.evidence[0] = span.armed;
      made.evidence[1] = span.ended;
      made.timer = span.timer;
      made.detail = static_cast<u32>(i);
    }
    return only(std::move(judged));
  }

  void describe(const Material& material, const Cluster& cluster, Finding& finding) const override {
    const std::string name = material.callback(static_cast<Address>(cluster.causeKey));
    struct Level {
      u64 count = 0;
      s64 worst = 0;
      double worstShare = 0, shares = 0;
    };
    std::map<s64, Level> levels;  // by granule
    for (const Instance& instance : cluster.instances) {
      const ArmedSpan& span = material.span(SpanId{instance.detail});
      const auto event = material.events.as<TimerStart>(span.armed);
      Level& level = levels[granule(span)];
      const double share = static_cast<double>(instance.magnitude) /
                           static_cast<double>((event.expires - event.now).value);
      ++level.count;
      level.worst = std::max(level.worst, instance.magnitude);
      level.worstShare = std::max(level.worstShare, share);
      level.shares += share;
    }
    double worst = 0;
    Table table;
    table.title = "Granules";
    table.columns = {{"granule", "jiffies"},
                     {"arms", ""},
                     {"late at most", "jiffies"},
                     {"of the timeout at most", "%"},
                     {"of the timeout on average", "%"}};
    for (const auto& [jiffies, level] : levels) {
      worst = std::max(worst, level.worstShare);
      table.rows.push_back({jiffies, static_cast<s64>(level.count), level.worst,
                            Figure{100 * level.worstShare, 1},
                            Figure{100 * level.shares / static_cast<double>(level.count), 1}});
    }
    finding.grade = Grade::S4;
    finding.confidence = Confidence(Proof::A);
    finding.confidence.times(material.profile.wheel.confidence, "wheel of levels");
    finding.what = "bucket behind the requested jiffy by";
    finding.unit = "jiffies";
    finding.title.symbol(name).words(": {} in coarse buckets, late by up to {:.1f} %",
                                     countWords(finding.count, "long timeout", "long timeouts"),
                                     100 * worst);
    finding.claim.symbol(name).words(
        " asked for {} of 64 jiffies or more with a bucket behind the requested jiffy, by up to {} "
        "jiffies ({:.1f} % of the timeout). The wheel does that on purpose: "
        "a bucket of level n is 8^n jiffies long.",
        countWords(finding.count, "timeout", "timeouts"),
        finding.distribution.greatest().value_or(0), 100 * worst);
    finding.predicted.words("at most one granule of its level, 8/63 of the timeout");
    finding.observed.words("at most {} jiffies, {:.1f} % of the timeout",
                           finding.distribution.greatest().value_or(0), 100 * worst);
    finding.disproof.words("a bucket more than one granule behind the requested jiffy");
    finding.counterEvidence.push_back(
        {"K12", CounterEvidence::Result::Absent,
         Sentence(
             "coarse levels are the finding itself; what is late past its bucket is not counted")});
    finding.advice.emplace_back(
        "an hrtimer where precision matters, round_jiffies() where it does not");
    finding.tables.push_back(std::move(table));
    for (const Instance& instance : finding.worst) {
      finding.evidence.push_back({instance.evidence[0], Sentence("asked for")});
      if (instance.evidence[1] != noRow) finding.evidence.push_back({instance.evidence[1], {}});
    }
  }

 private:
  static s64 granule(const ArmedSpan& span) { return s64{1} << (3U * (span.bucketIndex / 64U)); }
};

}  // namespace

extern const DetectorInfo f09CoarseByDesign;
constinit const DetectorInfo f09CoarseByDesign{
    .id = "F09",
    .name = "coarse-by-design",
    .line = "long wheel timeouts are late by up to 1/8",
    .needs = {Needs{Need::W}},
    .record = "granularity",
    .byTimeAlone = "",
    .make = makeDetector<CoarseByDesign>,
};

}  // namespace tickscope
