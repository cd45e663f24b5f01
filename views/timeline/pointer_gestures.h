// SPDX-License-Identifier: GPL-3.0-or-later
// What wheel, buttons and drags do in the timeline.
#pragma once

#include <QPointF>

#include "core/base/quantity.h"

class QMouseEvent;
class QWheelEvent;

namespace tickscope {

class TimelineWidget;

/// Ctrl+wheel zooms at the pointer, Shift+wheel and a middle drag move in time, the wheel alone scrolls lanes,
/// Ctrl+Shift+wheel changes their height; a left drag selects a range, a click an event, Shift+click extends the range.
class PointerGestures {
 public:
  explicit PointerGestures(TimelineWidget& widget) : widget_(widget) {}

  /// False: not for the timeline.
  bool wheel(const QWheelEvent& event);
  void press(const QMouseEvent& event);
  void move(const QMouseEvent& event);
  void release(const QMouseEvent& event);
  void doubleClick(const QMouseEvent& event);
  /// A button is down and moves something: no card is shown.
  [[nodiscard]] bool busy() const { return drag_ != Drag::None; }
  /// Gives up a drag.
  void cancel() { drag_ = Drag::None; }

 private:
  enum class Drag : u8 { None, Press, Range, Pan };
  void extendSelection(QPointF place);

  TimelineWidget& widget_;
  Drag drag_ = Drag::None;
  QPointF pressed_;
  double last_ = 0;
  TraceTime anchor_{};
  double restOfScroll_ = 0, restOfSize_ = 0;
};

}  // namespace tickscope
