// SPDX-License-Identifier: GPL-3.0-or-later
// Grounds, grid, spans, density, glyphs, labels, blind spots, in this order.
#include "views/timeline/scene_painter.h"

#include <QFontMetricsF>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "views/theme.h"

namespace tickscope {

namespace {

constexpr double padding = 2;
constexpr double timerBar = 9;
constexpr double badgeHeight = 13;
constexpr double labelMargin = 4;
constexpr int lettersLeft = 6;
constexpr int hatchPitch = 6;

bool isTimerLane(LaneKind lane) { return lane == LaneKind::Hrtimer || lane == LaneKind::Wheel; }

QRgb mixed(QRgb ground, QRgb ink, int strength) {
  const auto part = [&](int g, int i) { return g + (i - g) * strength / 255; };
  return qRgb(part(qRed(ground), qRed(ink)), part(qGreen(ground), qGreen(ink)),
              part(qBlue(ground), qBlue(ink)));
}

}  // namespace

bool isChosen(const SceneStrip& strip, const PaintOptions& options) {
  if (strip.timerRow) return strip.chosen;
  return options.selectedTrack == strip.track && options.headerSelected == strip.header &&
         (strip.header || options.selectedLane == strip.lane);
}

QString fittedLabel(const QString& text, const QFontMetricsF& metrics, double room) {
  if (room < 8) return {};
  if (metrics.horizontalAdvance(text) <= room) return text;
  if (room < metrics.averageCharWidth() * (lettersLeft + 1)) return {};
  const QString cut = metrics.elidedText(text, Qt::ElideRight, room);
  return cut.size() > lettersLeft ? cut : QString();
}

void paintGlyph(QPainter& painter, Shape shape, QPointF centre, double foot, const QColor& ink,
                const QColor& ground) {
  const double x = centre.x();
  const double y = centre.y();
  painter.setRenderHint(QPainter::Antialiasing, true);
  painter.setPen(Qt::NoPen);
  painter.setBrush(ink);
  switch (shape) {
    case Shape::Arm:
      painter.drawPolygon(QPolygonF(
          {{x - 3.5, y - 4}, {x + 1, y - 4}, {x + 4.5, y}, {x + 1, y + 4}, {x - 3.5, y + 4}}));
      break;
    case Shape::Restart:
      painter.drawRect(QRectF(x - 4, y - 4.5, 2, 9));
      painter.drawPolygon(QPolygonF({{x - 0.5, y - 4.5}, {x + 4.5, y}, {x - 0.5, y + 4.5}}));
      break;
    case Shape::Expire:
      painter.drawPolygon(QPolygonF({{x, y - 4.5}, {x + 4.5, y}, {x, y + 4.5}, {x - 4.5, y}}));
      break;
    case Shape::Cancel:
      painter.setPen(QPen(ink, 2));
      painter.drawLine(QPointF(x - 3.5, y - 3.5), QPointF(x + 3.5, y + 3.5));
      painter.drawLine(QPointF(x - 3.5, y + 3.5), QPointF(x + 3.5, y - 3.5));
      break;
    case Shape::Call:
      painter.setRenderHint(QPainter::Antialiasing, false);
      painter.drawRect(QRectF(std::round(x) - 3, foot - 5, 7, 5));
      painter.drawRect(QRectF(std::round(x), foot - 12, 1, 7));
      break;
    case Shape::Raise:
      painter.setPen(QPen(ink, 1.25));
      painter.setBrush(ground);
      painter.drawPolygon(QPolygonF({{x, y - 4}, {x + 4, y + 3.5}, {x - 4, y + 3.5}}));
      break;
    case Shape::Event:
      painter.drawEllipse(centre, 2.5, 2.5);
      break;
  }
  painter.setRenderHint(QPainter::Antialiasing, false);
}

ScenePainter::Inks ScenePainter::inksOf(Ink ink) const {
  const auto pair = [&](Tone a, Tone b) { return Inks{theme_->color(a), theme_->color(b)}; };
  switch (ink) {
    case Ink::Task:
      return pair(Tone::Task, Tone::TaskTint);
    case Ink::SoftirqThread:
      return pair(Tone::SoftirqTimer, Tone::SoftirqTimerTint);
    case Ink::HardIrq:
      return pair(Tone::HardIrq, Tone::HardIrqTint);
    case Ink::SoftirqTimer:
      return pair(Tone::SoftirqTimer, Tone::SoftirqTimerTint);
    case Ink::SoftirqHrtimer:
      return pair(Tone::SoftirqHrtimer, Tone::SoftirqHrtimerTint);
    case Ink::SoftirqOther:
      return pair(Tone::SoftirqOther, Tone::SoftirqOtherTint);
    case Ink::Hrtimer:
      return pair(Tone::Hrtimer, Tone::HrtimerTint);
    case Ink::HrtimerSoft:
      return pair(Tone::HrtimerSoft, Tone::HrtimerSoftTint);
    case Ink::Wheel:
      return pair(Tone::WheelL1, Tone::WheelTint);
    case Ink::Programming:
      return pair(Tone::Due, Tone::TaskTint);
  }
  return {};
}

QColor ScenePainter::groundOf(const SceneStrip& strip, const PaintOptions& options) const {
  if (isChosen(strip, options)) return theme_->color(Tone::SelectedRow);
  if (strip.header) return theme_->color(Tone::CpuHeader);
  return theme_->color(number(strip.lane) % 2 ? Tone::OddLane : Tone::Panel);
}

void ScenePainter::paint(QImage& image, const Scene& scene, double left,
                         const PaintOptions& options) {
  QPainter painter(&image);
  painter.setFont(theme_->font(Theme::Text::Lane));
  const double right = left + scene.width;
  for (const SceneStrip& strip : scene.strips) {
    const QRectF area(left, strip.y, scene.width, strip.height);
    paintGround(painter, strip, area, options);
    if (!strip.header) {
      painter.setClipRect(QRectF(left, strip.y, right - left, strip.height));
      paintArmed(painter, strip, area);
      paintBars(painter, strip, area, options);
    }
    painter.end();
    paintColumns(image, strip, area, groundOf(strip, options).rgb());
    painter.begin(&image);
    painter.setClipRect(QRectF(left, strip.y, right - left, strip.height));
    painter.setFont(theme_->font(Theme::Text::Lane));
    paintStepLine(painter, strip, area, options);
    paintLinks(painter, strip, area);
    paintFlags(painter, strip, area);
    paintGlyphs(painter, strip, area, options);
    paintSelectedTimer(painter, strip, area, options);
    paintHatches(painter, strip, area);
    paintWords(painter, strip, area);
    painter.setClipping(false);
  }
}

void ScenePainter::paintGround(QPainter& painter, const SceneStrip& strip, const QRectF& area,
                               const PaintOptions& options) {
  painter.fillRect(area, groundOf(strip, options));
  const QColor minor = theme_->color(Tone::GridMinor);
  const QColor major = theme_->color(Tone::GridMajor);
  // The header holds words, which the grid must not cross.
  if (!strip.header) {
    for (const RulerTick& tick : options.grid) {
      if (!tick.major) continue;
      painter.fillRect(QRectF(std::floor(area.left() + tick.x), area.top(), 1, area.height()),
                       major);
    }
  }
  painter.fillRect(QRectF(area.left(), area.bottom() - 1, area.width(), 1),
                   strip.header ? major : minor);
}

QRectF ScenePainter::barArea(const SceneStrip& strip, const SceneBar& bar,
                             const QRectF& area) const {
  const double from = area.left() + static_cast<double>(bar.from);
  const double to = area.left() + static_cast<double>(bar.to);
  double top = area.top() + padding;
  double height = area.height() - 1 - 2 * padding;
  if (isTimerLane(strip.lane)) {
    top = area.bottom() - 1 - padding - timerBar;
    height = timerBar;
  }
  const double inset = std::min<double>(bar.depth * 3, std::max(0.0, height - 4));
  return QRectF(from, top + inset, to - from, height - inset);
}

void ScenePainter::paintBars(QPainter& painter, const SceneStrip& strip, const QRectF& area,
                             const PaintOptions& options) {
  const QFontMetricsF metrics(painter.font());
  const QColor text = theme_->color(Tone::Text);
  for (const SceneBar& bar : strip.bars) {
    const QRectF box = barArea(strip, bar, area);
    if (bar.idle) {
      painter.fillRect(QRectF(box.left(), std::floor(box.center().y()), box.width(), 1),
                       theme_->color(Tone::Idle));
      continue;
    }
    const Inks inks = inksOf(bar.ink);
    painter.fillRect(box, inks.tint);
    if (bar.beginKnown) painter.fillRect(QRectF(box.left(), box.top(), 1, box.height()), inks.ink);
    if (bar.ink == Ink::SoftirqThread)
      painter.fillRect(QRectF(box.left(), box.top(), box.width(), 2), inks.ink);
    if (isTimerLane(strip.lane))
      painter.fillRect(QRectF(box.left(), box.bottom() - 1, box.width(), 1), inks.ink);
    if (options.selectedRow == bar.row) {
      painter.setPen(QPen(theme_->color(Tone::Selection), 1.5));
      painter.setBrush(Qt::NoBrush);
      painter.drawRect(box.adjusted(-1, -1, 1, 1));
    }
    if (bar.label.empty() || box.height() < metrics.height() - 4) continue;
    const QString label =
        fittedLabel(QString::fromStdString(bar.label), metrics, box.width() - 2 * labelMargin);
    if (label.isEmpty()) continue;
    painter.setPen(text);
    painter.drawText(box.adjusted(labelMargin, 0, 0, 0),
                     Qt::AlignVCenter | Qt::AlignLeft | Qt::TextDontClip, label);
  }
}

void ScenePainter::paintColumns(QImage& image, const SceneStrip& strip, const QRectF& area,
                                QRgb ground) {
  if (strip.columns.empty()) return;
  const double ratio = image.devicePixelRatio();
  const int left = static_cast<int>(std::lround(area.left() * ratio));
  const int top = std::max(0, static_cast<int>(std::lround(area.top() * ratio)));
  const double below = (strip.header ? 0 : padding) + static_cast<double>(strip.armedHeight);
  const int foot = static_cast<int>(std::lround((area.bottom() - 1 - below) * ratio));
  const int end = std::min(foot, image.height());
  std::array<QRgb, 16> inks{};
  for (std::size_t i = 0; i <= static_cast<std::size_t>(Ink::Programming); ++i) {
    inks[i] = inksOf(static_cast<Ink>(i)).ink.rgb();
  }
  uchar* const pixels = image.bits();
  const qsizetype line = image.bytesPerLine();
  for (const SceneColumn& column : strip.columns) {
    const int from = std::max(left, left + column.x);
    const int to = std::min(left + column.x + column.width, image.width());
    const QRgb colour = mixed(ground, inks[static_cast<std::size_t>(column.ink)], column.strength);
    for (int y = std::max(top, foot - column.height); y < end; ++y) {
      auto* const row = reinterpret_cast<QRgb*>(pixels + y * line);
      for (int x = from; x < to; ++x) row[x] = colour;
    }
  }
}

void ScenePainter::paintLinks(QPainter& painter, const SceneStrip& strip, const QRectF& area) {
  for (const SceneLink& link : strip.links) {
    painter.setPen(QPen(inksOf(link.ink).ink, 1, Qt::DotLine));
    const double y = std::floor(area.center().y()) + 0.5;
    painter.drawLine(QPointF(area.left() + static_cast<double>(link.from) + 5, y),
                     QPointF(area.left() + static_cast<double>(link.to), y));
  }
}

void ScenePainter::paintGlyphs(QPainter& painter, const SceneStrip& strip, const QRectF& area,
                               const PaintOptions& options) {
  if (strip.glyphs.empty()) return;
  const QColor ground = groundOf(strip, options);
  const double foot = area.bottom() - 1 - padding;
  double middle = std::floor((area.top() + area.bottom() - 1) / 2) + 0.5;
  // In high timer lanes callbacks run along the foot, operations stand above.
  if (isTimerLane(strip.lane) && strip.height >= 24)
    middle = std::floor(foot - std::max<double>(timerBar, strip.armedHeight) - 6) + 0.5;
  // In the row of a timer they stand on its bar.
  if (strip.timerRow) middle = std::floor(foot - timerBar / 2) + 0.5;
  painter.save();
  QFont bold = theme_->font(Theme::Text::Sub);
  bold.setBold(true);
  painter.setFont(bold);
  const QFontMetricsF metrics(bold);
  for (const SceneGlyph& glyph : strip.glyphs) {
    const QPointF centre(area.left() + static_cast<double>(glyph.x), middle);
    const QColor ink = inksOf(glyph.ink).ink;
    if (glyph.count > 1) {
      const QString text = QStringLiteral("×%1").arg(glyph.count);
      const double width = metrics.horizontalAdvance(text) + 5;
      const double height = std::min<double>(badgeHeight, area.height() - 2);
      const double top = strip.lane == LaneKind::Programming ? foot - height : middle - height / 2;
      const QRectF box(std::round(centre.x() - width / 2), std::round(top), std::ceil(width),
                       height);
      painter.fillRect(box, ink);
      painter.setPen(theme_->color(Tone::Panel));
      painter.drawText(box, Qt::AlignCenter, text);
    } else {
      paintGlyph(painter, glyph.shape, centre, foot, ink, ground);
    }
    if (options.selectedRow == glyph.row) {
      const double y = strip.lane == LaneKind::Programming ? foot - 6 : middle;
      painter.setPen(QPen(theme_->color(Tone::Selection), 1.5));
      painter.setBrush(Qt::NoBrush);
      painter.drawRect(QRectF(centre.x() - 7, y - 7, 14, 14));
    }
  }
  painter.restore();
}

void ScenePainter::paintHatches(QPainter& painter, const SceneStrip& strip, const QRectF& area) {
  const QFontMetricsF metrics(painter.font());
  for (const SceneHatch& hatch : strip.hatches) {
    const QRectF box(area.left() + static_cast<double>(hatch.from), area.top() + 1,
                     static_cast<double>(hatch.to - hatch.from), area.height() - 2);
    painter.save();
    painter.setClipRect(box, Qt::IntersectClip);
    painter.fillRect(box, theme_->color(Tone::HatchGround));
    painter.setRenderHint(QPainter::Antialiasing, true);
    painter.setPen(QPen(theme_->color(Tone::Hatch), 1.6));
    // Lines start at multiples of the pitch, so that the pattern stands still under the pieces.
    const double begin = std::floor((box.left() - box.height()) / hatchPitch) * hatchPitch;
    for (double x = begin; x < box.right(); x += hatchPitch) {
      painter.drawLine(QPointF(x, box.bottom()), QPointF(x + box.height(), box.top()));
    }
    painter.restore();
    if (hatch.reason.empty()) continue;
    const QString words =
        fittedLabel(QString::fromStdString(hatch.reason), metrics, box.width() - 4 * labelMargin);
    if (words.isEmpty()) continue;
    const double height = std::min(metrics.height(), box.height());
    const QRectF label(box.left() + 2 * labelMargin, box.center().y() - height / 2,
                       metrics.horizontalAdvance(words) + 2 * labelMargin, height);
    painter.fillRect(label, theme_->color(Tone::Panel));
    painter.setPen(theme_->color(Tone::Text));
    painter.drawText(label.adjusted(labelMargin, 0, 0, 0),
                     Qt::AlignVCenter | Qt::AlignLeft | Qt::TextDontClip, words);
  }
}

void ScenePainter::paintWords(QPainter& painter, const SceneStrip& strip, const QRectF& area) {
  if (strip.words.empty() || (strip.folded && !strip.columns.empty())) return;
  const QFontMetricsF metrics(painter.font());
  // Behind what hatches say at the left edge.
  double from = area.left() + labelMargin + 2;
  for (const SceneHatch& hatch : strip.hatches) {
    const double x = area.left() + static_cast<double>(hatch.from);
    if (x < from + metrics.averageCharWidth() * lettersLeft)
      from = area.left() + static_cast<double>(hatch.to) + labelMargin;
  }
  double room = area.right() - from - labelMargin;
  for (const SceneHatch& hatch : strip.hatches) {
    const double x = area.left() + static_cast<double>(hatch.from);
    if (x > from) {
      room = std::min(room, x - from - labelMargin);
      break;
    }
  }
  const QString words = fittedLabel(QString::fromStdString(strip.words), metrics, room);
  if (words.isEmpty()) return;
  painter.setPen(theme_->color(strip.header ? Tone::SecondText : Tone::OffText));
  painter.drawText(QRectF(from, area.top(), room, area.height() - 1),
                   Qt::AlignVCenter | Qt::AlignLeft | Qt::TextDontClip, words);
}

}  // namespace tickscope
