// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers that cannot be true: each is bounded by what is there, said, and costs nothing elsewhere.
#include <gtest/gtest.h>

#include "importers/trace_dat/container.h"
#include "importers/trace_dat/options.h"
#include "tests/importers/trace_dat/opened_container.h"
#include "tests/support/damage.h"
#include "tests/support/recordings.h"

namespace tickscope::trace_dat {
namespace {

using support::Blob;
using support::Codec;
using support::DatFile;

constexpr u64 huge = ~u64{0};

TEST(Bounds, OffsetsAndSizesEndWithTheFile) {
  for (const int version : {6, 7}) {
    for (const u64 value : {huge, huge - 15, u64{1} << 62U, u64{1} << 40U}) {
      const Opened offset = opened(changed(smallFile(version), "buffer.0.cpu.1.offset", value));
      ASSERT_TRUE(offset.container) << offset.words();
      EXPECT_EQ(offset.records(0), 60U) << offset.words();
      EXPECT_GE(offset.count(Counter::RangeCut), 1U) << offset.words();
      const Opened size = opened(changed(smallFile(version), "buffer.0.cpu.1.size", value));
      ASSERT_TRUE(size.container) << size.words();
      EXPECT_EQ(size.records(0), 60U) << size.words();
      EXPECT_EQ(size.records(1), 60U) << size.words();
      EXPECT_GE(size.count(Counter::RangeCut), 1U) << size.words();
    }
  }
}

TEST(Bounds, CountsOfFormatsAreWhatFits) {
  for (const int version : {6, 7}) {
    for (const char* name : {"ftrace.count", "systems.count", "system.0.count", "system.1.count"}) {
      for (const u64 value : {u64{0}, u64{5}, u64{0x7fffffff}, u64{0xffffffff}}) {
        const Opened file = opened(changed(smallFile(version), name, value));
        ASSERT_TRUE(file.container) << name << " " << value << "\n" << file.words();
        EXPECT_EQ(file.container->formats.size(), 3U) << name << " " << value << "\n"
                                                      << file.words();
        EXPECT_EQ(file.records(), 120U) << name << " " << value << "\n" << file.words();
        EXPECT_GE(file.count(Counter::RangeCut), 1U) << name << " " << value << "\n"
                                                     << file.words();
      }
    }
  }
}

TEST(Bounds, CountOfCpusIsWhatFits) {
  DatFile six = smallFile(6);
  six.forced["cpus"] = 0xffffffff;
  const Opened byOption = opened(support::write(six));
  EXPECT_EQ(byOption.records(), 120U) << byOption.words();
  EXPECT_EQ(byOption.count(Counter::RangeCut), 1U) << byOption.words();
  const Opened rows = opened(changed(smallFile(7), "buffer.0.cpus", 0xffffffff));
  EXPECT_EQ(rows.records(), 120U) << rows.words();
  EXPECT_EQ(rows.count(Counter::RangeCut), 1U) << rows.words();
}

TEST(Bounds, CountOfChunksIsWhatFits) {
  for (const u64 value : {u64{0}, u64{1}, u64{0xffffffff}}) {
    const Opened file = opened(changed(smallFile(7, Codec::Zstd), "buffer.0.cpu.0.chunks", value));
    EXPECT_EQ(file.records(0), 60U) << value << "\n" << file.words();
    EXPECT_EQ(file.records(1), 60U) << value << "\n" << file.words();
    EXPECT_GE(file.count(Counter::RangeCut), 1U) << value << "\n" << file.words();
  }
}

TEST(Bounds, HeaderPageHasTheUsualLayoutWhenItIsBroken) {
  for (const char* text :
       {"", "nonsense", "\tfield: local_t commit;\toffset:1000;\tsize:3;\tsigned:1;\n"}) {
    for (const u32 word : {4U, 8U}) {
      DatFile file = smallFile(7);
      file.word = word;
      file.headerPage = text;
      const Opened read = opened(support::write(file));
      ASSERT_TRUE(read.container) << read.words();
      EXPECT_EQ(read.container->ring.commitSize, word);
      EXPECT_EQ(read.records(), 120U) << read.words();
      EXPECT_EQ(read.count(Counter::FormatBad), 1U) << read.words();
    }
  }
}

TEST(Bounds, HeaderPageThatNoPageConfirmsGivesNoPages) {
  DatFile file = smallFile(7);
  file.headerPage = "";
  for (support::Stream& stream : file.buffers[0].streams) stream.stored = Blob(4096, 0x5a);
  const Opened read = opened(support::write(file));
  ASSERT_TRUE(read.container) << read.words();
  EXPECT_EQ(read.records(), 0U);
  EXPECT_GE(read.count(Counter::HeaderBad), 1U) << read.words();
}

TEST(Bounds, HeaderTextsAreFoundBehindAWrongSize) {
  for (const char* name : {"header_page.size", "header_event.size"}) {
    for (const u64 value : {huge, u64{1} << 20U, u64{70'000}}) {
      const Opened file = opened(changed(smallFile(6), name, value));
      ASSERT_TRUE(file.container) << name << " " << value << "\n" << file.words();
      EXPECT_EQ(file.records(), 120U) << name << " " << value << "\n" << file.words();
      EXPECT_GE(file.count(Counter::RangeCut), 1U) << file.words();
    }
  }
}

TEST(Bounds, RecordsOfOldKernelsAreRefused) {
  DatFile file = smallFile(7);
  file.headerEvent =
      "# compressed entry header\n\ttype : 2 bits\n\tlen : 3 bits\n\ttime_delta : 27 bits\n";
  const Opened read = opened(support::write(file));
  ASSERT_FALSE(read.container);
  EXPECT_EQ(read.container.error().kind, Error::Kind::Unsupported) << read.words();
}

TEST(Bounds, FormatIsReadUpTo64KiB) {
  DatFile file = smallFile(7);
  file.systems[0].formats[0].insert(file.systems[0].formats[0].size() - 1,
                                    std::string(100'000, '('));
  const Opened read = opened(support::write(file));
  ASSERT_TRUE(read.container) << read.words();
  EXPECT_EQ(read.count(Counter::FormatTooBig), 1U) << read.words();
  EXPECT_EQ(read.container->formats.size(), 3U);
  EXPECT_EQ(read.records(), 120U);
}

TEST(Bounds, SizeOfAFormatIsToldByItsEnd) {
  for (const char* name : {"ftrace.0.size", "system.0.format.0.size", "system.1.format.0.size"}) {
    for (const u64 value : {huge, u64{1} << 63U, u64{0x7fffffff}}) {
      const Opened file = opened(changed(smallFile(6), name, value));
      ASSERT_TRUE(file.container) << file.words();
      EXPECT_EQ(file.container->formats.size(), 3U) << name << "\n" << file.words();
      EXPECT_EQ(file.records(), 120U) << name << "\n" << file.words();
      EXPECT_GE(file.count(Counter::RangeCut), 1U) << file.words();
    }
  }
}

TEST(Bounds, TextsAreCutAtTheFile) {
  for (const int version : {6, 7}) {
    for (const char* name : {"kallsyms.size", "printk.size", "cmdlines.size"}) {
      for (const u64 value : {u64{0xffffffff}, u64{0x10000000}, u64{1'000'000}}) {
        const Opened file = opened(changed(smallFile(version), name, value));
        ASSERT_TRUE(file.container) << name << "\n" << file.words();
        EXPECT_EQ(file.records(), 120U) << version << " " << name << " " << value << "\n"
                                        << file.words();
        EXPECT_GE(file.count(Counter::RangeCut), 1U) << file.words();
      }
    }
  }
}

TEST(Bounds, OptionsEndWithTheirSection) {
  for (const int version : {6, 7}) {
    for (const u64 value : {u64{0xffffffff}, u64{0xfffffff0}, u64{100'000}}) {
      const Opened file = opened(changed(smallFile(version), "options.0.option.1.size", value));
      ASSERT_TRUE(file.container) << file.words();
      EXPECT_EQ(file.records(), 120U) << version << "\n" << file.words();
      EXPECT_GE(file.count(Counter::OptionsCut), 1U) << file.words();
    }
  }
}

TEST(Bounds, OptionsChainVisitsEachListOnce) {
  const DatFile small = smallFile(7);
  const support::Written written = support::writeWithPlaces(small);
  for (const support::FieldPlace& place : written.places) {
    if (!place.name.starts_with("section.options.") || !place.name.ends_with(".id")) continue;
    const Opened file = opened(changed(small, "options.1.next", *place.offset));
    ASSERT_TRUE(file.container) << file.words();
    EXPECT_EQ(file.records(), 120U) << file.words();
    EXPECT_EQ(file.count(Counter::SectionLoop), 1U) << file.words();
  }
}

TEST(Bounds, ManyListsOfOptionsAreNotFollowedForEver) {
  // 2,000 lists behind one another, each with nothing but the place of the next one.
  DatFile file = smallFile(7);
  const Blob head = support::write(file);
  Blob bytes = head;
  const std::size_t start = bytes.size();
  constexpr std::size_t one = 16 + 14;
  for (u64 i = 0; i < 2000; ++i) {
    support::append(bytes, file.order, 2, 0);
    support::append(bytes, file.order, 2, 0);
    support::append(bytes, file.order, 4, 0);
    support::append(bytes, file.order, 8, 14);
    support::append(bytes, file.order, 2, 0);
    support::append(bytes, file.order, 4, 8);
    support::append(bytes, file.order, 8, i == 1999 ? 0 : start + (i + 1) * one);
  }
  file.forced["options.1.next"] = start;
  Blob linked = support::write(file);
  linked.insert(linked.end(), bytes.begin() + static_cast<std::ptrdiff_t>(start), bytes.end());
  const Opened read = opened(linked);
  ASSERT_TRUE(read.container) << read.words();
  EXPECT_EQ(read.records(), 120U);
  EXPECT_GE(read.count(Counter::SectionLoop), 1U) << read.words();
}

TEST(Bounds, CpuNumbersBeyond16BitsGetAnotherOne) {
  const Opened file = opened(changed(smallFile(7), "buffer.0.cpu.1.id", 0x7fffffff));
  ASSERT_TRUE(file.container) << file.words();
  EXPECT_EQ(file.records(1), 60U) << file.words();
  EXPECT_EQ(file.count(Counter::CpuInferred), 1U) << file.words();
}

TEST(Bounds, CpuInTwoRowsKeepsBothStreams) {
  const Opened file = opened(changed(smallFile(7), "buffer.0.cpu.1.id", 0));
  ASSERT_TRUE(file.container) << file.words();
  EXPECT_EQ(file.records(0), 120U) << file.words();
  EXPECT_EQ(file.count(Counter::CpuTwice), 1U) << file.words();
  EXPECT_EQ(file.container->buffers[0].streams.size(), 2U);
}

TEST(Bounds, StreamsThatOverlapAreReadOnce) {
  for (const int version : {6, 7}) {
    const DatFile small = smallFile(version);
    u64 first = 0;
    for (const support::FieldPlace& place : support::writeWithPlaces(small).places) {
      if (place.name == "buffer.0.cpu.0.offset") first = place.value;
    }
    const Opened same = opened(changed(small, "buffer.0.cpu.1.offset", first));
    ASSERT_TRUE(same.container) << same.words();
    EXPECT_EQ(same.count(Counter::Overlap), 1U) << same.words();
    EXPECT_EQ(same.records(), 120U) << "the other pages are found by a search\n" << same.words();
    const Opened part = opened(changed(small, "buffer.0.cpu.1.offset", first + 2 * 4096));
    EXPECT_EQ(part.count(Counter::Overlap), 1U) << part.words();
    EXPECT_EQ(part.records(), 120U) << part.words();
  }
}

TEST(Bounds, StreamOffsetOfVersionSixIsMovedToItsPages) {
  for (const u64 shift : {u64{1}, u64{100}, u64{4095}}) {
    const DatFile small = smallFile(6);
    for (const support::FieldPlace& place : support::writeWithPlaces(small).places) {
      if (place.name != "buffer.0.cpu.0.offset") continue;
      const Opened after = opened(changed(small, place.name, place.value + shift));
      EXPECT_EQ(after.records(0), 60U) << shift << "\n" << after.words();
      EXPECT_EQ(after.records(1), 60U) << shift << "\n" << after.words();
      EXPECT_EQ(after.count(Counter::Overlap), 0U) << after.words();
      EXPECT_GE(after.count(Counter::RangeCut), 1U) << after.words();
    }
  }
}

TEST(Bounds, PackedSizeEndsWithItsStream) {
  for (const u64 value : {u64{0x7fffffff}, u64{0xffffffff}, u64{1'000'000}}) {
    const Opened file =
        opened(changed(smallFile(7, Codec::Zstd, 4), "buffer.0.cpu.0.chunk.0.packed", value));
    ASSERT_TRUE(file.container) << file.words();
    EXPECT_EQ(file.records(1), 80U) << file.words();
    EXPECT_EQ(file.records(0), 40U) << "the second block is found by its mark\n" << file.words();
    EXPECT_EQ(file.count(Counter::ChunkBad), 1U) << file.words();
  }
}

TEST(Bounds, PlainSizeOfAChunkIsWholePages) {
  for (const u64 value : {u64{0}, u64{1}, u64{4097}, (u64{16} << 20U) + 4096, u64{0x80000000}}) {
    const Opened file =
        opened(changed(smallFile(7, Codec::Zlib, 4), "buffer.0.cpu.0.chunk.0.plain", value));
    ASSERT_TRUE(file.container) << file.words();
    EXPECT_EQ(file.records(1), 80U) << file.words();
    EXPECT_EQ(file.records(0), 40U) << value << "\n" << file.words();
    EXPECT_EQ(file.count(Counter::ChunkSize), 1U) << file.words();
  }
}

TEST(Bounds, MetadataUnpackToAtMostAThousandTimesTheirSize) {
  for (const u64 value : {u64{0xffffffff}, u64{100} << 20U}) {
    const Opened file = opened(changed(smallFile(7, Codec::Zstd), "section.18.plain", value));
    ASSERT_TRUE(file.container) << file.words();
    EXPECT_EQ(file.count(Counter::ChunkSize), 1U) << file.words();
    EXPECT_EQ(file.records(), 120U) << file.words();
    EXPECT_EQ(file.container->formats.size(), 1U) << "only those of ftrace";
  }
}

TEST(Bounds, AllUnpackedDataHaveALimit) {
  const Blob bytes = support::write(smallFile(7, Codec::Zstd, 8));
  const Opened all = opened(bytes);
  EXPECT_EQ(all.records(), 320U) << all.words();
  const Opened some = opened(bytes, u64{40} << 10U);
  ASSERT_TRUE(some.container) << some.words();
  EXPECT_GE(some.count(Counter::LimitInflate), 1U) << some.words();
  EXPECT_LT(some.records(), 320U);
  EXPECT_GT(some.records(), 0U) << some.words();
}

TEST(Bounds, NumbersInTheWrongByteOrderAreTurned) {
  const Opened cpu = opened(changed(smallFile(7), "buffer.0.cpu.1.id", 0x01000000));
  EXPECT_EQ(cpu.records(1), 60U) << cpu.words();
  EXPECT_EQ(cpu.count(Counter::SwappedOption), 1U) << cpu.words();
  // All numbers of the option, as a writer on a machine of the other order leaves them.
  const DatFile small = smallFile(7);
  DatFile turned = small;
  for (const support::FieldPlace& place : support::writeWithPlaces(small).places) {
    const bool row = place.name.starts_with("buffer.0.cpu.") &&
                     (place.name.ends_with(".id") || place.name.ends_with(".offset") ||
                      place.name.ends_with(".size"));
    if (!row && place.name != "buffer.0.offset" && place.name != "buffer.0.page_size" &&
        place.name != "buffer.0.cpus") {
      continue;
    }
    turned.forced[place.name] =
        place.width == 4 ? byteSwapped(static_cast<u32>(place.value)) : byteSwapped(place.value);
  }
  const Opened file = opened(support::write(turned));
  ASSERT_TRUE(file.container) << file.words();
  EXPECT_TRUE(file.quiet()) << file.words();
  EXPECT_EQ(file.records(0), 60U) << file.words();
  EXPECT_EQ(file.records(1), 60U) << file.words();
  EXPECT_EQ(file.container->buffers.at(0).pageSize, 4096U);
  EXPECT_EQ(file.count(Counter::SwappedOption), 1U) << file.words();
}

TEST(Bounds, ByteOrderIsToldByTheFirstNumbers) {
  for (const int version : {6, 7}) {
    for (const support::Order order : {support::Order::Little, support::Order::Big}) {
      DatFile file = smallFile(version);
      file.order = order;
      file.forced["order"] = order == support::Order::Little ? 1 : 0;
      // Records of the pages stay those of the default order: make them anew.
      for (support::Stream& stream : file.buffers[0].streams) {
        for (support::Page& page : stream.pages) {
          page.records.clear();
          for (u32 i = 0; i < 20; ++i) page.data(1000, plainRecord(order, i));
        }
      }
      const Opened read = opened(support::write(file));
      ASSERT_TRUE(read.container) << read.words();
      EXPECT_EQ(read.count(Counter::EndianFlagWrong), 1U) << read.words();
      EXPECT_EQ(read.records(), 120U) << read.words();
    }
  }
}

TEST(Bounds, PageSizeOfThePrologueIsReplaced) {
  for (const int version : {6, 7}) {
    for (const u64 value :
         {u64{0}, u64{3000}, u64{1} << 21U, u64{0xfffff000}, u64{8192}, u64{65536}}) {
      const Opened file = opened(changed(smallFile(version), "page_size", value));
      ASSERT_TRUE(file.container) << file.words();
      EXPECT_EQ(file.container->buffers.at(0).pageSize, 4096U) << value;
      EXPECT_EQ(file.records(), 120U) << version << " " << value << "\n" << file.words();
      if (value != 8192 && value != 65536) {
        EXPECT_EQ(file.count(Counter::HeaderBad), 1U) << file.words();
      }
    }
  }
}

TEST(Bounds, FilesThatAreNoTracesAreRefusedWithAPlace) {
  struct Case {
    Blob bytes;
    Error::Kind kind;
  };
  Blob cut = support::write(smallFile(6));
  cut.resize(33);
  DatFile order = smallFile(7);
  order.forced["order"] = 2;
  DatFile version = smallFile(7);
  version.versionText = "4294967302";
  DatFile codec = smallFile(7, Codec::Zstd);
  codec.codecText = "lz99";
  DatFile endless = smallFile(7);
  endless.codecText = std::string(6000, 'z');
  const std::vector<Case> cases{{{}, Error::Kind::NotATrace},
                                {Blob(5000, 'a'), Error::Kind::NotATrace},
                                {cut, Error::Kind::Damaged},
                                {support::write(order), Error::Kind::Damaged},
                                {support::write(version), Error::Kind::Unsupported},
                                {support::write(codec), Error::Kind::Unsupported},
                                {support::write(endless), Error::Kind::Damaged}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Opened file = opened(cases[i].bytes);
    ASSERT_FALSE(file.container) << "case " << i;
    EXPECT_EQ(file.container.error().kind, cases[i].kind) << "case " << i << "\n" << file.words();
    EXPECT_TRUE(file.container.error().offset) << file.words();
  }
}

TEST(Bounds, CountOfCpusWithoutTheOptionEndsAtTheFirstPages) {
  DatFile file = smallFile(6);
  file.cpuCount = 2;
  const support::Written written = support::writeWithPlaces(file);
  Blob bytes = written.bytes;
  // Make CPUCOUNT an option that nobody knows, and the number of CPUs impossible.
  for (const support::FieldPlace& place : written.places) {
    if (place.name == "cpus") bytes[*place.offset + 3] = 0xff;
    if (place.name == "options.0.option.2.id") bytes[*place.offset] = 200;
  }
  const Opened read = opened(bytes);
  ASSERT_TRUE(read.container) << read.words();
  EXPECT_EQ(read.records(), 120U) << read.words();
  EXPECT_GE(read.count(Counter::RangeCut), 1U) << read.words();
}

/// Every number of a small file set to extremes: something is said or nothing is missing.
class EveryNumber : public testing::TestWithParam<std::pair<int, Codec>> {};

TEST_P(EveryNumber, MayBeAnythingWithoutHarmOrSilence) {
  const auto [version, codec] = GetParam();
  const DatFile small = smallFile(version, codec, 3);
  const support::Written written = support::writeWithPlaces(small);
  u32 tried = 0;
  for (const support::FieldPlace& place : written.places) {
    if (!place.offset || place.name.find(".page.") != std::string::npos) continue;
    for (const u64 value : {u64{0}, u64{1}, place.value + 1, place.value - 1, u64{0x7fffffff}, huge,
                            place.value ^ 0x80U, place.value ^ 0x4000U}) {
      Blob bytes = written.bytes;
      for (u32 i = 0; i < place.width; ++i) {
        bytes[static_cast<std::size_t>(*place.offset) + i] = static_cast<u8>(value >> (8 * i));
      }
      if (bytes == written.bytes) continue;
      const Opened file = opened(bytes);
      ++tried;
      if (!file.container) {
        EXPECT_FALSE(file.container.error().what.empty());
        continue;
      }
      if (file.records() < 120) {
        EXPECT_TRUE(!file.log.entries().empty() || file.anyBlockDamaged())
            << place.name << " = " << value << ": " << file.records() << " of 120 records";
      }
    }
  }
  EXPECT_GT(tried, 100U);
}

INSTANTIATE_TEST_SUITE_P(Files, EveryNumber,
                         testing::Values(std::pair{6, Codec::None}, std::pair{7, Codec::None},
                                         std::pair{7, Codec::Zstd}, std::pair{7, Codec::Zlib}));

TEST(Bounds, EveryLengthOfAFileOpensOrSaysWhy) {
  for (const auto& [version, codec] : {std::pair{6, Codec::None}, std::pair{7, Codec::Zstd}}) {
    const Blob whole = support::write(smallFile(version, codec, 2));
    for (std::size_t size = 0; size < whole.size(); size += size < 3000 ? 7 : 61) {
      const Opened file =
          opened(Blob(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
      if (!file.container) {
        EXPECT_FALSE(file.container.error().what.empty());
      } else if (file.records() < 80) {
        EXPECT_TRUE(file.log.lossOrDamage()) << size << " of " << whole.size() << " bytes";
      }
    }
  }
}

}  // namespace
}  // namespace tickscope::trace_dat
