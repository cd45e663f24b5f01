// SPDX-License-Identifier: GPL-3.0-or-later
// The virtual table: exact places in billions of lines, and no more work than what is in view needs.
#include "views/tables/row_table.h"

#include <gtest/gtest.h>

#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>
#include <set>

namespace tickscope {
namespace {

/// Any number of lines without holding one.
class Counting : public RowSource {
 public:
  explicit Counting(u64 lines) : lines_(lines) {}
  [[nodiscard]] u64 lineCount() const override { return lines_; }
  [[nodiscard]] bool isNote(u64) const override { return false; }
  [[nodiscard]] QStringList texts(u64 line) const override {
    asked.insert(line);
    ++calls;
    return {QString::number(line), QStringLiteral("text of %1").arg(line)};
  }
  mutable std::set<u64> asked;
  mutable int calls = 0;

 private:
  u64 lines_;
};

std::vector<TableColumn> twoColumns() {
  TableColumn line;
  line.title = "line";
  line.number = true;
  TableColumn words;
  words.title = "words";
  return {line, words};
}

class RowTableTest : public testing::TestWithParam<u64> {
 protected:
  void SetUp() override {
    table.resize(400, 300);
    table.setSource(&source);
    table.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&table));
  }
  Counting source{GetParam()};
  RowTable table{twoColumns()};
};

INSTANTIATE_TEST_SUITE_P(Sizes, RowTableTest,
                         testing::Values(u64{0}, u64{1}, u64{13}, u64{10'000'000},
                                         u64{2'147'483'648}, u64{4'294'967'294}));

TEST_P(RowTableTest, AsksForVisibleLinesOnly) {
  table.viewport()->repaint();
  EXPECT_LE(source.asked.size(), table.pageLines() + 2);
  const int before = source.calls;
  table.viewport()->repaint();
  EXPECT_EQ(source.calls, before) << "what was printed once is kept";
}

TEST_P(RowTableTest, ReachesTheLastLineExactly) {
  if (GetParam() == 0) return;
  table.reveal(GetParam() - 1);
  table.viewport()->repaint();
  EXPECT_FALSE(table.lineRect(GetParam() - 1).isEmpty());
  EXPECT_TRUE(source.asked.count(GetParam() - 1));
  const QRect rect = table.lineRect(GetParam() - 1);
  EXPECT_LE(rect.bottom(), table.viewport()->height());
  EXPECT_EQ(table.lineAt(rect.center()), GetParam() - 1);
}

TEST_P(RowTableTest, ScrollBarEndsAreFirstAndLastLine) {
  QScrollBar* const bar = table.verticalScrollBar();
  bar->triggerAction(QAbstractSlider::SliderToMaximum);
  const u64 page = table.pageLines();
  EXPECT_EQ(table.topLine(), GetParam() > page ? GetParam() - page : 0);
  bar->triggerAction(QAbstractSlider::SliderToMinimum);
  EXPECT_EQ(table.topLine(), 0U);
}

TEST_P(RowTableTest, StepsOfTheScrollBarAreOneLine) {
  const u64 page = table.pageLines();
  if (GetParam() < 3 * page) return;
  QScrollBar* const bar = table.verticalScrollBar();
  table.reveal(GetParam() / 2);
  const u64 top = table.topLine();
  bar->triggerAction(QAbstractSlider::SliderSingleStepAdd);
  EXPECT_EQ(table.topLine(), top + 1);
  bar->triggerAction(QAbstractSlider::SliderSingleStepAdd);
  bar->triggerAction(QAbstractSlider::SliderSingleStepSub);
  EXPECT_EQ(table.topLine(), top + 1);
  bar->triggerAction(QAbstractSlider::SliderPageStepAdd);
  EXPECT_EQ(table.topLine(), top + 1 + page);
}

TEST_P(RowTableTest, WheelMovesByThreeLines) {
  if (GetParam() < 100) return;
  table.reveal(GetParam() / 2);
  const u64 top = table.topLine();
  const QPointF at(50, 100);
  QWheelEvent down(at, table.viewport()->mapToGlobal(at), QPoint(), QPoint(0, -120), Qt::NoButton,
                   Qt::NoModifier, Qt::NoScrollPhase, false);
  QApplication::sendEvent(table.viewport(), &down);
  EXPECT_EQ(table.topLine(), top + 3);
}

TEST(ScrollMap, IsExactAtBothEndsAndMonotonous) {
  for (const u64 most : {u64{0}, u64{5}, ScrollMap::mostPlaces, ScrollMap::mostPlaces + 1,
                         u64{4'294'967'294}, u64{1} << 40}) {
    const ScrollMap map(most);
    EXPECT_LE(static_cast<u64>(map.lastPlace()), ScrollMap::mostPlaces) << most;
    EXPECT_EQ(map.lineOf(0), 0U) << most;
    EXPECT_EQ(map.lineOf(map.lastPlace()), most == 0 ? 0 : most) << most;
    EXPECT_EQ(map.placeOf(most), map.lastPlace()) << most;
    for (const u64 line : {most / 3, most / 2, most - most / 7}) {
      const u64 back = map.lineOf(map.placeOf(line));
      EXPECT_LE(back, line) << most;
      EXPECT_LE(line - back, most / ScrollMap::mostPlaces + 1) << most;
    }
  }
}

TEST(RowTable, SaysClicksAndKeys) {
  Counting source(1000);
  RowTable table(twoColumns());
  table.resize(400, 300);
  table.setSource(&source);
  table.show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&table));
  QSignalSpy clicked(&table, &RowTable::lineClicked);
  QSignalSpy stepped(&table, &RowTable::stepped);
  QTest::mouseClick(table.viewport(), Qt::LeftButton, Qt::NoModifier, table.lineRect(4).center());
  ASSERT_EQ(clicked.count(), 1);
  EXPECT_EQ(clicked[0][0].toULongLong(), 4U);
  EXPECT_FALSE(clicked[0][1].toBool());
  QTest::keyClick(&table, Qt::Key_PageDown, Qt::ShiftModifier);
  ASSERT_EQ(stepped.count(), 1);
  EXPECT_EQ(stepped[0][0].value<RowTable::Step>(), RowTable::Step::PageDown);
  EXPECT_TRUE(stepped[0][1].toBool());
}

TEST(RowTable, ColumnsCanBeDraggedWider) {
  Counting source(10);
  RowTable table(twoColumns());
  table.resize(400, 300);
  table.setSource(&source);
  table.show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&table));
  QSignalSpy clicked(&table, &RowTable::lineClicked);
  // The first column ends somewhere in the header: find it by the pointer's shape.
  int edge = 0;
  for (int x = 10; x < 300 && !edge; ++x) {
    QTest::mouseMove(table.viewport(), QPoint(x, 5));
    if (table.viewport()->cursor().shape() == Qt::SplitHCursor) edge = x;
  }
  ASSERT_GT(edge, 0);
  QTest::mousePress(table.viewport(), Qt::LeftButton, Qt::NoModifier, QPoint(edge, 5));
  QTest::mouseMove(table.viewport(), QPoint(edge + 40, 5));
  QTest::mouseRelease(table.viewport(), Qt::LeftButton, Qt::NoModifier, QPoint(edge + 40, 5));
  QTest::mouseMove(table.viewport(), QPoint(edge + 42, 5));
  EXPECT_EQ(table.viewport()->cursor().shape(), Qt::SplitHCursor) << "the edge has moved along";
  EXPECT_EQ(clicked.count(), 0);
}

}  // namespace
}  // namespace tickscope
