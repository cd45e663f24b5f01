// SPDX-License-Identifier: GPL-3.0-or-later
// From bytes to findings and statistics: wall and CPU time, the share of each detector, one thread against two.
//   analysis_bench [RECORDING]
#include <algorithm>
#include <array>
#include <chrono>
#include <memory>

#include "core/analysis.h"
#include "core/findings/detector.h"
#include "core/report/findings_json.h"
#include "core/stats/timer_stats.h"
#include "importers/import.h"
#include "tests/bench/bench_figures.h"

namespace tickscope::bench {
namespace {

constexpr double goalRate = 3;
constexpr int repeat = 5;

double wallSeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Cost {
  double wall = 1e9, cpu = 1e9;
};

template <class F>
void measure(Cost& least, F&& work) {
  const double wall = wallSeconds(), cpu = cpuSeconds();
  work();
  least.wall = std::min(least.wall, wallSeconds() - wall);
  least.cpu = std::min(least.cpu, cpuSeconds() - cpu);
}

struct Stages {
  Cost import, analyse, activity, findings, statistics, whole;
};

/// All stages in a row. The findings as JSON, so that runs can be compared.
Result<std::string> pass(const std::string& path, int threads, Stages& stages) {
  Progress progress;
  std::string json;
  Known<Error> failed;
  measure(stages.whole, [&] {
    const auto source = ByteSource::file(path);
    if (!source) {
      failed = source.error();
      return;
    }
    std::shared_ptr<const Recording> recording;
    measure(stages.import, [&] {
      ImportOptions options;
      options.threads = threads;
      auto imported = importTrace(*source, options, progress);
      if (imported) {
        recording = std::make_shared<const Recording>(std::move(*imported));
      } else {
        failed = imported.error();
      }
    });
    if (!recording || recording->buffers.empty()) return;
    AnalysisOptions options;
    options.buffer = recording->mainBuffer();
    Result<Analysis> analysis;
    measure(stages.analyse, [&] { analysis = tickscope::analyse(recording, options, progress); });
    if (!analysis) {
      failed = analysis.error();
      return;
    }
    Activity activity;
    measure(stages.activity, [&] { activity = activityOf(*analysis, threads); });
    Result<Findings> findings;
    measure(stages.findings,
            [&] { findings = findingsOf(*analysis, activity, Thresholds(), threads, progress); });
    measure(stages.statistics, [&] {
      (void)timerStatsOf(analysis->opened(), analysis->tables, analysis->clocks, activity.brackets,
                         StatsBy::Callback);
    });
    json = findingsJson(*analysis, *findings, {}, "{}");
  });
  if (failed) return tl::unexpected(*failed);
  return json;
}

void printShares(const Analysis& analysis) {
  const Thresholds thresholds;
  Activity activity;
  Cost made;
  for (int i = 0; i < repeat; ++i) measure(made, [&] { activity = activityOf(analysis, 1); });
  const Material material = materialOf(analysis, activity, thresholds);
  std::vector<std::pair<std::string, double>> costs{{"brackets, baseline", made.cpu}};
  double sum = made.cpu;
  for (const DetectorInfo* const info : detectors()) {
    Cost cost;
    for (int i = 0; i < repeat; ++i) {
      measure(cost, [&] {
        std::vector<NotJudged> notJudged;
        (void)info->make()->detect(material, notJudged);
      });
    }
    sum += cost.cpu;
    costs.emplace_back(fmt::format("{} {}", info->id, info->name), cost.cpu);
  }
  fmt::print("detectors, CPU of one thread\n");
  for (const auto& [name, seconds] : costs) {
    fmt::print("  {:<28} {:8.2f} ms {:6.1f} % {:6.2f} ns an event\n", name, seconds * 1e3,
               100 * seconds / sum, seconds * 1e9 / analysis.events().size());
  }
}

int run(const std::string& path) {
  Stages one, two;
  std::string first;
  bool same = true;
  for (int i = 0; i < repeat; ++i) {
    for (const auto& [threads, stages] : {std::pair{1, &one}, std::pair{2, &two}}) {
      const auto json = pass(path, threads, *stages);
      if (!json) return fmt::print(stderr, "{}\n", describe(json.error())), 3;
      if (first.empty()) first = *json;
      same = same && first == *json;
    }
  }
  Progress progress;
  const auto source = ByteSource::file(path);
  auto imported = importTrace(*source, {}, progress);
  const auto recording = std::make_shared<const Recording>(std::move(*imported));
  AnalysisOptions options;
  options.buffer = recording->mainBuffer();
  const auto analysis = tickscope::analyse(recording, options, progress);
  if (!analysis) return fmt::print(stderr, "{}\n", describe(analysis.error())), 3;
  const double events = analysis->events().size();
  fmt::print("{}: {} events; least of {} runs\n", path, analysis->events().size(), repeat);
  const auto row = [&](std::string_view name, Cost Stages::*stage) {
    const Cost &a = one.*stage, &b = two.*stage;
    fmt::print(
        "  {:<12} one thread {:8.1f} ms wall {:8.1f} ms CPU; two {:8.1f} ms wall {:8.1f} ms "
        "CPU; {:6.2f} M events/s\n",
        name, a.wall * 1e3, a.cpu * 1e3, b.wall * 1e3, b.cpu * 1e3, events / b.wall * 1e-6);
  };
  row("import", &Stages::import);
  row("analyse()", &Stages::analyse);
  row("activity", &Stages::activity);
  row("findings", &Stages::findings);
  row("statistics", &Stages::statistics);
  row("whole", &Stages::whole);
  fmt::print("  findings of one and two threads are {}\n", same ? "the same bytes" : "DIFFERENT");
  printGoal("end to end on two threads, M events/s", events / two.whole.wall * 1e-6, false,
            goalRate);
  printShares(*analysis);
  return same ? 0 : 1;
}

}  // namespace
}  // namespace tickscope::bench

int main(int count, char** words) {
  const std::string path = tickscope::bench::recordingAsked(count, words);
  if (path.empty()) {
    fputs("usage: analysis_bench [RECORDING]\n", stderr);
    return 2;
  }
  return tickscope::bench::run(path);
}
