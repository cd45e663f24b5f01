// SPDX-License-Identifier: GPL-3.0-or-later
// Keys, pointer and grounds of the lines.
#include "views/panels/line_list.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "views/theme.h"

namespace tickscope {

LineList::LineList(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  connect(&Theme::application(), &Theme::changed, this, [this] {
    updateGeometry();
    update();
  });
}

int LineList::lineHeight() const {
  return static_cast<int>(std::ceil(19 * Theme::application().textScale()));
}

QSize LineList::sizeHint() const {
  return {200, heightAbove() + lineCount() * lineHeight() + heightBelow()};
}

QRect LineList::lineRect(int line) const {
  return QRect(0, heightAbove() + line * lineHeight(), width(), lineHeight());
}

int LineList::lineAt(QPoint at) const {
  if (at.y() < heightAbove()) return -1;
  const int line = (at.y() - heightAbove()) / lineHeight();
  return line < lineCount() ? line : -1;
}

void LineList::setCurrent(int line) {
  if (line < -1 || line >= lineCount()) return;
  if (line >= 0) emit wantsVisible(lineRect(line));
  if (line == current_) return;
  current_ = line;
  setAccessibleDescription(line >= 0 ? lineWords(line) : QString());
  update();
  emit currentChanged(line);
}

void LineList::linesChanged() {
  hovered_ = -1;
  if (current_ >= lineCount()) current_ = -1;
  updateGeometry();
  update();
}

bool LineList::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* const help = static_cast<QHelpEvent*>(event);
  const int line = lineAt(help->pos());
  if (line < 0) {
    QToolTip::hideText();
  } else {
    QToolTip::showText(help->globalPos(), lineWords(line), this, lineRect(line));
  }
  return true;
}

void LineList::paintEvent(QPaintEvent* event) {
  const Theme& theme = Theme::application();
  QPainter painter(this);
  const QRect dirty = event->rect();
  const int first = std::max(0, (dirty.top() - heightAbove()) / lineHeight());
  const int last = std::min(lineCount() - 1, (dirty.bottom() - heightAbove()) / lineHeight());
  for (int line = first; line <= last; ++line) {
    const QRect rect = lineRect(line);
    if (line == current_) {
      painter.fillRect(rect, theme.color(Tone::SelectedRow));
    } else if (line == hovered_) {
      painter.fillRect(rect, theme.color(Tone::RowUnderPointer));
    }
    paintLine(painter, line, rect);
    if (line == current_)
      painter.fillRect(QRect(rect.left(), rect.top(), 3, rect.height()),
                       theme.color(Tone::Selection));
  }
  paintOver(painter, dirty);
  if (hasFocus()) {
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme.color(Tone::Selection), 1));
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
  }
}

void LineList::keyPressEvent(QKeyEvent* event) {
  const int count = lineCount();
  const int page = 10;
  int to = current_;
  switch (event->key()) {
    case Qt::Key_Up:
      to = current_ > 0 ? current_ - 1 : 0;
      break;
    case Qt::Key_Down:
      to = current_ + 1;
      break;
    case Qt::Key_PageUp:
      to = current_ - page;
      break;
    case Qt::Key_PageDown:
      to = current_ + page;
      break;
    case Qt::Key_Home:
      to = 0;
      break;
    case Qt::Key_End:
      to = count - 1;
      break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (current_ >= 0) emit activated(current_);
      return;
    default:
      QWidget::keyPressEvent(event);
      return;
  }
  if (count) setCurrent(std::clamp(to, 0, count - 1));
}

void LineList::mousePressEvent(QMouseEvent* event) {
  const int line = lineAt(event->position().toPoint());
  if (event->button() == Qt::LeftButton && line >= 0) setCurrent(line);
}

void LineList::mouseDoubleClickEvent(QMouseEvent* event) {
  const int line = lineAt(event->position().toPoint());
  if (event->button() == Qt::LeftButton && line >= 0) emit activated(line);
}

void LineList::mouseMoveEvent(QMouseEvent* event) {
  const int line = lineAt(event->position().toPoint());
  if (line == hovered_) return;
  hovered_ = line;
  update();
}

void LineList::leaveEvent(QEvent* event) {
  hovered_ = -1;
  update();
  QWidget::leaveEvent(event);
}

void LineList::focusInEvent(QFocusEvent* event) {
  if (current_ < 0 && lineCount() && event->reason() != Qt::MouseFocusReason) setCurrent(0);
  QWidget::focusInEvent(event);
}

void LineList::focusOutEvent(QFocusEvent* event) {
  update();
  QWidget::focusOutEvent(event);
}

}  // namespace tickscope
