// SPDX-License-Identifier: GPL-3.0-or-later
// A widget of equal lines that grows with their number: one line is current, keys and pointer move it.
#pragma once

#include <QWidget>

#include "core/base/quantity.h"

namespace tickscope {

/// Subclasses say how many lines there are and paint them. It stands in a scroll area, which should follow
/// wantsVisible(). Only lines in view are painted.
class LineList : public QWidget {
  Q_OBJECT

 public:
  explicit LineList(QWidget* parent = nullptr);

  [[nodiscard]] virtual int lineCount() const = 0;
  /// All that is known of a line, for tip and screen reader.
  [[nodiscard]] virtual QString lineWords(int line) const = 0;

  [[nodiscard]] int current() const { return current_; }  ///< -1: none
  /// -1 for none; other numbers that are no line do nothing.
  void setCurrent(int line);
  [[nodiscard]] QRect lineRect(int line) const;
  [[nodiscard]] int lineAt(QPoint at) const;  ///< -1: none
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

 signals:
  void currentChanged(int line);
  /// A double click or Return.
  void activated(int line);
  void wantsVisible(QRect part);

 protected:
  virtual void paintLine(QPainter& painter, int line, QRect rect) = 0;
  /// What lies over the lines, such as connectors between them.
  virtual void paintOver(QPainter&, QRect) {}
  [[nodiscard]] virtual int heightAbove() const { return 0; }
  [[nodiscard]] virtual int heightBelow() const { return 0; }
  [[nodiscard]] virtual int lineHeight() const;
  /// Lines were added or removed.
  void linesChanged();

  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  int current_ = -1;
  int hovered_ = -1;
};

}  // namespace tickscope
