// SPDX-License-Identifier: GPL-3.0-or-later
// F18: what wheel timers asked for against the bucket they were assigned and the jiffy they ran at.
#include <algorithm>

#include "core/findings/detector.h"
#include "core/model/wheel_model.h"
#include "core/stats/latency_table.h"

namespace tickscope {

namespace {

constexpr BlindSpotSet relevant = blindSpots({BlindSpotKind::LostEvents});
/// One jiffy that takes two: the healthy form of the assigned ratio.
constexpr double healthyRatio = 2.0;

class RequestedVsAchieved final : public Detector {
 public:
  std::vector<Judged> detect(const Material& material,
                             std::vector<NotJudged>& /*notJudged*/) override {
    const WheelGeometry geometry = wheelRulesOf(material.profile).geometry;
    Judged judged;
    judged.judgedNs = material.judgedNs(relevant);
    for (const SpanId id : material.tables.endOrder) {
      const ArmedSpan& span = material.span(id);
      if (span.end != SpanEnd::Expired || span.armed == noRow || span.has(ArmedSpan::Deferrable) ||
          span.has(ArmedSpan::Uncertain) ||
          material.events.kind(span.armed) != kindOf<TimerStart> ||
          material.events.kind(span.ended) != kindOf<TimerExpireEntry>) {
        continue;
      }
      ++judged.opportunities;
      const auto expiry = material.events.as<TimerExpireEntry>(span.ended);
      const s64 late =
          geometry.distance(static_cast<u64>(expiry.now.value), static_cast<u64>(span.expires));
      if (late <= 0) continue;
      Instance& made = judged.instances.emplace_back();
      made.when = {material.time(span.armed), material.time(span.ended)};
      made.cpu = material.events.cpu(span.ended);
      made.magnitude = late;
      made.evidence = {span.armed, span.ended, noRow, noRow};
      made.timer = span.timer;
    }
    if (!judged.instances.empty()) {
      latency_ = latencyOf(material.events, material.tables, material.profile);
    }
    return only(std::move(judged));
  }

  void describe(const Material& material, const Cluster& /*cluster*/,
                Finding& finding) const override {
    const RatioStats& achieved = latency_.all.achieved;
    const RatioStats& assigned = latency_.all.assigned;
    finding.grade = Grade::S4;
    finding.confidence = Confidence(Proof::A, "jiffies as the events print them");
    finding.what = "ran behind the requested jiffy by";
    finding.unit = "jiffies";
    finding.title.words("{} wheel timers: achieved / requested at most {:.4g}", achieved.count(),
                        achieved.greatest().value_or(0));
    finding.claim.words(
        "{} wheel timers ran at {:.4g} times the jiffies they asked for on average, "
        "at most {:.4g} (standard deviation {:.3g}).",
        achieved.count(), achieved.mean().value_or(0), achieved.greatest().value_or(0),
        achieved.deviation().value_or(0));
    if (assigned.count() > 0) {
      finding.title.words(", assigned at most {:.4g}", assigned.greatest().value_or(0));
      finding.claim.words(
          " The wheel alone assigned {:.4g} on average, at most {:.4g} (standard "
          "deviation {:.3g}); what lies between was added when they ran.",
          assigned.mean().value_or(0), assigned.greatest().value_or(0),
          assigned.deviation().value_or(0));
    }
    finding.predicted.words("assigned at most {:.1f}: one jiffy takes two", healthyRatio);
    finding.observed.words("{:.4g}", assigned.greatest().value_or(achieved.greatest().value_or(0)));
    finding.disproof.words("an expiry of one of these timers at another jiffy");
    finding.counterEvidence.push_back(
        {"K12", CounterEvidence::Result::Excluded,
         Sentence("deferrable timers are left out; coarse levels are in the assigned ratio")});
    if (assigned.greatest().value_or(0) > healthyRatio) finding.upstream = {"U01"};
    const auto name = [&](Address function) { return material.callback(function); };
    finding.tables.push_back(latencyTable(latency_, Requested::Achieved, LatencyRows::All, name));
    if (assigned.count() > 0) {
      finding.tables.push_back(latencyTable(latency_, Requested::Assigned, LatencyRows::All, name));
      finding.tables.push_back(levelTable(latency_, material.tables.wheelBases));
    }
    for (const Instance& instance : finding.worst) {
      Sentence remark;
      remark.words("{} jiffies behind the request", instance.magnitude);
      finding.evidence.push_back({instance.evidence[0], Sentence("asked for")});
      finding.evidence.push_back({instance.evidence[1], remark});
    }
  }

 private:
  LatencyTable latency_;
};

}  // namespace

extern const DetectorInfo f18RequestedVsAchieved;
constinit const DetectorInfo f18RequestedVsAchieved{
    .id = "F18",
    .name = "requested-vs-achieved",
    .line = "what wheel timers asked for against what they got",
    .needs = {Needs{Need::W}},
    .record = "granularity",
    .byTimeAlone = "",
    .make = makeDetector<RequestedVsAchieved>,
};

}  // namespace tickscope
