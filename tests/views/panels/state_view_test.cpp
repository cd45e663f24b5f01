// SPDX-License-Identifier: GPL-3.0-or-later
// What the state panel writes for values, buckets and trees, known and unknown.
#include "views/panels/state_view.h"

#include <gtest/gtest.h>

#include "tests/support/made_recording.h"
#include "tests/support/made_state.h"

namespace tickscope {
namespace {

using support::BufferMaker;
using support::madeRecording;
using support::madeSource;
using support::madeState;

class StateViewTest : public testing::Test {
 protected:
  Known<CpuView> viewOf(const SystemState& state, u16 cpu) {
    return tickscope::viewOf(source, state, Cpu{cpu}, *recording, recording->buffers[0]);
  }
  static std::string factOf(const std::vector<StateFact>& facts, const char* name) {
    for (const StateFact& fact : facts) {
      if (fact.name == name) return fact.value.toStdString();
    }
    return "(none)";
  }
  std::shared_ptr<const Recording> recording =
      madeRecording(BufferMaker().cpu(1).events(100, 1000, 100).finish());
  StateSource source = madeSource();
};

TEST_F(StateViewTest, SaysInWordsWhyAValueIsUnknown) {
  const auto view = viewOf(madeState(Row{5}), 0);
  ASSERT_TRUE(view);
  EXPECT_EQ(factOf(view->facts, "device programmed for"),
            "unknown: no call of tick_program_event was recorded");
  EXPECT_EQ(factOf(view->facts, "expires_next"), "unknown: events were lost");
  EXPECT_EQ(factOf(view->wheel[0].facts, "clk"), "unknown: events were lost");
  EXPECT_EQ(factOf(view->wheel[0].facts, "next_expiry"), "unknown: none seen armed");
  EXPECT_TRUE(view->blind.contains("B02")) << view->blind.toStdString();
  EXPECT_TRUE(view->blind.contains("B23")) << view->blind.toStdString();
}

TEST_F(StateViewTest, CallsWithoutArgumentsTellNoValue) {
  source.programmingUntold = "calls recorded without arguments";
  SystemState state = madeState(Row{5});
  EXPECT_EQ(factOf(viewOf(state, 1)->facts, "device programmed for"),
            "unknown: calls recorded without arguments");
  state.cpus[1].programmed = MonoTime{9'508'000'000};
  EXPECT_EQ(factOf(viewOf(state, 1)->facts, "device programmed for"), "9.508 000 000");
}

TEST_F(StateViewTest, NeverShowsZeroForUnknown) {
  SystemState state = madeState(Row{5});
  StateTimer bare;
  state.cpus[1].hrtimers[number(ClockBase::Mono)] = {bare};
  state.cpus[1].wheel[0].timers = {bare};
  state.cpus[1].wheel[0].clk.reset();
  const auto view = viewOf(state, 1);
  ASSERT_TRUE(view);
  EXPECT_TRUE(view->trees[0].nodes.empty());
  EXPECT_EQ(view->trees[0].timesUnknown, 1U);
  const WheelTimerView& timer = view->wheel[0].timers[0];
  for (const QString& text : {timer.expires, timer.bucketExpiry, timer.toClk, timer.address})
    EXPECT_EQ(text, "unknown");
  EXPECT_FALSE(timer.bucket) << "bucket 0 is a bucket";
  EXPECT_EQ(view->wheel[0].inBucket[0], 0U);
  EXPECT_EQ(timer.armedBy, "before the recording");
}

TEST_F(StateViewTest, CountsOverdueTimersFromClk) {
  const auto view = viewOf(madeState(Row{5}), 1);
  ASSERT_TRUE(view);
  const WheelView& wheel = view->wheel[0];
  EXPECT_EQ(wheel.overdue, 2U);
  EXPECT_EQ(wheel.timers[0].toClk, "240 j overdue");
  EXPECT_EQ(wheel.timers[2].toClk, "in 3 j");
  EXPECT_EQ(wheel.nextBucket, u16{47});
  EXPECT_EQ(wheel.inBucket[49], 2U);
  EXPECT_EQ(wheel.overdueInBucket[60], 1U);
  EXPECT_EQ(factOf(wheel.facts, "clk"), "4,294,893,996");
  EXPECT_EQ(wheel.title, "Wheel, base STD");
}

TEST_F(StateViewTest, OverdueHoldsAcrossTheWrapOf32Bits) {
  source.geometry.wordBits = 32;
  SystemState state = madeState(Row{5});
  state.cpus[1].wheel[0].clk = 5;
  state.cpus[1].wheel[0].timers = {support::wheelTimer(1, 0xfffffff0, 0xfffffff1, 49, 3),
                                   support::wheelTimer(2, 7, 8, 8, 3)};
  const auto view = viewOf(state, 1);
  EXPECT_EQ(view->wheel[0].timers[0].toClk, "20 j overdue");
  EXPECT_EQ(view->wheel[0].timers[1].toClk, "in 3 j");
}

TEST_F(StateViewTest, TreesAreRedBlackTreesInOrderOfExpiry) {
  const auto view = viewOf(madeState(Row{5}), 1);
  ASSERT_EQ(view->trees.size(), 1U);
  const std::vector<TreeNodeView>& nodes = view->trees[0].nodes;
  ASSERT_EQ(nodes.size(), 11U);
  EXPECT_EQ(nodes[0].due, "+1.162 ms");
  int roots = 0;
  std::vector<int> blackAbove(nodes.size()), children(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i) {
      EXPECT_LT(*nodes[i - 1].toHard, *nodes[i].toHard);
    }
    if (nodes[i].parent < 0) ++roots;
    int black = 0;
    for (s32 at = static_cast<s32>(i); at >= 0; at = nodes[static_cast<std::size_t>(at)].parent) {
      const TreeNodeView& node = nodes[static_cast<std::size_t>(at)];
      black += !node.red;
      if (node.parent < 0) continue;
      const TreeNodeView& above = nodes[static_cast<std::size_t>(node.parent)];
      EXPECT_EQ(above.depth + 1, node.depth);
      EXPECT_FALSE(node.red && above.red) << "node " << at;
    }
    blackAbove[i] = black;
    if (nodes[i].parent >= 0) ++children[static_cast<std::size_t>(nodes[i].parent)];
  }
  EXPECT_EQ(roots, 1);
  int leafBlack = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (children[i] == 2) continue;
    if (!leafBlack) leafBlack = blackAbove[i];
    EXPECT_EQ(blackAbove[i], leafBlack) << "node " << i;
  }
}

TEST_F(StateViewTest, LargeTreesShowTheFirstTimersAndCountTheRest) {
  SystemState state = madeState(Row{5});
  auto& mono = state.cpus[1].hrtimers[number(ClockBase::Mono)];
  mono.clear();
  for (u32 i = 0; i < 5000; ++i) mono.push_back(support::hrtimer(i, 2000 + i, 2000 + i, 3));
  const auto view = viewOf(state, 1);
  const TreeView& tree = view->trees[0];
  EXPECT_EQ(tree.nodes.size(), mostNodes);
  EXPECT_EQ(tree.more, 5000 - mostNodes);
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    EXPECT_EQ(tree.nodes[i].toHard, s64(2000 + i) - madeState(Row{5}).time.value);
    EXPECT_LT(tree.nodes[i].parent, static_cast<s32>(tree.nodes.size()));
  }
}

TEST_F(StateViewTest, TimesOfAClockNobodyKnowsStandAsTheyAre) {
  SystemState state = madeState(Row{5});
  state.cpus[1].hrtimers = {};
  state.cpus[1].hrtimers[number(ClockBase::RealSoft)] = {
      support::hrtimer(1, 1'700'000'000'000'000'000, 1'700'000'000'000'000'001, 3)};
  const auto view = viewOf(state, 1);
  ASSERT_EQ(view->trees.size(), 1U);
  EXPECT_EQ(view->trees[0].nodes[0].due, "1700000000.000 000 001");
  EXPECT_FALSE(view->trees[0].nodes[0].toHard);
  EXPECT_TRUE(view->trees[0].nodes[0].soft);
  EXPECT_TRUE(view->trees[0].summary.startsWith("REALTIME soft"))
      << view->trees[0].summary.toStdString();
}

TEST_F(StateViewTest, StandsNumbersAtTheEnds) {
  for (const s64 at : {std::numeric_limits<s64>::min(), std::numeric_limits<s64>::max(), s64{-1}}) {
    SystemState state = madeState(Row{5});
    state.cpus[1].hrtimers[number(ClockBase::Mono)] = {support::hrtimer(1, at, at, 3)};
    state.cpus[1].wheel[0].timers = {support::wheelTimer(1, at, at, 0xffff, 3)};
    state.cpus[1].expiresNext = MonoTime{at};
    EXPECT_TRUE(viewOf(state, 1));
    EXPECT_FALSE(shortDifference(at).isEmpty());
  }
  EXPECT_FALSE(viewOf(madeState(Row{5}), 7)) << "the state has no CPU7";
}

TEST(StateWords, DifferencesAndGranulesAreShort) {
  struct Case {
    s64 ns;
    const char* text;
  };
  for (const Case& c : {Case{299'202, "+299.2 µs"},
                        {-1'162'000, "−1.162 ms"},
                        {850, "+850 ns"},
                        {0, "+0 ns"},
                        {999'999, "+1.000 ms"},
                        {2'500'000'000, "+2.500 s"}}) {
    EXPECT_EQ(shortDifference(c.ns).toStdString(), c.text) << c.ns;
  }
  const char* const granules[] = {"4 ms",    "32 ms",  "256 ms", "2.05 s", "16.4 s",
                                  "2.2 min", "17 min", "2.3 h",  "19 h"};
  for (u8 level = 0; level < 9; ++level) {
    EXPECT_EQ(granuleText(level, 250).toStdString(), granules[level]) << int{level};
  }
  EXPECT_EQ(granuleText(1, {}), "8 j");
  EXPECT_EQ(bucketName(u16{47}), "L0:47");
  EXPECT_EQ(bucketName(u16{105}), "L1:41");
}

}  // namespace
}  // namespace tickscope
