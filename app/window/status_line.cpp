// SPDX-License-Identifier: GPL-3.0-or-later
// Values of the status line and their painting.
#include "app/window/status_line.h"

#include <QPainter>
#include <algorithm>

#include "app/window/recording_notices.h"
#include "views/theme.h"
#include "views/time_label.h"

namespace tickscope {

namespace {

constexpr int sentenceMs = 6000;
constexpr int gap = 20;
constexpr int labelGap = 5;

QFont labelFont() { return Theme::application().font(Theme::Text::Lane); }
QFont valueFont() { return Theme::application().font(Theme::Text::Number); }

}  // namespace

StatusLine::StatusLine(Document& document, QWidget* parent) : QWidget(parent), document_(document) {
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  sentenceTimer_.setSingleShot(true);
  sentenceTimer_.setInterval(sentenceMs);
  connect(&sentenceTimer_, &QTimer::timeout, this, [this] {
    sentence_.clear();
    update();
  });
  connect(&document_, &Document::opened, this, [this] {
    const Buffer* const buffer = document_.buffer();
    const LossTotal total = buffer ? lossesOf(buffer->events) : LossTotal{};
    lossText_ = buffer ? lossWords(total) : QString();
    lossAlarm_ = total.gaps > 0;
    refresh();
  });
  for (const auto signal : {&Document::visibleChanged, &Document::cursorChanged,
                            &Document::selectionChanged, &Document::markersChanged}) {
    connect(&document_, signal, this, &StatusLine::refresh);
  }
  connect(&Theme::application(), &Theme::changed, this, [this] {
    updateGeometry();
    update();
  });
  refresh();
}

void StatusLine::say(const QString& sentence) {
  sentence_ = sentence;
  sentenceTimer_.start();
  update();
}

QSize StatusLine::sizeHint() const {
  return {400, std::max(22, QFontMetrics(labelFont()).height() + 6)};
}

void StatusLine::refresh() {
  fields_.clear();
  const Buffer* const buffer = document_.buffer();
  if (buffer) {
    const ClockUnit unit = buffer->clock.unit;
    const QString none = QStringLiteral("–");
    const QString behind = QLatin1Char(' ') + unitName(unit);
    const auto at = [&](const Known<TraceTime>& time) {
      return time ? timeInGroups(*time, unit) + behind : none;
    };
    const int digits =
        static_cast<int>(timeInGroups(document_.whole().to, unit).size() + behind.size());
    const Known<TraceTime>& a = document_.marker(Marker::A);
    const Known<TraceTime>& b = document_.marker(Marker::B);
    const Known<TimeSpan>& selected = document_.selection();
    const TimeSpan visible = document_.visible();
    fields_.push_back(
        {tr("Cursor"), document_.cursor() ? at(document_.cursor()->time) : none, digits, 0});
    fields_.push_back({tr("A"), at(a), digits, 3});
    fields_.push_back({tr("B"), at(b), digits, 3});
    fields_.push_back({tr("B−A"), a && b ? differenceWords(*b - *a, unit) : none, 14, 4});
    fields_.push_back({tr("Selection"),
                       selected ? differenceWords(selected->to - selected->from, unit) : none, 14,
                       5});
    fields_.push_back({tr("Visible"), differenceWords(visible.to - visible.from, unit), 14, 1});
    fields_.push_back({{}, lossText_, static_cast<int>(lossText_.size()), 0, lossAlarm_});
    const QString events = document_.rowCount() == 1
                               ? tr("1 event")
                               : tr("%1 events").arg(countText(document_.rowCount()));
    fields_.push_back({{}, events, static_cast<int>(events.size()), 2});
  }
  setAccessibleName(text());
  update();
}

QString StatusLine::text() const {
  QStringList parts;
  for (const Field& field : fields_) {
    parts.append(field.label.isEmpty() ? field.value
                                       : field.label + QLatin1Char(' ') + field.value);
  }
  return parts.join(QStringLiteral(" | "));
}

int StatusLine::widthOf(const Field& field) const {
  const QFontMetrics values(valueFont());
  const int room = std::max(values.horizontalAdvance(QLatin1Char('0')) * field.characters,
                            values.horizontalAdvance(field.value));
  const int label = field.label.isEmpty()
                        ? 0
                        : QFontMetrics(labelFont()).horizontalAdvance(field.label) + labelGap;
  return label + room;
}

void StatusLine::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::application();
  QPainter painter(this);
  painter.fillRect(rect(), theme.color(Tone::Window));
  painter.setPen(theme.color(Tone::Border));
  painter.drawLine(0, 0, width(), 0);
  const QRect inside = rect().adjusted(10, 1, -10, 0);
  if (!sentence_.isEmpty()) {
    painter.setFont(labelFont());
    painter.setPen(theme.color(Tone::Text));
    painter.drawText(inside, Qt::AlignLeft | Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(sentence_, Qt::ElideRight, inside.width()));
    return;
  }
  std::vector<const Field*> shown;
  int total = -gap;
  for (const Field& field : fields_) {
    shown.push_back(&field);
    total += widthOf(field) + gap;
  }
  while (total > inside.width() && shown.size() > 1) {
    const auto least =
        std::max_element(shown.rbegin(), shown.rend(),
                         [](const Field* a, const Field* b) { return a->rank < b->rank; });
    total -= widthOf(**least) + gap;
    shown.erase(std::next(least).base());
  }
  int x = inside.left();
  for (const Field* const field : shown) {
    const int width = widthOf(*field);
    QRect place(x, inside.top(), width, inside.height());
    if (!field->label.isEmpty()) {
      painter.setFont(labelFont());
      painter.setPen(theme.color(Tone::SecondText));
      painter.drawText(place, Qt::AlignLeft | Qt::AlignVCenter, field->label);
      place.setLeft(place.left() + painter.fontMetrics().horizontalAdvance(field->label) +
                    labelGap);
    }
    painter.setFont(field->label.isEmpty() ? labelFont() : valueFont());
    painter.setPen(theme.color(field->alarm ? Tone::LateText : Tone::Text));
    painter.drawText(place, Qt::AlignLeft | Qt::AlignVCenter, field->value);
    x += width + gap;
  }
}

}  // namespace tickscope
