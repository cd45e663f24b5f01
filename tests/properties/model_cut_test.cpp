// SPDX-License-Identifier: GPL-3.0-or-later
// A recording that is cut at both ends neither makes the model contradict a healthy kernel nor changes timers' lives.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>

#include "tests/support/analysed.h"
#include "tests/support/edited_recording.h"
#include "tests/support/imported.h"
#include "tests/support/recordings.h"
#include "tests/support/store_compare.h"

namespace tickscope {
namespace {

using support::EditedRecording;

/// One life of a timer, in words that do not depend on row numbers.
struct Life {
  Address address{};
  TimerClass of{};
  s64 armed = 0, ended = 0;
  auto operator<=>(const Life&) const = default;
};
struct Figures {
  s64 expires = 0, second = 0;
  SpanEnd end{};
  bool operator==(const Figures&) const = default;
};

/// Spans with both ends in the recording. Not those that end in its last rows: whether a wheel timer's cancel announces
/// an expiry or a restart only the rows behind it tell.
std::map<Life, Figures> livesOf(const Analysis& analysis) {
  std::map<Life, Figures> lives;
  const EventStore& events = analysis.events();
  for (const ArmedSpan& span : analysis.tables.spans) {
    if (span.armed == noRow || span.ended == noRow || number(span.ended) + 32 > events.size()) {
      continue;
    }
    if (span.has(ArmedSpan::MovedHere) || span.end == SpanEnd::Moved || !span.secondKnown) continue;
    const ModelTimer& timer = analysis.tables.timers[number(span.timer)];
    lives[{timer.address, timer.of, events.time(span.armed).value, events.time(span.ended).value}] =
        {span.expires, span.second, span.end};
  }
  return lives;
}

std::string shown(const Life& life, const Figures& figures) {
  return fmt::format("{} {:x} armed {} ended {} ({}) expires {} second {}",
                     life.of == TimerClass::Wheel ? "wheel" : "hrtimer", number(life.address),
                     life.armed, life.ended, static_cast<unsigned>(figures.end), figures.expires,
                     figures.second);
}

TEST(EditedRecordings, AreTheSameWhenNothingIsEdited) {
  for (const std::string& path : support::bundledAndOthers(
           {"base-v7-zstd.dat", "arch-s390x-v6.dat"}, {"01-idle-6.12-hz1000.dat"})) {
    const EditedRecording edited(path);
    support::CompareOptions options;
    options.losses = false;  // the number of lost events is not kept
    EXPECT_EQ(support::difference(support::imported(path), *edited.recording(), options), "")
        << path;
  }
}

TEST(CutRecordings, ShowNothingNewAndTheSameLives) {
  constexpr unsigned seed = 31007;
  std::mt19937 random(seed);
  for (const std::string& path :
       support::bundledAndOthers({"base-v7-zstd.dat", "arch-s390x-v6.dat", "lost.dat"},
                                 {"01-idle-6.1-hz250.dat", "01-idle-6.12-hz1000.dat",
                                  "02-ncm-stock.dat", "09-hotplug.dat", "13-lost-events.dat",
                                  "17-setclock.dat", "21-reinit.dat", "15-nohzfull.dat"})) {
    EditedRecording edited(path);
    const std::vector<EditedRecording::Event> all = edited.events;
    const auto whole = livesOf(support::analysed(edited.recording()));
    u64 same = 0, inside = 0;
    for (int round = 0; round < 20; ++round) {
      const std::size_t third = all.size() / 3;
      const std::size_t from = random() % third, to = all.size() - random() % third;
      edited.events.assign(all.begin() + static_cast<std::ptrdiff_t>(from),
                           all.begin() + static_cast<std::ptrdiff_t>(to));
      const Analysis analysis = support::analysed(edited.recording());
      EXPECT_TRUE(analysis.tables.discrepancies.empty())
          << path << " rows " << from << " to " << to << " (seed " << seed << ", round " << round
          << ")\n"
          << support::discrepancyLines(analysis);
      const auto part = livesOf(analysis);
      for (const auto& [life, figures] : part) {
        ++inside;
        const auto found = whole.find(life);
        if (found != whole.end() && found->second == figures) {
          ++same;
          continue;
        }
        ADD_FAILURE() << path << " rows " << from << " to " << to << ": " << shown(life, figures)
                      << "; uncut: "
                      << (found == whole.end() ? "none" : shown(life, found->second));
        if (testing::Test::HasFailure() && inside - same > 5) return;
      }
    }
    fmt::print("{}: {} of {} lives as in the uncut recording\n", path, same, inside);
    EXPECT_GT(inside, 0U) << path;
  }
}

}  // namespace
}  // namespace tickscope
