// SPDX-License-Identifier: GPL-3.0-or-later
// How long the state at a random row takes, on a recording and on ten million events made of it.
//   state_bench [RECORDING]
#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <vector>

#include "core/analysis.h"
#include "importers/import.h"
#include "tests/bench/bench_figures.h"
#include "tests/bench/state_bench_repeat.h"

namespace tickscope::bench {
namespace {

constexpr double goalMs = 20, goalMemory = 15;
constexpr u32 manyEvents = 10'000'000;
constexpr int samples = 10'000;
constexpr u32 seed = 7;

bool measure(std::string_view title, const std::shared_ptr<const Recording>& recording,
             u32 opened) {
  Progress progress;
  AnalysisOptions options;
  options.buffer = opened;
  const double before = cpuSeconds();
  const auto analysed = analyse(recording, options, progress);
  if (!analysed) return fmt::print(stderr, "{}\n", describe(analysed.error())), false;
  const double seconds = cpuSeconds() - before;
  const EventStore& events = analysed->events();
  if (events.empty()) return fmt::print(stderr, "{}: no events\n", title), false;
  std::mt19937 random(seed);
  std::uniform_int_distribution<u32> anyRow(0, events.size() - 1);
  std::vector<double> times;
  u64 timers = 0;
  for (int i = 0; i < samples; ++i) {
    const Row row{anyRow(random)};
    const auto start = std::chrono::steady_clock::now();
    const SystemState state = stateAt(*analysed, row);
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
            .count());
    timers += state.ownerUnknown.size();
    for (const CpuState& cpu : state.cpus) {
      for (const WheelBaseState& base : cpu.wheel) timers += base.timers.size();
      for (const auto& tree : cpu.hrtimers) timers += tree.size();
    }
  }
  std::ranges::sort(times);
  const ReplayTables& tables = analysed->tables;
  fmt::print("{}: {} events, {} spans, {} discrepancies, analyse() {:.1f} s CPU\n", title,
             events.size(), tables.spans.size(), tables.discrepancies.size(), seconds);
  fmt::print(
      "  stateAt at {} random rows (seed {}), {:.0f} timers each: "
      "p50 {:.3f} ms, p99 {:.3f} ms, max {:.3f} ms\n",
      samples, seed, static_cast<double>(timers) / samples, times[times.size() / 2],
      times[times.size() * 99 / 100], times.back());
  printGoal("stateAt, p99 in ms", times[times.size() * 99 / 100], true, goalMs);
  printGoal(
      "checkpoints, % of the events",
      100 * static_cast<double>(tables.checkpointBytes()) / static_cast<double>(events.bytes()),
      true, goalMemory);
  return true;
}

int run(const std::string& path) {
  Progress progress;
  const auto source = ByteSource::file(path);
  if (!source) return fmt::print(stderr, "{}\n", describe(source.error())), 3;
  auto imported = importTrace(*source, {}, progress);
  if (!imported) return fmt::print(stderr, "{}\n", describe(imported.error())), 3;
  const auto recording = std::make_shared<const Recording>(std::move(*imported));
  if (recording->buffers.empty()) return fmt::print(stderr, "{}: no events\n", path), 3;
  const u32 opened = recording->mainBuffer();
  if (!measure(path, recording, opened)) return 3;

  const Buffer& buffer = recording->buffers[opened];
  const auto hz = ClockMap::fit(buffer, static_cast<u8>(recording->metadata.wordSize * 8)).hz();
  if (!hz || buffer.clock.unit != ClockUnit::Nanoseconds) {
    fmt::print("more events are not made: HZ or the clock's unit is not known\n");
    return 0;
  }
  const u32 times = (manyEvents + buffer.events.size() - 1) / buffer.events.size();
  const auto many = std::make_shared<const Recording>(repeated(*recording, opened, times, hz->hz));
  return measure(fmt::format("{} times behind itself", times), many, 0) ? 0 : 3;
}

}  // namespace
}  // namespace tickscope::bench

int main(int count, char** words) {
  const std::string path = tickscope::bench::recordingAsked(count, words);
  if (path.empty()) {
    fputs("usage: state_bench [RECORDING]\n", stderr);
    return 2;
  }
  return tickscope::bench::run(path);
}
