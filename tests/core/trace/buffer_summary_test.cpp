// SPDX-License-Identifier: GPL-3.0-or-later
// Counts of whole buffers and of selections.
#include "core/trace/buffer_summary.h"

#include <gtest/gtest.h>

#include "tests/support/made_recording.h"

namespace tickscope {
namespace {

BufferSummary summaryOf(const Buffer& buffer, const RowSelection& selection) {
  Progress progress;
  auto summary = summarise(buffer, selection, progress);
  EXPECT_TRUE(summary) << summary.error().what;
  return summary ? *summary : BufferSummary{};
}

Buffer gappyBuffer() {
  support::BufferMaker maker;
  maker.cpu(0).event(100).event(110).loss(Known<u64>(7)).event(150);
  maker.cpu(3).loss({}).event(120).event(115).event(130).loss(Known<u64>(2));
  Buffer buffer = maker.finish();
  buffer.statistics.push_back({Cpu{0}, 7, 0, {}, ""});
  buffer.statistics.push_back({Cpu{4}, 1, {}, {}, ""});
  return buffer;
}

TEST(BufferSummary, CountsEventsAndLossesOfEachCpu) {
  const Buffer buffer = gappyBuffer();
  const BufferSummary summary = summaryOf(buffer, RowSelection(buffer.events));
  EXPECT_EQ(summary.events, 6U);
  ASSERT_EQ(summary.cpus.size(), 3U);
  EXPECT_EQ(summary.cpus[0].events, 3U);
  EXPECT_EQ(summary.cpus[0].lost, 7U);
  EXPECT_EQ(summary.cpus[0].overrun, Known<u64>(7));
  EXPECT_EQ(summary.cpus[1].cpu, Cpu{3});
  EXPECT_EQ(summary.cpus[1].lost, 2U);
  EXPECT_EQ(summary.cpus[1].gaps, 2U);
  EXPECT_EQ(summary.cpus[1].gapsOfUnknownSize, 1U);
  EXPECT_EQ(summary.cpus[1].backwardSteps, 1U);
  EXPECT_EQ(summary.cpus[1].largestBackwardStep.value, 5);
  EXPECT_EQ(summary.cpus[1].first->value, 115) << "the lowest time, not the first one";
  EXPECT_EQ(summary.cpus[2].events, 0U) << "known by its statistics only";
  EXPECT_EQ(summary.lost, 9U);
  EXPECT_EQ(summary.gaps, 3U);
  EXPECT_EQ(summary.first->value, 100);
  EXPECT_EQ(summary.last->value, 150);
  ASSERT_EQ(summary.types.size(), 1U);
  EXPECT_EQ(summary.types[0].perCpu, (std::vector<u64>{3, 3, 0}));
}

TEST(BufferSummary, CountsOnlyWhatIsSelected) {
  const Buffer buffer = gappyBuffer();
  RowSelection selection(buffer.events);
  selection.fromTime(111);
  const std::vector<u32> cpus{3};
  selection.onlyCpus(cpus);
  const BufferSummary summary = summaryOf(buffer, selection);
  EXPECT_EQ(summary.events, 3U);
  ASSERT_EQ(summary.cpus.size(), 1U);
  EXPECT_EQ(summary.lost, 2U);
  EXPECT_EQ(summary.gaps, 2U);
  RowSelection beginning(buffer.events);
  beginning.toRow(2);
  EXPECT_EQ(summaryOf(buffer, beginning).gaps, 0U) << "both gaps lie behind the first two rows";
}

TEST(BufferSummary, CountsTheSameWayWithAndWithoutASelection) {
  support::BufferMaker maker;
  const Buffer buffer = maker.cpu(0).events(1000, 5, 3).cpu(1).events(700, 4, 4).finish();
  RowSelection all(buffer.events);
  const BufferSummary fast = summaryOf(buffer, all);
  const std::vector<u32> both{0, 1};
  all.onlyCpus(both);
  const BufferSummary slow = summaryOf(buffer, all);
  EXPECT_EQ(fast.events, slow.events);
  EXPECT_EQ(fast.types[0].perCpu, slow.types[0].perCpu);
  EXPECT_EQ(fast.first, slow.first);
  EXPECT_EQ(fast.last, slow.last);
}

}  // namespace
}  // namespace tickscope
