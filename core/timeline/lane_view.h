// SPDX-License-Identifier: GPL-3.0-or-later
// What of one lane lies in a window of time: its spans and operations, or where they are too many, cells of sums.
#pragma once

#include <algorithm>
#include <vector>

#include "core/timeline/scene.h"

namespace tickscope {

/// A window of time on a row of pixels. Times are relative to Timeline::origin.
struct ViewWindow {
  s64 from{}, to{};  ///< from < to
  double width{};    ///< logical pixels, above 0
  double ratio = 1;  ///< device pixels in one

  /// Brings any numbers into bounds in which nothing here overflows: times within `farthest` of 0, at least a unit
  /// long, at most 2^14 device pixels.
  [[nodiscard]] static ViewWindow bounded(s64 from, s64 to, double width, double ratio);
  [[nodiscard]] s32 columns() const { return columns_; }
  [[nodiscard]] double units() const { return static_cast<double>(to - from); }
  [[nodiscard]] double unitsPerColumn() const { return units() / columns_; }
  [[nodiscard]] double x(s64 time) const { return static_cast<double>(time - from) * perUnit_; }
  /// The device pixel of a time, within 0..columns() - 1.
  [[nodiscard]] s32 columnOf(s64 time) const {
    if (time <= from) return 0;
    return static_cast<s32>(std::min(x(time) * ratio, columns_ - 1.0));
  }
  [[nodiscard]] s64 timeOfColumn(s32 column) const;

 private:
  double perUnit_ = 1;  // logical pixels
  s32 columns_ = 1;
};

/// Events of some device pixels that lie beside each other.
struct LaneCell {
  s32 x{}, width = 1;
  u32 count{};    ///< events that count
  u32 densest{};  ///< of these in the slice with most of them
  u8 classes{};
  double busy{};  ///< share of its time, 0 to 1
};

/// What one or two events did together: a restart is one operation.
struct LaneOperation {
  s64 time{};
  Row row{};
  Shape shape{};
  u8 classes{};
  Known<s64> servedAt{};  ///< of a raise: when its softirq was entered
};

struct LaneLink {
  s64 from{}, to{};
  u8 classes{};
};

struct LaneView {
  std::vector<LaneSpan> spans;            ///< wholly or partly in the window, by end
  std::vector<LaneOperation> operations;  ///< in order of time
  std::vector<LaneLink> links;
  std::vector<LaneCell> cells;  ///< in order, without those in which nothing is
  s64 slice = 0;  ///< units of the slices that LaneCell::densest counts in; 0: the cells themselves
  u64 counted = 0;  ///< events that count in the window
  u64 busy = 0;     ///< units of busy time in the window
};

/// A walk over so many events of a lane is affordable in a picture of some lanes.
inline constexpr u32 usualWalk = 8192;

/// Its cost is bounded by the pixels and `walk` events, not by the events of the window: where a window holds more,
/// cells of sums are given in place of spans and operations.
LaneView viewLane(const Timeline& timeline, const CpuTrack& track, const Lane& lane,
                  const ViewWindow& window, u32 walk = usualWalk);

/// Busy units of a lane from its beginning up to `time`.
u64 busyBefore(const Timeline& timeline, const CpuTrack& track, const Lane& lane, s64 time);
/// Events that count before a place of the lane.
u64 countedBefore(const Timeline& timeline, const CpuTrack& track, const Lane& lane, u32 place);

}  // namespace tickscope
