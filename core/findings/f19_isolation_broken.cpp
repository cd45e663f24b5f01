// SPDX-License-Identifier: GPL-3.0-or-later
// F19: tick, timers, IPIs and kernel threads on an isolated CPU that one user task has for itself.
#include <algorithm>
#include <map>
#include <tuple>

#include "core/findings/detector.h"
#include "core/findings/f19_disturbances.h"
#include "core/findings/figure_text.h"

namespace tickscope {

namespace {

constexpr BlindSpotSet blindKinds =
    blindSpots({BlindSpotKind::LostEvents, BlindSpotKind::CpuOffline, BlindSpotKind::Suspended});
/// A task that has just come to an isolated CPU is still being set up there (ns).
constexpr s64 startUpNs = 1'000'000'000;

class IsolationBroken final : public Detector {
 public:
  std::vector<Judged> detect(const Material& material, std::vector<NotJudged>& notJudged) override {
    isolated_ = isolatedCpus(material);
    if (isolated_.cpus.empty()) {
      NotJudged item;
      item.why.words(
          "no isolated CPU is known: neither nohz_full= or isolcpus=, nor a tick that "
          "stops while a user task runs");
      notJudged.push_back(std::move(item));
      return {};
    }
    Judged judged;
    for (const Cpu cpu : isolated_.cpus) judgeCpu(material, cpu, judged);
    std::erase_if(judged.instances, [&](const Instance& instance) {
      const PerCpu& of = perCpu_.at(instance.cpu);
      return static_cast<double>(of.count) * 1e9 <=
             material.thresholds[Limit::IsolationDisturb] * static_cast<double>(of.aloneNs);
    });
    return only(std::move(judged));
  }

  void describe(const Material& material, const Cluster& cluster, Finding& finding) const override {
    struct Count {
      u64 count = 0;
      s64 ns = 0, most = 0;
    };
    std::map<std::pair<std::string, std::string>, std::pair<Count, const Disturbance*>> rows;
    u64 ipis = 0;
    for (const Instance& instance : cluster.instances) {
      const Disturbance& one = disturbances_[instance.detail];
      auto& [row, example] = rows[{one.cause, one.detail}];
      ++row.count;
      row.ns += one.ns;
      row.most = std::max(row.most, one.ns);
      if (!example) example = &one;
      ipis += one.origin != noRow && material.events.kind(one.origin) == kindOf<IpiSendCpu>;
    }
    std::vector<std::pair<Count, const Disturbance*>> byCount;
    for (const auto& [key, value] : rows) byCount.push_back(value);
    std::ranges::stable_sort(byCount, std::ranges::greater{},
                             [](const auto& value) { return value.first.count; });
    u64 tracing = 0;
    s64 aloneNs = 0, quiet = 0;
    for (const Cpu cpu : finding.cpus) {
      const PerCpu& of = perCpu_.at(cpu);
      tracing += of.tracing;
      aloneNs += of.aloneNs;
      quiet = std::max(quiet, of.longestQuiet);
    }
    const double rate =
        aloneNs > 0 ? static_cast<double>(finding.count) * 1e9 / static_cast<double>(aloneNs) : 0;
    const double limit = material.thresholds[Limit::IsolationDisturb];
    const bool neverStops = aloneNs > 2 * startUpNs && static_cast<double>(quiet) * limit < 1e9;
    finding.grade = neverStops ? Grade::S2 : Grade::S3;
    finding.confidence = Confidence(Proof::A, "each interrupt and switch is in the trace");
    if (isolated_.learned) {
      finding.confidence.times(0.9, "isolated CPUs learned from ticks that stopped");
    } else {
      const auto& profile = material.profile;
      finding.confidence.times(std::max(profile.noHzFull.confidence, profile.isolated.confidence),
                               "isolated CPUs");
    }
    finding.what = "took from the task";
    finding.unit = "ns";
    const std::string cpus = valueText(finding.cpus);
    finding.title.words("isolated CPU {} was disturbed {} in {} of one user task", cpus,
                        countWords(finding.count, "time", "times"), nsWords(aloneNs));
    finding.claim.words(
        "Isolated CPU {}, while one user task ran there alone for {}, was "
        "disturbed {} ({:.4g}/s): ",
        cpus, nsWords(aloneNs), countWords(finding.count, "time", "times"), rate);
    for (std::size_t i = 0; i < byCount.size() && i < 4; ++i) {
      finding.claim.words("{}{} {}", i ? ", " : "", byCount[i].first.count,
                          byCount[i].second->cause);
      if (!byCount[i].second->detail.empty()) {
        finding.claim.words(" by ").append(detailOf(*byCount[i].second));
      }
    }
    finding.claim.words("{}.", byCount.size() > 4 ? ", and others" : "");
    finding.predicted.words("at most {:.3g}/s", limit);
    finding.observed.words("{:.4g}/s; the longest time without one was {}", rate, nsWords(quiet));
    finding.disproof.words("a second user task that was runnable on that CPU at the rows shown");
    CounterEvidence k5{"K5", CounterEvidence::Result::Absent, {}};
    if (tracing > 0) {
      k5.result = CounterEvidence::Result::Excluded;
      k5.note.words("{} by tracing itself are not counted",
                    countWords(tracing, "interrupt", "interrupts"));
    } else {
      k5.note.words("no interrupt by which tracing wakes its readers");
    }
    finding.counterEvidence.push_back(std::move(k5));
    for (const auto& [row, example] : byCount) {
      if (example->cause.find("POSIX_TIMER") != std::string::npos) finding.upstream = {"U27"};
    }
    if (ipis > 0) finding.upstream.emplace_back("U47");
    Table table;
    table.title = "Disturbances";
    table.columns = {{"cause", ""}, {"by", ""}, {"count", ""}, {"took", "ns"}, {"at most", "ns"}};
    for (const auto& [row, example] : byCount) {
      table.rows.push_back({Sentence(example->cause), detailOf(*example),
                            static_cast<s64>(row.count), row.ns, row.most});
    }
    finding.tables.push_back(std::move(table));
    for (const Instance& instance : finding.worst) {
      const Disturbance& one = disturbances_[instance.detail];
      if (instance.evidence[1] != noRow) {
        finding.evidence.push_back({instance.evidence[1], Sentence("where it comes from")});
      }
      Sentence what;
      what.words("{}, {}", one.cause, nsWords(one.ns));
      finding.evidence.push_back({instance.evidence[0], std::move(what)});
    }
  }

 private:
  struct PerCpu {
    u64 count = 0, tracing = 0;
    s64 aloneNs = 0, longestQuiet = 0;
  };

  static Sentence detailOf(const Disturbance& one) {
    Sentence words;
    if (one.detail.empty()) return words;
    return one.name == Token::Is::Task ? words.task(one.detail) : words.symbol(one.detail);
  }

  void judgeCpu(const Material& material, Cpu cpu, Judged& judged) {
    std::vector<AloneSpan> alone = aloneSpans(material, cpu);
    PerCpu& of = perCpu_[cpu];
    std::erase_if(alone, [&](const AloneSpan& span) {
      return material.isBlind(cpu, span.from, span.to, blindKinds);
    });
    if (alone.empty()) return;
    // Rows of an undisturbed CPU are far apart, so that the first second is cut off by time.
    const Row begin = alone.front().from;
    const auto since = [&](Row row) { return material.nsBetween(begin, row).value_or(0); };
    std::erase_if(alone, [&](const AloneSpan& span) { return since(span.to) <= startUpNs; });
    for (const AloneSpan& span : alone) {
      of.aloneNs += since(span.to) - std::max(since(span.from), startUpNs);
    }
    judged.judgedNs += of.aloneNs;
    const CpuBrackets* const brackets = material.bracketsOf(cpu);
    if (brackets) {
      judged.opportunities += brackets->tasks.size();
      for (const Bracket& bracket : brackets->nested) {
        judged.opportunities += bracket.outer == Bracket::none;
      }
    }
    auto found = disturbancesOf(material, cpu, alone, of.tracing);
    std::erase_if(found, [&](const Disturbance& one) { return since(one.entry) < startUpNs; });
    of.count = found.size();
    s64 last = startUpNs;
    for (const Disturbance& one : found) {
      Instance& instance = judged.instances.emplace_back();
      const Row end = one.exit != noRow ? one.exit : one.entry;
      instance.when = {material.time(one.entry), material.time(end)};
      instance.cpu = cpu;
      instance.magnitude = one.ns;
      instance.evidence = {one.entry, one.origin, one.exit, noRow};
      if (number(one.span) != ~u32{0}) instance.timer = material.span(one.span).timer;
      instance.detail = static_cast<u32>(disturbances_.size());
      disturbances_.push_back(one);
      of.longestQuiet = std::max(of.longestQuiet, since(one.entry) - last);
      last = since(one.entry);
    }
    if (!alone.empty()) of.longestQuiet = std::max(of.longestQuiet, since(alone.back().to) - last);
  }

  IsolatedCpus isolated_;
  std::map<Cpu, PerCpu> perCpu_;
  std::vector<Disturbance> disturbances_;
};

}  // namespace

extern const DetectorInfo f19IsolationBroken;
constinit const DetectorInfo f19IsolationBroken{
    .id = "F19",
    .name = "isolation-broken",
    .line = "tick and timers on an isolated CPU",
    .needs = {Needs{Need::S, Need::I}, Needs{Need::S, Need::H}},
    .record = "isolation",
    .byTimeAlone = "",
    .make = makeDetector<IsolationBroken>,
};

}  // namespace tickscope
