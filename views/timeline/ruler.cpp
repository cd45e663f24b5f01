// SPDX-License-Identifier: GPL-3.0-or-later
// Computes ticks in integers and paints them.
#include "views/timeline/ruler.h"

#include <QCoreApplication>
#include <QFontMetricsF>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "views/document.h"
#include "views/theme.h"
#include "views/time_label.h"

namespace tickscope {

namespace {

constexpr double leastApart = 90;
constexpr s64 largestStep = s64{1'000'000'000'000'000'000};

QString tr(const char* text) { return QCoreApplication::translate("tickscope::Ruler", text); }

struct Step {
  s64 major, minor;
};

/// The smallest step of 1, 2 or 5 times a power of ten that is not below `units`.
Step stepFor(double units) {
  for (s64 power = 1; power <= largestStep / 10; power *= 10) {
    for (const s64 figure : {1, 2, 5}) {
      const s64 step = power * figure;
      if (static_cast<double>(step) >= units) return {step, std::max<s64>(step / 5, 1)};
    }
  }
  return {largestStep, largestStep / 5};
}

/// 3, 6 or 9: as many decimals of a second as the step needs.
int decimalsOf(s64 step) {
  if (step % 1'000'000 == 0) return 3;
  return step % 1000 == 0 ? 6 : 9;
}

QString shortened(QString nineDecimals, int decimals) {
  nineDecimals.chop(decimals == 3 ? 8 : decimals == 6 ? 4 : 0);
  return nineDecimals;
}

QString labelOf(TraceTime time, const RulerScale& scale, s64 step) {
  const bool seconds = scale.unit == ClockUnit::Nanoseconds;
  if (!scale.base) {
    const QString text = timeInGroups(time, scale.unit);
    return seconds ? shortened(text, decimalsOf(step)) : text;
  }
  const s64 apart = (time - *scale.base).value;
  if (apart == 0) return QStringLiteral("0");
  const u64 size = apart < 0 ? u64{0} - static_cast<u64>(apart) : static_cast<u64>(apart);
  const QString text = timeInGroups({static_cast<s64>(size)}, scale.unit);
  const QString sign = apart < 0 ? QString(QChar(0x2212)) : QStringLiteral("+");
  return sign + (seconds ? shortened(text, decimalsOf(step)) : text);
}

/// Where a time lies in the area right of the labels; far outside for times that are.
double placeOf(TraceTime time, TimeSpan visible, double width) {
  const double units = static_cast<double>((visible.to - visible.from).value);
  if (!(units > 0)) return 0;
  const double apart = static_cast<double>(time.value) - static_cast<double>(visible.from.value);
  const double exact =
      std::abs(apart) < 9e15 ? static_cast<double>((time - visible.from).value) : apart;
  return std::clamp(exact / units * width, -1e6, 1e6);
}

void paintHead(QPainter& painter, double x, const QRectF& area, double left, const QString& text,
               const QColor& ground, const QColor& ink) {
  const QFontMetricsF metrics(painter.font());
  const double width = metrics.horizontalAdvance(text) + 8;
  double from = std::max(x, left);
  from = std::min(from, area.right() - width);
  const QRectF box(from, area.top() + 1, width, metrics.height() + 1);
  painter.fillRect(box, ground);
  painter.setPen(ink);
  painter.drawText(box, Qt::AlignCenter, text);
}

}  // namespace

std::vector<RulerTick> rulerTicks(const RulerScale& scale, double apart) {
  std::vector<RulerTick> ticks;
  const double units = static_cast<double>(static_cast<u64>(scale.visible.to.value) -
                                           static_cast<u64>(scale.visible.from.value));
  if (!(scale.width > 1) || !(units > 0)) return ticks;
  const Step step = stepFor(units / scale.width * std::max(apart, leastApart));
  const s64 base = scale.base ? scale.base->value : 0;
  s64 from{};
  if (__builtin_sub_overflow(scale.visible.from.value, base, &from)) return ticks;
  s64 at = from / step.minor * step.minor;
  if (at < from && __builtin_add_overflow(at, step.minor, &at)) return ticks;
  const auto most = static_cast<std::size_t>(scale.width);
  while (ticks.size() < most) {
    s64 absolute{};
    if (__builtin_add_overflow(at, base, &absolute) || absolute >= scale.visible.to.value) break;
    const TraceTime time{absolute};
    RulerTick tick{placeOf(time, scale.visible, scale.width), at % step.major == 0, {}};
    if (tick.major) tick.label = labelOf(time, scale, step.major);
    ticks.push_back(std::move(tick));
    if (__builtin_add_overflow(at, step.minor, &at)) break;
  }
  return ticks;
}

void paintRuler(QPainter& painter, const QRectF& area, double labels, const Document& document,
                const Theme& theme, bool fromMarkerA) {
  painter.fillRect(area, theme.color(Tone::Window));
  painter.setPen(theme.color(Tone::Border));
  painter.drawLine(QPointF(area.left(), area.bottom() - 0.5),
                   QPointF(area.right(), area.bottom() - 0.5));
  const Buffer* const buffer = document.buffer();
  if (!buffer || !document.rowCount()) return;

  const QRectF scaleArea = area.adjusted(labels, 0, 0, 0);
  const TimeSpan visible = document.visible();
  const bool relative = fromMarkerA && document.marker(Marker::A);
  const QString unit = unitName(buffer->clock.unit);
  painter.setFont(theme.font(Theme::Text::Lane));
  const QFontMetricsF words(painter.font());
  painter.setPen(theme.color(Tone::SecondText));
  const QString clock =
      relative ? tr("from marker A, %1").arg(unit)
      : buffer->clock.name.empty()
          ? tr("trace clock, %1").arg(unit)
          : tr("%1 clock, %2").arg(QString::fromStdString(buffer->clock.name), unit);
  const double room = labels - 12;
  painter.drawText(QPointF(area.left() + 8, area.top() + words.ascent() + 2),
                   words.elidedText(clock, Qt::ElideRight, room));
  const QString seen =
      tr("visible %1").arg(differenceWords(visible.to - visible.from, buffer->clock.unit));
  painter.drawText(QPointF(area.left() + 8, area.bottom() - words.descent() - 3),
                   words.elidedText(seen, Qt::ElideRight, room));

  painter.setFont(theme.font(Theme::Text::Number));
  const QFontMetricsF numbers(painter.font());
  painter.save();
  painter.setClipRect(scaleArea);
  RulerScale scale{visible, scaleArea.width(), buffer->clock.unit, {}};
  if (relative) scale.base = document.marker(Marker::A);
  const double longest =
      numbers.horizontalAdvance(timeInGroups(visible.to, buffer->clock.unit)) + 14;
  for (const RulerTick& tick : rulerTicks(scale, longest)) {
    const double x = std::floor(scaleArea.left() + tick.x) + 0.5;
    painter.setPen(theme.color(tick.major ? Tone::SecondText : Tone::Border));
    painter.drawLine(QPointF(x, area.bottom() - (tick.major ? 8 : 4)),
                     QPointF(x, area.bottom() - 1));
    if (!tick.major) continue;
    painter.setPen(theme.color(Tone::SecondText));
    painter.drawText(QPointF(x + 4, area.bottom() - numbers.descent() - 3), tick.label);
  }
  painter.restore();

  const auto inView = [&](TraceTime time) { return time >= visible.from && time <= visible.to; };
  struct Head {
    Marker marker;
    Tone tone;
    const char* letter;
  };
  for (const Head& head :
       {Head{Marker::A, Tone::MarkerA, "A"}, Head{Marker::B, Tone::MarkerB, "B"}}) {
    const auto& time = document.marker(head.marker);
    if (!time || !inView(*time)) continue;
    const double x = scaleArea.left() + placeOf(*time, visible, scaleArea.width());
    paintHead(painter, x - 8, area, scaleArea.left(), QString::fromLatin1(head.letter),
              theme.color(head.tone), theme.color(Tone::Panel));
  }
  if (document.cursor() && inView(document.cursor()->time)) {
    const TraceTime time = document.cursor()->time;
    const double x = scaleArea.left() + placeOf(time, visible, scaleArea.width());
    QString text = timeInGroups(time, buffer->clock.unit);
    if (buffer->clock.unit == ClockUnit::Nanoseconds) text += QStringLiteral(" s");
    paintHead(painter, x, area, scaleArea.left(), text, theme.color(Tone::Cursor),
              theme.color(Tone::Panel));
  }
}

}  // namespace tickscope
