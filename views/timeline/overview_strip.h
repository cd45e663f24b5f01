// SPDX-License-Identifier: GPL-3.0-or-later
// The whole recording in a strip: density of each CPU, losses, and the visible range to drag.
#pragma once

#include <QImage>
#include <QWidget>

#include "core/timeline/lane.h"

namespace tickscope {

class Document;

class OverviewStrip : public QWidget {
  Q_OBJECT

 public:
  explicit OverviewStrip(Document& document, QWidget* parent = nullptr);

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;
  /// Where the visible range is framed; at least 12 pixels wide.
  [[nodiscard]] QRectF frame() const;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  void invalidate();
  void describe();
  void paintDensity();
  void moveTo(double x);
  [[nodiscard]] double x(TraceTime time) const;
  [[nodiscard]] TraceTime time(double x) const;

  Document& document_;
  QImage density_;
  bool dragging_ = false;
  double grip_ = 0;  // from the middle of the frame to where it was taken
};

}  // namespace tickscope
