// SPDX-License-Identifier: GPL-3.0-or-later
// What may be given to libtraceevent, and that what passes is printed as by the own evaluator.
#include "importers/trace_dat/format_guard.h"

#include <gtest/gtest.h>

#include <thread>

#include "importers/trace_dat/print_format.h"
#include "importers/trace_dat/traceevent_text.h"
#include "tests/support/made_record.h"

namespace tickscope::trace_dat {
namespace {

using support::madeFormat;
using support::MadeRecord;
using support::MadeSurroundings;

const std::vector<std::string> someFields{"u32 f;8;4;0",
                                          "int i;12;4;1",
                                          "u64 q;16;8;0",
                                          "char comm[8];24;8;1",
                                          "__data_loc char[] name;32;4;1",
                                          "void * p;40;8;0",
                                          "u16 words[2];48;4;0"};

MadeRecord someRecord() {
  MadeRecord record;
  record.number(0x85, 4)
      .number(static_cast<u32>(-3), 4)
      .number(9, 8)
      .text("sh", 8)
      .number(52U | 3U << 16U, 4);
  return record.number(0, 4).number(0xffffffff81002000, 8).number(0x00020001, 4).text("hi", 4);
}

TEST(FormatGuard, LetsPlainFormatsPass) {
  for (const char* text :
       {"\"a\"", "\"%d\", REC->i",
        "\"%u %lu %llx %hhd %zd\", REC->f, REC->f, REC->q, REC->f, REC->f",
        "\"%s %s\", REC->comm, __get_str(name)", "\"%ps %pf\", REC->p, REC->p", "\"%d\", (REC)->i",
        "\"%d\", REC->f + 1", "\"%s\", REC->f ? \"yes\" : \"no\"", "\"%d\", REC->f >> 22",
        "\"%d\", REC->f / 1000", "\"%d\", ~REC->f",
        "\"%s\", __print_flags(REC->f & 7, \"|\", { 1, \"a\" }, { 0x4, \"b\" })",
        "\"%s\", __print_symbolic(REC->f, { 0, \"zero\" })",
        "\"%d\", __get_dynamic_array_len(name)"}) {
    const auto why = whyRefused(madeFormat(someFields, text));
    EXPECT_FALSE(why) << text << ": " << *why;
  }
}

TEST(FormatGuard, RefusesWhatTheLibraryDoesWrongOrUnsafely) {
  std::string deep = "\"%d\", ";
  deep += std::string(100, '(') + "1" + std::string(100, ')');
  std::string many = "\"", arguments;
  for (int i = 0; i < 49; ++i) many += "%d", arguments += ", REC->i";
  for (const std::string& text :
       std::vector<std::string>{"\"%d\", 1 / 0",
                                "\"%d\", REC->f % 0",
                                "\"%d\", REC->f / REC->i",
                                "\"%d\", (REC->f)[1][2]",
                                "\"%d\", sizeof(",
                                "\"%d\", sizeof(REC->f",
                                "\"%d\", REC->f & (1 | 2)",
                                "\"%d\", 100 - 20 - 5",
                                "\"%d\", REC->f << 64",
                                "\"%d\", REC->words[1]",
                                "\"%d\", REC->i < 0",
                                "\"%p\", REC->p",
                                "\"%c\", REC->f",
                                "\"%+d\", REC->f",
                                "\"%s\", __print_flags(REC->f, \"\", { 0, \"x\" })",
                                "\"a\tb\"",
                                "\"%pS\", REC->p",
                                "\"% d\", REC->f",
                                "\"%lu\", -REC->f",
                                "\"%d\", (REC->f + 1) / 2",
                                "\"a\" \"b\"",
                                "\"%lld\", REC->i",
                                "\"%d\", REC->i >> 1",
                                "\"%s\", __print_array(REC->words, 2, 2)",
                                "\"%s\", __print_hex(REC->words, 4)",
                                "\"%pISpc\", REC->p",
                                "\"%pU\", REC->p",
                                "\"%2147483647d\", REC->i",
                                "\"%*d\", 5, REC->i",
                                "\"%100d\", REC->i",
                                "\"%n\", REC->i",
                                "\"%d\"",
                                "\"%d\", REC->i, REC->i",
                                "\"%s\", REC->i",
                                "\"%d\", REC->comm",
                                "\"%d\", other",
                                "\"%s\", __print_symbolic(REC->i, { NAME, \"x\" })",
                                "\"%d\", call(REC->i)",
                                "\"%s\", __get_str(f)",
                                "\"open",
                                deep,
                                many + '"' + arguments,
                                std::string("\"\x80\""),
                                "",
                                "\"%s\", __get_bitmask(name)"}) {
    EXPECT_TRUE(whyRefused(madeFormat(someFields, text))) << text;
  }
}

TEST(FormatGuard, RefusesFieldsThatAreNotSound) {
  for (const char* field : {"int far;65534;4;1", "int odd;8;3;1", "u32 x[0];8;0;0"}) {
    EXPECT_TRUE(whyRefused(madeFormat({field}, "\"a\""))) << field;
  }
  EXPECT_TRUE(whyRefused(madeFormat({}, "\"a\"", "test", "na me")));
}

TEST(FormatGuard, RecordsMustCoverAllFields) {
  const EventFormat& format = madeFormat(someFields, "\"a\"");
  EXPECT_TRUE(recordFits(format, someRecord().bytes(), false));
  const std::vector<u8> whole = someRecord().bytes();
  for (std::size_t size = 0; size < 55; ++size) {  // one byte of padding behind the string
    EXPECT_FALSE(recordFits(format, Bytes(whole).first(size), false)) << size;
  }
  std::vector<u8> noEnd = whole;
  std::fill(noEnd.begin() + 24, noEnd.begin() + 32, u8{'x'});
  EXPECT_FALSE(recordFits(format, noEnd, false)) << "a string without NUL";
  std::vector<u8> common = whole;
  common[32] = 4;
  EXPECT_FALSE(recordFits(format, common, false)) << "a string in the common fields";
}

TEST(TraceEventText, AgreesWithTheEvaluatorOnWhatPasses) {
  const MadeSurroundings around;
  const std::vector<u8> record = someRecord().bytes();
  for (const char* text :
       {"\"plain\"", "\"%d|%5u|%-6d|%04x\", REC->i, REC->f, REC->i, REC->f",
        "\"%s/%s\", REC->comm, __get_str(name)",
        "\"%s\", __print_flags(REC->f & 5, \"|\", { 1, \"a\" }, { 0x4, \"b\" })", "\"%ps\", REC->p",
        "\"%s\", __print_symbolic(REC->q, { 9, \"nine\" })",
        "\"%s\", REC->q < 9 ? \"less\" : \"more\"", "\"%u\", REC->f * 3", "\"%d\", REC->f >> 2"}) {
    const EventFormat& format = madeFormat(someFields, text);
    const auto own = PrintFormat::compile(format, 8);
    ASSERT_TRUE(own) << text << ": " << own.error().what;
    // Each format has the same id: a handle of its own.
    const TraceEventText fresh(
        std::make_shared<const Symbols>(
            "ffffffff81002000 t tick_program_event\nffffffff81002080 t next\n"),
        8, false, 4096);
    EXPECT_EQ(fresh.print(format, record), Known<std::string>(own->print(record, around.around)))
        << text;
  }
}

TEST(TraceEventText, RefusedFormatsAndRecordsGiveNothing) {
  const TraceEventText library(std::make_shared<const Symbols>(), 8, false, 4096);
  EXPECT_FALSE(library.print(madeFormat(someFields, "\"%d\", 1 / 0"), someRecord().bytes()));
  EXPECT_FALSE(library.print(madeFormat(someFields, "\"%d\", REC->i"), MadeRecord().bytes()));
}

TEST(TraceEventText, RecordsOfAnotherEventGiveNothing) {
  const TraceEventText library(std::make_shared<const Symbols>(), 8, false, 4096);
  std::vector<u8> record = someRecord().bytes();
  record[0] ^= 1U;
  EXPECT_FALSE(library.print(madeFormat(someFields, "\"%d\", REC->i"), record));
}

TEST(TraceEventText, ThreadsDoNotShareHandles) {
  const TraceEventText library(std::make_shared<const Symbols>(), 8, false, 4096);
  const EventFormat& format = madeFormat(someFields, "\"i=%d\", REC->i");
  const std::vector<u8> record = someRecord().bytes();
  std::vector<std::string> printed(4);
  std::vector<std::thread> threads;
  for (std::string& text : printed) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) text = library.print(format, record).value_or("nothing");
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : printed) EXPECT_EQ(text, "i=-3");
}

}  // namespace
}  // namespace tickscope::trace_dat
