// SPDX-License-Identifier: GPL-3.0-or-later
// What the reference model of a recording costs: CPU time by stage, memory by part.
//   replay_bench [RECORDING]
#include <algorithm>
#include <array>
#include <memory>

#include "core/analysis.h"
#include "core/model/replay.h"
#include "importers/import.h"
#include "tests/bench/bench_figures.h"

namespace tickscope::bench {
namespace {

constexpr double goalRate = 5, goalMemory = 15;
constexpr int repeat = 7;

/// Least CPU seconds of several runs, by stage.
struct Stages {
  double clocks = 1e9, profile = 1e9, replay = 1e9, allRules = 1e9, whole = 1e9;
};

template <class F>
void measure(double& least, F&& work) {
  const double before = cpuSeconds();
  work();
  least = std::min(least, cpuSeconds() - before);
}

void measureStages(const std::shared_ptr<const Recording>& recording, u32 opened,
                   const Analysis& analysed, Stages& stages) {
  const Buffer& buffer = recording->buffers[opened];
  Progress progress;
  ClockMap clocks;
  measure(stages.clocks, [&] {
    clocks = ClockMap::fit(buffer, static_cast<u8>(recording->metadata.wordSize * 8));
  });
  KernelProfile profile;
  measure(stages.profile,
          [&] { profile = learnProfile(*recording, buffer, {}, clocks.hz(), nullptr); });
  const auto replay = [&](double& least, RuleSet rules) {
    Result<ReplayTables> tables;
    measure(least, [&] {
      Replay pass({.recording = *recording,
                   .buffer = buffer,
                   .profile = analysed.profile,
                   .clocks = analysed.clocks,
                   .rules = rules});
      tables = pass.run(progress);
    });
  };
  replay(stages.replay, {});
  replay(stages.allRules, RuleSet().set());
  AnalysisOptions options;
  options.buffer = opened;
  Result<Analysis> whole;
  measure(stages.whole, [&] { whole = analyse(recording, options, progress); });
}

u64 lineBytes(const CpuLines& cpu) {
  u64 sum = cpu.expiresNext.bytes() + cpu.softirqExpiresNext.bytes() + cpu.programmed.bytes() +
            cpu.context.bytes() + cpu.timers.bytes();
  for (std::size_t i = 0; i < wheelBaseCount; ++i) {
    sum += cpu.clk[i].bytes() + cpu.nextExpiry[i].bytes();
  }
  return sum;
}

void printMemory(const Analysis& analysed) {
  const ReplayTables& tables = analysed.tables;
  u64 lines = 0;
  for (const CpuLines& cpu : tables.cpus) lines += lineBytes(cpu);
  const u64 spans = tables.spans.capacity() * sizeof(ArmedSpan) +
                    tables.beforeRecording.capacity() * sizeof(SpanId);
  const u64 timers = tables.timers.capacity() * sizeof(ModelTimer);
  const u64 differences = tables.discrepancies.capacity() * sizeof(Discrepancy) +
                          tables.blindSpots.capacity() * sizeof(BlindSpot);
  const u64 store = analysed.events().bytes();
  const double events = analysed.events().size();
  const auto row = [&](std::string_view name, u64 bytes) {
    fmt::print("  {:<24} {:>9.2f} MiB {:>8.2f} bytes an event {:>7.2f} % of the events\n", name,
               mib(bytes), static_cast<double>(bytes) / events,
               100 * static_cast<double>(bytes) / static_cast<double>(store));
  };
  fmt::print("memory\n");
  row("events", store);
  row("spans", spans);
  row("step lines", lines);
  row("checkpoints", tables.checkpointBytes());
  row("timers", timers);
  row("discrepancies", differences);
  row("tables together", spans + lines + tables.checkpointBytes() + timers + differences);
  printGoal("checkpoints, % of the events",
            100 * static_cast<double>(tables.checkpointBytes()) / static_cast<double>(store), true,
            goalMemory);
}

int run(const std::string& path) {
  Progress progress;
  const auto source = ByteSource::file(path);
  if (!source) return fmt::print(stderr, "{}\n", describe(source.error())), 3;
  auto imported = importTrace(*source, {}, progress);
  if (!imported) return fmt::print(stderr, "{}\n", describe(imported.error())), 3;
  const auto recording = std::make_shared<const Recording>(std::move(*imported));
  if (recording->buffers.empty()) return fmt::print(stderr, "{}: no events\n", path), 3;
  AnalysisOptions options;
  const u32 opened = options.buffer = recording->mainBuffer();
  const double peakBefore = peakMib();
  const auto analysed = analyse(recording, options, progress);
  if (!analysed) return fmt::print(stderr, "{}\n", describe(analysed.error())), 3;
  const double peakAfter = peakMib();
  Stages stages;
  for (int i = 0; i < repeat; ++i) measureStages(recording, opened, *analysed, stages);

  const u32 events = analysed->events().size();
  fmt::print("{}: {} events, {} spans; least of {} runs\n", path, events,
             analysed->tables.spans.size(), repeat);
  const auto row = [&](std::string_view name, double seconds) {
    fmt::print("  {:<34} {:8.1f} ms CPU {:7.1f} ns an event {:7.2f} M events/s\n", name,
               seconds * 1e3, seconds * 1e9 / events, events / seconds * 1e-6);
  };
  row("clock fit", stages.clocks);
  row("kernel profile", stages.profile);
  row("replay under the expected rule", stages.replay);
  row("replay under all rules", stages.allRules);
  row("analyse(), all stages", stages.whole);
  printGoal("replay, M events/s", events / stages.replay * 1e-6, false, goalRate);
  printMemory(*analysed);
  fmt::print("  peak {:.1f} MiB after the import, {:.1f} MiB after analyse()\n", peakBefore,
             peakAfter);
  return 0;
}

}  // namespace
}  // namespace tickscope::bench

int main(int count, char** words) {
  const std::string path = tickscope::bench::recordingAsked(count, words);
  if (path.empty()) {
    fputs("usage: replay_bench [RECORDING]\n", stderr);
    return 2;
  }
  return tickscope::bench::run(path);
}
