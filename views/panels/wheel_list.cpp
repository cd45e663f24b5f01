// SPDX-License-Identifier: GPL-3.0-or-later
// Columns of the list of wheel timers; narrow panels show those that cannot be read off the grid.
#include "views/panels/wheel_list.h"

#include <QFontMetricsF>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "views/theme.h"
#include "views/time_label.h"

namespace tickscope {

namespace {

constexpr int margin = 6, between = 10, leastCallback = 150;

}  // namespace

WheelList::WheelList(QWidget* parent) : LineList(parent) {
  setAccessibleName(tr("Timers of the wheel base"));
}

void WheelList::setTimers(std::vector<WheelTimerView> timers, u64 more) {
  timers_ = std::move(timers);
  more_ = more;
  const Theme& theme = Theme::application();
  const QFontMetricsF numbers(theme.font(Theme::Text::Number));
  QFont boldFont = theme.font(Theme::Text::Number);
  boldFont.setBold(true);
  const QFontMetricsF bold(boldFont), body(theme.font(Theme::Text::Body)),
      lane(theme.font(Theme::Text::Lane));
  const auto fit = [&](Column column, const QFontMetricsF& font, const QString& text) {
    wanted_[column] =
        std::max(wanted_[column], static_cast<int>(std::ceil(font.horizontalAdvance(text))));
  };
  wanted_ = {};
  fit(BucketName, lane, tr("bucket"));
  fit(Callback, lane, tr("callback"));
  fit(Expires, lane, tr("expires"));
  fit(BucketExpiry, lane, tr("bucket expiry"));
  fit(ToClk, lane, tr("to clk"));
  fit(ArmedBy, lane, tr("armed by"));
  for (const WheelTimerView& timer : timers_) {
    fit(BucketName, numbers, bucketName(timer.bucket));
    fit(Callback, body, timer.callback);
    fit(Expires, numbers, timer.expires);
    fit(BucketExpiry, numbers, timer.bucketExpiry);
    fit(ToClk, bold, timer.toClk);
    fit(ArmedBy, body, timer.armedBy);
  }
  linesChanged();
}

void WheelList::showBucket(u16 bucket) {
  const auto at = std::ranges::find_if(
      timers_, [&](const WheelTimerView& timer) { return timer.bucket == bucket; });
  if (at != timers_.end()) setCurrent(static_cast<int>(at - timers_.begin()));
}

QString WheelList::lineWords(int line) const {
  const WheelTimerView& timer = timers_[static_cast<std::size_t>(line)];
  return tr("%1 in bucket %2\ntimer %3\nexpires %4 (jiffies)\nbucket expiry %5, %6\narmed by %7%8")
      .arg(timer.callback, bucketName(timer.bucket), timer.address, timer.expires,
           timer.bucketExpiry, timer.toClk, timer.armedBy,
           timer.armed ? tr(" in row %1").arg(countText(number(*timer.armed))) : QString());
}

int WheelList::heightAbove() const { return timers_.empty() ? 0 : lineHeight(); }
int WheelList::heightBelow() const { return more_ ? lineHeight() : 0; }

std::array<WheelList::Place, WheelList::ColumnCount> WheelList::columns() const {
  std::array<Place, ColumnCount> places{};
  // In the order in which they give way to a narrow panel.
  std::array<bool, ColumnCount> shown{true, true, true, true, true, true};
  const auto needed = [&] {
    int sum = 2 * margin;
    for (int c = 0; c < ColumnCount; ++c) {
      const auto column = static_cast<std::size_t>(c);
      if (shown[column])
        sum +=
            between + (c == Callback ? std::min(wanted_[column], leastCallback) : wanted_[column]);
    }
    return sum - between;
  };
  for (const Column column : {ArmedBy, Expires, BucketExpiry}) {
    if (needed() > width()) shown[column] = false;
  }
  const int spare = width() - needed();  // below 0 the callback gives way
  int x = margin;
  for (int c = 0; c < ColumnCount; ++c) {
    const auto column = static_cast<std::size_t>(c);
    if (!shown[column]) continue;
    int wide = wanted_[column];
    // The callback gets what is left, but not more than it needs; then the last columns move to the right.
    if (c == Callback) wide = std::max(1, std::min(wide, leastCallback) + spare);
    places[column] = {x, wide};
    x += wide + between;
  }
  return places;
}

void WheelList::paintLine(QPainter& painter, int line, QRect rect) {
  const Theme& theme = Theme::application();
  const WheelTimerView& timer = timers_[static_cast<std::size_t>(line)];
  if (timer.overdue && line != current()) painter.fillRect(rect, theme.color(Tone::LateTint));
  const auto places = columns();
  const auto cell = [&](Column column, const QString& text, Theme::Text font, bool right, Tone tone,
                        bool bold = false) {
    const Place& place = places[column];
    if (!place.width) return;
    QFont chosen = theme.font(font);
    chosen.setBold(bold);
    painter.setFont(chosen);
    painter.setPen(theme.color(tone));
    painter.drawText(QRect(place.left, rect.top(), place.width, rect.height()),
                     (right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter,
                     QFontMetricsF(chosen).elidedText(text, Qt::ElideMiddle, place.width + 1));
  };
  cell(BucketName, bucketName(timer.bucket), Theme::Text::Number, false, Tone::Text);
  cell(Callback, timer.callback, Theme::Text::Body, false, Tone::Text);
  cell(Expires, timer.expires, Theme::Text::Number, true, Tone::Text);
  cell(BucketExpiry, timer.bucketExpiry, Theme::Text::Number, true, Tone::Text);
  cell(ToClk, timer.toClk, Theme::Text::Number, true, Tone::Text, timer.overdue);
  cell(ArmedBy, timer.armedBy, Theme::Text::Body, false, Tone::SecondText);
}

void WheelList::paintOver(QPainter& painter, QRect) {
  if (timers_.empty()) return;
  const Theme& theme = Theme::application();
  painter.setFont(theme.font(Theme::Text::Lane));
  painter.setPen(theme.color(Tone::SecondText));
  const auto places = columns();
  const auto head = [&](Column column, const QString& text, bool right) {
    const Place& place = places[column];
    if (place.width)
      painter.drawText(QRect(place.left, 0, place.width, heightAbove()),
                       (right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter, text);
  };
  head(BucketName, tr("bucket"), false);
  head(Callback, tr("callback"), false);
  head(Expires, tr("expires"), true);
  head(BucketExpiry, tr("bucket expiry"), true);
  head(ToClk, tr("to clk"), true);
  head(ArmedBy, tr("armed by"), false);
  painter.fillRect(QRect(0, heightAbove() - 1, width(), 1), theme.color(Tone::GridMajor));
  if (more_)
    painter.drawText(QRect(margin, lineRect(lineCount()).top(), width() - margin, heightBelow()),
                     Qt::AlignLeft | Qt::AlignVCenter,
                     tr("and %1 more, due later").arg(countText(more_)));
}

}  // namespace tickscope
