// SPDX-License-Identifier: GPL-3.0-or-later
// The table of events: follows the document's cursor and moves it.
#pragma once

#include <QWidget>

#include "views/document.h"
#include "views/panels/event_rows.h"
#include "views/tables/row_table.h"

namespace tickscope {

class EventsPanel : public QWidget {
  Q_OBJECT

 public:
  /// Copying more rows than this at once would make the window wait.
  static constexpr u64 mostCopied = 100'000;

  explicit EventsPanel(Document& document, QWidget* parent = nullptr);

  [[nodiscard]] RowTable& table() { return *table_; }
  [[nodiscard]] const EventRows& rows() const { return rows_; }
  /// The selected rows to the clipboard, as the kernel prints them; says so in
  /// words if there are too many.
  void copy();
  void selectAll();

 signals:
  /// A sentence for the status bar.
  void notice(const QString& sentence);

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void onOpened();
  void onCursor();
  void onSelectedRows();
  void onStep(RowTable::Step step, bool extend);
  void goTo(Row row, bool extend);
  void showMenu(Row row, QPoint global);

  Document& document_;
  EventRows rows_;
  RowTable* table_;
  Known<Row> anchor_,
      head_;  // of the selection: where it began and its moving end
};

}  // namespace tickscope
