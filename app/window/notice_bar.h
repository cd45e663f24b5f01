// SPDX-License-Identifier: GPL-3.0-or-later
// A bar under the tool bar that says what went wrong or was lost: a sentence, more on demand, no question.
#pragma once

#include <QFrame>
#include <QString>

#include "core/base/quantity.h"

class QLabel;
class QToolButton;

namespace tickscope {

struct Notice {
  enum class Level : u8 { Error, Loss } level = Level::Error;
  QString sentence;
  QString details;  ///< lines; empty: there is nothing more to say
};

class NoticeBar : public QFrame {
  Q_OBJECT

 public:
  explicit NoticeBar(QWidget* parent = nullptr);

  /// Shows the bar, details folded.
  void setNotice(const Notice& notice);
  [[nodiscard]] QString sentence() const;
  [[nodiscard]] QString details() const;
  [[nodiscard]] bool detailsShown() const;

 signals:
  void closed();

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  Notice::Level level_ = Notice::Level::Error;
  QLabel* badge_;
  QLabel* sentence_;
  QLabel* details_;
  QToolButton* more_;
};

}  // namespace tickscope
