// SPDX-License-Identifier: GPL-3.0-or-later
// The wheel's index formula by worked examples, and its inverse against it.
#include "core/model/wheel_geometry.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

namespace tickscope {
namespace {

constexpr WheelGeometry wide{};
constexpr WheelGeometry shallow{.depth = 8};
constexpr WheelGeometry narrow{.wordBits = 32};

struct Example {
  int number;
  WheelGeometry geometry;
  u64 clk, expires;
  u16 index;
  u64 bucketExpiry;
  s64 rounding;
};
const Example examples[] = {
    {1, wide, 1000, 1000, 41, 1001, 1},
    {2, wide, 1000, 1062, 39, 1063, 1},
    {3, wide, 1000, 1063, 69, 1064, 1},
    {4, wide, 1000, 1504, 152, 1536, 32},
    {5, wide, 1000, 999, 40, 1000, 1},
    {6, wide, 4294937296, 4294937546, 122, 4294937552, 6},
    {7, wide, 4294937296, 4294944796, 213, 4294945280, 484},
    {8, wide, 1000, 132121576, 520, 134217728, 2096152},
    {9, wide, 1000, 1056965608, 575, 1056964608, -1000},
    {10, shallow, 1000, 132121576, 511, 132120576, -1000},
    {11, narrow, 0xFFFFFFF0, 0x00000005, 6, 0x6, 1},
    {12, narrow, 0xFFFFFFF0, 0x0000011C, 100, 0x120, 4},
    {13, wide, 4294937296, 4494937296, 524, 4496293888, 1356592},
    {14, wide, 99496, 100001, 155, 100032, 31},
    {15, wide, 95968, 100001, 196, 100352, 351},
};

TEST(WheelFormula, GivesTheWorkedExamples) {
  for (const Example& example : examples) {
    const Bucket bucket = bucketFor(example.geometry, example.clk, example.expires);
    const std::string input =
        fmt::format("example {}: clk {}, expires {}", example.number, example.clk, example.expires);
    EXPECT_EQ(bucket.index, example.index) << input;
    EXPECT_EQ(bucket.expiry, example.bucketExpiry) << input;
    EXPECT_EQ(example.geometry.distance(bucket.expiry, example.expires), example.rounding) << input;
    EXPECT_EQ(bucket.clamped, example.rounding == -1000) << input;
    EXPECT_EQ(bucket.level(), example.index / 64) << input;
  }
}

TEST(WheelFormula, WithTheOldClampPutsTheLastLevelIntoOneBucket) {
  WheelGeometry geometry = wide;
  geometry.clampBug = true;
  const Bucket bucket = bucketFor(geometry, 4294937296, 4494937296);
  EXPECT_EQ(bucket.index, 575);
  EXPECT_TRUE(bucket.clamped);
  // The bucket is run when its slot comes round: a multiple of 8^8 with the slot's number, at or after clk.
  EXPECT_EQ(bucket.expiry >> 24U & 63U, 63U) << bucket.expiry;
  EXPECT_EQ(bucket.expiry & 0xffffffU, 0U) << bucket.expiry;
  EXPECT_GE(bucket.expiry, 4294937296U);
  EXPECT_LT(bucket.expiry, 4294937296U + (u64{64} << 24U));
  // Below the last level, and with small absolute values, the old and the new formula agree.
  EXPECT_EQ(bucketFor(geometry, 1000, 132121576), bucketFor(wide, 1000, 132121576));
  EXPECT_EQ(bucketFor(geometry, 4294937296, 4294944796), bucketFor(wide, 4294937296, 4294944796));
}

TEST(WheelFormula, HasTheLimitsOfTheLevels) {
  const u64 ends[] = {62, 503, 4031, 32255, 258047, 2064383, 16515071, 132120575, 1056964607};
  for (u8 level = 0; level < 9; ++level) {
    EXPECT_EQ(bucketFor(wide, 5000, 5000 + ends[level]).level(), level) << "delta " << ends[level];
    EXPECT_EQ(WheelGeometry::start(static_cast<u8>(level + 1)), ends[level] + 1);
    if (level < 8) {
      EXPECT_EQ(bucketFor(wide, 5000, 5001 + ends[level]).level(), level + 1)
          << "delta " << ends[level] + 1;
    }
  }
  EXPECT_EQ(wide.cutoff(), 1056964608U);
  EXPECT_EQ(wide.maxTimeout(), 1040187392U);
  EXPECT_EQ(shallow.cutoff(), 132120576U);
}

TEST(WheelInverse, GivesTheBucketExpiryOfTheWorkedExamplesWithoutClk) {
  for (const Example& example : examples) {
    if (example.number >= 14) continue;
    EXPECT_EQ(bucketExpiryOf(example.geometry, example.index, example.expires, example.clk),
              example.bucketExpiry)
        << "example " << example.number;
  }
  EXPECT_EQ(bucketExpiryOf(wide, 155, 100001, 100000), 100032U);
  EXPECT_EQ(bucketExpiryOf(wide, 196, 100001, 100000), 100352U);
}

TEST(WheelInverse, IsSilentWhereNoClkGivesTheIndex) {
  // Slot 41 is that of expires 1000; no lag moves it to slot 42.
  EXPECT_EQ(bucketExpiryOf(wide, 42, 1000, 1000), Known<u64>{});
  EXPECT_EQ(impliedLag(wide, 42, 1000, 1000).has_value(), false);
  // Level 0 for 500 jiffies ahead needs a clk in the future.
  const u16 tooFine = static_cast<u16>((1500 + 1) & 63);
  EXPECT_EQ(bucketExpiryOf(wide, tooFine, 1500, 1000), Known<u64>{});
  EXPECT_EQ(impliedLag(wide, tooFine, 1500, 1000).has_value(), false);
  // The wheel has no such level.
  EXPECT_EQ(bucketExpiryOf(wide, 576, 1000, 1000), Known<u64>{});
  EXPECT_EQ(bucketExpiryOf(shallow, 512, 1000, 1000), Known<u64>{});
}

TEST(WheelInverse, NamesTheLagOfAStaleClk) {
  const Known<ClkLag> near = impliedLag(wide, 155, 100001, 100000);
  ASSERT_TRUE(near);
  EXPECT_EQ(near->least, 503U);
  EXPECT_EQ(near->most, 4030U);
  const Known<ClkLag> far = impliedLag(wide, 196, 100001, 100000);
  ASSERT_TRUE(far);
  EXPECT_EQ(far->least, 4031U);
  EXPECT_EQ(far->most, 32254U);
  const Known<ClkLag> right = impliedLag(wide, static_cast<u16>(100002 & 63), 100001, 100000);
  ASSERT_TRUE(right);
  EXPECT_EQ(right->least, 0U);
  EXPECT_EQ(right->most, 61U);
}

struct Draw {
  WheelGeometry geometry;
  u64 now, lag, expires;
};
class Draws {
 public:
  explicit Draws(u64 seed) : random_(seed) {}
  /// A clk near jiffies, near a wrap or anywhere, and an expiry of any level or in the past.
  Draw next() {
    Draw draw;
    draw.geometry.wordBits = random_() % 2 ? 32 : 64;
    draw.geometry.depth = random_() % 2 ? 8 : 9;
    const u64 edges[] = {0, u64{1} << 32U, u64{1} << 31U, random_()};
    draw.now = draw.geometry.wrap(edges[random_() % 4] + random_() % 4096 - 2048);
    draw.lag = random_() % 4 ? 0 : random_() % 6000;
    if (random_() % 8 == 0) {
      draw.expires = draw.now - draw.lag - random_() % 62;
    } else {
      const u64 span = u64{1} << random_() % 31U;
      draw.expires = draw.now + random_() % span;
    }
    draw.expires = draw.geometry.wrap(draw.expires);
    return draw;
  }
  std::mt19937_64& random() { return random_; }

 private:
  std::mt19937_64 random_;
};

TEST(WheelInverse, AgreesWithTheFormulaForAnyArm) {
  constexpr u64 seed = 20260310;
  Draws draws(seed);
  u64 clamped = 0, past = 0;
  for (int i = 0; i < 300000; ++i) {
    const Draw draw = draws.next();
    const u64 clk = draw.geometry.wrap(draw.now - draw.lag);
    const Bucket bucket = bucketFor(draw.geometry, clk, draw.expires);
    const std::string input =
        fmt::format("seed {} draw {}: W {} depth {} now {} lag {} expires {} -> {} {}", seed, i,
                    draw.geometry.wordBits, draw.geometry.depth, draw.now, draw.lag, draw.expires,
                    bucket.index, bucket.expiry);
    const Known<ClkLag> lag =
        impliedLag(draw.geometry, bucket.index, draw.expires, draw.now, u64{1} << 30U);
    ASSERT_TRUE(lag) << input;
    ASSERT_LE(lag->least, draw.lag) << input;
    ASSERT_GE(lag->most, draw.lag) << input;
    for (const u64 end : {lag->least, lag->most}) {
      const Bucket again =
          bucketFor(draw.geometry, draw.geometry.wrap(draw.now - end), draw.expires);
      ASSERT_EQ(again.index, bucket.index) << input << " with lag " << end;
    }
    // A past expiry leaves several turns of its slot to a clk that is far behind: then only now counts.
    if (draw.geometry.distance(draw.now, draw.expires) > 61 && draw.lag > 61) continue;
    clamped += bucket.clamped;
    past += draw.geometry.before(draw.expires, clk);
    ASSERT_EQ(bucketExpiryOf(draw.geometry, bucket.index, draw.expires, draw.now), bucket.expiry)
        << input;
  }
  EXPECT_GT(clamped, 1000U);
  EXPECT_GT(past, 1000U);
}

TEST(WheelInverse, FindsEveryLagThatSearchFinds) {
  constexpr u64 seed = 7;
  Draws draws(seed);
  u64 found = 0;
  for (int i = 0; i < 3000; ++i) {
    const Draw draw = draws.next();
    const u16 index = static_cast<u16>(
        draws.random()() % 3 == 0
            ? draws.random()() % 576
            : bucketFor(draw.geometry, draw.geometry.wrap(draw.now - draw.lag), draw.expires)
                  .index);
    constexpr u64 limit = 2000;
    Known<ClkLag> expected;
    for (u64 lag = 0; lag <= limit; ++lag) {
      const u64 clk = draw.geometry.wrap(draw.now - lag);
      if (bucketFor(draw.geometry, clk, draw.expires).index != index) continue;
      if (!expected) expected = ClkLag{lag, lag};
      expected->most = lag;
    }
    const Known<ClkLag> seen = impliedLag(draw.geometry, index, draw.expires, draw.now, limit);
    const std::string input =
        fmt::format("seed {} draw {}: W {} depth {} now {} expires {} index {}", seed, i,
                    draw.geometry.wordBits, draw.geometry.depth, draw.now, draw.expires, index);
    ASSERT_EQ(seen.has_value(), expected.has_value()) << input;
    if (!expected) continue;
    ++found;
    EXPECT_EQ(seen->least, expected->least) << input;
    EXPECT_EQ(seen->most, expected->most) << input;
  }
  EXPECT_GT(found, 1000U);
}

TEST(WheelInverse, TakesAnyNumbersOfADamagedFile) {
  const u64 values[] = {0, 1, ~u64{0}, u64{1} << 63U, (u64{1} << 63U) - 1, 0xffffffff, 0x80000000};
  for (const u8 bits : {u8{32}, u8{64}}) {
    for (const bool bug : {false, true}) {
      const WheelGeometry geometry{.wordBits = bits, .clampBug = bug};
      for (const u64 now : values) {
        for (const u64 expires : values) {
          const Bucket bucket = bucketFor(geometry, now, expires);
          EXPECT_LT(bucket.index, 576) << now << " " << expires;
          for (const u16 index : {u16{0}, u16{63}, u16{575}, u16{1023}, bucket.index}) {
            bucketExpiryOf(geometry, index, expires, now);
            const Known<ClkLag> lag = impliedLag(geometry, index, expires, now);
            EXPECT_TRUE(!lag || lag->least <= lag->most) << now << " " << expires;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace tickscope
