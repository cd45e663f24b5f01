// SPDX-License-Identifier: GPL-3.0-or-later
// Cuts and marked gaps take evidence away: they never make a bug of what is none in the whole recording.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "core/report/findings_json.h"
#include "tests/support/analysed.h"
#include "tests/support/edited_recording.h"
#include "tests/support/imported.h"
#include "tests/support/recordings.h"
#include "tests/support/trace_script.h"

namespace tickscope {
namespace {

using support::EditedRecording;

Findings found(const Analysis& analysis, int threads = 1) {
  Progress progress;
  auto made = findingsOf(analysis, activityOf(analysis, threads), Thresholds(), threads, progress);
  if (!made) throw std::runtime_error(made.error().what);
  return std::move(*made);
}

std::set<std::string> bugsOf(const Findings& findings) {
  std::set<std::string> names;
  for (const Finding& finding : findings.findings) {
    if (finding.grade == Grade::S1) names.insert(finding.name());
  }
  return names;
}

/// Ten recordings, with and without faults; a newcomer's clone has the first two.
std::vector<std::string> recordings() {
  return support::bundledAndOthers({"base-v7-zstd.dat", "lost.dat"},
                                   {"01-idle-6.1-hz250.dat", "01-idle-6.12-hz1000.dat",
                                    "02-ncm-double.dat", "03-softexp-stale.dat", "04-stalebase.dat",
                                    "06-lost.dat", "09-hotplug.dat", "17-setclock.dat"});
}

void expectNothingNew(const EditedRecording& edited, const std::set<std::string>& bugs,
                      const std::string& where) {
  if (edited.events.empty()) return;
  const Findings part = found(support::analysed(edited.recording()));
  for (const std::string& name : bugsOf(part)) {
    EXPECT_TRUE(bugs.contains(name)) << where << ": " << name << "\n"
                                     << support::findingLines(part);
  }
  for (const JudgedCount& judged : part.judged) {
    EXPECT_LE(judged.instances, judged.opportunities) << where << ": " << judged.id << judged.kind;
  }
}

TEST(FindingsOfCutsSlow, HaveNoBugThatTheWholeHasNot) {
  constexpr unsigned seed = 41007;
  std::mt19937 random(seed);
  for (const std::string& path : recordings()) {
    EditedRecording edited(path);
    const std::vector<EditedRecording::Event> all = edited.events;
    const std::set<std::string> bugs = bugsOf(found(support::analysed(edited.recording())));
    for (int round = 0; round < 20; ++round) {
      const std::size_t third = all.size() / 3;
      const std::size_t from = random() % third, to = all.size() - random() % third;
      edited.events.assign(all.begin() + static_cast<std::ptrdiff_t>(from),
                           all.begin() + static_cast<std::ptrdiff_t>(to));
      expectNothingNew(
          edited, bugs,
          fmt::format("{} rows {} to {} (seed {}, round {})", path, from, to, seed, round));
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(FindingsOfGapsSlow, HaveNoBugThatTheWholeHasNot) {
  constexpr unsigned seed = 41009;
  std::mt19937 random(seed);
  for (const std::string& path : recordings()) {
    EditedRecording edited(path);
    const std::vector<EditedRecording::Event> all = edited.events;
    const u64 first = all.front().time, last = all.back().time;
    const std::set<std::string> bugs = bugsOf(found(support::analysed(edited.recording())));
    for (int round = 0; round < 10; ++round) {
      const u32 cpu = all[random() % all.size()].cpu;
      const u64 length = 1'000 + random() % std::min<u64>(100'000'000, (last - first) / 4);
      const u64 from = first + random() % (last - first - length);
      edited.events = all;
      edited.loseRows(cpu, from, length, true);
      expectNothingNew(edited, bugs,
                       fmt::format("{}: CPU {} lost its rows from {} for {} ns (seed {}, round {})",
                                   path, cpu, from, length, seed, round));
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(Findings, AreTheSameBytesForAnyNumberOfThreads) {
  for (const std::string& path : recordings()) {
    const Analysis analysis = support::analysedFile(path);
    const std::string one = findingsJson(analysis, found(analysis, 1), {}, "{}");
    for (const int threads : {2, 5}) {
      EXPECT_EQ(one, findingsJson(analysis, found(analysis, threads), {}, "{}")) << path;
    }
  }
}

}  // namespace
}  // namespace tickscope
