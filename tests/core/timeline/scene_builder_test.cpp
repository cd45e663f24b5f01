// SPDX-License-Identifier: GPL-3.0-or-later
// Scenes as text: what stands where, and in which words.
#include "core/timeline/scene_builder.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/timeline/lane_builder.h"
#include "tests/support/made_events.h"

namespace tickscope {
namespace {

using support::EventMaker;

std::shared_ptr<const Timeline> timelineOf(const EventStore& store) {
  Progress progress;
  return *buildTimeline(store, 1, progress);
}

Scene sceneOf(const Timeline& timeline, s64 from, s64 to, double width = 1000,
              bool durations = true) {
  LaneLayout layout;
  layout.reset(static_cast<u32>(timeline.tracks.size()));
  SceneNames names;
  names.symbol = [](Address) { return std::string("tick_nohz_handler"); };
  SceneRequest request;
  request.from = from;
  request.to = to;
  request.width = width;
  request.durations = durations;
  request.places = layout.placesIn(0, layout.height());
  return buildScene(timeline, names, request);
}

SceneStrip strip(const Scene& scene, LaneKind lane, u32 track = 0) {
  for (const SceneStrip& one : scene.strips) {
    if (!one.header && one.lane == lane && one.track == track) return one;
  }
  throw std::runtime_error("no such strip");
}

TEST(SceneBuilder, DrawsASmallRecording) {
  EventMaker maker;
  maker.cpu(1).add(0, SoftirqRaise{9}).switchTo(100, "idle", "sh-72");
  maker.add(200, HrtimerStart{Address{0x10}, {}, {}, {}, 0, false}).call(205);
  maker.irq(300, 420).softirq(430, 500, 560, 1);
  maker.add(600, HrtimerStart{Address{0x10}, {}, {}, {}, 0, true});
  maker.expiry(700, 760, 0x10).switchTo(900, "sh-72", "idle").add(1000, SoftirqRaise{9});
  const EventStore store = maker.finish();
  EXPECT_EQ(textOf(sceneOf(*timelineOf(store), 0, 1000)), R"(scene 0..1000 width 1000
CPU1 y=0 h=21 "busy 80 % · 1 hrtimer arm · 1 hrtimer restart · 1 hrtimer expiry · 1 programming call"
  task y=21 h=21
    bar <0.0..100.0 idle
    bar 100.0..900.0 task "sh-72"
    bar 900.0..1000.0> idle
  hard irq y=42 h=15
    bar 300.0..420.0 irq "1 device"
  softirq y=57 h=19
    bar 500.0..560.0 TIMER "TIMER"
    link 430.0..500.0 TIMER
    raise 0.0
    raise 430.0
    raise 1000.0
  hrtimers y=76 h=39
    bar 700.0..760.0 hrtimer "tick_nohz_handler"
    arm 200.0
    restart 600.0
    expire 700.0
  wheel y=115 h=23
    hatch 0.0..1000.0 "not recorded: wheel timers need timer_start, _cancel, _expire_entry and _expire_exit"
  programming y=138 h=47
    call 205.0
)");
}

TEST(SceneBuilder, TwoCallsTooCloseForGlyphsAreABadge) {
  EventMaker maker;
  maker.cpu(0).call(0).call(300).call(303).call(600).call(606).call(612).call(900);
  const EventStore store = maker.finish();
  const Scene scene = sceneOf(*timelineOf(store), 0, 1000);
  std::string text;
  for (const SceneGlyph& glyph : strip(scene, LaneKind::Programming).glyphs) {
    text += std::to_string(static_cast<int>(glyph.x)) + "x" + std::to_string(glyph.count) + " ";
  }
  EXPECT_EQ(text, "0x1 301x2 606x3 900x1 ");
}

TEST(SceneBuilder, CrowdsBecomeColumnsAndWhatIsAloneStaysAGlyph) {
  EventMaker maker;
  maker.cpu(0).call(0);
  for (s64 i = 0; i < 100; ++i) maker.call(500 + i / 4);
  maker.call(900);
  const EventStore store = maker.finish();
  const SceneStrip lane = strip(sceneOf(*timelineOf(store), 0, 1000), LaneKind::Programming);
  EXPECT_EQ(lane.glyphs.size(), 2U);
  EXPECT_EQ(lane.columns.size(), 25U);
  EXPECT_EQ(lane.detail, "max 4");
  for (const SceneColumn& column : lane.columns) {
    EXPECT_EQ(column.count, 4U);
    EXPECT_EQ(column.height, 42);
    EXPECT_EQ(column.strength, 255);
  }
}

TEST(SceneBuilder, ASingleEventNeverDisappears) {
  EventMaker maker;
  maker.cpu(0).irq(500'000'000, 500'000'001);
  maker.cpu(1).irq(0, 1).irq(1'000'000'000, 1'000'000'001);
  const EventStore store = maker.finish();
  const SceneStrip lane = strip(sceneOf(*timelineOf(store), 0, 1'000'000'001), LaneKind::HardIrq);
  ASSERT_EQ(lane.columns.size(), 1U);
  EXPECT_TRUE(lane.columns[0].lone);
  EXPECT_EQ(lane.columns[0].x, 499);
  EXPECT_GE(lane.columns[0].width, 2);
  EXPECT_GE(lane.columns[0].height, 6);
  EXPECT_EQ(lane.columns[0].strength, 255);
}

TEST(SceneBuilder, AStormStandsOutOfAFloorAtFullZoom) {
  EventMaker maker;
  maker.cpu(1);
  for (s64 ms = 0; ms < 10'000; ++ms) {
    if (ms % 100 == 50) {
      for (u64 i = 0; i < 64; ++i)
        maker.expiry(ms * 1'000'000 + static_cast<s64>(i) * 5000,
                     ms * 1'000'000 + static_cast<s64>(i) * 5000 + 3000, i);
    } else {
      maker.expiry(ms * 1'000'000, ms * 1'000'000 + 3000, 99);
    }
  }
  const EventStore store = maker.finish();
  const auto timeline = timelineOf(store);
  const SceneStrip lane = strip(sceneOf(*timeline, 0, timeline->last + 1, 1400), LaneKind::Hrtimer);
  int peaks = 0;
  for (const SceneColumn& column : lane.columns) {
    // A storm can lie across the border of two slices.
    if (column.count >= 20) {
      ++peaks;
      EXPECT_GE(column.height, 24) << column.x;
    } else {
      EXPECT_LE(column.height, 17) << column.x;
    }
  }
  EXPECT_GE(peaks, 95);
  EXPECT_LE(peaks, 201);
}

TEST(SceneBuilder, ComparesHeightsOverAllCpus) {
  EventMaker maker;
  maker.cpu(0);
  for (s64 i = 0; i < 30; ++i) maker.call(i * 3);
  maker.cpu(1);
  for (s64 i = 0; i < 3000; ++i) maker.call(i / 33);
  const EventStore store = maker.finish();
  const Scene scene = sceneOf(*timelineOf(store), 0, 100, 100);
  EXPECT_LT(strip(scene, LaneKind::Programming, 0).columns[0].height,
            strip(scene, LaneKind::Programming, 1).columns[0].height / 2);
}

TEST(SceneBuilder, HatchesLossesInEveryLaneAndSaysHowManyOnce) {
  EventMaker maker;
  maker.cpu(0).switchTo(0, "idle", "sh-72").add(100, SoftirqRaise{1}).loss(1204);
  maker.add(400, SoftirqRaise{1}).irq(410, 420).loss({}).irq(990, 1000);
  const EventStore store = maker.finish();
  const Scene scene = sceneOf(*timelineOf(store), 0, 1000);
  int said = 0;
  for (const SceneStrip& one : scene.strips) {
    ASSERT_FALSE(one.hatches.empty()) << one.name;
    for (const SceneHatch& hatch : one.hatches) said += hatch.reason == "1,204 events lost";
  }
  EXPECT_EQ(said, 1);
  EXPECT_EQ(scene.strips[0].words, "1,204 and more events lost · busy 10 %");
  const SceneHatch first = strip(scene, LaneKind::Softirq).hatches[0];
  EXPECT_FLOAT_EQ(first.from, 100);
  EXPECT_FLOAT_EQ(first.to, 400);
}

TEST(SceneBuilder, ALossIsVisibleHoweverShort) {
  EventMaker maker;
  maker.cpu(0)
      .add(0, SoftirqRaise{1})
      .loss(3)
      .add(1, SoftirqRaise{1})
      .add(1'000'000'000, SoftirqRaise{1});
  const EventStore store = maker.finish();
  const SceneStrip lane = strip(sceneOf(*timelineOf(store), 0, 1'000'000'000), LaneKind::Task);
  ASSERT_EQ(lane.hatches.size(), 1U);  // never recorded covers the lane
  const SceneStrip other = strip(sceneOf(*timelineOf(store), 0, 1'000'000'000), LaneKind::Softirq);
  ASSERT_EQ(other.hatches.size(), 1U);
  EXPECT_GE(other.hatches[0].to - other.hatches[0].from, 3);
}

TEST(SceneBuilder, SaysWhenALaneIsEmptyOnThisCpuOnly) {
  EventMaker maker;
  maker.cpu(0).irq(0, 10);
  maker.cpu(1).add(5, SoftirqRaise{1});
  const EventStore store = maker.finish();
  const Scene scene = sceneOf(*timelineOf(store), 0, 10);
  EXPECT_EQ(strip(scene, LaneKind::HardIrq, 1).words, "none on this CPU");
  EXPECT_TRUE(strip(scene, LaneKind::HardIrq, 1).hatches.empty());
}

TEST(SceneBuilder, SaysNothingOfDurationsWithoutAClock) {
  EventMaker maker;
  maker.cpu(0)
      .switchTo(0, "idle", "sh-72")
      .switchTo(500, "sh-72", "idle")
      .switchTo(1000, "idle", "sh-72");
  const EventStore store = maker.finish();
  const std::string text = textOf(sceneOf(*timelineOf(store), 0, 1000, 1000, false));
  EXPECT_EQ(text.find("busy"), std::string::npos) << text;
  EXPECT_EQ(text.find("share"), std::string::npos) << text;
}

TEST(SceneBuilder, SumsUpACpuThatOnlyRunsOneTask) {
  EventMaker maker;
  maker.cpu(0)
      .switchTo(0, "idle", "sh-72")
      .switchTo(10'000, "sh-72", "idle")
      .switchTo(20'000, "idle", "sh-72");
  const EventStore store = maker.finish();
  const auto timeline = timelineOf(store);
  EXPECT_EQ(sceneOf(*timeline, 100, 200).strips[0].words, "sh-72 runs");
  EXPECT_EQ(sceneOf(*timeline, 10'100, 10'200).strips[0].words, "idle");
}

TEST(SceneBuilder, FoldedHeadersShowTimerDensity) {
  EventMaker maker;
  maker.cpu(0);
  for (s64 i = 0; i < 50; ++i) maker.expiry(i * 20, i * 20 + 3, 7);
  const EventStore store = maker.finish();
  const auto timeline = timelineOf(store);
  LaneLayout layout;
  layout.reset(1);
  layout.setFolded(0, true);
  SceneRequest request{0, 1000, 1000, 1, true, layout.placesIn(0, 1000), 0};
  const Scene scene = buildScene(*timeline, {}, request);
  ASSERT_EQ(scene.strips.size(), 1U);
  EXPECT_TRUE(scene.strips[0].folded);
  EXPECT_EQ(scene.strips[0].columns.size(), 50U);
}

TEST(SceneBuilder, StandsHostileRequests) {
  EventMaker maker;
  maker.cpu(0).irq(0, 5).irq(std::numeric_limits<s64>::max() - 5, std::numeric_limits<s64>::max());
  const EventStore store = maker.finish();
  const auto timeline = timelineOf(store);
  SceneRequest request{
      std::numeric_limits<s64>::max(), std::numeric_limits<s64>::min(), -5, 0, true, {}, 0};
  request.places = {{99, false, false, LaneKind::Task, 0, 10},
                    {0, true, true, LaneKind::Task, s64{1} << 60, -3},
                    {0, false, false, LaneKind::HardIrq, -(s64{1} << 60), 0}};
  EXPECT_EQ(buildScene(*timeline, {}, request).strips.size(), 2U);
  EXPECT_TRUE(buildScene(Timeline{}, {}, request).strips.empty());
}

}  // namespace
}  // namespace tickscope
