// SPDX-License-Identifier: GPL-3.0-or-later
// Painting, scrolling and keys of the virtual table.
#include "views/tables/row_table.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QWheelEvent>
#include <algorithm>
#include <utility>

#include "views/theme.h"

namespace tickscope {

namespace {

constexpr int cellPadding = 6;
constexpr int selectionBar = 3;
constexpr int narrowest = 24;

QColor tone(Tone which) { return Theme::application().color(which); }

}  // namespace

RowTable::RowTable(std::vector<TableColumn> columns, QWidget* parent)
    : QAbstractScrollArea(parent), columns_(std::move(columns)) {
  setFocusPolicy(Qt::StrongFocus);
  setFrameShape(QFrame::NoFrame);
  viewport()->setMouseTracking(true);
  viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
  connect(verticalScrollBar(), &QAbstractSlider::actionTriggered, this, &RowTable::onBarAction);
  setFont(Theme::application().font(Theme::Text::Body));
  connect(&Theme::application(), &Theme::changed, this, [this] {
    setFont(Theme::application().font(Theme::Text::Body));
    updateFonts();
    viewport()->update();
  });
  updateFonts();
}

void RowTable::updateFonts() {
  fixed_ = Theme::application().font(Theme::Text::Number);
  widths_.clear();
  for (const TableColumn& column : columns_) {
    const QFontMetrics metrics(fontOf(column));
    const int text = column.characters * metrics.horizontalAdvance(QLatin1Char('0'));
    widths_.push_back(std::max(text, QFontMetrics(font()).horizontalAdvance(column.title)) +
                      2 * cellPadding);
  }
  textWidth_ = 0;
  updateBars();
}

void RowTable::setSource(const RowSource* source) {
  source_ = source;
  reset(columns_);
}

void RowTable::reset(std::vector<TableColumn> columns) {
  columns_ = std::move(columns);
  cache_.clear();
  selected_.reset();
  ruleBelow_.reset();
  hovered_.reset();
  top_ = 0;
  updateFonts();
  viewport()->update();
}

void RowTable::setEmptyText(const QString& text) {
  emptyText_ = text;
  viewport()->update();
}

void RowTable::setSelectedLines(Known<LineRange> lines) {
  if (lines == selected_) return;
  selected_ = lines;
  viewport()->update();
}

void RowTable::setRuleBelow(Known<u64> line) {
  if (line == ruleBelow_) return;
  ruleBelow_ = line;
  viewport()->update();
}

int RowTable::rowHeight() const { return std::max(19, fontMetrics().height() + 4); }

int RowTable::headerHeight() const { return rowHeight() + 2; }

u64 RowTable::pageLines() const {
  return static_cast<u64>(std::max(1, (viewport()->height() - headerHeight()) / rowHeight()));
}

u64 RowTable::lastTop() const {
  const u64 lines = lineCount();
  const u64 page = pageLines();
  return lines > page ? lines - page : 0;
}

void RowTable::updateBars() {
  map_ = ScrollMap(lastTop());
  top_ = std::min(top_, lastTop());
  QScrollBar* const bar = verticalScrollBar();
  const bool before = std::exchange(updating_, true);
  bar->setRange(0, map_.lastPlace());
  bar->setPageStep(static_cast<int>(std::min<u64>(pageLines(), ScrollMap::mostPlaces)));
  bar->setSingleStep(1);
  bar->setValue(map_.placeOf(top_));
  updating_ = before;

  int content = textWidth_;
  for (std::size_t i = 0; i + 1 < widths_.size(); ++i) content += widths_[i];
  QScrollBar* const across = horizontalScrollBar();
  across->setRange(0, std::max(0, content - viewport()->width()));
  across->setPageStep(viewport()->width());
  across->setSingleStep(24);
}

void RowTable::setTop(u64 line) {
  line = std::min(line, lastTop());
  if (line == top_) return;
  top_ = line;
  hovered_.reset();
  const bool before = std::exchange(updating_, true);
  verticalScrollBar()->setValue(map_.placeOf(top_));
  updating_ = before;
  viewport()->update();
}

void RowTable::onBarAction(int action) {
  // Steps are exact even where a place of the bar stands for several lines. The
  // bar's position, not yet its value, has moved when this is called; setting
  // it back keeps the bar from acting as well.
  const u64 page = pageLines();
  u64 to = top_;
  switch (action) {
    case QAbstractSlider::SliderSingleStepAdd:
      to = top_ + 1;
      break;
    case QAbstractSlider::SliderSingleStepSub:
      to = top_ ? top_ - 1 : 0;
      break;
    case QAbstractSlider::SliderPageStepAdd:
      to = top_ + page;
      break;
    case QAbstractSlider::SliderPageStepSub:
      to = top_ > page ? top_ - page : 0;
      break;
    default:
      to = map_.lineOf(verticalScrollBar()->sliderPosition());
      break;
  }
  setTop(to);
  const bool before = std::exchange(updating_, true);
  verticalScrollBar()->setSliderPosition(map_.placeOf(top_));
  updating_ = before;
}

void RowTable::scrollContentsBy(int dx, int dy) {
  // Vertical moves come through setTop(), which knows the exact line.
  if (dy != 0 && !updating_ && map_.placeOf(top_) != verticalScrollBar()->value()) {
    top_ = map_.lineOf(verticalScrollBar()->value());
  }
  if (dx != 0 || dy != 0) viewport()->update();
}

void RowTable::reveal(u64 line) {
  const u64 lines = lineCount();
  if (line >= lines) return;
  const u64 page = pageLines();
  if (line >= top_ && line - top_ < page) return;
  const bool near = line < top_ ? top_ - line <= page : line - top_ < 2 * page;
  if (!near) {
    setTop(line > page / 2 ? line - page / 2 : 0);
  } else if (line < top_) {
    setTop(line);
  } else {
    setTop(line - page + 1);
  }
}

QRect RowTable::lineRect(u64 line) const {
  if (line < top_ || line >= lineCount()) return {};
  const u64 below = line - top_;
  if (below > pageLines()) return {};
  return {0, headerHeight() + static_cast<int>(below) * rowHeight(), viewport()->width(),
          rowHeight()};
}

Known<u64> RowTable::lineAt(QPoint at) const {
  if (at.y() < headerHeight() || at.y() >= viewport()->height()) return {};
  const u64 line = top_ + static_cast<u64>((at.y() - headerHeight()) / rowHeight());
  if (line >= lineCount()) return {};
  return line;
}

const QStringList& RowTable::cachedTexts(u64 line) const {
  const auto found = cache_.constFind(line);
  if (found != cache_.constEnd()) return *found;
  if (static_cast<u64>(cache_.size()) > 8 * pageLines() + 64) cache_.clear();
  QStringList texts = source_->texts(line);
  for (QString& text : texts) {
    text.replace(QLatin1Char('\n'), QStringLiteral(" ↵ "));
    text.replace(QLatin1Char('\t'), QLatin1Char(' '));
  }
  return *cache_.insert(line, std::move(texts));
}

QStringList RowTable::shownTexts(u64 line) const {
  return line < lineCount() ? cachedTexts(line) : QStringList();
}

QSize RowTable::sizeHint() const { return {560, headerHeight() + 8 * rowHeight()}; }

void RowTable::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  painter.fillRect(viewport()->rect(), tone(Tone::Panel));
  const u64 lines = lineCount();
  int y = headerHeight();
  const int before = textWidth_;
  for (u64 line = top_; line < lines && y < viewport()->height(); ++line) {
    paintLine(painter, line, QRect(0, y, viewport()->width(), rowHeight()));
    y += rowHeight();
  }
  if (lines == 0 && !emptyText_.isEmpty()) {
    painter.setFont(font());
    painter.setPen(tone(Tone::SecondText));
    painter.drawText(viewport()->rect().adjusted(12, headerHeight() + 8, -12, 0),
                     Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, emptyText_);
  }
  paintHeader(painter);
  if (hasFocus()) {
    painter.setPen(QPen(tone(Tone::Selection), 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(viewport()->rect().adjusted(1, 1, -1, -1));
  }
  if (textWidth_ != before)
    QMetaObject::invokeMethod(
        this, [this] { updateBars(); }, Qt::QueuedConnection);
}

void RowTable::paintHeader(QPainter& painter) const {
  const QRect header(0, 0, viewport()->width(), headerHeight());
  painter.fillRect(header, tone(Tone::Window));
  painter.setFont(Theme::application().font(Theme::Text::Lane));
  int x = -horizontalScrollBar()->value();
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const bool last = i + 1 == columns_.size();
    const int width = last ? std::max(widths_[i], viewport()->width() - x) : widths_[i];
    painter.setPen(tone(Tone::SecondText));
    const QRect cell(x + cellPadding, 0, width - 2 * cellPadding, header.height() - 1);
    const auto side = columns_[i].number ? Qt::AlignRight : Qt::AlignLeft;
    painter.drawText(cell, static_cast<int>(side | Qt::AlignVCenter), columns_[i].title);
    x += width;
    if (!last) {
      painter.setPen(tone(Tone::GridMajor));
      painter.drawLine(x - 1, 4, x - 1, header.height() - 5);
    }
  }
  painter.setPen(tone(Tone::Border));
  painter.drawLine(0, header.bottom(), header.right(), header.bottom());
}

void RowTable::paintLine(QPainter& painter, u64 line, QRect rect) {
  const bool selected = selected_ && line >= selected_->first && line <= selected_->second;
  if (selected) {
    painter.fillRect(rect, tone(Tone::SelectedRow));
    painter.fillRect(QRect(rect.left(), rect.top(), selectionBar, rect.height()),
                     tone(Tone::Selection));
  } else if (hovered_ == line) {
    painter.fillRect(rect, tone(Tone::RowUnderPointer));
  }
  const QStringList& texts = cachedTexts(line);
  if (source_->isNote(line)) {
    const QBrush hatch(tone(Tone::Hatch), Qt::BDiagPattern);
    painter.fillRect(rect, tone(Tone::HatchGround));
    painter.fillRect(rect, hatch);
    const QString text = texts.value(0);
    painter.setFont(font());
    const int width = painter.fontMetrics().horizontalAdvance(text) + 2 * cellPadding;
    const QRect label(rect.left() + selectionBar + cellPadding, rect.top(), width, rect.height());
    painter.fillRect(label, tone(Tone::HatchGround));
    painter.setPen(tone(Tone::Text));
    painter.drawText(label, Qt::AlignCenter, text);
  } else {
    int x = -horizontalScrollBar()->value();
    for (std::size_t i = 0; i < columns_.size() && x < rect.right(); ++i) {
      const TableColumn& column = columns_[i];
      const bool last = i + 1 == columns_.size();
      const QString text = texts.value(static_cast<int>(i));
      painter.setFont(fontOf(column));
      painter.setPen(tone(column.quiet ? Tone::SecondText : Tone::Text));
      const int width = last ? std::max(rect.right() + 1 - x, 0) : widths_[i];
      const QRect cell(x + cellPadding, rect.top(), width - (last ? cellPadding : 2 * cellPadding),
                       rect.height());
      const int needed = painter.fontMetrics().horizontalAdvance(text);
      if (last) {
        textWidth_ = std::max(textWidth_, needed + 2 * cellPadding);
        painter.drawText(cell, static_cast<int>(Qt::AlignLeft | Qt::AlignVCenter), text);
      } else {
        const QString shown =
            needed > cell.width()
                ? painter.fontMetrics().elidedText(
                      text, column.number ? Qt::ElideLeft : Qt::ElideRight, cell.width())
                : text;
        const auto side = column.number ? Qt::AlignRight : Qt::AlignLeft;
        painter.drawText(cell, static_cast<int>(side | Qt::AlignVCenter), shown);
      }
      x += width;
    }
  }
  if (ruleBelow_ == line) {
    painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), tone(Tone::Cursor));
  }
}

void RowTable::resizeEvent(QResizeEvent*) { updateBars(); }

void RowTable::changeEvent(QEvent* event) {
  if (event->type() == QEvent::FontChange) updateFonts();
  if (event->type() == QEvent::PaletteChange) viewport()->update();
  QAbstractScrollArea::changeEvent(event);
}

void RowTable::focusInEvent(QFocusEvent* event) {
  viewport()->update();
  QAbstractScrollArea::focusInEvent(event);
}

void RowTable::focusOutEvent(QFocusEvent* event) {
  viewport()->update();
  QAbstractScrollArea::focusOutEvent(event);
}

void RowTable::keyPressEvent(QKeyEvent* event) {
  const bool extend = event->modifiers() & Qt::ShiftModifier;
  const Qt::KeyboardModifiers others =
      event->modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier);
  if (others == Qt::NoModifier) {
    switch (event->key()) {
      case Qt::Key_Up:
        emit stepped(Step::Previous, extend);
        return;
      case Qt::Key_Down:
        emit stepped(Step::Next, extend);
        return;
      case Qt::Key_PageUp:
        emit stepped(Step::PageUp, extend);
        return;
      case Qt::Key_PageDown:
        emit stepped(Step::PageDown, extend);
        return;
      case Qt::Key_Home:
        emit stepped(Step::First, extend);
        return;
      case Qt::Key_End:
        emit stepped(Step::Last, extend);
        return;
      case Qt::Key_Left:
        horizontalScrollBar()->triggerAction(QAbstractSlider::SliderSingleStepSub);
        return;
      case Qt::Key_Right:
        horizontalScrollBar()->triggerAction(QAbstractSlider::SliderSingleStepAdd);
        return;
      case Qt::Key_Return:
      case Qt::Key_Enter:
        if (selected_) emit lineActivated(selected_->first);
        return;
      default:
        break;
    }
  }
  event->ignore();
}

Known<RowTable::Edge> RowTable::edgeAt(QPoint at) const {
  if (at.y() >= headerHeight()) return {};
  int x = -horizontalScrollBar()->value();
  for (std::size_t i = 0; i + 1 < widths_.size(); ++i) {
    x += widths_[i];
    if (std::abs(at.x() - x) <= 3) return Edge{static_cast<int>(i), x};
  }
  return {};
}

void RowTable::mousePressEvent(QMouseEvent* event) {
  const QPoint at = event->position().toPoint();
  if (event->button() != Qt::LeftButton) return;
  dragged_ = edgeAt(at);
  if (dragged_) return;
  if (const Known<u64> line = lineAt(at)) {
    emit lineClicked(*line, event->modifiers() & Qt::ShiftModifier);
  }
}

void RowTable::mouseMoveEvent(QMouseEvent* event) {
  const QPoint at = event->position().toPoint();
  if (dragged_) {
    int& width = widths_[static_cast<std::size_t>(dragged_->column)];
    width = std::max(narrowest, width + at.x() - dragged_->x);
    dragged_->x = std::max(at.x(), dragged_->x - width + narrowest);
    updateBars();
    viewport()->update();
    return;
  }
  viewport()->setCursor(edgeAt(at) ? Qt::SplitHCursor : Qt::ArrowCursor);
  const Known<u64> line = lineAt(at);
  if (event->buttons() & Qt::LeftButton) {
    if (line) emit lineClicked(*line, true);
    return;
  }
  if (line == hovered_) return;
  hovered_ = line;
  viewport()->update();
}

void RowTable::mouseReleaseEvent(QMouseEvent*) { dragged_.reset(); }

void RowTable::mouseDoubleClickEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  if (const Known<u64> line = lineAt(event->position().toPoint())) emit lineActivated(*line);
}

void RowTable::leaveEvent(QEvent*) {
  hovered_.reset();
  viewport()->update();
}

bool RowTable::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::Leave) {
    hovered_.reset();
    viewport()->update();
  }
  return QAbstractScrollArea::viewportEvent(event);
}

void RowTable::wheelEvent(QWheelEvent* event) {
  const QPoint angle = event->angleDelta();
  if ((event->modifiers() & Qt::ShiftModifier) || angle.y() == 0) {
    const int across = angle.x() != 0 ? angle.x() : angle.y();
    horizontalScrollBar()->setValue(horizontalScrollBar()->value() - across);
    event->accept();
    return;
  }
  // Three lines a notch; small steps of touch pads add up.
  wheelRest_ -= angle.y() * 3;
  const int lines = wheelRest_ / 120;
  wheelRest_ -= lines * 120;
  if (lines < 0) {
    const u64 up = static_cast<u64>(-lines);
    setTop(top_ > up ? top_ - up : 0);
  } else {
    setTop(top_ + static_cast<u64>(lines));
  }
  event->accept();
}

void RowTable::contextMenuEvent(QContextMenuEvent* event) {
  const QPoint inViewport = viewport()->mapFromGlobal(event->globalPos());
  if (event->reason() == QContextMenuEvent::Keyboard) {
    if (!selected_) return;
    const QRect rect = lineRect(selected_->first);
    emit menuWanted(selected_->first, viewport()->mapToGlobal(rect.bottomLeft() + QPoint(24, 0)));
    return;
  }
  if (const Known<u64> line = lineAt(inViewport)) emit menuWanted(*line, event->globalPos());
}

}  // namespace tickscope
