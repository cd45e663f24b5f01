// SPDX-License-Identifier: GPL-3.0-or-later
// The whole model on real recordings: healthy kernels contradict it nowhere, planted faults show as what they are.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "tests/support/analysed.h"
#include "tests/support/imported.h"
#include "tests/support/recordings.h"

namespace tickscope {
namespace {

using Kinds = std::map<DiscrepancyKind, u64>;
using enum DiscrepancyKind;

/// What a recording must give. The default is a healthy kernel with all timer events recorded.
struct Expected {
  std::string_view name;
  std::string_view reason;
  Kinds discrepancies{};
  u64 atLeast = 0;       ///< only the kind named must appear, and this often at least
  bool partial = false;  ///< events of timers are missing: shares of what is judged say nothing
  /// Violations by invariant that no discrepancy stands for.
  std::map<std::size_t, u64> violations{};
};

/// All that is not healthy and complete, with the reason.
const std::vector<Expected>& exceptions() {
  static const std::vector<Expected> rows{
      {"02-ncm-double", "programs twice at each restart (R1)", {{CallCount, 0}}, 900},
      {"02-ncm-double-kprobe", "programs twice at each restart (R1)", {{CallCount, 0}}, 400},
      {"02-ncm-e2-double", "programs twice at each restart (R1)", {{CallCount, 0}}, 900},
      // Nearly all of its interrupts run and raise nothing.
      {"03-softexp-stale",
       "an interrupt storm of four calls each",
       {{CallCount, 0}},
       9000,
       false,
       {{24, 9473}}},
      {"04-stalebase", "clk is not moved on at an arm", {{BucketNotExplained, 20}}},
      {"04-stalebase-hz100", "clk is not moved on at an arm", {{BucketNotExplained, 8}}},
      {"04-stalebase-deep", "clk is not moved on at an arm", {{BucketNotExplained, 65}}},
      {"05-tickwake", "TIMER is raised on every tick", {{RaiseRule, 0}}, 700},
      {"05-tickwake-rtfault", "TIMER is raised on every tick", {{RaiseRule, 0}}, 1400},
      {"06-lost", "every n-th collected timer is not run", {{Lost, 7}}},
      // Collected by the tick, run later: at clocks that are not the bucket's (X15).
      {"06-lost-v1", "a tick overwrites the collected list", {{BaseClk, 12}, {Lost, 4}}},
      // The ninth lay on a list when the switch went off.
      {"06-lost-rt", "a tick overwrites the collected list", {{BaseClk, 32}, {Lost, 9}}},
      // Most stalls found the CPU idle; in one it logged events with interrupts on.
      {"10-missedprog", "every n-th programming is swallowed", {}, 0, false, {{23, 1}}},
      {"10-missedprog-nocall", "every n-th programming call is left out", {{CallCount, 6}}},
      {"made-offset", "time stamps were shifted by hand", {{BeforeSoftExpires, 31}}, 0, true},
      {"made-offset-plus", "time stamps were shifted by hand", {{BeforeSoftExpires, 31}}, 0, true},
      {"made-tsc2nsec", "time stamps were shifted by hand", {{BeforeSoftExpires, 31}}, 0, true},
      {"made-stamps-high", "made by hand of some records", {}, 0, true},
      {"network", "pages lost on the network without a mark", {}, 0, true},
      {"follow", "events of one process only", {}, 0, true},
      {"fprobe", "hrtimer events only", {}, 0, true},
      {"probes", "no expiries recorded", {}, 0, true},
      {"hist-trigger", "no expiries recorded", {}, 0, true},
      {"stack-all", "no expiries recorded", {}, 0, true},
      {"stack-func", "hrtimer_start only", {}, 0, true},
      {"options", "expiries only", {}, 0, true},
      {"markers", "hrtimers are not started in it", {}, 0, true},
      {"synthetic", "no timers in it", {}, 0, true},
      {"empty", "no events in it", {}, 0, true},
  };
  return rows;
}

Expected expectedOf(const std::string& path) {
  const std::string name = std::filesystem::path(path).stem();
  const auto row = std::ranges::find(exceptions(), name, &Expected::name);
  return row == exceptions().end() ? Expected{} : *row;
}

std::vector<std::string> recordingsIn(const std::filesystem::path& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".dat") paths.push_back(entry.path().string());
  }
  std::ranges::sort(paths);
  return paths;
}

void add(Ratio& sum, const Ratio& ratio) {
  sum.held += ratio.held;
  sum.judged += ratio.judged;
  sum.all += ratio.all;
}

struct Sums {
  u64 recordings = 0;
  CheckRatios healthy;
};

/// Share of `part` in `whole`, so that nothing of nothing is all.
bool atLeast(u64 part, u64 whole, double share) {
  return static_cast<double>(part) >= share * static_cast<double>(whole);
}

/// The invariant whose other side a kind of discrepancy is; 0: none.
std::size_t invariantOf(DiscrepancyKind kind) {
  switch (kind) {
    case BeforeBucket:
    case BaseClk:
      return 1;
    case BucketNotExplained:
      return 5;
    case RaiseRule:
      return 12;
    case BeforeSoftExpires:
      return 14;
    case CallCount:
      return 21;
    default:
      return 0;
  }
}

/// Violated invariants that no discrepancy stands for, in words.
std::string unnamedViolations(const InvariantCounts& counts, const Kinds& found,
                              const std::map<std::size_t, u64>& expected) {
  std::array<u64, invariantCount> named{};
  for (const auto& [invariant, count] : expected) named[invariant] = count;
  for (const auto& [kind, count] : found) {
    if (const std::size_t invariant = invariantOf(kind)) named[invariant] += count;
  }
  std::string text;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i].violated == named[i]) continue;
    text += fmt::format(" I{:02} {} of {}, {} named ({})", i, counts[i].violated,
                        counts[i].judged(), named[i], invariantText(i));
  }
  return text;
}

void expectAsRecorded(const std::string& path, Sums& sums) {
  const Expected expected = expectedOf(path);
  const auto recording = std::make_shared<const Recording>(support::imported(path));
  if (recording->buffers.empty()) return;
  const Analysis analysis = support::analysed(recording);
  const CheckRatios& ratios = analysis.tables.ratios;
  const Kinds found = support::discrepancyCounts(analysis.tables);
  const std::string says =
      fmt::format("{}: {}\n  expected {}{}; found {}\n{}", path, support::textOf(ratios),
                  support::textOf(expected.discrepancies),
                  expected.reason.empty() ? "" : fmt::format(" ({})", expected.reason),
                  support::textOf(found), support::discrepancyLines(analysis));
  SCOPED_TRACE(says);
  if (expected.atLeast > 0) {
    const DiscrepancyKind kind = expected.discrepancies.begin()->first;
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found.begin()->first, kind);
    EXPECT_GE(found.begin()->second, expected.atLeast);
  } else {
    EXPECT_EQ(found, expected.discrepancies);
  }
  const bool healthy = expected.discrepancies.empty();
  EXPECT_EQ(unnamedViolations(invariantsOf(analysis, activityOf(analysis, 1)), found,
                              expected.violations),
            "");
  const bool wheelFault = found.contains(BucketNotExplained) || found.contains(BaseClk);
  if (!wheelFault) {
    EXPECT_EQ(ratios.wheelIndex.held, ratios.wheelIndex.judged);
    EXPECT_EQ(ratios.baseClk.held, ratios.baseClk.judged);
  }
  EXPECT_EQ(ratios.bucketExpiry.held, ratios.bucketExpiry.all);
  EXPECT_EQ(ratios.wasArmed.held, ratios.wasArmed.judged);
  if (!found.contains(BeforeSoftExpires)) {
    EXPECT_EQ(ratios.softExpires.held, ratios.softExpires.judged);
  }
  const auto calls = found.find(CallCount);
  EXPECT_EQ(ratios.programming.judged - ratios.programming.held,
            calls == found.end() ? 0 : calls->second);
  if (healthy || expected.reason.ends_with("(R1)")) {
    EXPECT_TRUE(atLeast(ratios.asObserved.held, ratios.asObserved.judged, 0.999));
    EXPECT_TRUE(atLeast(ratios.asObserved.judged, ratios.programming.judged, 0.95));
  }
  if (expected.partial) return;
  EXPECT_EQ(ratios.wheelIndex.judged, ratios.wheelIndex.all);
  EXPECT_TRUE(atLeast(ratios.arms.judged, ratios.arms.all, 0.95));
  // Warm-up: a timer armed before the recording tells its expiry only.
  const u64 fromBefore =
      static_cast<u64>(std::ranges::count_if(analysis.tables.beforeRecording, [&](SpanId id) {
        return analysis.tables.spans[number(id)].end == SpanEnd::Expired;
      }));
  EXPECT_LE(fromBefore, ratios.expiries.all - ratios.expiries.judged);
  EXPECT_TRUE(atLeast(ratios.expiries.judged, ratios.expiries.all - fromBefore, 0.95));
  ++sums.recordings;
  if (!healthy) return;
  add(sums.healthy.wheelIndex, ratios.wheelIndex);
  add(sums.healthy.bucketExpiry, ratios.bucketExpiry);
  add(sums.healthy.baseClk, ratios.baseClk);
  add(sums.healthy.programming, ratios.programming);
  add(sums.healthy.asObserved, ratios.asObserved);
  add(sums.healthy.wasArmed, ratios.wasArmed);
  add(sums.healthy.softExpires, ratios.softExpires);
  add(sums.healthy.arms, ratios.arms);
  add(sums.healthy.expiries, ratios.expiries);
  add(sums.healthy.matched, ratios.matched);
}

TEST(ModelOfBundledRecordings, AgreesWithHealthyKernels) {
  Sums sums;
  for (const std::string& path : recordingsIn(support::bundledRecordings())) {
    expectAsRecorded(path, sums);
  }
  fmt::print("{} recordings: {}\n", sums.recordings, support::textOf(sums.healthy));
  EXPECT_GT(sums.recordings, 0U);
  EXPECT_GT(sums.healthy.arms.judged, 0U);
}

void expectAll(const std::vector<std::string>& paths) {
  Sums sums;
  for (const std::string& path : paths) expectAsRecorded(path, sums);
  fmt::print("{} recordings: {}\n", sums.recordings, support::textOf(sums.healthy));
  EXPECT_GT(sums.recordings, 0U);
  EXPECT_GT(sums.healthy.arms.judged, 0U);
  EXPECT_TRUE(atLeast(sums.healthy.expiries.judged, sums.healthy.expiries.all, 0.95))
      << support::textOf(sums.healthy);
}

TEST(ModelOfLabRecordings, SeesPlantedFaultsAndNothingElse) {
  TICKSCOPE_NEED_TRACES_FOLDER(folder);
  std::vector<std::string> paths = recordingsIn(folder);
  // Too large for a quick test.
  std::erase_if(paths, [](const std::string& path) { return path.ends_with("20-big.dat"); });
  expectAll(paths);
}

TEST(ModelOfMachines, AgreesOnEveryArchitecture) {
  TICKSCOPE_NEED_TRACES_FOLDER(folder);
  expectAll(recordingsIn(folder / "arch"));
}

TEST(ModelOfFormats, AgreesHoweverTheRecordingWasMade) {
  TICKSCOPE_NEED_TRACES_FOLDER(folder);
  expectAll(recordingsIn(folder / "formats"));
}

TEST(ModelOfLargeRecordingSlow, AgreesOverAMillionEvents) {
  TICKSCOPE_NEED_RECORDING(path, "20-big.dat");
  expectAll({path});
}

/// What is not judged of an invariant, all of it for one reason.
void expectUnjudged(const Analysis& analysis, std::size_t invariant, BlindSpotKind why,
                    const char* name) {
  const InvariantCount count = invariantsOf(analysis, activityOf(analysis, 1))[invariant];
  EXPECT_GT(count.notJudged, 0U) << name << " I" << invariant;
  EXPECT_EQ(count.why[number(why)], count.notJudged)
      << name << " I" << invariant << ": expected all for " << codeOf(why);
}

TEST(InvariantsThatARecordingCannotCarry, AreCountedWithTheReason) {
  TICKSCOPE_NEED_TRACES_FOLDER(folder);
  const auto of = [&](const char* name) { return support::analysedFile((folder / name).string()); };
  // Calls by function rows, which tell no value.
  expectUnjudged(of("02-ncm-stock.dat"), 22, BlindSpotKind::NotRecorded, "02-ncm-stock");
  const Analysis noCalls = of("22-ncm-double-noprog.dat");
  expectUnjudged(noCalls, 16, BlindSpotKind::ProgrammingNotTraced, "22-ncm-double-noprog");
  expectUnjudged(noCalls, 22, BlindSpotKind::ProgrammingNotTraced, "22-ncm-double-noprog");
  const Analysis lowRes = of("23-lowres-periodic.dat");
  for (const std::size_t invariant : {16U, 18U, 22U}) {
    expectUnjudged(lowRes, invariant, BlindSpotKind::NotHighRes, "23-lowres-periodic");
  }
}

}  // namespace
}  // namespace tickscope
