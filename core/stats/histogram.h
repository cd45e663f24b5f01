// SPDX-License-Identifier: GPL-3.0-or-later
// A log-linear histogram of non-negative numbers: mergeable, bins within 3 %, least and greatest exact.
#pragma once

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "core/base/quantity.h"

namespace tickscope {

/// Values below 64 have a bin each; above, each power of two has 32 bins, so that a bin's middle is within 1.6 % of
/// any of its values. Negative values count as 0 in bins; `least` keeps them.
class Histogram {
 public:
  void add(s64 value, u64 times = 1) {
    if (times == 0) return;
    const std::size_t bin = binOf(value);
    if (bin >= counts_.size()) counts_.resize(bin + 1);
    counts_[bin] += times;
    count_ += times;
    sum_ += static_cast<double>(value) * static_cast<double>(times);
    squares_ +=
        static_cast<double>(value) * static_cast<double>(value) * static_cast<double>(times);
    least_ = std::min(least_, value);
    greatest_ = std::max(greatest_, value);
  }
  void merge(const Histogram& other);

  [[nodiscard]] u64 count() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] Known<s64> least() const { return count_ ? Known<s64>(least_) : Known<s64>{}; }
  [[nodiscard]] Known<s64> greatest() const {
    return count_ ? Known<s64>(greatest_) : Known<s64>{};
  }
  [[nodiscard]] double sum() const { return sum_; }
  [[nodiscard]] Known<double> mean() const;
  /// Of the whole population.
  [[nodiscard]] Known<double> deviation() const;
  /// The value below or at which that share (0..1) lies, the middle of its bin, within least..greatest.
  [[nodiscard]] Known<s64> percentile(double share) const;

  struct Bin {
    s64 from, to;  ///< half open
    u64 count;
  };
  /// Those that hold something, ascending.
  [[nodiscard]] std::vector<Bin> bins() const;

  /// The bin that a value falls into.
  [[nodiscard]] static std::size_t binOf(s64 value);
  [[nodiscard]] static s64 beginOf(std::size_t bin);

 private:
  std::vector<u64> counts_;
  u64 count_ = 0;
  double sum_ = 0, squares_ = 0;
  s64 least_ = std::numeric_limits<s64>::max(), greatest_ = std::numeric_limits<s64>::min();
};

}  // namespace tickscope
