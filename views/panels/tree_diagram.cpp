// SPDX-License-Identifier: GPL-3.0-or-later
// Paints nodes, connectors and the bars from softexpires to expires.
#include "views/panels/tree_diagram.h"

#include <QFontMetricsF>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "views/theme.h"
#include "views/time_label.h"

namespace tickscope {

namespace {

constexpr int node = 20;  // height of a line
constexpr double radius = 3.5;
constexpr int margin = 10, between = 8;
constexpr double mostIndent = 16, indentInAll = 96;
constexpr int leastBar = 60, mostBar = 400, mostName = 170;

}  // namespace

TreeDiagram::TreeDiagram(QWidget* parent) : LineList(parent) {
  setAccessibleName(tr("hrtimers in order of expiry"));
}

void TreeDiagram::setTree(TreeView tree) {
  tree_ = std::move(tree);
  deepest_ = 0;
  scaled_ = false;
  dueWidth_ = nameWidth_ = 0;
  const QFontMetricsF numbers(Theme::application().font(Theme::Text::Number));
  std::vector<s64> ends;
  from_ = 0;
  for (const TreeNodeView& timer : tree_.nodes) {
    deepest_ = std::max(deepest_, timer.depth);
    dueWidth_ =
        std::max(dueWidth_, static_cast<int>(std::ceil(numbers.horizontalAdvance(timer.due))));
    QFont font = Theme::application().font(Theme::Text::Body);
    font.setBold(&timer == tree_.nodes.data());
    const double name = std::ceil(QFontMetricsF(font).horizontalAdvance(timer.callback));
    nameWidth_ = std::max(nameWidth_, static_cast<int>(timer.depth * mostIndent) +
                                          std::min(static_cast<int>(name), mostName));
    if (!timer.toHard || !timer.fromSoft) continue;
    ends.push_back(*timer.toHard);
    from_ = std::min(from_, *timer.fromSoft);
  }
  if (!ends.empty()) {
    // A few timers hours ahead must not press all others into one pixel.
    const auto fifth = static_cast<std::ptrdiff_t>((ends.size() - 1) * 4 / 5);
    std::ranges::nth_element(ends, ends.begin() + fifth);
    const s64 far = std::clamp<s64>(ends[static_cast<std::size_t>(fifth)], 1, s64{1} << 60);
    from_ = std::max(from_, -far);
    to_ = far + far / 8 + 1;
    // The instant stands a little inside, so that its line is seen.
    from_ = std::min(from_, -(to_ / 12) - 1);
    scaled_ = true;
  }
  linesChanged();
}

int TreeDiagram::lineHeight() const {
  return static_cast<int>(std::ceil(node * Theme::application().textScale()));
}
int TreeDiagram::heightBelow() const { return restWords().isEmpty() ? 0 : lineHeight(); }

QString TreeDiagram::restWords() const {
  QStringList rest;
  if (tree_.more) rest.append(tr("%1 more, due later").arg(countText(tree_.more)));
  if (tree_.timesUnknown)
    rest.append(tr("%1 armed for an unknown time").arg(countText(tree_.timesUnknown)));
  return rest.join(QStringLiteral(" · "));
}

double TreeDiagram::indent() const {
  if (deepest_ == 0) return mostIndent;
  return std::min(mostIndent, indentInAll / deepest_);
}

TreeDiagram::Columns TreeDiagram::columns() const {
  const QFontMetricsF sub(Theme::application().font(Theme::Text::Sub));
  Columns at{};
  at.kind = static_cast<int>(
      std::ceil(std::max(sub.horizontalAdvance(tr("hard")), sub.horizontalAdvance(tr("soft")))));
  at.due = dueWidth_;
  // Bars are for the eye, names are to be read: these come first.
  const int name = static_cast<int>(std::ceil(margin + radius + between + nameWidth_)) + 1;
  const int spare = width() - margin - at.kind - between - at.due - between - name - between;
  if (scaled_ && spare >= leastBar) at.bar = std::min(spare, std::min(mostBar, width() * 2 / 5));
  at.kindLeft = width() - margin - at.kind;
  at.barLeft = at.kindLeft - between - at.bar;
  at.dueLeft = (at.bar ? at.barLeft - between : at.kindLeft - between) - at.due;
  return at;
}

QPointF TreeDiagram::nodeAt(int line) const {
  const u32 depth = tree_.nodes[static_cast<std::size_t>(line)].depth;
  return {margin + depth * indent(), lineRect(line).top() + lineHeight() / 2.0};
}

double TreeDiagram::placeOf(s64 ns) const {
  return (static_cast<double>(ns) - static_cast<double>(from_)) /
         (static_cast<double>(to_) - static_cast<double>(from_));
}

QString TreeDiagram::lineWords(int line) const {
  const TreeNodeView& timer = tree_.nodes[static_cast<std::size_t>(line)];
  QString words =
      tr("%1, %2\ntimer %3\nsoftexpires %4\nexpires %5")
          .arg(timer.callback,
               timer.soft ? tr("soft: runs in the softirq") : tr("hard: runs in the interrupt"),
               timer.address, timer.softExpires, timer.expires);
  if (timer.toHard)
    words += QStringLiteral(", ") + differenceWords({*timer.toHard}, ClockUnit::Nanoseconds);
  words += tr("\narmed by %1").arg(timer.armedBy);
  if (timer.armed) words += tr(" in row %1").arg(countText(number(*timer.armed)));
  if (line == 0) words += tr("\nleftmost: expires first");
  if (timer.fromSoft && *timer.fromSoft <= 0) words += tr("\nmay run now");
  return words;
}

void TreeDiagram::paintLine(QPainter& painter, int line, QRect rect) {
  const Theme& theme = Theme::application();
  const TreeNodeView& timer = tree_.nodes[static_cast<std::size_t>(line)];
  const Columns at = columns();
  QFont body = theme.font(Theme::Text::Body);
  body.setBold(line == 0);
  painter.setFont(body);
  painter.setPen(theme.color(Tone::Text));
  const double left = nodeAt(line).x() + radius + between;
  const double room = at.dueLeft - between - left;
  painter.drawText(QRectF(left, rect.top(), room, rect.height()), Qt::AlignLeft | Qt::AlignVCenter,
                   QFontMetricsF(body).elidedText(timer.callback, Qt::ElideMiddle, room));
  painter.setFont(theme.font(Theme::Text::Number));
  const bool late = timer.toHard && *timer.toHard < 0;
  painter.setPen(theme.color(late ? Tone::LateText : Tone::Text));
  painter.drawText(QRect(at.dueLeft, rect.top(), at.due, rect.height()),
                   Qt::AlignRight | Qt::AlignVCenter, timer.due);
  painter.setFont(theme.font(Theme::Text::Sub));
  painter.setPen(theme.color(Tone::SecondText));
  painter.drawText(QRect(at.kindLeft, rect.top(), at.kind, rect.height()),
                   Qt::AlignRight | Qt::AlignVCenter, timer.soft ? tr("soft") : tr("hard"));
  if (at.bar) paintBar(painter, timer, rect, at);
}

void TreeDiagram::paintBar(QPainter& painter, const TreeNodeView& timer, QRect rect,
                           const Columns& at) const {
  const Theme& theme = Theme::application();
  const double middle = rect.top() + rect.height() / 2.0;
  const auto x = [&](s64 ns) {
    return std::round(at.barLeft + std::clamp(placeOf(ns), 0.0, 1.0) * at.bar);
  };
  painter.fillRect(QRectF(at.barLeft, std::floor(middle), at.bar, 1), theme.color(Tone::GridMajor));
  if (!timer.toHard || !timer.fromSoft) return;
  const double soft = x(*timer.fromSoft);
  const double hard = x(*timer.toHard);
  const double now = x(0);
  const Tone ink = timer.soft ? Tone::HrtimerSoft : Tone::Hrtimer;
  if (hard - soft >= 1) {
    const QRectF bar(soft, std::floor(middle) - 4, hard - soft, 8);
    painter.fillRect(bar, theme.color(timer.soft ? Tone::HrtimerSoftTint : Tone::HrtimerTint));
    painter.setPen(theme.color(ink));
    painter.drawRect(bar.adjusted(0, 0, -1, -1));
    // What lies before the instant may run now.
    if (now > soft)
      painter.fillRect(QRectF(soft, bar.top(), std::min(now, hard) - soft, 8), theme.color(ink));
  }
  if (placeOf(*timer.toHard) <= 1) {
    painter.fillRect(QRectF(hard - 1, std::floor(middle) - 6, 2, 12), theme.color(Tone::Due));
    return;
  }
  // Behind the scale: an open arrow.
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme.color(Tone::Due), 1.5));
  const double tip = at.barLeft + at.bar;
  const QPointF arrow[] = {{tip - 5, middle - 4}, {tip - 1, middle}, {tip - 5, middle + 4}};
  painter.drawPolyline(arrow, 3);
  painter.setRenderHint(QPainter::Antialiasing, false);
}

void TreeDiagram::paintOver(QPainter& painter, QRect dirty) {
  const Theme& theme = Theme::application();
  painter.setRenderHint(QPainter::Antialiasing, false);
  painter.setPen(theme.color(Tone::SecondText));
  for (int line = 0; line < lineCount(); ++line) {
    const TreeNodeView& timer = tree_.nodes[static_cast<std::size_t>(line)];
    const QPointF at = nodeAt(line);
    if (timer.parent < 0) {
      if (timer.depth == 0) continue;
      // Its parent expires later than all that is drawn.
      painter.setPen(QPen(theme.color(Tone::SecondText), 1, Qt::DotLine));
      painter.drawLine(at, {at.x() - indent(), at.y()});
      painter.setPen(theme.color(Tone::SecondText));
      continue;
    }
    const QPointF above = nodeAt(timer.parent);
    const QRectF reach(QPointF(above.x(), std::min(at.y(), above.y())),
                       QPointF(at.x(), std::max(at.y(), above.y())));
    if (reach.bottom() < dirty.top() || reach.top() > dirty.bottom()) continue;
    painter.drawLine(above, {above.x(), at.y()});
    painter.drawLine(QPointF(above.x(), at.y()), at);
  }
  painter.setRenderHint(QPainter::Antialiasing);
  for (int line = 0; line < lineCount(); ++line) {
    if (!lineRect(line).intersects(dirty)) continue;
    const bool red = tree_.nodes[static_cast<std::size_t>(line)].red;
    painter.setPen(QPen(theme.color(Tone::Text), 1.2));
    painter.setBrush(theme.color(red ? Tone::Panel : Tone::Text));
    painter.drawEllipse(nodeAt(line), radius, radius);
  }
  painter.setBrush(Qt::NoBrush);
  painter.setRenderHint(QPainter::Antialiasing, false);
  const Columns at = columns();
  if (at.bar) {
    const double now = std::round(at.barLeft + placeOf(0) * at.bar) + 0.5;
    painter.setPen(QPen(theme.color(Tone::Cursor), 1, Qt::DotLine));
    painter.drawLine(QPointF(now, 0), QPointF(now, lineCount() * lineHeight()));
  }
  if (const QString rest = restWords(); !rest.isEmpty()) {
    painter.setFont(theme.font(Theme::Text::Lane));
    painter.setPen(theme.color(Tone::SecondText));
    painter.drawText(QRect(margin, lineRect(lineCount()).top(), width() - margin, lineHeight()),
                     Qt::AlignLeft | Qt::AlignVCenter, rest);
  }
}

}  // namespace tickscope
