// SPDX-License-Identifier: GPL-3.0-or-later
// What keys and pointer do in the timeline.
#include <QContextMenuEvent>
#include <QCoreApplication>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QScrollBar>
#include <QWheelEvent>
#include <algorithm>

#include "core/timeline/model_lanes.h"
#include "core/timeline/timer_rows.h"
#include "views/document.h"
#include "views/timeline/hover_card.h"
#include "views/timeline/pointer_gestures.h"
#include "views/timeline/timeline_widget.h"

namespace tickscope {

namespace {

constexpr double panShare = 0.25;
constexpr double zoomIn = 0.5;
constexpr double zoomOut = 2;
constexpr double clickReach = 6;

enum class Letter : u8 { None, W, A, S, D };

/// W, A, S, D act by their place on the keyboard. Where the platform tells that place (evdev codes plus 8), it
/// decides alone; elsewhere the letter does.
Letter placedLetter(const QKeyEvent& event) {
  const QString platform = QGuiApplication::platformName();
  const bool placed =
      platform == QLatin1String("xcb") || platform.startsWith(QLatin1String("wayland"));
  if (placed && event.nativeScanCode() != 0) {
    switch (event.nativeScanCode()) {
      case 25:
        return Letter::W;
      case 38:
        return Letter::A;
      case 39:
        return Letter::S;
      case 40:
        return Letter::D;
      default:
        return Letter::None;
    }
  }
  switch (event.key()) {
    case Qt::Key_W:
      return Letter::W;
    case Qt::Key_A:
      return Letter::A;
    case Qt::Key_S:
      return Letter::S;
    case Qt::Key_D:
      return Letter::D;
    default:
      return Letter::None;
  }
}

TraceTime middleOf(TimeSpan span) {
  return span.from + TraceDelta{(span.to - span.from).value / 2};
}

}  // namespace

TraceTime TimelineWidget::middleOfSelection() const {
  const TimeSpan seen = document_.visible();
  if (document_.selection()) return middleOf(*document_.selection());
  if (document_.cursor() && document_.cursor()->time >= seen.from &&
      document_.cursor()->time < seen.to) {
    return document_.cursor()->time;
  }
  return middleOf(seen);
}

double TimelineWidget::pointerX() const {
  const QRect lanes = laneArea();
  if (pointer_.x() >= lanes.left() && pointer_.x() <= lanes.right() && pointer_.y() >= 0)
    return pointer_.x();
  return lanes.left() + lanes.width() / 2.0;
}

bool TimelineWidget::handleLetter(const QKeyEvent& event) {
  const bool shift = event.modifiers() & Qt::ShiftModifier;
  if (shift && (event.key() == Qt::Key_A || event.key() == Qt::Key_B)) {
    const TraceTime time = document_.cursor() ? document_.cursor()->time : timeAt(pointerX());
    document_.setMarker(event.key() == Qt::Key_A ? Marker::A : Marker::B, time);
    return true;
  }
  if (shift) return false;
  switch (placedLetter(event)) {
    case Letter::W:
      document_.zoom(zoomIn, timeAt(pointerX()));
      return true;
    case Letter::S:
      document_.zoom(zoomOut, timeAt(pointerX()));
      return true;
    case Letter::A:
      document_.pan(-panShare);
      return true;
    case Letter::D:
      document_.pan(panShare);
      return true;
    case Letter::None:
      break;
  }
  switch (event.key()) {
    case Qt::Key_Z:
      if (document_.selection()) document_.setVisible(*document_.selection());
      return true;
    case Qt::Key_F:
      document_.setFollow(!document_.follow());
      return true;
    default:
      return false;
  }
}

bool TimelineWidget::handleKey(const QKeyEvent& event) {
  const Qt::KeyboardModifiers held = event.modifiers() & ~Qt::KeypadModifier;
  if (held == Qt::AltModifier) {
    if (event.key() == Qt::Key_Left) return document_.goBack(), true;
    if (event.key() == Qt::Key_Right) return document_.goForward(), true;
    return false;
  }
  if (held & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) return false;
  switch (event.key()) {
    case Qt::Key_Plus:
      document_.zoom(zoomIn, middleOfSelection());
      return true;
    case Qt::Key_Minus:
      document_.zoom(zoomOut, middleOfSelection());
      return true;
    case Qt::Key_0:
    case Qt::Key_Home:
      document_.showAll();
      return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (document_.selection()) document_.setVisible(*document_.selection());
      return true;
    case Qt::Key_Escape:
      if (gestures_->busy()) gestures_->cancel();
      if (card_->isVisible()) {
        hideCard();
      } else {
        document_.clearSelection();
      }
      return true;
    case Qt::Key_Left:
      if (current_ && current_->header) return setFolded(current_->track, true), true;
      stepInLane(-1);
      return true;
    case Qt::Key_Right:
      if (current_ && current_->header) return setFolded(current_->track, false), true;
      stepInLane(1);
      return true;
    case Qt::Key_Up:
      stepLane(-1);
      return true;
    case Qt::Key_Down:
      stepLane(1);
      return true;
    case Qt::Key_PageUp:
      scrollLanes(-laneArea().height());
      return true;
    case Qt::Key_PageDown:
      scrollLanes(laneArea().height());
      return true;
    case Qt::Key_Space:
      showCardOfCursor();
      return true;
    default:
      return handleLetter(event);
  }
}

void TimelineWidget::keyPressEvent(QKeyEvent* event) {
  if (document_.timeline() && document_.rowCount() && handleKey(*event)) {
    event->accept();
    return;
  }
  QWidget::keyPressEvent(event);
}

bool TimelineWidget::event(QEvent* event) {
  // Keys that act here must not be taken by shortcuts of the window while the timeline has the focus.
  if (event->type() == QEvent::ShortcutOverride) {
    const auto* const key = static_cast<QKeyEvent*>(event);
    const Qt::KeyboardModifiers held = key->modifiers() & ~(Qt::KeypadModifier | Qt::ShiftModifier);
    if (held == Qt::NoModifier && key->key() >= Qt::Key_Space && key->key() <= Qt::Key_Z &&
        key->key() != Qt::Key_Question && key->key() != Qt::Key_Slash) {
      event->accept();
      return true;
    }
  }
  return QWidget::event(event);
}

void TimelineWidget::stepInLane(int direction) {
  const auto& timeline = document_.timeline();
  if (!timeline || timeline->tracks.empty()) return;
  if (!current_) setCurrent({0, LaneKind::Task, false});
  const Lane& lane = timeline->tracks[current_->track].lanes[number(current_->lane)];
  Known<Row> row;
  const auto& cursor = document_.cursor();
  if (cursor && cursor->row) {
    row = direction < 0 ? previousEvent(lane, *cursor->row) : nextEvent(lane, *cursor->row);
  } else {
    const TraceTime from = cursor ? cursor->time : middleOf(document_.visible());
    const s64 time = timeline->relative(from);
    row = direction < 0 ? eventBefore(*timeline, lane, time) : eventFrom(*timeline, lane, time);
  }
  if (!row) return;
  document_.setCursor(*row);
  document_.reveal(timeline->store->time(*row));
}

void TimelineWidget::stepLane(int direction) {
  const auto& timeline = document_.timeline();
  if (!timeline || timeline->tracks.empty()) return;
  if (!current_) return setCurrent({0, LaneKind::Task, false});
  Place place = *current_;
  const auto last = static_cast<LaneKind>(laneCount - 1);
  if (direction > 0) {
    if (place.header && !layout_.folded(place.track)) {
      place = {place.track, LaneKind::Task, false};
    } else if (!place.header && place.lane != last) {
      place.lane = static_cast<LaneKind>(number(place.lane) + 1);
    } else if (place.track + 1 < layout_.tracks()) {
      place = {place.track + 1, LaneKind::Task, true};
    }
  } else if (!place.header) {
    if (place.lane == LaneKind::Task) {
      place.header = true;
    } else {
      place.lane = static_cast<LaneKind>(number(place.lane) - 1);
    }
  } else if (place.track > 0) {
    place = {place.track - 1, last, layout_.folded(place.track - 1)};
  }
  if (!place.header && document_.cursor()) {
    const TimeSpan seen = document_.visible();
    const Lane& lane = timeline->tracks[place.track].lanes[number(place.lane)];
    const auto row = nearestEvent(*timeline, lane, timeline->relative(document_.cursor()->time));
    // Stepping through lanes does not jump out of the view.
    if (row && timeline->store->time(*row) >= seen.from && timeline->store->time(*row) < seen.to) {
      document_.setCursor(*row);
    } else {
      document_.setCursor(document_.cursor()->time);
    }
  }
  setCurrent(place);
}

void TimelineWidget::selectAt(QPointF place) {
  const auto& timeline = document_.timeline();
  const auto strip = stripAt(place);
  if (!timeline || !strip || strip->header) {
    if (strip) setCurrent({strip->track, strip->lane, true});
    document_.setCursor(timeAt(place.x()));
    return;
  }
  if (const Known<TimerId> timer = timerOfRow(*strip)) {
    setCurrent({strip->track, strip->lane, false});
    const Known<Row> row = rowOfTimer(*strip, *timer, place);
    return row ? document_.setCursor(*row) : document_.setCursor(timeAt(place.x()));
  }
  const CpuTrack& track = timeline->tracks[strip->track];
  const Picked picked = pickAt(*timeline, track, track.lanes[number(strip->lane)], window(),
                               place.x() - laneArea().left(), clickReach);
  setCurrent({strip->track, strip->lane, false});
  if (picked.event) {
    document_.setCursor(*picked.event);
  } else if (picked.span) {
    // The cursor stays in view where the span began before it.
    const TraceTime begin = timeline->store->time(picked.span->row);
    if (begin >= document_.visible().from && begin < document_.visible().to) {
      document_.setCursor(picked.span->row);
    } else {
      document_.setCursor(timeAt(place.x()));
    }
  } else if (const Known<Row> row = rowOfArmed(*strip, place)) {
    document_.setCursor(*row);
  } else {
    document_.setCursor(timeAt(place.x()));
  }
}

Known<Row> TimelineWidget::rowOfTimer(const StripPlace& strip, TimerId timer, QPointF place) {
  const ArmedLane& lane = model()->armed(strip.track, strip.lane);
  const s64 time = document_.timeline()->relative(timeAt(place.x()));
  const s64 reach = static_cast<s64>(clickReach * window().units() / window().width);
  if (const Known<Row> near = nearestOfTimer(*model(), lane, timer, time, reach)) return near;
  const Known<SpanId> id = model()->spanAt(lane, timer, time);
  return id ? rowInView(*id) : Known<Row>();
}

Known<Row> TimelineWidget::rowOfArmed(const StripPlace& strip, QPointF place) {
  const Known<SpanId> id = armedTimerAt(strip, place);
  return id ? rowInView(*id) : Known<Row>();
}

Known<Row> TimelineWidget::rowInView(SpanId id) const {
  const ArmedSpan& span = model()->span(id);
  const TimeSpan seen = document_.visible();
  // The arm, which is this life's alone: a restart ends one and begins the next. The cursor stays in view.
  for (const Row row : {span.armed, span.ended}) {
    if (row == noRow) continue;
    const TraceTime time = document_.timeline()->store->time(row);
    if (time >= seen.from && time < seen.to) return row;
  }
  return {};
}

void TimelineWidget::wheelEvent(QWheelEvent* event) {
  if (document_.timeline() && gestures_->wheel(*event)) {
    event->accept();
  } else {
    event->ignore();
  }
}

void TimelineWidget::mousePressEvent(QMouseEvent* event) {
  hideCard();
  if (document_.timeline() && document_.rowCount()) gestures_->press(*event);
}

void TimelineWidget::mouseMoveEvent(QMouseEvent* event) {
  pointer_ = event->position();
  if (!document_.timeline()) return;
  if (gestures_->busy()) return gestures_->move(*event);
  card_->hide();
  hover_.start();
}

void TimelineWidget::mouseReleaseEvent(QMouseEvent* event) {
  if (document_.timeline()) gestures_->release(*event);
}

void TimelineWidget::mouseDoubleClickEvent(QMouseEvent* event) {
  if (document_.timeline() && document_.rowCount()) gestures_->doubleClick(*event);
}

void TimelineWidget::leaveEvent(QEvent* event) {
  pointer_ = {-1, -1};
  hideCard();
  QWidget::leaveEvent(event);
}

void TimelineWidget::focusInEvent(QFocusEvent* event) {
  update();
  QWidget::focusInEvent(event);
}

void TimelineWidget::focusOutEvent(QFocusEvent* event) {
  gestures_->cancel();
  hideCard();
  update();
  QWidget::focusOutEvent(event);
}

void TimelineWidget::contextMenuEvent(QContextMenuEvent* event) {
  if (!document_.timeline() || !document_.rowCount()) return;
  hideCard();
  const bool byKey = event->reason() == QContextMenuEvent::Keyboard;
  const QPointF place = event->pos();
  const auto strip = byKey ? Known<StripPlace>() : stripAt(place);
  Known<u32> track;
  if (strip) track = strip->track;
  if (!track && current_) track = current_->track;
  const TraceTime time = byKey && document_.cursor() ? document_.cursor()->time : snapped(place);
  QMenu menu(this);
  if (track) {
    const bool folded = layout_.folded(*track);
    menu.addAction(folded ? tr("Unfold this CPU") : tr("Fold this CPU"), this,
                   [this, track, folded] { setFolded(*track, !folded); });
  }
  menu.addAction(tr("Fold all CPUs"), this, [this] { setAllFolded(true); });
  menu.addAction(tr("Unfold all CPUs"), this, [this] { setAllFolded(false); });
  menu.addSeparator();
  menu.addAction(tr("Set marker A here"), this,
                 [this, time] { document_.setMarker(Marker::A, time); });
  menu.addAction(tr("Set marker B here"), this,
                 [this, time] { document_.setMarker(Marker::B, time); });
  QAction* const relative = menu.addAction(tr("Count times from marker A"), this,
                                           [this] { setFromMarkerA(!fromMarkerA_); });
  relative->setCheckable(true);
  relative->setChecked(fromMarkerA_);
  relative->setEnabled(document_.marker(Marker::A).has_value());
  menu.addSeparator();
  QAction* const zoom = menu.addAction(tr("Zoom to selection"), this, [this] {
    if (document_.selection()) document_.setVisible(*document_.selection());
  });
  zoom->setEnabled(document_.selection().has_value());
  menu.addAction(tr("Show all"), this, [this] { document_.showAll(); });
  QAction* const rows =
      menu.addAction(tr("Rows of single timers"), this, [this] { setTimerRows(!timerRows_); });
  rows->setCheckable(true);
  rows->setChecked(timerRows_);
  QMenu* const sizes = menu.addMenu(tr("Lane height"));
  const std::pair<LaneSize, QString> all[] = {{LaneSize::Compact, tr("Low")},
                                              {LaneSize::Default, tr("Usual")},
                                              {LaneSize::Large, tr("High")},
                                              {LaneSize::Huge, tr("Very high")}};
  for (const auto& [size, name] : all) {
    QAction* const one = sizes->addAction(name, this, [this, size = size] { setLaneSize(size); });
    one->setCheckable(true);
    one->setChecked(layout_.size() == size);
  }
  menu.exec(event->globalPos());
}

}  // namespace tickscope
