// SPDX-License-Identifier: GPL-3.0-or-later
// The state read back from the tables equals the live state of a straight replay, row for row.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/analysed.h"
#include "tests/support/recordings.h"
#include "tests/support/straight_replay.h"

namespace tickscope {
namespace {

void expectEqualStates(const std::string& path, unsigned seed) {
  const Analysis analysis = support::analysedFile(path);
  ASSERT_GT(analysis.events().size(), 0U) << path;
  const auto seen = support::compareStates(analysis, seed, 400);
  EXPECT_EQ(seen.differing, 0U) << path << ": of " << seen.rows << " rows (seed " << seed << ")\n"
                                << seen.first;
}

TEST(StateOfBundledRecordings, EqualsAStraightReplay) {
  for (const char* name : {"base-v7-zstd.dat", "arch-s390x-v6.dat", "lost.dat", "arch-armhf.dat"}) {
    expectEqualStates((support::bundledRecordings() / name).string(), 20251);
  }
}

TEST(StateOfLabRecordings, EqualsAStraightReplay) {
  TICKSCOPE_NEED_TRACES_FOLDER(folder);
  for (const char* name :
       {"01-idle-6.12-hz1000.dat", "02-ncm-stock.dat", "02-ncm-double.dat", "02-ncm-e2-stock.dat",
        "03-softexp-stale.dat", "04-stalebase.dat", "06-lost-rt.dat", "07-wakestorm-rt.dat",
        "09-hotplug.dat", "13-lost-events.dat", "15-nohzfull.dat", "17-setclock.dat",
        "21-reinit.dat", "23-lowres-periodic.dat"}) {
    expectEqualStates((folder / name).string(), 20252);
  }
}

/// How often an hrtimer or wheel timer is listed at a row.
u32 listedAt(const Analysis& analysis, Row row, Address address) {
  const SystemState state = stateAt(analysis, row);
  u32 count = 0;
  const auto add = [&](const std::vector<StateTimer>& timers) {
    count += static_cast<u32>(std::ranges::count(timers, address, &StateTimer::address));
  };
  for (const CpuState& cpu : state.cpus) {
    for (const WheelBaseState& base : cpu.wheel) add(base.timers);
    for (const auto& tree : cpu.hrtimers) add(tree);
  }
  add(state.ownerUnknown);
  return count;
}

/// The next row of the CPU, when it is the second half of what the cancel announces.
bool goesOn(const EventStore& events, Row cancel, Address timer) {
  const auto rows = events.rowsOfStream(events.streamOf(cancel));
  const u32 at = events.placeInStream(cancel) + 1;
  if (at >= rows.size()) return false;
  const EventKind kind = events.kind(rows[at]);
  if (kind == kindOf<HrtimerStart>) return events.as<HrtimerStart>(rows[at]).hrtimer == timer;
  if (kind == kindOf<HrtimerExpireEntry>) {
    return events.as<HrtimerExpireEntry>(rows[at]).hrtimer == timer;
  }
  if (kind == kindOf<TimerExpireEntry>) {
    return events.as<TimerExpireEntry>(rows[at]).timer == timer;
  }
  return false;
}

TEST(StateBetweenCancelAndWhatFollows, DoesNotListTheTimer) {
  TICKSCOPE_NEED_TRACES_FOLDER(folder);
  for (const char* name : {"02-ncm-e2-stock.dat", "16-posix-e2.dat", "06-lost-stock.dat"}) {
    const Analysis analysis = support::analysedFile((folder / name).string());
    const EventStore& events = analysis.events();
    u32 looked = 0, listed = 0;
    Known<Row> first;
    for (u32 r = 0; r < events.size() && looked < 400; ++r) {
      const Row row{r};
      Address timer{};
      if (events.kind(row) == kindOf<HrtimerCancel>) {
        timer = events.as<HrtimerCancel>(row).hrtimer;
      } else if (events.kind(row) == kindOf<TimerCancel>) {
        timer = events.as<TimerCancel>(row).timer;
      } else {
        continue;
      }
      if (!goesOn(events, row, timer)) continue;
      ++looked;
      if (listedAt(analysis, row, timer) == 0) continue;
      ++listed;
      if (!first) first = row;
    }
    EXPECT_GT(looked, 100U) << name;
    EXPECT_EQ(listed, 0U) << name << ": of " << looked
                          << " cancels, first event:" << (first ? number(*first) : 0);
  }
}

TEST(StateAtTheFirstRow, KnowsTheContextOfNoOtherCpu) {
  TICKSCOPE_NEED_RECORDING(path, "01-idle-6.1-hz250.dat");
  const Analysis analysis = support::analysedFile(path);
  const EventStore& events = analysis.events();
  const SystemState begin = stateAt(analysis, Row{0});
  ASSERT_GE(begin.cpus.size(), 2U);
  for (const CpuState& cpu : begin.cpus) {
    if (cpu.cpu != events.cpu(Row{0})) {
      EXPECT_EQ(cpu.inInterrupt, Known<bool>{}) << "CPU " << number(cpu.cpu);
      EXPECT_EQ(cpu.softirqActivated, Known<bool>{}) << "CPU " << number(cpu.cpu);
    }
  }
  const SystemState end = stateAt(analysis, Row{events.size() - 1});
  for (const CpuState& cpu : end.cpus) {
    EXPECT_EQ(cpu.inInterrupt, false) << "CPU " << number(cpu.cpu);
    EXPECT_EQ(cpu.softirqActivated, false) << "CPU " << number(cpu.cpu) << ": it went idle";
  }
}

TEST(StateBehindALoss, KnowsNoMoreWhetherTheSoftirqWaits) {
  TICKSCOPE_NEED_RECORDING(path, "13-lost-events.dat");
  const Analysis analysis = support::analysedFile(path);
  u32 looked = 0, known = 0;
  for (const Loss& loss : analysis.events().losses()) {
    if (!loss.next || !loss.from || analysis.events().kind(*loss.next) == kindOf<SoftirqRaise>) {
      continue;
    }
    const EventKind kind = analysis.events().kind(*loss.next);
    if (kind == kindOf<SoftirqExit> || kind == kindOf<CpuIdle> || kind == kindOf<TickStop>)
      continue;
    for (const CpuState& cpu : stateAt(analysis, *loss.next).cpus) {
      if (cpu.cpu != loss.cpu) continue;
      ++looked;
      known += cpu.softirqActivated.has_value();
    }
  }
  EXPECT_GT(looked, 0U);
  EXPECT_EQ(known, 0U) << "of " << looked << " losses";
}

TEST(WheelOfARecordingWithoutExpiry, IsKnownWhenStartsAndCancelsAreRecorded) {
  TICKSCOPE_NEED_RECORDING(path, "16-posix-e2.dat");
  const Analysis analysis = support::analysedFile(path);
  ASSERT_FALSE(analysis.events().firstPossible(kindOf<TimerExpireEntry>)) << "its point";
  ASSERT_TRUE(analysis.events().firstPossible(kindOf<TimerCancel>));
  EXPECT_EQ(
      std::ranges::count(analysis.tables.blindSpots, BlindSpotKind::NotRecorded, &BlindSpot::kind),
      0);
}

}  // namespace
}  // namespace tickscope
