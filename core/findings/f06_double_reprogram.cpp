// SPDX-License-Identifier: GPL-3.0-or-later
// F06: one restart of an hrtimer programs the clock event device twice where one programming would do.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>

#include "core/findings/detector.h"
#include "core/findings/figure_text.h"

namespace tickscope {

namespace {

constexpr BlindSpotSet blindKinds =
    blindSpots({BlindSpotKind::LostEvents, BlindSpotKind::ProgrammingNotTraced,
                BlindSpotKind::CpuOffline, BlindSpotKind::NotHighRes, BlindSpotKind::Filtered});
/// Calls of an operation lie within a few rows of its own.
constexpr int farthestRow = 16;
/// A call that costs this much, this often, is felt whatever its share of a CPU.
constexpr s64 dearNs = 5'000;
constexpr double oftenPerSecond = 1'000;
constexpr double dearShare = 0.01;
/// Excess calls per restart up to which the table counts.
constexpr std::size_t callClasses = 4;

class DoubleReprogram final : public Detector {
 public:
  std::vector<Judged> detect(const Material& material, std::vector<NotJudged>& notJudged) override {
    if (material.profile.highRes.judged() == false) {
      NotJudged item;
      item.why.words("low resolution: the device is programmed by the tick alone");
      notJudged.push_back(std::move(item));
      return {};
    }
    Judged judged;
    judged.judgedNs = material.judgedNs(blindKinds);
    for (std::size_t i = 0; i < material.tables.operations.size(); ++i) {
      restart(material, i, judged);
    }
    leaveOutRare(material, judged, notJudged);
    return only(std::move(judged));
  }

  void describe(const Material& material, const Cluster& cluster, Finding& finding) const override {
    const Group& group = groups_[cluster.causeKey];
    const std::string name = material.callback(group.function);
    const auto& rule = material.profile.hrtimer;
    const bool shouldHaveOne = rule.expected && *rule.expected >= HrtimerRule::R2;
    const bool byDesign = rule.expected && *rule.expected < HrtimerRule::R2;
    u64 excess = 0;
    for (const Instance& instance : cluster.instances) {
      excess += static_cast<u64>(std::max<s64>(1, instance.magnitude - 1));
    }
    const bool measured = !group.gaps.empty();
    const s64 cost = measured ? group.gaps.percentile(0.5).value_or(0)
                              : material.thresholds.ns(Limit::DoubleCost);
    s64 judgedHere = 0;
    for (const Cpu cpu : finding.cpus) judgedHere += material.judgedNs(cpu, blindKinds);
    const double seconds = static_cast<double>(judgedHere) / 1e9;
    const double share = judgedHere > 0 ? static_cast<double>(excess) * static_cast<double>(cost) /
                                              static_cast<double>(judgedHere)
                                        : 0;
    const double rate = seconds > 0 ? static_cast<double>(excess) / seconds : 0;

    finding.what = "programming calls of a restart";
    finding.confidence = Confidence(Proof::A, "calls counted next to each restart");
    if (shouldHaveOne || byDesign) finding.confidence.times(rule.confidence, "programming rule");
    if (group.tick) {
      finding.grade = Grade::S4;
    } else if (shouldHaveOne || share >= dearShare || (cost >= dearNs && rate >= oftenPerSecond)) {
      finding.grade = Grade::S2;
    } else {
      finding.grade = Grade::S3;
    }

    finding.title.symbol(name).words(
        " on {}: {} of {} restarts programmed the clock event device twice", cpuWords(finding.cpus),
        finding.count, group.restarts);
    finding.claim.words("hrtimers of ")
        .symbol(name)
        .words(" on {} were restarted {} by ", cpuWords(finding.cpus),
               countWords(group.restarts, "time", "times"));
    sayOwner(group, finding.claim);
    finding.claim.words(
        "; {} of these restarts programmed the clock event device twice, once when the timer was "
        "taken out and once when it was put in again; one programming would do.",
        finding.count);
    if (group.valuesKnown > 0) {
      finding.claim.words(
          " In {} of {} the first call's value lies behind the timer's own expiry and the second "
          "call's value is it.",
          group.valuesAsSaid, group.valuesKnown);
    }
    if (measured) {
      finding.claim.words(" The calls are {} apart (median); {} excess calls take {:.2g} % of {}.",
                          nsWords(cost), excess, 100 * share, cpuWords(finding.cpus));
    } else {
      finding.claim.words(" At {} a call (assumed) {} excess calls take {:.2g} % of {}.",
                          nsWords(cost), excess, 100 * share, cpuWords(finding.cpus));
    }
    if (shouldHaveOne) {
      finding.claim.words(
          " By its release and its event formats this kernel should have the change that avoids "
          "it.");
    } else if (byDesign) {
      finding.claim.words(" Kernels before 5.15 (stable: 5.10.65) do so by design.");
    }

    const auto ruleName = [](const Known<HrtimerRule>& value) {
      return value ? valueText(*value) : std::string("unknown");
    };
    finding.predicted.words("rule {} (of the release): at most {} a restart",
                            ruleName(rule.expected), byDesign ? "two calls" : "one call");
    finding.observed.words(
        "{} restarts with two calls or more, {} with one, {} with none; the recording follows rule "
        "{}",
        group.calls[2] + group.calls[3], group.calls[1], group.calls[0], ruleName(rule.observed));
    finding.disproof.words(
        "a second call whose argument is not the restarted timer's expiry, or another timer's "
        "operation between the two calls");
    counterEvidence(finding);
    finding.upstream = {"U12"};
    callsTable(group, finding);
    for (const Instance& instance : finding.worst) {
      finding.evidence.push_back({instance.evidence[0], Sentence("restarted")});
      if (instance.evidence[1] != noRow) {
        finding.evidence.push_back({instance.evidence[1], Sentence("(1) first call")});
      }
      if (instance.evidence[2] != noRow) {
        finding.evidence.push_back({instance.evidence[2], Sentence("(2) second call")});
      }
    }
    finding.advice.emplace_back(
        "no restart when the expiry only moves later: let it expire and arm it for the rest then");
  }

 private:
  struct Group {
    Address function{};
    std::string comm;
    bool tick = false, interrupted = false;
    u64 restarts = 0, first = 0, notFirst = 0, firstInBase = 0, insideInterrupt = 0;
    std::array<u64, callClasses> calls{};
    u64 valuesKnown = 0, valuesAsSaid = 0;
    Histogram gaps;  ///< ns between the two calls
  };

  void restart(const Material& material, std::size_t i, Judged& judged) {
    const OperationCount& operation = material.tables.operations[i];
    if (operation.kind != OperationKind::Restart) return;
    const EventStore& events = material.events;
    if (events.kind(operation.row) != kindOf<HrtimerStart>) return;
    // K10: inside the timer interrupt enqueues do not program.
    if (events.context(operation.row).hardIrq()) return;
    const bool counted = operation.has(OperationCount::Judged);
    const u32 seen = operation.seen();
    if (!counted && !countIsExact(operation.why)) {
      if (seen > 1) ++judged.dropped;
      return;
    }
    const auto event = events.as<HrtimerStart>(operation.row);
    const Owner owner = material.taskOf(operation.row);
    const bool tick = material.isTick(event.function);
    const std::string comm = owner.interrupted ? std::string() : owner.comm;
    const auto [at, isNew] =
        groupAt_.try_emplace(std::tuple(event.function, comm), static_cast<u32>(groups_.size()));
    if (isNew) {
      Group& made = groups_.emplace_back();
      made.function = event.function;
      made.comm = comm;
      made.tick = tick;
      made.interrupted = owner.interrupted;
    }
    Group& group = groups_[at->second];
    ++group.restarts;
    ++judged.opportunities;
    group.first += operation.has(OperationCount::First);
    group.notFirst += operation.has(OperationCount::NotFirst);
    group.firstInBase += operation.has(OperationCount::FirstInBase);
    ++group.calls[std::min<std::size_t>(seen, callClasses - 1)];
    if (seen < 2 && !(counted && seen > operation.most)) return;
    const Cpu cpu = events.cpu(operation.row);
    if (material.isBlind(cpu, operation.row, operation.row, blindKinds)) {
      ++judged.dropped;
      return;
    }
    Instance& instance = judged.instances.emplace_back();
    instance.cpu = cpu;
    instance.causeKey = at->second;
    instance.magnitude = seen;
    instance.timer = operation.timer;
    instance.evidence[0] = operation.row;
    instance.detail = static_cast<u32>(i);
    const auto calls = callRows(material, operation);
    instance.evidence[1] = calls[0];
    instance.evidence[2] = calls[1];
    instance.when = {
        material.time(std::min(operation.row, calls[0] != noRow ? calls[0] : operation.row)),
        material.time(calls[1] != noRow ? std::max(operation.row, calls[1]) : operation.row)};
    if (const auto gap = material.nsBetween(calls[0], calls[1])) group.gaps.add(*gap);
    values(material, event, calls, group);
  }

  /// What keeps an operation from being judged by the rule may leave its calls countable all the same.
  static bool countIsExact(BlindSpotKind why) {
    switch (why) {
      case BlindSpotKind::ProgrammingNotTraced:
      case BlindSpotKind::LostEvents:
      case BlindSpotKind::NotRecorded:
      case BlindSpotKind::Filtered:
      case BlindSpotKind::NotHighRes:
      case BlindSpotKind::ContextNotVisible:
      case BlindSpotKind::DeferredRearm:
        return false;
      default:
        return true;
    }
  }

  static bool isCall(const Material& material, Row row) {
    const EventKind kind = material.events.kind(row);
    return kind == kindOf<ProgramEvent> || kind == kindOf<ProgramEventProbe>;
  }

  /// The first two calls of an operation.
  static std::array<Row, 2> callRows(const Material& material, const OperationCount& operation) {
    std::array<Row, 2> calls{noRow, noRow};
    std::size_t found = 0;
    u32 left = operation.removalSeen;
    Row row = operation.row;
    std::array<Row, 2> before{noRow, noRow};
    for (int steps = 0; left > 0 && steps < farthestRow; ++steps) {
      row = material.previous(row);
      if (row == noRow) break;
      if (!isCall(material, row)) continue;
      --left;
      before[1] = before[0];
      before[0] = row;
    }
    for (const Row call : before) {
      if (call != noRow && found < 2) calls[found++] = call;
    }
    left = operation.enqueueSeen;
    row = operation.row;
    for (int steps = 0; left > 0 && found < 2 && steps < farthestRow; ++steps) {
      row = material.next(row);
      if (row == noRow) break;
      if (!isCall(material, row)) continue;
      --left;
      calls[found++] = row;
    }
    return calls;
  }

  /// Cross-check by the calls' values: first for the timer behind, then for the restarted one.
  static void values(const Material& material, const HrtimerStart& event,
                     const std::array<Row, 2>& calls, Group& group) {
    const auto isProbe = [&](Row row) {
      return row != noRow && material.events.kind(row) == kindOf<ProgramEventProbe> &&
             material.events.type(row).recorded(1);
    };
    if (!isProbe(calls[0]) || !isProbe(calls[1])) return;
    ++group.valuesKnown;
    const s64 first = material.events.as<ProgramEventProbe>(calls[0]).expires;
    const s64 second = material.events.as<ProgramEventProbe>(calls[1]).expires;
    group.valuesAsSaid += first > event.expires.value && second == event.expires.value;
  }

  /// Less than the share of restarts that a finding needs: said, but no finding.
  void leaveOutRare(const Material& material, Judged& judged,
                    std::vector<NotJudged>& notJudged) const {
    std::vector<u64> doubles(groups_.size());
    for (const Instance& instance : judged.instances) ++doubles[instance.causeKey];
    std::vector<bool> rare(groups_.size());
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (doubles[g] == 0) continue;
      const Group& group = groups_[g];
      const u64 able = std::max(group.restarts - group.notFirst, doubles[g]);
      const bool few = able < material.thresholds.count(Limit::MinOpportunities);
      rare[g] = few || static_cast<double>(doubles[g]) <
                           material.thresholds[Limit::DoubleShare] * static_cast<double>(able);
      if (!rare[g] || group.tick) continue;
      NotJudged item;
      item.why.words("{} of {} restarts of ", doubles[g], able)
          .symbol(material.callback(group.function))
          .words(" with more calls than needed: {}",
                 few ? "fewer restarts than gen.min-opportunities"
                     : "a smaller share than double.share");
      notJudged.push_back(std::move(item));
    }
    // Restarts of the tick are reported apart or not at all.
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (groups_[g].tick && (rare[g] || doubles[g] == 0))
        judged.opportunities -= groups_[g].restarts;
    }
    std::erase_if(judged.instances,
                  [&](const Instance& instance) { return rare[instance.causeKey]; });
  }

  static void sayOwner(const Group& group, Sentence& sentence) {
    if (group.interrupted) {
      sentence.words("interrupts");
    } else {
      sentence.words("tasks named ").task(group.comm);
    }
  }

  static void counterEvidence(Finding& finding) {
    CounterEvidence inside{"K10", CounterEvidence::Result::Excluded, {}};
    inside.note.words("restarts in hard interrupt context are not looked at");
    finding.counterEvidence.push_back(std::move(inside));
    CounterEvidence lost{"K3", CounterEvidence::Result::Excluded, {}};
    lost.note.words("restarts whose calls are ambiguous or near lost events are left out: {}",
                    finding.dropped);
    finding.counterEvidence.push_back(std::move(lost));
  }

  static void callsTable(const Group& group, Finding& finding) {
    Table table;
    table.title = "Programming calls of a restart";
    table.columns = {{"calls", ""}, {"restarts", ""}};
    for (std::size_t i = 0; i < callClasses; ++i) {
      table.rows.push_back(
          {Cell(Sentence(i + 1 < callClasses ? std::to_string(i) : fmt::format("{} and more", i))),
           Cell(static_cast<s64>(group.calls[i]))});
    }
    finding.tables.push_back(std::move(table));
    Table standing;
    standing.title = "Restarts by the timer's place";
    standing.columns = {{"first of the CPU", ""},
                        {"behind another", ""},
                        {"not known", ""},
                        {"first of its clock base", "%"}};
    standing.rows.push_back({static_cast<s64>(group.first), static_cast<s64>(group.notFirst),
                             static_cast<s64>(group.restarts - group.first - group.notFirst),
                             Figure{100.0 * static_cast<double>(group.firstInBase) /
                                        static_cast<double>(group.restarts),
                                    1}});
    finding.tables.push_back(std::move(standing));
  }

  std::map<std::tuple<Address, std::string>, u32> groupAt_;
  std::vector<Group> groups_;
};

}  // namespace

extern const DetectorInfo f06DoubleReprogram;
constinit const DetectorInfo f06DoubleReprogram{
    .id = "F06",
    .name = "double-reprogram",
    .line = "one restart programs the clock event device twice",
    .needs = {Needs{Need::H, Need::P}},
    .record = "double-reprogram",
    .byTimeAlone = "",
    .make = makeDetector<DoubleReprogram>,
};

}  // namespace tickscope
