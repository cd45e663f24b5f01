// SPDX-License-Identifier: GPL-3.0-or-later
// The table of events and the document: one cursor, losses between rows, copies as kernel text.
#include "views/panels/events_panel.h"

#include <gtest/gtest.h>

#include <QClipboard>
#include <QGuiApplication>
#include <QSignalSpy>
#include <QTest>

#include "tests/support/made_recording.h"

namespace tickscope {
namespace {

using support::BufferMaker;
using support::madeRecording;

class EventsPanelTest : public testing::Test {
 protected:
  void show(Buffer buffer) {
    document.open(madeRecording(std::move(buffer)), 0);
    panel.resize(900, 400);
    panel.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&panel));
  }
  void click(u64 line, Qt::KeyboardModifiers keys = Qt::NoModifier) {
    QTest::mouseClick(panel.table().viewport(), Qt::LeftButton, keys,
                      panel.table().lineRect(line).center());
  }
  Document document;
  EventsPanel panel{document};
};

TEST_F(EventsPanelTest, ShowsTimesDeltasAndTasks) {
  show(BufferMaker().cpu(3).event(6'403'414'385, 2).event(6'403'416'103, 11).finish());
  EXPECT_EQ(
      panel.table().shownTexts(1).join(" | ").toStdString(),
      "1 | 6.403 416 103 | +1.718 | 3 | <...>-11 | hrtimer_cancel | hrtimer=ffff88800000000b");
  EXPECT_EQ(panel.table().shownTexts(0).value(2), "") << "nothing stands before the first row";
  EXPECT_EQ(panel.table().shownTexts(0).value(4), "task-2-2");
}

TEST_F(EventsPanelTest, ClickPutsTheCursorOnTheRow) {
  show(BufferMaker().cpu(0).events(100, 1000, 10).finish());
  click(5);
  ASSERT_TRUE(document.cursor());
  EXPECT_EQ(document.cursor()->row, Row{5});
  EXPECT_EQ(document.cursor()->time.value, 1050);
}

TEST_F(EventsPanelTest, KeysMoveTheCursor) {
  show(BufferMaker().cpu(0).events(1000, 1000, 10).finish());
  RowTable& table = panel.table();
  click(5);
  QTest::keyClick(&table, Qt::Key_Down);
  EXPECT_EQ(document.cursor()->row, Row{6});
  QTest::keyClick(&table, Qt::Key_Up);
  QTest::keyClick(&table, Qt::Key_Up);
  EXPECT_EQ(document.cursor()->row, Row{4});
  QTest::keyClick(&table, Qt::Key_PageDown);
  EXPECT_EQ(document.cursor()->row, Row{static_cast<u32>(4 + table.pageLines() - 1)});
  QTest::keyClick(&table, Qt::Key_End);
  EXPECT_EQ(document.cursor()->row, Row{999});
  EXPECT_FALSE(table.lineRect(999).isEmpty()) << "the row has come into view";
  QTest::keyClick(&table, Qt::Key_Home);
  EXPECT_EQ(document.cursor()->row, Row{0});
  QTest::keyClick(&table, Qt::Key_Up);
  EXPECT_EQ(document.cursor()->row, Row{0});
}

TEST_F(EventsPanelTest, ShiftExtendsTheSelection) {
  show(BufferMaker().cpu(0).events(1000, 1000, 10).finish());
  click(5);
  click(8, Qt::ShiftModifier);
  EXPECT_EQ(document.selectedRows(), (RowRange{Row{5}, Row{8}}));
  QTest::keyClick(&panel.table(), Qt::Key_Down, Qt::ShiftModifier);
  EXPECT_EQ(document.selectedRows(), (RowRange{Row{5}, Row{9}}));
  click(2, Qt::ShiftModifier);
  EXPECT_EQ(document.selectedRows(), (RowRange{Row{2}, Row{5}}));
  EXPECT_EQ(document.cursor()->row, Row{5}) << "the cursor stays where the selection began";
}

TEST_F(EventsPanelTest, CursorFromElsewhereScrollsToItsRow) {
  show(BufferMaker().cpu(0).events(10'000, 1000, 10).finish());
  document.setCursor(TraceTime{1000 + 7'777 * 10 + 3});
  EXPECT_FALSE(panel.table().lineRect(7'777).isEmpty());
  document.setCursor(Row{12});
  EXPECT_FALSE(panel.table().lineRect(12).isEmpty());
}

TEST_F(EventsPanelTest, LossesStandBetweenRows) {
  BufferMaker maker;
  maker.cpu(0).loss({}).events(3, 1000, 10).loss(7).events(2, 2000, 10);
  maker.cpu(1).event(1015).loss(1);
  show(maker.finish());
  const EventRows& rows = panel.rows();
  ASSERT_EQ(rows.lineCount(), 6U + 3U);
  QStringList lines;
  for (u64 line = 0; line < rows.lineCount(); ++line) {
    lines.append(rows.isNote(line) ? panel.table().shownTexts(line).value(0)
                                   : QString::number(number(*rows.rowOf(line))));
  }
  const QStringList expected = {"CPU0: events lost, the kernel did not say how many",
                                "0",
                                "1",
                                "2",
                                "CPU1: 1 event lost",
                                "3",
                                "CPU0: 7 events lost",
                                "4",
                                "5"};
  EXPECT_EQ(lines, expected) << lines.join(" | ").toStdString();
  for (u32 row = 0; row < 6; ++row) EXPECT_EQ(rows.rowOf(rows.lineOf(Row{row})), Row{row}) << row;
}

TEST_F(EventsPanelTest, CopiesRowsAsTheKernelPrintsThem) {
  BufferMaker maker;
  maker.cpu(0).event(1'000'000'000, 1).loss(7).event(2'000'000'500, 2);
  show(maker.finish());
  click(0);
  click(2, Qt::ShiftModifier);
  QTest::keyClick(&panel.table(), Qt::Key_C, Qt::ControlModifier);
  const EventText text(*document.recording(), *document.buffer());
  EXPECT_EQ(QGuiApplication::clipboard()->text().toStdString(),
            text.line(Row{0}) + "\nCPU:0 [LOST 7 EVENTS]\n" + text.line(Row{1}) + "\n");
}

TEST_F(EventsPanelTest, RefusesToCopyMillionsAndSaysSo) {
  show(BufferMaker().cpu(0).events(200'000, 1000, 10).finish());
  QGuiApplication::clipboard()->setText("before");
  QSignalSpy notice(&panel, &EventsPanel::notice);
  QTest::keyClick(&panel.table(), Qt::Key_A, Qt::ControlModifier);
  QTest::keyClick(&panel.table(), Qt::Key_C, Qt::ControlModifier);
  ASSERT_EQ(notice.count(), 1);
  EXPECT_TRUE(notice[0][0].toString().contains("200,000")) << notice[0][0].toString().toStdString();
  EXPECT_EQ(QGuiApplication::clipboard()->text(), "before");
}

TEST_F(EventsPanelTest, TenMillionRowsAreReachedByKeys) {
  show(BufferMaker().cpu(0).events(10'000'000, 0, 100).finish());
  QTest::keyClick(&panel.table(), Qt::Key_End);
  EXPECT_EQ(document.cursor()->row, Row{9'999'999});
  EXPECT_EQ(panel.table().shownTexts(9'999'999).value(1), "0.999 999 900");
  document.setCursor(Row{5'000'000});
  EXPECT_FALSE(panel.table().lineRect(5'000'000).isEmpty());
}

TEST_F(EventsPanelTest, EmptyBufferSaysSo) {
  show(BufferMaker().cpu(0).finish());
  EXPECT_EQ(panel.rows().lineCount(), 0U);
  QTest::keyClick(&panel.table(), Qt::Key_Down);
  QTest::keyClick(&panel.table(), Qt::Key_C, Qt::ControlModifier);
  EXPECT_FALSE(document.cursor());
}

}  // namespace
}  // namespace tickscope
