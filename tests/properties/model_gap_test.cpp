// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of a CPU that are missing: the replay goes on, and says where it is blind when the gap is marked.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/support/analysed.h"
#include "tests/support/edited_recording.h"
#include "tests/support/recordings.h"

namespace tickscope {
namespace {

using support::EditedRecording;

TEST(RecordingsWithGaps, AreReplayedToTheEnd) {
  constexpr unsigned seed = 31009;
  std::mt19937 random(seed);
  for (const std::string& path : support::bundledAndOthers(
           {"base-v7-zstd.dat", "arch-s390x-v6.dat"},
           {"02-ncm-stock.dat", "06-lost-stock.dat", "09-hotplug.dat", "15-nohzfull.dat"})) {
    EditedRecording edited(path);
    const std::vector<EditedRecording::Event> all = edited.events;
    const u64 first = all.front().time, last = all.back().time;
    for (int round = 0; round < 6; ++round) {
      const bool marked = round % 2 == 0;
      const u32 cpu = all[random() % all.size()].cpu;
      const u64 length = std::min<u64>(100'000'000, (last - first) / 4);
      const u64 from = first + random() % (last - first - length);
      edited.events = all;
      edited.loseRows(cpu, from, length, marked);
      u64 starts = 0;
      for (const EditedRecording::Event& event : edited.events) {
        starts += edited.is(event, "timer_start") || edited.is(event, "hrtimer_start");
      }
      const Analysis analysis = support::analysed(edited.recording());
      const std::string where =
          fmt::format("{}: CPU {} has no rows from {} for {} ns, {} (seed {}, round {})", path, cpu,
                      from, length, marked ? "marked" : "not marked", seed, round);
      EXPECT_EQ(analysis.tables.ratios.arms.all, starts) << where;
      const bool isBlind =
          std::ranges::any_of(analysis.tables.blindSpots, [&](const BlindSpot& spot) {
            return spot.kind == BlindSpotKind::LostEvents && spot.cpu && number(*spot.cpu) == cpu;
          });
      EXPECT_EQ(isBlind, !analysis.events().losses().empty()) << where;
    }
  }
}

TEST(RecordingsWithGaps, ShowNothingWhenTheGapIsMarked) {
  constexpr unsigned seed = 31009;
  std::mt19937 random(seed);
  for (const std::string& path : support::bundledAndOthers(
           {"arch-armhf.dat"},
           {"06-lost-stock.dat", "09-hotplug.dat", "14-slack.dat", "21-reinit.dat"})) {
    EditedRecording edited(path);
    const std::vector<EditedRecording::Event> all = edited.events;
    const u64 first = all.front().time, last = all.back().time;
    for (int round = 0; round < 12; ++round) {
      const bool marked = round % 3 != 0;
      const u32 cpu = all[random() % all.size()].cpu;
      const u64 length = std::min<u64>(100'000'000, (last - first) / 4);
      const u64 from = first + random() % (last - first - length);
      edited.events = all;
      edited.loseRows(cpu, from, length, marked);
      const Analysis analysis = support::analysed(edited.recording());
      if (!marked) continue;  // it may say anything, but must go on
      EXPECT_TRUE(analysis.tables.discrepancies.empty())
          << path << ": CPU " << cpu << " has no rows from " << from << " for " << length
          << " ns (seed " << seed << ", round " << round << ")\n"
          << support::discrepancyLines(analysis);
    }
  }
}

}  // namespace
}  // namespace tickscope
