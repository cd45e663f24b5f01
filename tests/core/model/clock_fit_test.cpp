// SPDX-License-Identifier: GPL-3.0-or-later
// Lines through anchors whose truth is known.
#include "core/model/clock_fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace tickscope {
namespace {

constexpr s64 second = 1'000'000'000, ms = 1'000'000, us = 1'000;

/// A clock that reads start + (mono - begin) / rate, and from a monotonic time on another line.
struct TrueClock {
  struct Part {
    s64 from;
    s64 stamp;
    double rate;  ///< mono ns a unit
  };
  std::vector<Part> parts;
  [[nodiscard]] s64 stamp(s64 mono) const {
    const Part* of = &parts.front();
    for (const Part& part : parts) {
      if (part.from <= mono) of = &part;
    }
    return of->stamp + std::llround(static_cast<double>(mono - of->from) / of->rate);
  }
};

struct Noise {
  s64 least = 2 * us;
  double mean = 10e3;   ///< ns, exponential
  double rare = 0.005;  ///< so many are late by up to 20 ms
};

/// Passes every 0.1 to 4 ms.
std::vector<ClockAnchor> anchorsOf(const TrueClock& clock, s64 from, s64 to, u32 seed,
                                   const Noise& noise = {}) {
  std::mt19937 random(seed);
  std::exponential_distribution<double> late(1 / noise.mean);
  std::uniform_int_distribution<s64> pause(100 * us, 4 * ms), long_(0, 20 * ms);
  std::bernoulli_distribution rare(noise.rare);
  std::vector<ClockAnchor> anchors;
  for (s64 now = from; now < to; now += pause(random)) {
    s64 delay = noise.least + static_cast<s64>(late(random));
    if (rare(random)) delay += long_(random);
    anchors.push_back({clock.stamp(now + delay), now});
  }
  return anchors;
}

/// The piece that holds at a monotonic time; null between two.
const ClockPiece* at(const std::vector<ClockPiece>& pieces, s64 mono) {
  for (const ClockPiece& piece : pieces) {
    if (piece.first.now <= mono && mono <= piece.last.now) return &piece;
  }
  return nullptr;
}

void expectTrue(const std::vector<ClockPiece>& pieces, const TrueClock& clock, s64 from, s64 to,
                const std::string& what) {
  for (s64 mono = from; mono < to; mono += 7 * ms) {
    const ClockPiece* piece = at(pieces, mono);
    if (piece == nullptr) continue;
    const s64 found = piece->monoOf(clock.stamp(mono));
    ASSERT_LE(std::abs(found - mono), piece->errorAt(mono))
        << what << ": at " << mono << " found " << found << ", rate " << piece->rate
        << ", half-width " << piece->halfWidth;
    // Whole units of a coarse clock cost up to one of them.
    const s64 back = piece->monoOf(piece->stampOf(found));
    ASSERT_LE(std::abs(back - found), std::llround(piece->rate) + 1) << what;
  }
}

TEST(ClockFit, IsWithinItsErrorOfTheTruth) {
  for (const double rate : {1.0, 1 + 4e-4, 1 - 4e-4, 1 + 1.9e-3, 1 - 1.9e-3, 0.408933721, 2.5}) {
    for (u32 seed = 1; seed <= 12; ++seed) {
      for (const s64 span : {second / 3, 3 * second, 20 * second}) {
        const s64 from = 300 * second + seed;
        const TrueClock clock{{{from, 5'200 * second / 1000 * seed, rate}}};
        const auto anchors = anchorsOf(clock, from, from + span, seed);
        const bool near = std::abs(rate - 1) < 2e-3;
        const RateRule rule = near ? RateRule{1 - 2e-3, 1 + 2e-3} : RateRule{0, 0};
        const auto pieces = fitClock(anchors, rule);
        const std::string what = "seed " + std::to_string(seed) + ", rate " + std::to_string(rate) +
                                 ", " + std::to_string(span / ms) + " ms";
        ASSERT_EQ(pieces.size(), 1U) << what;
        EXPECT_LT(pieces[0].halfWidth, 60 * us) << what;
        EXPECT_GE(pieces[0].leastResidual, -1) << what;
        EXPECT_NEAR(pieces[0].rate / rate, 1, 2e-4) << what;
        expectTrue(pieces, clock, from, from + span, what);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(ClockFit, OfAGivenRateNeedsOneAnchor) {
  const auto pieces = fitClock(std::vector<ClockAnchor>{{1'500, 1'000}}, {1, 1});
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0].monoOf(2'500), 2'000);
  EXPECT_EQ(pieces[0].stampOf(2'000), 2'500);
}

TEST(ClockFit, WithoutAnchorsIsNone) {
  EXPECT_TRUE(fitClock({}, {1, 1}).empty());
  EXPECT_TRUE(fitClock(std::vector<ClockAnchor>{{1'500, 1'000}}, {0, 0}).empty());
}

TEST(ClockFit, FindsStepsAndIsBlindOnlyAroundThem) {
  for (const s64 step : {-1'500 * ms, -20 * ms, 6 * ms, 700 * ms, 3'600 * second}) {
    for (u32 seed = 1; seed <= 12; ++seed) {
      const s64 from = 100 * second, border = from + 4 * second + 123 * ms * seed;
      const s64 to = from + 9 * second, stamp = 40 * second;
      const TrueClock clock{{{from, stamp, 1}, {border, stamp + border - from + step, 1}}};
      const auto anchors = anchorsOf(clock, from, to, seed);
      for (const RateRule rule : {RateRule{1, 1}, RateRule{1 - 2e-3, 1 + 2e-3}}) {
        const auto pieces = fitClock(anchors, rule);
        const std::string what = "seed " + std::to_string(seed) + ", step " + std::to_string(step) +
                                 (rule.given() ? ", given" : ", free");
        ASSERT_EQ(pieces.size(), 2U) << what;
        EXPECT_TRUE(pieces[1].stepBefore) << what;
        // An anchor that was read before the step may have been stamped after it.
        EXPECT_LE(pieces[0].last.now, border + 30 * ms) << what;
        EXPECT_GE(pieces[1].first.now, border - 30 * ms) << what;
        EXPECT_LE(pieces[1].first.now - pieces[0].last.now, 30 * ms) << what;
        for (s64 mono = from; mono < to; mono += 7 * ms) {
          if (std::abs(mono - border) < 30 * ms) continue;
          const ClockPiece& piece = pieces[mono < border ? 0 : 1];
          ASSERT_LE(std::abs(piece.monoOf(clock.stamp(mono)) - mono), piece.errorAt(mono))
              << what << " at " << mono - from;
        }
      }
    }
  }
}

TEST(ClockFit, FollowsARateThatChangesWithoutAStep) {
  const s64 from = 100 * second, border = from + 60 * second, to = from + 150 * second;
  const double slow = 1 - 50e-6;
  TrueClock clock{{{from, 7 * second, 1}, {border, 0, slow}}};
  clock.parts[1].stamp = clock.parts[0].stamp + border - from;
  for (u32 seed = 1; seed <= 4; ++seed) {
    const auto pieces = fitClock(anchorsOf(clock, from, to, seed), {1 - 2e-3, 1 + 2e-3});
    const std::string what = "seed " + std::to_string(seed);
    ASSERT_GE(pieces.size(), 2U) << what;
    for (const ClockPiece& piece : pieces) {
      EXPECT_FALSE(piece.stepBefore) << what << " at " << piece.first.now - from;
      EXPECT_LT(piece.halfWidth, 200 * us) << what;
    }
    expectTrue(pieces, clock, from, to, what);
  }
}

TEST(ClockFit, TakesLateInterruptsForNoStep) {
  const s64 from = 100 * second, to = from + 6 * second;
  const TrueClock clock{{{from, 7 * second, 1}}};
  for (u32 seed = 1; seed <= 12; ++seed) {
    auto anchors = anchorsOf(clock, from, to, seed);
    // Four interrupts in a row 30 ms late, at different places, the very end among them.
    for (const std::size_t place : {anchors.size() / 3, anchors.size() / 2, anchors.size() - 4}) {
      for (std::size_t i = place; i < place + 4; ++i) anchors[i].stamp += 30 * ms;
    }
    for (const RateRule rule : {RateRule{1, 1}, RateRule{1 - 2e-3, 1 + 2e-3}}) {
      const auto pieces = fitClock(anchors, rule);
      ASSERT_EQ(pieces.size(), 1U) << "seed " << seed << (rule.given() ? ", given" : ", free");
      expectTrue(pieces, clock, from, to, "seed " + std::to_string(seed));
    }
  }
}

TEST(ClockFit, AdmitsAWideErrorForAClockThatKeepsToNoLine) {
  const s64 from = 100 * second, to = from + second;
  const TrueClock clock{{{from, 7 * second, 1}}};
  auto anchors = anchorsOf(clock, from, to, 3);
  for (std::size_t i = 0; i < anchors.size(); i += 9) anchors[i].stamp -= 20 * ms;
  const auto pieces = fitClock(anchors, {1 - 2e-3, 1 + 2e-3});
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_FALSE(pieces[0].envelope);
  EXPECT_GE(pieces[0].halfWidth, 19 * ms);
  EXPECT_LE(pieces[0].halfWidth, 25 * ms);
}

TEST(ClockFit, SurvivesNumbersFromDamagedFiles) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<ClockAnchor> anchors;
    for (int i = 0; i < 40; ++i) {
      anchors.push_back({static_cast<s64>(random()), static_cast<s64>(random())});
    }
    std::sort(anchors.begin(), anchors.end(),
              [](const auto& a, const auto& b) { return a.now < b.now; });
    for (const RateRule rule : {RateRule{1, 1}, RateRule{1 - 2e-3, 1 + 2e-3}, RateRule{0, 0}}) {
      for (const ClockPiece& piece : fitClock(anchors, rule)) {
        EXPECT_GE(piece.anchors, 1U) << "round " << round;
        (void)piece.monoOf(static_cast<s64>(random()));
        (void)piece.stampOf(static_cast<s64>(random()));
      }
    }
  }
}

}  // namespace
}  // namespace tickscope
