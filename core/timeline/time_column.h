// SPDX-License-Identifier: GPL-3.0-or-later
// Ascending times in half the room: what each is later than the first of its block, where that fits 32 bits.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "core/base/quantity.h"

namespace tickscope {

/// Made once, then only read. Blocks that span 2^32 units or more make the whole column a plain one.
class TimeColumn {
 public:
  TimeColumn() = default;
  /// Precondition: `times` ascends.
  explicit TimeColumn(const std::vector<s64>& times) : size_(static_cast<u32>(times.size())) {
    later_.reserve(times.size());
    for (u32 i = 0; i < size_; ++i) {
      if (i % block == 0) firsts_.push_back(times[i]);
      const u64 apart = static_cast<u64>(times[i]) - static_cast<u64>(firsts_.back());
      if (apart > std::numeric_limits<u32>::max()) {
        firsts_ = times;
        later_ = {};
        firsts_.shrink_to_fit();
        return;
      }
      later_.push_back(static_cast<u32>(apart));
    }
    firsts_.shrink_to_fit();
  }

  [[nodiscard]] u32 size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] s64 operator[](u32 place) const {
    return later_.empty() ? firsts_[place] : firsts_[place / block] + later_[place];
  }
  [[nodiscard]] s64 front() const { return (*this)[0]; }
  /// The first place whose time is not before `time`; size() when there is none.
  [[nodiscard]] u32 lowerBound(s64 time) const { return search(time, 0, size_); }
  /// The same, searched from `place` on with growing steps: cheap when it is near. All before `place` are earlier.
  [[nodiscard]] u32 gallop(s64 time, u32 place) const {
    u32 step = 1;
    u32 high = place;
    while (high < size_ && (*this)[high] < time) {
      place = high + 1;
      high = size_ - high > step ? high + step : size_;
      step *= 2;
    }
    return search(time, place, high);
  }
  [[nodiscard]] u64 bytes() const {
    return firsts_.capacity() * sizeof(s64) + later_.capacity() * sizeof(u32);
  }

 private:
  static constexpr u32 block = 64;

  [[nodiscard]] u32 search(s64 time, u32 low, u32 high) const {
    while (low < high) {
      const u32 middle = low + (high - low) / 2;
      if ((*this)[middle] < time) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  u32 size_ = 0;
  std::vector<s64> firsts_;  // of each block; all times of a plain column
  std::vector<u32> later_;   // empty: a plain column
};

}  // namespace tickscope
