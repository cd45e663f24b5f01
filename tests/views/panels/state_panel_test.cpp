// SPDX-License-Identifier: GPL-3.0-or-later
// The state panel by mouse and keys: it follows the cursor, steps along changes, leads back to events, cuts no text.
#include "views/panels/state_panel.h"

#include <gtest/gtest.h>

#include <QComboBox>
#include <QLabel>
#include <QPainter>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

#include "tests/support/made_recording.h"
#include "tests/support/made_state.h"
#include "views/panels/fact_list.h"
#include "views/panels/tree_diagram.h"
#include "views/panels/wheel_grid.h"
#include "views/panels/wheel_list.h"
#include "views/theme.h"

namespace tickscope {
namespace {

using support::BufferMaker;
using support::madeRecording;
using support::madeSource;

class StatePanelTest : public testing::Test {
 protected:
  void SetUp() override {
    panel.resize(360, 900);
    panel.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&panel));
  }
  void TearDown() override { Theme::application().setChoice(ThemeChoice::System); }
  void open() {
    document.open(
        madeRecording(
            BufferMaker().cpu(0).events(5, 500, 10).cpu(1).events(95, 1000, 100).finish()),
        0);
  }
  void at(u32 row) {
    document.setCursor(Row{row});
    settle();
  }
  void settle() {
    if (panel.isVisible()) {
      ASSERT_TRUE(QTest::qWaitFor([&] { return panel.upToDate(); }, 5000));
    }
    // Layouts follow by events of their own.
    QTest::qWait(10);
  }
  WheelGrid& grid() { return *panel.findChild<WheelGrid*>(); }
  WheelList& list() { return *panel.findChild<WheelList*>(); }
  TreeDiagram& tree() { return *panel.findChild<TreeDiagram*>(); }
  QToolButton& button(const char* name) {
    for (auto* const made : panel.findChildren<QToolButton*>()) {
      if (made->accessibleName() == QLatin1String(name)) return *made;
    }
    throw std::runtime_error("no such button");
  }
  std::string message() { return panel.message().toStdString(); }

  Document document;
  StatePanel panel{document};
};

TEST_F(StatePanelTest, SaysWhatIsMissingUntilThereIsAState) {
  EXPECT_EQ(message(), "No recording is open.");
  open();
  settle();
  EXPECT_EQ(message(), "The state is not there yet.");
  panel.setReason("Being replayed.");
  settle();
  EXPECT_EQ(message(), "Being replayed.");
  panel.setSource(madeSource());
  settle();
  EXPECT_TRUE(panel.message().startsWith("Put the cursor on an event")) << message();
  at(20);
  EXPECT_EQ(message(), "");
  document.close();
  settle();
  EXPECT_EQ(message(), "No recording is open.");
}

TEST_F(StatePanelTest, ShowsTheCpuOfTheEventAtTheCursor) {
  open();
  panel.setSource(madeSource());
  at(2);
  EXPECT_EQ(panel.shownCpu(), Cpu{0});
  at(50);
  EXPECT_EQ(panel.shownCpu(), Cpu{1});
  EXPECT_EQ(tree().lineCount(), 11);
  EXPECT_EQ(list().lineCount(), 5);
}

TEST_F(StatePanelTest, ShowsTheStateBeforeTheRowWhenAsked) {
  open();
  std::vector<Row> asked;
  StateSource source = madeSource();
  source.stateAt = [made = source.stateAt, &asked](Row row) {
    asked.push_back(row);
    return made(row);
  };
  panel.setSource(std::move(source));
  at(50);
  ASSERT_FALSE(asked.empty());
  EXPECT_EQ(asked.back(), Row{50});
  button("Before the row").click();
  settle();
  EXPECT_EQ(asked.back(), Row{49});
  EXPECT_EQ(panel.shownCpu(), Cpu{1}) << "the CPU is that of the row at the cursor";
  at(0);
  EXPECT_TRUE(panel.message().startsWith("This is the first row")) << message();
  button("Before the row").click();
  settle();
  EXPECT_EQ(asked.back(), Row{0});
  EXPECT_EQ(message(), "");
}

TEST_F(StatePanelTest, KeepsAChosenCpu) {
  open();
  panel.setSource(madeSource());
  at(50);
  auto* const cpus = panel.findChild<QComboBox*>();
  ASSERT_EQ(cpus->count(), 3);
  cpus->setFocus();
  QTest::keyClick(cpus, Qt::Key_Down);
  QTest::keyClick(cpus, Qt::Key_Return);
  settle();
  EXPECT_EQ(panel.shownCpu(), Cpu{0}) << "the entry below “cursor” is CPU0";
  at(60);
  EXPECT_EQ(panel.shownCpu(), Cpu{0});
  QTest::keyClick(cpus, Qt::Key_Up);
  settle();
  EXPECT_EQ(panel.shownCpu(), Cpu{1});
}

TEST_F(StatePanelTest, ButtonsMoveTheCursorAlongTheChangesOfOneCpu) {
  open();
  panel.setSource(madeSource());
  at(55);
  QTest::mouseClick(&button("Next change"), Qt::LeftButton);
  EXPECT_EQ(document.cursor()->row, Row{60});
  QTest::mouseClick(&button("Previous change"), Qt::LeftButton);
  QTest::mouseClick(&button("Previous change"), Qt::LeftButton);
  EXPECT_EQ(document.cursor()->row, Row{40});
  // Row 0 is one of CPU0; it is the state of CPU1 that changed there.
  at(8);
  QSignalSpy notices(&panel, &StatePanel::notice);
  at(10);
  QTest::mouseClick(&button("Previous change"), Qt::LeftButton);
  settle();
  EXPECT_EQ(document.cursor()->row, Row{0});
  EXPECT_EQ(panel.shownCpu(), Cpu{1});
  QTest::mouseClick(&button("Previous change"), Qt::LeftButton);
  EXPECT_EQ(notices.size(), 1);
  at(1);
  EXPECT_EQ(panel.shownCpu(), Cpu{0}) << "the cursor was moved otherwise";
}

TEST_F(StatePanelTest, ClickOnABucketChoosesItsTimer) {
  open();
  panel.setSource(madeSource());
  at(50);
  QTest::mouseClick(&grid(), Qt::LeftButton, {}, grid().bucketRect(49).center());
  EXPECT_EQ(list().current(), 3);
  EXPECT_EQ(grid().current(), u16{49});
  QTest::mouseClick(&list(), Qt::LeftButton, {}, list().lineRect(0).center());
  EXPECT_EQ(grid().current(), u16{60});
  QTest::mouseDClick(&list(), Qt::LeftButton, {}, list().lineRect(0).center());
  EXPECT_EQ(document.cursor()->row, Row{3}) << "the timer was armed in row 3";
}

TEST_F(StatePanelTest, KeysGoFromBucketToBucketAndBackToTheArm) {
  open();
  panel.setSource(madeSource());
  at(50);
  grid().setFocus();
  QTest::keyClick(&grid(), Qt::Key_Home);
  ASSERT_TRUE(grid().current()) << "focus chooses the first bucket with timers";
  EXPECT_EQ(*grid().current(), 40);
  QTest::keyClick(&grid(), Qt::Key_Right);
  EXPECT_EQ(*grid().current(), 47);
  QTest::keyClick(&grid(), Qt::Key_Right);
  QTest::keyClick(&grid(), Qt::Key_Return);
  EXPECT_EQ(list().current(), 3);
  list().setFocus();
  QTest::keyClick(&list(), Qt::Key_Down);
  EXPECT_EQ(list().current(), 4);
  QTest::keyClick(&list(), Qt::Key_Down);
  EXPECT_EQ(list().current(), 4) << "the last one";
  QTest::keyClick(&list(), Qt::Key_Return);
  EXPECT_EQ(document.cursor()->row, Row{7});
}

TEST_F(StatePanelTest, KeysStepAlongTheTreeAndScroll) {
  open();
  panel.setSource(madeSource());
  panel.resize(360, 420);
  at(50);
  tree().setFocus();
  QTest::keyClick(&tree(), Qt::Key_End);
  EXPECT_EQ(tree().current(), 10);
  const auto* const scroll = panel.findChild<QScrollArea*>();
  const QRect line = tree().lineRect(10).translated(tree().mapTo(&panel, QPoint()));
  EXPECT_TRUE(scroll->geometry().contains(line.center())) << "line 10 is in view";
  EXPECT_TRUE(tree().accessibleDescription().contains("softexpires"));
  QTest::keyClick(&tree(), Qt::Key_Home);
  QTest::keyClick(&tree(), Qt::Key_Return);
  EXPECT_EQ(document.cursor()->row, Row{8});
}

TEST_F(StatePanelTest, TimersFromBeforeTheRecordingLeadNowhereAndSaySo) {
  open();
  StateSource source = madeSource();
  source.stateAt = [](Row row) {
    SystemState state = support::madeState(row);
    state.cpus[1].wheel[0].timers[0].armedRow.reset();
    return state;
  };
  panel.setSource(source);
  at(50);
  QSignalSpy notices(&panel, &StatePanel::notice);
  list().setFocus();
  QTest::keyClick(&list(), Qt::Key_Home);
  QTest::keyClick(&list(), Qt::Key_Return);
  EXPECT_EQ(document.cursor()->row, Row{50});
  ASSERT_EQ(notices.size(), 1);
}

TEST_F(StatePanelTest, AsksForNoStateWhileNobodyLooks) {
  int asked = 0;
  StateSource source = madeSource();
  source.stateAt = [&](Row row) {
    ++asked;
    return support::madeState(row);
  };
  open();
  panel.hide();
  panel.setSource(source);
  for (u32 row = 10; row < 20; ++row) at(row);
  EXPECT_EQ(asked, 0);
  panel.show();
  ASSERT_TRUE(QTest::qWaitFor([&] { return asked == 1; }, 1000)) << asked;
  for (u32 row = 20; row < 30; ++row) document.setCursor(Row{row});
  settle();
  EXPECT_EQ(asked, 2) << "steps between two pictures count once";
}

TEST_F(StatePanelTest, RowsOfTheWheelStayWhereTheyAreWhileStepping) {
  open();
  panel.setSource(madeSource());
  at(2);
  const int empty = grid().height();
  const int top = grid().mapTo(&panel, QPoint()).y();
  at(50);
  EXPECT_EQ(grid().height(), empty);
  at(2);
  EXPECT_EQ(grid().mapTo(&panel, QPoint()).y(), top);
}

TEST_F(StatePanelTest, HandsStandWhereTheKernelLooksNext) {
  open();
  panel.setSource(madeSource());
  at(50);
  // clk = 4294893996: slots clk >> 3L & 63.
  EXPECT_EQ(grid().handOf(0), u16{44});
  EXPECT_EQ(grid().handOf(1), u16{64 + 53});
  EXPECT_EQ(grid().handOf(2), u16{128 + 6});
  at(2);
  EXPECT_FALSE(grid().handOf(0)) << "clk is unknown there";
}

TEST_F(StatePanelTest, EveryBucketHasItsOwnPixels) {
  open();
  panel.setSource(madeSource());
  for (const int width : {280, 360, 420, 700}) {
    panel.resize(width, 900);
    at(width % 2 ? 50U : 51U);
    const WheelGrid& buckets = grid();
    int before = -1;
    for (u16 slot = 0; slot < 64; ++slot) {
      const QRect rect = buckets.bucketRect(slot);
      EXPECT_GT(rect.left(), before) << "slot " << slot << " at width " << width;
      EXPECT_EQ(buckets.bucketAt(rect.center()), slot) << "width " << width;
      before = rect.right();
    }
    EXPECT_LE(before, buckets.width()) << width;
    EXPECT_EQ(buckets.showsGranules(), width >= 360) << width;
  }
}

TEST_F(StatePanelTest, NothingIsWiderThanThePanel) {
  open();
  StateSource source = madeSource();
  panel.setSource(source);
  for (const int width : {280, 360, 420}) {
    panel.resize(width, 768);
    for (const u32 row : {2U, 50U}) {
      at(row);
      const auto* const scroll = panel.findChild<QScrollArea*>();
      EXPECT_EQ(panel.width(), width);
      EXPECT_LE(scroll->widget()->width(), scroll->viewport()->width()) << width;
      for (const auto* const label : panel.findChildren<QLabel*>()) {
        if (!label->isVisible() || label->text().isEmpty()) continue;
        EXPECT_GE(label->height(), label->hasHeightForWidth()
                                       ? label->heightForWidth(label->width())
                                       : label->sizeHint().height())
            << label->text().toStdString() << " at " << width;
      }
      for (const auto* const facts : panel.findChildren<FactList*>()) {
        if (!facts->isVisible()) continue;
        EXPECT_GE(facts->height(), facts->heightForWidth(facts->width())) << width;
      }
    }
  }
}

TEST_F(StatePanelTest, NamesAreReadInFullAtTheUsualWidth) {
  open();
  StateSource source = madeSource();
  source.stateAt = [](Row row) {
    SystemState state = support::madeState(row);
    state.cpus[1].hrtimers[number(ClockBase::Mono)].resize(1);
    return state;
  };
  panel.setSource(source);
  at(50);
  EXPECT_TRUE(tree().showsBars());
  // Beyond the callback's last letter the ground must be seen before the time begins.
  const QImage image = tree().grab().toImage();
  const QRect line = tree().lineRect(0);
  const QColor ground = image.pixelColor(line.left() + 2, line.center().y());
  QFont font = Theme::application().font(Theme::Text::Body);
  font.setBold(true);
  const int end =
      static_cast<int>(tree().nodeAt(0).x() + 3.5 + 8 +
                       QFontMetricsF(font).horizontalAdvance(tree().tree().nodes[0].callback));
  for (int y = line.top() + 3; y < line.bottom() - 3; ++y) {
    EXPECT_EQ(image.pixelColor(end + 4, y), ground) << "text goes on at " << end + 4;
  }
}

TEST_F(StatePanelTest, HeaderNamesTheRowInAnyWidth) {
  open();
  panel.setSource(madeSource());
  at(50);
  for (const int width : {280, 360, 700}) {
    panel.resize(width, 768);
    settle();
    bool named = false;
    for (const auto* const label : panel.findChildren<QLabel*>()) {
      named = named || (label->isVisible() && label->text().contains(QStringLiteral("row 50")));
    }
    EXPECT_TRUE(named) << width;
  }
}

TEST_F(StatePanelTest, TreeKeepsItsBarsOnlyWhereThereIsRoom) {
  open();
  panel.setSource(madeSource());
  panel.resize(280, 900);
  at(50);
  EXPECT_FALSE(tree().showsBars());
  panel.resize(460, 900);
  settle();
  EXPECT_TRUE(tree().showsBars());
}

TEST_F(StatePanelTest, BothThemesPaintOverdueBucketsAsLate) {
  open();
  panel.setSource(madeSource());
  for (const ThemeChoice choice : {ThemeChoice::Light, ThemeChoice::Dark}) {
    Theme::application().setChoice(choice);
    at(choice == ThemeChoice::Light ? 50U : 51U);
    const QImage image = grid().grab().toImage();
    const auto colorAt = [&](u16 bucket) {
      return image.pixelColor(grid().bucketRect(bucket).center());
    };
    EXPECT_EQ(colorAt(60), Theme::application().color(Tone::Late));
    EXPECT_EQ(colorAt(47), Theme::application().color(Tone::WheelL0));
    EXPECT_EQ(colorAt(30), Theme::application().color(Tone::EmptyBucket));
  }
}

TEST_F(StatePanelTest, TabReachesEveryPart) {
  open();
  panel.setSource(madeSource());
  panel.activateWindow();
  at(50);
  panel.setFocus();
  QSet<QWidget*> reached;
  for (int i = 0; i < 12; ++i) {
    reached.insert(panel.focusWidget());
    QTest::keyClick(panel.focusWidget() ? panel.focusWidget() : &panel, Qt::Key_Tab);
  }
  for (QWidget* const part : std::initializer_list<QWidget*>{
           panel.findChild<QComboBox*>(), &button("Next change"), &grid(), &list(), &tree()})
    EXPECT_TRUE(reached.contains(part)) << part->metaObject()->className();
}

}  // namespace
}  // namespace tickscope
