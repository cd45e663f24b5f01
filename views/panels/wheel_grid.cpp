// SPDX-License-Identifier: GPL-3.0-or-later
// Paints the grid; finds buckets by place and by key.
#include "views/panels/wheel_grid.h"

#include <QFontMetricsF>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "views/theme.h"
#include "views/time_label.h"

namespace tickscope {

namespace {

constexpr int rowPitch = 14;
constexpr int margin = 2, side = 6;
constexpr int perGroup = 8;
constexpr double gap = 1;  // before each group of eight
/// A bucket is this wide, its border included; narrower ones were not to be told apart.
constexpr double leastPitch = 3, usualPitch = 3.4, mostPitch = 9;

Tone toneOf(int level) {
  constexpr Tone tones[] = {Tone::WheelL0, Tone::WheelL1, Tone::WheelL2, Tone::WheelL3};
  return tones[std::min(level, 3)];
}

double widthOf(const QFont& font, const QString& text) {
  return QFontMetricsF(font).horizontalAdvance(text);
}

}  // namespace

WheelGrid::WheelGrid(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  connect(&Theme::application(), &Theme::changed, this, [this] {
    updateGeometry();
    update();
  });
}

void WheelGrid::setView(const WheelView& view) {
  view_ = view;
  view_.depth = static_cast<u8>(std::clamp<int>(view.depth, 1, mostLevels));
  if (current_ && *current_ >= view_.depth * perLevel) current_.reset();
  setAccessibleDescription(current_ ? bucketWords(*current_) : view.summary);
  updateGeometry();
  update();
}

void WheelGrid::setCurrent(Known<u16> bucket) {
  if (bucket && *bucket >= view_.depth * perLevel) return;
  if (bucket == current_) return;
  current_ = bucket;
  setAccessibleDescription(current_ ? bucketWords(*current_) : view_.summary);
  update();
}

WheelGrid::Bucket WheelGrid::bucketOf(int bucket) const {
  const auto place = static_cast<std::size_t>(bucket);
  return {view_.inBucket[place], view_.overdueInBucket[place]};
}

int WheelGrid::rowHeight() const {
  return static_cast<int>(std::ceil(rowPitch * Theme::application().textScale()));
}

QSize WheelGrid::sizeHint() const {
  return {320, margin + view_.depth * rowHeight() + 4 + rowHeight()};
}

QSize WheelGrid::minimumSizeHint() const { return {0, sizeHint().height()}; }

bool WheelGrid::showsGranules() const {
  return measures().pitch >= leastPitch && measures().left > side + 40;
}

WheelGrid::Measures WheelGrid::measures() const {
  const Theme& theme = Theme::application();
  const QFont sub = theme.font(Theme::Text::Sub);
  const QFont numbers = theme.font(Theme::Text::Number);
  const double name = widthOf(numbers, QStringLiteral("L0")) + 6;
  double granule = 0;
  for (int level = 0; level < view_.depth; ++level) {
    granule = std::max(granule, widthOf(sub, granuleText(static_cast<u8>(level), view_.hz)));
  }
  granule += 6;
  const int count = static_cast<int>(std::ceil(widthOf(numbers, QStringLiteral("000")))) + 4;
  const double gaps = gap * (perLevel / perGroup - 1);
  const auto pitchFor = [&](double left) {
    return (width() - left - count - gaps - side) / perLevel;
  };
  const double full = side + name + granule;
  if (pitchFor(full) >= usualPitch) return {full, std::min(pitchFor(full), mostPitch), count};
  const double narrow = side + name;
  return {narrow, std::clamp(pitchFor(narrow), 1.0, mostPitch), count};
}

double WheelGrid::edgeOf(int slot) const {
  const Measures m = measures();
  const int groups = std::min(slot, perLevel - 1) / perGroup;
  // Whole pixels, or the borders between buckets would be blurred.
  return std::round(m.left + slot * m.pitch + groups * gap);
}

QRect WheelGrid::bucketRect(u16 bucket) const {
  const int level = bucket / perLevel;
  const int slot = bucket % perLevel;
  const int left = static_cast<int>(edgeOf(slot));
  const int behind = slot + 1 < perLevel && (slot + 1) % perGroup == 0
                         ? static_cast<int>(edgeOf(slot + 1) - gap)
                         : static_cast<int>(edgeOf(slot + 1));
  return QRect(left, margin + level * rowHeight(), std::max(1, behind - left - 1), rowHeight() - 2);
}

Known<u16> WheelGrid::bucketAt(QPoint at) const {
  const int level = (at.y() - margin) / rowHeight();
  if (at.y() < margin || level >= view_.depth) return {};
  for (int slot = 0; slot < perLevel; ++slot) {
    if (at.x() >= edgeOf(slot) && at.x() < edgeOf(slot + 1))
      return static_cast<u16>(level * perLevel + slot);
  }
  return {};
}

Known<u16> WheelGrid::handOf(u8 level) const {
  if (!view_.clk || level >= view_.depth) return {};
  return static_cast<u16>(level * perLevel + ((*view_.clk >> (3U * level)) & 63U));
}

QString WheelGrid::bucketWords(u16 bucket) const {
  const auto level = static_cast<u8>(bucket / perLevel);
  const Bucket at = bucketOf(bucket);
  QStringList lines;
  lines.append(tr("%1, level of %2").arg(bucketName(bucket), granuleText(level, view_.hz)));
  if (handOf(level) == bucket) lines.append(tr("clk stands here"));
  if (view_.nextBucket == bucket) lines.append(tr("next_expiry"));
  if (!at.timers) lines.append(tr("no timer"));
  int named = 0;
  for (const WheelTimerView& timer : view_.timers) {
    if (timer.bucket != bucket) continue;
    if (++named > 8) {
      lines.append(tr("and %1 more").arg(at.timers - 8));
      break;
    }
    lines.append(
        tr("%1, expires %2, bucket %3, %4, armed by %5")
            .arg(timer.callback, timer.expires, timer.bucketExpiry, timer.toClk, timer.armedBy));
  }
  return lines.join(QLatin1Char('\n'));
}

bool WheelGrid::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* const help = static_cast<QHelpEvent*>(event);
  if (const Known<u16> bucket = bucketAt(help->pos())) {
    QToolTip::showText(help->globalPos(), bucketWords(*bucket), this, bucketRect(*bucket));
  } else {
    QToolTip::hideText();
  }
  return true;
}

void WheelGrid::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::application();
  QPainter painter(this);
  const QFont sub = theme.font(Theme::Text::Sub);
  const QFont numbers = theme.font(Theme::Text::Number);
  const Measures m = measures();
  const bool granules = showsGranules();
  const double name = widthOf(numbers, QStringLiteral("L0"));
  for (int level = 0; level < view_.depth; ++level) {
    const int top = margin + level * rowHeight();
    const QRectF line(side, top - 1, m.left - side, rowHeight());
    painter.setFont(numbers);
    painter.setPen(theme.color(Tone::Text));
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, QStringLiteral("L%1").arg(level));
    if (granules) {
      painter.setFont(sub);
      painter.setPen(theme.color(Tone::SecondText));
      painter.drawText(line.adjusted(name, 0, -6, 0), Qt::AlignRight | Qt::AlignVCenter,
                       granuleText(static_cast<u8>(level), view_.hz));
    }
    u64 count = 0;
    for (int slot = 0; slot < perLevel; ++slot) {
      const auto bucket = static_cast<u16>(level * perLevel + slot);
      const Bucket at = bucketOf(bucket);
      const QRect cell = bucketRect(bucket);
      count += at.timers;
      const Tone tone = at.overdue ? Tone::Late : at.timers ? toneOf(level) : Tone::EmptyBucket;
      painter.fillRect(cell, theme.color(tone));
    }
    painter.setFont(numbers);
    painter.setPen(theme.color(count ? Tone::Text : Tone::OffText));
    painter.drawText(QRectF(width() - side - m.count, top - 1, m.count, rowHeight()),
                     Qt::AlignRight | Qt::AlignVCenter,
                     count ? countText(count) : QStringLiteral("·"));
  }
  // Counts, hand and mark are wider than a bucket: over all of them.
  for (u16 bucket = 0; bucket < view_.depth * perLevel; ++bucket) {
    if (bucketOf(bucket).timers < 2) continue;
    const QString number = bucketOf(bucket).timers > 9 ? QStringLiteral("+")
                                                       : QString::number(bucketOf(bucket).timers);
    QFont bold = sub;
    bold.setBold(true);
    const QRectF cell(bucketRect(bucket));
    const double wide = std::max(cell.width(), widthOf(bold, number) + 1);
    const QRectF plate(cell.center().x() - wide / 2, cell.top(), wide, cell.height());
    const Tone ink = bucketOf(bucket).overdue ? Tone::Late : toneOf(bucket / perLevel);
    painter.fillRect(plate, theme.color(ink));
    painter.setFont(bold);
    painter.setPen(theme.color(Tone::Panel));
    painter.drawText(plate, Qt::AlignCenter, number);
  }
  painter.setBrush(Qt::NoBrush);
  for (u8 level = 0; level < view_.depth; ++level) {
    const Known<u16> hand = handOf(level);
    if (!hand) continue;
    painter.setPen(QPen(theme.color(Tone::Due), 1.5));
    painter.drawRect(QRectF(bucketRect(*hand)).adjusted(-1, -0.5, 1, 0.5));
  }
  if (view_.nextBucket && *view_.nextBucket < view_.depth * perLevel) {
    const QRect cell = bucketRect(*view_.nextBucket);
    const double x = cell.left() + cell.width() / 2.0;
    const double y = cell.bottom() + 1;
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.color(Tone::Due));
    const QPointF triangle[] = {{x, y - 1}, {x - 4.5, y + 5}, {x + 4.5, y + 5}};
    painter.drawPolygon(triangle, 3);
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setBrush(Qt::NoBrush);
  }
  painter.setFont(sub);
  painter.setPen(theme.color(Tone::SecondText));
  for (int slot = 0; slot < perLevel; slot += perGroup) {
    const double x = edgeOf(slot);
    painter.drawText(
        QRectF(x - 10, margin + view_.depth * rowHeight() + 4, 20 + m.pitch, rowHeight()),
        Qt::AlignCenter, QString::number(slot));
  }
  painter.setPen(QPen(theme.color(Tone::Selection), 1.5));
  if (current_) painter.drawRect(QRectF(bucketRect(*current_)).adjusted(-2.5, -1.5, 2.5, 1.5));
  if (hasFocus()) {
    painter.setPen(QPen(theme.color(Tone::Selection), 1));
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
  }
}

void WheelGrid::step(int direction, bool byLevel) {
  const int all = view_.depth * perLevel;
  const int from = current_ ? *current_ : direction > 0 ? -1 : all;
  if (!byLevel) {
    for (int bucket = from + direction; bucket >= 0 && bucket < all; bucket += direction) {
      if (!bucketOf(bucket).timers) continue;
      return setCurrent(static_cast<u16>(bucket));
    }
    return;
  }
  // The nearest bucket with timers of the next level that has one.
  const int slot = current_ ? *current_ % perLevel : 0;
  for (int level = (current_        ? *current_ / perLevel
                    : direction > 0 ? -1
                                    : view_.depth) +
                   direction;
       level >= 0 && level < view_.depth; level += direction) {
    for (int away = 0; away < perLevel; ++away) {
      for (const int at : {slot - away, slot + away}) {
        if (at < 0 || at >= perLevel) continue;
        if (!bucketOf(level * perLevel + at).timers) continue;
        return setCurrent(static_cast<u16>(level * perLevel + at));
      }
    }
  }
}

void WheelGrid::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Left:
      return step(-1, false);
    case Qt::Key_Right:
      return step(1, false);
    case Qt::Key_Up:
      return step(-1, true);
    case Qt::Key_Down:
      return step(1, true);
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (current_ && bucketOf(*current_).timers) emit bucketChosen(*current_);
      return;
    default:
      QWidget::keyPressEvent(event);
  }
}

void WheelGrid::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  const Known<u16> bucket = bucketAt(event->position().toPoint());
  if (!bucket) return;
  setCurrent(bucket);
  if (bucketOf(*bucket).timers) emit bucketChosen(*bucket);
}

void WheelGrid::focusInEvent(QFocusEvent* event) {
  if (!current_ && event->reason() != Qt::MouseFocusReason) step(1, false);
  QWidget::focusInEvent(event);
}

}  // namespace tickscope
