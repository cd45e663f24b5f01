// SPDX-License-Identifier: GPL-3.0-or-later
// What the pointer finds, and steps along a lane.
#include "core/timeline/pick.h"

#include <gtest/gtest.h>

#include "core/timeline/lane_builder.h"
#include "tests/support/made_events.h"

namespace tickscope {
namespace {

using support::EventMaker;

class Pick : public testing::Test {
 protected:
  Pick() {
    EventMaker maker;
    maker.cpu(3)
        .add(1000, IrqHandlerEntry{1, {}})
        .irq(1100, 1200, 2)
        .add(1500, IrqHandlerExit{1, 1})
        .switchTo(2000, "idle", "sh-72")
        .switchTo(3000, "sh-72", "idle");
    store_ = maker.finish();
    Progress progress;
    timeline_ = *buildTimeline(store_, 1, progress);
  }
  const CpuTrack& cpu() const { return timeline_->tracks[0]; }
  const Lane& lane(LaneKind kind) const { return cpu().lanes[number(kind)]; }
  Picked at(LaneKind kind, double x) const {
    return pickAt(*timeline_, cpu(), lane(kind), ViewWindow::bounded(0, 2000, 1000, 1), x, 5);
  }

  EventStore store_;
  std::shared_ptr<const Timeline> timeline_;
};

TEST_F(Pick, FindsTheInnermostSpanWithItsTrueEnd) {
  const Picked inner = at(LaneKind::HardIrq, 75);
  ASSERT_TRUE(inner.span);
  EXPECT_EQ(inner.span->from, 100);
  EXPECT_EQ(inner.span->to, 200);
  EXPECT_TRUE(inner.span->endKnown);
  const Picked outer = at(LaneKind::HardIrq, 30);
  ASSERT_TRUE(outer.span);
  EXPECT_EQ(outer.span->from, 0);
  EXPECT_EQ(outer.span->to, 500);
  EXPECT_FALSE(at(LaneKind::HardIrq, 400).span);
}

TEST_F(Pick, FindsTheNearestEventWithinReachOnly) {
  EXPECT_EQ(at(LaneKind::HardIrq, 52).event, Row{1});
  EXPECT_EQ(at(LaneKind::HardIrq, 98).event, Row{2});
  EXPECT_FALSE(at(LaneKind::HardIrq, 75).event);
  EXPECT_FALSE(at(LaneKind::Wheel, 75).event);
}

TEST_F(Pick, CountsWhatIsWithinReach) {
  EXPECT_EQ(at(LaneKind::HardIrq, 50).counted, 1U);
  EXPECT_EQ(at(LaneKind::HardIrq, 252).busy, 6U);
}

TEST_F(Pick, StepsAlongTheLane) {
  const Lane& irqs = lane(LaneKind::HardIrq);
  EXPECT_EQ(nextEvent(irqs, Row{1}), Row{2});
  EXPECT_EQ(nextEvent(irqs, Row{3}), Known<Row>{});
  EXPECT_EQ(previousEvent(irqs, Row{4}), Row{3});
  EXPECT_EQ(previousEvent(irqs, Row{0}), Known<Row>{});
  EXPECT_EQ(eventBefore(*timeline_, irqs, 150), Row{1});
  EXPECT_EQ(eventFrom(*timeline_, irqs, 150), Row{2});
  EXPECT_EQ(nearestEvent(*timeline_, irqs, 1'000'000), Row{3});
  EXPECT_EQ(nearestEvent(*timeline_, lane(LaneKind::Wheel), 0), Known<Row>{});
}

TEST_F(Pick, KnowsTheLaneOfARow) {
  const auto place = laneOf(*timeline_, Row{4});
  ASSERT_TRUE(place);
  EXPECT_EQ(place->lane, LaneKind::Task);
  EXPECT_FALSE(laneOf(*timeline_, Row{99}));
}

TEST_F(Pick, OverviewCountsEveryEvent) {
  u64 sum = 0;
  for (const OverviewRow& row : timeline_->overview) {
    for (const u32 count : row.counts) sum += count;
  }
  EXPECT_EQ(sum, store_.size());
}

}  // namespace
}  // namespace tickscope
