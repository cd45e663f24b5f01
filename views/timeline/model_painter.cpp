// SPDX-License-Identifier: GPL-3.0-or-later
// Paints what the reference model knows: armed timers with their deadlines, and the step line.
#include <QFontMetricsF>
#include <QPainter>
#include <QPainterPath>
#include <QPolygonF>
#include <algorithm>
#include <cmath>

#include "views/theme.h"
#include "views/timeline/scene_painter.h"

namespace tickscope {

namespace {

constexpr double padding = 2;
constexpr double shortestEdge = 3;  ///< shorter bars have no edge: it would be all of them
constexpr double flagHeight = 16;   ///< where the strip has room for it
constexpr double pinHeight = 13;
constexpr double arrow = 3;
constexpr double arrowRoom = 9;
constexpr double labelMargin = 4;
constexpr double leastHatched = 1;

/// look.md 3: late, -45 degrees, pitch 5, 2.4 px. Lines stand still under the pieces.
void hatchLate(QPainter& painter, const QRectF& box, const QColor& ink, const QColor& ground) {
  constexpr int pitch = 5;
  painter.save();
  painter.setClipRect(box, Qt::IntersectClip);
  painter.fillRect(box, ground);
  painter.setRenderHint(QPainter::Antialiasing, true);
  painter.setPen(QPen(ink, 2.4));
  const double begin = std::floor((box.left() - box.height()) / pitch) * pitch;
  for (double x = begin; x < box.right(); x += pitch)
    painter.drawLine(QPointF(x, box.top()), QPointF(x + box.height(), box.bottom()));
  painter.restore();
}

/// Pole and flag; only its outline where the deadline never came.
void paintFlag(QPainter& painter, double x, double foot, double height, bool outline,
               const QColor& ink) {
  const double at = std::floor(x);
  const double top = foot - height;
  painter.fillRect(QRectF(at, top, outline ? 1 : 2, height), ink);
  if (outline) {
    painter.setPen(QPen(ink, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(QRectF(at + 0.5, top + 0.5, 6, 4));
  } else {
    painter.fillRect(QRectF(at + 2, top, 6, 6), ink);
  }
}

}  // namespace

void ScenePainter::paintArmed(QPainter& painter, const SceneStrip& strip, const QRectF& area) {
  const QColor late = theme_->color(Tone::Late);
  for (const SceneArmed& bar : strip.armed) {
    const Inks inks = inksOf(bar.ink);
    const QRectF box(area.left() + static_cast<double>(bar.from),
                     area.top() + static_cast<double>(bar.top),
                     static_cast<double>(bar.to - bar.from), static_cast<double>(bar.height));
    if (!bar.late || !bar.many) {
      // A life too short for a pixel still is one.
      const QRectF seen(box.left(), box.top(), std::max(box.width(), 1.0), box.height());
      painter.fillRect(seen, inks.tint);
      painter.fillRect(QRectF(seen.left(), seen.bottom() - 1, seen.width(), 1), inks.ink);
      if (!bar.many && bar.beginKnown && box.width() >= shortestEdge)
        painter.fillRect(QRectF(box.left(), box.top(), 1, box.height()), inks.ink);
    }
    if (bar.late) {
      const double from = area.left() + static_cast<double>(*bar.late);
      const QRectF tail(from, box.top(), std::max(box.right() - from, 3.0), box.height());
      hatchLate(painter, tail, late, theme_->color(Tone::LateTint));
      painter.fillRect(QRectF(tail.left(), tail.bottom() - 1, tail.width(), 1), late);
    }
  }
}

void ScenePainter::paintFlags(QPainter& painter, const SceneStrip& strip, const QRectF& area) {
  for (const SceneArmed& bar : strip.armed) {
    if (!bar.flag || !bar.due || bar.selected) continue;
    const double foot = area.top() + static_cast<double>(bar.top + bar.height);
    paintFlag(painter, area.left() + static_cast<double>(*bar.due), foot,
              std::min(flagHeight, foot - area.top() - 1), bar.replaced, theme_->color(Tone::Due));
  }
}

void ScenePainter::paintSelectedTimer(QPainter& painter, const SceneStrip& strip,
                                      const QRectF& area, const PaintOptions& options) {
  const QColor ink = theme_->color(Tone::Due);
  for (const SceneArmed& bar : strip.armed) {
    if (!bar.selected) continue;
    const double foot = area.top() + static_cast<double>(bar.top + bar.height);
    const double tall = std::min(flagHeight, foot - area.top() - 1);
    if (bar.due)
      paintFlag(painter, area.left() + static_cast<double>(*bar.due), foot, tall, false, ink);
    const double left = area.left();
    const QRectF box(left + static_cast<double>(bar.from),
                     area.top() + static_cast<double>(bar.top),
                     static_cast<double>(bar.to - bar.from), static_cast<double>(bar.height));
    painter.setPen(QPen(theme_->color(Tone::Selection), 1.5));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(box.adjusted(-1, -1, 1, 1));
    const double y = std::floor(std::max(foot - tall + 6, area.top() + padding));
    double labelAt = box.left() + labelMargin;
    if (bar.due) {
      const double x = std::floor(left + static_cast<double>(*bar.due));
      if (bar.arm) {
        const double from = left + static_cast<double>(*bar.arm);
        painter.fillRect(QRectF(std::min(from, x), y, std::abs(x - from), 1.5), ink);
      }
      labelAt = x + 11;
    }
    if (bar.label.empty()) continue;
    painter.save();
    painter.setFont(theme_->font(Theme::Text::Number));
    const QFontMetricsF metrics(painter.font());
    const QString all = QString::fromStdString(bar.label);
    const double wanted = metrics.horizontalAdvance(all) + 2 * labelMargin;
    // Behind the flag; where there is no room, before it.
    if (labelAt + wanted > area.right()) {
      labelAt = bar.due ? left + static_cast<double>(*bar.due) - wanted - labelMargin
                        : area.right() - wanted;
      labelAt = std::max(labelAt, left);
    }
    const QString words = fittedLabel(all, metrics, area.right() - labelAt - 2 * labelMargin);
    if (!words.isEmpty()) {
      const double height = std::min(metrics.height(), area.height() - 2);
      const double top = std::clamp(foot - tall - 3, area.top() + 1,
                                    std::max(area.top() + 1, area.bottom() - 1 - height));
      const QRectF label(labelAt, top, metrics.horizontalAdvance(words) + 2 * labelMargin, height);
      painter.fillRect(label, groundOf(strip, options));
      painter.setPen(theme_->color(Tone::Text));
      painter.drawText(label.adjusted(labelMargin, 0, 0, 0),
                       Qt::AlignVCenter | Qt::AlignLeft | Qt::TextDontClip, words);
    }
    painter.restore();
  }
}

void ScenePainter::paintStepLine(QPainter& painter, const SceneStrip& strip, const QRectF& area,
                                 const PaintOptions& options) {
  if (strip.left.empty()) return;
  const double foot = area.bottom() - 1 - padding;
  const double zero = std::floor(foot - pinHeight) + 0.5;
  const double top = std::floor(area.top() + padding + 1) + 0.5;
  const double deepest = foot;
  const double unit = std::max(1.0, zero - top - arrow);
  const QColor ink = theme_->color(Tone::Due);
  painter.fillRect(QRectF(area.left(), zero - 0.5, area.width(), 1),
                   theme_->color(Tone::GridMajor));
  const auto yOf = [&](double share) { return std::min(zero - share * unit, deepest); };
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing, true);
  QFont sub = theme_->font(Theme::Text::Sub);
  painter.setFont(sub);
  const QFontMetricsF metrics(sub);
  QPointF before;
  double arrowBefore = area.left() - arrowRoom;
  std::vector<std::pair<QRectF, QString>> labels;
  for (const SceneLeft& piece : strip.left) {
    const double from = area.left() + static_cast<double>(piece.from);
    const double to = area.left() + static_cast<double>(piece.to);
    const double begin = static_cast<double>(piece.begin);
    const double end = static_cast<double>(piece.end);
    if (piece.many) {
      QColor faint = ink;
      faint.setAlpha(110);
      painter.fillRect(QRectF(from, yOf(std::min(begin, 1.0)), std::max(to - from, 0.5),
                              std::max(1.0, yOf(std::min(end, 1.0)) - yOf(std::min(begin, 1.0)))),
                       faint);
      continue;
    }
    // The part above the scale is left out; it comes in where the time left falls to the scale.
    double x = from;
    double share = begin;
    if (begin > 1) {
      x = end >= 1 ? to : from + (to - from) * (begin - 1) / (begin - end);
      share = 1;
    }
    painter.setPen(QPen(ink, 1.25));
    if (piece.joined) painter.drawLine(before, QPointF(from, yOf(std::min(begin, 1.0))));
    if (begin > 1 && from - arrowBefore >= arrowRoom) {
      arrowBefore = from;
      const double peak = yOf(1) - arrow;
      painter.drawLine(QPointF(from, yOf(1)), QPointF(from, peak));
      painter.drawLine(QPointF(from - arrow, peak + arrow), QPointF(from, peak));
      painter.drawLine(QPointF(from + arrow, peak + arrow), QPointF(from, peak));
    }
    const QPointF last(to, yOf(std::min(end, 1.0)));
    if (end < 1 || begin <= 1) painter.drawLine(QPointF(x, yOf(share)), last);
    before = last;
    if (end < 0 && last.y() - zero >= leastHatched) {
      const double over = begin > 0 ? from + (to - from) * begin / (begin - end) : from;
      painter.save();
      QPainterPath path;
      path.addPolygon(QPolygonF(
          {{over, zero}, {over, yOf(std::min(begin, 0.0))}, {last.x(), last.y()}, {to, zero}}));
      painter.setClipPath(path, Qt::IntersectClip);
      hatchLate(painter, QRectF(over, zero, std::max(to - over, 1.0), last.y() - zero),
                theme_->color(Tone::Late), theme_->color(Tone::LateTint));
      painter.restore();
    }
    if (piece.label.empty()) continue;
    const QString words = QString::fromStdString(piece.label);
    const double wide = metrics.horizontalAdvance(words) + 4;
    if (from + 4 + wide > area.right()) continue;
    const QRectF label(from + 5, area.top() + 1, wide,
                       std::min(metrics.height(), zero - area.top()));
    labels.push_back({label, words});
  }
  // After all lines, on the ground of the lane: what falls under a label would not be read otherwise.
  const QColor ground = groundOf(strip, options);
  for (const auto& [label, words] : labels) {
    painter.fillRect(label, ground);
    painter.setPen(theme_->color(Tone::SecondText));
    painter.drawText(label.adjusted(2, 0, 0, 0),
                     Qt::AlignVCenter | Qt::AlignLeft | Qt::TextDontClip, words);
  }
  painter.restore();
}

}  // namespace tickscope
