// SPDX-License-Identifier: GPL-3.0-or-later
// The one shared state of the window: what is open, where the cursor is, what is seen. Panels talk only to it.
#pragma once

#include <QObject>
#include <QTimer>
#include <memory>
#include <vector>

#include "core/trace/recording.h"

namespace tickscope {

struct ModelLanes;
struct Timeline;

/// Whether a change of the view starts something new for Alt+Left, or goes on with the last gesture (the next notch
/// of a wheel, the next pixel of a drag), which one step back undoes as a whole.
enum class ViewStep : u8 { New, Continue };

/// The cursor is an instant; it is on an event when it was put there by row.
struct Cursor {
  TraceTime time;
  Known<Row> row;
  bool operator==(const Cursor&) const = default;
};

/// Rows from first to last, both included.
struct RowRange {
  Row first, last;
  bool operator==(const RowRange&) const = default;
};

enum class Marker : u8 { A, B };

/// Lives in the GUI thread. Setters clamp what they get, do nothing when nothing changes, and signal when it
/// does. Without an open buffer every setter does nothing and every value is empty.
class Document : public QObject {
  Q_OBJECT

 public:
  explicit Document(QObject* parent = nullptr);
  ~Document() override;

  /// Shows a recording; cursor, selection, markers and history start anew. `buffer` is clamped.
  void open(std::shared_ptr<const Recording> recording, u32 buffer);
  void close();
  /// Null when nothing is open.
  [[nodiscard]] const std::shared_ptr<const Recording>& recording() const { return recording_; }
  /// The shown buffer; null when nothing is open or the file holds none.
  [[nodiscard]] const Buffer* buffer() const;
  [[nodiscard]] u32 bufferIndex() const { return bufferIndex_; }
  /// Shows another buffer of the same recording; starts anew like open(). Its timeline is not there yet.
  void setBuffer(u32 index);
  /// How many events the shown buffer has; 0 without one.
  [[nodiscard]] u32 rowCount() const;

  /// What can be drawn of the shown buffer; null until it was built (it arrives after the recording).
  [[nodiscard]] const std::shared_ptr<const Timeline>& timeline() const { return timeline_; }
  void setTimeline(std::shared_ptr<const Timeline> timeline);
  /// What the reference model adds to the timeline; null until the buffer was analysed. Belongs to timeline().
  [[nodiscard]] const std::shared_ptr<const ModelLanes>& modelLanes() const { return modelLanes_; }
  void setModelLanes(std::shared_ptr<const ModelLanes> lanes);

  /// From the earliest event to just behind the latest; empty (0, 0) without events. Never longer than 2^62 units.
  [[nodiscard]] TimeSpan whole() const { return whole_; }
  /// What the view can reach: whole() with a small margin, so that the first and last event are off the edge.
  [[nodiscard]] TimeSpan reach() const { return reach_; }

  [[nodiscard]] TimeSpan visible() const { return visible_; }
  /// Clamps to reach() and to a shortest length of 10 units, keeping the length if it can, else the middle.
  void setVisible(TimeSpan span, ViewStep step = ViewStep::New);
  /// Zooms so that `at` stays where it is on the screen; factor < 1 shows less time.
  void zoom(double factor, TraceTime at, ViewStep step = ViewStep::Continue);
  /// Moves by a share of the visible length; negative: to earlier times.
  void pan(double share, ViewStep step = ViewStep::Continue);
  void showAll() { setVisible(reach_); }
  /// The least move that shows `time`; does nothing when it is in view.
  void reveal(TraceTime time);
  /// The gesture has ended: the next change of the view is a step of its own. Happens by itself after a pause.
  void settleView();
  [[nodiscard]] bool canGoBack() const { return historyAt_ > 0; }
  [[nodiscard]] bool canGoForward() const { return historyAt_ + 1 < history_.size(); }
  void goBack();
  void goForward();

  [[nodiscard]] const Known<Cursor>& cursor() const { return cursor_; }
  /// Puts the cursor on an event; the row selection becomes that row.
  void setCursor(Row row);
  /// Puts the cursor between events, clamped to reach().
  void setCursor(TraceTime time);
  void clearCursor();
  /// The event that is current at the cursor: its row, else the last row at or before its time (the first if there
  /// is none before). Empty without a cursor or without events.
  [[nodiscard]] Known<Row> rowAtCursor() const;
  /// The last row at or before `time` in the order of the store, else the first; empty without events.
  [[nodiscard]] Known<Row> rowAt(TraceTime time) const;

  [[nodiscard]] const Known<TimeSpan>& selection() const { return selection_; }
  /// A range of time; given in either order, clamped to reach(); an empty one clears.
  void setSelection(TimeSpan span);
  void clearSelection();

  [[nodiscard]] const Known<TraceTime>& marker(Marker which) const;
  void setMarker(Marker which, TraceTime time);
  void clearMarker(Marker which);

  [[nodiscard]] const Known<RowRange>& selectedRows() const { return selectedRows_; }
  /// Given in either order, clamped to the rows there are. The cursor stays.
  void setSelectedRows(RowRange rows);

  /// Whether the view moves along when the cursor leaves it.
  [[nodiscard]] bool follow() const { return follow_; }
  void setFollow(bool follow);

 signals:
  /// Another recording or buffer, or none: everything else may have changed, no other signal is sent for it.
  void opened();
  void timelineChanged();
  void modelLanesChanged();
  void visibleChanged();
  /// canGoBack() or canGoForward() may have changed.
  void historyChanged();
  void cursorChanged();
  void selectionChanged();
  void markersChanged();
  void selectedRowsChanged();
  void followChanged();

 private:
  void restart(u32 buffer);
  void show(TimeSpan span);
  void followCursor();
  [[nodiscard]] TimeSpan clamped(TimeSpan span) const;
  [[nodiscard]] TraceTime clamped(TraceTime time) const;

  std::shared_ptr<const Recording> recording_;
  std::shared_ptr<const Timeline> timeline_;
  std::shared_ptr<const ModelLanes> modelLanes_;
  u32 bufferIndex_ = 0;
  TimeSpan whole_{}, reach_{}, visible_{};
  std::vector<TimeSpan> history_;
  std::size_t historyAt_ = 0;
  bool settled_ = true;
  QTimer settle_;
  Known<Cursor> cursor_;
  Known<TimeSpan> selection_;
  Known<TraceTime> markers_[2];
  Known<RowRange> selectedRows_;
  bool follow_ = true;
};

}  // namespace tickscope
