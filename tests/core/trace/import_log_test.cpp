// SPDX-License-Identifier: GPL-3.0-or-later
// Counters of the import log: names, sentences, and the same entries in whatever order they come.
#include "core/trace/import_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace tickscope {
namespace {

std::vector<Counter> allCounters() {
  std::vector<Counter> all;
  for (u8 i = 0; i < static_cast<u8>(Counter::End); ++i) all.push_back(static_cast<Counter>(i));
  return all;
}

std::string sentence(Counter counter, u64 count, u64 amount = 0,
                     std::vector<LogExample> examples = {}) {
  return sentenceOf({counter, count, amount, std::move(examples)});
}

TEST(ImportLog, EachCounterHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (const Counter counter : allCounters()) {
    EXPECT_TRUE(names.insert(nameOf(counter)).second) << nameOf(counter);
    EXPECT_EQ(nameOf(counter).find_first_not_of("abcdefghijklmnopqrstuvwxyz_"),
              std::string_view::npos);
  }
  EXPECT_EQ(nameOf(Counter::PageBadCommit), "page_bad_commit");
  EXPECT_EQ(severityOf(Counter::LimitRows), Severity::Error);
  EXPECT_EQ(severityOf(Counter::ChunkBad), Severity::Damage);
  EXPECT_EQ(severityOf(Counter::MissedEvents), Severity::Loss);
  EXPECT_EQ(severityOf(Counter::PageZeroTail), Severity::Info);
  EXPECT_EQ(nameOf(Severity::Damage), "damage");
}

TEST(ImportLog, SentencesEndInOneFullStopAndHaveNoHolesLeft) {
  for (const Counter counter : allCounters()) {
    for (const u64 count : {1U, 2U, 1000U}) {
      const std::string text = sentence(counter, count, 5000);
      EXPECT_TRUE(text.ends_with('.')) << text;
      EXPECT_FALSE(text.ends_with("..")) << text;
      EXPECT_EQ(text.find_first_of("{}|"), std::string::npos) << text;
      EXPECT_TRUE(std::isupper(static_cast<unsigned char>(text[0])) ||
                  std::isdigit(static_cast<unsigned char>(text[0])))
          << text;
      if (count == 1) {
        for (const char* wrong :
             {"1 pages", "1 records", "1 parts", "1 options", "1 blocks", " are announced"}) {
          EXPECT_EQ(text.find(wrong), std::string::npos) << text;
        }
      }
    }
  }
}

TEST(ImportLog, SentencesAgreeWithTheirNumbers) {
  EXPECT_EQ(sentence(Counter::RangeCut, 1), "1 part of the file is announced but not there.");
  EXPECT_EQ(sentence(Counter::RangeCut, 1204, 212U << 10U),
            "1,204 parts of the file are announced but not there; 212 KiB missing.");
  EXPECT_EQ(sentence(Counter::MissedEvents, 2, 1),
            "The kernel lost events in 2 places; 1 event lost.");
  EXPECT_EQ(sentence(Counter::PageBadCommit, 1),
            "1 page states more data than a page holds; the whole records in it were read.");
  EXPECT_EQ(sentence(Counter::PageBadCommit, 3),
            "3 pages state more data than a page holds; the whole records in them were read.");
  EXPECT_EQ(sentence(Counter::RangeCut, 1, 1),
            "1 part of the file is announced but not there; 1 byte missing.");
  EXPECT_EQ(sentence(Counter::TimeBackward, 1),
            "Time steps back in 1 place; the order within the CPU is kept.");
  EXPECT_EQ(sentence(Counter::ClockConflict, 1),
            "The file contradicts itself about the clock of 1 buffer.");
}

TEST(ImportLog, SentencesNameThePlace) {
  EXPECT_EQ(sentence(Counter::RecordOverrun, 1, 0, {{4096, Cpu{3}, "12 records read"}}),
            "1 page holds a record that reaches beyond the data; the records before it were read "
            "(CPU 3, offset 0x1000: 12 records read).");
  EXPECT_EQ(sentence(Counter::BadCmdline, 2, 0, {{16, {}, ""}, {32, {}, ""}}),
            "2 lines of the list of task names are not understood (first: offset 0x10).");
  EXPECT_EQ(sentence(Counter::NoSymbols, 1, 0, {{}}),
            "The recording has no kernel symbols; functions are shown as addresses.");
}

TEST(ImportLog, KeepsTheThreeLowestPlacesInAnyOrder) {
  std::vector<u64> offsets{70, 20, 50, 10, 90, 30};
  std::vector<std::string> seen;
  std::sort(offsets.begin(), offsets.end());
  do {
    ImportLog one, two;
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      (i % 2 ? one : two)
          .note(Counter::ChunkBad, {offsets[i], Cpu{1}, std::to_string(offsets[i])}, offsets[i]);
    }
    one.add(two);
    ASSERT_EQ(one.count(Counter::ChunkBad), 6U);
    ASSERT_EQ(one.amount(Counter::ChunkBad), 270U);
    const auto entries = one.entries();
    ASSERT_EQ(entries.size(), 1U);
    ASSERT_EQ(entries[0].examples.size(), 3U);
    ASSERT_EQ(entries[0].examples[0].offset, 10U);
    ASSERT_EQ(entries[0].examples[1].offset, 20U);
    ASSERT_EQ(entries[0].examples[2].detail, "30");
  } while (std::next_permutation(offsets.begin(), offsets.end()));
}

TEST(ImportLog, PlacesThatAreNotKnownComeLast) {
  ImportLog log;
  log.note(Counter::StringBad, {{}, Cpu{2}, "b"});
  log.note(Counter::StringBad, {{}, Cpu{1}, "c"});
  log.note(Counter::StringBad, {7, {}, ""});
  const auto examples = log.entries().at(0).examples;
  EXPECT_EQ(examples.at(0).offset, 7U);
  EXPECT_EQ(examples.at(1).cpu, Cpu{1});
}

TEST(ImportLog, ReportsErrorsFirst) {
  ImportLog log;
  EXPECT_TRUE(log.entries().empty());
  log.note(Counter::BadCmdline, {});
  EXPECT_FALSE(log.lossOrDamage());
  log.note(Counter::MissedUnknown, {});
  EXPECT_TRUE(log.lossOrDamage());
  log.note(Counter::RangeCut, {});
  log.note(Counter::LimitMemory, {});
  log.note(Counter::LastBoot, {});
  std::vector<Counter> order;
  for (const LogEntry& entry : log.entries()) order.push_back(entry.counter);
  EXPECT_EQ(order,
            (std::vector<Counter>{Counter::LimitMemory, Counter::RangeCut, Counter::MissedUnknown,
                                  Counter::LastBoot, Counter::BadCmdline}));
}

TEST(ImportLog, SumsDoNotWrap) {
  ImportLog log;
  log.note(Counter::RangeCut, {}, ~u64{0} - 1, ~u64{0} - 1);
  log.note(Counter::RangeCut, {}, 5, 5);
  EXPECT_EQ(log.count(Counter::RangeCut), ~u64{0});
  EXPECT_EQ(log.amount(Counter::RangeCut), ~u64{0});
}

// Names of events come from the file; a terminal would obey them.
TEST(ImportLog, DetailsAreEscapedAndCut) {
  ImportLog log;
  log.note(Counter::FormatBad, {u64{1}, {}, "a\x1b[31mb\nc"});
  log.note(Counter::FormatBad, {u64{2}, {}, std::string(3000, 'n')});
  log.note(Counter::FormatBad, {u64{3}, {}, std::string(199, 'n') + "ä"});
  const std::vector<LogExample> examples = log.entries().at(0).examples;
  EXPECT_EQ(examples.at(0).detail, "a\\x1b[31mb\\nc");
  EXPECT_EQ(examples.at(1).detail, std::string(200, 'n') + "…");
  EXPECT_EQ(examples.at(2).detail, std::string(199, 'n') + "…");
}

}  // namespace
}  // namespace tickscope
