// SPDX-License-Identifier: GPL-3.0-or-later
// The timeline driven by keys and pointer, offscreen.
#include "views/timeline/timeline_widget.h"

#include <gtest/gtest.h>

#include <QApplication>
#include <QScrollBar>
#include <QTest>
#include <QWheelEvent>
#include <cmath>
#include <limits>

#include "core/timeline/lane_builder.h"
#include "core/timeline/model_lanes.h"
#include "tests/support/analysed.h"
#include "tests/support/made_events.h"
#include "tests/support/recordings.h"
#include "views/document.h"
#include "views/theme.h"
#include "views/timeline/hover_card.h"
#include "views/timeline/overview_strip.h"
#include "views/timeline/ruler.h"

namespace tickscope {
namespace {

using support::EventMaker;

/// CPU0: an interrupt of 20 µs each ms; CPU1: a task and hrtimer expiries.
std::shared_ptr<Recording> smallRecording(ClockUnit unit = ClockUnit::Nanoseconds) {
  EventMaker maker;
  maker.cpu(0);
  for (s64 ms = 0; ms < 100; ++ms) maker.irq(ms * 1'000'000, ms * 1'000'000 + 20'000);
  maker.cpu(1).switchTo(0, "idle", "sh-72");
  for (s64 ms = 1; ms < 99; ++ms)
    maker.expiry(ms * 1'000'000 + 500'000, ms * 1'000'000 + 510'000, 7);
  maker.switchTo(99'000'000, "sh-72", "idle");
  return maker.recording(unit);
}

class TimelineTest : public testing::Test {
 protected:
  explicit TimelineTest(std::shared_ptr<Recording> recording = smallRecording())
      : widget_(document_), recording_(std::move(recording)) {
    widget_.resize(1200, 500);
    widget_.show();
    document_.open(recording_, 0);
    Progress progress;
    document_.setTimeline(*buildTimeline(document_.buffer()->events, 1, progress));
    widget_.setFocus();
    QApplication::processEvents();
  }

  void key(int key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QTest::keyClick(&widget_, static_cast<Qt::Key>(key), modifiers);
  }
  void wheel(QPointF at, int notches, Qt::KeyboardModifiers modifiers) {
    QWheelEvent event(at, widget_.mapToGlobal(at), QPoint(), QPoint(0, notches * 120), Qt::NoButton,
                      modifiers, Qt::NoScrollPhase, false);
    QApplication::sendEvent(&widget_, &event);
  }
  /// The middle of a lane at a time.
  QPoint at(u32 track, LaneKind lane, s64 time) {
    const QRect area = widget_.areaOf(widget_.layoutOfLanes().placeOf(track, lane));
    return QPoint(static_cast<int>(std::lround(widget_.xOf({time}))), area.center().y());
  }
  void drag(QPoint from, QPoint to, Qt::MouseButton button = Qt::LeftButton) {
    QTest::mousePress(&widget_, button, {}, from);
    // QTest's moves carry no buttons, so they are made by hand.
    for (const QPoint place : {(from + to) / 2, to}) {
      QMouseEvent move(QEvent::MouseMove, QPointF(place), widget_.mapToGlobal(QPointF(place)),
                       Qt::NoButton, button, Qt::NoModifier);
      QApplication::sendEvent(&widget_, &move);
    }
    QTest::mouseRelease(&widget_, button, {}, to);
  }
  s64 length() const { return (document_.visible().to - document_.visible().from).value; }
  const EventStore& store() const { return document_.buffer()->events; }

  Document document_;
  TimelineWidget widget_;
  std::shared_ptr<Recording> recording_;
};

TEST_F(TimelineTest, ControlWheelZoomsAndKeepsTheTimeUnderThePointer) {
  const QPointF place(700, 100);
  const TraceTime before = widget_.timeAt(place.x());
  const s64 whole = length();
  wheel(place, 3, Qt::ControlModifier);
  EXPECT_LT(length(), whole * 6 / 10);
  EXPECT_NEAR(static_cast<double>(widget_.timeAt(place.x()).value),
              static_cast<double>(before.value), static_cast<double>(length()) / 300);
  wheel(place, -3, Qt::ControlModifier);
  EXPECT_NEAR(static_cast<double>(length()), static_cast<double>(whole), 10);
}

TEST_F(TimelineTest, LettersZoomAtThePointerAndPanByAQuarter) {
  QTest::mouseMove(&widget_, QPoint(500, 100));
  const TraceTime under = widget_.timeAt(500);
  const s64 whole = length();
  key(Qt::Key_W);
  EXPECT_NEAR(static_cast<double>(length()), static_cast<double>(whole) / 2, 2);
  EXPECT_NEAR(widget_.xOf(under), 500, 1.5);
  const TraceTime from = document_.visible().from;
  key(Qt::Key_D);
  EXPECT_NEAR(static_cast<double>((document_.visible().from - from).value),
              static_cast<double>(length()) / 4, 2);
  key(Qt::Key_A);
  EXPECT_EQ(document_.visible().from, from);
  key(Qt::Key_S);
  EXPECT_NEAR(static_cast<double>(length()), static_cast<double>(whole), 4);
}

TEST_F(TimelineTest, PlusAndMinusZoomAtTheSelection) {
  document_.setSelection({{80'000'000}, {82'000'000}});
  const double x = widget_.xOf({81'000'000});
  key(Qt::Key_Plus);
  EXPECT_NEAR(widget_.xOf({81'000'000}), x, 1.5);
}

TEST_F(TimelineTest, ShiftWheelAndMiddleDragPan) {
  document_.setVisible({{40'000'000}, {50'000'000}});
  wheel({600, 100}, -1, Qt::ShiftModifier);
  EXPECT_EQ(document_.visible().from, TraceTime{41'000'000});
  const TraceTime held = widget_.timeAt(700);
  drag({700, 100}, {500, 100}, Qt::MiddleButton);
  EXPECT_NEAR(static_cast<double>(widget_.timeAt(500).value), static_cast<double>(held.value),
              30'000);
  EXPECT_EQ(length(), 10'000'000);
}

TEST_F(TimelineTest, AWheelAloneScrollsLanesOnly) {
  widget_.resize(1200, 180);
  QApplication::processEvents();
  auto* const bar = widget_.findChild<QScrollBar*>();
  ASSERT_TRUE(bar->isVisible());
  const TimeSpan seen = document_.visible();
  wheel({600, 100}, -1, Qt::NoModifier);
  EXPECT_EQ(bar->value(), 60);
  EXPECT_EQ(document_.visible(), seen);
}

TEST_F(TimelineTest, ControlShiftWheelChangesLaneHeights) {
  const s64 before = widget_.layoutOfLanes().height();
  wheel({600, 100}, 1, Qt::ControlModifier | Qt::ShiftModifier);
  EXPECT_GT(widget_.layoutOfLanes().height(), before);
  wheel({600, 100}, -2, Qt::ControlModifier | Qt::ShiftModifier);
  EXPECT_LT(widget_.layoutOfLanes().height(), before);
}

TEST_F(TimelineTest, ALeftDragSelectsARangeWhoseEdgesSnapToEvents) {
  document_.setVisible({{40'000'000}, {50'000'000}});
  drag(at(0, LaneKind::HardIrq, 42'000'000) - QPoint(3, 0),
       at(0, LaneKind::HardIrq, 45'000'000) - QPoint(3, 0));
  ASSERT_TRUE(document_.selection());
  EXPECT_EQ(*document_.selection(), (TimeSpan{{42'000'000}, {45'000'000}}));
  EXPECT_FALSE(document_.cursor()) << "a drag is no click";
}

TEST_F(TimelineTest, ZAndReturnZoomToTheSelectionAndEscapeForgetsIt) {
  document_.setSelection({{42'000'000}, {45'000'000}});
  key(Qt::Key_Z);
  EXPECT_EQ(document_.visible(), (TimeSpan{{42'000'000}, {45'000'000}}));
  key(Qt::Key_0);
  EXPECT_EQ(document_.visible(), document_.reach());
  key(Qt::Key_Return);
  EXPECT_EQ(document_.visible(), (TimeSpan{{42'000'000}, {45'000'000}}));
  key(Qt::Key_Home);
  EXPECT_EQ(document_.visible(), document_.reach());
  key(Qt::Key_Escape);
  EXPECT_FALSE(document_.selection());
}

TEST_F(TimelineTest, ShiftClickExtendsTheNearerEdge) {
  document_.setSelection({{42'000'000}, {45'000'000}});
  QTest::mouseClick(&widget_, Qt::LeftButton, Qt::ShiftModifier,
                    at(0, LaneKind::HardIrq, 60'000'000));
  EXPECT_EQ(*document_.selection(), (TimeSpan{{42'000'000}, {60'000'000}}));
  QTest::mouseClick(&widget_, Qt::LeftButton, Qt::ShiftModifier,
                    at(0, LaneKind::HardIrq, 30'000'000));
  EXPECT_EQ(*document_.selection(), (TimeSpan{{30'000'000}, {60'000'000}}));
}

TEST_F(TimelineTest, AltArrowsWalkTheHistoryOfTheView) {
  const TimeSpan whole = document_.visible();
  document_.setVisible({{42'000'000}, {45'000'000}});
  key(Qt::Key_Left, Qt::AltModifier);
  EXPECT_EQ(document_.visible(), whole);
  key(Qt::Key_Right, Qt::AltModifier);
  EXPECT_EQ(document_.visible(), (TimeSpan{{42'000'000}, {45'000'000}}));
}

TEST_F(TimelineTest, AClickSelectsTheEventUnderThePointer) {
  document_.setVisible({{40'000'000}, {50'000'000}});
  QTest::mouseClick(&widget_, Qt::LeftButton, {}, at(0, LaneKind::HardIrq, 44'000'000));
  ASSERT_TRUE(document_.cursor() && document_.cursor()->row);
  EXPECT_EQ(store().kind(*document_.cursor()->row), kindOf<IrqHandlerEntry>);
  EXPECT_EQ(document_.cursor()->time, TraceTime{44'000'000});
  ASSERT_TRUE(widget_.current());
  EXPECT_EQ(widget_.current()->track, 0U);
  EXPECT_EQ(widget_.current()->lane, LaneKind::HardIrq);
}

TEST_F(TimelineTest, AClickOnNothingPutsTheCursorThere) {
  document_.setVisible({{40'000'000}, {50'000'000}});
  QTest::mouseClick(&widget_, Qt::LeftButton, {}, at(0, LaneKind::HardIrq, 44'500'000));
  ASSERT_TRUE(document_.cursor());
  EXPECT_FALSE(document_.cursor()->row);
  EXPECT_NEAR(static_cast<double>(document_.cursor()->time.value), 44'500'000, 10'100);
}

TEST_F(TimelineTest, LeftAndRightStepAlongTheLaneAndTheViewFollows) {
  document_.setVisible({{40'000'000}, {50'000'000}});
  QTest::mouseClick(&widget_, Qt::LeftButton, {}, at(0, LaneKind::HardIrq, 49'000'000));
  for (int i = 0; i < 6; ++i) key(Qt::Key_Right);
  EXPECT_EQ(document_.cursor()->time, TraceTime{52'000'000});
  EXPECT_LT(document_.cursor()->time, document_.visible().to);
  key(Qt::Key_Left);
  EXPECT_EQ(document_.cursor()->time, TraceTime{51'020'000});
}

TEST_F(TimelineTest, UpAndDownGoToOtherLanesAndLeftFoldsAHeader) {
  document_.setVisible({{40'000'000}, {50'000'000}});
  QTest::mouseClick(&widget_, Qt::LeftButton, {}, at(1, LaneKind::Hrtimer, 44'500'000));
  ASSERT_EQ(widget_.current()->lane, LaneKind::Hrtimer);
  for (int i = 0; i < 3; ++i) key(Qt::Key_Up);
  EXPECT_EQ(widget_.current()->lane, LaneKind::Task);
  key(Qt::Key_Up);
  EXPECT_TRUE(widget_.current()->header);
  const s64 before = widget_.layoutOfLanes().height();
  key(Qt::Key_Left);
  EXPECT_TRUE(widget_.layoutOfLanes().folded(1));
  EXPECT_LT(widget_.layoutOfLanes().height(), before);
  key(Qt::Key_Up);
  EXPECT_EQ(widget_.current()->track, 0U);
  EXPECT_EQ(widget_.current()->lane, LaneKind::Programming);
  key(Qt::Key_Down);
  key(Qt::Key_Right);
  EXPECT_FALSE(widget_.layoutOfLanes().folded(1));
  key(Qt::Key_Down);
  EXPECT_EQ(widget_.current()->lane, LaneKind::Task);
}

TEST_F(TimelineTest, AClickOnAHeaderLabelFolds) {
  const QRect header = widget_.areaOf(widget_.layoutOfLanes().headerOf(0));
  QTest::mouseClick(&widget_, Qt::LeftButton, {}, QPoint(11, header.center().y()));
  EXPECT_TRUE(widget_.layoutOfLanes().folded(0));
  EXPECT_FALSE(document_.cursor());
}

TEST_F(TimelineTest, ShiftLettersSetMarkersAtTheCursor) {
  document_.setCursor(TraceTime{10'000'000});
  key(Qt::Key_A, Qt::ShiftModifier);
  document_.setCursor(TraceTime{30'000'000});
  key(Qt::Key_B, Qt::ShiftModifier);
  EXPECT_EQ(document_.marker(Marker::A), TraceTime{10'000'000});
  EXPECT_EQ(document_.marker(Marker::B), TraceTime{30'000'000});
}

TEST_F(TimelineTest, FTogglesFollowing) {
  const bool before = document_.follow();
  key(Qt::Key_F);
  EXPECT_NE(document_.follow(), before);
}

TEST_F(TimelineTest, HoveringShowsACardOffTheLaneAndLeavingHidesIt) {
  document_.setVisible({{40'000'000}, {50'000'000}});
  const QPoint place = at(0, LaneKind::HardIrq, 44'000'000);
  QTest::mouseMove(&widget_, place);
  for (int i = 0; i < 100 && !widget_.card().isVisible(); ++i) QTest::qWait(50);
  ASSERT_TRUE(widget_.card().isVisible());
  EXPECT_EQ(widget_.card().text().title, QStringLiteral("irq_handler_entry"));
  EXPECT_LE(widget_.card().text().lines.size(), 9U);
  const QRect lane = widget_.areaOf(widget_.layoutOfLanes().placeOf(0, LaneKind::HardIrq));
  EXPECT_FALSE(widget_.card().geometry().intersects(lane));
  QEvent leave(QEvent::Leave);
  QApplication::sendEvent(&widget_, &leave);
  EXPECT_FALSE(widget_.card().isVisible());
}

TEST_F(TimelineTest, SpaceShowsTheCardOfTheCursor) {
  QTest::mouseClick(&widget_, Qt::LeftButton, {}, at(1, LaneKind::Task, 60'000'000));
  document_.setCursor(Row{5});
  key(Qt::Key_Space);
  EXPECT_TRUE(widget_.card().isVisible());
  EXPECT_EQ(widget_.card().text().corner, QStringLiteral("row 5"));
  key(Qt::Key_Space);
  EXPECT_FALSE(widget_.card().isVisible());
}

TEST_F(TimelineTest, ADoubleClickOnTheRulerShowsAll) {
  document_.setVisible({{40'000'000}, {50'000'000}});
  QTest::mouseDClick(&widget_, Qt::LeftButton, {}, QPoint(700, 10));
  EXPECT_EQ(document_.visible(), document_.reach());
}

TEST_F(TimelineTest, SelectingARowElsewhereMovesTheKeyboardToItsLane) {
  for (u32 row = 0; row < store().size(); ++row) {
    if (store().kind(Row{row}) == kindOf<HrtimerExpireEntry>) {
      document_.setCursor(Row{row});
      break;
    }
  }
  ASSERT_TRUE(widget_.current());
  EXPECT_EQ(widget_.current()->lane, LaneKind::Hrtimer);
  EXPECT_EQ(widget_.current()->track, 1U);
  EXPECT_TRUE(widget_.accessibleDescription().contains(QStringLiteral("CPU1 hrtimers")))
      << widget_.accessibleDescription().toStdString();
}

TEST_F(TimelineTest, PaintsInBothThemesAndSizesWithoutARecordingToo) {
  for (const ThemeChoice choice : {ThemeChoice::Light, ThemeChoice::Dark}) {
    Theme::application().setChoice(choice);
    for (const QSize size : {QSize(360, 120), QSize(1366, 500), QSize(3840, 2160), QSize(1, 1)}) {
      widget_.resize(size);
      EXPECT_FALSE(widget_.grab().isNull());
    }
    widget_.resize(1200, 500);
    const QImage image = widget_.grab().toImage();
    const QColor lane = toneColor(Tone::Panel, choice == ThemeChoice::Dark);
    const QPoint quiet = at(0, LaneKind::Task, 0) + QPoint(2, 0);
    EXPECT_NE(image.pixelColor(quiet), QColor(Qt::black)) << "painted";
    EXPECT_TRUE(lane.isValid());
  }
  document_.close();
  EXPECT_FALSE(widget_.grab().isNull());
  key(Qt::Key_W);
  wheel({600, 100}, 1, Qt::ControlModifier);
  QTest::mouseClick(&widget_, Qt::LeftButton, {}, QPoint(600, 100));
  Theme::application().setChoice(ThemeChoice::System);
}

TEST_F(TimelineTest, TheOverviewMovesTheVisibleRange) {
  OverviewStrip overview(document_);
  overview.resize(1000, 48);
  overview.show();
  document_.setVisible({{40'000'000}, {50'000'000}});
  EXPECT_GE(overview.frame().width(), 12);
  QTest::mouseClick(&overview, Qt::LeftButton, {}, QPoint(800, 20));
  const s64 middle = document_.visible().from.value + length() / 2;
  EXPECT_NEAR(static_cast<double>(middle), 79'300'000, 600'000);
  EXPECT_EQ(length(), 10'000'000);
  const QPoint grip = overview.frame().center().toPoint();
  QTest::mousePress(&overview, Qt::LeftButton, {}, grip);
  QMouseEvent move(QEvent::MouseMove, QPointF(grip - QPoint(300, 0)), QPointF(), Qt::NoButton,
                   Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&overview, &move);
  QTest::mouseRelease(&overview, Qt::LeftButton, {}, grip - QPoint(300, 0));
  EXPECT_LT(document_.visible().from, TraceTime{50'000'000});
  EXPECT_EQ(length(), 10'000'000);
  EXPECT_FALSE(overview.grab().isNull());
}

TEST_F(TimelineTest, TheOverviewsFrameIsNeverNarrowerThanTwelve) {
  OverviewStrip overview(document_);
  overview.resize(1000, 48);
  document_.setVisible({{40'000'000}, {40'000'100}});
  EXPECT_DOUBLE_EQ(overview.frame().width(), 12);
  document_.setVisible({document_.reach().from, document_.reach().from + TraceDelta{100}});
  EXPECT_GE(overview.frame().left(), 0);
}

TEST(Ruler, StepsAreOneTwoFiveAndFarEnoughApart) {
  for (s64 length = 10; length < 4'000'000'000'000'000'000; length += length / 2) {
    const auto ticks =
        rulerTicks({{{12'345}, {12'345 + length}}, 1200, ClockUnit::Nanoseconds, {}}, 0);
    ASSERT_LE(ticks.size(), 1200U) << length;
    double before = -1000;
    for (const RulerTick& tick : ticks) {
      if (!tick.major) continue;
      if (length > 20) {
        EXPECT_GE(tick.x - before, 90) << length;
      }
      before = tick.x;
    }
  }
}

TEST(Ruler, LabelsHaveAsManyDecimalsAsTheStepNeeds) {
  const auto first = [](s64 from, s64 to, ClockUnit unit, Known<TraceTime> base = {}) {
    for (const RulerTick& tick : rulerTicks({{{from}, {to}}, 1000, unit, base}, 0)) {
      if (tick.major) return tick.label;
    }
    return QString();
  };
  EXPECT_EQ(first(6'403'000'000, 6'503'000'000, ClockUnit::Nanoseconds), QStringLiteral("6.410"));
  EXPECT_EQ(first(6'403'100'000, 6'404'100'000, ClockUnit::Nanoseconds),
            QStringLiteral("6.403 100"));
  EXPECT_EQ(first(6'403'100'001, 6'403'101'001, ClockUnit::Nanoseconds),
            QStringLiteral("6.403 100 100"));
  EXPECT_EQ(first(123'456, 223'456, ClockUnit::Cycles), QStringLiteral("130 000"));
  EXPECT_EQ(first(900'000, 1'900'000, ClockUnit::Nanoseconds, TraceTime{1'000'000}),
            QString(QChar(0x2212)) + QStringLiteral("0.000 100"));
  EXPECT_EQ(first(1'000'000, 2'000'000, ClockUnit::Nanoseconds, TraceTime{1'000'000}),
            QStringLiteral("0"));
}

TEST(Ruler, StandsTheEndsOfNumbers) {
  constexpr s64 least = std::numeric_limits<s64>::min();
  constexpr s64 most = std::numeric_limits<s64>::max();
  for (const auto& [from, to] : {std::pair{least, most},
                                 {most - 5, most},
                                 {least, least + 5},
                                 {s64{0}, s64{0}},
                                 {most, least}}) {
    for (const Known<TraceTime> base : {Known<TraceTime>(), Known<TraceTime>(TraceTime{least}),
                                        Known<TraceTime>(TraceTime{most})}) {
      EXPECT_LE(rulerTicks({{{from}, {to}}, 500, ClockUnit::Nanoseconds, base}, 0).size(), 500U);
    }
  }
}

/// A recorded trace with its analysis, which arrives after the first picture.
class AnalysedTimeline {
 public:
  explicit AnalysedTimeline(const std::string& path) : analysis_(support::analysedFile(path)) {
    widget_.resize(1200, 600);
    widget_.show();
    document_.open(analysis_.recording, analysis_.buffer);
    Progress progress;
    timeline_ = *buildTimeline(analysis_.events(), 1, progress);
    document_.setTimeline(timeline_);
  }
  void analyse() {
    Progress progress;
    document_.setModelLanes(
        *buildModelLanes(*timeline_, analysis_.tables, analysis_.clocks, true, progress));
  }
  std::size_t armed() {
    std::size_t sum = 0;
    for (const SceneStrip& strip : widget_.scene().strips) sum += strip.armed.size();
    return sum;
  }
  std::size_t left() {
    std::size_t sum = 0;
    for (const SceneStrip& strip : widget_.scene().strips) sum += strip.left.size();
    return sum;
  }

  Analysis analysis_;
  std::shared_ptr<const Timeline> timeline_;
  Document document_;
  TimelineWidget widget_{document_};
};

TEST(AnalysedTimelineTest, ArmedTimersAndTheStepLineAppearWithTheAnalysisInBothThemes) {
  TICKSCOPE_NEED_RECORDING(path, "02-ncm-double.dat");
  for (const ThemeChoice theme : {ThemeChoice::Light, ThemeChoice::Dark}) {
    Theme::application().setChoice(theme);
    AnalysedTimeline shown(path);
    shown.document_.setVisible({{6'403'180'000}, {6'404'240'000}});
    EXPECT_EQ(shown.armed(), 0U);
    EXPECT_EQ(shown.left(), 0U);
    const QImage before = shown.widget_.grab().toImage();
    shown.analyse();
    EXPECT_GT(shown.armed(), 10U);
    EXPECT_GT(shown.left(), 10U);
    const QImage after = shown.widget_.grab().toImage();
    EXPECT_NE(before, after);
    // The line is drawn in the ink of what is due.
    const QRect lane =
        shown.widget_.areaOf(shown.widget_.layoutOfLanes().placeOf(1, LaneKind::Programming));
    const QRgb ink = Theme::application().color(Tone::Due).rgb();
    const auto inked = [&](const QImage& image) {
      int sum = 0;
      for (int y = lane.top() + 3; y < lane.bottom() - 16; ++y) {
        for (int x = lane.left(); x < lane.right(); ++x) {
          const QRgb pixel = image.pixel(x, y);
          sum += std::abs(qGreen(pixel) - qGreen(ink)) < 60;
        }
      }
      return sum;
    };
    EXPECT_EQ(inked(before), 0);
    EXPECT_GT(inked(after), 300);
    // A buffer that is shown anew waits for its own analysis.
    shown.document_.setTimeline(nullptr);
    EXPECT_EQ(shown.document_.modelLanes(), nullptr);
  }
  Theme::application().setChoice(ThemeChoice::System);
}

TEST(AnalysedTimelineTest, AClickOnAnArmedSpanSelectsItsArmAndTheCardTellsItsLife) {
  TICKSCOPE_NEED_RECORDING(path, "02-ncm-double.dat");
  AnalysedTimeline shown(path);
  shown.analyse();
  shown.document_.setVisible({{6'403'180'000}, {6'404'240'000}});
  StripPlace lane;
  const SceneArmed* bar = nullptr;
  for (const SceneStrip& strip : shown.widget_.scene().strips) {
    if (strip.header || strip.track != 1 || strip.lane != LaneKind::Hrtimer) continue;
    for (const SceneArmed& one : strip.armed) {
      if (!shown.document_.buffer() || !one.beginKnown ||
          shown.analysis_.tables.spans[number(one.span)].armed != Row{266})
        continue;
      bar = &one;
      lane = shown.widget_.layoutOfLanes().placeOf(1, LaneKind::Hrtimer, strip.timerRow);
    }
  }
  ASSERT_TRUE(bar);
  const QRect area = shown.widget_.areaOf(lane);
  const QPointF at(area.left() + static_cast<double>(bar->from + bar->to) / 2,
                   area.top() + static_cast<double>(bar->top + bar->height / 2));
  shown.widget_.showCard(at);
  const CardText& card = shown.widget_.card().text();
  EXPECT_EQ(card.title, "lab_ncm_timeout");
  const std::pair<QString, QString> due("due", "6.403 715 305");
  const std::pair<QString, QString> armed("armed, row 266", "6.403 416 103");
  const std::pair<QString, QString> end("restarted, row 269", "6.403 521 224");
  for (const auto& line : {due, armed, end}) {
    EXPECT_NE(std::find(card.lines.begin(), card.lines.end(), line), card.lines.end())
        << line.first.toStdString();
  }
  EXPECT_LE(card.lines.size(), 9U);
  shown.widget_.selectAt(at);
  ASSERT_TRUE(shown.document_.cursor());
  EXPECT_EQ(shown.document_.cursor()->row, Known<Row>(Row{266}));
  bool selected = false;
  for (const SceneStrip& strip : shown.widget_.scene().strips) {
    for (const SceneArmed& one : strip.armed) selected = selected || one.selected;
  }
  EXPECT_TRUE(selected);
}

TEST(AnalysedTimelineTest, TheRowOfALostTimerShowsHowLongItWasPendingAndSelectsItsEvents) {
  TICKSCOPE_NEED_RECORDING(path, "06-lost.dat");
  AnalysedTimeline shown(path);
  shown.analyse();
  const LaneLayout& layout = shown.widget_.layoutOfLanes();
  ASSERT_EQ(layout.timerRows(1).wheel.count, 4U);
  const StripPlace row = layout.placeOf(1, LaneKind::Wheel, 1);
  const QRect area = shown.widget_.areaOf(row);
  const QPointF at(shown.widget_.xOf({7'000'000'000}), area.bottom() - 6);
  shown.widget_.showCard(at);
  const CardText& card = shown.widget_.card().text();
  EXPECT_EQ(card.title, "lab_wheel_periodic");
  QString words;
  for (const auto& [what, figure] : card.lines) words += what + ": " + figure + "\n";
  EXPECT_TRUE(words.contains("ended past due by")) << words.toStdString();
  shown.widget_.selectAt(at);
  ASSERT_TRUE(shown.document_.cursor() && shown.document_.cursor()->row) << words.toStdString();
  const auto span = shown.document_.modelLanes()->spanOfRow(*shown.document_.cursor()->row);
  ASSERT_TRUE(span);
  EXPECT_TRUE(shown.document_.modelLanes()->isLate(shown.document_.modelLanes()->span(*span)));
  EXPECT_EQ(layout.timerRows(1).wheel.tall, 1U) << "the selected row is higher";
}

TEST(AnalysedTimelineTest, RowsOfTimersThatAreNotLostDoNotMakeTheLanesScroll) {
  TICKSCOPE_NEED_RECORDING(path, "02-ncm-double.dat");
  AnalysedTimeline shown(path);
  shown.analyse();
  u32 before = 0;
  for (const int height : {200, 480, 640, 1200}) {
    shown.widget_.resize(1200, height);
    QApplication::processEvents();
    const LaneLayout& layout = shown.widget_.layoutOfLanes();
    const u32 rows = layout.timerRows(1).hrtimers.count;
    EXPECT_GE(rows, before) << "height " << height;
    before = rows;
    if (rows > 0) {
      EXPECT_LE(layout.height(), height - shown.widget_.rulerHeight()) << "height " << height;
    }
  }
  EXPECT_EQ(before, 4U);
}

}  // namespace
}  // namespace tickscope
