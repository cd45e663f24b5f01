// SPDX-License-Identifier: GPL-3.0-or-later
// Tops of ranges against looking at every place.
#include "core/timeline/range_top.h"

#include <gtest/gtest.h>

#include <random>

namespace tickscope {
namespace {

TEST(RangeTop, AgreesWithLookingAtEveryPlace) {
  constexpr unsigned seed = 11;
  std::mt19937 random(seed);
  for (const u32 count : {0U, 1U, 15U, 16U, 17U, 255U, 256U, 257U, 5000U}) {
    std::vector<s64> values(count);
    for (s64& value : values) value = std::uniform_int_distribution<s64>(-50, 1000)(random);
    const auto leaf = [&](u32 i) { return values[i]; };
    RangeTop tops;
    tops.build(count, leaf);
    for (int i = 0; i < 300; ++i) {
      const u32 from = std::uniform_int_distribution<u32>(0, count)(random);
      const u32 to = std::uniform_int_distribution<u32>(0, count + 3)(random);
      s64 expected = RangeTop::none;
      for (u32 p = from; p < std::min(to, count); ++p) expected = std::max(expected, values[p]);
      EXPECT_EQ(tops.top(from, to, leaf), expected)
          << "seed " << seed << ", " << count << " values, " << from << ".." << to;

      const s64 least = std::uniform_int_distribution<s64>(900, 1001)(random);
      std::vector<u32> wanted, seen;
      for (u32 p = 0; p < std::min(to, count); ++p) {
        if (values[p] >= least) wanted.push_back(p);
      }
      tops.forEachFrom(to, least, leaf, [&](u32 p) {
        seen.push_back(p);
        return true;
      });
      EXPECT_EQ(seen, wanted) << "seed " << seed << ", " << count << " values below " << to
                              << ", least " << least;
    }
  }
}

}  // namespace
}  // namespace tickscope
