// SPDX-License-Identifier: GPL-3.0-or-later
// Gaps, extends, stamps and discarded records: which event they belong to and what time comes out.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/imported.h"
#include "tests/support/recordings.h"
#include "tests/support/trace_dat_writer.h"

namespace tickscope::support {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

std::string shown(const Loss& loss, const EventStore& store) {
  const auto time = [](const Known<TraceTime>& t) {
    return t ? fmt::format("{}", t->value) : std::string("-");
  };
  std::string text = fmt::format("CPU {}: {} in {}..{}", number(loss.cpu),
                                 loss.count ? fmt::format("{}", *loss.count) : "?", time(loss.from),
                                 time(loss.to));
  if (loss.next) text += fmt::format(" before {}", store.type(*loss.next).name);
  return text;
}

std::vector<std::string> lossesOf(const Recording& recording) {
  std::vector<std::string> texts;
  const EventStore& store = recording.buffers.at(0).events;
  for (const Loss& loss : store.losses()) texts.push_back(shown(loss, store));
  return texts;
}

TEST(Losses, StandInTheMiddleOfTheStreams) {
  TICKSCOPE_NEED_RECORDING(path, "formats/lost.dat");
  const Recording recording = imported(path);
  EXPECT_THAT(
      lossesOf(recording),
      UnorderedElementsAre("CPU 1: 2156 in 216040826240..217052489790 before hrtimer_expire_exit",
                           "CPU 0: 2257 in 215973657410..217238616480 before sched_switch"));
  EXPECT_EQ(recording.log.count(Counter::MissedEvents), 2U);
  EXPECT_EQ(recording.log.amount(Counter::MissedEvents), 2257U + 2156U);
  EXPECT_TRUE(recording.log.lossOrDamage());
}

TEST(Losses, AreKnownOfAnOverwrittenBuffer) {
  TICKSCOPE_NEED_RECORDING(path, "formats/extract-overwritten.dat");
  const Recording recording = imported(path);
  const auto losses = recording.buffers.at(0).events.losses();
  ASSERT_EQ(losses.size(), 2U);
  std::map<u16, Known<u64>> counts;
  for (const Loss& loss : losses) {
    counts[number(loss.cpu)] = loss.count;
    EXPECT_FALSE(loss.from) << "nothing was recorded before the gap";
    EXPECT_TRUE(loss.next);
  }
  EXPECT_EQ(counts.at(0), Known<u64>{});
  EXPECT_EQ(counts.at(1), Known<u64>{2297});
  EXPECT_EQ(recording.log.count(Counter::MissedUnknown), 1U);
  EXPECT_EQ(recording.log.amount(Counter::MissedEvents), 2297U);
}

TEST(Losses, OfASmallBuffer) {
  TICKSCOPE_NEED_RECORDING(path, "13-lost-events.dat");
  const auto losses = lossesOf(imported(path));
  ASSERT_EQ(losses.size(), 1U);
  EXPECT_TRUE(losses[0].starts_with("CPU 1: 112 in ")) << losses[0];
}

/// A file of one event type, `timer_cancel`, whose address tells the events apart.
class Made : public testing::TestWithParam<Order> {
 protected:
  Made() {
    file_.order = GetParam();
    file_.version = 6;
    file_.systems = {
        {"timer",
         {"name: timer_cancel\nID: 300\nformat:\n"
          "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
          "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
          "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
          "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
          "\tfield:void * timer;\toffset:8;\tsize:8;\tsigned:0;\n\n"
          "print fmt: \"timer=%p\", REC->timer\n"}}};
    file_.buffers = {{"", "local", {{0, {}, {}}}}};
  }
  Page& page(u64 time) {
    auto& pages = file_.buffers[0].streams[0].pages;
    pages.emplace_back();
    pages.back().time = time;
    return pages.back();
  }
  [[nodiscard]] Blob event(u64 address) const {
    return packed(file_.order, {{2, 300}, {1, 0}, {1, 0}, {4, 7}, {8, address}});
  }
  Recording recording() { return importedBytes(write(file_)); }

  static std::vector<std::string> rowsOf(const Recording& recording) {
    std::vector<std::string> rows;
    const EventStore& store = recording.buffers.at(0).events;
    for (u32 row = 0; row < store.size(); ++row) {
      rows.push_back(fmt::format("{}@{}", number(store.as<TimerCancel>(Row{row}).timer),
                                 store.time(Row{row}).value));
    }
    return rows;
  }

  DatFile file_;
};

// trace-cmd drops the mark of a page that begins so; the kernel sets it before the page's first record, of any kind.
TEST_P(Made, LossBelongsToTheFirstEventOfAPageThatBeginsWithAStamp) {
  page(1000).data(10, event(1));
  Page& marked = page(2000);
  marked.lost = Lost{77};
  marked.stamp(2500);
  marked.data(0, event(2));
  const Recording found = recording();
  EXPECT_THAT(rowsOf(found), ElementsAre("1@1010", "2@2500"));
  EXPECT_THAT(lossesOf(found), ElementsAre("CPU 0: 77 in 1010..2500 before timer_cancel"));
}

TEST_P(Made, LossBelongsToTheFirstEventOfAPageThatBeginsWithADiscardedRecord) {
  page(1000).data(10, event(1));
  Page& marked = page(2000);
  marked.lost = Lost{77};
  marked.discarded(5, 40);
  marked.data(7, event(2));
  const Recording found = recording();
  EXPECT_THAT(rowsOf(found), ElementsAre("1@1010", "2@2012"));
  EXPECT_THAT(lossesOf(found), ElementsAre("CPU 0: 77 in 1010..2012 before timer_cancel"));
}

TEST_P(Made, LossOfAPageWithoutEventsBelongsToTheNextPages) {
  page(1000).data(10, event(1));
  Page& marked = page(2000);
  marked.lost = Lost{5};
  marked.discarded(1, 40);
  page(3000).data(0, event(2));
  EXPECT_THAT(lossesOf(recording()), ElementsAre("CPU 0: 5 in 1010..3000 before timer_cancel"));
}

TEST_P(Made, LossBehindTheLastEventHasNoEnd) {
  page(1000).data(10, event(1));
  page(2000).lost = Lost{5};
  EXPECT_THAT(lossesOf(recording()), ElementsAre("CPU 0: 5 in 1010..-"));
}

TEST_P(Made, LossWithoutANumberIsUnknown) {
  Page& marked = page(1000);
  marked.lost = Lost{};
  marked.data(10, event(1));
  EXPECT_THAT(lossesOf(recording()), ElementsAre("CPU 0: ? in -..1010 before timer_cancel"));
}

TEST_P(Made, LossKeepsAllBitsOfItsNumber) {
  page(1000).data(10, event(1));
  Page& marked = page(2000);
  marked.lost = Lost{u64{0x123456789a}};
  marked.data(1, event(2));
  EXPECT_THAT(
      lossesOf(recording()),
      ElementsAre(fmt::format("CPU 0: {} in 1010..2001 before timer_cancel", u64{0x123456789a})));
}

TEST_P(Made, ExtendsAddToTheTime) {
  Page& one = page(1000);
  one.data(10, event(1));
  one.extend((u64{3} << 27U) + 17);
  one.data(0, event(2));
  one.extend(u64{1} << 58U);
  one.data(3, event(3));
  const u64 second = 1010 + (u64{3} << 27U) + 17;
  EXPECT_THAT(rowsOf(recording()), ElementsAre("1@1010", fmt::format("2@{}", second),
                                               fmt::format("3@{}", second + (u64{1} << 58U) + 3)));
}

constexpr u64 wrap = u64{1} << 59U;

// The kernel always adds 2^59 to a value below the last time, libtracecmd never: nearest is right for both.
TEST_P(Made, StampsTakeTheirUpperBitsFromTheNearestTime) {
  Page& high = page(3 * wrap + 100);
  high.data(0, event(1));
  high.stamp(200);
  high.data(0, event(2));
  Page& carry = page(4 * wrap - 5);
  carry.data(0, event(3));
  carry.stamp(3);
  carry.data(0, event(4));
  Page& back = page(4 * wrap + 5);
  back.data(0, event(5));
  back.stamp(wrap - 2);
  back.data(0, event(6));
  EXPECT_THAT(rowsOf(recording()),
              ElementsAre(fmt::format("1@{}", 3 * wrap + 100), fmt::format("2@{}", 3 * wrap + 200),
                          fmt::format("3@{}", 4 * wrap - 5), fmt::format("4@{}", 4 * wrap + 3),
                          fmt::format("5@{}", 4 * wrap + 5), fmt::format("6@{}", 4 * wrap - 2)));
}

TEST_P(Made, DiscardedRecordsKeepTheirDeltaButForOne) {
  Page& one = page(1000);
  one.data(10, event(1));
  one.discarded(100, 40);
  one.data(5, event(2));
  one.discarded(1, 40);
  one.data(5, event(3));
  EXPECT_THAT(rowsOf(recording()), ElementsAre("1@1010", "2@1115", "3@1120"));
}

TEST_P(Made, ZerosUpToTheStatedEndAreNoDamage) {
  Page& one = page(1000);
  one.data(10, event(1));
  one.zeros(64);
  const Recording found = recording();
  EXPECT_THAT(rowsOf(found), ElementsAre("1@1010"));
  EXPECT_EQ(found.log.count(Counter::PageZeroTail), 1U) << logText(found.log);
  EXPECT_FALSE(found.log.lossOrDamage()) << logText(found.log);
}

TEST_P(Made, TimeThatStepsBackIsKeptAndCounted) {
  page(5000).data(10, event(1));
  page(2000).data(10, event(2));
  page(6000).data(10, event(3));
  const Recording found = recording();
  EXPECT_THAT(rowsOf(found), ElementsAre("1@5010", "2@2010", "3@6010"));
  ASSERT_EQ(found.buffers[0].events.backwardSteps().size(), 1U);
  EXPECT_EQ(found.buffers[0].events.backwardSteps()[0].by.value, 3000);
  EXPECT_EQ(found.log.count(Counter::TimeBackward), 1U) << logText(found.log);
}

INSTANTIATE_TEST_SUITE_P(Orders, Made, testing::Values(Order::Little, Order::Big),
                         [](const auto& test) {
                           return test.param == Order::Little ? "Little" : "Big";
                         });

}  // namespace
}  // namespace tickscope::support
