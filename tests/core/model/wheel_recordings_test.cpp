// SPDX-License-Identifier: GPL-3.0-or-later
// The wheel model on real recordings: every index explained, every expiry at its bucket, only planted faults named.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/support/imported.h"
#include "tests/support/recordings.h"
#include "tests/support/wheel_walk.h"

namespace tickscope {
namespace {

std::vector<std::string> recordingsIn(const std::filesystem::path& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".dat") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// Kernels of the lab whose wheel was made to misbehave.
bool isWheelFault(const std::string& path) {
  const std::string name = std::filesystem::path(path).stem();
  for (const char* fault : {"04-stalebase", "04-stalebase-hz100", "04-stalebase-deep", "06-lost",
                            "06-lost-v1", "06-lost-rt"}) {
    if (name == fault) return true;
  }
  return false;
}

/// Recordings that do not hold all timer events, or not in their order.
bool isPartial(const std::string& path) {
  const std::string name = std::filesystem::path(path).stem();
  // Filtered by process; pages lost on the network without a mark; rows of one jiffy in the order of the files.
  return name == "follow" || name == "network" || name == "clock-uptime";
}

std::string all(const std::vector<std::string>& lines) {
  std::string text;
  for (std::size_t i = 0; i < lines.size() && i < 30; ++i) text += "\n    " + lines[i];
  return text;
}

support::WheelFigures figuresOf(const std::string& path,
                                const support::WheelWalkOptions& options = {}) {
  support::WheelFigures sum;
  const Recording recording = support::imported(path);
  if (recording.buffers.empty()) return sum;
  const Buffer& buffer = recording.buffers[recording.mainBuffer()];
  return support::walkWheel(recording, buffer, options);
}

void expectHealthy(const std::string& path, support::WheelFigures& sum) {
  const support::WheelFigures figures = figuresOf(path);
  if (figures.arms == 0) return;
  fmt::print("{}: {}\n", std::filesystem::path(path).filename().string(), figures.text());
  EXPECT_EQ(figures.inverse.no, 0U) << path;
  EXPECT_EQ(figures.bucketExpiry.no, 0U) << path;
  EXPECT_EQ(figures.explained.no, 0U) << path << all(figures.unexplained);
  EXPECT_EQ(figures.bucketClk.no + figures.order.no, 0U) << path << all(figures.differing);
  EXPECT_TRUE(figures.lost.empty()) << path << all(figures.lost);
  sum.add(figures);
}

void expectJudged(const support::WheelFigures& sum) {
  fmt::print("all: {}\n", sum.text());
  EXPECT_GE(sum.explained.yes * 1000, sum.arms * 999) << sum.text();
  EXPECT_GE(sum.bucketClk.yes * 1000, sum.expiries * 999) << sum.text();
}

TEST(WheelOfBundledRecordings, IsExplained) {
  support::WheelFigures sum;
  for (const std::string& path : recordingsIn(support::bundledRecordings())) {
    expectHealthy(path, sum);
  }
  EXPECT_GT(sum.arms, 0U);
  expectJudged(sum);
}

TEST(WheelOfAllRecordingsSlow, IsExplained) {
  TICKSCOPE_NEED_TRACES_FOLDER(folder);
  support::WheelFigures sum;
  for (const char* part : {"", "arch", "formats"}) {
    for (const std::string& path : recordingsIn(folder / part)) {
      if (!isWheelFault(path) && !isPartial(path)) expectHealthy(path, sum);
    }
  }
  expectJudged(sum);
}

TEST(WheelOfAllRecordingsSlow, GivesTheSameBucketsWithoutBucketExpiry) {
  TICKSCOPE_NEED_TRACES_FOLDER(folder);
  for (const char* name : {"01-idle-6.12-hz1000.dat", "15-nohzfull.dat", "06-lost-rt-stock.dat",
                           "05-tickwake-rtfault-stock.dat"}) {
    const support::WheelFigures with = figuresOf((folder / name).string());
    const support::WheelFigures without =
        figuresOf((folder / name).string(), {.withoutBucketExpiry = true});
    EXPECT_GT(with.bucketExpiry.yes, 0U) << name;
    EXPECT_EQ(with.bucketExpiry.no, 0U) << name;
    EXPECT_EQ(without.text(), with.text()) << name;
  }
}

TEST(WheelOfAllRecordingsSlow, GivesTheSameBucketsWithoutTheIndex) {
  TICKSCOPE_NEED_TRACES_FOLDER(folder);
  support::WheelFigures sum;
  for (const char* part : {"", "arch", "formats"}) {
    for (const std::string& path : recordingsIn(folder / part)) {
      if (isWheelFault(path) || isPartial(path)) continue;
      const support::WheelFigures figures = figuresOf(path, {.withoutIndex = true});
      EXPECT_EQ(figures.placed.no, 0U) << path;
      // Arms alone, without runs, do not tell where clk stands.
      if (figures.expiries > 0) sum.add(figures);
    }
  }
  fmt::print("without the index: {} buckets the same, {} differ, {} unknown\n", sum.placed.yes,
             sum.placed.no, sum.placed.silent);
  EXPECT_GE(sum.placed.yes * 1000, sum.placed.all() * 995);
}

TEST(WheelOfAllRecordingsSlow, NamesTimersThatAStaleClkMisplaced) {
  TICKSCOPE_NEED_TRACES_FOLDER(folder);
  struct Fault {
    const char* name;
    std::size_t least, most;
  };
  for (const Fault& fault : {Fault{"04-stalebase", 20, 20}, Fault{"04-stalebase-hz100", 6, 8},
                             Fault{"04-stalebase-deep", 17, 70}}) {
    const support::WheelFigures figures =
        figuresOf((folder / (std::string(fault.name) + ".dat")).string());
    fmt::print("{}: {}{}\n", fault.name, figures.text(), all(figures.unexplained));
    EXPECT_GE(figures.lags.size(), fault.least) << fault.name << all(figures.unexplained);
    EXPECT_LE(figures.lags.size(), fault.most) << fault.name << all(figures.unexplained);
    for (const u64 lag : figures.lags) EXPECT_GE(lag, 58U) << fault.name;
    EXPECT_EQ(figures.bucketClk.no, 0U) << fault.name << all(figures.differing);
    EXPECT_TRUE(figures.lost.empty()) << fault.name << all(figures.lost);
  }
}

TEST(WheelOfAllRecordingsSlow, NamesTimersThatWereLost) {
  TICKSCOPE_NEED_TRACES_FOLDER(folder);
  struct Fault {
    const char* name;
    std::size_t lost;
  };
  // Of the nine of the last one the youngest lay on a collected list when the fault was switched off.
  for (const Fault& fault : {Fault{"06-lost", 7}, Fault{"06-lost-v1", 4}, Fault{"06-lost-rt", 9}}) {
    const support::WheelFigures figures =
        figuresOf((folder / (std::string(fault.name) + ".dat")).string());
    fmt::print("{}: {}{}{}{}\n", fault.name, figures.text(), all(figures.lost),
               all(figures.unexplained), all(figures.differing));
    EXPECT_EQ(figures.lost.size(), fault.lost) << fault.name << all(figures.lost);
    EXPECT_EQ(figures.explained.no, 0U) << fault.name << all(figures.unexplained);
  }
}

}  // namespace
}  // namespace tickscope
