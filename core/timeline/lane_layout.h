// SPDX-License-Identifier: GPL-3.0-or-later
// Which strip lies where: CPU groups that fold, lane heights, and what is in view.
#pragma once

#include <vector>

#include "core/timeline/lane.h"

namespace tickscope {

/// Lane heights (look.md 5). Compact is for small windows; the larger ones are for looking closely.
enum class LaneSize : u8 { Compact, Default, Large, Huge };

struct StripPlace {
  u32 track{};
  bool header = false;
  bool folded = false;  ///< of a header
  LaneKind lane{};
  s64 y{};  ///< from the top of all lanes
  s32 height{};
  u32 timerRow = 0;   ///< 0: the lane; from 1 on: a row below it, of one timer
  u32 timerRows = 0;  ///< how many the lane has
};

/// Rows of single timers below the timer lanes of a track. `tall`: the row of the selected timer is higher.
struct TimerRows {
  struct OfLane {
    u32 count = 0;
    u32 tall = 0;  ///< 1 for the first; 0: none
    bool operator==(const OfLane&) const = default;
  };
  OfLane hrtimers, wheel;

  [[nodiscard]] OfLane of(LaneKind lane) const {
    return lane == LaneKind::Hrtimer ? hrtimers : lane == LaneKind::Wheel ? wheel : OfLane{};
  }
  /// Of one of the two lanes that can have rows, to be changed.
  [[nodiscard]] OfLane& ofTimers(LaneKind lane) {
    return lane == LaneKind::Hrtimer ? hrtimers : wheel;
  }
  bool operator==(const TimerRows&) const = default;
};

/// Places of all strips of a number of tracks. Look-ups cost the logarithm of the tracks.
class LaneLayout {
 public:
  void reset(u32 tracks);
  [[nodiscard]] u32 tracks() const { return static_cast<u32>(folded_.size()); }
  void setFolded(u32 track, bool folded);
  void setAllFolded(bool folded);
  [[nodiscard]] bool folded(u32 track) const { return folded_[track]; }
  void setSize(LaneSize size);
  [[nodiscard]] LaneSize size() const { return size_; }
  /// One for each track; fewer: the rest has none.
  void setTimerRows(std::vector<TimerRows> rows);
  [[nodiscard]] TimerRows timerRows(u32 track) const {
    return track < rows_.size() ? rows_[track] : TimerRows{};
  }
  /// Heights hold text, so they grow with its size; 1 for 9 pt. Bounded to 1..4.
  void setScale(double scale);
  /// Logical pixels of a lane, its separator included, when no rows of timers are below it.
  [[nodiscard]] s32 heightOf(LaneKind lane) const;
  /// With rows below, hrtimers need no more height than any lane.
  [[nodiscard]] s32 heightOf(u32 track, LaneKind lane) const;
  [[nodiscard]] s32 heightOfTimerRow(bool tall) const;
  [[nodiscard]] s32 headerHeight() const;
  [[nodiscard]] s64 height() const { return tops_.empty() ? 0 : tops_.back(); }
  /// The strips that touch the range of y, from the top.
  [[nodiscard]] std::vector<StripPlace> placesIn(s64 from, s64 to) const;
  /// The strip at y; empty: above the first or below the last.
  [[nodiscard]] Known<StripPlace> at(s64 y) const;
  /// Where a lane lies, even when its CPU is folded: then it is the header.
  [[nodiscard]] StripPlace placeOf(u32 track, LaneKind lane, u32 timerRow = 0) const;
  [[nodiscard]] StripPlace headerOf(u32 track) const;

 private:
  void measure();
  [[nodiscard]] s32 heightWithRows(u32 track, LaneKind lane) const;
  [[nodiscard]] u32 trackAt(s64 y) const;

  std::vector<bool> folded_;
  std::vector<TimerRows> rows_;
  std::vector<s64> tops_;  // of each track, and the end
  LaneSize size_ = LaneSize::Default;
  double scale_ = 1;
};

}  // namespace tickscope
