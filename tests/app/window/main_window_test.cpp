// SPDX-License-Identifier: GPL-3.0-or-later
// The window as a person uses it: real keys and clicks from file to event row.
#include "app/window/main_window.h"

#include <gtest/gtest.h>

#include <QClipboard>
#include <QComboBox>
#include <QDropEvent>
#include <QGuiApplication>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QMimeData>
#include <QStackedWidget>
#include <QTest>
#include <QTextBrowser>
#include <QToolButton>
#include <QUrl>

#include "app/window/go_to_field.h"
#include "app/window/job_bar.h"
#include "app/window/notice_bar.h"
#include "app/window/start_page.h"
#include "app/window/status_line.h"
#include "tests/support/recordings.h"
#include "views/panels/events_panel.h"
#include "views/panels/import_log_panel.h"
#include "views/panels/state_panel.h"
#include "views/panels/trace_info_panel.h"
#include "views/timeline/overview_strip.h"
#include "views/timeline/timeline_widget.h"

namespace tickscope {
namespace {

QString bundled(const char* name) {
  return QString::fromStdString((support::bundledRecordings() / name).string());
}

QString sample() {
  return QString::fromStdString(
      (support::sourceFolder() / "resources/samples/02-ncm-double.dat").string());
}

class MainWindowTest : public testing::Test {
 protected:
  void SetUp() override {
    window.resize(1366, 768);
    window.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&window));
  }
  void open(const QString& path) {
    window.openFile(path);
    const auto arrived = [&] {
      return document().recording() && document().timeline() &&
             document().recording()->path == path.toStdString() &&
             !window.findChild<JobBar*>()->isVisible();
    };
    ASSERT_TRUE(QTest::qWaitFor(arrived, 30'000));
    QTest::qWait(1);
  }
  Document& document() { return window.document(); }
  TimelineWidget* timeline() { return window.findChild<TimelineWidget*>(); }
  RowTable& table() { return window.findChild<EventsPanel*>()->table(); }
  QString status() { return window.findChild<StatusLine*>()->text(); }
  NoticeBar* bar(Notice::Level level) {
    const QList<NoticeBar*> bars = window.findChildren<NoticeBar*>();
    return bars.value(level == Notice::Level::Error ? 0 : 1);
  }
  /// The middle of a row's mark in its lane.
  QPoint placeOf(Row row, u32 track, LaneKind lane) {
    const QRect area = timeline()->areaOf(timeline()->layoutOfLanes().placeOf(track, lane));
    return {qRound(timeline()->xOf(document().buffer()->events.time(row))), area.center().y()};
  }

  MainWindow window;
};

TEST_F(MainWindowTest, StartsWithTheStartPage) {
  EXPECT_TRUE(window.findChild<StartPage*>()->isVisible());
  EXPECT_FALSE(timeline()->isVisible());
  EXPECT_FALSE(window.findChild<OverviewStrip*>()->isVisible());
  EXPECT_FALSE(window.action(ActionId::ShowAll)->isEnabled());
  EXPECT_EQ(status(), "");
}

TEST_F(MainWindowTest, ShowsWhatIsInTheFile) {
  open(sample());
  EXPECT_EQ(window.windowTitle(), "02-ncm-double.dat — Tickscope");
  EXPECT_TRUE(timeline()->isVisible());
  EXPECT_FALSE(window.findChild<StartPage*>()->isVisible());
  EXPECT_FALSE(window.findChild<JobBar*>()->isVisible());
  EXPECT_TRUE(status().contains("9,610 events")) << status().toStdString();
  EXPECT_TRUE(status().contains("0 events lost")) << status().toStdString();
  EXPECT_TRUE(status().contains("Cursor –")) << status().toStdString();
  EXPECT_EQ(table().shownTexts(266).value(5), "hrtimer_start");
  EXPECT_FALSE(bar(Notice::Level::Error)->isVisible());
  EXPECT_FALSE(bar(Notice::Level::Loss)->isVisible());
}

TEST_F(MainWindowTest, ATimerListBesideAnOpenRecordingIsAnalysedWithIt) {
  TICKSCOPE_NEED_RECORDING(trace, "11-timerlist.dat");
  TICKSCOPE_NEED_RECORDING(dump, "11-timerlist.before.txt");
  open(QString::fromStdString(trace));
  EXPECT_TRUE(window.action(ActionId::UseTimerList)->isEnabled());
  const auto timelineBefore = document().timeline();
  const auto lanesBefore = document().modelLanes();
  ASSERT_TRUE(lanesBefore);
  window.openFile(QString::fromStdString(dump));
  ASSERT_TRUE(QTest::qWaitFor([&] { return document().modelLanes() != lanesBefore; }, 30'000))
      << status().toStdString();
  EXPECT_EQ(document().recording()->path, trace) << "the recording stays";
  EXPECT_EQ(document().timeline(), timelineBefore) << "its timeline needs no new one";
  // This one was dumped while the recorder ran.
  const QString said = window.findChild<StatusLine*>()->sentence();
  EXPECT_TRUE(said.contains("the state cannot begin with it")) << said.toStdString();
  EXPECT_FALSE(bar(Notice::Level::Error)->isVisible());
}

TEST_F(MainWindowTest, PanelsPaintAgainOnceTheTimelineIsThere) {
  open(sample());
  EXPECT_TRUE(window.findChild<OverviewStrip*>()->updatesEnabled());
  EXPECT_TRUE(table().updatesEnabled());
  window.openFile(sample());
  QTest::qWait(20);
  window.cancelJob();
  QTest::qWait(120);
  EXPECT_TRUE(table().updatesEnabled()) << "a cancelled job held the panels";
}

TEST_F(MainWindowTest, ShowsTheStateAtTheCursorAndStepsAlongItsChanges) {
  open(sample());
  auto* const state = window.findChild<StatePanel*>();
  document().setCursor(Row{266});
  ASSERT_TRUE(QTest::qWaitFor([&] { return state->view().has_value(); }, 5000))
      << state->message().toStdString();
  EXPECT_EQ(state->shownCpu(), Cpu{1});
  // The restart in row 266, as the recording's README tells it.
  ASSERT_FALSE(state->view()->trees.empty());
  EXPECT_EQ(state->view()->trees[0].nodes.size(), 1U);
  timeline()->setFocus();
  QTest::keyClick(timeline(), Qt::Key_Down, Qt::ControlModifier);
  EXPECT_GT(number(*document().cursor()->row), 266U);
  QTest::keyClick(timeline(), Qt::Key_Up, Qt::ControlModifier);
  EXPECT_LE(number(*document().cursor()->row), 266U);
}

TEST_F(MainWindowTest, F6ReachesTheStateAmongThePanes) {
  window.activateWindow();
  open(sample());
  document().setCursor(Row{266});
  auto* const state = window.findChild<StatePanel*>();
  ASSERT_TRUE(QTest::qWaitFor([&] { return state->view().has_value(); }, 5000));
  timeline()->setFocus();
  bool reached = false;
  int hiddenPanes = 0;
  for (int i = 0; i < 4; ++i) {
    QTest::keyClick(window.focusWidget(), Qt::Key_F6);
    reached = reached || state->isAncestorOf(window.focusWidget());
    const auto* const info = window.findChild<TraceInfoPanel*>();
    hiddenPanes += info == window.focusWidget();
  }
  EXPECT_TRUE(reached);
  EXPECT_EQ(hiddenPanes, 0) << "panels behind other tabs are no panes";
}

TEST_F(MainWindowTest, WindowIsThereWhileAFileOpens) {
  window.openFile(sample());
  EXPECT_TRUE(timeline()->isVisible());
  EXPECT_TRUE(window.findChild<JobBar*>()->isVisible());
  EXPECT_TRUE(window.findChild<JobBar*>()->stage().startsWith("02-ncm-double.dat (347.2 KiB): "))
      << window.findChild<JobBar*>()->stage().toStdString();
}

TEST_F(MainWindowTest, CancelLeavesTheWindowAsItWas) {
  window.openFile(sample());
  QTest::keyClick(window.focusWidget(), Qt::Key_Escape);
  EXPECT_FALSE(window.findChild<JobBar*>()->isVisible())
      << "at once, not when the thread has stopped";
  QTest::qWait(300);
  EXPECT_FALSE(document().recording());
  EXPECT_TRUE(window.findChild<StartPage*>()->isVisible());
}

TEST_F(MainWindowTest, CancelKeepsTheRecordingThatIsOpen) {
  open(bundled("base-v7-zstd.dat"));
  const auto before = document().recording();
  const u32 rows = document().rowCount();
  window.openFile(sample());
  window.cancelJob();
  QTest::qWait(300);
  EXPECT_EQ(document().recording(), before);
  EXPECT_EQ(document().rowCount(), rows);
}

TEST_F(MainWindowTest, ErrorIsSaidInPlaceAndTheOpenFileStays) {
  open(sample());
  window.openFile("/nowhere/at-all.dat");
  ASSERT_TRUE(QTest::qWaitFor([&] { return bar(Notice::Level::Error)->isVisible(); }, 10'000));
  EXPECT_TRUE(bar(Notice::Level::Error)->sentence().contains("/nowhere/at-all.dat"));
  EXPECT_EQ(document().rowCount(), 9610U);
  EXPECT_EQ(QApplication::activeModalWidget(), nullptr);
  QTest::mouseClick(bar(Notice::Level::Error)->findChildren<QToolButton*>().last(), Qt::LeftButton);
  EXPECT_FALSE(bar(Notice::Level::Error)->isVisible()) << "it can be closed";
}

TEST_F(MainWindowTest, ErrorWithoutAnOpenFileReturnsToTheStartPage) {
  window.openFile(bundled("README.md"));
  ASSERT_TRUE(QTest::qWaitFor([&] { return bar(Notice::Level::Error)->isVisible(); }, 10'000));
  QTest::qWait(10);
  EXPECT_TRUE(window.findChild<StartPage*>()->isVisible());
  EXPECT_FALSE(window.findChild<JobBar*>()->isVisible());
}

TEST_F(MainWindowTest, LossesAreSeenAtOnce) {
  open(bundled("lost.dat"));
  NoticeBar* const lost = bar(Notice::Level::Loss);
  ASSERT_TRUE(lost->isVisible());
  EXPECT_TRUE(lost->sentence().contains("events lost")) << lost->sentence().toStdString();
  EXPECT_FALSE(lost->detailsShown());
  QTest::mouseClick(lost->findChildren<QToolButton*>().first(), Qt::LeftButton);
  EXPECT_TRUE(lost->detailsShown());
  EXPECT_TRUE(lost->details().contains("CPU")) << lost->details().toStdString();
}

TEST_F(MainWindowTest, ClickOnAMarkLeadsToItsRow) {
  open(sample());
  document().setVisible({{6'403'172'000}, {6'404'232'000}});
  timeline()->repaint();
  QTest::mouseClick(timeline(), Qt::LeftButton, Qt::NoModifier,
                    placeOf(Row{266}, 1, LaneKind::Hrtimer));
  ASSERT_TRUE(document().cursor());
  EXPECT_EQ(document().cursor()->row, Row{266});
  EXPECT_FALSE(table().lineRect(266).isEmpty()) << "the table has scrolled to the row";
  EXPECT_TRUE(status().contains("Cursor 6.403 416 103 s")) << status().toStdString();
}

TEST_F(MainWindowTest, ClickOnARowLeadsToItsTime) {
  open(sample());
  document().setVisible({{6'500'000'000}, {6'501'000'000}});
  const QRect rect = table().lineRect(table().topLine() + 2);
  QTest::mouseClick(table().viewport(), Qt::LeftButton, Qt::NoModifier, rect.center());
  ASSERT_TRUE(document().cursor());
  const TraceTime at = document().cursor()->time;
  EXPECT_LE(document().visible().from, at);
  EXPECT_LT(at, document().visible().to) << "the timeline has followed";
}

TEST_F(MainWindowTest, KeysZoomMoveAndGoBack) {
  open(sample());
  timeline()->setFocus();
  const TimeSpan all = document().visible();
  QTest::keyClick(timeline(), Qt::Key_W);
  const TimeSpan closer = document().visible();
  EXPECT_LT((closer.to - closer.from).value, (all.to - all.from).value);
  document().settleView();
  QTest::keyClick(timeline(), Qt::Key_D);
  EXPECT_GT(document().visible().from, closer.from);
  document().settleView();
  QTest::keyClick(timeline(), Qt::Key_A);
  EXPECT_EQ(document().visible(), closer);
  document().settleView();
  QTest::keyClick(timeline(), Qt::Key_Left, Qt::AltModifier);
  EXPECT_GT(document().visible().from, closer.from) << "Alt+Left undoes the last move";
  QTest::keyClick(timeline(), Qt::Key_0);
  EXPECT_EQ(document().visible(), all);
}

TEST_F(MainWindowTest, CtrlWheelZoomsAtThePointer) {
  open(sample());
  const QPointF at(700, timeline()->laneArea().center().y());
  const TraceTime under = timeline()->timeAt(at.x());
  const TimeSpan before = document().visible();
  QWheelEvent notch(at, timeline()->mapToGlobal(at), QPoint(), QPoint(0, 120), Qt::NoButton,
                    Qt::ControlModifier, Qt::NoScrollPhase, false);
  QApplication::sendEvent(timeline(), &notch);
  const TimeSpan after = document().visible();
  EXPECT_LT((after.to - after.from).value, (before.to - before.from).value);
  const double pixel =
      static_cast<double>((after.to - after.from).value) / timeline()->laneArea().width();
  EXPECT_NEAR(static_cast<double>(timeline()->timeAt(at.x()).value),
              static_cast<double>(under.value), 2 * pixel);
}

TEST_F(MainWindowTest, DragSelectsAndZZoomsToIt) {
  open(sample());
  timeline()->setFocus();
  const int y = timeline()->laneArea().center().y();
  QTest::mousePress(timeline(), Qt::LeftButton, Qt::NoModifier, QPoint(500, y));
  QTest::mouseMove(timeline(), QPoint(550, y));
  QTest::mouseMove(timeline(), QPoint(700, y));
  QTest::mouseRelease(timeline(), Qt::LeftButton, Qt::NoModifier, QPoint(700, y));
  ASSERT_TRUE(document().selection());
  const TimeSpan chosen = *document().selection();
  EXPECT_TRUE(window.action(ActionId::ZoomSelection)->isEnabled());
  QTest::keyClick(timeline(), Qt::Key_Z);
  EXPECT_EQ(document().visible(), chosen);
}

TEST_F(MainWindowTest, MarkersMeasure) {
  open(sample());
  timeline()->setFocus();
  document().setCursor(Row{100});
  QTest::keyClick(timeline(), Qt::Key_A, Qt::ShiftModifier);
  document().setCursor(Row{200});
  QTest::keyClick(timeline(), Qt::Key_B, Qt::ShiftModifier);
  EXPECT_EQ(document().marker(Marker::A), document().buffer()->events.time(Row{100}));
  EXPECT_EQ(document().marker(Marker::B), document().buffer()->events.time(Row{200}));
  EXPECT_FALSE(status().contains("B−A –")) << status().toStdString();
}

TEST_F(MainWindowTest, GoToTakesRowsAndTimes) {
  open(sample());
  QTest::keyClick(timeline(), Qt::Key_G, Qt::ControlModifier);
  auto* const field = window.findChild<GoToField*>();
  ASSERT_TRUE(field->hasFocus());
  QTest::keyClicks(field, "row 266");
  QTest::keyClick(field, Qt::Key_Return);
  ASSERT_TRUE(document().cursor());
  EXPECT_EQ(document().cursor()->row, Row{266});
  EXPECT_TRUE(timeline()->hasFocus());
  field->setFocus();
  field->clear();
  QTest::keyClicks(field, "6.403 416 200");
  QTest::keyClick(field, Qt::Key_Return);
  EXPECT_EQ(document().cursor()->time.value, 6'403'416'200);
  for (const char* bad : {"row 9610", "tomorrow", "99.5"}) {
    QString why;
    EXPECT_FALSE(field->target(bad, why)) << bad;
    EXPECT_FALSE(why.isEmpty()) << bad;
  }
}

TEST_F(MainWindowTest, BuffersCanBeChosen) {
  open(bundled("instances.dat"));
  auto* const buffers = window.findChild<QComboBox*>();
  ASSERT_TRUE(buffers->isVisible());
  ASSERT_GT(buffers->count(), 1);
  const int other = buffers->currentIndex() == 0 ? 1 : 0;
  buffers->setCurrentIndex(other);
  emit buffers->activated(other);
  EXPECT_EQ(document().bufferIndex(), static_cast<u32>(other));
  ASSERT_TRUE(QTest::qWaitFor([&] { return document().timeline() != nullptr; }, 10'000));
  EXPECT_EQ(buffers->currentIndex(), other);
}

TEST_F(MainWindowTest, DroppedFileOpens) {
  QMimeData data;
  data.setUrls({QUrl::fromLocalFile(sample())});
  QDragEnterEvent enter(QPoint(100, 100), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&window, &enter);
  EXPECT_TRUE(enter.isAccepted());
  QDropEvent drop(QPointF(100, 100), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&window, &drop);
  ASSERT_TRUE(QTest::qWaitFor([&] { return document().rowCount() == 9610; }, 30'000));
}

TEST_F(MainWindowTest, RecentFilesAreKept) {
  open(sample());
  open(bundled("lost.dat"));
  const QStringList recent = WindowSettings().recentFiles();
  ASSERT_GE(recent.size(), 2);
  EXPECT_TRUE(recent[0].endsWith("lost.dat"));
  EXPECT_TRUE(recent[1].endsWith("02-ncm-double.dat"));
}

TEST_F(MainWindowTest, ThemeIsKeptAndChangesColours) {
  window.action(ActionId::ThemeDark)->trigger();
  EXPECT_TRUE(Theme::application().dark());
  EXPECT_EQ(WindowSettings().theme(), ThemeChoice::Dark);
  window.action(ActionId::ThemeLight)->trigger();
  EXPECT_FALSE(Theme::application().dark());
  window.action(ActionId::ThemeSystem)->trigger();
  EXPECT_EQ(WindowSettings().theme(), ThemeChoice::System);
}

TEST_F(MainWindowTest, EveryActionIsInAMenu) {
  QSet<QAction*> inMenus;
  QList<QMenu*> menus;
  for (QAction* const top : window.findChild<QMenuBar*>()->actions()) menus.append(top->menu());
  while (!menus.isEmpty()) {
    const QMenu* const menu = menus.takeFirst();
    for (QAction* const item : menu->actions()) {
      if (item->menu()) menus.append(item->menu());
      inMenus.insert(item);
    }
  }
  for (const Gesture& gesture : gestures()) {
    if (gesture.menu == MenuPlace::None) continue;
    ASSERT_NE(window.action(gesture.id), nullptr) << gesture.name.toStdString();
    EXPECT_TRUE(inMenus.contains(window.action(gesture.id))) << gesture.name.toStdString();
  }
}

TEST_F(MainWindowTest, KeySheetOpensWithoutStoppingTheWindow) {
  QTest::keyClick(&window, Qt::Key_F1);
  EXPECT_EQ(QApplication::activeModalWidget(), nullptr);
  bool found = false;
  for (const QWidget* const top : QApplication::topLevelWidgets()) {
    const auto* const text = top->findChild<QTextBrowser*>();
    found = found || (top->windowTitle() == "Keys and gestures" && text && top->isVisible());
  }
  EXPECT_TRUE(found);
}

TEST_F(MainWindowTest, PanelsSayWhatTheFileIs) {
  open(bundled("lost.dat"));
  auto* const info = window.findChild<TraceInfoPanel*>();
  auto* const log = window.findChild<ImportLogPanel*>();
  for (QWidget* const panel : std::initializer_list<QWidget*>{info, log}) {
    panel->parentWidget()->raise();
    auto* const text = qobject_cast<QTextBrowser*>(panel);
    ASSERT_TRUE(QTest::qWaitFor([&] { return !text->toPlainText().isEmpty(); }, 10'000))
        << panel->metaObject()->className();
  }
  EXPECT_TRUE(info->toPlainText().contains("trace.dat version"));
  EXPECT_TRUE(info->toPlainText().contains("CPU0"));
  EXPECT_TRUE(log->toPlainText().contains("lost")) << log->toPlainText().toStdString();
}

TEST_F(MainWindowTest, CloseReturnsToTheStartPage) {
  open(sample());
  QTest::keyClick(&window, Qt::Key_W, Qt::ControlModifier);
  EXPECT_FALSE(document().recording());
  EXPECT_TRUE(window.findChild<StartPage*>()->isVisible());
  EXPECT_EQ(window.windowTitle(), "Tickscope");
}

}  // namespace
}  // namespace tickscope
