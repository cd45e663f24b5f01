// SPDX-License-Identifier: GPL-3.0-or-later
// What the model adds to the lanes, against its tables and as scenes.
#include "core/timeline/model_lanes.h"

#include <gtest/gtest.h>

#include <set>

#include "core/analysis.h"
#include "core/timeline/lane_builder.h"
#include "core/timeline/scene_builder.h"
#include "core/timeline/timer_rows.h"
#include "core/trace/event_text.h"
#include "tests/support/analysed.h"
#include "tests/support/golden.h"
#include "tests/support/recordings.h"

namespace tickscope {
namespace {

struct Drawn {
  explicit Drawn(const std::string& path) : analysis(support::analysedFile(path)) {
    Progress progress;
    timeline = *buildTimeline(analysis.events(), 1, progress);
    lanes = *buildModelLanes(*timeline, analysis.tables, analysis.clocks, true, progress);
  }

  /// `page`: room for lanes; timers get rows where there is any.
  Scene scene(s64 from, s64 to, Known<Row> selected = {}, s64 page = 0) const {
    LaneLayout layout;
    layout.reset(static_cast<u32>(timeline->tracks.size()));
    if (page) fitTimerRows(layout, *lanes, page);
    SceneRequest request;
    request.from = timeline->relative({from});
    request.to = timeline->relative({to});
    request.width = 1000;
    request.places = layout.placesIn(0, layout.height());
    request.model = lanes.get();
    if (selected) request.selected = lanes->spanOfRow(*selected);
    request.timeWords = [this](s64 time) { return std::to_string(timeline->absolute(time).value); };
    const EventText text(*analysis.recording, analysis.opened());
    SceneNames names;
    names.task = [&](Pid pid) { return text.comm(pid); };
    names.symbol = [&](Address address) { return text.symbol(address); };
    return buildScene(*timeline, names, request);
  }

  Analysis analysis;
  std::shared_ptr<const Timeline> timeline;
  std::shared_ptr<const ModelLanes> lanes;
};

SceneStrip strip(const Scene& scene, LaneKind lane, u32 track) {
  for (const SceneStrip& one : scene.strips) {
    if (!one.header && one.lane == lane && one.track == track) return one;
  }
  return {};
}

/// The lines of the rows of a lane.
std::string textOfRows(const Scene& scene, LaneKind lane, u32 track) {
  Scene part = scene;
  std::erase_if(part.strips, [&](const SceneStrip& one) {
    return one.header || one.lane != lane || one.track != track || one.timerRow == 0;
  });
  return textOf(part);
}

/// The lines of one strip alone.
std::string textOfStrip(const Scene& scene, LaneKind lane, u32 track) {
  Scene one = scene;
  one.strips = {strip(scene, lane, track)};
  return textOf(one);
}

class ModelLanesOf : public testing::TestWithParam<const char*> {};

TEST_P(ModelLanesOf, HoldEverySpanWithAnOwnerOnceAndCountTheArmedAtAnyTime) {
  TICKSCOPE_NEED_RECORDING(path, GetParam());
  const Drawn drawn(path);
  const auto& tables = drawn.analysis.tables;
  std::multiset<u32> listed;
  for (u32 t = 0; t < drawn.lanes->tracks.size(); ++t) {
    for (const LaneKind kind : {LaneKind::Wheel, LaneKind::Hrtimer}) {
      const ArmedLane& lane = drawn.lanes->armed(t, kind);
      for (u32 i = 1; i < lane.begins.size(); ++i) {
        EXPECT_LE(lane.begins[i - 1], lane.begins[i]) << path << " track " << t;
        EXPECT_LE(lane.ends[i - 1], lane.ends[i]) << path << " track " << t;
      }
      for (const SpanId id : lane.byBegin) listed.insert(number(id));
      for (int i = 0; i <= 40; ++i) {
        const s64 time = drawn.timeline->last * i / 40;
        u32 expected = 0;
        for (const SpanId id : lane.byBegin) {
          const ArmedSpan& span = drawn.lanes->span(id);
          expected += drawn.lanes->beginOf(span) <= time && drawn.lanes->endOf(span) > time;
        }
        EXPECT_EQ(lane.armedAt(time), expected) << path << " track " << t << " at " << time;
      }
    }
  }
  u64 owned = 0;
  for (u32 i = 0; i < tables.spans.size(); ++i) {
    const bool has = tables.spans[i].owner != noCpu;
    owned += has;
    EXPECT_EQ(listed.count(i), has ? 1U : 0U) << path << " span " << i;
    if (has && tables.spans[i].armed != noRow) {
      const Known<SpanId> found = drawn.lanes->spanOfRow(tables.spans[i].armed);
      ASSERT_TRUE(found) << path << " span " << i;
      EXPECT_EQ(drawn.lanes->span(*found).armed, tables.spans[i].armed) << path << " span " << i;
    }
  }
  EXPECT_GT(owned, 0U) << path;
}

TEST_P(ModelLanesOf, KeepTheStepLineOfTheTables) {
  TICKSCOPE_NEED_RECORDING(path, GetParam());
  const Drawn drawn(path);
  const EventStore& store = drawn.analysis.events();
  for (const CpuLines& lines : drawn.analysis.tables.cpus) {
    u32 t = 0;
    while (t < drawn.timeline->tracks.size() && drawn.timeline->tracks[t].cpu != lines.cpu) ++t;
    if (t == drawn.timeline->tracks.size()) continue;
    const DueLine& line = drawn.lanes->tracks[t].due;
    for (u32 row = 0; row + 1 < store.size(); row += 7) {
      const s64 time = drawn.timeline->relative(store.time(Row{row}));
      if (drawn.timeline->relative(store.time(Row{row + 1})) == time) continue;
      const Known<s64> expected = lines.expiresNext.at(Row{row});
      const Known<u32> step = line.stepAt(time);
      const bool known = step && line.known(*step);
      EXPECT_EQ(known, expected && *expected != never.value) << path << " row " << row;
      if (!known || !expected) continue;
      const auto due = drawn.analysis.clocks.trace(MonoTime{*expected}, lines.cpu);
      ASSERT_TRUE(due);
      EXPECT_EQ(line.due(*step), drawn.timeline->relative(due->value)) << path << " row " << row;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Recordings, ModelLanesOf,
                         testing::Values("formats/base-v7-none.dat", "02-ncm-double.dat",
                                         "06-lost.dat"));

TEST(ModelLanes, ConnectTheSelectedTimerWithItsDeadline) {
  TICKSCOPE_NEED_RECORDING(path, "02-ncm-double.dat");
  const Drawn drawn(path);
  const Scene scene = drawn.scene(6'403'400'000, 6'403'500'000 + 300'000, Row{266});
  u32 selected = 0;
  for (const SceneArmed& bar : strip(scene, LaneKind::Hrtimer, 1).armed) {
    if (!bar.selected) continue;
    ++selected;
    EXPECT_EQ(bar.label, "due 6403715305  +299.2 µs");
    // Armed at 6.403416103, restarted at 6.403521224, due at 6.403715305; 2.5 pixels a µs.
    EXPECT_NEAR(static_cast<double>(bar.from), 40.3, 0.1);
    EXPECT_NEAR(static_cast<double>(bar.to), 303.1, 0.1);
    ASSERT_TRUE(bar.due);
    EXPECT_NEAR(static_cast<double>(*bar.due), 788.3, 0.1);
    EXPECT_TRUE(bar.replaced);
    EXPECT_FALSE(bar.late);
  }
  EXPECT_EQ(selected, 1U) << textOfStrip(scene, LaneKind::Hrtimer, 1);
}

TEST(ModelLanes, DrawTheTimeLeftAsAFallingLineThatIsSetUpByEachRestart) {
  TICKSCOPE_NEED_RECORDING(path, "02-ncm-double.dat");
  const Drawn drawn(path);
  const Scene scene = drawn.scene(6'403'400'000, 6'403'800'000);
  const SceneStrip lane = strip(scene, LaneKind::Programming, 1);
  const std::string text = textOfStrip(scene, LaneKind::Programming, 1);
  ASSERT_GE(lane.left.size(), 4U) << text;
  for (const SceneLeft& piece : lane.left) {
    EXPECT_GE(piece.begin, piece.end) << text;
    // Each µs takes a µs.
    const double fallen = static_cast<double>(piece.begin - piece.end) * 299'202;
    EXPECT_NEAR(fallen, static_cast<double>(piece.to - piece.from) * 400, 600) << text;
  }
  EXPECT_EQ(lane.detail, "299.2 µs") << text;
  EXPECT_EQ(lane.detailBelow, "to expires_next") << text;
}

TEST(ModelLanes, HatchLostTimersFromTheirBucketOn) {
  TICKSCOPE_NEED_RECORDING(path, "06-lost.dat");
  const Drawn drawn(path);
  const ArmedLane& wheel = drawn.lanes->armed(1, LaneKind::Wheel);
  // A timer due at 6.152 s is pending until it is cancelled 1.346 s later.
  const s64 in = drawn.timeline->relative({6'900'000'000});
  const bool late = std::ranges::any_of(
      wheel.late, [&](const TimeRange& range) { return range.from <= in && range.to > in; });
  EXPECT_TRUE(late) << wheel.late.size() << " late ranges";
  const Scene scene = drawn.scene(6'700'000'000, 7'000'000'000);
  const SceneStrip lane = strip(scene, LaneKind::Wheel, 1);
  EXPECT_TRUE(std::ranges::any_of(lane.armed, [](const SceneArmed& bar) {
    return bar.late.has_value();
  })) << textOfStrip(scene, LaneKind::Wheel, 1);
}

TEST(ModelLanes, GiveEachLostTimerARowWithItsHatch) {
  TICKSCOPE_NEED_RECORDING(path, "06-lost.dat");
  const Drawn drawn(path);
  const s64 begin = drawn.timeline->origin.value;
  const Scene scene = drawn.scene(begin, begin + drawn.timeline->last, {}, 500);
  std::set<TimerId> hatched;
  for (const SceneStrip& strip : scene.strips) {
    if (strip.track != 1 || strip.lane != LaneKind::Wheel || !strip.timerRow) continue;
    EXPECT_TRUE(strip.name.starts_with("lab_wheel_periodic …")) << strip.name;
    for (const SceneArmed& bar : strip.armed) {
      if (bar.late && bar.to - *bar.late > 300) hatched.insert(*strip.timer);
    }
  }
  EXPECT_EQ(hatched.size(), 4U) << textOfRows(scene, LaneKind::Wheel, 1);
}

TEST(ModelLanes, ChooseTheSelectedTimerThenLostOnesThenThoseWithMostLivesInView) {
  TICKSCOPE_NEED_RECORDING(path, "06-lost.dat");
  const Drawn drawn(path);
  for (const LaneKind kind : {LaneKind::Wheel, LaneKind::Hrtimer}) {
    const ArmedLane& lane = drawn.lanes->armed(1, kind);
    for (const s64 length : {s64{20'000'000}, s64{200'000'000}, drawn.timeline->last}) {
      for (s64 from = 0; from + length <= drawn.timeline->last; from += length) {
        const s64 to = from + length;
        const auto chosen = timersInRows(*drawn.lanes, lane, from, to, 4, {});
        std::vector<u32> lives(lane.timers.size());
        for (const SpanId id : lane.byBegin) {
          const ArmedSpan& span = drawn.lanes->span(id);
          lives[*lane.placeOf(span.timer)] +=
              drawn.lanes->beginOf(span) < to && drawn.lanes->endOf(span) >= from;
        }
        u32 least = ~u32{0};
        for (const u32 place : chosen) {
          const auto lost = lane.ranked.begin() + lane.lost;
          if (std::find(lane.ranked.begin(), lost, place) == lost)
            least = std::min(least, lives[place]);
        }
        for (u32 place = 0; place < lives.size(); ++place) {
          if (least == ~u32{0} || std::ranges::count(chosen, place)) continue;
          EXPECT_LE(lives[place], least) << "timer " << place << " from " << from << " to " << to;
        }
        const TimerId last = lane.timers.back().timer;
        const auto with = timersInRows(*drawn.lanes, lane, from, to, 1, last);
        ASSERT_EQ(with.size(), 1U);
        EXPECT_EQ(lane.timers[with[0]].timer, last);
      }
    }
  }
}

TEST(ModelLanes, DrawARowWithFewCellsMuchAsOneThatIsDrawnLifeByLife) {
  TICKSCOPE_NEED_RECORDING(path, "02-ncm-double.dat");
  const Drawn drawn(path);
  const ArmedLane& lane = drawn.lanes->armed(1, LaneKind::Hrtimer);
  const u32 most = lane.ranked.front();
  ASSERT_GT(lane.timers[most].count, 600U) << "too few lives for a dense row";
  SceneStrip strip;
  strip.track = 1;
  strip.lane = LaneKind::Hrtimer;
  strip.timerRow = 1;
  strip.height = 23;
  strip.timer = lane.timers[most].timer;
  const ViewWindow window = ViewWindow::bounded(0, drawn.timeline->last, 1000, 1);
  addTimerRow(strip, *drawn.lanes, {}, window, 200);
  u64 counted = 0;
  for (const SceneColumn& column : strip.columns) counted += column.count;
  for (const SceneGlyph& glyph : strip.glyphs) counted += glyph.count;
  EXPECT_EQ(counted, lane.timers[most].count) << "each life begins once";
  EXPECT_LE(strip.columns.size(), 200U);
  EXPECT_LE(strip.armed.size(), 200U);
}

TEST(ModelLanes, LookLikeThisAroundADoubleReprogramming) {
  TICKSCOPE_NEED_RECORDING(path, "02-ncm-double.dat");
  const Drawn drawn(path);
  support::expectGolden("timeline/ncm-double.txt",
                        textOf(drawn.scene(6'403'172'000, 6'404'232'000, Row{266}, 600)));
}

TEST(ModelLanes, LookLikeThisWhereTimersAreLost) {
  TICKSCOPE_NEED_RECORDING(path, "06-lost.dat");
  const Drawn drawn(path);
  const Scene scene = drawn.scene(6'060'000'000, 7'500'000'000, {}, 500);
  support::expectGolden("timeline/lost-wheel-rows.txt", textOfRows(scene, LaneKind::Wheel, 1));
}

}  // namespace
}  // namespace tickscope
