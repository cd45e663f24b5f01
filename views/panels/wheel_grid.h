// SPDX-License-Identifier: GPL-3.0-or-later
// Levels × 64 buckets of a wheel base: which hold timers, where clk and next_expiry stand.
#pragma once

#include <QWidget>

#include "views/panels/state_view.h"

namespace tickscope {

/// One bucket is current; arrow keys go from one that holds timers to the next.
class WheelGrid : public QWidget {
  Q_OBJECT

 public:
  explicit WheelGrid(QWidget* parent = nullptr);

  void setView(const WheelView& view);
  [[nodiscard]] Known<u16> current() const { return current_; }
  void setCurrent(Known<u16> bucket);

  [[nodiscard]] QRect bucketRect(u16 bucket) const;
  [[nodiscard]] Known<u16> bucketAt(QPoint at) const;
  /// The bucket that a level's clk hand points to: the next one that the base looks at.
  [[nodiscard]] Known<u16> handOf(u8 level) const;
  /// What is known of a bucket, for tip and screen reader.
  [[nodiscard]] QString bucketWords(u16 bucket) const;
  /// Whether the granules stand beside the levels; in narrow panels they are in the tip only.
  [[nodiscard]] bool showsGranules() const;
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 signals:
  /// A click on a bucket that holds timers, or Return.
  void bucketChosen(quint16 bucket);

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;

 private:
  struct Bucket {
    u32 timers = 0, overdue = 0;
  };
  struct Measures {
    double left, pitch;  ///< of the buckets, pixels
    int count;           ///< width of the column of counts
  };
  [[nodiscard]] Measures measures() const;
  [[nodiscard]] Bucket bucketOf(int bucket) const;
  [[nodiscard]] double edgeOf(int slot) const;
  [[nodiscard]] int rowHeight() const;
  void step(int direction, bool byLevel);

  static constexpr int perLevel = 64;
  static constexpr int mostLevels = 9;
  WheelView view_;
  Known<u16> current_;
};

}  // namespace tickscope
