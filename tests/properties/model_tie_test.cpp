// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of different CPUs with equal times may stand in either order: timers have the same lives.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/analysed.h"
#include "tests/support/imported.h"
#include "tests/support/recordings.h"
#include "tests/support/stream_order.h"

namespace tickscope {
namespace {

using support::TieOrder;

/// A row by what does not depend on the order between CPUs.
std::string nameOf(const EventStore& events, Row row) {
  if (row == noRow) return "-";
  return fmt::format("cpu {} event {}", number(events.cpu(row)), events.placeInStream(row));
}

/// All spans with all their figures, sorted.
std::vector<std::string> livesOf(const Analysis& analysis) {
  std::vector<std::string> lives;
  const EventStore& events = analysis.events();
  for (const ArmedSpan& span : analysis.tables.spans) {
    const ModelTimer& timer = analysis.tables.timers[number(span.timer)];
    lives.push_back(fmt::format(
        "{} {:x} armed {} ended {} ({}) expires {} second {} owner {} index {} base {} flags {} "
        "known {} {}",
        timer.of == TimerClass::Wheel ? "wheel" : "hrtimer", number(timer.address),
        nameOf(events, span.armed), nameOf(events, span.ended), static_cast<int>(span.end),
        span.expires, span.second, number(span.owner), span.bucketIndex, span.base, span.flags,
        span.expiryKnown, span.secondKnown));
  }
  std::ranges::sort(lives);
  return lives;
}

/// Neighbouring rows of one time that stand the other way round in `other`.
u64 permutedPairs(const EventStore& one, const EventStore& other) {
  const auto rowIn = [&](Row row) { return other.rowsOf(one.cpu(row))[one.placeInStream(row)]; };
  u64 pairs = 0;
  for (u32 row = 0; row + 1 < one.size(); ++row) {
    if (one.time(Row{row}) != one.time(Row{row + 1})) continue;
    pairs += rowIn(Row{row + 1}) < rowIn(Row{row});
  }
  return pairs;
}

std::string firstDifference(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::string> onlyA, onlyB;
  std::ranges::set_difference(a, b, std::back_inserter(onlyA));
  std::ranges::set_difference(b, a, std::back_inserter(onlyB));
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(onlyA.size(), 4); ++i)
    text += "  first CPU first: " + onlyA[i] + "\n";
  for (std::size_t i = 0; i < std::min<std::size_t>(onlyB.size(), 4); ++i)
    text += "  last CPU first:  " + onlyB[i] + "\n";
  return text;
}

void expectSameLives(const std::string& path, s64 grain) {
  const Recording recording = support::imported(path);
  const Analysis one =
      support::analysed(support::inCoarseTime(recording, grain, TieOrder::FirstCpuFirst));
  const Analysis other =
      support::analysed(support::inCoarseTime(recording, grain, TieOrder::LastCpuFirst));
  const u64 pairs = permutedPairs(one.events(), other.events());
  fmt::print("{}: {} pairs of rows permuted at a grain of {}\n", path, pairs, grain);
  EXPECT_GT(pairs, 0U) << path << " at a grain of " << grain;
  const auto lives = livesOf(one), same = livesOf(other);
  EXPECT_GT(lives.size(), 0U) << path;
  EXPECT_EQ(lives.size(), same.size()) << path;
  EXPECT_EQ(firstDifference(lives, same), "") << path << " at a grain of " << grain;
  EXPECT_EQ(support::discrepancyCounts(one.tables), support::discrepancyCounts(other.tables))
      << path << " at a grain of " << grain << "\n"
      << support::discrepancyLines(one) << "\n"
      << support::discrepancyLines(other);
}

TEST(RowsOfOneTime, GiveTheSameLivesInEitherOrder) {
  for (const std::string& path : support::bundledAndOthers(
           {"base-v7-zstd.dat"},
           {"01-idle-6.1-hz250.dat", "01-idle-6.12-hz1000.dat", "02-ncm-stock.dat",
            "06-lost-stock.dat", "14-slack.dat", "15-nohzfull.dat", "24-hres-nohz-off.dat"})) {
    expectSameLives(path, 5000);
  }
}

/// The clock `uptime` itself gives one time to rows of many CPUs.
TEST(RowsOfOneTime, GiveTheSameLivesWhenTheClockIsCoarse) {
  TICKSCOPE_NEED_RECORDING(path, "12-clocks-uptime.dat");
  expectSameLives(path, 1);
}

}  // namespace
}  // namespace tickscope
