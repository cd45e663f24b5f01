// SPDX-License-Identifier: GPL-3.0-or-later
// Fields that older kernels do not print are taken away: what the model infers equals what they said.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "tests/support/analysed.h"
#include "tests/support/edited_recording.h"
#include "tests/support/recordings.h"

namespace tickscope {
namespace {

using support::EditedRecording;

ProfileOverrides facts(const std::vector<std::string>& assignments) {
  auto parsed = parseFacts(assignments);
  EXPECT_TRUE(parsed.has_value());
  return parsed ? *parsed : ProfileOverrides{};
}

/// Values of a wheel or hrtimer span, by the row of its arm.
struct Seen {
  s64 second = 0;
  SpanEnd end{};
};
std::map<u32, Seen> seenOf(const Analysis& analysis, TimerClass of) {
  std::map<u32, Seen> seen;
  for (const ArmedSpan& span : analysis.tables.spans) {
    if (span.armed == noRow || analysis.tables.timers[number(span.timer)].of != of) continue;
    if (span.secondKnown) seen[number(span.armed)] = {span.second, span.end};
  }
  return seen;
}

std::vector<std::string> recordings(const std::filesystem::path& folder,
                                    const std::vector<std::string>& names) {
  std::vector<std::string> paths;
  for (const std::string& name : names) paths.push_back((folder / name).string());
  return paths;
}
/// A bundled recording, and the others with the full set.
std::vector<std::string> bundledAnd(const std::vector<std::string>& names) {
  std::vector<std::string> paths;
  if (const auto folder = support::tracesFolder()) paths = recordings(*folder, names);
  paths.push_back((support::bundledRecordings() / "base-v7-zstd.dat").string());
  return paths;
}

/// How many arms the other analysis knows, and for how many it says the same.
void expectSameBuckets(const std::string& path, const Analysis& told, const Analysis& inferred,
                       double share) {
  const auto expected = seenOf(told, TimerClass::Wheel),
             found = seenOf(inferred, TimerClass::Wheel);
  u64 same = 0;
  std::string first;
  for (const auto& [row, seen] : expected) {
    const auto at = found.find(row);
    if (at != found.end() && at->second.second == seen.second) {
      ++same;
    } else if (first.empty()) {
      first = fmt::format("row {}: bucket expiry {}, inferred {}", row, seen.second,
                          at == found.end() ? "unknown" : fmt::format("{}", at->second.second));
    }
  }
  fmt::print("{}: {} of {} bucket expiries as told\n", path, same, expected.size());
  EXPECT_FALSE(expected.empty()) << path;
  EXPECT_GE(static_cast<double>(same), share * static_cast<double>(expected.size()))
      << path << ": " << same << " of " << expected.size() << "; " << first;
}

TEST(StrippedBucketExpiry, IsInferredFromTheIndex) {
  TICKSCOPE_NEED_TRACES_FOLDER(folder);
  for (const std::string& path :
       recordings(folder, {"01-idle-6.12-hz1000.dat", "15-nohzfull.dat", "06-lost-rt-stock.dat"})) {
    EditedRecording edited(path);
    const Analysis told = support::analysed(edited.recording());
    edited.strip("timer_start", "bucket_expiry");
    const Analysis inferred = support::analysed(edited.recording());
    EXPECT_EQ(inferred.tables.ratios.bucketExpiry.all, 0U) << path;
    EXPECT_EQ(support::textOf(support::discrepancyCounts(inferred.tables)), "none")
        << path << "\n"
        << support::discrepancyLines(inferred);
    expectSameBuckets(path, told, inferred, 1.0);
  }
}

TEST(StrippedIndex, IsInferredFromClk) {
  TICKSCOPE_NEED_TRACES_FOLDER(folder);
  for (const std::string& path :
       recordings(folder, {"01-idle-6.12-hz1000.dat", "15-nohzfull.dat", "06-lost-rt-stock.dat"})) {
    EditedRecording edited(path);
    const Analysis told = support::analysed(edited.recording());
    edited.strip("timer_start", "bucket_expiry");
    for (EditedRecording::Event& event : edited.events) {
      if (edited.is(event, "timer_start")) {
        edited.set(event, "flags", edited.get(event, "flags") & 0x3fffffU);
      }
    }
    const Analysis inferred = support::analysed(edited.recording(), facts({"wtrace=WT1"}));
    EXPECT_EQ(support::textOf(support::discrepancyCounts(inferred.tables)), "none")
        << path << "\n"
        << support::discrepancyLines(inferred);
    expectSameBuckets(path, told, inferred, 0.995);
  }
}

TEST(StrippedBaseClk, IsTheBucketOfTheTimer) {
  const std::vector<std::string> paths = bundledAnd(
      {"01-idle-6.12-hz1000.dat", "15-nohzfull.dat", "06-lost-stock.dat", "09-hotplug.dat"});
  for (const std::string& path : paths) {
    EditedRecording edited(path);
    const Analysis told = support::analysed(edited.recording());
    edited.strip("timer_expire_entry", "baseclk");
    const Analysis inferred = support::analysed(edited.recording());
    EXPECT_EQ(support::textOf(support::discrepancyCounts(inferred.tables)), "none")
        << path << "\n"
        << support::discrepancyLines(inferred);
    u64 same = 0, all = 0;
    std::string first;
    for (const ArmedSpan& span : inferred.tables.spans) {
      if (span.end != SpanEnd::Expired || span.armed == noRow) continue;
      if (inferred.tables.timers[number(span.timer)].of != TimerClass::Wheel) continue;
      ++all;
      const s64 clk = told.events().as<TimerExpireEntry>(span.ended).baseclk.value;
      if (span.secondKnown && span.second == clk) {
        ++same;
      } else if (first.empty()) {
        first =
            fmt::format("row {}: baseclk {}, inferred {}", number(span.ended), clk, span.second);
      }
    }
    fmt::print("{}: {} of {} baseclk as told\n", path, same, all);
    EXPECT_GT(all, 0U) << path;
    EXPECT_GE(same * 100, all * 99) << path << ": " << same << " of " << all << "; " << first;
  }
}

TEST(StrippedWasArmed, IsWhatTheModelSays) {
  const std::vector<std::string> paths = bundledAnd(
      {"02-ncm-stock.dat", "01-idle-6.12-hz1000.dat", "15-nohzfull.dat", "09-hotplug.dat"});
  for (const std::string& path : paths) {
    EditedRecording edited(path);
    const Analysis told = support::analysed(edited.recording());
    edited.strip("hrtimer_start", "was_armed");
    const Analysis inferred =
        support::analysed(edited.recording(), facts({"htrace=HT2", "hrule=R3"}));
    // No kernel hides restarts and lacks the field, so whose a call between two operations is may stay open.
    auto counts = support::discrepancyCounts(inferred.tables);
    counts.erase(DiscrepancyKind::CallCount);
    EXPECT_EQ(support::textOf(counts), "none") << path << "\n"
                                               << support::discrepancyLines(inferred);
    const EventStore& events = told.events();
    std::map<u32, bool> endsThere;  // by the row of a start: a span of its timer that ends there
    for (const ArmedSpan& span : inferred.tables.spans) {
      if (span.ended == noRow || events.kind(span.ended) != kindOf<HrtimerStart>) continue;
      if (inferred.tables.timers[number(span.timer)].of != TimerClass::Hrtimer) continue;
      endsThere[number(span.ended)] = true;
    }
    u64 same = 0, all = 0;
    std::string first;
    std::map<Address, bool> seen;  // B01: the first start of a timer says nothing
    for (u32 row = 0; row < events.size(); ++row) {
      if (events.kind(Row{row}) != kindOf<HrtimerStart>) continue;
      const auto start = events.as<HrtimerStart>(Row{row});
      if (!seen[start.hrtimer]) {
        seen[start.hrtimer] = true;
        continue;
      }
      ++all;
      if (endsThere[row] == static_cast<bool>(start.wasArmed)) {
        ++same;
      } else if (first.empty()) {
        first = fmt::format("row {}: was_armed {}", row, start.wasArmed);
      }
    }
    fmt::print("{}: {} of {} was_armed as told\n", path, same, all);
    EXPECT_GT(all, 0U) << path;
    EXPECT_EQ(same, all) << path << ": " << first;
  }
}

}  // namespace
}  // namespace tickscope
