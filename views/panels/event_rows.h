// SPDX-License-Identifier: GPL-3.0-or-later
// The lines of the table of events: every row of a buffer, and a note where
// events were lost.
#pragma once

#include <QCoreApplication>
#include <memory>
#include <vector>

#include "core/trace/event_text.h"
#include "views/tables/row_table.h"

namespace tickscope {

class EventRows : public RowSource {
  Q_DECLARE_TR_FUNCTIONS(EventRows)

 public:
  /// No lines.
  EventRows() = default;
  EventRows(std::shared_ptr<const Recording> recording, u32 buffer);

  [[nodiscard]] u64 lineCount() const override;
  [[nodiscard]] QStringList texts(u64 line) const override;
  [[nodiscard]] bool isNote(u64 line) const override;

  /// The row of a line; a note stands for the row behind it, or before it at
  /// the end. Empty: no rows.
  [[nodiscard]] Known<Row> rowOf(u64 line) const;
  [[nodiscard]] u64 lineOf(Row row) const;

  /// Columns with widths that fit this buffer.
  [[nodiscard]] std::vector<TableColumn> columns() const;
  /// Rows as the kernel prints them, a line each, with the notes between them
  /// as the kernel writes those.
  [[nodiscard]] QString kernelText(Row first, Row last) const;

 private:
  struct Note {
    u32 before;  // row
    u32 loss;    // index into losses()
  };
  [[nodiscard]] const EventStore& events() const { return recording_->buffers[buffer_].events; }
  [[nodiscard]] ClockUnit unit() const { return recording_->buffers[buffer_].clock.unit; }
  /// How many notes stand at or before the line.
  [[nodiscard]] std::size_t notesUpTo(u64 line) const;

  std::shared_ptr<const Recording> recording_;
  u32 buffer_ = 0;
  std::vector<Note> notes_;
};

}  // namespace tickscope
