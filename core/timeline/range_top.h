// SPDX-License-Identifier: GPL-3.0-or-later
// Greatest values over ranges of places: blocks of 16, of 16 blocks, and so on, above values that are kept elsewhere.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "core/base/quantity.h"

namespace tickscope {

/// `leaf(place)` gives a value; the same function must be given to every call.
class RangeTop {
 public:
  static constexpr s64 none = std::numeric_limits<s64>::min();

  template <class Leaf>
  void build(u32 count, Leaf&& leaf) {
    count_ = count;
    levels_.clear();
    for (u32 below = count; below > fan;) {
      const u32 blocks = (below + fan - 1) / fan;
      std::vector<s64> tops(blocks, none);
      for (u32 i = 0; i < below; ++i) {
        const s64 value = levels_.empty() ? leaf(i) : levels_.back()[i];
        tops[i / fan] = std::max(tops[i / fan], value);
      }
      levels_.push_back(std::move(tops));
      below = blocks;
    }
  }

  /// The greatest of the places from..to - 1; `none` when there are none.
  template <class Leaf>
  [[nodiscard]] s64 top(u32 from, u32 to, Leaf&& leaf) const {
    s64 best = none;
    to = std::min(to, count_);
    for (std::size_t level = 0; from < to; ++level) {
      const auto value = [&](u32 i) { return level == 0 ? leaf(i) : levels_[level - 1][i]; };
      if (level == levels_.size()) {
        for (; from < to; ++from) best = std::max(best, value(from));
        break;
      }
      for (; from < to && from % fan; ++from) best = std::max(best, value(from));
      for (; from < to && to % fan; --to) best = std::max(best, value(to - 1));
      from /= fan;
      to /= fan;
    }
    return best;
  }

  /// Calls `take(place)` for the places below `end` whose value is not below `least`, from the first on, until it
  /// says false.
  template <class Leaf, class Take>
  void forEachFrom(u32 end, s64 least, Leaf&& leaf, Take&& take) const {
    for (u32 i = 0; i < std::min(end, count_);) {
      u32 skip = 1;
      for (const std::vector<s64>& tops : levels_) {
        // Whole blocks in which nothing is high enough are passed over.
        if (i % (skip * fan) != 0 || tops[i / (skip * fan)] >= least) break;
        skip *= fan;
      }
      if (skip == 1 && leaf(i) >= least && !take(i)) return;
      i += skip;
    }
  }

  [[nodiscard]] u64 bytes() const {
    u64 sum = 0;
    for (const auto& tops : levels_) sum += tops.capacity() * sizeof(s64);
    return sum;
  }

 private:
  static constexpr u32 fan = 16;
  std::vector<std::vector<s64>> levels_;
  u32 count_ = 0;
};

}  // namespace tickscope
