// SPDX-License-Identifier: GPL-3.0-or-later
// One content in many containers gives one store, for any number of threads and any way of reading.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/support/imported.h"
#include "tests/support/payload_fields.h"
#include "tests/support/recordings.h"
#include "tests/support/store_compare.h"
#include "tests/support/trace_dat_convert.h"
#include "tests/support/trace_dat_source.h"
#include "tests/support/trace_dat_writer.h"

namespace tickscope::support {
namespace {

class Twin : public testing::TestWithParam<const char*> {};

TEST_P(Twin, HasTheStoreOfTheOriginal) {
  TICKSCOPE_NEED_RECORDING(original, "formats/base-v7-zstd.dat");
  TICKSCOPE_NEED_RECORDING(twin, GetParam());
  const Recording expected = imported(original);
  ASSERT_EQ(expected.buffers.at(0).events.size(), 7307U);
  EXPECT_EQ(difference(expected, imported(twin)), "");
}

INSTANTIATE_TEST_SUITE_P(Formats, Twin,
                         testing::Values("formats/base-v7-none.dat",
                                         "formats/base-v7-none-to-zstd.dat", "formats/base-v6.dat",
                                         "formats/base-v6-to-v7.dat"));

struct Way {
  const char* name;
  Target target;
  bool sameBytes = true;  ///< payloads are what they were
};

const std::vector<Way>& ways() {
  static const std::vector<Way> all = {
      {"v6", {.version = 6}},
      {"v7", {.version = 7, .codec = Codec::None}},
      {"zlib", {.version = 7, .codec = Codec::Zlib}},
      {"zstd", {.version = 7, .codec = Codec::Zstd}},
      {"other byte order, v6", {.version = 6}, false},
      {"other byte order, zlib", {.version = 7, .codec = Codec::Zlib}, false},
      {"16 KiB pages", {.version = 6, .pageSize = 16384}},
      {"64 KiB pages", {.version = 7, .codec = Codec::Zstd, .pageSize = 65536}},
      {"64 KiB pages, zlib", {.version = 7, .codec = Codec::Zlib, .pageSize = 65536}},
  };
  return all;
}

/// Rows of the test reader, which shares no code with the importer, against rows of the store.
void expectSeenEvents(const DatFile& file, const Recording& recording, const std::string& what) {
  const std::vector<SeenEvent> seen = eventsOf(file);
  std::size_t at = 0;
  for (u32 b = 0; b < recording.buffers.size(); ++b) {
    const EventStore& store = recording.buffers[b].events;
    for (u32 s = 0; s < store.streams().size(); ++s) {
      for (const Row row : store.rowsOfStream(s)) {
        ASSERT_LT(at, seen.size()) << what;
        const SeenEvent& event = seen[at++];
        ASSERT_EQ(event.buffer, b) << what;
        ASSERT_EQ(event.cpu, number(store.cpu(row))) << what;
        ASSERT_EQ(event.time, static_cast<u64>(store.time(row).value))
            << what << ", row " << number(row);
        ASSERT_GE(event.payload.size(), 8U);
        ASSERT_EQ(event.payload[2], store.context(row).flags) << what << ", row " << number(row);
        ASSERT_EQ(event.payload[3], store.context(row).preemptCount)
            << what << ", row " << number(row);
      }
    }
  }
  EXPECT_EQ(at, seen.size()) << what;
}

class Rewritten : public testing::TestWithParam<const char*> {};

TEST_P(Rewritten, HasTheStoreOfTheOriginal) {
  TICKSCOPE_NEED_RECORDING(path, GetParam());
  const DatFile original = readDat(readFile(path));
  const Recording expected = imported(path);
  ASSERT_GT(expected.buffers.at(expected.mainBuffer()).events.size(), 100U);
  if (!expected.metadata.tscToNs) expectSeenEvents(original, expected, path);
  for (Way way : ways()) {
    if (std::string_view(way.name).starts_with("other")) {
      way.target.order = original.order == Order::Little ? Order::Big : Order::Little;
    }
    CompareOptions options;
    options.rawBytes = way.sameBytes;
    if (!way.sameBytes) options.untyped = {"buf"};
    // Version 6 names a clock only where the TRACECLOCK option does, which trace-cmd split leaves out.
    const auto isClock = [](const Option& option) { return option.id == 4; };
    options.clocks = way.target.version != 6 ||
                     std::any_of(original.options.begin(), original.options.end(), isClock);
    EXPECT_EQ(difference(expected, importedBytes(write(reencoded(original, way.target))), options),
              "")
        << path << " as " << way.name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Recordings, Rewritten,
    testing::Values("formats/base-v7-zstd.dat", "formats/lost.dat", "formats/synthetic.dat",
                    "formats/instances.dat", "formats/hotplug.dat", "formats/sparse-cpus.dat",
                    "formats/cpumask.dat", "formats/graph-depth3.dat", "formats/probes.dat",
                    "formats/markers.dat", "formats/stack-all.dat", "formats/options.dat",
                    "formats/made-stamps-high.dat", "formats/made-tsc2nsec.dat",
                    "formats/vectors.dat", "formats/syscalls.dat", "arch/arch-armhf.dat",
                    "arch/arch-i386.dat", "arch/arch-ppc64el.dat", "arch/arch-s390x.dat",
                    "12-clocks-tai.dat", "16-posix.dat"));

/// Names of the fields that are longs or pointers.
std::set<std::string> wordsOf(const DatFile& file) {
  std::set<std::string> words;
  for (const System& system : file.systems) {
    for (const std::string& format : system.formats) {
      for (const FormatField& field : parseFormat(format, 8).fields) {
        if (field.isWord) words.insert(field.name);
      }
    }
  }
  for (const std::string& format : file.ftraceFormats) {
    for (const FormatField& field : parseFormat(format, 8).fields) {
      if (field.isWord) words.insert(field.name);
    }
  }
  return words;
}

class Narrow : public testing::TestWithParam<const char*> {};

TEST_P(Narrow, HasTheOriginalsStoreWithLongsCutTo32Bits) {
  TICKSCOPE_NEED_RECORDING(path, GetParam());
  const DatFile original = readDat(readFile(path));
  const Recording expected = imported(path);
  CompareOptions options;
  options.words = wordsOf(original);
  options.rawBytes = false;
  options.untyped = {"buf"};
  const std::vector<std::pair<const char*, Target>> targets{
      {"armhf", {.word = 4}},
      {"i386", {.word = 4, .wideAlignment = 4}},
      {"32-bit big endian", {.version = 6, .order = Order::Big, .word = 4}},
      {"32-bit, 8-byte alignment forced",
       {.version = 7, .codec = Codec::Zlib, .word = 4, .dataOffset = 16}},
      {"32-bit big endian, 64 KiB pages",
       {.version = 7, .codec = Codec::Zstd, .order = Order::Big, .word = 4, .pageSize = 65536}},
  };
  for (const auto& [name, target] : targets) {
    EXPECT_EQ(difference(expected, importedBytes(write(reencoded(original, target))), options), "")
        << path << " as " << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Recordings, Narrow,
                         testing::Values("formats/base-v7-zstd.dat", "formats/hotplug.dat",
                                         "formats/lost.dat", "formats/vectors.dat",
                                         "formats/driver.dat"));

class AnyWay : public testing::TestWithParam<const char*> {};

TEST_P(AnyWay, ThreadsAndSourcesDoNotChangeTheStore) {
  TICKSCOPE_NEED_RECORDING(path, GetParam());
  const Recording expected = imported(path);
  for (const int threads : {2, 3, 4}) {
    const Recording found = imported(path, threads);
    EXPECT_EQ(difference(expected, found), "") << threads << " threads";
    EXPECT_EQ(logText(expected.log), logText(found.log)) << threads << " threads";
  }
  const Recording fromMemory = importedBytes(readFile(path), 2);
  EXPECT_EQ(difference(expected, fromMemory), "") << "from memory";
  EXPECT_EQ(logText(expected.log), logText(fromMemory.log)) << "from memory";
  EXPECT_EQ(expected.fingerprint, fromMemory.fingerprint);
}

INSTANTIATE_TEST_SUITE_P(Recordings, AnyWay,
                         testing::Values("formats/base-v7-zstd.dat", "formats/base-v6.dat",
                                         "formats/instances.dat", "formats/lost.dat",
                                         "formats/markers.dat", "formats/extract-overwritten.dat",
                                         "arch/arch-s390x.dat", "04-stalebase-deep.dat",
                                         "18-graph.dat"));

// Pieces are 4 MiB of pages: only a large recording has many.
TEST(AnyWaySlow, ThreadsDoNotChangeALargeStore) {
  TICKSCOPE_NEED_RECORDING(path, "20-big.dat");
  const Recording expected = imported(path);
  ASSERT_EQ(expected.buffers.at(0).events.size(), 1554134U);
  for (const int threads : {2, 4}) {
    const Recording found = imported(path, threads);
    EXPECT_EQ(difference(expected, found), "") << threads << " threads";
    EXPECT_EQ(logText(expected.log), logText(found.log)) << threads << " threads";
  }
}

TEST(Split, PiecesHoldEveryEventOnce) {
  TICKSCOPE_NEED_RECORDING(whole, "formats/base-v7-zstd.dat");
  const Recording base = imported(whole);
  const tickscope::Buffer& all = base.buffers.at(0);
  std::vector<std::string> expected;
  for (u32 row = 0; row < all.events.size(); ++row) expected.push_back(rowText(all, Row{row}));
  std::vector<std::string> found;
  const std::vector<std::pair<const char*, u32>> pieces{{"formats/split-events-1.dat", 2500},
                                                        {"formats/split-events-2.dat", 2500},
                                                        {"formats/split-events-3.dat", 2307}};
  for (const auto& [name, events] : pieces) {
    TICKSCOPE_NEED_RECORDING(path, name);
    const Recording piece = imported(path);
    ASSERT_EQ(piece.buffers.at(0).events.size(), events) << name;
    for (u32 row = 0; row < events; ++row) found.push_back(rowText(piece.buffers[0], Row{row}));
  }
  ASSERT_EQ(expected.size(), found.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_EQ(expected[i], found[i]) << "event " << i;
}

// The two raw files are what a killed recorder left; restored.dat is what trace-cmd made of them.
TEST(RawPages, HoldTheEventsOfTheRestoredFile) {
  TICKSCOPE_NEED_RECORDING(cpu0, "formats/killed-cpu0.raw");
  TICKSCOPE_NEED_RECORDING(cpu1, "formats/killed-cpu1.raw");
  TICKSCOPE_NEED_RECORDING(formats, "formats/base-v6.dat");
  TICKSCOPE_NEED_RECORDING(restored, "formats/restored.dat");
  // In any order: CPU numbers come from the names.
  const std::vector<ByteSource> sources{*ByteSource::file(cpu1), *ByteSource::file(cpu0)};
  for (const ByteSource& source : sources)
    EXPECT_EQ(sniff(source), InputKind::RawPages) << source.name();
  for (const int threads : {1, 2}) {
    Progress progress;
    ImportOptions options;
    options.threads = threads;
    const Result<Recording> found =
        importRawPages(sources, *ByteSource::file(formats), options, progress);
    ASSERT_TRUE(found) << describe(found.error());
    ASSERT_EQ(found->buffers.at(0).events.size(), 5089U) << logText(found->log);
    CompareOptions compare;
    compare.clocks = false;   // raw pages do not say which clock they were recorded with
    compare.symbols = false;  // the restored file has none
    EXPECT_EQ(difference(imported(restored), *found, compare), "");
    EXPECT_GT(printAll(*found), 100'000U);
  }
}

}  // namespace
}  // namespace tickscope::support
