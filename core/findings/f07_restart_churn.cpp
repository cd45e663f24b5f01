// SPDX-License-Identifier: GPL-3.0-or-later
// F07: timers that are armed again and again and hardly ever expire: timeouts, not timers.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "core/findings/detector.h"
#include "core/findings/figure_text.h"

namespace tickscope {

namespace {

constexpr BlindSpotSet blindKinds =
    blindSpots({BlindSpotKind::LostEvents, BlindSpotKind::Filtered, BlindSpotKind::CpuOffline});
/// Rates are those of busy seconds: an owner that rests now and then does not look better for it.
constexpr s64 windowNs = 1'000'000'000;
/// A burst that is shorter counts as one of this length.
constexpr s64 leastSpanNs = 100'000'000;
/// From this share of a CPU on the programming calls are a cost.
constexpr double costlyShare = 0.001;

/// Who arms a timer decides what its restarts mean.
enum class Use : u8 { Own, Sleep, Scheduler };

Use useOf(std::string_view callback) {
  constexpr std::array<std::string_view, 2> sleeps{"hrtimer_wakeup", "process_timeout"};
  constexpr std::array<std::string_view, 4> scheduler{
      "hrtick", "sched_cfs_period_timer", "sched_cfs_slack_timer", "sched_rt_period_timer"};
  if (std::ranges::find(sleeps, callback) != sleeps.end()) return Use::Sleep;
  if (std::ranges::find(scheduler, callback) != scheduler.end()) return Use::Scheduler;
  return Use::Own;
}

class RestartChurn final : public Detector {
 public:
  std::vector<Judged> detect(const Material& material, std::vector<NotJudged>& notJudged) override {
    if (material.buffer.clock.unit != ClockUnit::Nanoseconds) {
      NotJudged item;
      item.why.words("rates need a trace clock that counts ns");
      notJudged.push_back(std::move(item));
      return {};
    }
    Judged judged;
    judged.judgedNs = material.judgedNs(blindKinds);
    collect(material, judged);
    for (u32 g = 0; g < groups_.size(); ++g) {
      if (isChurn(material, groups_[g])) addInstances(material, g, judged);
    }
    countCalls(material);
    return only(std::move(judged));
  }

  void describe(const Material& material, const Cluster& cluster, Finding& finding) const override {
    const Group& group = groups_[cluster.causeKey];
    const std::string name = material.callback(group.function);
    const Use use = useOf(name);
    const double expired =
        100.0 * static_cast<double>(group.expiries) / static_cast<double>(group.arms);
    const double share = costShare(material, group, finding.cpus);
    finding.what = "left of the timeout when it was taken back";
    finding.unit = "ns";
    finding.confidence = Confidence(Proof::A, "arms and expiries counted");
    finding.grade = Grade::S4;
    if (group.hrtimer && use == Use::Own && (share >= costlyShare || group.doubles > 0)) {
      finding.grade = Grade::S3;
    }
    const std::string_view what = group.hrtimer ? "hrtimers" : "wheel timers";
    finding.title.symbol(name).words(" on {}: {:.4g} arms/s by ", cpuWords(finding.cpus),
                                     group.rate);
    sayOwner(group, finding.title);
    finding.title.words(", {:.2g} % expire", expired);
    finding.claim.words("{} of ", what)
        .symbol(name)
        .words(" on {} were armed {} ({:.4g}/s) by ", cpuWords(finding.cpus),
               countWords(group.arms, "time", "times"), group.rate);
    sayOwner(group, finding.claim);
    finding.claim.words(
        "; {} of these arms ({:.2g} %) expired. The timeout is {} and they were armed again each "
        "{} (medians): a timeout, not a timer.",
        group.expiries, expired, nsWords(group.timeouts.percentile(0.5).value_or(0)),
        nsWords(group.gaps.percentile(0.5).value_or(0)));
    if (use == Use::Sleep) {
      finding.claim.words(
          " It serves sleeps with a timeout, which end early when what they wait for comes: use of "
          "the interface, by design.");
    } else if (use == Use::Scheduler) {
      finding.claim.words(" The scheduler arms it at its own switches: by its design.");
    }
    finding.predicted.words("left armed while its expiry only moves later it would take {} arms",
                            group.lazy.arms);
    finding.observed.words("{} arms; {} ended by a restart, {} by a cancel, {} by expiry",
                           group.arms, group.restarts, group.cancels, group.expiries);
    if (material.recorded.has(Need::P) && group.hrtimer) {
      finding.observed.words("; {} programming calls", group.calls);
    }
    finding.disproof.words("expiries of these timers that were not recorded");
    CounterEvidence reuse{"K14", CounterEvidence::Result::Excluded, {}};
    reuse.note.words("counted by callback and owner: addresses that are reused do not matter");
    finding.counterEvidence.push_back(std::move(reuse));
    finding.tables.push_back(policies(material, group));
    for (const Instance& instance : finding.worst) {
      finding.evidence.push_back({instance.evidence[0], Sentence("armed")});
      finding.evidence.push_back({instance.evidence[1], Sentence("and taken back")});
    }
    if (group.hrtimer && use == Use::Own) {
      finding.advice.emplace_back("a timer_list timer where a tick more or less does not matter");
      finding.advice.emplace_back(
          "no restart when the expiry only moves later: arm it for the rest when it expires");
      finding.advice.emplace_back("one timeout for a batch");
    }
  }

 private:
  struct Policy {
    u64 arms = 0, expiries = 0;
  };
  struct Group {
    Address function{};
    std::string comm;
    bool hrtimer = false, interrupted = false;
    std::vector<u32> spans;  ///< by row of their arm
    // Of busy seconds:
    std::vector<u32> busy;
    double rate = 0;
    u64 arms = 0, restarts = 0, cancels = 0, expiries = 0;
    u64 calls = 0, doubles = 0;
    Policy lazy, list;
    Histogram timeouts;  ///< ns
    Histogram gaps;      ///< ns from one arm of a timer to its next
  };
  /// What a request asked for, in ns on the timer's own clock or in jiffies.
  struct Request {
    s64 now, expires;
  };

  void collect(const Material& material, Judged& judged) {
    const EventStore& events = material.events;
    for (u32 i = 0; i < material.tables.spans.size(); ++i) {
      const ArmedSpan& span = material.tables.spans[i];
      if (span.armed == noRow || span.has(ArmedSpan::Restart) || span.has(ArmedSpan::MovedHere)) {
        continue;
      }
      const EventKind kind = events.kind(span.armed);
      const bool hrtimer = kind == kindOf<HrtimerStart>;
      if (!hrtimer && kind != kindOf<TimerStart>) continue;
      const Address function = hrtimer ? events.as<HrtimerStart>(span.armed).function
                                       : events.as<TimerStart>(span.armed).function;
      if (hrtimer && material.isTick(function)) continue;
      ++judged.opportunities;
      const Owner owner = material.taskOf(span.armed);
      const auto [at, isNew] =
          groupAt_.try_emplace(keyOf(function, owner), static_cast<u32>(groups_.size()));
      if (isNew) {
        Group& made = groups_.emplace_back();
        made.function = function;
        made.comm = owner.interrupted ? std::string() : owner.comm;
        made.hrtimer = hrtimer;
        made.interrupted = owner.interrupted;
      }
      groups_[at->second].spans.push_back(i);
    }
  }

  static std::tuple<Address, std::string> keyOf(Address function, const Owner& owner) {
    return {function, owner.interrupted ? std::string() : owner.comm};
  }

  bool isChurn(const Material& material, Group& group) {
    const Thresholds& limits = material.thresholds;
    if (group.spans.size() < limits.count(Limit::MinOpportunities)) return false;
    // The fair server (6.12) is started and cancelled at wakeups; bandwidth of a deadline task likewise.
    if (material.callback(group.function) == "dl_task_timer") return false;
    busySeconds(material, group);
    if (group.busy.size() < limits.count(Limit::MinOpportunities)) return false;
    std::map<TimerId, Row> before;
    for (const u32 at : group.busy) {
      const ArmedSpan& span = material.tables.spans[at];
      ++group.arms;
      group.restarts += span.end == SpanEnd::Restarted;
      group.cancels += span.end == SpanEnd::Cancelled;
      group.expiries += span.end == SpanEnd::Expired || span.end == SpanEnd::ExpiredAtStart;
      if (const auto timeout = timeoutNs(material, span)) group.timeouts.add(*timeout);
      const auto [last, isFirst] = before.try_emplace(span.timer, span.armed);
      if (isFirst) continue;
      if (const auto gap = material.nsBetween(last->second, span.armed)) group.gaps.add(*gap);
      last->second = span.armed;
    }
    if (group.gaps.empty() || group.timeouts.empty()) return false;
    if (static_cast<double>(group.expiries) >
        limits[Limit::RearmExpired] * static_cast<double>(group.arms)) {
      return false;
    }
    return static_cast<double>(group.timeouts.percentile(0.5).value_or(0)) >=
           limits[Limit::RearmRatio] * static_cast<double>(group.gaps.percentile(0.5).value_or(0));
  }

  static void busySeconds(const Material& material, Group& group) {
    const auto timeOf = [&](u32 at) {
      return material.time(material.tables.spans[at].armed).value;
    };
    const s64 first = timeOf(group.spans.front()), last = timeOf(group.spans.back());
    const s64 window = std::clamp(last - first, leastSpanNs, windowNs);
    const double least = material.thresholds[Limit::RearmRate] * static_cast<double>(window) / 1e9;
    s64 busyNs = 0;
    for (std::size_t i = 0; i < group.spans.size();) {
      const s64 begin = timeOf(group.spans[i]);
      std::size_t end = i;
      while (end < group.spans.size() && timeOf(group.spans[end]) <= begin + window) ++end;
      if (static_cast<double>(end - i) >= least) {
        group.busy.insert(group.busy.end(), group.spans.begin() + static_cast<std::ptrdiff_t>(i),
                          group.spans.begin() + static_cast<std::ptrdiff_t>(end));
        busyNs += std::min(window, std::max<s64>(last - first, 1));
      }
      i = end;
    }
    if (busyNs > 0) {
      group.rate = static_cast<double>(group.busy.size()) * 1e9 / static_cast<double>(busyNs);
    }
  }

  static Known<Request> requestOf(const Material& material, const ArmedSpan& span) {
    if (!material.isHrtimer(span)) {
      const auto event = material.events.as<TimerStart>(span.armed);
      return Request{event.now.value, event.expires.value};
    }
    const auto mono = material.mono(span.armed);
    const auto offset = material.clocks.offset(hardOf(span.clockBase()), span.armed);
    if (!mono || !offset) return {};
    return Request{mono->value.value + *offset, span.expires};
  }

  static Known<s64> timeoutNs(const Material& material, const ArmedSpan& span) {
    const auto request = requestOf(material, span);
    if (!request) return {};
    const s64 timeout = request->expires - request->now;
    if (material.isHrtimer(span)) return timeout;
    const auto tick = material.tickNs();
    if (!tick) return {};
    return timeout * *tick;
  }

  void addInstances(const Material& material, u32 at, Judged& judged) {
    Group& group = groups_[at];
    std::map<TimerId, s64> armedFor, wanted;
    std::map<TimerId, s64> bucket;
    const auto tick = material.tickNs();
    for (const u32 i : group.busy) {
      const ArmedSpan& span = material.tables.spans[i];
      if (const auto request = requestOf(material, span)) {
        lazily(group.lazy, span, *request, armedFor, wanted);
        const s64 slot = group.hrtimer && tick ? span.expires / *tick : span.second;
        const auto [kept, isNew] = bucket.try_emplace(span.timer, slot);
        group.list.arms += isNew || kept->second != slot;
        kept->second = slot;
      }
      if (span.end != SpanEnd::Restarted && span.end != SpanEnd::Cancelled) continue;
      if (span.ended == noRow) continue;
      const Cpu cpu = material.events.cpu(span.armed);
      if (span.has(ArmedSpan::Uncertain) ||
          material.isBlind(cpu, span.armed, span.ended, blindKinds)) {
        ++judged.dropped;
        continue;
      }
      Instance& instance = judged.instances.emplace_back();
      instance.when = {material.time(span.armed), material.time(span.ended)};
      instance.cpu = cpu;
      instance.causeKey = at;
      instance.magnitude = timeoutNs(material, span).value_or(0) -
                           material.nsBetween(span.armed, span.ended).value_or(0);
      instance.evidence[0] = span.armed;
      instance.evidence[1] = span.ended;
      instance.timer = span.timer;
      instance.detail = i;
    }
    group.lazy.expiries += armedFor.size();
  }

  /// What the requests would have cost if an armed timer were left alone while its expiry moves later.
  static void lazily(Policy& policy, const ArmedSpan& span, const Request& request,
                     std::map<TimerId, s64>& armedFor, std::map<TimerId, s64>& wanted) {
    const auto [armed, isNew] = armedFor.try_emplace(span.timer, request.expires);
    if (isNew) {
      wanted[span.timer] = request.expires;
      ++policy.arms;
      return;
    }
    s64& want = wanted[span.timer];
    bool pending = armed->second > request.now;
    if (!pending) {
      ++policy.expiries;
      if (want > armed->second) {
        // It expired too early for the latest request and armed itself for it.
        ++policy.arms;
        armed->second = want;
        pending = want > request.now;
        policy.expiries += !pending;
      }
    }
    if (!pending || request.expires < armed->second) {
      ++policy.arms;
      armed->second = request.expires;
    }
    want = request.expires;
  }

  void countCalls(const Material& material) {
    for (const OperationCount& operation : material.tables.operations) {
      if (operation.kind != OperationKind::Restart && operation.kind != OperationKind::Start) {
        continue;
      }
      if (material.events.kind(operation.row) != kindOf<HrtimerStart>) continue;
      const auto found =
          groupAt_.find(keyOf(material.events.as<HrtimerStart>(operation.row).function,
                              material.taskOf(operation.row)));
      if (found == groupAt_.end()) continue;
      groups_[found->second].calls += operation.seen();
      groups_[found->second].doubles += operation.seen() > 1;
    }
  }

  static double costShare(const Material& material, const Group& group,
                          const std::vector<Cpu>& cpus) {
    s64 judgedNs = 0;
    for (const Cpu cpu : cpus) judgedNs += material.judgedNs(cpu, blindKinds);
    if (judgedNs <= 0) return 0;
    return static_cast<double>(group.calls) * material.thresholds[Limit::DoubleCost] /
           static_cast<double>(judgedNs);
  }

  static void sayOwner(const Group& group, Sentence& sentence) {
    if (group.interrupted) {
      sentence.words("interrupts");
    } else {
      sentence.task(group.comm);
    }
  }

  static Table policies(const Material& material, const Group& group) {
    Table table;
    table.title = "The same requests under other policies";
    table.columns = {{"policy", ""},
                     {"arms", ""},
                     {"expiries", ""},
                     {"programming calls", ""},
                     {"later by at most", "us"}};
    const bool called = material.recorded.has(Need::P) && group.hrtimer;
    table.rows.push_back({Sentence("as recorded"), static_cast<s64>(group.arms),
                          static_cast<s64>(group.expiries),
                          called ? Cell(static_cast<s64>(group.calls)) : Cell(), Figure{0, 0}});
    table.rows.push_back({Sentence("left armed while it only moves later"),
                          static_cast<s64>(group.lazy.arms), static_cast<s64>(group.lazy.expiries),
                          Cell(), Figure{0, 0}});
    const auto tick = material.tickNs();
    table.rows.push_back({Sentence("timer_list, same bucket costs nothing"),
                          static_cast<s64>(group.list.arms), Cell(),
                          group.hrtimer ? Cell(s64{0}) : Cell(),
                          group.hrtimer && tick ? Cell(Figure{static_cast<double>(*tick) / 1e3, 0})
                                                : Cell(Figure{0, 0})});
    return table;
  }

  std::map<std::tuple<Address, std::string>, u32> groupAt_;
  std::vector<Group> groups_;
};

}  // namespace

extern const DetectorInfo f07RestartChurn;
constinit const DetectorInfo f07RestartChurn{
    .id = "F07",
    .name = "restart-churn",
    .line = "timers armed again and again that hardly ever expire",
    .needs = {Needs{Need::H}, Needs{Need::W}},
    .record = "double-reprogram",
    .byTimeAlone = "",
    .make = makeDetector<RestartChurn>,
};

}  // namespace tickscope
