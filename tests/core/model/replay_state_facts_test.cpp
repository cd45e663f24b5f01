// SPDX-License-Identifier: GPL-3.0-or-later
// The state read back from the tables equals that of a straight replay also behind a seed, and whatever facts a user states.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "importers/timer_list/timer_list_text.h"
#include "tests/support/edited_recording.h"
#include "tests/support/imported.h"
#include "tests/support/recordings.h"
#include "tests/support/straight_replay.h"
#include "tests/support/trace_dat_source.h"

namespace tickscope {
namespace {

constexpr unsigned seed = 20253;

struct Options {
  std::string facts;  ///< with blanks between them
  std::shared_ptr<const TimerListDump> timerList;
};

Analysis analysedWith(std::shared_ptr<const Recording> recording, const Options& options) {
  AnalysisOptions made;
  made.buffer = recording->mainBuffer();
  made.timerList = options.timerList;
  if (!options.facts.empty()) {
    const std::vector<std::string> facts{options.facts};
    auto overrides = parseFacts(facts);
    if (!overrides) throw std::runtime_error(options.facts + ": " + describe(overrides.error()));
    made.overrides = std::move(*overrides);
  }
  Progress progress;
  auto analysis = analyse(std::move(recording), made, progress);
  if (!analysis) throw std::runtime_error(describe(analysis.error()));
  return std::move(*analysis);
}

/// Compares and says how many timers of dumps were in the states.
u32 expectEqualStates(const Analysis& analysis, const std::string& what, u32 rows) {
  const auto seen = support::compareStates(analysis, seed, rows);
  EXPECT_EQ(seen.differing, 0U) << what << ": of " << seen.rows << " rows (seed " << seed << ")\n"
                                << seen.first;
  return seen.seededTimers;
}

std::shared_ptr<const TimerListDump> dumpOf(const std::string& path) {
  const auto bytes = support::readFile(path);
  return std::make_shared<const TimerListDump>(
      parseTimerList({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
}

/// Dumps of 11-timerlist were made while it was recorded: rows before the dump are left out, so that it seeds.
std::shared_ptr<const Recording> recordedAfter(const std::string& path, const TimerListDump& dump) {
  support::EditedRecording edited(path);
  std::erase_if(edited.events,
                [&](const auto& event) { return static_cast<s64>(event.time) <= dump.now->value; });
  return edited.recording();
}

TEST(StateOfSeededRecordings, EqualsAStraightReplay) {
  TICKSCOPE_NEED_TRACES_FOLDER(folder);
  const std::string path = (folder / "11-timerlist.dat").string();
  for (const char* name : {"before1", "after1", "before2", "after2", "before3", "after3"}) {
    const auto dump = dumpOf((folder / fmt::format("11-timerlist.{}.txt", name)).string());
    ASSERT_TRUE(dump->now) << name;
    const auto recording = recordedAfter(path, *dump);
    for (const char* facts : {"", "hrule=R0", "hrule=R4", "htrace=HT1", "hres=no"}) {
      const Analysis analysis = analysedWith(recording, {facts, dump});
      const std::string what = fmt::format("{} behind {} {}", path, name, facts);
      EXPECT_TRUE(analysis.seeded) << what;
      const u32 seeded = expectEqualStates(analysis, what, 400);
      EXPECT_GT(seeded, 0U) << what << ": no timer of the dump is in any state";
    }
  }
}

/// All values of a fact that a user may state.
struct ValuesOf {
  std::vector<std::string> texts;
  template <class T>
  void operator()(std::string_view name, const Fact<T>&) {
    const auto add = [&](std::string_view value) {
      texts.push_back(fmt::format("{}={}", name, value));
    };
    if constexpr (std::is_enum_v<T>) {
      for (const std::string_view value : valueNames<T>()) add(value);
    } else if constexpr (std::is_same_v<T, bool>) {
      add("yes");
      add("no");
    } else if constexpr (std::is_same_v<T, CpuList>) {
      add("none");
      add("0");
      add("1");
    } else if (name == "w") {
      add("32");
      add("64");
    } else if (name == "depth") {
      add("8");
      add("9");
    } else {
      for (const char* value : {"24", "100", "250", "300", "1000", "1200"}) add(value);
    }
  }
};

TEST(StateUnderStatedFacts, EqualsAStraightReplay) {
  ValuesOf values;
  forEachFact(KernelProfile{}, values);
  ASSERT_GT(values.texts.size(), 50U);
  for (const std::string& path : support::bundledAndOthers(
           {"base-v7-zstd.dat"}, {"01-idle-6.12-hz1000.dat", "02-ncm-stock-kprobe.dat"})) {
    const auto recording = std::make_shared<const Recording>(support::imported(path));
    for (const std::string& fact : values.texts) {
      expectEqualStates(analysedWith(recording, {fact, {}}), path + " with " + fact, 100);
    }
  }
}

}  // namespace
}  // namespace tickscope
