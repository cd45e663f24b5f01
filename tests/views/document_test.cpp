// SPDX-License-Identifier: GPL-3.0-or-later
// The shared state of the window: what setters clamp, what the history keeps, which signals are sent.
#include "views/document.h"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <limits>

#include "tests/support/made_recording.h"

namespace tickscope {

// In the namespace of the type, where GoogleTest looks for it.
static void PrintTo(const TimeSpan& s, std::ostream* out) {
  *out << "[" << s.from.value << ", " << s.to.value << ")";
}

namespace {

using support::BufferMaker;
using support::madeRecording;

TimeSpan span(s64 from, s64 to) { return {{from}, {to}}; }

/// 1,001 events on CPU 0, each 1 us, from 1 ms to 2 ms.
class DocumentTest : public testing::Test {
 protected:
  void SetUp() override {
    document.open(madeRecording(BufferMaker().cpu(0).events(1001, 1'000'000, 1'000).finish()), 0);
  }
  Document document;
};

TEST(Document, WithoutRecordingIgnoresSetters) {
  Document document;
  document.setVisible(span(0, 100));
  document.setCursor(Row{0});
  document.setCursor(TraceTime{5});
  document.setSelection(span(1, 2));
  document.setMarker(Marker::A, {1});
  document.pan(1);
  document.zoom(0.5, {1});
  document.goBack();
  EXPECT_EQ(document.rowCount(), 0U);
  EXPECT_EQ(document.visible(), span(0, 0));
  EXPECT_FALSE(document.cursor());
  EXPECT_FALSE(document.selection());
  EXPECT_FALSE(document.marker(Marker::A));
  EXPECT_FALSE(document.rowAt({0}));
}

TEST(Document, OpensRecordingWithoutBuffers) {
  Document document;
  document.open(madeRecording(std::vector<Buffer>{}), 3);
  EXPECT_EQ(document.buffer(), nullptr);
  EXPECT_TRUE(document.recording());
  EXPECT_EQ(document.rowCount(), 0U);
}

TEST_F(DocumentTest, WholeReachesJustBehindTheLastEvent) {
  EXPECT_EQ(document.whole(), span(1'000'000, 2'000'001));
  EXPECT_EQ(document.reach(), span(990'000, 2'010'001));
  EXPECT_EQ(document.visible(), document.reach());
}

TEST(Document, WholeCoversBackwardTimes) {
  Document document;
  document.open(
      madeRecording(BufferMaker().cpu(0).event(500).event(900).event(100).event(600).finish()), 0);
  EXPECT_EQ(document.whole(), span(100, 901));
}

TEST(Document, SurvivesTimesAtTheEndsOfTheRange) {
  constexpr s64 most = std::numeric_limits<s64>::max();
  constexpr s64 least = std::numeric_limits<s64>::min();
  for (const auto& [first, last] : std::vector<std::pair<s64, s64>>{
           {0, most}, {most, least}, {least, most}, {most - 1, most}, {least, -1}}) {
    SCOPED_TRACE(testing::Message() << first << " to " << last);
    Document document;
    document.open(madeRecording(BufferMaker().cpu(0).event(first).event(last).finish()), 0);
    EXPECT_LT(document.whole().from, document.whole().to);
    for (const double factor : {0.001, 1000.0, 1e-9, 1e30}) {
      document.zoom(factor, {first});
      document.zoom(factor, {last});
      document.pan(-1);
      document.pan(1e300);
      document.setCursor(Row{1});
      document.setCursor(Row{0});
      document.setVisible(span(least, most));
      document.setVisible(span(most, most));
      document.setVisible(span(least, least));
      EXPECT_LT(document.visible().from, document.visible().to);
      EXPECT_LE(document.reach().from, document.visible().from);
      EXPECT_LE(document.visible().to, document.reach().to);
    }
  }
}

TEST_F(DocumentTest, VisibleIsClampedAndKeepsItsLength) {
  document.setVisible(span(900'000, 950'000));
  EXPECT_EQ(document.visible(), span(990'000, 1'040'000));
  document.setVisible(span(3'000'000, 3'000'100));
  EXPECT_EQ(document.visible(), span(2'009'901, 2'010'001));
  document.setVisible(span(0, 9'000'000));
  EXPECT_EQ(document.visible(), document.reach());
}

TEST_F(DocumentTest, VisibleIsNeverShorterThanTenUnits) {
  document.setVisible(span(1'500'000, 1'500'000));
  EXPECT_EQ(document.visible(), span(1'499'995, 1'500'005));
}

TEST_F(DocumentTest, ZoomKeepsThePointerInPlace) {
  document.setVisible(span(1'000'000, 1'100'000));
  document.zoom(0.5, {1'025'000});
  EXPECT_EQ(document.visible(), span(1'012'500, 1'062'500));
  document.zoom(2, {1'025'000});
  EXPECT_EQ(document.visible(), span(1'000'000, 1'100'000));
}

TEST_F(DocumentTest, PanStopsAtTheEdge) {
  document.setVisible(span(1'000'000, 1'100'000));
  document.pan(0.25);
  EXPECT_EQ(document.visible(), span(1'025'000, 1'125'000));
  document.pan(-10);
  EXPECT_EQ(document.visible(), span(990'000, 1'090'000));
}

TEST_F(DocumentTest, HistoryWalksBackAndForward) {
  const TimeSpan all = document.visible();
  document.setVisible(span(1'000'000, 1'100'000));
  document.setVisible(span(1'200'000, 1'300'000));
  ASSERT_TRUE(document.canGoBack());
  EXPECT_FALSE(document.canGoForward());
  document.goBack();
  EXPECT_EQ(document.visible(), span(1'000'000, 1'100'000));
  document.goBack();
  EXPECT_EQ(document.visible(), all);
  EXPECT_FALSE(document.canGoBack());
  document.goForward();
  EXPECT_EQ(document.visible(), span(1'000'000, 1'100'000));
  document.setVisible(span(1'500'000, 1'600'000));
  EXPECT_FALSE(document.canGoForward()) << "a new view ends the way forward";
}

TEST_F(DocumentTest, OneGestureIsOneStepOfHistory) {
  const TimeSpan all = document.visible();
  for (int notch = 0; notch < 5; ++notch) document.zoom(0.8, {1'500'000});
  document.settleView();
  const TimeSpan first = document.visible();
  for (int notch = 0; notch < 5; ++notch) document.pan(0.1);
  document.goBack();
  EXPECT_EQ(document.visible(), first);
  document.goBack();
  EXPECT_EQ(document.visible(), all);
}

TEST_F(DocumentTest, GestureAfterAJumpIsAStepOfItsOwn) {
  document.setVisible(span(1'000'000, 1'100'000));
  document.pan(0.5);
  document.goBack();
  EXPECT_EQ(document.visible(), span(1'000'000, 1'100'000));
}

TEST_F(DocumentTest, CursorOnRowHasItsTimeAndSelectsIt) {
  QSignalSpy moved(&document, &Document::cursorChanged);
  document.setCursor(Row{7});
  ASSERT_TRUE(document.cursor());
  EXPECT_EQ(document.cursor()->time.value, 1'007'000);
  EXPECT_EQ(document.cursor()->row, Row{7});
  EXPECT_EQ(document.selectedRows(), (RowRange{Row{7}, Row{7}}));
  document.setCursor(Row{7});
  EXPECT_EQ(moved.count(), 1) << "nothing changed the second time";
  document.setCursor(Row{1001});
  EXPECT_EQ(document.cursor()->row, Row{7}) << "there is no such row";
}

TEST_F(DocumentTest, CursorBetweenEventsKnowsTheRowBefore) {
  document.setCursor(TraceTime{1'002'500});
  EXPECT_FALSE(document.cursor()->row);
  EXPECT_EQ(document.rowAtCursor(), Row{2});
  EXPECT_FALSE(document.selectedRows());
  document.setCursor(TraceTime{1'003'000});
  EXPECT_EQ(document.rowAtCursor(), Row{3});
  document.setCursor(TraceTime{0});
  EXPECT_EQ(document.cursor()->time, document.reach().from);
  EXPECT_EQ(document.rowAtCursor(), Row{0});
}

TEST(Document, RowAtAnInstantIsTheLastOfItsEvents) {
  Document document;
  document.open(madeRecording(BufferMaker().cpu(0).event(5).event(5).event(5).event(9).finish()),
                0);
  EXPECT_EQ(document.rowAt({5}), Row{2});
  EXPECT_EQ(document.rowAt({-1}), Row{3}) << "times are unsigned in the store";
}

TEST_F(DocumentTest, ViewFollowsTheCursorOnlyWhenAsked) {
  document.setVisible(span(1'000'000, 1'100'000));
  document.setCursor(Row{500});
  EXPECT_LE(document.visible().from.value, 1'500'000);
  EXPECT_GT(document.visible().to.value, 1'500'000);
  document.setFollow(false);
  document.setCursor(Row{900});
  EXPECT_LT(document.visible().to.value, 1'900'000);
}

TEST_F(DocumentTest, SelectionTakesEitherOrderAndEmptyClears) {
  document.setSelection(span(1'500'000, 1'200'000));
  EXPECT_EQ(document.selection(), span(1'200'000, 1'500'000));
  document.setSelection(span(1'300'000, 1'300'000));
  EXPECT_FALSE(document.selection());
}

TEST_F(DocumentTest, MarkersAreClampedAndCleared) {
  document.setMarker(Marker::A, {0});
  document.setMarker(Marker::B, {1'234'567});
  EXPECT_EQ(document.marker(Marker::A), document.reach().from);
  EXPECT_EQ(document.marker(Marker::B), TraceTime{1'234'567});
  document.clearMarker(Marker::A);
  EXPECT_FALSE(document.marker(Marker::A));
}

TEST_F(DocumentTest, SelectedRowsAreClamped) {
  document.setSelectedRows({Row{5000}, Row{990}});
  EXPECT_EQ(document.selectedRows(), (RowRange{Row{990}, Row{1000}}));
}

TEST(Document, AnotherBufferStartsAnew) {
  std::vector<Buffer> buffers;
  buffers.push_back(BufferMaker().cpu(0).events(10, 100, 10).finish());
  buffers.push_back(BufferMaker().cpu(1).events(20, 5'000, 10).finish("second"));
  Document document;
  document.open(madeRecording(std::move(buffers)), 0);
  document.setCursor(Row{3});
  document.setVisible(span(100, 150));
  QSignalSpy opened(&document, &Document::opened);
  document.setBuffer(1);
  EXPECT_EQ(opened.count(), 1);
  EXPECT_EQ(document.buffer()->name, "second");
  EXPECT_EQ(document.rowCount(), 20U);
  EXPECT_FALSE(document.cursor());
  EXPECT_FALSE(document.canGoBack());
  EXPECT_EQ(document.whole(), span(5'000, 5'191));
  document.setBuffer(2);
  EXPECT_EQ(document.bufferIndex(), 1U) << "there is no such buffer";
}

}  // namespace
}  // namespace tickscope
