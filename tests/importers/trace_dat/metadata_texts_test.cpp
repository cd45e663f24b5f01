// SPDX-License-Identifier: GPL-3.0-or-later
// Texts beside the events, with every kind of bad line.
#include "importers/trace_dat/metadata_texts.h"

#include <gtest/gtest.h>

namespace tickscope::trace_dat {
namespace {

TEST(TaskNames, TakeTheRestOfTheLine) {
  Metadata metadata;
  ImportLog log;
  addTaskNames("12 ksoftirqd/0\n77 my task: [x]-1\n5 \n0 swapper\n12 later\n", 0, metadata, log);
  EXPECT_EQ(metadata.tasks.of(Pid{12}), "ksoftirqd/0");
  EXPECT_EQ(metadata.tasks.of(Pid{77}), "my task: [x]-1");
  EXPECT_EQ(metadata.tasks.of(Pid{5}), "") << "an empty name is a name";
  EXPECT_EQ(metadata.tasks.of(Pid{0}), "<idle>");
  EXPECT_FALSE(metadata.tasks.of(Pid{6}));
  EXPECT_EQ(log.count(Counter::BadCmdline), 0U);
}

TEST(TaskNames, CountBadLines) {
  Metadata metadata;
  ImportLog log;
  addTaskNames("-5 a\n99999999999 b\n7\nx y\n8 " + std::string(3000, 'n') + "\n9 good", 100,
               metadata, log);
  EXPECT_EQ(log.count(Counter::BadCmdline), 5U);
  EXPECT_EQ(log.entries().at(0).examples.at(0).offset, 100U);
  EXPECT_EQ(metadata.tasks.of(Pid{9}), "good");
  EXPECT_EQ(metadata.tasks.size(), 1U);
}

TEST(PrintkFormats, KeepColonsQuotesAndEscapes) {
  Metadata metadata;
  ImportLog log;
  addPrintkFormats(
      "0xff10 : \"a: \\\"b\\\" \\\\ \\n\"\n0xff20 : \"\"\n0xff20 : \"again\"\n"
      "bad\n0xzz : \"x\"\n0xff30 : \"open\n",
      0, metadata, log);
  EXPECT_EQ(metadata.printkFormats.at(0xff10), "a: \"b\" \\ \n");
  EXPECT_EQ(metadata.printkFormats.at(0xff20), "");
  EXPECT_EQ(metadata.printkFormats.size(), 2U);
  EXPECT_EQ(log.count(Counter::BadPrintk), 3U);
}

TEST(Clock, IsTheWordInBrackets) {
  EXPECT_EQ(chosenClock("local global [mono_raw] x86-tsc\n"), "mono_raw");
  EXPECT_EQ(chosenClock("[x86-tsc]"), "x86-tsc");
  EXPECT_EQ(chosenClock("boot\n"), "boot");
  EXPECT_EQ(chosenClock("local global"), "");
  EXPECT_EQ(chosenClock("[un known]"), "");
  EXPECT_EQ(chosenClock("["), "");
  EXPECT_EQ(chosenClock(std::string("mono\0junk", 9)), "mono");
  EXPECT_EQ(chosenClock(""), "");
}

TEST(Statistics, TellWhetherTheClockHasSeconds) {
  EXPECT_EQ(nowHasPoint("now ts:    49.157283\n"), true);
  EXPECT_EQ(nowHasPoint("now ts: 4294892\n"), false);
  EXPECT_FALSE(nowHasPoint("now ts: 0.0\n")) << "never set";
  EXPECT_FALSE(nowHasPoint("entries: 5\n"));
  const CpuStatistics statistics = parseStatistics("CPU: 70000\noverrun: x\ndropped events: 4\n");
  EXPECT_FALSE(statistics.overrun);
  EXPECT_EQ(statistics.dropped, 4U);
  EXPECT_EQ(statistics.cpu, Cpu{0});
}

TEST(Uname, HasReleaseAndMachine) {
  Metadata metadata;
  setUname(std::string_view("Linux host 6.1.0-13-amd64 #1 SMP Debian x86_64\0", 48), metadata);
  EXPECT_EQ(metadata.release, "6.1.0-13-amd64");
  EXPECT_EQ(metadata.machine, "x86_64");
  Metadata bare;
  setUname("Linux", bare);
  EXPECT_EQ(bare.release, "");
  EXPECT_EQ(bare.machine, "");
}

}  // namespace
}  // namespace tickscope::trace_dat
