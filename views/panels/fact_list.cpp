// SPDX-License-Identifier: GPL-3.0-or-later
// Lays names and values out for a width, and paints them.
#include "views/panels/fact_list.h"

#include <QFontMetrics>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "views/theme.h"

namespace tickscope {

namespace {

constexpr int margin = 6, between = 10;

QFont valueFont(const StateFact& fact) {
  // A sentence is read, not compared digit by digit.
  return Theme::application().font(fact.known ? Theme::Text::Number : Theme::Text::Lane);
}

}  // namespace

FactList::FactList(QWidget* parent) : QWidget(parent) {
  QSizePolicy policy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  connect(&Theme::application(), &Theme::changed, this, [this] {
    updateGeometry();
    update();
  });
}

void FactList::setFacts(std::vector<StateFact> facts) {
  facts_ = std::move(facts);
  QStringList words;
  for (const StateFact& fact : facts_)
    words.append(QStringLiteral("%1: %2").arg(fact.name, fact.value));
  setAccessibleDescription(words.join(QStringLiteral("; ")));
  updateGeometry();
  update();
}

QString FactList::value(const QString& name) const {
  for (const StateFact& fact : facts_) {
    if (fact.name == name) return fact.value;
  }
  return {};
}

int FactList::lineHeight() const {
  return static_cast<int>(std::ceil(19 * Theme::application().textScale()));
}

std::vector<FactList::Line> FactList::layOut(int width, int& height) const {
  const QFontMetrics names(Theme::application().font(Theme::Text::Body));
  const int room = std::max(1, width - 2 * margin);
  std::vector<Line> lines;
  int y = 0;
  for (const StateFact& fact : facts_) {
    const QFontMetrics values(valueFont(fact));
    const int name = names.horizontalAdvance(fact.name);
    const int value = values.horizontalAdvance(fact.value) + 1;
    if (name + between + value <= room) {
      lines.push_back({QRect(margin, y, name + 1, lineHeight()),
                       QRect(margin + room - value, y, value, lineHeight())});
      y += lineHeight();
      continue;
    }
    lines.push_back({QRect(margin, y, room, lineHeight()), {}});
    y += lineHeight() - 2;
    const QRect below = values.boundingRect(QRect(0, 0, room, 1 << 16),
                                            Qt::AlignRight | Qt::TextWordWrap, fact.value);
    lines.back().value = QRect(margin, y, room, below.height());
    y += below.height() + 3;
  }
  height = y;
  return lines;
}

int FactList::heightForWidth(int width) const {
  int height = 0;
  (void)layOut(width, height);
  return height;
}

QSize FactList::sizeHint() const { return {320, heightForWidth(320)}; }
QSize FactList::minimumSizeHint() const { return {0, heightForWidth(std::max(width(), 200))}; }

void FactList::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::application();
  QPainter painter(this);
  int height = 0;
  const std::vector<Line> lines = layOut(width(), height);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    painter.setFont(theme.font(Theme::Text::Body));
    painter.setPen(theme.color(Tone::SecondText));
    painter.drawText(lines[i].name, Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetrics(painter.font())
                         .elidedText(facts_[i].name, Qt::ElideRight, lines[i].name.width()));
    painter.setFont(valueFont(facts_[i]));
    painter.setPen(theme.color(facts_[i].known ? Tone::Text : Tone::SecondText));
    painter.drawText(lines[i].value, Qt::AlignRight | Qt::AlignVCenter | Qt::TextWordWrap,
                     facts_[i].value);
  }
}

}  // namespace tickscope
