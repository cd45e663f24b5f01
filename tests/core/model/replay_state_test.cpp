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

}  // namespace
}  // namespace tickscope
