// SPDX-License-Identifier: GPL-3.0-or-later
// The test writer's files must say to trace-cmd what the recordings said that they were made from.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/recordings.h"
#include "tests/support/trace_cmd_report.h"
#include "tests/support/trace_dat_convert.h"
#include "tests/support/trace_dat_source.h"
#include "tests/support/trace_dat_writer.h"

namespace tickscope::support {
namespace {

struct Way {
  const char* name;
  Target target;
};

const std::vector<Way>& ways() {
  static const std::vector<Way> all = {
      {"v6", {.version = 6}},
      {"v7", {.version = 7, .codec = Codec::None}},
      {"zstd", {.version = 7, .codec = Codec::Zstd}},
      {"big endian v6", {.version = 6, .order = Order::Big}},
      {"big endian zstd", {.version = 7, .codec = Codec::Zstd, .order = Order::Big}},
      {"little endian", {.order = Order::Little}},
      {"16 KiB pages", {.version = 6, .pageSize = 16384}},
      {"64 KiB pages", {.version = 7, .codec = Codec::Zstd, .pageSize = 65536}},
      {"big endian, 64 KiB pages", {.version = 7, .order = Order::Big, .pageSize = 65536}},
  };
  return all;
}

void expectSameLines(const std::vector<std::string>& expected,
                     const std::vector<std::string>& found, const std::string& what) {
  ASSERT_EQ(expected.size(), found.size()) << what;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(expected[i], found[i]) << what << ", line " << i + 1;
  }
}

/// Left out are recordings for which trace-cmd itself depends on the container: it prints arrays
/// as bytes, reads `char *` and stale text in its own byte order, and adds 1 ns a filler record.
class WriterAgainstTraceCmd : public testing::TestWithParam<const char*> {};

TEST_P(WriterAgainstTraceCmd, SeesTheSameEventsInEveryContainer) {
  const auto path = recording(GetParam());
  if (!path || !hasTraceCmd()) GTEST_SKIP() << "needs trace-cmd and " << GetParam();
  const TemporaryFolder folder;
  const DatFile original = readDat(readFile(*path));
  const auto expected = reportLines(*path);
  ASSERT_GT(expected.size(), 100U);
  for (const Way& way : ways()) {
    const std::string copy = folder.write("copy.dat", write(reencoded(original, way.target)));
    expectSameLines(expected, reportLines(copy), fmt::format("{} as {}", GetParam(), way.name));
  }
}

INSTANTIATE_TEST_SUITE_P(Recordings, WriterAgainstTraceCmd,
                         testing::Values("formats/base-v7-zstd.dat", "formats/base-v6.dat",
                                         "formats/lost.dat", "formats/synthetic.dat",
                                         "formats/instances.dat", "formats/hotplug.dat",
                                         "formats/sparse-cpus.dat", "formats/cpumask.dat",
                                         "formats/graph-depth3.dat", "formats/made-stamps-high.dat",
                                         "arch/arch-armhf.dat", "arch/arch-i386.dat",
                                         "arch/arch-ppc64el.dat"));

/// Cuts the values of the named fields to 32 bits, and the blanks to one.
std::string narrowed(const std::string& line, const std::set<std::string>& names) {
  std::string out;
  std::istringstream in(line);
  for (std::string token; in >> token;) {
    const auto equals = token.find('=');
    if (equals != std::string::npos && names.contains(token.substr(0, equals))) {
      const std::string value = token.substr(equals + 1);
      const int base = value.starts_with("0x") ? 16 : 10;
      char* end = nullptr;
      const u64 number = value.starts_with("-")
                             ? static_cast<u64>(std::strtoll(value.c_str(), &end, base))
                             : std::strtoull(value.c_str(), &end, base);
      if (*end == 0 && !value.empty()) {
        token = fmt::format("{}={}", token.substr(0, equals), number & 0xffffffff);
      }
    }
    out += token + " ";
  }
  return out;
}

TEST(TraceDatWriter, NarrowsLongsAndPointersForA32BitKernel) {
  for (const char* name : {"formats/base-v7-zstd.dat", "formats/hotplug.dat", "formats/lost.dat"}) {
    const auto path = recording(name);
    if (!path || !hasTraceCmd()) GTEST_SKIP() << "needs trace-cmd and " << name;
    const TemporaryFolder folder;
    const DatFile original = readDat(readFile(*path));
    // Field names of words in one event are those of words in all events of these recordings,
    // but for `expires` and `now`, whose 64-bit values have the same digits either way.
    std::set<std::string> words;
    for (const System& system : original.systems) {
      for (const std::string& format : system.formats) {
        for (const FormatField& field : parseFormat(format, 8).fields) {
          if (field.isWord) words.insert(field.name);
        }
      }
    }
    const auto expected = reportLines(*path);
    for (const Order order : {Order::Little, Order::Big}) {
      const Target target{
          .order = order, .word = 4, .wideAlignment = order == Order::Big ? 8U : 4U};
      const auto found =
          reportLines(folder.write("narrow.dat", write(reencoded(original, target))));
      ASSERT_EQ(expected.size(), found.size()) << name;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(narrowed(expected[i], words), narrowed(found[i], words))
            << name << ", line " << i + 1 << "\n"
            << expected[i] << "\n"
            << found[i];
      }
    }
  }
}

// Debian's trace-cmd has no zlib and expects the data of a 32-bit page at 12.
TEST(TraceDatWriter, ReadsBackWhatTraceCmdCannot) {
  for (const char* name :
       {"formats/base-v7-zstd.dat", "formats/instances.dat", "formats/options.dat",
        "formats/stack-all.dat", "formats/markers.dat", "arch/arch-s390x.dat"}) {
    const auto path = recording(name);
    if (!path) GTEST_SKIP() << "needs " << name;
    const DatFile original = readDat(readFile(*path));
    const auto expected = eventsOf(original);
    const auto again = [&](const Target& target) {
      return readDat(write(reencoded(original, target)));
    };
    // Not EXPECT_EQ: it would print every event.
    EXPECT_TRUE(expected == eventsOf(again({.version = 7, .codec = Codec::Zlib}))) << name;
    EXPECT_TRUE(expected == eventsOf(again({.version = 6, .pageSize = 32768}))) << name;
    const Order other = original.order == Order::Little ? Order::Big : Order::Little;
    const DatFile back = reencoded(again({.order = other}), {.order = original.order});
    EXPECT_TRUE(expected == eventsOf(back)) << name << " to the other byte order and back";
  }
  const auto path = recording("formats/base-v7-zstd.dat");
  const DatFile original = readDat(readFile(*path));
  const DatFile narrow = reencoded(original, {.word = 4});
  const DatFile aligned = reencoded(original, {.word = 4, .dataOffset = 16});
  EXPECT_EQ(readDat(write(aligned)).dataOffset, 16U);
  EXPECT_TRUE(eventsOf(readDat(write(narrow))) == eventsOf(readDat(write(aligned))));
}

TEST(TraceDatWriter, NamesEveryNumberAndReplacesItWhenForced) {
  const auto path = recording("formats/lost.dat");
  if (!path) GTEST_SKIP() << "needs formats/lost.dat";
  for (const int version : {6, 7}) {
    DatFile file = reencoded(readDat(readFile(*path)), {.version = version, .codec = Codec::None});
    const Written written = writeWithPlaces(file);
    EXPECT_TRUE(written.bytes == write(file));
    std::set<std::string> names;
    for (const FieldPlace& place : written.places) {
      ASSERT_TRUE(names.insert(place.name).second) << place.name << " stands twice";
      ASSERT_TRUE(place.offset) << place.name;
      Blob bytes;
      append(bytes, file.order, place.width, place.value);
      for (u32 i = 0; i < place.width; ++i) {
        ASSERT_EQ(written.bytes[*place.offset + i], bytes[i]) << place.name;
      }
    }
    for (const char* name : {"page_size", "buffer.0.cpu.1.offset", "buffer.0.cpu.0.page.3.commit",
                             "buffer.0.cpu.1.page.2.record.5.head", "cmdlines.size"}) {
      ASSERT_TRUE(names.contains(name)) << name;
      file.forced = {{name, 0x5a5a5a5a5a5a5a5a}};
      const Blob changed = write(file);
      ASSERT_EQ(changed.size(), written.bytes.size());
      for (const FieldPlace& place : written.places) {
        if (place.name != name) continue;
        for (std::size_t i = 0; i < changed.size(); ++i) {
          const bool isInside = i >= *place.offset && i < *place.offset + place.width;
          ASSERT_EQ(changed[i], isInside ? 0x5a : written.bytes[i]) << name << " at " << i;
        }
      }
    }
    file.forced.clear();
  }
}

}  // namespace
}  // namespace tickscope::support
