// SPDX-License-Identifier: GPL-3.0-or-later
// Print formats: C's rules, the kernel's functions, and texts that must not be followed.
#include "importers/trace_dat/print_format.h"

#include <gtest/gtest.h>

#include "tests/support/made_record.h"

namespace tickscope::trace_dat {
namespace {

using support::madeFormat;
using support::MadeRecord;
using support::MadeSurroundings;

const std::vector<std::string> numbers{
    "u32 f;8;4;0",    "int i;12;4;1",  "u64 q;16;8;0",   "unsigned char b;24;1;0",
    "short h;26;2;1", "long l;32;8;1", "void * p;40;8;0"};

MadeRecord numbersRecord(u32 f = 0, s32 i = 0, u64 q = 0, u8 b = 0, s16 h = 0, s64 l = 0,
                         u64 p = 0) {
  return MadeRecord()
      .number(f, 4)
      .number(static_cast<u32>(i), 4)
      .number(q, 8)
      .number(b, 1)
      .number(0, 1)
      .number(static_cast<u16>(h), 2)
      .number(0, 4)
      .number(static_cast<u64>(l), 8)
      .number(p, 8);
}

std::string printed(const EventFormat& format, const MadeRecord& record, u8 wordSize = 8) {
  const auto compiled = PrintFormat::compile(format, wordSize);
  if (!compiled) return "refused: " + compiled.error().what;
  const MadeSurroundings around(wordSize);
  return compiled->print(record.bytes(), around.around);
}

/// A number's print format evaluated on the fields above.
std::string value(const std::string& expression, const MadeRecord& record = numbersRecord(),
                  u8 wordSize = 8, const std::string& conversion = "%lld") {
  return printed(madeFormat(numbers, '"' + conversion + "\", " + expression), record, wordSize);
}

// --- what the common library computes wrongly ---

TEST(PrintFormat, BracketedRightOperandsKeepTheirBrackets) {
  EXPECT_EQ(value("REC->f & (1 | 2 | 4)"), "0");
  EXPECT_EQ(value("2 * (3 + 4)"), "14");
}

TEST(PrintFormat, EqualPrecedenceAssociatesToTheLeft) {
  EXPECT_EQ(value("100 - 20 - 5"), "75");
  EXPECT_EQ(value("100 / 10 / 5"), "2");
  EXPECT_EQ(value("1 << 2 << 3"), "32");
}

TEST(PrintFormat, TimerFlagsComeOutRight) {
  const auto& format = madeFormat(numbers,
                                  "\"flags=%s\", __print_flags(REC->f & (0x00040000 | 0x00080000 | "
                                  "0x00100000 | 0x00200000), \"|\", "
                                  "{ 0x00040000, \"M\" }, { 0x00080000, \"D\" }, { 0x00100000, "
                                  "\"P\" }, { 0x00200000, \"I\" })");
  EXPECT_EQ(printed(format, numbersRecord(0x1480000)), "flags=D");
  EXPECT_EQ(printed(format, numbersRecord(0x1400000)), "flags=");
  EXPECT_EQ(printed(format, numbersRecord(0x300000)), "flags=P|I");
}

// --- C ---

TEST(PrintFormat, PrecedenceIsThatOfC) {
  EXPECT_EQ(value("1 + 2 * 3"), "7");
  EXPECT_EQ(value("1 | 2 ^ 3 & 2"), "1");
  EXPECT_EQ(value("1 << 1 + 1"), "4");
  EXPECT_EQ(value("1 < 2 == 1"), "1");
  EXPECT_EQ(value("0 || 1 && 0"), "0");
  EXPECT_EQ(value("1 ? 2 : 0 ? 3 : 4"), "2");
  EXPECT_EQ(value("0 ? 2 : 0 ? 3 : 4"), "4");
  EXPECT_EQ(value("!0 + 1"), "2");
  EXPECT_EQ(value("-3 - -4"), "1");
  EXPECT_EQ(value("~0"), "-1");
  EXPECT_EQ(value("3 >= 2 > 0"), "1");
}

TEST(PrintFormat, IntegersArePromotedAndWrapAsInC) {
  EXPECT_EQ(value("REC->b - 1"), "-1");
  EXPECT_EQ(value("REC->f - 1"), "4294967295");
  EXPECT_EQ(value("REC->f - 1 > 0"), "1");
  EXPECT_EQ(value("-1 < 1u"), "0");
  EXPECT_EQ(value("-1 < 1"), "1");
  EXPECT_EQ(value("-1 < 1L"), "1");
  EXPECT_EQ(value("0xffffffff + 1"), "0");
  EXPECT_EQ(value("0xffffffffu + 1L"), "4294967296");
  EXPECT_EQ(value("2147483648 + 1"), "2147483649");
  EXPECT_EQ(value("(u8)300"), "44");
  EXPECT_EQ(value("(signed char)200"), "-56");
  EXPECT_EQ(value("(unsigned short)-1"), "65535");
  EXPECT_EQ(value("(s64)REC->i"), "0");
  EXPECT_EQ(value("REC->h", numbersRecord(0, 0, 0, 0, -2)), "-2");
  EXPECT_EQ(value("REC->i >> 1", numbersRecord(0, -4)), "-2");
  EXPECT_EQ(value("REC->f >> 1", numbersRecord(0xfffffffc)), "2147483646");
}

TEST(PrintFormat, LongIsTheKernelsWord) {
  const MadeRecord record = numbersRecord(5, 0, 0xfffffff0);
  EXPECT_EQ(value("(long)REC->f - (unsigned long)REC->q", record, 4, "%ld"), "21");
  EXPECT_EQ(value("(long)REC->f - (unsigned long)REC->q", record, 8, "%ld"), "-4294967275");
  EXPECT_EQ(value("sizeof(long)", record, 4), "4");
  EXPECT_EQ(value("sizeof(REC->h) + sizeof(u64)", record), "10");
}

TEST(PrintFormat, WhatCLeavesOpenIsUnknown) {
  for (const char* expression :
       {"1 / REC->f", "1 % 0", "1 / 0", "1 << 32", "1 >> -1", "1L << 64", "(-2147483647 - 1) / -1",
        "-9223372036854775807L / -1 * REC->f + 1 / 0"}) {
    EXPECT_EQ(value(expression), "?") << expression;
  }
  EXPECT_EQ(value("0 && 1 / 0"), "0");
  EXPECT_EQ(value("1 || 1 / 0"), "1");
  EXPECT_EQ(value("1 ? 7 : 1 / 0"), "7");
}

// --- conversions ---

TEST(PrintFormat, NumbersAreCutToTheConversion) {
  const MadeRecord record = numbersRecord(0xffffffff, -1, 0x1234567800000009);
  EXPECT_EQ(value("REC->q", record, 8, "%d"), "9");
  EXPECT_EQ(value("REC->f", record, 8, "%d"), "-1");
  EXPECT_EQ(value("REC->i", record, 8, "%u"), "4294967295");
  EXPECT_EQ(value("REC->i", record, 8, "%llx"), "ffffffffffffffff");
  EXPECT_EQ(value("REC->i", record, 8, "%hhu"), "255");
  EXPECT_EQ(value("REC->i", record, 8, "%hd"), "-1");
  EXPECT_EQ(value("REC->q", record, 4, "%lx"), "9");
  EXPECT_EQ(value("REC->q", record, 8, "%Lx"), "1234567800000009");
}

TEST(PrintFormat, FlagsWidthAndPrecision) {
  const MadeRecord record = numbersRecord(255, -7);
  const std::pair<const char*, const char*> cases[] = {
      {"[%5d]", "[  255]"},      {"[%-5d]", "[255  ]"}, {"[%05d]", "[00255]"},
      {"[%+d]", "[+255]"},       {"[% d]", "[ 255]"},   {"[%#x]", "[0xff]"},
      {"[%#08x]", "[0x0000ff]"}, {"[%.5d]", "[00255]"}, {"[%8.5d]", "[   00255]"},
      {"[%X]", "[FF]"},          {"[%#o]", "[0377]"},   {"[%3d%%]", "[255%]"}};
  for (const auto& [format, expected] : cases)
    EXPECT_EQ(value("REC->f", record, 8, format), expected) << format;
  EXPECT_EQ(value("REC->i", record, 8, "%05d"), "-0007");
  EXPECT_EQ(value("'A'", record, 8, "%c"), "A");
  EXPECT_EQ(value("4, REC->f", record, 8, "%0*x"), "00ff");
  EXPECT_EQ(value("-6, REC->f", record, 8, "%*d|"), "255   |");
}

TEST(PrintFormat, PointersAreDigitsAndSymbols) {
  const MadeRecord record = numbersRecord(0, 0, 0, 0, 0, 0, 0xffffffff81002008);
  EXPECT_EQ(value("REC->p", record, 8, "%p"), "ffffffff81002008");
  EXPECT_EQ(value("REC->p", record, 4, "%p"), "81002008");
  EXPECT_EQ(value("REC->p", record, 8, "%ps"), "tick_program_event");
  EXPECT_EQ(value("REC->p", record, 8, "%pf"), "tick_program_event");
  EXPECT_EQ(value("(void *)REC->p", record, 8, "%pS"), "tick_program_event+0x8/0x80");
  EXPECT_EQ(value("0", record, 8, "%ps"), "0x0");
  EXPECT_EQ(value("0xffffffffc0001004", record, 8, "%pS"), "lab_fn+0x4/0x100 [tsdrv]");
}

// --- strings and memory ---

TEST(PrintFormat, StringsOfAllKinds) {
  const std::vector<std::string> fields{"char comm[4];8;4;1", "__data_loc char[] name;12;4;1",
                                        "__rel_loc char[] rel;16;4;1", "const char * text;24;8;0"};
  const auto& format = madeFormat(fields,
                                  "\"%s %s %s %s %.2s %6s|%-4s|\", REC->comm, __get_str(name), "
                                  "__get_rel_str(rel), REC->text, REC->comm, REC->comm, \"x\"");
  MadeRecord record;
  record.text("abcd", 4)
      .number(32U | 3U << 16U, 4)
      .number(16U | 2U << 16U, 4)
      .number(0, 4)
      .number(0x77, 8);
  record.text("hi", 3).number(0, 1).text("q", 2);
  const auto compiled = PrintFormat::compile(format, 8);
  ASSERT_TRUE(compiled) << compiled.error().what;
  MadeSurroundings around;
  around.strings[0x77] = "kernel's";
  EXPECT_EQ(compiled->print(record.bytes(), around.around), "abcd hi q kernel's ab   abcd|x   |");
}

TEST(PrintFormat, ValuesFromTheRecordAreEscaped) {
  const auto& format = madeFormat({"char comm[4];8;4;1"}, "\"%s\\n\", REC->comm");
  EXPECT_EQ(printed(format, MadeRecord().text("a\x1b\nb", 4)), "a\\x1b\\nb");
}

TEST(PrintFormat, DynamicDataOutsideTheRecordIsUnknown) {
  const auto& format = madeFormat({"__data_loc char[] name;8;4;1"}, "\"<%s>\", __get_str(name)");
  for (const u32 where : {13U | 4U << 16U, 12U | 9U << 16U, 0xffffffffU, 4U | 4U << 16U}) {
    EXPECT_EQ(printed(format, MadeRecord().number(where, 4).text("abcd", 4)), "<?>")
        << std::hex << where;
  }
  EXPECT_EQ(printed(format, MadeRecord().number(12U | 4U << 16U, 4).text("abcd", 4)), "<abcd>");
  EXPECT_EQ(printed(format, MadeRecord().number(99, 4)), "<>");
}

TEST(PrintFormat, MemoryAsHexArraysAndAddresses) {
  const std::vector<std::string> fields{"u8 mac[6];8;6;0", "u16 words[3];14;6;0", "u8 ip[4];20;4;0",
                                        "__data_loc u32[] list;24;4;0"};
  MadeRecord record;
  record.number(0x060504030201, 6)
      .number(0x000300020001, 6)
      .number(0x0100007f, 4)
      .number(28U | 8U << 16U, 4);
  record.number(7, 4).number(0xffffffff, 4);
  const auto one = [&](const std::string& rest) {
    return printed(madeFormat(fields, rest), record);
  };
  EXPECT_EQ(one("\"%pM\", REC->mac"), "01:02:03:04:05:06");
  EXPECT_EQ(one("\"%pI4\", REC->ip"), "127.0.0.1");
  EXPECT_EQ(one("\"%*phD\", 3, REC->mac"), "01-02-03");
  EXPECT_EQ(one("\"%s\", __print_hex(REC->mac, 3)"), "01 02 03");
  EXPECT_EQ(one("\"%s\", __print_hex_str(REC->mac, 3)"), "010203");
  EXPECT_EQ(one("\"%s\", __print_array(REC->words, 3, 2)"), "{0x1,0x2,0x3}");
  EXPECT_EQ(
      one("\"%s\", __print_array(__get_dynamic_array(list), __get_dynamic_array_len(list) / 4, 4)"),
      "{0x7,0xffffffff}");
  EXPECT_EQ(one("\"%d %d\", REC->words[2], REC->words[3]"), "3 ?");
  EXPECT_EQ(one("\"%d\", REC->words[-1]"), "?");
  EXPECT_EQ(one("\"%s\", __print_hex(REC->mac, 7)"), "?");
  EXPECT_EQ(one("\"%s\", __print_array(REC->words, 0x80000000, 2)"), "?");
}

TEST(PrintFormat, Ipv6InItsShortestForm) {
  const std::vector<std::string> fields{"u8 a[16];8;16;0", "u8 s[28];24;28;0"};
  MadeRecord record;
  record.number(0x01000000b80d0120, 8).number(0x0100000000000000, 8);
  record.number(10, 2)
      .number(0x5000, 2)
      .number(0, 4)
      .number(0, 8)
      .number(0x0100000000000000, 8)
      .number(0, 4);
  EXPECT_EQ(printed(madeFormat(fields, "\"%pI6c %pISpc\", REC->a, REC->s"), record),
            "2001:db8:0:1::1 [::1]:80");
}

TEST(PrintFormat, MasksArePrintedFromTheHighestGroup) {
  const auto& format =
      madeFormat({"__data_loc cpumask_t mask;8;4;0"}, "\"%s\", __get_cpumask(mask)");
  EXPECT_EQ(printed(format, MadeRecord().number(12U | 8U << 16U, 4).number(0x0000000300000005, 8)),
            "00000003,00000005");
}

// --- names ---

TEST(PrintFormat, SymbolsAndFlagsFallBackToHex) {
  const auto symbolic = [](u32 f) {
    return printed(madeFormat(numbers,
                              "\"%s\", __print_symbolic(REC->f, { 0, \"NONE\" }, { (1 << 3), "
                              "\"EIGHT\" }, { -1, NULL })"),
                   numbersRecord(f));
  };
  EXPECT_EQ(symbolic(0), "NONE");
  EXPECT_EQ(symbolic(8), "EIGHT");
  EXPECT_EQ(symbolic(9), "0x9");
  const auto flags = [](u32 f) {
    return printed(
        madeFormat(numbers,
                   "\"%s\", __print_flags(REC->f, \", \", { 3, \"both\" }, { 1, \"one\" })"),
        numbersRecord(f));
  };
  EXPECT_EQ(flags(3), "both");
  EXPECT_EQ(flags(1), "one");
  EXPECT_EQ(flags(9), "one, 0x8");
  EXPECT_EQ(flags(0), "");
}

TEST(PrintFormat, KnowsTheEnumeratorsThatKernelsLeaveByName) {
  const auto& format =
      madeFormat(numbers,
                 "\"mode=%s\", __print_symbolic(REC->f, { HRTIMER_MODE_ABS, \"ABS\" }, "
                 "{ HRTIMER_MODE_REL_PINNED_HARD, \"REL|PINNED|HARD\" }, { SOME_MODE, \"x\" })");
  EXPECT_EQ(printed(format, numbersRecord(0)), "mode=ABS");
  EXPECT_EQ(printed(format, numbersRecord(11)), "mode=REL|PINNED|HARD");
  EXPECT_EQ(printed(format, numbersRecord(5)), "mode=0x5");
}

TEST(PrintFormat, TaskStatesOfTwoGenerations) {
  const std::string newer =
      "\"%s%s\", (REC->l & ((((0x0 | 0x1 | 0x2 | 0x40) + 1) << 1) - 1)) ? __print_flags(REC->l & "
      "((((0x0 | 0x1 | 0x2 | "
      "0x40) + 1) << 1) - 1), \"|\", { 0x01, \"S\" }, { 0x02, \"D\" }, { 0x80, \"I\" }) : \"R\", "
      "REC->l & (((0x7f) + 1) << 1) ? \"+\" : \"\"";
  const auto state = [&](s64 l) {
    return printed(madeFormat(numbers, newer), numbersRecord(0, 0, 0, 0, 0, l));
  };
  EXPECT_EQ(state(0), "R");
  EXPECT_EQ(state(0x100), "R+");
  EXPECT_EQ(state(0x02), "D");
  const std::string older =
      "\"%s%s\", REC->l & (1024-1) ? __print_flags(REC->l & (1024-1), \"|\", { 1, \"S\"} , { 2, "
      "\"D\" }, "
      "{ 512, \"P\" }) : \"R\", REC->l & 1024 ? \"+\" : \"\"";
  EXPECT_EQ(printed(madeFormat(numbers, older), numbersRecord(0, 0, 0, 0, 0, 1024 | 2)), "D+");
}

// --- damage and hostility ---

TEST(PrintFormat, ShortRecordsPrintQuestionMarks) {
  EXPECT_EQ(value("REC->l", MadeRecord()), "?");
  EXPECT_EQ(value("REC->l + 1", MadeRecord().number(1, 4)), "?");
}

TEST(PrintFormat, FieldsOutsideAnyRecordHaveNoValue) {
  const std::vector<std::string> fields{"int far;65000;4;1", "int odd;8;3;1",
                                        "int huge;8;2147483648;1"};
  EXPECT_EQ(printed(madeFormat(fields, "\"%d\", REC->far"), MadeRecord().number(0, 64)), "?");
  EXPECT_EQ(printed(madeFormat(fields, "\"%d\", REC->odd"), MadeRecord().number(0, 64)), "?");
}

TEST(PrintFormat, RefusesWhatItCannotFollow) {
  const std::vector<std::string> refused{"REC->f",                        // no string
                                         "\"%d\"",                        // no argument
                                         "\"%d\", REC->f, REC->f",        // too many
                                         "\"%d\", REC->missing",          //
                                         "\"%d\", unknown_call(REC->f)",  //
                                         "\"%d\", jiffies",               //
                                         "\"%n\", REC->f",                //
                                         "\"%99999999d\", REC->f",        //
                                         "\"%2147483647d\", REC->f",      //
                                         "\"%q\", REC->f",                //
                                         "\"%d\", (REC->f)[1][2]",        //
                                         "\"%d\", REC->f[1]",             //
                                         "\"%d\", *REC->p",               //
                                         "\"%d\", sizeof(",               //
                                         "\"%d\", sizeof(REC->f",         //
                                         "\"%d\", __get_str(f)",  // a number as a dynamic string
                                         "\"%s\", REC->f",        // a number as text
                                         "\"%s\", __print_hex(REC->f, 4)",   //
                                         "\"%d\", \"text\"",                 //
                                         "\"%d\", 99999999999999999999999",  //
                                         "\"%d\", 0x",                       //
                                         "\"%d\", REC->f; REC->f",           //
                                         "\"open",                           //
                                         "\"\\q\"",                          //
                                         "\"%d\", REC->f @ 2",               //
                                         ""};
  for (const std::string& text : refused) {
    const auto compiled = PrintFormat::compile(madeFormat(numbers, text), 8);
    EXPECT_FALSE(compiled) << text;
  }
}

TEST(PrintFormat, DepthAndSizeAreBounded) {
  const auto nested = [](std::size_t depth, const std::string& open, const std::string& close) {
    std::string text = "\"%d\", ";
    for (std::size_t i = 0; i < depth; ++i) text += open;
    text += '1';
    for (std::size_t i = 0; i < depth; ++i) text += close;
    return text;
  };
  for (const auto& [open, close] :
       {std::pair<std::string, std::string>{"(", ")"}, {"!", ""}, {"(int)", ""}, {"1?", ":2"}}) {
    EXPECT_TRUE(PrintFormat::compile(madeFormat(numbers, nested(10, open, close)), 8)) << open;
    EXPECT_FALSE(PrintFormat::compile(madeFormat(numbers, nested(1'900, open, close)), 8)) << open;
    EXPECT_FALSE(PrintFormat::compile(madeFormat(numbers, nested(60'000, open, close)), 8)) << open;
  }
  std::string chain = "\"%d\", 1";
  for (int i = 0; i < 1'500; ++i) chain += "+1";
  EXPECT_FALSE(PrintFormat::compile(madeFormat(numbers, chain), 8));
  EXPECT_FALSE(PrintFormat::compile(madeFormat(numbers, '"' + std::string(20'000, 'x') + '"'), 8));
}

TEST(PrintFormat, OutputIsCut) {
  std::string format = "\"";
  std::string arguments;
  for (int i = 0; i < 200; ++i) {
    format += "%999d";
    arguments += ", REC->f";
  }
  const std::string text = printed(madeFormat(numbers, format + '"' + arguments), numbersRecord());
  EXPECT_LE(text.size(), longestPrinted + 3);
  EXPECT_TRUE(text.ends_with("…"));
}

TEST(PrintFormat, OtherByteOrder) {
  const auto compiled =
      PrintFormat::compile(madeFormat(numbers, "\"%u %d %llu\", REC->f, REC->i, REC->q"), 8);
  ASSERT_TRUE(compiled);
  const MadeSurroundings around(8, true);
  const MadeRecord record =
      MadeRecord(true).number(7, 4).number(0xffffffff, 4).number(1ULL << 40U, 8);
  EXPECT_EQ(compiled->print(record.bytes(), around.around), "7 -1 1099511627776");
}

}  // namespace
}  // namespace tickscope::trace_dat
