// SPDX-License-Identifier: GPL-3.0-or-later
// Pages of a killed recorder with the formats of another file.
#include <gtest/gtest.h>

#include "importers/trace_dat/container.h"
#include "tests/importers/trace_dat/opened_container.h"
#include "tests/support/recordings.h"

namespace tickscope::trace_dat {
namespace {

using support::Blob;
using support::DatFile;

Opened openedRaw(std::vector<ByteSource> cpus, const ByteSource& formats) {
  Opened result{ByteSource::joined(cpus), {}, {}};
  Progress progress;
  result.container = readRawPages(cpus, formats, u64{1} << 30U, result.log, progress);
  return result;
}

Blob pagesOf(const DatFile& file, u32 cpu) {
  Blob bytes;
  for (const support::Page& page : file.buffers[0].streams[cpu].pages) {
    const Blob one = support::pageBytes(file, page);
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  return bytes;
}

TEST(RawPages, AreAStreamForEachFile) {
  TICKSCOPE_NEED_RECORDING(first, "formats/killed-cpu0.raw");
  TICKSCOPE_NEED_RECORDING(second, "formats/killed-cpu1.raw");
  TICKSCOPE_NEED_RECORDING(formats, "formats/base-v7-zstd.dat");
  const Opened file =
      openedRaw({*ByteSource::file(second), *ByteSource::file(first)}, *ByteSource::file(formats));
  ASSERT_TRUE(file.container) << file.words();
  EXPECT_TRUE(file.quiet()) << file.words();
  EXPECT_EQ(file.records(0), 2174U) << file.words();
  EXPECT_EQ(file.records(1), 2915U) << file.words();
  EXPECT_EQ(file.container->metadata.format, "raw ring buffer pages");
  EXPECT_FALSE(file.container->formats.empty());
}

TEST(RawPages, HaveTheirCpuInTheName) {
  const DatFile small = smallFile(7);
  const ByteSource formats = ByteSource::memory(support::write(small));
  for (const char* name : {"trace.dat.cpu1", "x-cpu1", "dir.cpu7/cpu1.raw", "killed-cpu1.raw"}) {
    const Opened file = openedRaw({ByteSource::memory(pagesOf(small, 1), name)}, formats);
    ASSERT_TRUE(file.container) << file.words();
    EXPECT_EQ(file.records(1), 60U) << name << "\n" << file.words();
    EXPECT_EQ(file.count(Counter::CpuInferred), 0U) << name;
  }
}

TEST(RawPages, ProveTheirCpuOrAreGivenOne) {
  const DatFile proof = smallFile(7, support::Codec::None, 3, true);
  const ByteSource formats = ByteSource::memory(support::write(proof));
  const Opened proved = openedRaw({ByteSource::memory(pagesOf(proof, 1), "pages")}, formats);
  EXPECT_EQ(proved.records(1), 60U) << proved.words();
  EXPECT_EQ(proved.count(Counter::CpuInferred), 0U) << proved.words();
  const Opened inferred =
      openedRaw({ByteSource::memory(pagesOf(smallFile(7), 1), "cpux.raw")}, formats);
  EXPECT_EQ(inferred.records(0), 60U) << inferred.words();
  EXPECT_EQ(inferred.count(Counter::CpuInferred), 1U) << inferred.words();
}

TEST(RawPages, MayEndInsideAPage) {
  const DatFile small = smallFile(7);
  Blob bytes = pagesOf(small, 0);
  bytes.resize(2 * 4096 + 16 + 3 * 20);
  const Opened file =
      openedRaw({ByteSource::memory(bytes, "a.cpu0")}, ByteSource::memory(support::write(small)));
  EXPECT_EQ(file.records(0), 43U) << file.words();
}

TEST(RawPages, SayWhenTheyDoNotFitTheFormats) {
  TICKSCOPE_NEED_RECORDING(pages, "formats/killed-cpu0.raw");
  TICKSCOPE_NEED_RECORDING(formats, "12-clocks-mono.dat");
  const Opened file = openedRaw({*ByteSource::file(pages)}, *ByteSource::file(formats));
  ASSERT_TRUE(file.container);
  EXPECT_EQ(file.count(Counter::FormatBad), 1U) << file.words();
}

TEST(RawPages, AreRefusedWhenTheyAreNone) {
  const ByteSource formats = ByteSource::memory(support::write(smallFile(7)));
  const Opened file = openedRaw({ByteSource::memory(Blob(8192, 0x11), "a.cpu0")}, formats);
  ASSERT_FALSE(file.container) << file.words();
  EXPECT_EQ(file.container.error().kind, Error::Kind::NotATrace);
  const Opened empty = openedRaw({ByteSource::memory({}, "a.cpu0")}, formats);
  EXPECT_TRUE(empty.container) << "a CPU without events leaves an empty file";
}

TEST(RawPages, OfAnotherKindOfMachineAreRefused) {
  TICKSCOPE_NEED_RECORDING(pages, "formats/killed-cpu0.raw");
  for (const char* const other : {"arch/arch-s390x-v6.dat", "arch/arch-armhf-v6.dat"}) {
    TICKSCOPE_NEED_RECORDING(formats, other);
    const Opened file = openedRaw({*ByteSource::file(pages)}, *ByteSource::file(formats));
    ASSERT_FALSE(file.container) << other << "\n" << file.words();
    EXPECT_EQ(file.container.error().kind, Error::Kind::NotATrace) << other;
  }
}

TEST(RawPages, NeedATraceForTheFormats) {
  const Opened file =
      openedRaw({ByteSource::memory(Blob(8192, 0x11), "a.cpu0")}, ByteSource::memory({}));
  ASSERT_FALSE(file.container);
  EXPECT_EQ(file.container.error().kind, Error::Kind::NotATrace);
}

}  // namespace
}  // namespace tickscope::trace_dat
