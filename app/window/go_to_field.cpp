// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the field's text; its border says whether it leads anywhere.
#include "app/window/go_to_field.h"

#include <QKeyEvent>
#include <QPainter>
#include <QRegularExpression>

#include "views/theme.h"
#include "views/time_label.h"

namespace tickscope {

GoToField::GoToField(Document& document, QWidget* parent) : QLineEdit(parent), document_(document) {
  setPlaceholderText(tr("time or row 266"));
  setToolTip(tr("Go to a time, or to a row as “row 266” (Ctrl+G)."));
  setAccessibleName(tr("Go to"));
  setMaxLength(64);
  connect(this, &QLineEdit::returnPressed, this, &GoToField::go);
}

Known<GoToField::Target> GoToField::target(const QString& text, QString& why) const {
  const Buffer* const buffer = document_.buffer();
  if (!buffer || document_.rowCount() == 0) {
    why = tr("There are no events.");
    return {};
  }
  static const QRegularExpression rowPattern(QStringLiteral("^\\s*(?:row\\s*|#)([0-9]+)\\s*$"),
                                             QRegularExpression::CaseInsensitiveOption);
  if (const QRegularExpressionMatch match = rowPattern.match(text); match.hasMatch()) {
    bool fits = false;
    const quint64 row = match.captured(1).toULongLong(&fits);
    if (!fits || row >= document_.rowCount()) {
      why = tr("The last row is %1.").arg(document_.rowCount() - 1);
      return {};
    }
    return Target{Row{static_cast<u32>(row)}, {}};
  }
  const Known<TraceTime> time = readTime(text, buffer->clock.unit);
  if (!time) {
    why = tr("This is neither a time nor a row.");
    return {};
  }
  if (*time < document_.reach().from || *time > document_.reach().to) {
    why = tr("The recording is from %1 to %2.")
              .arg(timeInGroups(document_.whole().from, buffer->clock.unit),
                   timeInGroups(document_.whole().to, buffer->clock.unit));
    return {};
  }
  return Target{{}, time};
}

void GoToField::go() {
  QString why;
  const Known<Target> to = target(text(), why);
  if (!to) {
    emit notice(why);
    return;
  }
  if (to->row) {
    document_.setCursor(*to->row);
  } else {
    document_.setCursor(*to->time);
  }
  document_.reveal(document_.cursor()->time);
  emit went();
}

void GoToField::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) {
    clear();
    emit went();
    return;
  }
  QLineEdit::keyPressEvent(event);
}

void GoToField::paintEvent(QPaintEvent* event) {
  QLineEdit::paintEvent(event);
  if (text().isEmpty()) return;
  QString why;
  if (target(text(), why)) return;
  QPainter painter(this);
  painter.setPen(Theme::application().color(Tone::S1));
  painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

}  // namespace tickscope
