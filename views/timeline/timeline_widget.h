// SPDX-License-Identifier: GPL-3.0-or-later
// The timeline: ruler, label column and lanes of all CPUs, driven by keys and pointer.
#pragma once

#include <QImage>
#include <QTimer>
#include <QWidget>

#include "core/model/model_ids.h"
#include "core/timeline/lane_layout.h"
#include "core/timeline/pick.h"
#include "core/timeline/scene.h"

class QScrollBar;

namespace tickscope {

class Document;
class HoverCard;
class PointerGestures;
struct ModelLanes;

class TimelineWidget : public QWidget {
  Q_OBJECT

 public:
  explicit TimelineWidget(Document& document, QWidget* parent = nullptr);
  ~TimelineWidget() override;

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

  [[nodiscard]] Document& document() const { return document_; }
  [[nodiscard]] const LaneLayout& layoutOfLanes() const { return layout_; }
  /// The scene as it was last painted; made anew if needed.
  const Scene& scene();
  /// The armed timer that is drawn at a place of a lane.
  [[nodiscard]] Known<SpanId> armedTimerAt(const StripPlace& strip, QPointF place);

  // Places, in pixels of the widget.
  [[nodiscard]] int rulerHeight() const;
  [[nodiscard]] int labelWidth() const;
  [[nodiscard]] QRect laneArea() const;  ///< right of the labels, below the ruler
  [[nodiscard]] double xOf(TraceTime time) const;
  [[nodiscard]] TraceTime timeAt(double x) const;
  /// The strip at a place; empty: the ruler, or below all lanes.
  [[nodiscard]] Known<StripPlace> stripAt(QPointF place) const;
  /// Where a strip is in the widget now; may be out of sight.
  [[nodiscard]] QRect areaOf(const StripPlace& place) const;
  [[nodiscard]] ViewWindow window() const;
  /// The time of the nearest event of the lane at that place if it is near, else the time of the place.
  [[nodiscard]] TraceTime snapped(QPointF place) const;

  // What gestures do.
  void selectAt(QPointF place);
  void setFolded(u32 track, bool folded);
  void setAllFolded(bool folded);
  void stepLaneSize(int steps);
  void setLaneSize(LaneSize size);
  void scrollLanes(int pixels);
  /// -1, 1: previous, next event of the lane.
  void stepInLane(int direction);
  /// -1, 1: the lane above, below; the cursor goes to its nearest event.
  void stepLane(int direction);
  /// Whether timers get rows of their own below their lane.
  void setTimerRows(bool on);
  [[nodiscard]] bool timerRows() const { return timerRows_; }
  void setFromMarkerA(bool on);
  [[nodiscard]] bool fromMarkerA() const { return fromMarkerA_; }
  void showCard(QPointF place);
  void showCardOfCursor();
  void hideCard();
  [[nodiscard]] const HoverCard& card() const { return *card_; }
  /// The lane that has the keyboard; empty: none yet. For a header, `lane` has no meaning.
  struct Place {
    u32 track{};
    LaneKind lane{};
    bool header = false;
  };
  [[nodiscard]] const Known<Place>& current() const { return current_; }
  void setCurrent(Place place);

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  void opened();
  void invalidate();
  void cursorMoved();
  void describe();
  void updateScroll();
  void setScrollRange();
  void fitRows();
  void heightenSelected();
  /// The timer whose row a place is in; empty: no such row.
  [[nodiscard]] Known<TimerId> timerOfRow(const StripPlace& strip);
  [[nodiscard]] Known<SpanId> selectedSpan() const;
  void render();
  void modelLanesArrived();
  /// What the model knows of the timeline in view; null: nothing yet.
  [[nodiscard]] const ModelLanes* model() const;
  void paintEmpty(QPainter& painter);
  void paintOverlays(QPainter& painter);
  bool handleKey(const QKeyEvent& event);
  bool handleLetter(const QKeyEvent& event);
  void reveal(const Place& place);
  [[nodiscard]] Known<Row> rowOfArmed(const StripPlace& strip, QPointF place);
  [[nodiscard]] Known<Row> rowOfTimer(const StripPlace& strip, TimerId timer, QPointF place);
  /// Of the rows that a life begins and ends with, one that is in view.
  [[nodiscard]] Known<Row> rowInView(SpanId id) const;
  [[nodiscard]] double pointerX() const;
  [[nodiscard]] TraceTime middleOfSelection() const;

  Document& document_;
  LaneLayout layout_;
  QScrollBar* bar_;
  HoverCard* card_;
  std::unique_ptr<PointerGestures> gestures_;
  QTimer hover_;
  QPointF pointer_{-1, -1};
  Scene scene_;
  QImage image_;
  bool stale_ = true;
  bool fromMarkerA_ = false;
  bool sizeChosen_ = false;
  bool timerRows_ = true;
  Known<Place> current_;
  Known<Row> outlined_;
};

}  // namespace tickscope
