// SPDX-License-Identifier: GPL-3.0-or-later
// What a window shows, by whichever way it is found, against sums made event by event.
#include "core/timeline/lane_view.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

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

u64 sumOf(const LaneView& view) {
  u64 sum = 0;
  for (const LaneCell& cell : view.cells) sum += cell.count;
  return sum;
}

/// An interrupt every 100 units that lasts 30, and a burst of 60,000 within 2,000 of them at `burst`.
EventStore busyStore(s64 interrupts, s64 burst) {
  EventMaker maker;
  maker.cpu(0);
  for (s64 i = 0; i < interrupts; ++i) {
    maker.irq(i * 100, i * 100 + 30);
    if (i * 100 == burst) {
      for (s64 b = 0; b < 30'000; ++b) maker.call(i * 100 + 30 + b / 1000);
    }
  }
  return maker.finish();
}

TEST(LaneView, PyramidShowsEveryEventOnceAtFullZoom) {
  const EventStore store = busyStore(50'000, 1'000'000);
  const auto timeline = timelineOf(store);
  const CpuTrack& cpu = timeline->tracks[0];
  const Lane& lane = cpu.lanes[number(LaneKind::HardIrq)];
  LaneView view =
      viewLane(*timeline, cpu, lane, ViewWindow::bounded(0, timeline->last + 1, 1400, 1));
  EXPECT_EQ(view.counted, 50'000U);
  EXPECT_EQ(sumOf(view), 50'000U);
  EXPECT_EQ(view.busy, 50'000U * 30);
  view.cells.pop_back();  // the last bin is longer than the recording
  for (const LaneCell& cell : view.cells) EXPECT_NEAR(cell.busy, 0.3, 0.05) << cell.x;
}

TEST(LaneView, ABurstStandsOutByItsDensestSlice) {
  const EventStore store = busyStore(50'000, 1'000'000);
  const auto timeline = timelineOf(store);
  const CpuTrack& cpu = timeline->tracks[0];
  const Lane& lane = cpu.lanes[number(LaneKind::Programming)];
  const LaneView view =
      viewLane(*timeline, cpu, lane, ViewWindow::bounded(0, timeline->last + 1, 1400, 1));
  u32 most = 0;
  for (const LaneCell& cell : view.cells) most = std::max(most, cell.densest);
  EXPECT_EQ(most, 30'000U);
}

TEST(LaneView, FewEventsInAWindowAreShownOneByOne) {
  const EventStore store = busyStore(50'000, 1'000'000);
  const auto timeline = timelineOf(store);
  const CpuTrack& cpu = timeline->tracks[0];
  const Lane& lane = cpu.lanes[number(LaneKind::HardIrq)];
  const LaneView view =
      viewLane(*timeline, cpu, lane, ViewWindow::bounded(2'000'010, 2'000'210, 1000, 1));
  EXPECT_TRUE(view.cells.empty());
  ASSERT_EQ(view.spans.size(), 3U);
  EXPECT_EQ(view.spans[0].from, 2'000'000);
  EXPECT_GE(view.spans[2].to, 2'000'210);  // it goes on behind the window
  EXPECT_FALSE(view.spans[2].endKnown);
  EXPECT_EQ(view.counted, 2U);
}

TEST(LaneView, FindsTheSpanThatFillsTheWindow) {
  EventMaker maker;
  maker.cpu(0).switchTo(0, "idle", "sh-72").switchTo(1'000'000, "sh-72", "idle");
  const EventStore store = maker.finish();
  const auto timeline = timelineOf(store);
  const CpuTrack& cpu = timeline->tracks[0];
  const LaneView view = viewLane(*timeline, cpu, cpu.lanes[number(LaneKind::Task)],
                                 ViewWindow::bounded(500, 600, 1000, 1));
  ASSERT_EQ(view.spans.size(), 1U);
  EXPECT_LE(view.spans[0].from, 500);
  EXPECT_GE(view.spans[0].to, 600);
  EXPECT_EQ(view.busy, 100U);
}

TEST(LaneView, FindsWhatWasRunningBeforeTheFirstSwitch) {
  EventMaker maker;
  maker.cpu(0).add(0, SoftirqRaise{1}).switchTo(1'000'000, "sh-72", "idle");
  const EventStore store = maker.finish();
  const auto timeline = timelineOf(store);
  const CpuTrack& cpu = timeline->tracks[0];
  const LaneView view = viewLane(*timeline, cpu, cpu.lanes[number(LaneKind::Task)],
                                 ViewWindow::bounded(500, 600, 1000, 1));
  ASSERT_EQ(view.spans.size(), 1U);
  EXPECT_FALSE(view.spans[0].beginKnown);
  EXPECT_EQ(view.busy, 100U);
}

TEST(LaneView, LinksARaiseWithTheEntryThatServesIt) {
  EventMaker maker;
  maker.cpu(0).softirq(100, 300, 400, 1).softirq(500, 510, 520, 9);
  const EventStore store = maker.finish();
  const auto timeline = timelineOf(store);
  const CpuTrack& cpu = timeline->tracks[0];
  const LaneView view = viewLane(*timeline, cpu, cpu.lanes[number(LaneKind::Softirq)],
                                 ViewWindow::bounded(0, 1000, 1000, 1));
  ASSERT_EQ(view.links.size(), 2U);
  EXPECT_EQ(view.links[0].from, 0);
  EXPECT_EQ(view.links[0].to, 200);
  EXPECT_EQ(view.links[1].classes, lane_class::other);
}

/// The same window with and without the pyramid, and event by event.
TEST(LaneView, SearchAgreesWithSumsEventByEvent) {
  EventMaker maker;
  maker.cpu(0);
  const s64 events = 300'000;
  for (s64 i = 0; i < events; ++i) maker.irq(i * 4, i * 4 + 1 + i % 3);
  maker.irq(s64{1} << 50, (s64{1} << 50) + 1);  // far away: the finest bin holds all of the others
  const EventStore store = maker.finish();
  const auto timeline = timelineOf(store);
  const CpuTrack& cpu = timeline->tracks[0];
  const Lane& lane = cpu.lanes[number(LaneKind::HardIrq)];
  const ViewWindow window = ViewWindow::bounded(0, events * 4, 1000, 1);
  const LaneView view = viewLane(*timeline, cpu, lane, window);
  EXPECT_TRUE(view.spans.empty());
  ASSERT_EQ(view.cells.size(), 250U);
  for (s32 c = 0; c < 250; ++c) {
    const s64 from = window.timeOfColumn(4 * c);
    const s64 to = window.timeOfColumn(4 * c + 4);
    u32 count = 0;
    double busy = 0;
    for (s64 i = std::max<s64>(from / 4 - 1, 0); i < events && i * 4 < to; ++i) {
      if (i * 4 >= from) ++count;
      busy += static_cast<double>(
          std::max<s64>(0, std::min(i * 4 + 1 + i % 3, to) - std::max(i * 4, from)));
    }
    ASSERT_EQ(view.cells[static_cast<std::size_t>(c)].count, count) << c;
    ASSERT_NEAR(view.cells[static_cast<std::size_t>(c)].busy, busy / (4 * window.unitsPerColumn()),
                1e-9)
        << c;
  }
}

TEST(LaneView, StandsHostileWindows) {
  EventMaker maker;
  maker.cpu(0).irq(0, 5).irq(std::numeric_limits<s64>::max() - 5, std::numeric_limits<s64>::max());
  const EventStore store = maker.finish();
  const auto timeline = timelineOf(store);
  const CpuTrack& cpu = timeline->tracks[0];
  constexpr s64 least = std::numeric_limits<s64>::min();
  constexpr s64 most = std::numeric_limits<s64>::max();
  const s64 ends[] = {least, least + 1, -1, 0, 1, most - 1, most};
  const double widths[] = {-1,
                           0,
                           1,
                           1400,
                           1e300,
                           std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::quiet_NaN()};
  for (const s64 from : ends) {
    for (const s64 to : ends) {
      for (const double width : widths) {
        const ViewWindow window = ViewWindow::bounded(from, to, width, width);
        ASSERT_LT(window.from, window.to);
        ASSERT_GE(window.columns(), 1);
        ASSERT_LE(window.columns(), 1 << 14);
        for (const Lane& lane : cpu.lanes) {
          const LaneView view = viewLane(*timeline, cpu, lane, window);
          for (const LaneCell& cell : view.cells) {
            ASSERT_GE(cell.x, 0);
            ASSERT_LE(cell.x + cell.width, window.columns());
          }
        }
      }
    }
  }
}

RC_GTEST_PROP(LaneView, BusyAndCountsOfAnyWindowAreThoseOfItsEvents, ()) {
  struct Irq {
    s64 gap, length;
  };
  const auto irqs = *rc::gen::nonEmpty(rc::gen::container<std::vector<Irq>>(rc::gen::apply(
      [](s64 gap, s64 length) {
        return Irq{gap, length};
      },
      rc::gen::inRange<s64>(0, 200), rc::gen::inRange<s64>(0, 200))));
  EventMaker maker;
  maker.cpu(0);
  std::vector<std::pair<s64, s64>> spans;
  s64 time = 1'000'000;
  for (const Irq& irq : irqs) {
    const s64 from = time + irq.gap;
    time = from + irq.length;
    maker.irq(from, time);
    spans.emplace_back(from, time);
  }
  const EventStore store = maker.finish();
  const auto timeline = timelineOf(store);
  const s64 origin = timeline->origin.value;
  const auto from = *rc::gen::inRange<s64>(-50, timeline->last + 50);
  const auto length = *rc::gen::inRange<s64>(1, timeline->last + 100);
  const CpuTrack& cpu = timeline->tracks[0];
  const LaneView view = viewLane(*timeline, cpu, cpu.lanes[number(LaneKind::HardIrq)],
                                 ViewWindow::bounded(from, from + length, 300, 1));
  u64 busy = 0, count = 0;
  for (const auto& [begin, end] : spans) {
    const s64 a = std::max(begin - origin, from);
    const s64 b = std::min(end - origin, from + length);
    if (b > a) busy += static_cast<u64>(b - a);
    if (begin - origin >= from && begin - origin < from + length) ++count;
  }
  RC_ASSERT(view.busy == busy);
  RC_ASSERT(view.counted == count);
}

}  // namespace
}  // namespace tickscope
