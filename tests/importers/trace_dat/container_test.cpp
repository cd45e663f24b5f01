// SPDX-License-Identifier: GPL-3.0-or-later
// Healthy files of both versions: buffers, clocks, options, texts, and every kind of packing.
#include "importers/trace_dat/container.h"

#include <gtest/gtest.h>

#include <map>

#include "importers/trace_dat/format_text.h"
#include "tests/importers/trace_dat/opened_container.h"
#include "tests/support/recordings.h"
#include "tests/support/trace_dat_convert.h"
#include "tests/support/trace_dat_source.h"

namespace tickscope::trace_dat {
namespace {

using support::Blob;
using support::DatFile;
using support::Order;

Blob text(const std::string& words) { return {words.begin(), words.end()}; }

struct Known2 {
  const char* name;
  const char* clock;
  std::vector<u64> perCpu;
};

class HealthyRecording : public testing::TestWithParam<Known2> {};

TEST_P(HealthyRecording, HasItsStreamsAndItsClock) {
  TICKSCOPE_NEED_RECORDING(path, GetParam().name);
  const Opened file = opened(*ByteSource::file(path));
  ASSERT_TRUE(file.container) << file.words();
  EXPECT_TRUE(file.quiet()) << file.words();
  ASSERT_EQ(file.container->buffers.size(), 1U);
  const BufferPlaces& buffer = file.container->buffers[0];
  EXPECT_EQ(buffer.clock.name, GetParam().clock);
  EXPECT_FALSE(buffer.clock.source.empty());
  u64 streams = 0;
  for (u32 cpu = 0; cpu < GetParam().perCpu.size(); ++cpu) {
    EXPECT_EQ(file.records(cpu), GetParam().perCpu[cpu]) << GetParam().name << ", CPU " << cpu;
    streams += GetParam().perCpu[cpu] > 0 ? 1 : 0;
  }
  EXPECT_EQ(buffer.streams.size(), streams);
  for (const FormatText& format : file.container->formats) {
    const EventFormat parsed = parseFormat(format.system, format.text);
    EXPECT_NE(parsed.id, 0) << parsed.name;
    EXPECT_TRUE(parsed.problems.empty()) << parsed.name << ": " << parsed.problems.front();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Recordings, HealthyRecording,
    testing::Values(Known2{"formats/base-v7-zstd.dat", "mono", {4143, 3164}},
                    Known2{"formats/base-v7-none.dat", "mono", {4143, 3164}},
                    Known2{"formats/base-v7-none-to-zstd.dat", "mono", {4143, 3164}},
                    Known2{"formats/base-v6.dat", "mono", {4143, 3164}},
                    Known2{"formats/base-v6-to-v7.dat", "mono", {4143, 3164}},
                    Known2{"formats/split-events-1.dat", "mono", {1391, 1109}},
                    Known2{"formats/rec-v6.dat", "mono", {2448, 2919}},
                    Known2{"formats/rec-v7-none.dat", "mono", {1894, 1845}},
                    Known2{"formats/extract.dat", "mono", {2734, 3565}},
                    Known2{"formats/lost.dat", "mono", {9109, 9093}},
                    Known2{"formats/restored.dat", "mono", {2174, 2915}},
                    Known2{"formats/network.dat", "mono", {916, 850}},
                    Known2{"formats/synthetic.dat", "mono", {404, 484}},
                    Known2{"formats/clock-counter.dat", "counter", {1733, 1563}},
                    Known2{"formats/clock-uptime.dat", "uptime", {1395, 1014}},
                    Known2{"formats/cpumask.dat", "local", {0, 1368}},
                    Known2{"formats/sparse-cpus.dat", "mono", {1979, 1724, 0, 2164}},
                    Known2{"formats/subbuf-16k.dat", "mono", {1640, 2072}},
                    Known2{"arch/arch-s390x.dat", "mono", {10180, 9531}},
                    Known2{"arch/arch-s390x-v6.dat", "mono", {1889, 1510}},
                    Known2{"arch/arch-armhf.dat", "mono", {7380, 9587}},
                    Known2{"arch/arch-armhf-v6.dat", "mono", {1790, 2012}},
                    Known2{"arch/arch-ppc64el.dat", "mono", {9218, 10708}},
                    Known2{"arch/arch-ppc64el-v6.dat", "mono", {3731, 4194}},
                    Known2{"arch/arch-i386-v7none.dat", "mono", {1379}},
                    Known2{"arch/arch-arm64-default.dat", "local", {8975, 7766}}),
    [](const auto& test) {
      std::string name = test.param.name;
      for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
      return name;
    });

TEST(Container, SaysWhichMachineRecorded) {
  TICKSCOPE_NEED_RECORDING(path, "arch/arch-s390x-v6.dat");
  const Opened file = opened(*ByteSource::file(path));
  ASSERT_TRUE(file.container) << file.words();
  const Metadata& metadata = file.container->metadata;
  EXPECT_EQ(metadata.format, "trace.dat version 6");
  EXPECT_EQ(metadata.release, "6.1.0-50-s390x");
  EXPECT_EQ(metadata.machine, "s390x");
  EXPECT_TRUE(metadata.bigEndian);
  EXPECT_EQ(metadata.wordSize, 8);
  EXPECT_TRUE(metadata.writer.starts_with("3.1.6")) << metadata.writer;
  EXPECT_EQ(file.container->buffers.at(0).statistics.size(), 2U);
  EXPECT_GT(metadata.tasks.size(), 100U);
  EXPECT_GT(metadata.printkFormats.size(), 10U);
  EXPECT_FALSE(metadata.symbols->empty());
}

TEST(Container, TakesTheCommitSizeFromThePages) {
  TICKSCOPE_NEED_RECORDING(path, "arch/arch-armhf.dat");
  const Opened file = opened(*ByteSource::file(path));
  ASSERT_TRUE(file.container) << file.words();
  EXPECT_EQ(file.container->ring.commitSize, 4);
  EXPECT_EQ(file.container->ring.dataOffset, 12U);
  EXPECT_EQ(file.container->metadata.wordSize, 4);
}

TEST(Container, KeepsInstancesApart) {
  TICKSCOPE_NEED_RECORDING(path, "formats/instances.dat");
  const Opened file = opened(*ByteSource::file(path));
  ASSERT_TRUE(file.container) << file.words();
  const auto& buffers = file.container->buffers;
  ASSERT_EQ(buffers.size(), 3U);
  std::map<std::string, const BufferPlaces*> byName;
  for (const BufferPlaces& buffer : buffers) byName[buffer.name] = &buffer;
  ASSERT_TRUE(byName.contains("") && byName.contains("foo") && byName.contains("bar"));
  EXPECT_EQ(file.records(), 3838U);
  for (const auto& [name, buffer] : byName) EXPECT_EQ(buffer->statistics.size(), 2U) << name;
  // The file calls the clock of bar mono; the kernel's own numbers show that it has no seconds.
  EXPECT_EQ(byName["bar"]->clock.unit, ClockUnit::Unknown);
  EXPECT_EQ(byName["foo"]->clock.unit, ClockUnit::Nanoseconds);
  EXPECT_EQ(file.count(Counter::ClockConflict), 1U) << file.words();
  EXPECT_FALSE(file.log.lossOrDamage()) << file.words();
}

TEST(Container, HasAnEmptyTopBufferBesideAFullInstance) {
  TICKSCOPE_NEED_RECORDING(path, "formats/instance-only.dat");
  const Opened file = opened(*ByteSource::file(path));
  ASSERT_TRUE(file.container) << file.words();
  ASSERT_EQ(file.container->buffers.size(), 2U);
  EXPECT_EQ(file.container->buffers[0].name, "");
  EXPECT_TRUE(file.container->buffers[0].streams.empty());
  EXPECT_EQ(file.container->buffers[0].clock.name, "global");
  EXPECT_EQ(file.container->buffers[1].name, "only");
  EXPECT_EQ(file.records(0, 1), 1084U);
}

TEST(Container, OpensARecordingWithoutEvents) {
  TICKSCOPE_NEED_RECORDING(path, "formats/empty.dat");
  const Opened file = opened(*ByteSource::file(path));
  ASSERT_TRUE(file.container) << file.words();
  EXPECT_TRUE(file.quiet()) << file.words();
  ASSERT_EQ(file.container->buffers.size(), 1U);
  EXPECT_TRUE(file.container->buffers[0].streams.empty());
}

TEST(Container, NamesBuffersThatAreText) {
  for (const char* name : {"formats/made-latency-v6.dat", "formats/made-latency-v7.dat"}) {
    TICKSCOPE_NEED_RECORDING(path, name);
    const Opened file = opened(*ByteSource::file(path));
    ASSERT_TRUE(file.container) << file.words();
    ASSERT_EQ(file.container->texts.size(), 1U) << name;
    EXPECT_EQ(file.container->texts[0].size, 20421U) << name;
    EXPECT_FALSE(file.log.lossOrDamage()) << file.words();
  }
}

TEST(Container, KeepsClockCorrectionsAsFacts) {
  TICKSCOPE_NEED_RECORDING(date, "formats/options.dat");
  EXPECT_EQ(opened(*ByteSource::file(date)).container->metadata.dateOffset, 1796050365181119000);
  TICKSCOPE_NEED_RECORDING(offset, "formats/made-offset.dat");
  EXPECT_EQ(opened(*ByteSource::file(offset)).container->metadata.timeOffset, -2500000000);
  TICKSCOPE_NEED_RECORDING(cycles, "formats/made-tsc2nsec.dat");
  const Opened file = opened(*ByteSource::file(cycles));
  ASSERT_TRUE(file.container->metadata.tscToNs) << file.words();
  EXPECT_EQ(file.container->metadata.tscToNs->mult, 1677721U);
  EXPECT_EQ(file.container->metadata.tscToNs->shift, 22U);
  EXPECT_EQ(file.container->metadata.tscToNs->offset, 9'000'000'000U);
  EXPECT_EQ(file.container->buffers[0].clock.unit, ClockUnit::Nanoseconds);
}

/// Version, codec, byte order, word, page size of a file that a real recording is turned into.
struct Shape {
  int version;
  support::Codec codec;
  Order order;
  u32 word, pageSize;
};

class Reshaped : public testing::TestWithParam<Shape> {};

TEST_P(Reshaped, HoldsAllEventsOfTheOriginal) {
  TICKSCOPE_NEED_RECORDING(path, "formats/rec-v6.dat");
  const Shape& shape = GetParam();
  support::Target target;
  target.version = shape.version;
  target.codec = shape.codec;
  target.order = shape.order;
  target.word = shape.word;
  target.pageSize = shape.pageSize;
  const DatFile made = support::reencoded(support::readDat(support::readFile(path)), target);
  const Opened file = opened(support::write(made));
  ASSERT_TRUE(file.container) << file.words();
  EXPECT_TRUE(file.quiet()) << file.words();
  EXPECT_EQ(file.records(0), 2448U);
  EXPECT_EQ(file.records(1), 2919U);
  EXPECT_EQ(file.container->metadata.bigEndian, shape.order == Order::Big);
  EXPECT_EQ(file.container->metadata.wordSize, shape.word);
  EXPECT_EQ(file.container->buffers[0].pageSize, shape.pageSize);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Reshaped,
                         testing::Values(Shape{7, support::Codec::Zlib, Order::Little, 8, 4096},
                                         Shape{7, support::Codec::Zlib, Order::Big, 8, 65536},
                                         Shape{7, support::Codec::Zstd, Order::Big, 4, 4096},
                                         Shape{7, support::Codec::None, Order::Big, 8, 16384},
                                         Shape{6, support::Codec::None, Order::Big, 4, 65536},
                                         Shape{6, support::Codec::None, Order::Little, 4, 4096}));

TEST(Container, ReadsOptionsThatTextsAndNumbersHold) {
  DatFile file = smallFile(7);
  file.options.push_back({1, text("0x10")});
  file.options.push_back({6, text("hook")});
  file.options.push_back({9, text("3.2 writer")});
  file.options.push_back({10, text("maps")});
  file.options.push_back({11, support::packed(file.order, {{8, 0x1122334455667788U}})});
  file.options.push_back({24, text("boot:map")});
  Blob guest = text("vm");
  guest.push_back(0);
  support::append(guest, file.order, 8, 0xab);
  support::append(guest, file.order, 4, 1);
  support::append(guest, file.order, 4, 3);
  support::append(guest, file.order, 4, 4321);
  file.options.push_back({13, guest});
  Blob shift = support::packed(file.order, {{8, 0xcd}, {4, 1}, {4, 1}, {4, 2}});
  shift.resize(shift.size() + 2 * 24);
  file.options.push_back({12, shift});
  file.options.push_back({2, text("CPU: 1\nentries: 0\noverrun: 17\ncommit overrun: 2\n"
                                  "now ts:    12.5\ndropped events: 3\n")});
  const Opened read = opened(support::write(file));
  ASSERT_TRUE(read.container) << read.words();
  EXPECT_TRUE(read.quiet()) << read.words();
  const Metadata& metadata = read.container->metadata;
  EXPECT_EQ(metadata.dateOffset, 16000);
  EXPECT_EQ(metadata.writer, "3.2 writer");
  EXPECT_EQ(metadata.traceId, 0x1122334455667788U);
  EXPECT_TRUE(metadata.lastBoot);
  EXPECT_EQ(metadata.release, "6.1.0");
  ASSERT_EQ(metadata.guests.size(), 2U) << read.words();
  EXPECT_NE(metadata.guests[0].find("vm"), std::string::npos) << metadata.guests[0];
  EXPECT_NE(metadata.guests[0].find("1 virtual CPU, 3 is thread 4321"), std::string::npos)
      << metadata.guests[0];
  EXPECT_NE(metadata.guests[1].find("2 samples"), std::string::npos) << metadata.guests[1];
  EXPECT_EQ(read.count(Counter::IgnoredOption), 2U) << read.words();
  EXPECT_EQ(read.count(Counter::LastBoot), 1U);
  const auto& statistics = read.container->buffers.at(0).statistics;
  ASSERT_EQ(statistics.size(), 1U);
  EXPECT_EQ(statistics[0].cpu, Cpu{1});
  EXPECT_EQ(statistics[0].overrun, 17U);
  EXPECT_EQ(statistics[0].commitOverrun, 2U);
  EXPECT_EQ(statistics[0].dropped, 3U);
  EXPECT_EQ(metadata.tasks.of(Pid{7}), "worker");
  EXPECT_EQ(metadata.printkFormats.at(0xffffffff82000000U), "text\n");
}

TEST(Container, CountsUnknownOptionsAndSections) {
  DatFile file = smallFile(7);
  file.options.push_back({999, text("?")});
  file.sections.push_back({30, 0, text("something new")});
  const Opened read = opened(support::write(file));
  ASSERT_TRUE(read.container) << read.words();
  EXPECT_TRUE(read.quiet()) << read.words();
  EXPECT_EQ(read.count(Counter::UnknownOption), 1U) << read.words();
  EXPECT_EQ(read.count(Counter::UnknownSection), 1U) << read.words();
  EXPECT_EQ(read.records(), 120U);
}

TEST(Container, SaysThatThereAreNoSymbols) {
  DatFile file = smallFile(7);
  file.kallsyms = "0000000000000000 T one\n0000000000000000 t two\n";
  const Opened zeros = opened(support::write(file));
  EXPECT_EQ(zeros.count(Counter::NoSymbols), 1U) << zeros.words();
  EXPECT_TRUE(zeros.container->metadata.symbols->empty());
  file.kallsyms.clear();
  EXPECT_EQ(opened(support::write(file)).count(Counter::NoSymbols), 1U);
}

TEST(Container, StopsWhenCancelled) {
  const ByteSource source = ByteSource::memory(support::write(smallFile(7)));
  ImportLog log;
  Progress progress;
  progress.cancel();
  const auto container = readContainer(source, u64{1} << 30U, log, progress);
  ASSERT_FALSE(container);
  EXPECT_EQ(container.error().kind, Error::Kind::Cancelled);
}

TEST(Container, GivesTheSameForFilesAndMemory) {
  const support::TemporaryFolder folder;
  for (const support::Codec codec :
       {support::Codec::None, support::Codec::Zlib, support::Codec::Zstd}) {
    const Blob bytes = support::write(smallFile(7, codec));
    const std::string path = folder.write("small.dat", bytes);
    const Opened fromFile = opened(*ByteSource::file(path));
    const Opened fromMemory = opened(bytes);
    ASSERT_TRUE(fromFile.container && fromMemory.container) << fromFile.words();
    EXPECT_EQ(fromFile.records(), 120U) << fromFile.words();
    EXPECT_EQ(fromMemory.records(), 120U) << fromMemory.words();
  }
}

TEST(Container, ReadsInstancesOfVersionSix) {
  DatFile file = smallFile(6);
  support::Buffer more = file.buffers[0];
  more.name = "inst";
  more.streams.erase(more.streams.begin());
  file.buffers.push_back(more);
  const Opened read = opened(support::write(file));
  ASSERT_TRUE(read.container) << read.words();
  EXPECT_TRUE(read.quiet()) << read.words();
  ASSERT_EQ(read.container->buffers.size(), 2U);
  EXPECT_EQ(read.container->buffers[1].name, "inst");
  EXPECT_EQ(read.records(1, 1), 60U);
  EXPECT_EQ(read.records(), 180U);
}

}  // namespace
}  // namespace tickscope::trace_dat
