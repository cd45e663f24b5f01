// SPDX-License-Identifier: GPL-3.0-or-later
// Paints the overview once for a size and moves the visible range.
#include "views/timeline/overview_strip.h"

#include <QFontMetricsF>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "views/document.h"
#include "views/theme.h"
#include "views/time_label.h"

namespace tickscope {

namespace {

constexpr double leastFrame = 12;
constexpr double dimming = 0.55;
constexpr int standardHeight = 48;

}  // namespace

OverviewStrip::OverviewStrip(Document& document, QWidget* parent)
    : QWidget(parent), document_(document) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Overview of the recording"));
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  connect(&document, &Document::opened, this, &OverviewStrip::invalidate);
  connect(&document, &Document::timelineChanged, this, &OverviewStrip::invalidate);
  connect(&document, &Document::visibleChanged, this, [this] {
    describe();
    update();
  });
  connect(&document, &Document::cursorChanged, this, qOverload<>(&QWidget::update));
  connect(&Theme::application(), &Theme::changed, this, &OverviewStrip::invalidate);
  describe();
}

QSize OverviewStrip::sizeHint() const { return {640, standardHeight}; }
QSize OverviewStrip::minimumSizeHint() const { return {120, 24}; }

void OverviewStrip::invalidate() {
  density_ = {};
  describe();
  update();
}

void OverviewStrip::describe() {
  const Buffer* const buffer = document_.buffer();
  if (!buffer || !document_.rowCount()) {
    setAccessibleDescription(tr("No recording is open."));
    return;
  }
  const TimeSpan seen = document_.visible();
  setAccessibleDescription(tr("Visible from %1 to %2.")
                               .arg(timeInGroups(seen.from, buffer->clock.unit),
                                    timeInGroups(seen.to, buffer->clock.unit)));
}

double OverviewStrip::x(TraceTime time) const {
  const TimeSpan reach = document_.reach();
  const double units = static_cast<double>((reach.to - reach.from).value);
  if (!(units > 0)) return 0;
  return std::clamp(static_cast<double>((time - reach.from).value) / units, 0.0, 1.0) * width();
}

TraceTime OverviewStrip::time(double x) const {
  const TimeSpan reach = document_.reach();
  const double units = static_cast<double>((reach.to - reach.from).value);
  const double share = width() > 0 ? std::clamp(x / width(), 0.0, 1.0) : 0;
  return reach.from + TraceDelta{static_cast<s64>(share * units)};
}

QRectF OverviewStrip::frame() const {
  const TimeSpan seen = document_.visible();
  const double from = x(seen.from);
  const double to = x(seen.to);
  const double wide = std::max(to - from, std::min<double>(leastFrame, width()));
  const double left = std::clamp((from + to - wide) / 2, 0.0, std::max(0.0, width() - wide));
  return {left, 0, wide, static_cast<double>(height())};
}

void OverviewStrip::paintDensity() {
  const Theme& theme = Theme::application();
  const double ratio = devicePixelRatioF();
  density_ = QImage(size() * ratio, QImage::Format_RGB32);
  density_.setDevicePixelRatio(ratio);
  density_.fill(theme.color(Tone::Panel));
  const auto& timeline = document_.timeline();
  if (!timeline || timeline->overview.empty()) return;
  const int columns = density_.width();
  const double rowHeight =
      static_cast<double>(height()) / static_cast<double>(timeline->overview.size());
  std::vector<std::vector<u64>> sums;
  u64 most = 1;
  for (const OverviewRow& row : timeline->overview) {
    std::vector<u64> sum(static_cast<std::size_t>(columns));
    for (std::size_t bin = 0; bin < row.counts.size(); ++bin) {
      if (!row.counts[bin]) continue;
      const auto at = static_cast<s64>(std::min<u64>(
          static_cast<u64>(bin) << timeline->overviewShift, static_cast<u64>(timeline->last)));
      const auto column = static_cast<int>(x(timeline->absolute(at)) * ratio);
      sum[static_cast<std::size_t>(std::clamp(column, 0, columns - 1))] += row.counts[bin];
    }
    most = std::max(most, *std::max_element(sum.begin(), sum.end()));
    sums.push_back(std::move(sum));
  }
  QPainter painter(&density_);
  painter.setFont(theme.font(Theme::Text::Sub));
  const QFontMetricsF metrics(painter.font());
  const QColor ink = theme.color(Tone::Task);
  const double pixel = 1 / ratio;
  for (std::size_t r = 0; r < sums.size(); ++r) {
    const double foot = rowHeight * static_cast<double>(r + 1) - (rowHeight > 6 ? 1 : 0);
    const double room = std::max(1.0, rowHeight - (rowHeight > 6 ? 3 : 0));
    for (int c = 0; c < columns; ++c) {
      const u64 count = sums[r][static_cast<std::size_t>(c)];
      if (!count) continue;
      const double share =
          std::log2(1 + static_cast<double>(count)) / std::log2(1 + static_cast<double>(most));
      const double tall = std::max(pixel * 2, room * share);
      painter.fillRect(QRectF(c * pixel, foot - tall, pixel, tall), ink);
    }
  }
  // Losses of any CPU are visible over its whole row, however short they are.
  for (std::size_t t = 0; t < timeline->tracks.size(); ++t) {
    const std::size_t r = t / std::max<u32>(timeline->overview.front().tracks, 1);
    double painted = -1;
    for (const LaneLoss& loss : timeline->tracks[t].losses) {
      const double from = loss.atBegin ? 0 : x(timeline->absolute(loss.from));
      const double to = std::max(loss.atEnd ? width() : x(timeline->absolute(loss.to)), from + 3);
      if (to <= painted + pixel) continue;
      painted = to;
      const QRectF box(from, rowHeight * static_cast<double>(r), to - from, rowHeight);
      painter.save();
      painter.setClipRect(box);
      painter.fillRect(box, theme.color(Tone::HatchGround));
      painter.setPen(QPen(theme.color(Tone::Hatch), 1.6));
      for (double at = std::floor((box.left() - box.height()) / 6) * 6; at < box.right(); at += 6) {
        painter.drawLine(QPointF(at, box.bottom()), QPointF(at + box.height(), box.top()));
      }
      painter.restore();
    }
  }
  if (rowHeight < metrics.height() - 2) return;
  for (std::size_t r = 0; r < timeline->overview.size(); ++r) {
    const OverviewRow& row = timeline->overview[r];
    const QString name = QStringLiteral("CPU%1").arg(number(timeline->tracks[row.firstTrack].cpu));
    QRectF box(2, rowHeight * (static_cast<double>(r) + 0.5) - metrics.height() / 2,
               metrics.horizontalAdvance(name) + 6, metrics.height());
    painter.fillRect(box, theme.color(Tone::Panel));
    painter.setPen(theme.color(Tone::SecondText));
    painter.drawText(box, Qt::AlignCenter, name);
  }
}

void OverviewStrip::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Theme& theme = Theme::application();
  if (!document_.rowCount()) {
    painter.fillRect(rect(), theme.color(Tone::Panel));
    return;
  }
  if (density_.isNull() || density_.size() != size() * devicePixelRatioF()) paintDensity();
  painter.drawImage(0, 0, density_);
  const QRectF seen = frame();
  QColor veil = theme.color(Tone::Window);
  veil.setAlphaF(static_cast<float>(dimming));
  painter.fillRect(QRectF(0, 0, seen.left(), height()), veil);
  painter.fillRect(QRectF(seen.right(), 0, width() - seen.right(), height()), veil);
  if (document_.cursor()) {
    painter.fillRect(QRectF(std::floor(x(document_.cursor()->time)), 0, 1, height()),
                     theme.color(Tone::Cursor));
  }
  painter.setPen(
      QPen(theme.color(hasFocus() ? Tone::Selection : Tone::Text), hasFocus() ? 2 : 1.5));
  painter.drawRect(seen.adjusted(1, 1, -1, -1));
}

void OverviewStrip::resizeEvent(QResizeEvent* event) {
  density_ = {};
  QWidget::resizeEvent(event);
}

void OverviewStrip::moveTo(double place) {
  const TimeSpan seen = document_.visible();
  const TimeSpan reach = document_.reach();
  const s64 length = (seen.to - seen.from).value;
  const s64 latest = (reach.to - reach.from).value - length;
  const s64 middle = (time(place) - reach.from).value;
  const s64 from = std::clamp<s64>(middle - length / 2, 0, std::max<s64>(latest, 0));
  const TraceTime begin = reach.from + TraceDelta{from};
  document_.setVisible({begin, begin + TraceDelta{length}}, ViewStep::Continue);
}

void OverviewStrip::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || !document_.rowCount())
    return QWidget::mousePressEvent(event);
  document_.settleView();
  dragging_ = true;
  const QRectF seen = frame();
  const double place = event->position().x();
  grip_ = seen.contains(QPointF(place, 1)) ? place - seen.center().x() : 0;
  if (grip_ == 0) moveTo(place);
}

void OverviewStrip::mouseMoveEvent(QMouseEvent* event) {
  if (dragging_) moveTo(event->position().x() - grip_);
}

void OverviewStrip::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || !dragging_) return;
  dragging_ = false;
  document_.settleView();
}

void OverviewStrip::wheelEvent(QWheelEvent* event) {
  const double steps = event->angleDelta().y() / 120.0;
  if (steps == 0 || !document_.rowCount()) return event->ignore();
  document_.zoom(std::pow(0.8, steps), time(event->position().x()));
  event->accept();
}

void OverviewStrip::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Left:
      return document_.pan(-0.25);
    case Qt::Key_Right:
      return document_.pan(0.25);
    case Qt::Key_Plus:
      return document_.zoom(
          0.5, document_.visible().from +
                   TraceDelta{(document_.visible().to - document_.visible().from).value / 2});
    case Qt::Key_Minus:
      return document_.zoom(
          2, document_.visible().from +
                 TraceDelta{(document_.visible().to - document_.visible().from).value / 2});
    case Qt::Key_Home:
    case Qt::Key_0:
      return document_.showAll();
    default:
      QWidget::keyPressEvent(event);
  }
}

void OverviewStrip::focusInEvent(QFocusEvent* event) {
  update();
  QWidget::focusInEvent(event);
}

void OverviewStrip::focusOutEvent(QFocusEvent* event) {
  update();
  QWidget::focusOutEvent(event);
}

}  // namespace tickscope
