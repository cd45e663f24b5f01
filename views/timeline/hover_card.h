// SPDX-License-Identifier: GPL-3.0-or-later
// The card beside the pointer: what is known of the event, span or dense place under it.
#pragma once

#include <QFrame>
#include <utility>
#include <vector>

#include "core/model/model_ids.h"
#include "core/timeline/pick.h"

namespace tickscope {

class Document;

struct CardText {
  QString title, corner;
  std::vector<std::pair<QString, QString>> lines;  ///< what, figure
  [[nodiscard]] bool empty() const { return title.isEmpty(); }
};

/// What the card says of a place of a lane; empty where nothing is.
[[nodiscard]] CardText cardOfPlace(const Document& document, const TrackLane& lane,
                                   const ViewWindow& window, double x, Known<SpanId> armed = {});
/// What it says of a life of a timer.
[[nodiscard]] CardText cardOfArmed(const Document& document, SpanId span);
/// What it says of the step line at a time.
[[nodiscard]] CardText cardOfStepLine(const Document& document, u32 track, TraceTime time);
/// What it says of an event.
[[nodiscard]] CardText cardOfRow(const Document& document, Row row);

/// 326 pixels wide, at most ten lines; never takes the pointer or the keyboard.
class HoverCard : public QFrame {
  Q_OBJECT

 public:
  explicit HoverCard(QWidget* parent);

  /// Shows the card 12 pixels off `at`, within the parent and never over `lane` (its y range) if there is room
  /// above or below it.
  void present(const CardText& text, QPoint at, int laneTop, int laneBottom);
  [[nodiscard]] const CardText& text() const { return text_; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  [[nodiscard]] int lineHeight() const;
  CardText text_;
};

}  // namespace tickscope
