// SPDX-License-Identifier: GPL-3.0-or-later
// Clamping, history and signals of the window's shared state.
#include "views/document.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tickscope {

namespace {

constexpr s64 shortestView = 10;
constexpr s64 longestWhole = s64{1} << 62;
constexpr std::size_t longestHistory = 256;
constexpr int settleAfterMs = 800;

u64 lengthOf(TimeSpan span) {
  return static_cast<u64>(span.to.value) - static_cast<u64>(span.from.value);
}

TimeSpan spanOf(const EventStore& events) {
  if (events.empty()) return {};
  // The order of the store is by the running maximum of each CPU, so a backward time can lie outside of what the
  // first and last rows say.
  TraceTime from = events.time(Row{0});
  TraceTime to = from;
  const auto take = [&](Row row) {
    const TraceTime time = events.time(row);
    from = std::min(from, time);
    to = std::max(to, time);
  };
  for (u32 s = 0; s < events.streams().size(); ++s) {
    const auto rows = events.rowsOfStream(s);
    if (rows.empty()) continue;
    take(rows.front());
    take(rows.back());
  }
  for (const BackwardStep& step : events.backwardSteps()) {
    take(step.row);
    const u32 place = events.placeInStream(step.row);
    if (place > 0) take(events.rowsOfStream(events.streamOf(step.row))[place - 1]);
  }
  if (lengthOf({from, to}) >= static_cast<u64>(longestWhole)) {
    // Only a damaged time can be so far away; below that, sums and differences of times in view cannot overflow.
    constexpr s64 half = longestWhole / 2;
    from.value = std::clamp(events.time(Row{0}).value, -half, half);
    return {from, {from.value + longestWhole}};
  }
  if (to.value == std::numeric_limits<s64>::max()) --to.value;
  return {from, {to.value + 1}};
}

TimeSpan withMargin(TimeSpan span) {
  const s64 margin = std::max<s64>(static_cast<s64>(lengthOf(span) / 100), shortestView);
  constexpr s64 least = std::numeric_limits<s64>::min();
  constexpr s64 most = std::numeric_limits<s64>::max();
  return {{span.from.value < least + margin ? least : span.from.value - margin},
          {span.to.value > most - margin ? most : span.to.value + margin}};
}

}  // namespace

Document::Document(QObject* parent) : QObject(parent) {
  settle_.setSingleShot(true);
  settle_.setInterval(settleAfterMs);
  connect(&settle_, &QTimer::timeout, this, &Document::settleView);
}

Document::~Document() = default;

void Document::open(std::shared_ptr<const Recording> recording, u32 buffer) {
  recording_ = std::move(recording);
  restart(buffer);
}

void Document::close() {
  if (!recording_) return;
  recording_.reset();
  restart(0);
}

void Document::setBuffer(u32 index) {
  if (!recording_ || index == bufferIndex_ || index >= recording_->buffers.size()) return;
  restart(index);
}

void Document::restart(u32 index) {
  timeline_.reset();
  modelLanes_.reset();
  bufferIndex_ = 0;
  if (recording_ && !recording_->buffers.empty()) {
    bufferIndex_ = std::min(index, static_cast<u32>(recording_->buffers.size() - 1));
  }
  whole_ = buffer() ? spanOf(buffer()->events) : TimeSpan{};
  reach_ = rowCount() ? withMargin(whole_) : TimeSpan{};
  visible_ = reach_;
  history_.clear();
  if (rowCount()) history_.push_back(visible_);
  historyAt_ = 0;
  settled_ = true;
  settle_.stop();
  cursor_.reset();
  selection_.reset();
  markers_[0].reset();
  markers_[1].reset();
  selectedRows_.reset();
  emit opened();
}

const Buffer* Document::buffer() const {
  if (!recording_ || recording_->buffers.empty()) return nullptr;
  return &recording_->buffers[bufferIndex_];
}

u32 Document::rowCount() const { return buffer() ? buffer()->events.size() : 0; }

void Document::setTimeline(std::shared_ptr<const Timeline> timeline) {
  if (timeline == timeline_) return;
  timeline_ = std::move(timeline);
  modelLanes_.reset();
  emit timelineChanged();
}

void Document::setModelLanes(std::shared_ptr<const ModelLanes> lanes) {
  if (lanes == modelLanes_) return;
  modelLanes_ = std::move(lanes);
  emit modelLanesChanged();
}

TraceTime Document::clamped(TraceTime time) const {
  return std::clamp(time, reach_.from, reach_.to);
}

TimeSpan Document::clamped(TimeSpan span) const {
  if (span.to < span.from) std::swap(span.from, span.to);
  const u64 room = lengthOf(reach_);
  const u64 wanted = lengthOf(span);
  const u64 length = std::clamp<u64>(wanted, std::min<u64>(shortestView, room), room);
  // A span that had to grow or shrink keeps its middle.
  TraceTime from = span.from;
  if (length > wanted) {
    const s64 grow = static_cast<s64>((length - wanted) / 2);
    from.value = from.value < std::numeric_limits<s64>::min() + grow
                     ? std::numeric_limits<s64>::min()
                     : from.value - grow;
  }
  const TraceTime last{static_cast<s64>(static_cast<u64>(reach_.to.value) - length)};
  from = std::clamp(from, reach_.from, last);
  return {from, {static_cast<s64>(static_cast<u64>(from.value) + length)}};
}

void Document::setVisible(TimeSpan span, ViewStep step) {
  if (!rowCount()) return;
  span = clamped(span);
  if (span == visible_) return;
  const bool goesOn = step == ViewStep::Continue && !settled_;
  if (goesOn) {
    history_[historyAt_] = span;
  } else {
    history_.resize(historyAt_ + 1);
    history_.push_back(span);
    if (history_.size() > longestHistory) history_.erase(history_.begin());
    historyAt_ = history_.size() - 1;
  }
  settled_ = step == ViewStep::New;
  if (step == ViewStep::Continue) settle_.start();
  show(span);
  if (!goesOn) emit historyChanged();
}

void Document::show(TimeSpan span) {
  if (span == visible_) return;
  visible_ = span;
  emit visibleChanged();
}

void Document::zoom(double factor, TraceTime at, ViewStep step) {
  if (!rowCount() || !(factor > 0)) return;
  at = std::clamp(at, visible_.from, visible_.to);
  const double length = static_cast<double>(lengthOf(visible_));
  const double wanted = std::clamp(length * factor, static_cast<double>(shortestView),
                                   static_cast<double>(lengthOf(reach_)));
  const double left = static_cast<double>((at - visible_.from).value) / length;
  const s64 newLength = std::llround(wanted);
  const s64 before = std::min<s64>(std::llround(wanted * left), newLength);
  const u64 from = static_cast<u64>(at.value) - static_cast<u64>(before);
  // The whole recording is at most 2^62 long and its margin a hundredth, so no step of this can overflow but at the
  // ends of time, where the view stays put.
  const s64 start = static_cast<s64>(from);
  if (start > at.value || start > std::numeric_limits<s64>::max() - newLength) return;
  setVisible({{start}, {start + newLength}}, step);
}

void Document::pan(double share, ViewStep step) {
  if (!rowCount()) return;
  const s64 room = static_cast<s64>(lengthOf(visible_));
  const double wanted = share * static_cast<double>(room);
  const s64 left = (visible_.from - reach_.from).value;
  const s64 right = (reach_.to - visible_.to).value;
  s64 by = 0;
  if (wanted <= -static_cast<double>(left)) {
    by = -left;
  } else if (wanted >= static_cast<double>(right)) {
    by = right;
  } else {
    by = std::llround(wanted);
  }
  setVisible({{visible_.from.value + by}, {visible_.to.value + by}}, step);
}

void Document::reveal(TraceTime time) {
  if (!rowCount()) return;
  time = clamped(time);
  if (time >= visible_.from && time < visible_.to) return;
  const s64 length = static_cast<s64>(lengthOf(visible_));
  const bool earlier = time < visible_.from;
  const s64 distance = earlier ? (visible_.from - time).value : (time - visible_.to).value;
  // Near by: a move that keeps a fifth of the view before or behind; far away: to the middle.
  const s64 lead = distance < length ? (earlier ? length / 5 : length - length / 5) : length / 2;
  const s64 from = time.value < std::numeric_limits<s64>::min() + lead
                       ? std::numeric_limits<s64>::min()
                       : time.value - lead;
  const s64 latest = std::numeric_limits<s64>::max() - length;
  const s64 start = std::min(from, latest);
  setVisible({{start}, {start + length}}, ViewStep::Continue);
}

void Document::settleView() {
  settled_ = true;
  settle_.stop();
}

void Document::goBack() {
  if (!canGoBack()) return;
  settleView();
  show(history_[--historyAt_]);
  emit historyChanged();
}

void Document::goForward() {
  if (!canGoForward()) return;
  settleView();
  show(history_[++historyAt_]);
  emit historyChanged();
}

void Document::setCursor(Row row) {
  if (number(row) >= rowCount()) return;
  const Cursor cursor{buffer()->events.time(row), row};
  setSelectedRows({row, row});
  if (cursor_ == cursor) {
    followCursor();
    return;
  }
  cursor_ = cursor;
  emit cursorChanged();
  followCursor();
}

void Document::setCursor(TraceTime time) {
  if (!rowCount()) return;
  const Cursor cursor{clamped(time), {}};
  if (cursor_ == cursor) return;
  cursor_ = cursor;
  if (selectedRows_) {
    selectedRows_.reset();
    emit selectedRowsChanged();
  }
  emit cursorChanged();
  followCursor();
}

void Document::clearCursor() {
  if (!cursor_) return;
  cursor_.reset();
  emit cursorChanged();
}

void Document::followCursor() {
  if (follow_ && cursor_) reveal(cursor_->time);
}

Known<Row> Document::rowAtCursor() const {
  if (!cursor_) return {};
  return cursor_->row ? cursor_->row : rowAt(cursor_->time);
}

Known<Row> Document::rowAt(TraceTime time) const {
  if (!rowCount()) return {};
  const EventStore& events = buffer()->events;
  // Of several events at this very instant, the last one is the state "at" it.
  const u64 behind = static_cast<u64>(time.value) + 1;
  const u32 row = behind == 0 ? events.size() : events.lowerBound({static_cast<s64>(behind)});
  return Row{row > 0 ? row - 1 : 0};
}

void Document::setSelection(TimeSpan span) {
  if (!rowCount()) return;
  if (span.to < span.from) std::swap(span.from, span.to);
  span = {clamped(span.from), clamped(span.to)};
  if (span.from == span.to) {
    clearSelection();
    return;
  }
  if (selection_ == span) return;
  selection_ = span;
  emit selectionChanged();
}

void Document::clearSelection() {
  if (!selection_) return;
  selection_.reset();
  emit selectionChanged();
}

const Known<TraceTime>& Document::marker(Marker which) const {
  return markers_[static_cast<std::size_t>(which)];
}

void Document::setMarker(Marker which, TraceTime time) {
  if (!rowCount()) return;
  Known<TraceTime>& marker = markers_[static_cast<std::size_t>(which)];
  time = clamped(time);
  if (marker == time) return;
  marker = time;
  emit markersChanged();
}

void Document::clearMarker(Marker which) {
  Known<TraceTime>& marker = markers_[static_cast<std::size_t>(which)];
  if (!marker) return;
  marker.reset();
  emit markersChanged();
}

void Document::setSelectedRows(RowRange rows) {
  if (!rowCount()) return;
  if (rows.last < rows.first) std::swap(rows.first, rows.last);
  const Row last{rowCount() - 1};
  rows = {std::min(rows.first, last), std::min(rows.last, last)};
  if (selectedRows_ == rows) return;
  selectedRows_ = rows;
  emit selectedRowsChanged();
}

void Document::setFollow(bool follow) {
  if (follow == follow_) return;
  follow_ = follow;
  emit followChanged();
  followCursor();
}

}  // namespace tickscope
