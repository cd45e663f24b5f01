// SPDX-License-Identifier: GPL-3.0-or-later
// A table of any number of lines over column descriptions: only what is in view
// is ever asked for.
#pragma once

#include <QAbstractScrollArea>
#include <QHash>
#include <QString>
#include <QStringList>
#include <utility>
#include <vector>

#include "core/base/quantity.h"

namespace tickscope {

struct TableColumn {
  QString title;
  bool number = false;  ///< right-aligned
  bool fixedFont = false;
  bool quiet = false;  ///< in the second text colour
  int characters = 8;  ///< width at first, in characters of the column's font;
                       ///< the last column takes the rest
};

/// What a table shows. Lines are counted from 0.
class RowSource {
 public:
  virtual ~RowSource() = default;
  [[nodiscard]] virtual u64 lineCount() const = 0;
  /// The texts of a line, one a column. A note has one text, which spans all
  /// columns.
  [[nodiscard]] virtual QStringList texts(u64 line) const = 0;
  [[nodiscard]] virtual bool isNote(u64 line) const = 0;
};

/// Lines that a pane shows as chosen, both included.
using LineRange = std::pair<u64, u64>;

/// Which line is at the top for a place of a scroll bar, whose range is far
/// smaller than 2^32 lines can need. Places and lines agree one to one up to
/// 2^30 lines; above, a place stands for several lines.
class ScrollMap {
 public:
  static constexpr u64 mostPlaces = u64{1} << 30;
  /// `most`: the last line that can be at the top.
  explicit ScrollMap(u64 most = 0) : most_(most) {
    while ((most_ >> shift_) > mostPlaces) ++shift_;
  }
  [[nodiscard]] int lastPlace() const { return static_cast<int>(most_ >> shift_); }
  [[nodiscard]] int placeOf(u64 line) const {
    return line >= most_ ? lastPlace() : static_cast<int>(line >> shift_);
  }
  [[nodiscard]] u64 lineOf(int place) const {
    if (place <= 0) return 0;
    return place >= lastPlace() ? most_ : static_cast<u64>(place) << shift_;
  }

 private:
  u64 most_;
  int shift_ = 0;
};

class RowTable : public QAbstractScrollArea {
  Q_OBJECT

 public:
  enum class Step : u8 { Previous, Next, PageUp, PageDown, First, Last };
  Q_ENUM(Step)

  explicit RowTable(std::vector<TableColumn> columns, QWidget* parent = nullptr);

  /// Shows a source from its first line on; it must outlive the table or be
  /// replaced. Null shows nothing.
  void setSource(const RowSource* source);
  /// The source has changed wholly; columns may have other widths.
  void reset(std::vector<TableColumn> columns);
  /// The sentence of an empty table.
  void setEmptyText(const QString& text);

  /// Lines drawn as selected.
  void setSelectedLines(Known<LineRange> lines);
  /// A rule under this line: the cursor stands between it and the next one.
  void setRuleBelow(Known<u64> line);
  /// Scrolls the least that shows the line; far away lines come to the middle.
  void reveal(u64 line);

  [[nodiscard]] u64 topLine() const { return top_; }
  /// Whole lines that fit, at least 1.
  [[nodiscard]] u64 pageLines() const;
  /// Where a line is drawn, in the viewport; null when it is not in view.
  [[nodiscard]] QRect lineRect(u64 line) const;
  [[nodiscard]] Known<u64> lineAt(QPoint inViewport) const;
  [[nodiscard]] int rowHeight() const;
  /// The texts of a line as the table shows them.
  [[nodiscard]] QStringList shownTexts(u64 line) const;
  [[nodiscard]] QSize sizeHint() const override;

 signals:
  void lineClicked(quint64 line, bool extend);
  void stepped(tickscope::RowTable::Step step, bool extend);
  /// A double click or Return.
  void lineActivated(quint64 line);
  void menuWanted(quint64 line, QPoint global);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void changeEvent(QEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;
  bool viewportEvent(QEvent* event) override;

 private:
  struct Edge {
    int column, x;
  };
  void updateFonts();
  void updateBars();
  void setTop(u64 line);
  void onBarAction(int action);
  [[nodiscard]] int headerHeight() const;
  [[nodiscard]] u64 lineCount() const { return source_ ? source_->lineCount() : 0; }
  [[nodiscard]] u64 lastTop() const;
  [[nodiscard]] const QFont& fontOf(const TableColumn& column) const {
    return column.fixedFont ? fixed_ : font();
  }
  [[nodiscard]] Known<Edge> edgeAt(QPoint at) const;
  void paintHeader(QPainter& painter) const;
  void paintLine(QPainter& painter, u64 line, QRect rect);
  const QStringList& cachedTexts(u64 line) const;

  std::vector<TableColumn> columns_;
  std::vector<int> widths_;
  const RowSource* source_ = nullptr;
  QString emptyText_;
  QFont fixed_;
  ScrollMap map_;
  u64 top_ = 0;
  int textWidth_ = 0;  // of the last column, the widest seen
  Known<LineRange> selected_;
  Known<u64> ruleBelow_, hovered_;
  Known<Edge> dragged_;
  int wheelRest_ = 0;
  bool updating_ = false;  // the bar follows top_, not the other way round
  mutable QHash<quint64, QStringList> cache_;
};

}  // namespace tickscope
