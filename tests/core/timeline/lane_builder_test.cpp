// SPDX-License-Identifier: GPL-3.0-or-later
// Lanes of written recordings: pairs, halves, nesting, losses, and what counts.
#include "core/timeline/lane_builder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "core/timeline/lane_view.h"
#include "tests/support/made_events.h"

namespace tickscope {
namespace {

using support::EventMaker;

std::shared_ptr<const Timeline> timelineOf(const EventStore& store, int threads = 1) {
  Progress progress;
  auto built = buildTimeline(store, threads, progress);
  if (!built) throw std::runtime_error(built.error().what);
  return *built;
}

/// All spans of a lane: `from..to`, with < and > where an end is not known, * for idle, ( ) for depth.
std::string spansOf(const Timeline& timeline, LaneKind kind, std::size_t track = 0) {
  const CpuTrack& cpu = timeline.tracks[track];
  LaneView view = viewLane(timeline, cpu, cpu.lanes[number(kind)],
                           ViewWindow::bounded(-10, timeline.last + 10, 1000, 1));
  std::sort(view.spans.begin(), view.spans.end(), [](const LaneSpan& a, const LaneSpan& b) {
    return a.from != b.from ? a.from < b.from : a.depth < b.depth;
  });
  std::string text;
  for (const LaneSpan& span : view.spans) {
    if (!text.empty()) text += ' ';
    text += fmt::format("{}{}{}..{}{}{}", std::string(span.depth, '('), span.beginKnown ? "" : "<",
                        span.from, span.to, span.endKnown ? "" : ">", span.idle ? "*" : "");
  }
  return text;
}

TEST(LaneBuilder, MakesTaskSpansFromSwitchesWithHalvesAtBothEnds) {
  EventMaker maker;
  maker.cpu(0).add(0, SoftirqRaise{1});
  maker.switchTo(100, "sh-72", "idle").switchTo(250, "idle", "cat-73").add(400, SoftirqRaise{1});
  const EventStore store = maker.finish();
  EXPECT_EQ(spansOf(*timelineOf(store), LaneKind::Task), "<0..100 100..250* 250..400>");
}

TEST(LaneBuilder, SaysThatATaskEndedUnseenWhenTheNextSwitchNamesAnother) {
  EventMaker maker;
  maker.cpu(0)
      .switchTo(0, "idle", "sh-72")
      .switchTo(100, "cat-73", "idle")
      .switchTo(200, "idle", "sh-72");
  const EventStore store = maker.finish();
  EXPECT_EQ(spansOf(*timelineOf(store), LaneKind::Task), "0..100> 100..200* 200..200>");
}

TEST(LaneBuilder, DrawsAnExitWithoutEntryFromTheBeginning) {
  EventMaker maker;
  maker.cpu(0).add(10, SoftirqRaise{1}).add(30, IrqHandlerExit{5, 1}).irq(50, 60, 5);
  const EventStore store = maker.finish();
  EXPECT_EQ(spansOf(*timelineOf(store), LaneKind::HardIrq), "<0..20 40..50");
}

TEST(LaneBuilder, NestsInterrupts) {
  EventMaker maker;
  maker.cpu(0)
      .add(0, IrqHandlerEntry{1, {}})
      .irq(10, 20, 2)
      .add(30, LocalTimerEntry{236})
      .add(40, LocalTimerExit{236})
      .add(50, IrqHandlerExit{1, 1});
  const EventStore store = maker.finish();
  const auto timeline = timelineOf(store);
  EXPECT_EQ(spansOf(*timeline, LaneKind::HardIrq), "0..50 (10..20 (30..40");
  const CpuTrack& cpu = timeline->tracks[0];
  EXPECT_EQ(busyBefore(*timeline, cpu, cpu.lanes[number(LaneKind::HardIrq)], 1000), 50U);
}

TEST(LaneBuilder, DoesNotTakeIrqThreeForVectorThree) {
  EventMaker maker;
  maker.cpu(0)
      .add(0, IrqHandlerEntry{3, {}})
      .add(10, VectorEntry{3})
      .add(20, VectorExit{3})
      .add(30, IrqHandlerExit{3, 1});
  const EventStore store = maker.finish();
  EXPECT_EQ(spansOf(*timelineOf(store), LaneKind::HardIrq), "0..30 (10..20");
}

TEST(LaneBuilder, AnEntryWhoseExitIsMissingEndsNowhereAndHidesNothing) {
  EventMaker maker;
  maker.cpu(0).add(0, SoftirqEntry{1}).softirq(90, 100, 110, 1);
  const EventStore store = maker.finish();
  EXPECT_EQ(spansOf(*timelineOf(store), LaneKind::Softirq), "0..0> 100..110");
}

TEST(LaneBuilder, CountsDeeperNestingThanItNames) {
  EventMaker maker;
  maker.cpu(0);
  for (s32 i = 0; i < 7; ++i) maker.add(i, IrqHandlerEntry{i, {}});
  for (s32 i = 7; i-- > 0;) maker.add(20 - i, IrqHandlerExit{i, 1});
  maker.irq(30, 40, 9);
  const EventStore store = maker.finish();
  EXPECT_EQ(spansOf(*timelineOf(store), LaneKind::HardIrq), "0..20 (1..19 ((2..18 (((3..17 30..40");
}

TEST(LaneBuilder, ALossEndsAllThatIsOpen) {
  EventMaker maker;
  maker.cpu(0).switchTo(0, "idle", "sh-72").add(10, IrqHandlerEntry{1, {}}).loss(7);
  maker.add(100, SoftirqRaise{1}).add(120, IrqHandlerExit{1, 1}).switchTo(150, "cat-73", "idle");
  maker.add(160, SoftirqRaise{1});
  const EventStore store = maker.finish();
  const auto timeline = timelineOf(store);
  EXPECT_EQ(spansOf(*timeline, LaneKind::Task), "0..10> <100..150 150..160>*");
  EXPECT_EQ(spansOf(*timeline, LaneKind::HardIrq), "10..10> <100..120");
  ASSERT_EQ(timeline->tracks[0].losses.size(), 1U);
  EXPECT_EQ(timeline->tracks[0].losses[0].from, 10);
  EXPECT_EQ(timeline->tracks[0].losses[0].to, 100);
}

TEST(LaneBuilder, ALossAtTheEndEndsWhatIsOpenWhereItBegins) {
  EventMaker maker;
  maker.cpu(0).switchTo(0, "idle", "sh-72").add(50, SoftirqRaise{1}).loss({});
  maker.cpu(1).add(200, SoftirqRaise{1});
  const EventStore store = maker.finish();
  const auto timeline = timelineOf(store);
  EXPECT_EQ(spansOf(*timeline, LaneKind::Task), "0..50>");
  ASSERT_EQ(timeline->tracks[0].losses.size(), 1U);
  EXPECT_TRUE(timeline->tracks[0].losses[0].atEnd);
}

TEST(LaneBuilder, ShowsACpuOfWhichOnlyALossIsKnown) {
  EventMaker maker;
  maker.cpu(0).loss(12);
  maker.cpu(1).add(200, SoftirqRaise{1});
  const EventStore store = maker.finish();
  const auto timeline = timelineOf(store);
  ASSERT_EQ(timeline->tracks.size(), 2U);
  EXPECT_EQ(timeline->tracks[0].losses.size(), 1U);
}

TEST(LaneBuilder, ARestartAndAnExpiryCountOnce) {
  EventMaker maker;
  const Address timer{0xffff888000001000U};
  const Address other{0xffff888000002000U};
  maker.cpu(0).add(0, HrtimerStart{timer, {}, {}, {}, 0, false});
  maker.add(10, HrtimerCancel{timer}).add(11, HrtimerStart{timer, {}, {}, {}, 0, false});
  maker.add(20, HrtimerCancel{other}).add(21, HrtimerStart{timer, {}, {}, {}, 0, false});
  maker.expiry(30, 35, number(timer));
  const EventStore store = maker.finish();
  const auto timeline = timelineOf(store);
  const CpuTrack& cpu = timeline->tracks[0];
  const Lane& lane = cpu.lanes[number(LaneKind::Hrtimer)];
  EXPECT_EQ(countedBefore(*timeline, cpu, lane, static_cast<u32>(lane.rows.size())), 5U);
  const LaneView view = viewLane(*timeline, cpu, lane, ViewWindow::bounded(0, 100, 100, 1));
  std::string shapes;
  for (const LaneOperation& one : view.operations)
    shapes += fmt::format("{} {} ", one.time, nameOf(one.shape));
  EXPECT_EQ(shapes, "0 arm 11 restart 20 cancel 21 arm 30 expire ");
}

TEST(LaneBuilder, ACallThatLeavesTwoEventsCountsOnce) {
  EventMaker maker;
  maker.cpu(0).add(0, HrtimerRearm{5, false}).call(1).add(10, HrtimerRearm{7, false}).call(11);
  const EventStore store = maker.finish();
  EXPECT_EQ(timelineOf(store)->tracks[0].lanes[number(LaneKind::Programming)].rows.size(), 2U);
}

TEST(LaneBuilder, TakesRearmsForCallsWhereNothingElseTellsThem) {
  EventMaker maker;
  maker.cpu(0).add(0, HrtimerRearm{5, false}).add(10, HrtimerRearm{7, false});
  const EventStore store = maker.finish();
  EXPECT_EQ(timelineOf(store)->tracks[0].lanes[number(LaneKind::Programming)].rows.size(), 2U);
}

TEST(LaneBuilder, BackwardTimesStandWhereTheLatestTimeBeforeThemWas) {
  EventMaker maker;
  maker.cpu(0).irq(100, 110, 1).irq(50, 60, 2).irq(200, 210, 3);
  const EventStore store = maker.finish();
  const auto timeline = timelineOf(store);
  EXPECT_EQ(spansOf(*timeline, LaneKind::HardIrq), "0..10 10..10 100..110");
  const Lane& lane = timeline->tracks[0].lanes[number(LaneKind::HardIrq)];
  for (u32 p = 1; p < lane.rows.size(); ++p)
    EXPECT_GE(timeline->timeAt(lane, p), timeline->timeAt(lane, p - 1)) << p;
}

TEST(LaneBuilder, StandsNoEventsOneEventAndTimesAtTheEndsOfNumbers) {
  const EventStore empty;
  EXPECT_TRUE(timelineOf(empty)->tracks.empty());
  for (const s64 time :
       {s64{0}, std::numeric_limits<s64>::max(), std::numeric_limits<s64>::min()}) {
    EventMaker maker;
    maker.cpu(0).add(time, SoftirqRaise{1});
    const EventStore store = maker.finish();
    const auto timeline = timelineOf(store);
    EXPECT_EQ(timeline->last, 0) << time;
    EXPECT_EQ(timeline->absolute(0), TraceTime{time});
  }
}

TEST(LaneBuilder, IsTheSameForAnyNumberOfThreads) {
  const auto make = [] {
    EventMaker maker;
    for (u16 cpu = 0; cpu < 5; ++cpu) {
      maker.cpu(cpu);
      for (s64 i = 0; i < 4000; ++i)
        maker.irq(i * 10 + cpu, i * 10 + 4, static_cast<s32>(i % 3))
            .expiry(i * 10 + 5, i * 10 + 6, 77);
    }
    return maker.finish();
  };
  const EventStore store = make();
  const auto one = timelineOf(store, 1);
  const auto three = timelineOf(store, 3);
  ASSERT_EQ(one->tracks.size(), three->tracks.size());
  ASSERT_EQ(one->overview.size(), three->overview.size());
  for (std::size_t r = 0; r < one->overview.size(); ++r)
    EXPECT_EQ(one->overview[r].counts, three->overview[r].counts) << "overview row " << r;
  for (std::size_t t = 0; t < one->tracks.size(); ++t) {
    for (std::size_t l = 0; l < laneCount; ++l) {
      const Lane& a = one->tracks[t].lanes[l];
      const Lane& b = three->tracks[t].lanes[l];
      EXPECT_EQ(a.rows, b.rows);
      EXPECT_EQ(a.checkpoints, b.checkpoints);
      ASSERT_EQ(a.pyramid.levels(), b.pyramid.levels());
      for (u32 level = 0; level < a.pyramid.levels(); ++level) {
        EXPECT_TRUE(std::ranges::equal(a.pyramid.bins(level), b.pyramid.bins(level)));
      }
    }
  }
}

TEST(LaneBuilder, StopsWhenCancelled) {
  EventMaker maker;
  maker.cpu(0).irq(0, 1);
  const EventStore store = maker.finish();
  Progress progress;
  progress.cancel();
  const auto built = buildTimeline(store, 1, progress);
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().kind, Error::Kind::Cancelled);
}

TEST(LaneBuilder, TakesFourThousandCpus) {
  EventMaker maker;
  for (u16 cpu = 0; cpu < 4096; ++cpu) maker.cpu(cpu).irq(cpu, cpu + 5);
  const EventStore store = maker.finish();
  EXPECT_EQ(timelineOf(store, 2)->tracks.size(), 4096U);
}

}  // namespace
}  // namespace tickscope
