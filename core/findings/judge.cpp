// SPDX-License-Identifier: GPL-3.0-or-later
// The same way for each detector's instances.
#include "core/findings/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "core/base/parallel.h"
#include "core/findings/attribution.h"

namespace tickscope {

namespace {

constexpr std::size_t worstShown = 3, timersShown = 20;
/// Each counter-evidence that is left open takes this, at most twice (findings 1.2).
constexpr double openCost = 0.30;
constexpr int openMost = 2;

/// One finding to be: where its instances come from.
struct Draft {
  u32 detector, judged;
  Cluster cluster;
  Finding finding;
};

NotJudged notRecorded(const DetectorInfo& info, Needs recorded) {
  // The set that lacks least is what to record.
  Needs least;
  std::size_t fewest = ~std::size_t{0};
  for (const Needs& needs : info.needs) {
    if (needs.empty()) continue;
    const Needs missing = recorded.missing(needs);
    std::size_t count = 0;
    for (std::size_t i = 0; i < needCount; ++i) count += missing.has(static_cast<Need>(i));
    if (count >= fewest) continue;
    fewest = count;
    least = missing;
  }
  NotJudged made;
  made.id = info.id;
  made.record = info.record;
  for (std::size_t i = 0; i < needCount; ++i) {
    if (least.has(static_cast<Need>(i))) made.missing.push_back(eventsOf(static_cast<Need>(i)));
  }
  made.why.words("{} not recorded", fmt::join(made.missing, ", "));
  return made;
}

DetectorResult detect(const DetectorInfo& info, const Material& material, Detector& detector) {
  DetectorResult result;
  result.info = &info;
  const bool able = std::ranges::any_of(info.needs, [&](const Needs& needs) {
    return !needs.empty() && material.recorded.contains(needs);
  });
  if (!able) {
    result.notJudged.push_back(notRecorded(info, material.recorded));
    return result;
  }
  result.judged = detector.detect(material, result.notJudged);
  for (Judged& judged : result.judged) {
    std::ranges::stable_sort(judged.instances, {},
                             [](const Instance& i) { return std::pair(i.when.from, i.cpu); });
  }
  for (NotJudged& item : result.notJudged) {
    if (item.id.empty()) item.id = info.id;
    if (item.record.empty()) item.record = info.record;
  }
  return result;
}

/// What counts the same for all findings.
void fill(const Material& material, const Judged& judged, Draft& draft) {
  Finding& finding = draft.finding;
  const auto& instances = draft.cluster.instances;
  finding.kind = draft.cluster.kind;
  finding.count = instances.size();
  finding.opportunities = judged.opportunities;
  finding.dropped = judged.dropped;
  finding.judgedNs = judged.judgedNs;
  finding.when = instances.front().when;
  finding.first = instances.front();
  std::map<TimerId, u64> timers;
  for (const Instance& instance : instances) {
    finding.when.from = std::min(finding.when.from, instance.when.from);
    finding.when.to = std::max(finding.when.to, instance.when.to);
    finding.distribution.add(instance.magnitude);
    finding.cpus.push_back(instance.cpu);
    if (instance.timer) ++timers[*instance.timer];
  }
  std::ranges::sort(finding.cpus);
  finding.cpus.erase(std::ranges::unique(finding.cpus).begin(), finding.cpus.end());
  finding.worst = instances;
  std::ranges::stable_sort(finding.worst, std::ranges::greater{}, &Instance::magnitude);
  if (finding.worst.size() > worstShown) finding.worst.resize(worstShown);
  std::vector<std::pair<u64, TimerId>> most;
  std::map<Address, u64> functions;
  for (const auto& [timer, count] : timers) {
    most.emplace_back(count, timer);
    functions[material.timer(timer).function] += count;
  }
  std::ranges::stable_sort(most, std::ranges::greater{}, &std::pair<u64, TimerId>::first);
  for (const auto& [count, timer] : most) {
    if (finding.timers.size() == timersShown) break;
    finding.timers.push_back(timer);
  }
  std::vector<std::pair<u64, Address>> callbacks;
  for (const auto& [function, count] : functions) {
    if (function != Address{}) callbacks.emplace_back(count, function);
  }
  std::ranges::stable_sort(callbacks, std::ranges::greater{}, &std::pair<u64, Address>::first);
  for (const auto& [count, function] : callbacks) {
    if (finding.callbacks.size() == timersShown) break;
    finding.callbacks.push_back(function);
  }
}

Grade lowered(Grade grade) {
  return grade == Grade::S4 ? grade : static_cast<Grade>(static_cast<u8>(grade) + 1);
}

bool restsOnTime(const DetectorInfo& info, char kind) {
  return info.byTimeAlone == "*" || info.byTimeAlone.find(kind) != std::string_view::npos;
}

void weigh(const Material& material, const DetectorInfo& info, Finding& finding) {
  const Thresholds& limits = material.thresholds;
  if (finding.count < limits.count(Limit::MinInstances)) {
    finding.confidence.minus(
        0.10, fmt::format("fewer than {} instances", limits.count(Limit::MinInstances)));
  }
  if (finding.byClockMap) {
    const auto error = material.clocks.fitted().halfWidth;
    const auto magnitude = finding.distribution.percentile(0.5);
    if (error && magnitude && error->value * 10 > *magnitude) {
      finding.confidence.minus(0.10, "the clock map errs by more than a tenth of it");
    }
  }
  int open = 0;
  for (const CounterEvidence& counter : finding.counterEvidence) {
    if (counter.result != CounterEvidence::Result::Open || open == openMost) continue;
    ++open;
    finding.confidence.minus(openCost, fmt::format("{} cannot be excluded", counter.id));
  }
  const double sure = finding.confidence.value();
  if (sure < limits[Limit::Show] + 0.15) finding.grade = lowered(finding.grade);
  if (finding.grade == Grade::S1 && sure < limits[Limit::ShowS1]) finding.grade = Grade::S2;
  if (material.baseline.slow && restsOnTime(info, finding.kind) && finding.grade < Grade::S3) {
    finding.grade = Grade::S3;
    Sentence claim("This machine is slow as a whole, so that time alone proves little here. ");
    finding.claim = claim.append(finding.claim);
  }
}

auto orderOf(const Finding& finding) {
  return std::tuple(finding.grade, -finding.confidence.value(),
                    -static_cast<s64>(std::min<u64>(finding.count, u64{1} << 62U)), finding.id,
                    finding.kind, finding.when.from);
}

}  // namespace

std::string_view nameOf(Grade grade) {
  constexpr std::array<std::string_view, 4> names{"S1", "S2", "S3", "S4"};
  return names[static_cast<std::size_t>(grade) - 1];
}

std::string_view nameOf(CounterEvidence::Result result) {
  constexpr std::array<std::string_view, 3> names{"absent", "excluded", "open"};
  return names[static_cast<std::size_t>(result)];
}

Result<Findings> judge(const Material& material, int threads, Progress& progress) {
  const auto infos = detectors();
  const auto count = static_cast<u32>(infos.size());
  progress.begin("Findings", 2 * u64{count});
  std::vector<std::unique_ptr<Detector>> made(count);
  std::vector<DetectorResult> results(count);
  parallelFor(count, threads, [&](u32 i, int /*worker*/) {
    if (progress.cancelled()) return;
    made[i] = infos[i]->make();
    results[i] = detect(*infos[i], material, *made[i]);
    (void)progress.advance(1);
  });
  if (progress.cancelled()) return fail(Error::Kind::Cancelled, "Cancelled.");

  Findings all;
  all.baseline = material.baseline;
  all.thresholds = material.thresholds;
  const Explanations explanations = explanationsOf(results);
  std::vector<Draft> drafts;
  using Key = std::tuple<u32, u32, u64>;  // detector, sub-kind, cause
  std::map<Key, std::map<std::pair<u32, u32>, u64>> explained;
  for (u32 d = 0; d < count; ++d) {
    for (NotJudged& item : results[d].notJudged) all.notJudged.push_back(std::move(item));
    for (u32 j = 0; j < results[d].judged.size(); ++j) {
      const Judged& judged = results[d].judged[j];
      JudgedCount counted{infos[d]->id,         judged.kind,    judged.instances.size(), 0,
                          judged.opportunities, judged.dropped, judged.judgedNs};
      std::map<u64, std::size_t> draftOf;
      for (std::size_t i = 0; i < judged.instances.size(); ++i) {
        if (const auto& by = explanations[d][j][i]) {
          ++counted.explained;
          ++explained[{by->detector, by->judged, by->causeKey}][{d, j}];
          continue;
        }
        const Instance& instance = judged.instances[i];
        const auto [at, isNew] = draftOf.try_emplace(instance.causeKey, drafts.size());
        if (isNew) {
          Draft& draft = drafts.emplace_back();
          draft.detector = d;
          draft.judged = j;
          draft.cluster.kind = judged.kind;
          draft.cluster.causeKey = instance.causeKey;
        }
        drafts[at->second].cluster.instances.push_back(instance);
      }
      all.judged.push_back(counted);
    }
  }
  parallelFor(static_cast<u32>(drafts.size()), threads, [&](u32 i, int /*worker*/) {
    if (progress.cancelled()) return;
    Draft& draft = drafts[i];
    const DetectorInfo& info = *infos[draft.detector];
    Finding& finding = draft.finding;
    finding.id = info.id;
    finding.record = info.record;
    fill(material, results[draft.detector].judged[draft.judged], draft);
    if (const auto found = explained.find({draft.detector, draft.judged, draft.cluster.causeKey});
        found != explained.end()) {
      for (const auto& [what, times] : found->second) {
        finding.explains.push_back(
            {infos[what.first]->id, results[what.first].judged[what.second].kind, times});
      }
    }
    made[draft.detector]->describe(material, draft.cluster, finding);
    std::ranges::stable_sort(finding.evidence, {}, &EvidenceRow::row);
    weigh(material, info, finding);
  });
  if (!progress.advance(count)) return fail(Error::Kind::Cancelled, "Cancelled.");
  for (Draft& draft : drafts) {
    const bool weak = draft.finding.confidence.value() < material.thresholds[Limit::Show];
    (weak ? all.weak : all.findings).push_back(std::move(draft.finding));
  }
  std::ranges::stable_sort(all.findings, {}, orderOf);
  std::ranges::stable_sort(all.weak, {}, orderOf);
  std::ranges::stable_sort(all.notJudged, {},
                           [](const NotJudged& n) { return std::tuple(n.id, n.kind); });
  return all;
}

}  // namespace tickscope
