// SPDX-License-Identifier: GPL-3.0-or-later
// Clusters events by the room between them and gives columns their height and strength.
#include "core/timeline/lane_marks.h"

#include <algorithm>
#include <cmath>

#include "core/timeline/lane_builder.h"

namespace tickscope {

namespace {

// Logical pixels, look.md 5 "Zoom, decided per bin".
constexpr double bar = 2;
constexpr double glyphRoom = 9;
constexpr double badgeWidth = 14;  // of what a badge stands for
constexpr double badgeRoom = 24;  // between the events of neighbours: half of each badge, and a gap
constexpr double loneRoom = 4;
constexpr double loneWidth = 1.5;
constexpr double loneShare = 0.3;
constexpr double loneHeight = 6;
constexpr double busyHeight = 2;
constexpr s32 padding = 2;
constexpr u32 mostInBadge = 99;

/// Device pixels of a strip that columns can fill.
s32 roomOf(MarkSpace space, const ViewWindow& window) {
  const s32 inside = space.folded ? space.height - 1 - padding : space.height - 1 - 2 * padding;
  return std::max(1, static_cast<s32>(inside * window.ratio));
}

u16 heightFor(double share, s32 room, double least, const ViewWindow& window) {
  const double height = std::max(share * room, std::min<double>(least * window.ratio, room));
  return static_cast<u16>(std::clamp(std::lround(height), 1L, static_cast<long>(room)));
}

Ink inkOfClasses(LaneKind kind, u8 classes) {
  switch (kind) {
    case LaneKind::Task:
      return Ink::Task;
    case LaneKind::HardIrq:
      return Ink::HardIrq;
    case LaneKind::Softirq:
      if (classes == lane_class::timer) return Ink::SoftirqTimer;
      if (classes == lane_class::hrtimer) return Ink::SoftirqHrtimer;
      return Ink::SoftirqOther;
    case LaneKind::Hrtimer:
      return Ink::Hrtimer;
    case LaneKind::Wheel:
      return Ink::Wheel;
    case LaneKind::Programming:
      return Ink::Programming;
  }
  return Ink::Task;
}

double logShare(u32 count, u32 most) {
  if (most == 0) return 0;
  return std::min(1.0, std::log2(1.0 + count) / std::log2(1.0 + std::max(count, most)));
}

/// A lone mark is wider than a column and full of ink, so that no single event disappears.
void makeLone(SceneColumn& column, s32 room, const ViewWindow& window) {
  column.lone = true;
  column.width = std::max(column.width, static_cast<s32>(std::lround(loneWidth * window.ratio)));
  column.strength = 255;
  const double least =
      std::max(loneShare * room, std::min<double>(loneHeight * window.ratio, room));
  column.height = std::max(column.height, static_cast<u16>(std::lround(least)));
}

/// Marks columns that have nothing within loneRoom beside them.
void findLone(std::vector<SceneColumn>& columns, s32 room, const ViewWindow& window) {
  const auto apart = [&](const SceneColumn& left, const SceneColumn& right) {
    return (right.x - left.x - left.width + 1) / window.ratio > loneRoom;
  };
  std::vector<bool> lone(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    lone[i] = (i == 0 || apart(columns[i - 1], columns[i])) &&
              (i + 1 == columns.size() || apart(columns[i], columns[i + 1]));
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (lone[i]) makeLone(columns[i], room, window);
  }
}

/// Sums of what falls on single device pixels.
class ColumnSums {
 public:
  explicit ColumnSums(const ViewWindow& window) : window_(&window) {}

  /// In order of time.
  void add(s64 time, u32 count, u8 classes, double busy) {
    if (time < window_->from || time >= window_->to) return;
    const s32 x = window_->columnOf(time);
    if (cells_.empty() || cells_.back().x < x) cells_.push_back({x, 1, 0, 0, 0, 0});
    LaneCell& cell = cells_.back();
    cell.count += count;
    cell.densest = cell.count;
    cell.classes = static_cast<u8>(cell.classes | classes);
    cell.busy = std::min(1.0, cell.busy + busy / window_->unitsPerColumn());
  }
  [[nodiscard]] std::vector<LaneCell>& cells() { return cells_; }

 private:
  const ViewWindow* window_;
  std::vector<LaneCell> cells_;
};

struct Cluster {
  std::size_t begin, end;
  double from, to;
};

std::vector<Cluster> clustersOf(const std::vector<LaneOperation>& operations,
                                const ViewWindow& window) {
  std::vector<Cluster> clusters;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const double x = window.x(operations[i].time);
    if (!clusters.empty() && x - clusters.back().to < glyphRoom) {
      clusters.back().end = i + 1;
      clusters.back().to = x;
    } else {
      clusters.push_back({i, i + 1, x, x});
    }
  }
  return clusters;
}

std::vector<LaneCell> unitedCells(const std::vector<LaneCell>& a, const std::vector<LaneCell>& b) {
  std::vector<LaneCell> all;
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all),
             [](const LaneCell& left, const LaneCell& right) { return left.x < right.x; });
  return all;
}

/// Cells of what cannot be a glyph or badge; glyphs go to `marks`.
std::vector<LaneCell> cellsOfOperations(const LaneView& view, LaneKind kind,
                                        const ViewWindow& window, bool columnsOnly, Marks& marks) {
  ColumnSums sums(window);
  const auto& operations = view.operations;
  const auto clusters = clustersOf(operations, window);
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    const Cluster& cluster = clusters[c];
    const u32 count = static_cast<u32>(cluster.end - cluster.begin);
    const LaneOperation& first = operations[cluster.begin];
    const bool roomBefore = c == 0 || cluster.from - clusters[c - 1].to >= badgeRoom;
    const bool roomBehind =
        c + 1 == clusters.size() || clusters[c + 1].from - cluster.to >= badgeRoom;
    if (!columnsOnly && count == 1) {
      marks.glyphs.push_back({static_cast<float>(cluster.from), first.shape,
                              inkOfClasses(kind, first.classes), 1, first.row});
    } else if (!columnsOnly && count <= mostInBadge && cluster.to - cluster.from <= badgeWidth &&
               roomBefore && roomBehind) {
      const double middle = (cluster.from + cluster.to) / 2;
      marks.glyphs.push_back({static_cast<float>(middle), first.shape,
                              inkOfClasses(kind, first.classes), count, first.row});
    } else {
      for (std::size_t i = cluster.begin; i < cluster.end; ++i) {
        sums.add(operations[i].time, 1, operations[i].classes, 0);
      }
    }
  }
  return std::move(sums.cells());
}

/// The class of a softirq's row; none in other lanes.
u8 softirqClass(const EventStore& store, LaneKind kind, Row row) {
  if (kind != LaneKind::Softirq) return 0;
  const LaneRole role = roleOf(store.kind(row));
  return role.lane == LaneKind::Softirq ? classOf(store, role, row) : u8{0};
}

SceneColumn columnOf(const LaneCell& cell, LaneKind kind) {
  SceneColumn column;
  column.x = cell.x;
  column.width = cell.width;
  column.ink = inkOfClasses(kind, cell.classes);
  column.count = std::max(cell.densest, cell.count ? 1U : 0U);
  return column;
}

}  // namespace

bool isWide(const LaneSpan& span, const ViewWindow& window) {
  return window.x(span.to) - window.x(span.from) >= bar;
}

u32 mostOf(const LaneView& view, const ViewWindow& window) {
  u32 most = 0;
  for (const LaneCell& cell : view.cells) most = std::max(most, cell.densest);
  ColumnSums sums(window);
  for (const LaneOperation& operation : view.operations)
    sums.add(operation.time, 1, operation.classes, 0);
  for (const LaneCell& cell : sums.cells()) most = std::max(most, cell.densest);
  return most;
}

Marks marksOfInstants(const LaneView& view, LaneKind kind, const ViewWindow& window,
                      MarkSpace space) {
  Marks marks;
  const std::vector<LaneCell> cells =
      unitedCells(view.cells, cellsOfOperations(view, kind, window, space.folded, marks));
  const s32 room = roomOf(space, window);
  for (const LaneCell& cell : cells) {
    SceneColumn column = columnOf(cell, kind);
    const double share = logShare(column.count, space.most);
    column.height = heightFor(share, room, 1, window);
    column.strength = static_cast<u8>(128 + std::lround(127 * share));
    marks.columns.push_back(column);
    marks.dense = true;
  }
  findLone(marks.columns, room, window);
  return marks;
}

Marks marksOfTime(const EventStore& store, const LaneView& view, LaneKind kind,
                  const ViewWindow& window, MarkSpace space, bool durations) {
  Marks marks;
  const s32 room = roomOf(space, window);
  struct Short {
    s64 time;
    double units;
    u8 classes;
    Row row;
  };
  std::vector<Short> shorts;
  for (const LaneSpan& span : view.spans) {
    if (span.idle || isWide(span, window)) continue;
    const double units = span.depth == 0 ? static_cast<double>(span.to - span.from) : 0;
    shorts.push_back({span.from, units, softirqClass(store, kind, span.row), span.row});
  }
  for (const LaneOperation& operation : view.operations) {
    if (operation.shape == Shape::Raise) continue;
    shorts.push_back({operation.time, 0, operation.classes, operation.row});
  }
  std::stable_sort(shorts.begin(), shorts.end(),
                   [](const Short& a, const Short& b) { return a.time < b.time; });
  ColumnSums sums(window);
  for (const Short& one : shorts) sums.add(one.time, 1, one.classes, one.units);
  const std::vector<LaneCell> cells = unitedCells(view.cells, sums.cells());
  u32 most = 0;
  for (const LaneCell& cell : cells) most = std::max(most, cell.densest);
  for (const LaneCell& cell : cells) {
    SceneColumn column = columnOf(cell, kind);
    const double share = durations ? cell.busy : logShare(column.count, most);
    column.height = heightFor(share, room, busyHeight, window);
    column.strength = static_cast<u8>(128 + std::lround(127 * (1 - share)));
    marks.columns.push_back(column);
    marks.dense = marks.dense || cell.count > 1;
  }
  findLone(marks.columns, room, window);
  marks.dense = marks.dense || !view.cells.empty();

  double before = -glyphRoom;
  for (const LaneOperation& operation : view.operations) {
    if (operation.shape != Shape::Raise) continue;
    const double x = window.x(operation.time);
    // One that is served at once has no room beside its entry, which stands for it.
    const bool atOnce = operation.servedAt && window.x(*operation.servedAt) - x < glyphRoom;
    if (atOnce || x - before < glyphRoom) continue;
    marks.glyphs.push_back({static_cast<float>(x), Shape::Raise,
                            inkOfClasses(kind, operation.classes), 1, operation.row});
    before = x;
  }
  for (const LaneLink& link : view.links) {
    const double from = window.x(link.from);
    const double to = window.x(link.to);
    if (to - from < glyphRoom) continue;
    marks.links.push_back({static_cast<float>(std::max(from, 0.0)),
                           static_cast<float>(std::min(to, window.width)),
                           inkOfClasses(kind, link.classes)});
  }
  return marks;
}

Ink inkOfRow(const EventStore& store, LaneKind kind, Row row, bool asPrevious) {
  if (kind == LaneKind::Task) {
    const SchedSwitch event = store.as<SchedSwitch>(row);
    const std::string_view comm = store.text(asPrevious ? event.prev.comm : event.next.comm);
    const bool softirqThread = comm.starts_with("ksoftirqd/") || comm.starts_with("ktimers/");
    return softirqThread ? Ink::SoftirqThread : Ink::Task;
  }
  if (kind == LaneKind::Softirq) {
    u32 vector = 0;
    switch (store.kind(row)) {
      case kindOf<SoftirqRaise>:
        vector = store.as<SoftirqRaise>(row).vec;
        break;
      case kindOf<SoftirqEntry>:
        vector = store.as<SoftirqEntry>(row).vec;
        break;
      case kindOf<SoftirqExit>:
        vector = store.as<SoftirqExit>(row).vec;
        break;
      default:
        break;
    }
    return vector == 1 ? Ink::SoftirqTimer : vector == 8 ? Ink::SoftirqHrtimer : Ink::SoftirqOther;
  }
  return inkOfClasses(kind, 0);
}

}  // namespace tickscope
