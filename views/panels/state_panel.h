// SPDX-License-Identifier: GPL-3.0-or-later
// The reference state of one CPU at the cursor: wheel bases, hrtimer trees, and what the device was programmed for.
#pragma once

#include <QWidget>
#include <memory>
#include <vector>

#include "views/document.h"
#include "views/panels/state_view.h"

class QComboBox;
class QLabel;
class QScrollArea;
class QToolButton;
class QVBoxLayout;

namespace tickscope {

class FactList;
class TreeDiagram;
class WheelGrid;
class WheelList;

class StatePanel : public QWidget {
  Q_OBJECT

 public:
  explicit StatePanel(Document& document, QWidget* parent = nullptr);
  ~StatePanel() override;

  /// Where the state of the document's buffer comes from. Opening another recording or buffer forgets it.
  void setSource(StateSource source);
  [[nodiscard]] bool hasSource() const { return static_cast<bool>(source_); }
  /// Why there is no state yet, or will be none: a sentence.
  void setReason(const QString& sentence);

  /// The CPU that is shown; empty: nothing is.
  [[nodiscard]] Known<Cpu> shownCpu() const {
    return view_ ? Known<Cpu>(view_->cpu) : Known<Cpu>();
  }
  /// Shows always this CPU; empty: that of the event at the cursor.
  void setCpu(Known<Cpu> cpu);
  /// What is shown, made when the panel was last looked at.
  [[nodiscard]] const Known<CpuView>& view() const { return view_; }
  /// Whether what is shown is of where the cursor is; a panel that nobody looks at lags behind.
  [[nodiscard]] bool upToDate() const { return !stale_; }
  /// The sentence in place of a state; empty while there is one.
  [[nodiscard]] QString message() const;

  /// Moves the cursor to where the state of the shown CPU changed last before it, or next after it.
  void toPreviousChange();
  void toNextChange();
  [[nodiscard]] QSize sizeHint() const override;

 signals:
  /// A sentence for the status bar.
  void notice(const QString& sentence);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  struct WheelSection;
  struct TreeSection;

  void makeHeader(QVBoxLayout* column);
  void onOpened();
  void onCursor();
  [[nodiscard]] bool lookedAt() const;
  void outdate();
  void refresh();
  void showView();
  void showPlace();
  void fillCpus(const SystemState& state, Cpu atCursor);
  WheelSection& wheelSection(std::size_t place);
  TreeSection& treeSection(std::size_t place);
  void step(const std::function<Known<Row>(Cpu, Row)>& change, const QString& none);
  void goTo(Known<Row> armed);
  void reveal(QWidget* widget, QRect part);

  Document& document_;
  StateSource source_;
  QString reason_;
  Known<Cpu> chosen_;    // always this CPU
  Known<Cpu> stepping_;  // this CPU until the cursor is moved otherwise
  bool inStep_ = false;
  bool stale_ = true;
  Known<CpuView> view_;
  QTimer refresh_;

  QLabel* title_ = nullptr;
  QLabel* place_ = nullptr;
  QStringList placeWords_;  // the longest that fits is shown
  QComboBox* cpus_ = nullptr;
  QToolButton* before_ = nullptr;  // checked: the state before the row
  QToolButton* previous_ = nullptr;
  QToolButton* next_ = nullptr;
  QLabel* message_ = nullptr;
  QScrollArea* scroll_ = nullptr;
  QWidget* content_ = nullptr;
  QVBoxLayout* wheelColumn_ = nullptr;
  QVBoxLayout* treeColumn_ = nullptr;
  QLabel* legend_ = nullptr;
  QLabel* treeNote_ = nullptr;
  QLabel* blind_ = nullptr;
  FactList* facts_ = nullptr;
  std::vector<std::unique_ptr<WheelSection>> wheels_;
  std::vector<std::unique_ptr<TreeSection>> trees_;
};

}  // namespace tickscope
