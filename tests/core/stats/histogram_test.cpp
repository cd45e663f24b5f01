// SPDX-License-Identifier: GPL-3.0-or-later
// Bins within 3 %, merging, exact ends.
#include "core/stats/histogram.h"

#include <gtest/gtest.h>

#include <random>

namespace tickscope {
namespace {

TEST(Histogram, PutsEachValueIntoABinThatHoldsIt) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200'000; ++i) {
    const s64 value = static_cast<s64>(random() >> (1 + random() % 63));
    const std::size_t bin = Histogram::binOf(value);
    ASSERT_LE(Histogram::beginOf(bin), value);
    if (value < Histogram::beginOf(bin + 1)) continue;
    ASSERT_EQ(Histogram::beginOf(bin + 1), std::numeric_limits<s64>::max()) << value;
  }
}

TEST(Histogram, BinsAreExactBelow64AndWithin3PercentAbove) {
  for (s64 value = 0; value < 64; ++value)
    EXPECT_EQ(Histogram::beginOf(Histogram::binOf(value)), value);
  for (s64 value = 64; value < 1'000'000'000'000; value = value * 9 / 8) {
    const std::size_t bin = Histogram::binOf(value);
    const double width = static_cast<double>(Histogram::beginOf(bin + 1) - Histogram::beginOf(bin));
    EXPECT_LE(width, 0.0313 * static_cast<double>(Histogram::beginOf(bin))) << value;
  }
}

TEST(Histogram, MergedPartsAreTheWhole) {
  Histogram whole, parts[3];
  std::mt19937 random(11);
  for (int i = 0; i < 3000; ++i) {
    const s64 value = static_cast<s64>(random() % 1'000'000);
    whole.add(value);
    parts[i % 3].add(value);
  }
  parts[0].merge(parts[1]);
  parts[0].merge(parts[2]);
  EXPECT_EQ(parts[0].count(), whole.count());
  EXPECT_EQ(parts[0].least(), whole.least());
  EXPECT_EQ(parts[0].greatest(), whole.greatest());
  for (const double share : {0.0, 0.5, 0.9, 0.99, 1.0}) {
    EXPECT_EQ(parts[0].percentile(share), whole.percentile(share)) << share;
  }
  EXPECT_DOUBLE_EQ(*parts[0].mean(), *whole.mean());
}

TEST(Histogram, KnowsNothingWithoutValues) {
  const Histogram none;
  EXPECT_FALSE(none.least());
  EXPECT_FALSE(none.percentile(0.5));
  EXPECT_FALSE(none.mean());
  EXPECT_TRUE(none.bins().empty());
}

TEST(Histogram, EndsAreExactAndPercentilesStayWithinThem) {
  Histogram some;
  some.add(1'000'003);
  some.add(-5);
  EXPECT_EQ(some.least(), -5);
  EXPECT_EQ(some.greatest(), 1'000'003);
  EXPECT_EQ(some.percentile(1.0), 1'000'003);
  some.add(std::numeric_limits<s64>::max());
  EXPECT_EQ(some.greatest(), std::numeric_limits<s64>::max());
}

}  // namespace
}  // namespace tickscope
