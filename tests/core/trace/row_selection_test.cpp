// SPDX-License-Identifier: GPL-3.0-or-later
// Ranges of rows and times, with and without steps back in time.
#include "core/trace/row_selection.h"

#include <gtest/gtest.h>

#include "tests/support/made_recording.h"

namespace tickscope {
namespace {

std::vector<u32> rowsOf(const RowSelection& selection) {
  std::vector<u32> rows;
  selection.forEach([&](Row row) {
    rows.push_back(number(row));
    return true;
  });
  return rows;
}
using Rows = std::vector<u32>;

TEST(RowSelection, HasEverythingAtFirst) {
  support::BufferMaker maker;
  const Buffer buffer = maker.cpu(0).events(3, 100, 10).finish();
  const RowSelection selection(buffer.events);
  EXPECT_TRUE(selection.everything());
  EXPECT_EQ(rowsOf(selection), (Rows{0, 1, 2}));
}

TEST(RowSelection, TakesTimesHalfOpen) {
  support::BufferMaker maker;
  const Buffer buffer = maker.cpu(0).events(5, 100, 10).finish();  // 100 110 120 130 140
  RowSelection selection(buffer.events);
  selection.fromTime(110);
  selection.toTime(130);
  EXPECT_EQ(rowsOf(selection), (Rows{1, 2}));
  EXPECT_FALSE(selection.everything());
  selection.toRow(2);
  EXPECT_EQ(rowsOf(selection), (Rows{1}));
  selection.fromRow(4);
  EXPECT_EQ(rowsOf(selection), Rows{}) << "from behind to";
}

TEST(RowSelection, LooksAtEachTimeWhereTimeStepsBack) {
  support::BufferMaker maker;
  const Buffer buffer = maker.cpu(0).event(100).event(200).event(150).event(210).finish();
  RowSelection selection(buffer.events);
  selection.fromTime(150);
  selection.toTime(200);
  EXPECT_EQ(rowsOf(selection), (Rows{2}));
}

TEST(RowSelection, ChoosesCpus) {
  support::BufferMaker maker;
  const Buffer buffer = maker.cpu(0).event(1).event(4).cpu(2).event(2).cpu(5).event(3).finish();
  RowSelection selection(buffer.events);
  const std::vector<u32> cpus{2, 5, 9};
  selection.onlyCpus(cpus);
  EXPECT_EQ(rowsOf(selection), (Rows{1, 2}));
  EXPECT_TRUE(selection.hasCpu(Cpu{5}));
  EXPECT_FALSE(selection.hasCpu(Cpu{0}));
  const std::vector<u32> fewer{5};
  selection.onlyCpus(fewer);
  EXPECT_EQ(rowsOf(selection), (Rows{2}));
}

TEST(RowSelection, StandsAnEmptyBuffer) {
  support::BufferMaker maker;
  const Buffer buffer = maker.finish();
  RowSelection selection(buffer.events);
  selection.fromTime(5);
  selection.fromRow(7);
  EXPECT_EQ(rowsOf(selection), Rows{});
}

}  // namespace
}  // namespace tickscope
