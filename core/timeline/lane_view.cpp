// SPDX-License-Identifier: GPL-3.0-or-later
// Chooses between a walk over the window's events, the pyramid, and sampling by search; whichever costs least.
#include "core/timeline/lane_view.h"

#include <algorithm>
#include <cmath>

#include "core/timeline/lane_builder.h"
#include "core/timeline/lane_walk.h"

namespace tickscope {

namespace {

constexpr s32 mostColumns = 1 << 14;
/// Bins may be so many device pixels wide before they are too coarse to be shown in place of events.
constexpr double widestBin = 8;
/// Where neither events nor bins will do, sums are searched for cells of so many device pixels.
constexpr s32 searchedCell = 4;
/// Marks reach so far over the edge of the picture, logical pixels.
constexpr double overEdge = 16;
/// A group of cells with this much room around it, and not wider than that, is looked up event by event.
constexpr double roomOfBadge = 24, widthOfBadge = 9;
constexpr u32 mostInBadge = 99;

s64 bounded(double value) {
  constexpr double limit = static_cast<double>(farthest);
  return static_cast<s64>(std::clamp(value, -limit / 2, limit));
}

struct Nothing {
  void span(const LaneSpan&) {}
  void point(s64, Row) {}
};

/// Takes a walk from one place to a later one: step by step, or by way of a checkpoint where that is nearer.
void advance(const Timeline& timeline, const CpuTrack& track, const Lane& lane, LaneWalk& walk,
             u32 from, u32 to) {
  Nothing nothing;
  const u32 checkpoint =
      lane.checkpoints.empty()
          ? 0
          : std::min(to / Lane::checkpointEvery, static_cast<u32>(lane.checkpoints.size() - 1));
  if (!lane.checkpoints.empty() && checkpoint * Lane::checkpointEvery > from) {
    walk = LaneWalk(timeline, track, lane.kind);
    walk.restore(lane.checkpoints[checkpoint]);
    from = checkpoint * Lane::checkpointEvery;
  }
  for (u32 p = from; p < to; ++p) {
    const Row row = lane.rows[p];
    walk.step(timeline.timeAt(lane, p), row, timeline.roles.of(timeline.store->typeIndex(row)).part,
              nothing);
  }
}

/// The lane's walk, ready for the event at `place`.
LaneWalk walkAt(const Timeline& timeline, const CpuTrack& track, const Lane& lane, u32 place) {
  LaneWalk walk(timeline, track, lane.kind);
  advance(timeline, track, lane, walk, 0, place);
  return walk;
}

template <class Sink>
void peekAt(const Timeline& timeline, const Lane& lane, const LaneWalk& walk, u32 place, s64 time,
            Sink& sink) {
  if (place >= lane.rows.size()) {
    walk.peek(time, {}, LanePart::None, 0, sink);
    return;
  }
  const Row row = lane.rows[place];
  walk.peek(time, row, timeline.roles.of(timeline.store->typeIndex(row)).part,
            timeline.timeAt(lane, place), sink);
}

/// Busy units up to `time` of what is open at a place.
u64 openUnits(const Timeline& timeline, const Lane& lane, const LaneWalk& walk, u32 place,
              s64 time) {
  struct Sum {
    s64 until;
    u64 units = 0;
    void span(const LaneSpan& span) {
      const s64 to = std::min(span.to, until);
      if (span.depth == 0 && !span.idle && to > span.from)
        units += static_cast<u64>(to - span.from);
    }
    void point(s64, Row) {}
  } open{time};
  peekAt(timeline, lane, walk, place, time, open);
  return open.units;
}

/// Takes what a walk over a window meets.
class Collector {
 public:
  Collector(const Timeline& timeline, const Lane& lane, s64 from, s64 to, LaneView& view)
      : timeline_(&timeline),
        store_(timeline.store),
        kind_(lane.kind),
        from_(from),
        to_(to),
        view_(&view) {}

  void span(const LaneSpan& span) {
    if (span.to < from_ || span.from >= to_) return;
    view_->spans.push_back(span);
  }
  void point(s64 time, Row row) {
    if (isLaneOfTime(kind_))
      add(time, row, Shape::Event, timeline_->roles.of(store_->typeIndex(row)));
  }

  void event(s64 time, Row row, LaneRole role, bool completed) {
    switch (role.part) {
      case LanePart::Raise: {
        add(time, row, Shape::Raise, role);
        const u32 vector = store_->as<SoftirqRaise>(row).vec;
        if (vector < raised_.size() && !raised_[vector])
          raised_[vector] = view_->operations.size() - 1;
        return;
      }
      case LanePart::Entry:
        if (role.lane == LaneKind::Softirq) return served(time, row);
        if (isLaneOfTime(role.lane)) return;
        return operation(time, row, Shape::Expire, role, completed);
      case LanePart::Arm:
        return operation(time, row, restarts(row) ? Shape::Restart : Shape::Arm, role, completed);
      case LanePart::Cancel:
        return add(time, row, Shape::Cancel, role);
      case LanePart::Call:
        return add(time, row, Shape::Call, role);
      default:
        return;
    }
  }

 private:
  void add(s64 time, Row row, Shape shape, LaneRole role) {
    view_->operations.push_back({time, row, shape, classOf(*store_, role, row)});
  }
  void operation(s64 time, Row row, Shape shape, LaneRole role, bool completed) {
    // The cancel that belongs to it may lie just before the window.
    if (completed && !view_->operations.empty()) view_->operations.pop_back();
    add(time, row, completed && shape == Shape::Arm ? Shape::Restart : shape, role);
  }
  [[nodiscard]] bool restarts(Row row) const {
    return store_->kind(row) == kindOf<HrtimerStart> && store_->as<HrtimerStart>(row).wasArmed;
  }
  void served(s64 time, Row row) {
    const u32 vector = store_->as<SoftirqEntry>(row).vec;
    if (vector >= raised_.size() || !raised_[vector]) return;
    LaneOperation& raise = view_->operations[*raised_[vector]];
    raise.servedAt = time;
    view_->links.push_back({raise.time, time, raise.classes});
    raised_[vector].reset();
  }

  const Timeline* timeline_;
  const EventStore* store_;
  LaneKind kind_;
  s64 from_, to_;
  LaneView* view_;
  std::array<Known<std::size_t>, 10> raised_{};  // places of raises that wait for their entry
};

/// All events from place `begin` up to the time `to`, at most `most`.
void walkOver(const Timeline& timeline, const CpuTrack& track, const Lane& lane, s64 from, s64 to,
              u32 begin, u32 most, LaneView& view) {
  Collector collector(timeline, lane, from, to, view);
  LaneWalk walk = walkAt(timeline, track, lane, begin);
  const u32 end = static_cast<u32>(std::min<u64>(lane.rows.size(), u64{begin} + most));
  u32 place = begin;
  for (; place < end; ++place) {
    const s64 time = timeline.timeAt(lane, place);
    if (time >= to) break;
    const Row row = lane.rows[place];
    const LaneRole role = timeline.roles.of(timeline.store->typeIndex(row));
    walk.step(time, row, role.part, collector);
    collector.event(time, row, role, walk.completed());
  }
  peekAt(timeline, lane, walk, place, to, collector);
}

/// A cell while bins are added to it. Its busy share is one of the bins' own time, as a column has now one bin, now two.
struct CellSum {
  LaneCell cell;
  double busy = 0, units = 0;

  void add(const Bin& bin, double busyUnits, double binUnits) {
    cell.count = static_cast<u32>(std::min<u64>(u64{cell.count} + bin.count, ~u32{0}));
    cell.densest = std::max<u32>(cell.densest, bin.densest);
    cell.classes = static_cast<u8>(cell.classes | bin.classes);
    busy += busyUnits;
    units += binUnits;
  }
  void flush(std::vector<LaneCell>& cells) {
    if (!cell.count && !(busy > 0)) return;
    cell.busy = std::min(1.0, busy / units);
    cells.push_back(cell);
  }
};

void cellsOfPyramid(const Lane& lane, const ViewWindow& window, u32 level, LaneView& view) {
  const Pyramid& pyramid = lane.pyramid;
  const auto bins = pyramid.bins(level);
  const u32 shift = pyramid.shift(level);
  if (window.to <= 0) return;
  const u64 first = static_cast<u64>(std::max<s64>(window.from, 0)) >> shift;
  const u64 last = std::min<u64>(static_cast<u64>(window.to - 1) >> shift, bins.size() - 1);
  const double units = std::ldexp(1.0, static_cast<int>(shift));
  CellSum sum;
  for (u64 b = first; b <= last; ++b) {
    const s64 begin = static_cast<s64>(b << shift);
    const s32 x = begin <= window.from ? 0 : window.columnOf(begin);
    if (sum.units > 0 && x != sum.cell.x) {
      sum.flush(view.cells);
      sum = {};
    }
    const s64 end = static_cast<s64>(std::min<u64>((b + 1) << shift, static_cast<u64>(farthest)));
    const s32 behind = end >= window.to ? window.columns() : window.columnOf(end);
    sum.cell.x = x;
    sum.cell.width = std::max(sum.cell.width, behind - x);
    sum.add(bins[b], static_cast<double>(pyramid.busy(level, b)), units);
  }
  sum.flush(view.cells);
  view.slice = static_cast<s64>(u64{1} << pyramid.shift(0));
}

/// Sums between the borders of cells, each found by search: for windows that hold far more events than pixels.
void cellsBySearch(const Timeline& timeline, const CpuTrack& track, const Lane& lane,
                   const ViewWindow& window, u32 begin, LaneView& view) {
  u32 place = begin;
  LaneWalk walk = walkAt(timeline, track, lane, place);
  u64 counted = walk.state().operations;
  u64 busy = isLaneOfTime(lane.kind) ? busyBefore(timeline, track, lane, window.from) : 0;
  for (s32 c = 0; c < window.columns(); c += searchedCell) {
    const s32 behind = std::min(c + searchedCell, window.columns());
    const s64 to = window.timeOfColumn(behind);
    const u32 next = timeline.gallop(lane, to, place);
    LaneCell cell{c, behind - c, 0, 0, 0, 0};
    if (next != place) {
      const Row row = lane.rows[place];
      cell.classes =
          classOf(*timeline.store, timeline.roles.of(timeline.store->typeIndex(row)), row);
      advance(timeline, track, lane, walk, place, next);
      cell.count = static_cast<u32>(std::min<u64>(walk.state().operations - counted, ~u32{0}));
      cell.densest = cell.count;
      counted = walk.state().operations;
      place = next;
    }
    if (isLaneOfTime(lane.kind)) {
      const u64 now = walk.state().busy + openUnits(timeline, lane, walk, place, to);
      cell.busy = std::clamp(
          static_cast<double>(now - std::min(busy, now)) / (window.unitsPerColumn() * cell.width),
          0.0, 1.0);
      busy = now;
    }
    if (cell.count || cell.busy > 0) view.cells.push_back(cell);
  }
}

/// Few events that stand alone between dense places are shown as what they are.
void lookUpLonelyCells(const Timeline& timeline, const CpuTrack& track, const Lane& lane,
                       const ViewWindow& window, LaneView& view) {
  const auto distance = [&](const LaneCell& left, const LaneCell& right) {
    return (right.x - left.x - left.width) / window.ratio;
  };
  std::vector<LaneCell> kept;
  const std::vector<LaneCell>& cells = view.cells;
  for (std::size_t begin = 0; begin < cells.size();) {
    std::size_t end = begin + 1;
    u64 count = cells[begin].count;
    while (end < cells.size() && distance(cells[end - 1], cells[end]) < roomOfBadge)
      count += cells[end++].count;
    const s32 behind = cells[end - 1].x + cells[end - 1].width;
    if (count > 0 && count <= mostInBadge &&
        (behind - cells[begin].x) / window.ratio <= widthOfBadge) {
      const s64 from = window.timeOfColumn(cells[begin].x);
      const s64 to = window.timeOfColumn(behind);
      const u32 place = timeline.lowerBound(lane, from);
      walkOver(timeline, track, lane, from, to, place, 4 * mostInBadge, view);
    } else {
      kept.insert(kept.end(), cells.begin() + static_cast<std::ptrdiff_t>(begin),
                  cells.begin() + static_cast<std::ptrdiff_t>(end));
    }
    begin = end;
  }
  view.cells = std::move(kept);
}

}  // namespace

ViewWindow ViewWindow::bounded(s64 from, s64 to, double width, double ratio) {
  ViewWindow window;
  window.from = std::clamp(from, -farthest / 2, farthest - 1);
  window.to = std::clamp(to, window.from + 1, farthest);
  window.ratio = ratio >= 0.25 && ratio <= 16 ? ratio : 1;
  window.width = width >= 1 ? std::min(width, mostColumns / window.ratio) : 1;
  window.perUnit_ = window.width / window.units();
  window.columns_ = std::max(1, static_cast<s32>(std::ceil(window.width * window.ratio)));
  return window;
}

s64 ViewWindow::timeOfColumn(s32 column) const {
  if (column >= columns()) return to;
  return std::clamp(from + tickscope::bounded(std::ceil(column * units() / (width * ratio))), from,
                    to);
}

u64 countedBefore(const Timeline& timeline, const CpuTrack& track, const Lane& lane, u32 place) {
  return walkAt(timeline, track, lane, place).state().operations;
}

u64 busyBefore(const Timeline& timeline, const CpuTrack& track, const Lane& lane, s64 time) {
  const u32 place = timeline.lowerBound(lane, time);
  const LaneWalk walk = walkAt(timeline, track, lane, place);
  return walk.state().busy + openUnits(timeline, lane, walk, place, time);
}

LaneView viewLane(const Timeline& timeline, const CpuTrack& track, const Lane& lane,
                  const ViewWindow& window, u32 walk) {
  LaneView view;
  if (lane.rows.empty()) return view;
  const u32 begin = timeline.lowerBound(lane, window.from);
  const u32 end = timeline.gallop(lane, window.to, begin);
  view.counted =
      countedBefore(timeline, track, lane, end) - countedBefore(timeline, track, lane, begin);
  if (isLaneOfTime(lane.kind)) {
    const u64 before = busyBefore(timeline, track, lane, window.from);
    view.busy = busyBefore(timeline, track, lane, window.to) - before;
  }
  const u32 events = end - begin;
  const double units = window.unitsPerColumn();
  const auto level = lane.pyramid.levelFor(units);
  const bool finestIsFine =
      !lane.pyramid.empty() &&
      std::ldexp(1.0, static_cast<int>(lane.pyramid.shift(0))) <= units * widestBin;
  if (events <= walk) {
    const s64 margin = bounded(std::ceil(window.units() * overEdge / window.width));
    const s64 from = std::max(window.from - std::min(margin, farthest / 2), -farthest);
    const s64 to = window.to > farthest - margin ? farthest : window.to + margin;
    const u32 place = timeline.lowerBound(lane, from);
    // Bounded once more, as the margins may be full of events.
    if (begin - place <= walk) {
      walkOver(timeline, track, lane, from, to, place, events + 2 * walk, view);
    } else {
      walkOver(timeline, track, lane, window.from, window.to, begin, events, view);
    }
    return view;
  }
  if (finestIsFine) {
    cellsOfPyramid(lane, window, level.value_or(0), view);
  } else {
    cellsBySearch(timeline, track, lane, window, begin, view);
  }
  if (!isLaneOfTime(lane.kind)) lookUpLonelyCells(timeline, track, lane, window, view);
  return view;
}

}  // namespace tickscope
