// SPDX-License-Identifier: GPL-3.0-or-later
// F17: what running every timer past its softexpires on idle would save, as bounds.
#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "core/findings/detector.h"
#include "core/findings/f17_greedy_walk.h"
#include "core/findings/figure_text.h"
#include "core/findings/timer_series.h"

namespace tickscope {

namespace {

constexpr BlindSpotSet blindKinds =
    blindSpots({BlindSpotKind::LostEvents, BlindSpotKind::CpuOffline, BlindSpotKind::Suspended});
constexpr s32 firstNormalPriority = 100;
struct SlackClass {
  s64 most;
  std::string_view name;
};
constexpr std::array<SlackClass, 5> slackClasses{{{0, "none"},
                                                  {50'000, "at most 50 us"},
                                                  {1'000'000, "at most 1 ms"},
                                                  {10'000'000, "at most 10 ms"},
                                                  {std::numeric_limits<s64>::max(), "more"}}};

class WhatIfGreedy final : public Detector {
 public:
  std::vector<Judged> detect(const Material& material, std::vector<NotJudged>& notJudged) override {
    if (material.profile.highRes.judged() == false) {
      NotJudged item;
      item.why.words("in low resolution mode timers expire at ticks only");
      notJudged.push_back(std::move(item));
      return {};
    }
    const TimerUsers users(material);
    Judged judged{.judgedNs = material.judgedNs(blindKinds), .instances = {}};
    for (const CpuBrackets& cpu : material.brackets) collect(material, users, cpu, judged);
    std::vector<u32> order(interrupts_.size());
    for (u32 i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](u32 i) { return interrupts_[i].at; });
    std::vector<GreedyInterrupt> byTime;
    for (const u32 i : order) byTime.push_back(interrupts_[i]);
    const GreedyOutcome kept = greedyWalk(sleeps_, byTime, list_, Rearm::InPlace);
    const GreedyOutcome shifted = greedyWalk(sleeps_, byTime, list_, Rearm::Shifted);
    for (u32 i = 0; i < byTime.size(); ++i) {
      judged.opportunities += byTime[i].idle;
      atMost_ += shifted.vanished[i];
      if (!kept.vanished[i]) continue;
      const u32 place = order[i];
      Instance& instance = judged.instances.emplace_back();
      instance.when = {material.time(rows_[place].first), material.time(rows_[place].second)};
      instance.cpu = interrupts_[place].cpu;
      instance.evidence[0] = rows_[place].first;
      for (u32 s = 0; s < byTime[i].count; ++s) {
        const u32 sleep = list_[byTime[i].first + s];
        instance.magnitude = std::max(instance.magnitude, sleeps_[sleep].ran - kept.ran[sleep]);
        instance.evidence[1] = material.span(spans_[sleep]).armed;
        instance.evidence[2] = material.span(spans_[sleep]).ended;
        instance.timer = material.span(spans_[sleep]).timer;
      }
    }
    for (u32 s = 0; s < sleeps_.size(); ++s) {
      const auto in = classOf(material.span(spans_[s]));
      ++classes_[in].expiries;
      if (kept.ran[s] < sleeps_[s].ran) ++classes_[in].early;
    }
    longestBefore_ = kept.longestBefore;
    longestAfter_ = kept.longestAfter;
    mostBefore_ = kept.mostBefore;
    mostAfter_ = kept.mostAfter;
    earlyKept_ = kept.ranEarly;
    return only(std::move(judged));
  }

  void describe(const Material& /*material*/, const Cluster& /*cluster*/,
                Finding& finding) const override {
    finding.grade = Grade::S4;
    finding.confidence = Confidence(Proof::C, "a walk over recorded times");
    finding.what = "its timers would have run earlier by";
    finding.unit = "ns";
    const u64 most = std::max<u64>(atMost_, finding.count);
    const double seconds = static_cast<double>(finding.judgedNs) / 1e9;
    finding.title.words("{} to {} of {} timer interrupts of idle CPUs could have been spared",
                        finding.count, most, finding.opportunities);
    finding.claim.words(
        "On idle, {} of {} timer interrupts in {:.4g} s of CPU time, and as many wakes of idle, "
        "would vanish if timers past softexpires were run although an earlier-sorted timer is not "
        "yet due; {} if each timer that ran early were also armed again that much earlier. {} "
        "expiries would come early. The longest interrupt that hits idle goes from {} with {} to "
        "{} with {}.",
        finding.count, finding.opportunities, seconds, most, earlyKept_, nsWords(longestBefore_),
        countWords(mostBefore_, "timer", "timers"), nsWords(longestAfter_),
        countWords(mostAfter_, "timer", "timers"));
    if (before_ > 0) {
      finding.claim.words(" {} expiries of timers armed before the recording stay as they were.",
                          before_);
    }
    finding.predicted.words("{} interrupts, and {} with a greedy walk", finding.opportunities,
                            finding.opportunities - finding.count);
    finding.observed.words("{} interrupts on idle, the tick's included", finding.opportunities);
    finding.disproof.words(
        "a kernel that walks all hard timers on idle and takes as many interrupts under this load");
    finding.counterEvidence.push_back(
        {"K12", CounterEvidence::Result::Absent,
         Sentence("slack is what is used here; ticks, timers without slack and those of real-time "
                  "tasks stay where they were")});
    finding.advice.emplace_back(
        "each interrupt on idle would have to look at every hard timer instead of the first ones");
    Table table;
    table.title = "Expiries by slack";
    table.columns = {{"slack", ""}, {"expiries", ""}, {"would run early", ""}};
    for (std::size_t i = 0; i < slackClasses.size(); ++i) {
      table.rows.push_back({Sentence(std::string(slackClasses[i].name)),
                            static_cast<s64>(classes_[i].expiries),
                            static_cast<s64>(classes_[i].early)});
    }
    finding.tables.push_back(std::move(table));
    for (const Instance& instance : finding.worst) {
      finding.evidence.push_back({instance.evidence[0], Sentence("this interrupt would vanish")});
      if (instance.evidence[1] != noRow) {
        finding.evidence.push_back({instance.evidence[1], Sentence("armed with slack")});
      }
      Sentence early;
      early.words("could have run {} earlier", nsWords(instance.magnitude));
      finding.evidence.push_back({instance.evidence[2], std::move(early)});
    }
  }

 private:
  struct Class {
    u64 expiries = 0, early = 0;
  };

  static std::size_t classOf(const ArmedSpan& span) {
    const s64 slack = span.expires - span.second;
    return static_cast<std::size_t>(
        std::ranges::find_if(slackClasses, [&](const SlackClass& c) { return slack <= c.most; }) -
        slackClasses.begin());
  }

  void collect(const Material& material, const TimerUsers& users, const CpuBrackets& cpu,
               Judged& judged) {
    for (u32 at = 0; at < cpu.nested.size(); ++at) {
      const Bracket& bracket = cpu.nested[at];
      if (bracket.kind != BracketKind::TimerInterrupt || !bracket.whole()) continue;
      if (bracket.callbacks == 0) continue;
      const auto now = material.mono(bracket.entry);
      if (!now) continue;
      GreedyInterrupt interrupt;
      interrupt.cpu = cpu.cpu;
      interrupt.at = now->value.value;
      interrupt.ns = material.nsBetween(bracket.entry, bracket.exit).value_or(0);
      interrupt.idle = number(material.events.pid(bracket.entry)) == 0;
      interrupt.first = static_cast<u32>(list_.size());
      if (material.isBlind(cpu.cpu, bracket.entry, bracket.exit, blindKinds)) {
        ++judged.dropped;
        interrupt.fixed = true;
      }
      for (u32 i = at + 1; i < cpu.nested.size() && cpu.nested[i].entry < bracket.exit; ++i) {
        const Bracket& inner = cpu.nested[i];
        if (inner.kind != BracketKind::HrtimerCallback || inner.outer != at) continue;
        if (!addSleep(material, users, cpu.cpu, inner, interrupt.at)) interrupt.fixed = true;
      }
      interrupt.count = static_cast<u32>(list_.size()) - interrupt.first;
      interrupts_.push_back(interrupt);
      rows_.emplace_back(bracket.entry, bracket.exit);
    }
  }

  /// false: nothing that could have run at another time, or not known.
  bool addSleep(const Material& material, const TimerUsers& users, Cpu cpu, const Bracket& callback,
                s64 at) {
    if (!callback.hasSpan()) return false;
    const ArmedSpan& span = material.span(callback.span);
    if (material.isTick(span)) return false;
    if (span.armed == noRow || !span.expiryKnown || !span.secondKnown) {
      ++before_;
      return false;
    }
    const auto armed = material.mono(span.armed);
    const auto offset = material.clocks.offset(span.clockBase(), span.ended);
    if (!armed || !offset || isSoft(span.clockBase())) return false;
    if (hardOf(span.clockBase()) != ClockBase::Mono &&
        material.clockStep(span.clockBase(), span.armed, span.ended)) {
      return false;
    }
    GreedySleep sleep;
    sleep.cpu = cpu;
    sleep.armed = armed->value.value;
    sleep.soft = span.second - *offset;
    sleep.expires = span.expires - *offset;
    sleep.ran = at;
    sleep.runNs =
        callback.whole() ? material.nsBetween(callback.entry, callback.exit).value_or(0) : 0;
    const u32 user = users.userOf(callback.span);
    const bool realTime =
        !span.has(ArmedSpan::Restart) &&
        users.users()[user].owner == material.events.pid(span.armed) &&
        priorityAt(material, span.armed).value_or(firstNormalPriority) < firstNormalPriority;
    sleep.movable = span.expires > span.second && !realTime;
    const auto id = static_cast<u32>(sleeps_.size());
    u32& last =
        last_.try_emplace(std::pair(user, material.timerOf(span).address), GreedySleep::none)
            .first->second;
    if (last != GreedySleep::none && sleeps_[last].ran <= sleep.armed) sleep.before = last;
    last = id;
    sleeps_.push_back(sleep);
    spans_.push_back(callback.span);
    list_.push_back(id);
    return true;
  }

  std::vector<GreedySleep> sleeps_;
  std::vector<SpanId> spans_;  ///< by sleep
  std::vector<GreedyInterrupt> interrupts_;
  std::vector<std::pair<Row, Row>> rows_;  ///< by interrupt: entry and exit
  std::vector<u32> list_;
  std::map<std::pair<u32, Address>, u32> last_;
  std::array<Class, slackClasses.size()> classes_{};
  u64 atMost_ = 0, before_ = 0, earlyKept_ = 0, mostBefore_ = 0, mostAfter_ = 0;
  s64 longestBefore_ = 0, longestAfter_ = 0;
};

}  // namespace

extern const DetectorInfo f17WhatIfGreedy;
constinit const DetectorInfo f17WhatIfGreedy{
    .id = "F17",
    .name = "what-if-greedy",
    .line = "what a greedy soft-expiry walk on idle would save",
    .needs = {Needs{Need::H, Need::C}},
    .record = "idle-wakeups",
    .byTimeAlone = "",
    .make = makeDetector<WhatIfGreedy>,
};

}  // namespace tickscope
