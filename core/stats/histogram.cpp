// SPDX-License-Identifier: GPL-3.0-or-later
// Bins and percentiles.
#include "core/stats/histogram.h"

#include <cmath>

namespace tickscope {

namespace {

constexpr u32 stepBits = 5;                      // 32 bins a power of two
constexpr u64 exact = u64{1} << (stepBits + 1);  // below: a bin a value

}  // namespace

std::size_t Histogram::binOf(s64 value) {
  const u64 v = value > 0 ? static_cast<u64>(value) : 0;
  if (v < exact) return v;
  const auto power = static_cast<u32>(std::bit_width(v)) - 1;  // at least stepBits + 1
  const u64 step = (v >> (power - stepBits)) - (u64{1} << stepBits);
  return exact + (u64{power} - stepBits - 1) * (u64{1} << stepBits) + step;
}

s64 Histogram::beginOf(std::size_t bin) {
  if (bin < exact) return static_cast<s64>(bin);
  const u64 behind = bin - exact;
  const u64 power = stepBits + 1 + (behind >> stepBits);
  const u64 step = behind & ((u64{1} << stepBits) - 1);
  const u64 begin = ((u64{1} << stepBits) + step) << (power - stepBits);
  constexpr u64 most = static_cast<u64>(std::numeric_limits<s64>::max());
  return static_cast<s64>(std::min(begin, most));
}

void Histogram::merge(const Histogram& other) {
  if (other.counts_.size() > counts_.size()) counts_.resize(other.counts_.size());
  for (std::size_t i = 0; i < other.counts_.size(); ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  squares_ += other.squares_;
  least_ = std::min(least_, other.least_);
  greatest_ = std::max(greatest_, other.greatest_);
}

Known<double> Histogram::mean() const {
  if (count_ == 0) return {};
  return sum_ / static_cast<double>(count_);
}

Known<double> Histogram::deviation() const {
  if (count_ == 0) return {};
  const double mean = sum_ / static_cast<double>(count_);
  return std::sqrt(std::max(0.0, squares_ / static_cast<double>(count_) - mean * mean));
}

Known<s64> Histogram::percentile(double share) const {
  if (count_ == 0) return {};
  const double wanted = std::clamp(share, 0.0, 1.0) * static_cast<double>(count_);
  const u64 rank = std::max<u64>(1, static_cast<u64>(std::ceil(wanted)));
  u64 below = 0;
  for (std::size_t bin = 0; bin < counts_.size(); ++bin) {
    below += counts_[bin];
    if (below < rank) continue;
    const s64 begin = beginOf(bin);
    const s64 middle = begin + (beginOf(bin + 1) - 1 - begin) / 2;
    return std::clamp(middle, least_, greatest_);
  }
  return greatest_;
}

std::vector<Histogram::Bin> Histogram::bins() const {
  std::vector<Bin> made;
  for (std::size_t bin = 0; bin < counts_.size(); ++bin) {
    if (counts_[bin]) made.push_back({beginOf(bin), beginOf(bin + 1), counts_[bin]});
  }
  return made;
}

}  // namespace tickscope
