// SPDX-License-Identifier: GPL-3.0-or-later
// Heights of lanes and sums of them.
#include "core/timeline/lane_layout.h"

#include <algorithm>
#include <cmath>

namespace tickscope {

namespace {

struct Heights {
  s32 compact, normal;
};
constexpr Heights header{16, 20};
// hrtimers alone have the height of a selected timer row: one strip shows them all.
constexpr std::array<Heights, laneCount> lanes{
    {{14, 20}, {10, 14}, {12, 18}, {30, 38}, {14, 22}, {30, 46}}};
constexpr Heights plainTimerRow{14, 22}, selectedTimerRow{30, 38};

s32 scaled(Heights heights, LaneSize size) {
  switch (size) {
    case LaneSize::Compact:
      return heights.compact;
    case LaneSize::Default:
      return heights.normal;
    case LaneSize::Large:
      return heights.normal * 3 / 2;
    case LaneSize::Huge:
      return heights.normal * 5 / 2;
  }
  return heights.normal;
}

}  // namespace

s32 LaneLayout::heightOf(LaneKind lane) const {
  return static_cast<s32>(std::lround(scaled(lanes[number(lane)], size_) * scale_)) + 1;
}

s32 LaneLayout::heightOf(u32 track, LaneKind lane) const {
  return heightOf(timerRows(track).of(lane).count > 0 ? LaneKind::Wheel : lane);
}

s32 LaneLayout::heightOfTimerRow(bool tall) const {
  const Heights heights = tall ? selectedTimerRow : plainTimerRow;
  return static_cast<s32>(std::lround(scaled(heights, size_) * scale_)) + 1;
}

s32 LaneLayout::heightWithRows(u32 track, LaneKind lane) const {
  const TimerRows::OfLane rows = timerRows(track).of(lane);
  s32 height = heightOf(track, lane);
  for (u32 row = 1; row <= rows.count; ++row) height += heightOfTimerRow(row == rows.tall);
  return height;
}

s32 LaneLayout::headerHeight() const {
  const s32 height = size_ == LaneSize::Compact ? header.compact : header.normal;
  return static_cast<s32>(std::lround(height * scale_)) + 1;
}

void LaneLayout::setScale(double scale) {
  scale = scale >= 1 ? std::min(scale, 4.0) : 1;
  if (scale == scale_) return;
  scale_ = scale;
  measure();
}

void LaneLayout::reset(u32 tracks) {
  folded_.assign(tracks, false);
  rows_.clear();
  measure();
}

void LaneLayout::setTimerRows(std::vector<TimerRows> rows) {
  if (rows == rows_) return;
  rows_ = std::move(rows);
  measure();
}

void LaneLayout::setFolded(u32 track, bool folded) {
  folded_[track] = folded;
  measure();
}

void LaneLayout::setAllFolded(bool folded) {
  folded_.assign(folded_.size(), folded);
  measure();
}

void LaneLayout::setSize(LaneSize size) {
  size_ = size;
  measure();
}

void LaneLayout::measure() {
  tops_.assign(1, 0);
  for (u32 track = 0; track < tracks(); ++track) {
    s64 bottom = tops_.back() + headerHeight();
    for (std::size_t l = 0; l < laneCount && !folded_[track]; ++l)
      bottom += heightWithRows(track, static_cast<LaneKind>(l));
    tops_.push_back(bottom);
  }
}

u32 LaneLayout::trackAt(s64 y) const {
  const auto above = std::upper_bound(tops_.begin(), tops_.end(), y);
  return static_cast<u32>(above - tops_.begin()) - 1;
}

std::vector<StripPlace> LaneLayout::placesIn(s64 from, s64 to) const {
  std::vector<StripPlace> places;
  from = std::max<s64>(from, 0);
  if (from >= height()) return places;
  for (u32 track = trackAt(from); track < tracks() && tops_[track] < to; ++track) {
    StripPlace place = headerOf(track);
    if (place.y + place.height > from) places.push_back(place);
    if (folded_[track]) continue;
    for (std::size_t l = 0; l < laneCount; ++l) {
      const LaneKind lane = static_cast<LaneKind>(l);
      for (u32 row = 0; row <= timerRows(track).of(lane).count; ++row) {
        place = placeOf(track, lane, row);
        if (place.y >= to) break;
        if (place.y + place.height > from) places.push_back(place);
      }
    }
  }
  return places;
}

Known<StripPlace> LaneLayout::at(s64 y) const {
  if (y < 0 || y >= height()) return {};
  const auto places = placesIn(y, y + 1);
  if (places.empty()) return {};
  return places.front();
}

StripPlace LaneLayout::headerOf(u32 track) const {
  return {track, true, folded_[track], LaneKind::Task, tops_[track], headerHeight()};
}

StripPlace LaneLayout::placeOf(u32 track, LaneKind lane, u32 timerRow) const {
  if (folded_[track]) return headerOf(track);
  s64 y = tops_[track] + headerHeight();
  for (std::size_t l = 0; l < number(lane); ++l)
    y += heightWithRows(track, static_cast<LaneKind>(l));
  s32 height = heightOf(track, lane);
  const TimerRows::OfLane rows = timerRows(track).of(lane);
  timerRow = std::min(timerRow, rows.count);
  for (u32 row = 1; row <= timerRow; ++row) {
    y += height;
    height = heightOfTimerRow(row == rows.tall);
  }
  return {track, false, false, lane, y, height, timerRow, rows.count};
}

}  // namespace tickscope
