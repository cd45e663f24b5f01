// SPDX-License-Identifier: GPL-3.0-or-later
// Wires the virtual table to the document.
#include "views/panels/events_panel.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QMenu>
#include <QVBoxLayout>
#include <algorithm>

#include "views/actions.h"
#include "views/time_label.h"

namespace tickscope {

EventsPanel::EventsPanel(Document& document, QWidget* parent)
    : QWidget(parent), document_(document), table_(new RowTable(rows_.columns(), this)) {
  auto* const layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(table_);
  setFocusProxy(table_);
  table_->setAccessibleName(tr("Events"));
  connect(&document_, &Document::opened, this, &EventsPanel::onOpened);
  connect(&document_, &Document::cursorChanged, this, &EventsPanel::onCursor);
  connect(&document_, &Document::selectedRowsChanged, this, &EventsPanel::onSelectedRows);
  connect(table_, &RowTable::lineClicked, this, [this](quint64 line, bool extend) {
    if (const Known<Row> row = rows_.rowOf(line)) goTo(*row, extend);
  });
  connect(table_, &RowTable::lineActivated, this, [this](quint64 line) {
    if (const Known<Row> row = rows_.rowOf(line)) {
      goTo(*row, false);
      document_.reveal(document_.cursor()->time);
    }
  });
  connect(table_, &RowTable::stepped, this, &EventsPanel::onStep);
  connect(table_, &RowTable::menuWanted, this, [this](quint64 line, QPoint global) {
    if (const Known<Row> row = rows_.rowOf(line)) showMenu(*row, global);
  });
  onOpened();
}

void EventsPanel::onOpened() {
  table_->setSource(nullptr);
  anchor_.reset();
  head_.reset();
  rows_ =
      document_.buffer() ? EventRows(document_.recording(), document_.bufferIndex()) : EventRows();
  table_->reset(rows_.columns());
  table_->setEmptyText(document_.recording() ? tr("This buffer holds no events.") : QString());
  table_->setSource(&rows_);
  onCursor();
}

void EventsPanel::onCursor() {
  const Known<Row> row = document_.rowAtCursor();
  if (!row) {
    table_->setRuleBelow({});
    return;
  }
  const u64 line = rows_.lineOf(*row);
  table_->setRuleBelow(document_.cursor()->row ? Known<u64>() : Known<u64>(line));
  table_->reveal(line);
}

void EventsPanel::onSelectedRows() {
  const Known<RowRange>& rows = document_.selectedRows();
  if (!rows) {
    table_->setSelectedLines({});
    return;
  }
  if (rows->first == rows->last) anchor_ = head_ = rows->first;
  table_->setSelectedLines(LineRange(rows_.lineOf(rows->first), rows_.lineOf(rows->last)));
}

void EventsPanel::goTo(Row row, bool extend) {
  if (extend && anchor_) {
    head_ = row;
    document_.setSelectedRows({*anchor_, row});
    table_->reveal(rows_.lineOf(row));
    return;
  }
  document_.setCursor(row);
}

void EventsPanel::onStep(RowTable::Step step, bool extend) {
  const u32 count = document_.rowCount();
  if (count == 0) return;
  const Known<Row> current = extend && head_ ? head_ : document_.rowAtCursor();
  const u64 page = std::max<u64>(1, table_->pageLines() - 1);
  const u64 last = count - 1;
  u64 to = current ? number(*current) : 0;
  using Step = RowTable::Step;
  switch (step) {
    case Step::Previous:
      to = to > 0 ? to - 1 : 0;
      break;
    case Step::Next:
      to = current ? to + 1 : 0;
      break;
    case Step::PageUp:
      to = to > page ? to - page : 0;
      break;
    case Step::PageDown:
      to += page;
      break;
    case Step::First:
      to = 0;
      break;
    case Step::Last:
      to = last;
      break;
  }
  goTo(Row{static_cast<u32>(std::min(to, last))}, extend);
}

void EventsPanel::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) {
    copy();
  } else if (event->matches(QKeySequence::SelectAll)) {
    selectAll();
  } else {
    event->ignore();
  }
}

void EventsPanel::selectAll() {
  if (document_.rowCount() == 0) return;
  document_.setSelectedRows({Row{0}, Row{document_.rowCount() - 1}});
}

void EventsPanel::copy() {
  Known<RowRange> rows = document_.selectedRows();
  if (!rows) {
    const Known<Row> row = document_.rowAtCursor();
    if (!row) {
      emit notice(tr("No row is selected."));
      return;
    }
    rows = RowRange{*row, *row};
  }
  const u64 count = rows_.lineOf(rows->last) - rows_.lineOf(rows->first) + 1;
  if (count > mostCopied) {
    emit notice(tr("%1 rows are too many for the clipboard (at most %2). "
                   "“tickscope-cli events” "
                   "prints any number.")
                    .arg(countText(count), countText(mostCopied)));
    return;
  }
  QGuiApplication::clipboard()->setText(rows_.kernelText(rows->first, rows->last));
  emit notice(count == 1 ? tr("1 row copied.") : tr("%1 rows copied.").arg(countText(count)));
}

void EventsPanel::showMenu(Row row, QPoint global) {
  const Known<RowRange>& selected = document_.selectedRows();
  if (!selected || row < selected->first || row > selected->last) goTo(row, false);
  QMenu menu(this);
  QAction* const copyRows = makeAction(ActionId::Copy, &menu);
  connect(copyRows, &QAction::triggered, this, &EventsPanel::copy);
  menu.addAction(copyRows);
  menu.addSeparator();
  for (const Marker marker : {Marker::A, Marker::B}) {
    QAction* const set =
        makeAction(marker == Marker::A ? ActionId::MarkerA : ActionId::MarkerB, &menu);
    connect(set, &QAction::triggered, this, [this, marker, row] {
      document_.setMarker(marker, document_.buffer()->events.time(row));
    });
    menu.addAction(set);
  }
  menu.exec(global);
}

}  // namespace tickscope
