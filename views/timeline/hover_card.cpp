// SPDX-License-Identifier: GPL-3.0-or-later
// Composes and paints the card.
#include "views/timeline/hover_card.h"

#include <QFontMetricsF>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "core/timeline/lane_builder.h"
#include "core/timeline/model_lanes.h"
#include "core/timeline/scene_words.h"
#include "core/trace/event_text.h"
#include "views/document.h"
#include "views/theme.h"
#include "views/time_label.h"

namespace tickscope {

namespace {

constexpr int cardWidth = 326;
constexpr int margin = 10;
constexpr int offPointer = 12;
constexpr std::size_t mostLines = 9;
constexpr double reach = 4;

SceneNames namesOf(const EventText& text) {
  SceneNames names;
  names.task = [&text](Pid pid) { return text.comm(pid); };
  names.symbol = [&text](Address address) { return text.symbol(address); };
  return names;
}

/// `field=value` parts of an event's text, as far as lines are left.
void addFields(CardText& card, const EventText& text, Row row) {
  for (const FieldValue& field : text.fields(row)) {
    if (card.lines.size() >= mostLines) return;
    QString value = HoverCard::tr("unknown");
    if (const auto* number = std::get_if<u64>(&field.value)) {
      value = field.address ? QString::fromStdString(text.symbol(Address{*number}))
                            : QString::number(*number);
    } else if (const auto* whole = std::get_if<s64>(&field.value)) {
      value = QString::number(*whole);
    } else if (const auto* words = std::get_if<std::string>(&field.value)) {
      value = QString::fromStdString(*words);
    }
    card.lines.emplace_back(QString::fromStdString(field.name), value);
  }
}

QString unitTime(TraceTime time, ClockUnit unit) { return timeInGroups(time, unit); }

}  // namespace

CardText cardOfRow(const Document& document, Row row) {
  CardText card;
  const Buffer* const buffer = document.buffer();
  if (!buffer || number(row) >= buffer->events.size()) return card;
  const EventText text(*document.recording(), *buffer);
  card.title = QString::fromUtf8(text.eventName(row).data(),
                                 static_cast<qsizetype>(text.eventName(row).size()));
  card.corner = HoverCard::tr("row %1").arg(countText(number(row)));
  card.lines.emplace_back(HoverCard::tr("CPU%1").arg(number(buffer->events.cpu(row))),
                          unitTime(buffer->events.time(row), buffer->clock.unit));
  const Pid pid = buffer->events.pid(row);
  card.lines.emplace_back(
      HoverCard::tr("task"),
      QStringLiteral("%1-%2").arg(QString::fromStdString(text.comm(pid))).arg(number(pid)));
  addFields(card, text, row);
  return card;
}

CardText cardOfPlace(const Document& document, const TrackLane& at, const ViewWindow& window,
                     double x, Known<SpanId> armed) {
  const auto& timeline = document.timeline();
  const Buffer* const buffer = document.buffer();
  if (!timeline || !buffer || at.track >= timeline->tracks.size()) return {};
  const CpuTrack& track = timeline->tracks[at.track];
  const Lane& lane = track.lanes[number(at.lane)];
  const Picked picked = pickAt(*timeline, track, lane, window, x, reach);
  const ClockUnit unit = buffer->clock.unit;
  const bool durations = unit != ClockUnit::Events && unit != ClockUnit::Unknown;
  if (picked.counted > 1) {
    CardText card;
    card.title = HoverCard::tr("%1 events that count").arg(countText(picked.counted));
    card.corner =
        QString::fromUtf8(nameOf(at.lane).data(), static_cast<qsizetype>(nameOf(at.lane).size()));
    card.lines.emplace_back(HoverCard::tr("from"), unitTime(timeline->absolute(picked.from), unit));
    card.lines.emplace_back(HoverCard::tr("to"), unitTime(timeline->absolute(picked.to), unit));
    card.lines.emplace_back(HoverCard::tr("length"),
                            differenceWords({picked.to - picked.from}, unit));
    if (isLaneOfTime(at.lane) && durations) {
      const double share =
          static_cast<double>(picked.busy) / static_cast<double>(picked.to - picked.from);
      card.lines.emplace_back(HoverCard::tr("busy"),
                              QStringLiteral("%1 · %2 %")
                                  .arg(differenceWords({static_cast<s64>(picked.busy)}, unit))
                                  .arg(std::min(100.0, share * 100), 0, 'f', 1));
    }
    if (picked.event) {
      card.lines.emplace_back(HoverCard::tr("nearest"),
                              HoverCard::tr("row %1").arg(countText(number(*picked.event))));
    }
    return card;
  }
  if (picked.event) {
    const Known<SpanId> its = document.modelLanes() && !isLaneOfTime(at.lane)
                                  ? document.modelLanes()->spanOfRow(*picked.event)
                                  : Known<SpanId>();
    return its ? cardOfArmed(document, *its) : cardOfRow(document, *picked.event);
  }
  if (!picked.span) {
    if (armed) return cardOfArmed(document, *armed);
    if (at.lane == LaneKind::Programming)
      return cardOfStepLine(
          document, at.track,
          timeline->absolute(window.timeOfColumn(static_cast<s32>(x * window.ratio))));
    return {};
  }
  const LaneSpan& span = *picked.span;
  const EventText text(*document.recording(), *buffer);
  CardText card;
  const bool previous = at.lane == LaneKind::Task && !span.beginKnown;
  card.title = QString::fromStdString(nameOfRow(buffer->events, namesOf(text), span.row, previous));
  card.corner = HoverCard::tr("row %1").arg(countText(number(span.row)));
  card.lines.emplace_back(span.beginKnown ? HoverCard::tr("from") : HoverCard::tr("seen from"),
                          unitTime(timeline->absolute(span.from), unit));
  card.lines.emplace_back(span.endKnown ? HoverCard::tr("to") : HoverCard::tr("at least to"),
                          unitTime(timeline->absolute(span.to), unit));
  if (durations) {
    const bool exact = span.beginKnown && span.endKnown;
    card.lines.emplace_back(exact ? HoverCard::tr("length") : HoverCard::tr("length, at least"),
                            differenceWords({span.to - span.from}, unit));
  }
  return card;
}

HoverCard::HoverCard(QWidget* parent) : QFrame(parent) {
  setAttribute(Qt::WA_TransparentForMouseEvents);
  setFocusPolicy(Qt::NoFocus);
  setAccessibleName(tr("Details"));
  hide();
}

int HoverCard::lineHeight() const {
  return static_cast<int>(
             std::ceil(QFontMetricsF(Theme::application().font(Theme::Text::Lane)).height())) +
         2;
}

void HoverCard::present(const CardText& text, QPoint at, int laneTop, int laneBottom) {
  if (text.empty() || !parentWidget()) return hide();
  text_ = text;
  QString words = text.title + QLatin1Char(' ') + text.corner;
  for (const auto& [what, figure] : text.lines)
    words += QStringLiteral("; %1: %2").arg(what, figure);
  setAccessibleDescription(words);
  const int wide = static_cast<int>(cardWidth * Theme::application().textScale());
  const int tall = lineHeight() * static_cast<int>(text.lines.size() + 1) + margin + 6;
  const QRect room = parentWidget()->rect();
  int x = at.x() + offPointer;
  if (x + wide > room.right()) x = at.x() - offPointer - wide;
  int y = laneBottom + offPointer;
  if (y + tall > room.bottom()) y = laneTop - offPointer - tall;
  x = std::clamp(x, 0, std::max(0, room.width() - wide));
  y = std::clamp(y, 0, std::max(0, room.height() - tall));
  setGeometry(x, y, wide, tall);
  show();
  raise();
  update();
}

void HoverCard::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::application();
  QPainter painter(this);
  painter.fillRect(rect(), theme.color(Tone::Panel));
  painter.setPen(theme.color(Tone::SecondText));
  painter.drawRect(rect().adjusted(0, 0, -1, -1));
  const double room = width() - 2 * margin;
  const int line = lineHeight();
  int y = 5;
  QFont bold = theme.font(Theme::Text::Lane);
  bold.setBold(true);
  painter.setFont(theme.font(Theme::Text::Lane));
  const double corner = QFontMetricsF(painter.font()).horizontalAdvance(text_.corner);
  painter.setPen(theme.color(Tone::SecondText));
  painter.drawText(QRectF(margin, y, room, line), Qt::AlignRight | Qt::AlignVCenter, text_.corner);
  painter.setFont(bold);
  painter.setPen(theme.color(Tone::Text));
  painter.drawText(QRectF(margin, y, room, line), Qt::AlignLeft | Qt::AlignVCenter,
                   QFontMetricsF(bold).elidedText(text_.title, Qt::ElideRight, room - corner - 8));
  y += line;
  const QFont lane = theme.font(Theme::Text::Lane);
  const QFont numbers = theme.font(Theme::Text::Number);
  for (const auto& [what, figure] : text_.lines) {
    painter.setFont(lane);
    painter.setPen(theme.color(Tone::SecondText));
    const double left = std::min(QFontMetricsF(lane).horizontalAdvance(what), room * 0.45);
    painter.drawText(QRectF(margin, y, left + 1, line), Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetricsF(lane).elidedText(what, Qt::ElideRight, left + 1));
    painter.setFont(numbers);
    painter.setPen(theme.color(Tone::Text));
    painter.drawText(QRectF(margin + left + 8, y, room - left - 8, line),
                     Qt::AlignRight | Qt::AlignVCenter,
                     QFontMetricsF(numbers).elidedText(figure, Qt::ElideMiddle, room - left - 8));
    y += line;
  }
}

}  // namespace tickscope
