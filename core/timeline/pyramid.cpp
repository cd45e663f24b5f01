// SPDX-License-Identifier: GPL-3.0-or-later
// Fills and halves the levels of a pyramid.
#include "core/timeline/pyramid.h"

#include <algorithm>
#include <cmath>

namespace tickscope {

namespace {

constexpr u32 mostDensest = (1U << 24U) - 1;

u32 saturated(u64 value) { return static_cast<u32>(std::min<u64>(value, ~u32{0})); }

}  // namespace

Pyramid::Pyramid(s64 last, u64 events) {
  const u64 wanted = std::clamp<u64>(events / 6, fewestBins, mostBins);
  const u64 length = last < 0 ? 1 : static_cast<u64>(last) + 1;
  while (((length - 1) >> shift_) + 1 > wanted) ++shift_;
  const auto bins = static_cast<std::size_t>(((length - 1) >> shift_) + 1);
  levels_.emplace_back(bins);
  exactBusy_.assign(bins, 0);
}

void Pyramid::add(s64 time, u32 count, u8 classes) {
  if (time < 0) time = 0;
  const auto at = static_cast<u64>(time) >> shift_;
  Bin& bin = levels_[0][std::min<u64>(at, levels_[0].size() - 1)];
  bin.count = saturated(u64{bin.count} + count);
  bin.classes = static_cast<u8>(bin.classes | classes);
}

void Pyramid::addBusy(s64 from, s64 to) {
  from = std::max<s64>(from, 0);
  const u64 end = static_cast<u64>(exactBusy_.size()) << shift_;
  if (to <= from || static_cast<u64>(from) >= end) return;
  const u64 begin = static_cast<u64>(from);
  const u64 behind = std::min(static_cast<u64>(to), end);
  const u64 firstBin = begin >> shift_;
  const u64 lastBin = (behind - 1) >> shift_;
  if (firstBin == lastBin) {
    exactBusy_[firstBin] += behind - begin;
    return;
  }
  const u64 length = u64{1} << shift_;
  exactBusy_[firstBin] += ((firstBin + 1) << shift_) - begin;
  for (u64 bin = firstBin + 1; bin < lastBin; ++bin) exactBusy_[bin] += length;
  exactBusy_[lastBin] += behind - (lastBin << shift_);
}

void Pyramid::finish() {
  if (levels_.empty()) return;
  std::vector<u64> busy = std::move(exactBusy_);
  exactBusy_ = {};
  for (std::size_t i = 0; i < busy.size(); ++i) {
    Bin& bin = levels_[0][i];
    bin.busy = saturated(busy[i] >> busyShiftOf(shift_));
    bin.densest = std::min(bin.count, mostDensest) & mostDensest;
  }
  while (levels_.back().size() > fewestBins) {
    const std::vector<Bin>& below = levels_.back();
    std::vector<Bin> above((below.size() + 1) / 2);
    for (std::size_t i = 0; i < above.size(); ++i) {
      const Bin left = below[2 * i];
      const Bin right = 2 * i + 1 < below.size() ? below[2 * i + 1] : Bin{};
      const u64 leftBusy = busy[2 * i];
      const u64 rightBusy = 2 * i + 1 < below.size() ? busy[2 * i + 1] : 0;
      busy[i] = leftBusy + rightBusy;
      Bin& bin = above[i];
      bin.count = saturated(u64{left.count} + right.count);
      bin.busy = saturated(busy[i] >> busyShiftOf(shift(levels())));
      bin.densest = std::max<u32>(left.densest, right.densest) & mostDensest;
      bin.classes = static_cast<u8>(left.classes | right.classes);
    }
    levels_.push_back(std::move(above));
  }
}

Known<u32> Pyramid::levelFor(double units) const {
  if (empty() || !(units >= std::ldexp(1.0, static_cast<int>(shift_)))) return {};
  u32 level = 0;
  while (level + 1 < levels() && std::ldexp(1.0, static_cast<int>(shift(level + 1))) <= units)
    ++level;
  return level;
}

u64 Pyramid::bytes() const {
  u64 sum = levels_.capacity() * sizeof(levels_[0]);
  for (const auto& level : levels_) sum += level.capacity() * sizeof(Bin);
  return sum;
}

}  // namespace tickscope
