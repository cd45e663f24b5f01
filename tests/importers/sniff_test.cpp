// SPDX-License-Identifier: GPL-3.0-or-later
// Kinds of input are told by content, whatever the name.
#include <gtest/gtest.h>

#include "importers/import.h"
#include "tests/importers/trace_dat/opened_container.h"
#include "tests/support/recordings.h"
#include "tests/support/trace_dat_writer.h"

namespace tickscope {
namespace {

InputKind kindOf(const std::string& text) {
  return sniff(ByteSource::memory({text.begin(), text.end()}, "trace.dat"));
}

TEST(Sniff, KnowsTraces) {
  EXPECT_EQ(sniff(ByteSource::memory(support::write(trace_dat::smallFile(6)), "x.txt")),
            InputKind::TraceDat);
  EXPECT_EQ(kindOf(std::string("\x17\x08\x44tracing")), InputKind::TraceDat);
}

TEST(Sniff, KnowsRawPagesOfAllMachines) {
  for (const support::Order order : {support::Order::Little, support::Order::Big}) {
    for (const u32 word : {4U, 8U}) {
      for (const u32 pageSize : {4096U, 65536U}) {
        support::DatFile file;
        file.order = order;
        file.word = word;
        file.pageSize = pageSize;
        support::Page page;
        page.time = 5'000'000;
        for (u64 i = 0; i < 30; ++i) page.data(1000, trace_dat::plainRecord(order, i));
        EXPECT_EQ(sniff(ByteSource::memory(support::pageBytes(file, page))), InputKind::RawPages)
            << "word " << word << ", page " << pageSize;
      }
    }
  }
}

TEST(Sniff, KnowsPagesOfAKilledRecorder) {
  TICKSCOPE_NEED_RECORDING(path, "formats/killed-cpu0.raw");
  EXPECT_EQ(sniff(*ByteSource::file(path)), InputKind::RawPages);
}

TEST(Sniff, KnowsTimerLists) {
  EXPECT_EQ(kindOf("\n Timer List Version: v0.9\n"), InputKind::TimerList);
}

TEST(Sniff, LeavesTheRestUnknown) {
  EXPECT_EQ(kindOf(""), InputKind::Unknown);
  EXPECT_EQ(kindOf("# tracer: nop\n"), InputKind::Unknown);
  EXPECT_EQ(kindOf(std::string(100'000, '\0')), InputKind::Unknown);
  EXPECT_EQ(kindOf(std::string(100'000, '\xff')), InputKind::Unknown);
  std::string noise(200'000, ' ');
  u32 state = 1;
  for (char& c : noise) c = static_cast<char>((state = state * 1664525U + 1013904223U) >> 24U);
  EXPECT_EQ(kindOf(noise), InputKind::Unknown);
}

}  // namespace
}  // namespace tickscope
