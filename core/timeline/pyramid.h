// SPDX-License-Identifier: GPL-3.0-or-later
// Counts and busy time of a lane in bins of 2^k units, each level half as many bins as the one below.
#pragma once

#include <span>
#include <vector>

#include "core/base/quantity.h"

namespace tickscope {

struct Bin {
  u32 count = 0;         ///< events that begin in it
  u32 busy = 0;          ///< units of busy time, in steps of 2^Pyramid::busyShift
  u32 densest : 24 = 0;  ///< the largest count of a bin of the finest level within it
  u32 classes : 8 = 0;   ///< a bit for each class of event in it
  bool operator==(const Bin&) const = default;
};
static_assert(sizeof(Bin) == 12);

/// Filled in any order by add() and addBusy(), then summed up once by finish(). All sums saturate.
class Pyramid {
 public:
  static constexpr u32 mostBins = 1U << 16U;
  static constexpr u32 fewestBins =
      256;  ///< no coarser level than this is kept: no view is narrower

  Pyramid() = default;
  /// Bins for times 0..last of a lane of `events` events: one for 6 to 12, at most mostBins.
  Pyramid(s64 last, u64 events);

  void add(s64 time, u32 count, u8 classes);
  /// Adds the busy time from..to to every bin that it touches.
  void addBusy(s64 from, s64 to);
  void finish();

  [[nodiscard]] bool empty() const { return levels_.empty(); }
  [[nodiscard]] u32 levels() const { return static_cast<u32>(levels_.size()); }
  /// Bins of a level are 2^shift(level) units long and begin at 0.
  [[nodiscard]] u32 shift(u32 level) const { return shift_ + level; }
  [[nodiscard]] std::span<const Bin> bins(u32 level) const { return levels_[level]; }
  [[nodiscard]] u32 busyShift(u32 level) const { return busyShiftOf(shift(level)); }
  [[nodiscard]] u64 busy(u32 level, u64 bin) const {
    return static_cast<u64>(levels_[level][bin].busy) << busyShift(level);
  }
  /// The coarsest level whose bins are not longer than `units`; empty: even the finest ones are.
  [[nodiscard]] Known<u32> levelFor(double units) const;
  [[nodiscard]] u64 bytes() const;

 private:
  /// So that a bin that is busy all the time still fits 32 bits.
  static u32 busyShiftOf(u32 shift) { return shift > 31 ? shift - 31 : 0; }

  u32 shift_ = 0;
  std::vector<std::vector<Bin>> levels_;
  std::vector<u64> exactBusy_;  // of the finest level, until finish()
};

}  // namespace tickscope
