// SPDX-License-Identifier: GPL-3.0-or-later
// Names with their values; a value that does not fit beside its name stands under it.
#pragma once

#include <QWidget>
#include <vector>

#include "views/panels/state_view.h"

namespace tickscope {

class FactList : public QWidget {
  Q_OBJECT

 public:
  explicit FactList(QWidget* parent = nullptr);

  void setFacts(std::vector<StateFact> facts);
  [[nodiscard]] const std::vector<StateFact>& facts() const { return facts_; }
  /// The value of a fact by its name, as it is shown; empty: no such fact.
  [[nodiscard]] QString value(const QString& name) const;

  [[nodiscard]] bool hasHeightForWidth() const override { return true; }
  [[nodiscard]] int heightForWidth(int width) const override;
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  struct Line {
    QRect name, value;  ///< of one fact
  };
  [[nodiscard]] std::vector<Line> layOut(int width, int& height) const;
  [[nodiscard]] int lineHeight() const;

  std::vector<StateFact> facts_;
};

}  // namespace tickscope
