// SPDX-License-Identifier: GPL-3.0-or-later
// Small files that ask for much: bombs, loops, page sizes, format texts that never end.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/damage.h"
#include "tests/support/imported.h"
#include "tests/support/isolated.h"
#include "tests/support/recordings.h"
#include "tests/support/trace_dat_convert.h"
#include "tests/support/trace_dat_source.h"
#include "tests/support/trace_dat_writer.h"

namespace tickscope::support {
namespace {

constexpr Limits small{.cpuSeconds = 2, .addressSpace = u64{700} << 20U};

/// Imports and prints in a process of its own; text says what came of it.
Outcome opened(const Blob& bytes) {
  return isolated(
      [&]() -> std::string {
        const auto found = tryImport(ByteSource::memory(bytes), 2);
        if (!found) return "error: " + describe(found.error());
        printAll(*found);
        return fmt::format("{} rows\n{}", Control::rowsOf(*found), logText(found->log));
      },
      small);
}

void expectModest(const Outcome& outcome, const std::string& what) {
  EXPECT_TRUE(outcome.ended) << what << ": " << outcome.how << "\n" << outcome.output;
  if (!underSanitizer()) {
    EXPECT_LT(outcome.peakBytes, u64{400} << 20U) << what;
  }
  EXPECT_FALSE(outcome.output.empty()) << what;
}

DatFile base(const Target& target) {
  const auto path = recording("formats/lost.dat");
  if (!path) throw std::runtime_error("the bundled recordings lack lost.dat");
  DatFile file = readDat(readFile(*path));
  for (support::Stream& stream : file.buffers[0].streams) stream.pages.resize(2);
  return reencoded(file, target);
}

TEST(Greed, ChunksThatUnpackToMuchStopAtTheLimit) {
  for (const Codec codec : {Codec::Zlib, Codec::Zstd}) {
    DatFile file = base({.version = 7, .codec = codec});
    const Blob zeros(16U << 20U);
    const Blob chunk = compressed(codec, zeros);
    Blob stored;
    constexpr u32 chunks = 60;
    append(stored, file.order, 4, chunks);
    for (u32 i = 0; i < chunks; ++i) {
      append(stored, file.order, 4, chunk.size());
      append(stored, file.order, 4, zeros.size());
      stored.insert(stored.end(), chunk.begin(), chunk.end());
    }
    file.buffers[0].streams[1].stored = stored;
    const Outcome outcome = opened(write(file));
    expectModest(outcome, "bomb");
    // A bomb in one stream must not cost the other one its rows, whichever is read first.
    if (chunk.size() * chunks * 64 < u64{chunks} * zeros.size()) {
      EXPECT_NE(outcome.output.find("limit_inflate (error)"), std::string::npos) << outcome.output;
    }
    EXPECT_EQ(outcome.output.find("error: "), std::string::npos) << outcome.output;
    EXPECT_FALSE(outcome.output.starts_with("0 rows")) << outcome.output;
  }
}

TEST(Greed, PageSizesThatCannotBeAreNotUsed) {
  for (const int version : {6, 7}) {
    for (const u64 size :
         {u64{0}, u64{1}, u64{15}, u64{16}, u64{17}, u64{3000}, u64{4095}, u64{4097}, u64{1} << 21U,
          u64{1} << 30U, u64{1} << 31U, u64{0xfffff000}, u64{0xffffffff}}) {
      DatFile file = base({.version = version, .codec = Codec::None});
      file.forced["page_size"] = size;
      if (version == 7) file.forced["buffer.0.page_size"] = size;
      expectModest(opened(write(file)), fmt::format("v{} with pages of {} bytes", version, size));
    }
  }
}

TEST(Greed, SectionsThatComeRoundEnd) {
  DatFile file = base({.version = 7, .codec = Codec::Zstd});
  const Written written = writeWithPlaces(file);
  const Control control(importedBytes(written.bytes));
  std::vector<u64> offsets;
  std::vector<std::string> nexts;
  for (const FieldPlace& place : written.places) {
    if (place.name.ends_with(".id") && place.name.starts_with("section.") && place.offset)
      offsets.push_back(*place.offset);
    if (place.name.ends_with(".next") || place.name == "first_options") nexts.push_back(place.name);
  }
  ASSERT_GE(offsets.size(), 7U);
  ASSERT_GE(nexts.size(), 2U);
  for (const std::string& next : nexts) {
    for (const u64 offset : offsets) {
      file.forced = {{next, offset}};
      const Outcome outcome = opened(write(file));
      expectModest(outcome, fmt::format("{} = {:#x}", next, offset));
      // Whatever the chain says, walking the sections finds the pages.
      EXPECT_TRUE(outcome.output.starts_with(fmt::format("{} rows", control.rows())))
          << next << " = " << offset << "\n"
          << outcome.output;
    }
  }
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

/// Format texts of one event; `head` is its healthy text up to the print format.
std::vector<std::pair<std::string, std::string>> nastyFormats(const std::string& healthy) {
  const std::size_t print = healthy.find("print fmt:");
  const std::string head = healthy.substr(0, print);
  const auto printing = [&](const std::string& text) { return head + "print fmt: " + text + "\n"; };
  const std::string field = "\tfield:int f;\toffset:8;\tsize:4;\tsigned:1;\n";
  return {
      {"empty", ""},
      {"one byte", "n"},
      {"no newline", "name: x"},
      {"only NULs", std::string(5000, '\0')},
      {"not text", repeated("\xff\x00\x1b[", 5000)},
      {"huge", printing("\"" + std::string(2 << 20, 'a') + "\"")},
      {"100,000 fields", head + repeated(field, 100'000)},
      {"parentheses", printing("\"%d\", " + repeated("(", 20'000) + "1" + repeated(")", 20'000))},
      {"negations", printing("\"%d\", " + repeated("!~-", 5'000) + "REC->common_pid")},
      {"conditions",
       printing("\"%d\", " + repeated("1 ? ", 3'000) + "1" + repeated(" : 1", 3'000))},
      {"casts", printing("\"%d\", " + repeated("(int)", 3'000) + "1")},
      {"sums", printing("\"%d\", 1" + repeated(" + 1", 4'000))},
      {"many conversions", printing("\"" + repeated("%d ", 5'000) + "\"" + repeated(", 1", 5'000))},
      {"wide conversions", printing("\"%999999999d %-2147483647s %*d %.99999f\", 1, 2, 3, 4")},
      {"helpers in helpers", printing("\"%s\", " + repeated("__print_flags(", 2'000) + "1" +
                                      repeated(", \"|\")", 2'000))},
      {"symbols", printing("\"%s\", __print_symbolic(REC->common_pid" +
                           repeated(", { 1, \"one\" }", 4'000) + ")")},
      {"division by zero", printing("\"%d %d %d\", 1 / 0, REC->common_pid % 0, -2147483648 / -1")},
      {"shifts", printing("\"%d %d\", 1 << 200, 1 >> -1")},
      {"unfinished", printing("\"%d\", ((REC->")},
      {"no end of string", printing("\"%d")},
      {"index", printing("\"%d\", REC->common_pid[2147483647]")},
      {"array of a lying length",
       printing("\"%s\", __print_array(REC->common_pid, 2147483647, 8)")},
      {"hex of a lying length", printing("\"%s\", __print_hex(REC->common_pid, -1)")},
      {"field of 2 GiB",
       head + "\tfield:char big[2147483648];\toffset:8;\tsize:2147483648;\tsigned:0;\nprint fmt: "
              "\"%s\", REC->big\n"},
      {"field at -8",
       head +
           "\tfield:int minus;\toffset:-8;\tsize:4;\tsigned:1;\nprint fmt: \"%d\", REC->minus\n"},
      {"field of no size",
       head + "\tfield:int none;\toffset:8;\tsize:0;\tsigned:1;\nprint fmt: \"%d\", REC->none\n"},
      {"nested arrays", head + "\tfield:int a" + repeated("[2]", 5'000) +
                            ";\toffset:8;\tsize:4;\tsigned:1;\nprint fmt: \"\"\n"},
      {"long names", "name: " + std::string(60'000, 'n') + "\nID: 1000\nformat:\n"},
      {"identity", "name: a\nID: 99999999999999999999\nformat:\n" + field},
  };
}

TEST(Greed, FormatTextsOfAnyKindCostOnlyTheirOwnEvent) {
  const DatFile healthy = base({.version = 6});
  const u64 rows = Control(importedBytes(write(healthy))).rows();
  // One typed event and one that is printed by its format.
  for (const std::string_view event :
       {"name: hrtimer_start\n", "name: sched_switch\n", "name: print\n"}) {
    for (std::size_t n = 0;; ++n) {
      DatFile file = healthy;
      std::string what;
      const auto replace = [&](std::string& text) {
        if (!text.starts_with(event)) return;
        const auto nasty = nastyFormats(text);
        if (n >= nasty.size()) return;
        what = nasty[n].first;
        text = nasty[n].second;
      };
      for (std::string& text : file.ftraceFormats) replace(text);
      for (System& system : file.systems)
        std::for_each(system.formats.begin(), system.formats.end(), replace);
      if (what.empty()) break;
      const Outcome outcome = opened(write(file));
      expectModest(outcome, fmt::format("{} as {}", event, what));
      EXPECT_TRUE(outcome.output.starts_with(fmt::format("{} rows", rows)))
          << event << " as " << what << "\n"
          << outcome.output;
    }
  }
}

}  // namespace
}  // namespace tickscope::support
