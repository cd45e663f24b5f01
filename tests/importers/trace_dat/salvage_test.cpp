// SPDX-License-Identifier: GPL-3.0-or-later
// Pages found where no table names them, and the CPUs that they are given.
#include "importers/trace_dat/salvage.h"

#include <gtest/gtest.h>

#include "importers/trace_dat/stream_table.h"
#include "tests/importers/trace_dat/opened_container.h"
#include "tests/support/recordings.h"
#include "tests/support/trace_dat_source.h"

namespace tickscope::trace_dat {
namespace {

using support::Blob;
using support::Codec;
using support::DatFile;
using support::FieldPlace;

u64 placeOf(const DatFile& file, const std::string& name) {
  for (const FieldPlace& place : support::writeWithPlaces(file).places) {
    if (place.name == name && place.offset) return *place.offset;
  }
  ADD_FAILURE() << "no number is called " << name;
  return 0;
}

class Lost : public testing::TestWithParam<Codec> {};

TEST_P(Lost, OptionsAreFoundByGoingFromSectionToSection) {
  const Opened file = opened(changed(smallFile(7, GetParam()), "first_options", 0));
  ASSERT_TRUE(file.container) << file.words();
  EXPECT_EQ(file.records(), 120U) << file.words();
  EXPECT_EQ(file.count(Counter::SalvagedPages), 6U) << file.words();
  EXPECT_EQ(file.count(Counter::CpuInferred), 0U) << file.words();
  EXPECT_EQ(file.container->buffers.at(0).clock.name, "mono");
}

TEST_P(Lost, TableIsReplacedByASearch) {
  const DatFile small = smallFile(7, GetParam(), 3, true);
  // The recorder died before it wrote the list that holds BUFFER.
  Blob bytes = support::write(small);
  bytes.resize(placeOf(small, "section.options.1.id"));
  const Opened file = opened(bytes);
  ASSERT_TRUE(file.container) << file.words();
  EXPECT_EQ(file.records(0), 60U) << file.words();
  EXPECT_EQ(file.records(1), 60U) << file.words();
  EXPECT_EQ(file.count(Counter::SalvagedPages), 6U) << file.words();
  EXPECT_EQ(file.count(Counter::CpuInferred), 0U) << "both CPUs say their number\n" << file.words();
}

TEST_P(Lost, CpuNumbersWithoutProofAreInferred) {
  const DatFile small = smallFile(7, GetParam());
  Blob bytes = support::write(small);
  bytes.resize(placeOf(small, "section.options.1.id"));
  const Opened file = opened(bytes);
  ASSERT_TRUE(file.container) << file.words();
  EXPECT_EQ(file.records(0), 60U) << file.words();
  EXPECT_EQ(file.records(1), 60U) << file.words();
  EXPECT_EQ(file.count(Counter::CpuInferred), 2U) << file.words();
  for (const PageStream& stream : file.container->buffers.at(0).streams) {
    EXPECT_TRUE(stream.cpuInferred);
  }
}

TEST_P(Lost, SectionOfAKilledRecorderHasNoSize) {
  DatFile small = smallFile(7, GetParam(), 3, true);
  small.forced["section.buffer.0.size"] = 0;
  Blob bytes = support::write(small);
  bytes.resize(placeOf(small, "section.options.1.id"));
  const Opened file = opened(bytes);
  ASSERT_TRUE(file.container) << file.words();
  EXPECT_EQ(file.records(0), 60U) << file.words();
  EXPECT_EQ(file.records(1), 60U) << file.words();
}

TEST_P(Lost, OneBadRowCostsNoOtherCpuAnything) {
  const Opened file =
      opened(changed(smallFile(7, GetParam()), "buffer.0.cpu.0.offset", u64{1} << 40U));
  ASSERT_TRUE(file.container) << file.words();
  EXPECT_EQ(file.records(1), 60U) << file.words();
  // Its pages are still there, and only one CPU is missing.
  EXPECT_EQ(file.records(0), 60U) << file.words();
  EXPECT_EQ(file.count(Counter::CpuInferred), 1U) << file.words();
  EXPECT_GE(file.count(Counter::RangeCut), 1U);
}

INSTANTIATE_TEST_SUITE_P(Codecs, Lost, testing::Values(Codec::None, Codec::Zlib, Codec::Zstd),
                         [](const auto& test) {
                           return test.param == Codec::None   ? "None"
                                  : test.param == Codec::Zlib ? "Zlib"
                                                              : "Zstd";
                         });

TEST(Salvage, FindsThePagesOfVersionSixWithoutATable) {
  DatFile small = smallFile(6, Codec::None, 3, true);
  for (const char* cpu : {"0", "1"}) {
    small.forced[std::string("buffer.0.cpu.") + cpu + ".offset"] = 0;
    small.forced[std::string("buffer.0.cpu.") + cpu + ".size"] = 0;
  }
  const Opened file = opened(support::write(small));
  ASSERT_TRUE(file.container) << file.words();
  EXPECT_EQ(file.records(0), 60U) << file.words();
  EXPECT_EQ(file.records(1), 60U) << file.words();
  EXPECT_EQ(file.count(Counter::SalvagedPages), 6U);
}

TEST(Salvage, FindsAllPagesOfRecordingsWithoutTheirTables) {
  for (const char* name :
       {"formats/base-v7-zstd.dat", "formats/base-v7-none.dat", "formats/lost.dat",
        "arch/arch-s390x.dat", "arch/arch-armhf.dat", "arch/arch-ppc64el.dat"}) {
    TICKSCOPE_NEED_RECORDING(path, name);
    Blob bytes = support::readFile(path);
    const Opened whole = opened(bytes);
    ASSERT_TRUE(whole.container);
    // Cut where the data of the only buffer end, which leaves no BUFFER option.
    const Block& last = whole.container->buffers.at(0).streams.back().blocks.back();
    bytes.resize(static_cast<std::size_t>(last.offset + last.packed));
    const Opened cut = opened(bytes);
    ASSERT_TRUE(cut.container) << cut.words();
    for (u32 cpu = 0; cpu < 2; ++cpu) {
      EXPECT_EQ(cut.records(cpu), whole.records(cpu)) << name << ", CPU " << cpu << "\n"
                                                      << cut.words();
    }
    EXPECT_EQ(cut.container->buffers.at(0).streams.size(), 2U) << name;
    EXPECT_EQ(cut.count(Counter::CpuInferred), 0U) << name << "\n" << cut.words();
  }
}

TEST(Salvage, ReadsWhatIsThereOfACutFile) {
  for (const int version : {6, 7}) {
    const DatFile small = smallFile(version);
    Blob bytes = support::write(small);
    const u64 lastPage = placeOf(small, "buffer.0.cpu.1.page.2.time");
    bytes.resize(static_cast<std::size_t>(lastPage + 16 + 5 * 20));
    const Opened file = opened(bytes);
    ASSERT_TRUE(file.container) << file.words();
    EXPECT_EQ(file.records(0), 60U) << file.words();
    EXPECT_EQ(file.records(1), 45U) << "version " << version << "\n" << file.words();
  }
}

TEST(Salvage, RefusesBytesThatAreNoPages) {
  const RecordFacts facts({{"", plainFormat(), 0}});
  const RingLayout ring = usualLayout(8, false, false);
  DatFile file = smallFile(6);
  const support::Page& page = file.buffers[0].streams[0].pages[0];
  const Blob good = support::pageBytes(file, page);
  EXPECT_TRUE(facts.plausiblePage(good, ring, 4096));
  Blob longer = good;
  longer[8] = static_cast<u8>(longer[8] + 4);  // the records end before the page says
  EXPECT_FALSE(facts.plausiblePage(longer, ring, 4096));
  Blob strangeBits = good;
  strangeBits[11] = 0x08;
  EXPECT_FALSE(facts.plausiblePage(strangeBits, ring, 4096));
  Blob upperHalf = good;
  upperHalf[13] = 1;
  EXPECT_FALSE(facts.plausiblePage(upperHalf, ring, 4096));
  Blob otherEvent = good;
  otherEvent[20] = 43;
  EXPECT_FALSE(facts.plausiblePage(otherEvent, ring, 4096));
  EXPECT_FALSE(facts.plausiblePage(Blob(4096, 0), ring, 4096));
  EXPECT_FALSE(facts.plausiblePage(Blob(4096, 0xff), ring, 4096));
  EXPECT_FALSE(facts.plausiblePage(Blob(7, 0), ring, 4096));
}

TEST(Salvage, TellsTheCpuByIdleTasks) {
  const RecordFacts facts({{"sched", switchFormat(), 0}, {"power", idleFormat(), 0}});
  DatFile file = smallFile(6);
  Blob record = support::packed(file.order, {{2, switchId}, {2, 0}, {4, 0}});
  const std::string comm = "swapper/13";
  record.insert(record.end(), comm.begin(), comm.end());
  record.resize(8 + 16);
  support::append(record, file.order, 4, 0);  // prev_pid
  record.resize(8 + 16 + 4 + 16, 'x');
  support::append(record, file.order, 4, 99);  // next_pid
  support::Page page;
  page.data(1, record);
  std::vector<u32> cpus;
  facts.cpusNamed(support::pageBytes(file, page), usualLayout(8, false, false), 4096, cpus);
  EXPECT_EQ(cpus, std::vector<u32>{13});
}

TEST(Salvage, NumbersAscendAndRespectProof) {
  const auto run = [](Known<u32> cpu) {
    FoundRun found;
    found.cpu = cpu;
    return found;
  };
  EXPECT_EQ(numbersFor({run({}), run({}), run({})}, {}, {}), (std::vector<u32>{0, 1, 2}));
  EXPECT_EQ(numbersFor({run({}), run(4), run({})}, {}, {}), (std::vector<u32>{0, 4, 5}));
  EXPECT_EQ(numbersFor({run({}), run({})}, {}, {0, 2}), (std::vector<u32>{1, 3}));
  // As many as a table lost: those numbers.
  EXPECT_EQ(numbersFor({run({}), run({})}, {3, 7}, {0}), (std::vector<u32>{3, 7}));
}

TEST(Claims, KnowWhatIsFree) {
  Claims claims;
  claims.claim(10, 20);
  claims.claim(30, 40);
  claims.claim(20, 22);
  const auto spans = claims.freeIn(0, 50);
  ASSERT_EQ(spans.size(), 3U);
  EXPECT_EQ(spans[0].to, 10U);
  EXPECT_EQ(spans[1].from, 22U);
  EXPECT_EQ(spans[1].to, 30U);
  EXPECT_EQ(spans[2].from, 40U);
  EXPECT_TRUE(claims.isFree(22, 30));
  EXPECT_FALSE(claims.isFree(21, 23));
  EXPECT_TRUE(claims.freeIn(12, 18).empty());
  claims.claim(0, 100);
  EXPECT_TRUE(claims.freeIn(0, 100).empty());
}

}  // namespace
}  // namespace tickscope::trace_dat
