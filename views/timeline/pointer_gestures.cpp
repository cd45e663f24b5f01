// SPDX-License-Identifier: GPL-3.0-or-later
// From mouse and wheel events to the document.
#include "views/timeline/pointer_gestures.h"

#include <QApplication>
#include <QMouseEvent>
#include <QWheelEvent>
#include <cmath>

#include "views/document.h"
#include "views/timeline/timeline_widget.h"

namespace tickscope {

namespace {

constexpr double notch = 120;
constexpr double zoomPerNotch = 0.8;
constexpr double panPerNotch = 0.1;
constexpr double pixelsPerNotch = 60;

double distance(TraceTime a, TraceTime b) {
  return std::abs(static_cast<double>(a.value) - static_cast<double>(b.value));
}

}  // namespace

bool PointerGestures::wheel(const QWheelEvent& event) {
  const bool control = event.modifiers() & Qt::ControlModifier;
  const bool shift = event.modifiers() & Qt::ShiftModifier;
  // Some platforms turn the wheel sideways while a modifier is held.
  const QPoint angle = event.angleDelta();
  const double turned = (angle.y() != 0 ? angle.y() : angle.x()) / notch;
  if (turned == 0) return false;
  Document& document = widget_.document();
  if (control && shift) {
    restOfSize_ += turned;
    const int steps = static_cast<int>(restOfSize_);
    restOfSize_ -= steps;
    if (steps) widget_.stepLaneSize(steps);
  } else if (control) {
    document.zoom(std::pow(zoomPerNotch, turned), widget_.timeAt(event.position().x()));
  } else if (shift || (angle.y() == 0 && angle.x() != 0)) {
    document.pan(-panPerNotch * turned);
  } else {
    restOfScroll_ += turned * pixelsPerNotch;
    const int pixels = static_cast<int>(restOfScroll_);
    restOfScroll_ -= pixels;
    widget_.scrollLanes(-pixels);
  }
  return true;
}

void PointerGestures::press(const QMouseEvent& event) {
  pressed_ = event.position();
  last_ = pressed_.x();
  if (event.button() == Qt::MiddleButton) {
    widget_.document().settleView();
    drag_ = Drag::Pan;
    return;
  }
  if (event.button() != Qt::LeftButton) return;
  if (pressed_.x() < widget_.labelWidth()) {
    const auto strip = widget_.stripAt(pressed_);
    if (!strip) return;
    widget_.setCurrent({strip->track, strip->lane, strip->header});
    if (strip->header) widget_.setFolded(strip->track, !strip->folded);
    return;
  }
  if (event.modifiers() & Qt::ShiftModifier) {
    extendSelection(pressed_);
    return;
  }
  anchor_ = widget_.snapped(pressed_);
  drag_ = Drag::Press;
}

void PointerGestures::move(const QMouseEvent& event) {
  Document& document = widget_.document();
  const QPointF place = event.position();
  if (drag_ == Drag::Pan) {
    const double width = widget_.laneArea().width();
    if (width > 0) document.pan((last_ - place.x()) / width);
    last_ = place.x();
    return;
  }
  if (drag_ == Drag::Press &&
      std::abs(place.x() - pressed_.x()) >= QApplication::startDragDistance()) {
    drag_ = Drag::Range;
  }
  if (drag_ == Drag::Range) document.setSelection({anchor_, widget_.snapped(place)});
}

void PointerGestures::release(const QMouseEvent& event) {
  const Drag ended = drag_;
  if (event.button() == Qt::MiddleButton && ended == Drag::Pan) {
    drag_ = Drag::None;
    widget_.document().settleView();
    return;
  }
  if (event.button() != Qt::LeftButton || (ended != Drag::Press && ended != Drag::Range)) return;
  drag_ = Drag::None;
  if (ended == Drag::Press) widget_.selectAt(event.position());
}

void PointerGestures::doubleClick(const QMouseEvent& event) {
  if (event.button() != Qt::LeftButton) return;
  if (event.position().y() < widget_.rulerHeight()) {
    drag_ = Drag::None;
    widget_.document().showAll();
    return;
  }
  press(event);
}

void PointerGestures::extendSelection(QPointF place) {
  Document& document = widget_.document();
  const TraceTime time = widget_.snapped(place);
  if (const auto& selection = document.selection()) {
    const bool nearFrom = distance(time, selection->from) < distance(time, selection->to);
    document.setSelection(nearFrom ? TimeSpan{time, selection->to}
                                   : TimeSpan{selection->from, time});
  } else if (document.cursor()) {
    document.setSelection({document.cursor()->time, time});
  }
}

}  // namespace tickscope
