// SPDX-License-Identifier: GPL-3.0-or-later
// The timers of a wheel base by bucket expiry, under its grid.
#pragma once

#include "views/panels/line_list.h"
#include "views/panels/state_view.h"

namespace tickscope {

class WheelList : public LineList {
  Q_OBJECT

 public:
  explicit WheelList(QWidget* parent = nullptr);

  void setTimers(std::vector<WheelTimerView> timers, u64 more);
  [[nodiscard]] const std::vector<WheelTimerView>& timers() const { return timers_; }
  /// The first timer of a bucket becomes current.
  void showBucket(u16 bucket);

  [[nodiscard]] int lineCount() const override { return static_cast<int>(timers_.size()); }
  [[nodiscard]] QString lineWords(int line) const override;

 protected:
  void paintLine(QPainter& painter, int line, QRect rect) override;
  void paintOver(QPainter& painter, QRect dirty) override;
  [[nodiscard]] int heightAbove() const override;
  [[nodiscard]] int heightBelow() const override;

 private:
  enum Column : u8 { BucketName, Callback, Expires, BucketExpiry, ToClk, ArmedBy, ColumnCount };
  struct Place {
    int left = 0, width = 0;  ///< 0: there is no room for the column
  };
  [[nodiscard]] std::array<Place, ColumnCount> columns() const;

  std::vector<WheelTimerView> timers_;
  u64 more_ = 0;
  std::array<int, ColumnCount> wanted_{};  // widths that the texts need
};

}  // namespace tickscope
