// SPDX-License-Identifier: GPL-3.0-or-later
// F23: periods that are missed or drift, and slack that is large against the timeout.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/findings/detector.h"
#include "core/findings/figure_text.h"
#include "core/findings/timer_series.h"

namespace tickscope {

namespace {

constexpr BlindSpotSet blindKinds =
    blindSpots({BlindSpotKind::LostEvents, BlindSpotKind::Suspended});
/// Real-time and deadline tasks are below (MAX_RT_PRIO, sched/prio.h).
constexpr s32 firstNormalPriority = 100;
/// On a grid is a step within this of a multiple of the period (ns), or within a thousandth of the period.
constexpr s64 gridTolerance = 1'000;
/// So many steps of a series lie on it.
constexpr double gridShare = 0.9;
/// A series is S3 from this share of missed periods on.
constexpr double missedShare = 0.01;

class PeriodicQuality final : public Detector {
 public:
  std::vector<Judged> detect(const Material& material, std::vector<NotJudged>&) override {
    const TimerUsers users(material);
    users_ = users.users();
    Judged periods{.kind = 'a', .judgedNs = material.judgedNs(blindKinds), .instances = {}};
    for (const TimerSeries& series : users.series()) judgePeriod(material, users, series, periods);
    Judged slack{.kind = 'b', .judgedNs = periods.judgedNs, .instances = {}};
    judgeSlack(material, users, slack);
    std::vector<Judged> all;
    all.push_back(std::move(periods));
    all.push_back(std::move(slack));
    return all;
  }

  void describe(const Material& material, const Cluster& cluster, Finding& finding) const override {
    if (cluster.kind == 'a') {
      describePeriod(material, cluster, finding);
    } else {
      describeSlack(material, cluster, finding);
    }
  }

 private:
  /// A series that is a period.
  struct Series {
    u32 user = 0;
    Address timer{};
    Period period;
    s64 nominal =
        0;  ///< ns: the timeout asked for where it is armed relative to now, else the period
    bool relative = false;
    u64 steps = 0, missed = 0,
        behindLate = 0;  ///< missed: periods; behindLate: of them after a late expiry
    double drift = 0;    ///< ppm of the requested times against `nominal`
    s64 jitter = 0;      ///< p99 of |step - k * period|, ns
    bool realTime = false;
  };
  struct Slack {
    Histogram slack, timeout;
    u64 arms = 0, realTime = 0;
  };

  /// What was asked for from the moment of the arm on, on the timer's own clock, in ns.
  static Known<s64> timeoutOf(const Material& material, const ArmedSpan& span, s64 until) {
    if (span.armed == noRow) return {};
    if (!material.isHrtimer(span)) {
      const auto tick = material.tickNs();
      if (!tick || material.events.kind(span.armed) != kindOf<TimerStart>) return {};
      const auto event = material.events.as<TimerStart>(span.armed);
      return (event.expires - event.now).value * *tick;
    }
    const auto now = material.mono(span.armed);
    const auto offset = material.clocks.offset(span.clockBase(), span.armed);
    if (!now || !offset) return {};
    const s64 timeout = until - now->value.value - *offset;
    // A clock of coarse units does not tell it.
    if (10 * now->error.value > std::abs(timeout)) return {};
    return timeout;
  }

  static std::string ppmWords(double ppm) {
    return ppm < 1e4 ? fmt::format("{:.4g} ppm", ppm) : fmt::format("{:.4g} %", ppm / 1e4);
  }

  void judgePeriod(const Material& material, const TimerUsers& users, const TimerSeries& series,
                   Judged& judged) {
    const Address function = users.users()[series.user].function;
    // The tick stops when nothing needs it; what it misses is no fault.
    if (series.expired.size() < TimerUsers::leastExpiries || material.isTick(function)) return;
    const std::vector<s64> steps = stepsOf(material, series);
    const auto period = periodOf(steps);
    if (!period) return;
    // Only what keeps to a grid can miss a period of it; a task that sleeps again after its work has none.
    const s64 tolerance = std::max<s64>(gridTolerance, period->ns / 1000);
    const bool grid = isGrid(steps, period->ns, tolerance);
    Series made;
    made.user = series.user;
    made.timer = series.timer;
    made.period = *period;
    made.nominal = period->ns;
    if (!grid) nominalOf(material, series, made);
    const double p = static_cast<double>(made.period.ns);
    std::vector<Instance> missed, longer;
    Histogram deviation;
    s64 sum = 0, periods = 0;
    for (std::size_t i = 1; i < series.expired.size(); ++i) {
      const SpanId from = series.expired[i - 1], to = series.expired[i];
      const auto step = requestedStep(material, from, to);
      if (!step) {
        ++judged.dropped;
        continue;
      }
      const s64 k = std::max<s64>(1, std::llround(static_cast<double>(*step) / p));
      ++made.steps;
      sum += *step;
      periods += k;
      const s64 off = std::abs(*step - k * made.period.ns);
      deviation.add(off);
      const s64 over = *step - made.nominal;
      if (k < 2 && over <= 0) continue;
      const ArmedSpan& before = material.span(from);
      const ArmedSpan& after = material.span(to);
      Instance instance;
      instance.when = {material.time(before.ended), material.time(after.ended)};
      instance.cpu = material.events.cpu(after.ended);
      instance.causeKey = series.user;
      instance.magnitude = over;
      instance.evidence = {before.ended, after.armed, after.ended, noRow};
      instance.timer = after.timer;
      if (grid && off <= tolerance && k >= 2 &&
          k - 1 >= static_cast<s64>(material.thresholds.count(Limit::DriftMiss))) {
        made.missed += static_cast<u64>(k - 1);
        if (isLate(material, before, made.period.ns)) {
          made.behindLate += static_cast<u64>(k - 1);
        }
        missed.push_back(instance);
      } else if (over > 0) {
        longer.push_back(instance);
      }
    }
    if (made.steps + 1 < TimerUsers::leastExpiries) return;
    judged.opportunities += made.steps;
    made.drift = 1e6 * (static_cast<double>(sum) /
                            (static_cast<double>(periods) * static_cast<double>(made.nominal)) -
                        1);
    made.jitter = deviation.percentile(0.99).value_or(0);
    const Row arm = material.span(series.expired.back()).armed;
    made.realTime = arm != noRow && users.users()[series.user].owner == material.events.pid(arm) &&
                    priorityAt(material, arm).value_or(firstNormalPriority) < firstNormalPriority;
    const bool drifts = made.relative && made.drift > material.thresholds[Limit::DriftPpm];
    if (missed.empty() && !drifts) {
      series_.push_back(made);
      return;
    }
    if (!drifts) longer.clear();
    const auto detail = static_cast<u32>(series_.size());
    series_.push_back(made);
    for (auto* list : {&missed, &longer}) {
      for (Instance& instance : *list) {
        instance.detail = detail;
        judged.instances.push_back(instance);
      }
    }
  }

  static bool isGrid(const std::vector<s64>& steps, s64 period, s64 tolerance) {
    const auto on = std::ranges::count_if(steps, [&](s64 step) {
      const double k = std::round(static_cast<double>(step) / static_cast<double>(period));
      return std::abs(step - static_cast<s64>(k) * period) <= tolerance;
    });
    return static_cast<double>(on) >= gridShare * static_cast<double>(steps.size());
  }

  /// Armed relative to now where the timeout asked for varies less than half as much as the steps do.
  static void nominalOf(const Material& material, const TimerSeries& series, Series& made) {
    std::vector<s64> timeouts;
    for (const SpanId id : series.expired) {
      const ArmedSpan& span = material.span(id);
      // In jiffies, absolute and relative times look alike.
      if (span.has(ArmedSpan::Restart) || !material.isHrtimer(span)) continue;
      if (const auto timeout = timeoutOf(material, span, span.expires))
        timeouts.push_back(*timeout);
    }
    if (timeouts.size() < TimerUsers::leastExpiries ||
        2 * timeouts.size() < series.expired.size()) {
      return;
    }
    std::ranges::sort(timeouts);
    const std::size_t n = timeouts.size();
    const s64 range = timeouts[(3 * n) / 4] - timeouts[n / 4];
    const double steps = made.period.spread * static_cast<double>(made.period.ns);
    const bool narrow = range == 0 || 2 * static_cast<double>(range) < steps;
    const s64 middle = timeouts[n / 2];
    if (!narrow || middle <= 0 || middle >= made.period.ns) return;
    // What is longer by more is the time that the task works, not the way it sleeps.
    if (static_cast<double>(made.period.ns) >
        (1 + TimerUsers::widestSpread) * static_cast<double>(middle)) {
      return;
    }
    made.relative = true;
    made.nominal = middle;
  }

  /// It expired half a period or more behind its time: what follows is missed because of that.
  static bool isLate(const Material& material, const ArmedSpan& span, s64 period) {
    const auto due = material.dueMono(span);
    const auto at = material.mono(span.ended);
    return due && at && (at->value - due->value).value >= period / 2;
  }

  void judgeSlack(const Material& material, const TimerUsers& users, Judged& judged) {
    for (u32 i = 0; i < material.tables.spans.size(); ++i) {
      const ArmedSpan& span = material.tables.spans[i];
      if (!material.isHrtimer(span) || span.armed == noRow || !span.expiryKnown ||
          !span.secondKnown || span.has(ArmedSpan::Restart)) {
        continue;
      }
      const u32 user = users.userOf(SpanId{i});
      // Slack of what is armed in interrupts is the kernel's own choice.
      if (users.users()[user].owner != material.events.pid(span.armed)) continue;
      ++judged.opportunities;
      const s64 slack = span.expires - span.second;
      Slack& of = slack_[user];
      ++of.arms;
      if (slack <= 0) continue;
      const bool realTime =
          priorityAt(material, span.armed).value_or(firstNormalPriority) < firstNormalPriority;
      const auto timeout = timeoutOf(material, span, span.expires);
      const bool large = timeout && *timeout > 0 &&
                         static_cast<double>(slack) >=
                             material.thresholds[Limit::SlackShare] * static_cast<double>(*timeout);
      if (!large && !realTime) continue;
      of.slack.add(slack);
      if (timeout) of.timeout.add(*timeout);
      of.realTime += realTime;
      Instance& instance = judged.instances.emplace_back();
      instance.when = {material.time(span.armed),
                       material.time(span.ended != noRow ? span.ended : span.armed)};
      instance.cpu = material.events.cpu(span.armed);
      instance.causeKey = user;
      instance.magnitude = slack;
      instance.evidence[0] = span.armed;
      instance.evidence[1] = span.ended;
      instance.timer = span.timer;
      instance.detail = i;
    }
    // One short timeout among many says nothing of how its owner sleeps.
    std::erase_if(judged.instances, [&](const Instance& instance) {
      const Slack& of = slack_.at(static_cast<u32>(instance.causeKey));
      return of.realTime == 0 && 2 * of.slack.count() < of.arms;
    });
  }

  void describePeriod(const Material& material, const Cluster& cluster, Finding& finding) const {
    const TimerUser& user = users_[cluster.causeKey];
    const std::string name = material.callback(user.function);
    u64 steps = 0, missed = 0, behindLate = 0;
    bool realTime = false, relative = false;
    double drift = 0;
    Table table;
    table.title = "Periods";
    table.columns = {{"timer", ""},
                     {"period", "ns"},
                     {"expiries", ""},
                     {"missed", "periods"},
                     {"of them behind a late expiry", "periods"},
                     {"drift of the requested times", "ppm"},
                     {"jitter p99", "ns"}};
    const Series* first = nullptr;
    for (const Series& series : series_) {
      if (series.user != cluster.causeKey) continue;
      if (!first || series.steps > first->steps) first = &series;
      steps += series.steps;
      missed += series.missed;
      behindLate += series.behindLate;
      realTime |= series.realTime;
      if (series.relative && series.drift > drift) {
        relative = true;
        drift = series.drift;
      }
      Sentence timer;
      timer.address(series.timer);
      table.rows.push_back({timer, series.period.ns, static_cast<s64>(series.steps + 1),
                            static_cast<s64>(series.missed), static_cast<s64>(series.behindLate),
                            series.relative ? Cell(Figure{series.drift, 0}) : Cell(),
                            series.jitter});
    }
    relative = relative && drift > material.thresholds[Limit::DriftPpm];
    const u64 own = missed - behindLate;
    const bool many = static_cast<double>(own) >= missedShare * static_cast<double>(steps);
    finding.grade = own > 0 && (many || realTime) ? Grade::S3
                    : realTime && relative        ? Grade::S3
                                                  : Grade::S4;
    finding.confidence = Confidence(Proof::A, "requested times are fields of the trace");
    finding.what = "longer than the period by";
    finding.unit = "ns";
    finding.title.symbol(name).words(" armed ").append(ownerWords(material, user));
    finding.claim.symbol(name).words(" armed ").append(ownerWords(material, user));
    finding.claim.words(" has a period of {} (median of {} steps of the requested time)",
                        nsWords(first->period.ns), first->steps);
    if (missed > 0) {
      finding.title.words(": {} of {} periods missed", missed, steps + missed);
      finding.claim.words("; {} of {} periods were missed", missed, steps + missed);
      if (behindLate > 0) {
        finding.claim.words(", {} of them behind an expiry that was late by half a period or more",
                            behindLate);
      }
    }
    if (relative) {
      finding.title.words("{} period {} longer than the timeout", missed > 0 ? "," : ":",
                          ppmWords(drift));
      finding.claim.words(
          "; it is armed relative to now with a timeout of {}, and its period is {} longer",
          nsWords(first->nominal), ppmWords(drift));
    }
    finding.claim.words(".");
    if (realTime) finding.claim.words(" Its owner is a real-time task.");
    finding.predicted.words("requested times on a grid of {}", nsWords(first->nominal));
    finding.observed.words("{} steps, {} periods missed, p99 of the jitter {}", steps, missed,
                           nsWords(first->jitter));
    finding.disproof.words("an owner that asks for another period at the steps shown");
    finding.counterEvidence.push_back(
        {"K7",
         finding.dropped > 0 ? CounterEvidence::Result::Excluded : CounterEvidence::Result::Absent,
         Sentence("steps over a clock that was set, or over lost events, are left out")});
    finding.counterEvidence.push_back(
        {"K12", CounterEvidence::Result::Absent,
         Sentence("the timeout is taken with its slack, so that slack is no drift")});
    if (material.isTick(user.function)) finding.upstream = {"U45"};
    if (relative) {
      finding.advice.emplace_back(
          "absolute times (hrtimer_forward(), TIMER_ABSTIME) where the period matters");
    }
    for (const Instance& instance : finding.worst) {
      finding.evidence.push_back({instance.evidence[0], Sentence("expires")});
      if (instance.evidence[1] != noRow && instance.evidence[1] > instance.evidence[0]) {
        finding.evidence.push_back({instance.evidence[1], Sentence("armed again")});
      }
      Sentence next;
      next.words("next one, {} more than the period was asked for", nsWords(instance.magnitude));
      finding.evidence.push_back({instance.evidence[2], std::move(next)});
    }
    finding.tables.push_back(std::move(table));
  }

  void describeSlack(const Material& material, const Cluster& cluster, Finding& finding) const {
    const TimerUser& user = users_[cluster.causeKey];
    const std::string name = material.callback(user.function);
    const Slack& slack = slack_.at(static_cast<u32>(cluster.causeKey));
    finding.grade = slack.realTime > 0 ? Grade::S3 : Grade::S4;
    finding.confidence = Confidence(Proof::A, "expires and softexpires are fields of the trace");
    finding.what = "slack";
    finding.unit = "ns";
    const s64 middle = slack.slack.percentile(0.5).value_or(0);
    finding.title.symbol(name)
        .words(" armed ")
        .append(ownerWords(material, user))
        .words(": {} of {} timeouts with {} of slack", finding.count, slack.arms, nsWords(middle));
    finding.claim.symbol(name)
        .words(" armed ")
        .append(ownerWords(material, user))
        .words(" may expire {} (median) behind the time asked for in {} of {} arms",
               nsWords(middle), finding.count, slack.arms);
    if (const auto timeout = slack.timeout.percentile(0.5); timeout && *timeout > 0) {
      finding.claim.words(", {:.3g} % of a median timeout of {}",
                          100 * static_cast<double>(middle) / static_cast<double>(*timeout),
                          nsWords(*timeout));
    }
    finding.claim.words(".");
    if (slack.realTime > 0) {
      finding.claim.words(" {} of the arms are by a real-time task.", slack.realTime);
    }
    finding.predicted.words("{}", slack.realTime > 0
                                      ? "no slack for real-time tasks"
                                      : "slack below 20 % of the timeout, unless it was asked for");
    finding.observed.words("{} arms of {} with {} to {} of slack", finding.count, slack.arms,
                           nsWords(slack.slack.least().value_or(0)),
                           nsWords(slack.slack.greatest().value_or(0)));
    finding.disproof.words("softexpires equal to expires in the arms shown");
    finding.counterEvidence.push_back(
        {"K12", CounterEvidence::Result::Absent,
         Sentence(
             "slack is the finding itself; where a task chose it with prctl it is by design")});
    finding.counterEvidence.push_back({"K7", CounterEvidence::Result::Absent,
                                       Sentence("both times are of one event and one clock")});
    if (slack.realTime > 0) finding.upstream = {"U38", "U39"};
    Table table;
    table.title = "Slack";
    table.columns = {{"slack", ""}, {"arms", ""}};
    constexpr std::array<std::pair<s64, std::string_view>, 4> classes{
        {{50'000, "at most 50 us"},
         {1'000'000, "at most 1 ms"},
         {10'000'000, "at most 10 ms"},
         {std::numeric_limits<s64>::max(), "more"}}};
    std::array<s64, classes.size()> counts{};
    for (const Instance& instance : cluster.instances) {
      const auto in = std::ranges::find_if(
          classes, [&](const auto& c) { return instance.magnitude <= c.first; });
      ++counts[static_cast<std::size_t>(in - classes.begin())];
    }
    for (std::size_t i = 0; i < classes.size(); ++i) {
      table.rows.push_back({Sentence(std::string(classes[i].second)), counts[i]});
    }
    finding.tables.push_back(std::move(table));
    for (const Instance& instance : finding.worst) {
      Sentence remark;
      remark.words("expires is {} behind softexpires", nsWords(instance.magnitude));
      finding.evidence.push_back({instance.evidence[0], std::move(remark)});
    }
  }

  std::vector<TimerUser> users_;
  std::vector<Series> series_;
  std::map<u32, Slack> slack_;
};

}  // namespace

extern const DetectorInfo f23PeriodicQuality;
constinit const DetectorInfo f23PeriodicQuality{
    .id = "F23",
    .name = "periodic-quality",
    .line = "a: drift and missed periods; b: slack too large",
    .needs = {Needs{Need::H}, Needs{Need::W}},
    .record = "stall",
    .byTimeAlone = "a",
    .make = makeDetector<PeriodicQuality>,
};

}  // namespace tickscope
