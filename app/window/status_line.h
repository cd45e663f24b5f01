// SPDX-License-Identifier: GPL-3.0-or-later
// The line at the bottom: cursor, markers, view, losses and events, each at its own place.
#pragma once

#include <QTimer>
#include <QWidget>
#include <vector>

#include "views/document.h"

namespace tickscope {

class StatusLine : public QWidget {
  Q_OBJECT

 public:
  explicit StatusLine(Document& document, QWidget* parent = nullptr);

  /// Shows a sentence in place of everything for a few seconds.
  void say(const QString& sentence);
  /// `Cursor 6.403 416 103 s | A – | …`, as painted.
  [[nodiscard]] QString text() const;
  /// What say() was told last, while it is shown.
  [[nodiscard]] const QString& sentence() const { return sentence_; }
  [[nodiscard]] QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  struct Field {
    QString label, value;
    int characters;  ///< room kept for the value
    int rank;        ///< the highest ranks give way first when the window is narrow
    bool alarm = false;
  };
  void refresh();
  [[nodiscard]] int widthOf(const Field& field) const;

  Document& document_;
  std::vector<Field> fields_;
  QString lossText_;
  bool lossAlarm_ = false;
  QString sentence_;
  QTimer sentenceTimer_;
};

}  // namespace tickscope
