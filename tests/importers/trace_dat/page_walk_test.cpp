// SPDX-License-Identifier: GPL-3.0-or-later
// Records of a ring buffer page: lengths, times, losses, and where a damaged page stops.
#include "importers/trace_dat/page_walk.h"

#include <gtest/gtest.h>

namespace tickscope::trace_dat {
namespace {

/// Writes little-endian records and a page header around them.
struct PageBytes {
  std::vector<u8> data;
  void word(u32 w) {
    for (u32 i = 0; i < 4; ++i) data.push_back(static_cast<u8>(w >> (8 * i)));
  }
  void head(u32 type, u32 delta) { word(type | delta << 5U); }
  void event(u32 delta, u32 words) {
    head(words, delta);
    for (u32 i = 0; i < words; ++i) word(0xabcd0000U + i);
  }
  [[nodiscard]] std::vector<u8> page(u64 time, u64 commit, std::size_t size = 4096) const {
    std::vector<u8> bytes(size, 0);
    std::memcpy(bytes.data(), &time, 8);
    std::memcpy(bytes.data() + 8, &commit, 8);
    std::copy(data.begin(), data.end(), bytes.begin() + 16);
    return bytes;
  }
};

struct Seen {
  u64 time;
  u32 length;
  bool operator==(const Seen&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Seen& seen) {
  return out << seen.time << "/" << seen.length;
}

struct Walked {
  std::vector<Seen> records;
  WalkEnd end;
};
Walked walked(const std::vector<u8>& data, u64 time = 1000) {
  Walked result;
  result.end = walkRecords(data, time, RingLayout{}, [&](u64 t, const u8*, u32 length) {
    result.records.push_back({t, length});
    return true;
  });
  return result;
}
using Why = WalkEnd::Why;

TEST(PageWalk, AddsDeltasAndStepsByLength) {
  PageBytes p;
  p.event(5, 1);
  p.event(7, 28);
  const Walked w = walked(p.data);
  EXPECT_EQ(w.records, (std::vector<Seen>{{1005, 4}, {1012, 112}}));
  EXPECT_EQ(w.end.why, Why::End);
}

TEST(PageWalk, ReadsLongRecordsRoundedUp) {
  PageBytes p;
  p.head(0, 3);
  p.word(4 + 6);
  p.word(1);
  p.word(2);
  p.event(1, 1);
  EXPECT_EQ(walked(p.data).records, (std::vector<Seen>{{1003, 6}, {1004, 4}}));
}

TEST(PageWalk, CountsTheDeltaOfDiscardedEventsButNotOfFillers) {
  PageBytes p;
  p.head(29, 50);
  p.word(8);
  p.word(0);
  p.head(29, 1);
  p.word(4);
  p.event(2, 1);
  EXPECT_EQ(walked(p.data).records, (std::vector<Seen>{{1052, 4}}));
}

TEST(PageWalk, ExtendsTime) {
  PageBytes p;
  p.head(30, 9);
  p.word(2);
  p.event(0, 1);
  EXPECT_EQ(walked(p.data).records, (std::vector<Seen>{{1000 + (u64{2} << 27U) + 9, 4}}));
}

TEST(PageWalk, RestoresTheUpperBitsOfStamps) {
  constexpr u64 m = u64{1} << 59U;
  EXPECT_EQ(restoredStamp(123, 0), 123U);
  EXPECT_EQ(restoredStamp(5, 3 * m + 2), 3 * m + 5);
  EXPECT_EQ(restoredStamp(2, 4 * m - 5), 4 * m + 2) << "a carry since the last time";
  EXPECT_EQ(restoredStamp(m - 3, 4 * m + 1), 4 * m - 3) << "a small step back over the carry";
  EXPECT_EQ(restoredStamp(m - 1, 0), m - 1) << "never below zero";
  EXPECT_EQ(restoredStamp(0, ~u64{0}), 31 * m) << "never beyond 64 bits";
}

TEST(PageWalk, StopsAtPaddingAndZeroTail) {
  PageBytes p;
  p.event(1, 1);
  p.head(29, 0);
  p.event(1, 1);
  EXPECT_EQ(walked(p.data).records.size(), 1U);
  EXPECT_EQ(walked(p.data).end.why, Why::Padding);
  PageBytes zero;
  zero.event(1, 1);
  zero.word(0);
  zero.word(0);
  EXPECT_EQ(walked(zero.data).end.why, Why::ZeroTail);
  zero.data.resize(12);
  EXPECT_EQ(walked(zero.data).end.why, Why::ZeroTail);
}

TEST(PageWalk, StopsWhereARecordCannotBe) {
  for (const u32 length : {0U, 3U, 0xfffffffcU, 0xffffffffU, 100U}) {
    PageBytes p;
    p.event(1, 1);
    p.head(0, 1);
    p.word(length);
    p.word(0);
    const Walked w = walked(p.data);
    EXPECT_EQ(w.records.size(), 1U) << "length " << length;
    EXPECT_EQ(w.end.why, Why::Overrun) << "length " << length;
    EXPECT_EQ(w.end.at, 8U);
  }
  PageBytes p;
  p.head(28, 1);
  p.word(0);
  EXPECT_EQ(walked(p.data).end.why, Why::Overrun);
  for (const u32 type : {0U, 29U, 30U, 31U}) {
    PageBytes cut;
    cut.head(type, 1);
    EXPECT_EQ(walked(cut.data).end.why, Why::Overrun)
        << "type " << type << " without its second word";
  }
}

TEST(PageWalk, ReadsBigEndianBitFields) {
  const std::vector<u8> data{0x08, 0x00, 0x00, 0x05,
                             1,    2,    3,    4};  // type 1 in the top 5 bits, delta 5
  std::vector<Seen> seen;
  RingLayout ring;
  ring.swap = true;
  ring.bigEndian = true;
  walkRecords(data, 10, ring, [&](u64 t, const u8*, u32 length) {
    seen.push_back({t, length});
    return true;
  });
  EXPECT_EQ(seen, (std::vector<Seen>{{15, 4}}));
}

TEST(PageHead, TakesFlagsAndCountBehindTheData) {
  PageBytes p;
  p.event(1, 1);
  auto page = p.page(77, 0xffffffffc0000008U);
  const u64 lost = 2297;
  std::memcpy(page.data() + 16 + 8, &lost, 8);
  PageHead head;
  ASSERT_TRUE(readPageHead(page, RingLayout{}, 4096, head));
  EXPECT_EQ(head.time, 77U);
  EXPECT_EQ(head.data, 8U);
  EXPECT_TRUE(head.missed);
  EXPECT_EQ(head.missedCount, 2297U);
  EXPECT_FALSE(head.commitTooBig);
}

TEST(PageHead, DoesNotReadACountThatHasNoRoomOrCannotBe) {
  PageHead head;
  auto page = PageBytes{}.page(0, 0xc0000000U | 4080U);
  ASSERT_TRUE(readPageHead(page, RingLayout{}, 4096, head));
  EXPECT_TRUE(head.missed);
  EXPECT_FALSE(head.missedCount);
  page = PageBytes{}.page(0, 0xc0000008U);
  const u64 lost = u64{1} << 63U;
  std::memcpy(page.data() + 24, &lost, 8);
  ASSERT_TRUE(readPageHead(page, RingLayout{}, 4096, head));
  EXPECT_FALSE(head.missedCount) << "2^63 events cannot have been lost";
}

TEST(PageHead, ClampsWhatDoesNotFit) {
  PageHead head;
  ASSERT_TRUE(readPageHead(PageBytes{}.page(0, 5000), RingLayout{}, 4096, head));
  EXPECT_TRUE(head.commitTooBig);
  EXPECT_EQ(head.data, 4080U);
  auto cut = PageBytes{}.page(0, 1000);
  cut.resize(500);
  ASSERT_TRUE(readPageHead(cut, RingLayout{}, 4096, head));
  EXPECT_TRUE(head.cut);
  EXPECT_EQ(head.data, 484U);
  cut.resize(15);
  EXPECT_FALSE(readPageHead(cut, RingLayout{}, 4096, head));
}

}  // namespace
}  // namespace tickscope::trace_dat
