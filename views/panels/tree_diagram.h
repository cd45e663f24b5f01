// SPDX-License-Identifier: GPL-3.0-or-later
// A clock base's red-black tree lying on its side: lines in order of expiry, indented by depth.
#pragma once

#include "views/panels/line_list.h"
#include "views/panels/state_view.h"

namespace tickscope {

class TreeDiagram : public LineList {
  Q_OBJECT

 public:
  explicit TreeDiagram(QWidget* parent = nullptr);

  void setTree(TreeView tree);
  [[nodiscard]] const TreeView& tree() const { return tree_; }
  /// Whether the bars from softexpires to expires have room.
  [[nodiscard]] bool showsBars() const { return columns().bar > 0; }
  /// The middle of a node's circle.
  [[nodiscard]] QPointF nodeAt(int line) const;

  [[nodiscard]] int lineCount() const override { return static_cast<int>(tree_.nodes.size()); }
  [[nodiscard]] QString lineWords(int line) const override;

 protected:
  void paintLine(QPainter& painter, int line, QRect rect) override;
  void paintOver(QPainter& painter, QRect dirty) override;
  [[nodiscard]] int lineHeight() const override;
  [[nodiscard]] int heightBelow() const override;

 private:
  struct Columns {
    int due, bar, kind;  ///< widths; bar 0: left out
    int dueLeft, barLeft, kindLeft;
  };
  [[nodiscard]] Columns columns() const;
  [[nodiscard]] double indent() const;
  /// Where a time from the instant on stands in the bars, 0..1; more: behind the scale.
  [[nodiscard]] double placeOf(s64 ns) const;
  void paintBar(QPainter& painter, const TreeNodeView& node, QRect rect, const Columns& at) const;
  [[nodiscard]] QString restWords() const;

  TreeView tree_;
  s64 from_ = 0, to_ = 1;  // of the bars' scale, ns from the instant on
  bool scaled_ = false;
  u32 deepest_ = 0;
  int dueWidth_ = 0, nameWidth_ = 0;  // pixels that the texts need
};

}  // namespace tickscope
