// SPDX-License-Identifier: GPL-3.0-or-later
// A field that takes a time or a row and puts the cursor there.
#pragma once

#include <QLineEdit>

#include "views/document.h"

namespace tickscope {

class GoToField : public QLineEdit {
  Q_OBJECT

 public:
  explicit GoToField(Document& document, QWidget* parent = nullptr);

  /// Where a text leads: `row 266`, `#266` or a time as the window prints it. Empty with a sentence in `why`.
  struct Target {
    Known<Row> row;
    Known<TraceTime> time;
  };
  [[nodiscard]] Known<Target> target(const QString& text, QString& why) const;

 signals:
  void went();
  void notice(const QString& sentence);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void go();

  Document& document_;
};

}  // namespace tickscope
