// SPDX-License-Identifier: GPL-3.0-or-later
// A panel of rich text about the open recording, written when it is first
// looked at.
#pragma once

#include <QTextBrowser>

#include "views/document.h"

namespace tickscope {

class TextPanel : public QTextBrowser {
  Q_OBJECT

 public:
  explicit TextPanel(Document& document, QWidget* parent = nullptr);

 protected:
  /// The text for what is open. All words of the file must be escaped: they are
  /// strangers'.
  [[nodiscard]] virtual QString html() const = 0;
  [[nodiscard]] const Document& inspected() const { return document_; }

  void paintEvent(QPaintEvent* event) override;

 private:
  void outdate();
  void write();

  Document& document_;
  bool stale_ = true;
};

/// A line of a table of facts: name and value, both plain text.
[[nodiscard]] QString factRow(const QString& name, const QString& value);
/// Heading of a group of facts.
[[nodiscard]] QString heading(const QString& title);
/// A cell of a table of numbers, in the fixed font, at the right.
[[nodiscard]] QString numberCell(const QString& text);
[[nodiscard]] QString textCell(const QString& text);
/// The head of such a table.
[[nodiscard]] QString headCells(const QStringList& titles, int textColumns);

}  // namespace tickscope
