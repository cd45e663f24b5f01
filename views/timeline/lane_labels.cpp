// SPDX-License-Identifier: GPL-3.0-or-later
// Paints the label column.
#include "views/timeline/lane_labels.h"

#include <QFontMetricsF>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "views/theme.h"

namespace tickscope {

namespace {

constexpr double laneLeft = 22;
constexpr double rightMargin = 6;
constexpr double selectionBar = 3;

void paintFold(QPainter& painter, const QRectF& area, bool folded, const QColor& ink) {
  const double x = area.left() + 11;
  const double y = area.center().y() - 0.5;
  painter.setRenderHint(QPainter::Antialiasing, true);
  painter.setPen(Qt::NoPen);
  painter.setBrush(ink);
  if (folded) {
    painter.drawPolygon(QPolygonF({{x - 2.5, y - 4.5}, {x + 3, y}, {x - 2.5, y + 4.5}}));
  } else {
    painter.drawPolygon(QPolygonF({{x - 4.5, y - 2.5}, {x + 4.5, y - 2.5}, {x, y + 3}}));
  }
  painter.setRenderHint(QPainter::Antialiasing, false);
}

}  // namespace

void paintLaneLabels(QImage& image, const Scene& scene, double width, const Theme& theme,
                     const PaintOptions& options) {
  QPainter painter(&image);
  const QFont lane = theme.font(Theme::Text::Lane);
  const QFont sub = theme.font(Theme::Text::Sub);
  QFont bold = lane;
  bold.setBold(true);
  for (const SceneStrip& strip : scene.strips) {
    const QRectF area(0, strip.y, width, strip.height);
    const bool chosen = isChosen(strip, options);
    const Tone ground = chosen         ? Tone::SelectedRow
                        : strip.header ? Tone::CpuHeader
                                       : (number(strip.lane) % 2 ? Tone::OddLane : Tone::Panel);
    painter.fillRect(area, theme.color(ground));
    painter.fillRect(QRectF(0, area.bottom() - 1, width, 1),
                     theme.color(strip.header ? Tone::GridMajor : Tone::GridMinor));
    if (chosen)
      painter.fillRect(QRectF(0, area.top(), selectionBar, area.height()),
                       theme.color(Tone::Selection));
    painter.setFont(strip.header || chosen ? bold : lane);
    const QFontMetricsF names(painter.font());
    if (strip.header) paintFold(painter, area, strip.folded, theme.color(Tone::SecondText));
    painter.setPen(theme.color(Tone::Text));
    const QString name = QString::fromStdString(strip.name);
    if (strip.timerRow) {
      const double across = width - laneLeft - rightMargin;
      painter.drawText(QRectF(laneLeft, area.top(), across, area.height() - 1),
                       Qt::AlignVCenter | Qt::AlignRight | Qt::TextDontClip,
                       names.elidedText(name, Qt::ElideMiddle, across));
      continue;
    }
    const bool tall = strip.height >= 30;
    const double line = tall ? names.height() + 2 : area.height() - 1;
    const QFontMetricsF details(sub);
    const double across = width - laneLeft - rightMargin;
    const QString detail =
        details.elidedText(QString::fromStdString(strip.detail), Qt::ElideMiddle,
                           std::max(across - names.horizontalAdvance(name) - 8, across / 3));
    const double room = across - (detail.isEmpty() ? 0 : details.horizontalAdvance(detail) + 8);
    painter.drawText(QRectF(laneLeft, area.top(), room, line),
                     Qt::AlignVCenter | Qt::AlignLeft | Qt::TextDontClip,
                     names.elidedText(name, Qt::ElideRight, room));
    painter.setFont(sub);
    painter.setPen(theme.color(Tone::SecondText));
    const QRectF right(laneLeft, area.top(), width - laneLeft - rightMargin, line);
    painter.drawText(right, Qt::AlignVCenter | Qt::AlignRight | Qt::TextDontClip, detail);
    if (tall && !strip.detailBelow.empty()) {
      const QRectF below(laneLeft, area.bottom() - 3 - details.height(),
                         width - laneLeft - rightMargin, details.height());
      painter.drawText(below, Qt::AlignVCenter | Qt::AlignRight | Qt::TextDontClip,
                       details.elidedText(QString::fromStdString(strip.detailBelow), Qt::ElideRight,
                                          below.width()));
    }
  }
  painter.fillRect(QRectF(width - 1, 0, 1, image.height() / image.devicePixelRatio()),
                   theme.color(Tone::Border));
}

}  // namespace tickscope
