// SPDX-License-Identifier: GPL-3.0-or-later
// What the lanes of a recording cost to build and keep, and a frame's scene while zooming and panning.
//   timeline_bench RECORDING
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/analysis.h"
#include "core/timeline/lane_builder.h"
#include "core/timeline/scene_builder.h"
#include "importers/import.h"

namespace tickscope {
namespace {

double cpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void measureFrames(const Timeline& timeline, const ModelLanes* model, const char* what) {
  LaneLayout layout;
  layout.reset(static_cast<u32>(timeline.tracks.size()));
  const SceneNames names;
  std::mt19937 random(7);
  std::vector<double> times;
  for (int frame = 0; frame < 600; ++frame) {
    // Lengths spread evenly over the powers of two, from the whole to a few units.
    const double length = static_cast<double>(timeline.last + 1) *
                          std::pow(2.0, -std::uniform_real_distribution<>(0, 20)(random));
    const double from = std::uniform_real_distribution<>(0, 1)(random) *
                        (static_cast<double>(timeline.last) - length);
    SceneRequest request;
    request.from = static_cast<s64>(from);
    request.to = static_cast<s64>(from + length) + 1;
    request.model = model;
    request.width = 1724;  // 1920 less the labels
    request.places = layout.placesIn(0, 1046);
    const double before = cpuSeconds();
    const Scene scene = buildScene(timeline, names, request);
    times.push_back((cpuSeconds() - before) * 1e3);
  }
  std::sort(times.begin(), times.end());
  fmt::print("scene 1920x1080 {}, ms CPU: p50 {:.2f}, p99 {:.2f}, max {:.2f}\n", what,
             times[times.size() / 2], times[times.size() * 99 / 100], times.back());
}

int run(const char* file) {
  Progress progress;
  const auto source = ByteSource::file(file);
  if (!source) return fmt::print(stderr, "{}\n", describe(source.error())), 3;
  auto recording = importTrace(*source, {}, progress);
  if (!recording) return fmt::print(stderr, "{}\n", describe(recording.error())), 3;
  const EventStore& store = recording->buffers[recording->mainBuffer()].events;
  std::shared_ptr<const Timeline> timeline;
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const double before = cpuSeconds();
    timeline = *buildTimeline(store, 1, progress);
    best = std::min(best, cpuSeconds() - before);
  }
  u64 inLanes = 0;
  for (const CpuTrack& track : timeline->tracks) {
    for (const Lane& lane : track.lanes) inLanes += lane.rows.size();
  }
  const auto events = static_cast<double>(store.size());
  fmt::print("{} events, {} CPUs, {:.0f} % of the events in lanes\n", store.size(),
             timeline->tracks.size(), 100.0 * static_cast<double>(inLanes) / events);
  fmt::print("build: {:.1f} ms CPU, {:.1f} ns an event, {:.0f} ms per 10 M events and lane kind\n",
             best * 1e3, best * 1e9 / events,
             best * 1e10 / events / static_cast<double>(laneCount));
  fmt::print("memory: {:.2f} bytes an event\n", static_cast<double>(timeline->bytes()) / events);
  measureFrames(*timeline, nullptr, "of events");

  AnalysisOptions options;
  options.buffer = recording->mainBuffer();
  const auto analysis =
      analyse(std::make_shared<const Recording>(std::move(*recording)), options, progress);
  if (!analysis) return fmt::print(stderr, "{}\n", describe(analysis.error())), 3;
  timeline = *buildTimeline(analysis->events(), 1, progress);
  const double before = cpuSeconds();
  const auto lanes =
      *buildModelLanes(*timeline, analysis->tables, analysis->clocks, true, progress);
  fmt::print("model: {} armed spans, {:.1f} ms CPU, {:.2f} bytes an event\n",
             analysis->tables.spans.size(), (cpuSeconds() - before) * 1e3,
             static_cast<double>(lanes->bytes()) / events);
  measureFrames(*timeline, lanes.get(), "with the model");
  return 0;
}

}  // namespace
}  // namespace tickscope

int main(int argc, char** argv) {
  if (argc != 2) {
    fputs("usage: timeline_bench RECORDING\n", stderr);
    return 2;
  }
  return tickscope::run(argv[1]);
}
