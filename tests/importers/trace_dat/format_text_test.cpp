// SPDX-License-Identifier: GPL-3.0-or-later
// Tables of fields out of event formats: kinds, names, and what cannot be used.
#include "importers/trace_dat/format_text.h"

#include <gtest/gtest.h>

namespace tickscope::trace_dat {
namespace {

using Kind = FormatField::Kind;

constexpr const char* common =
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

EventFormat withField(const std::string& line) {
  return parseFormat("sys", std::string("name: event\nID: 7\nformat:\n") + common +
                                "\tfield:" + line + "\n\nprint fmt: \"x\"\n");
}

FormatField onlyField(const std::string& line) {
  const EventFormat format = withField(line);
  EXPECT_EQ(format.fields.size(), 1U) << line;
  return format.fields.empty() ? FormatField{} : format.fields[0];
}

TEST(FormatText, ReadsNameIdFieldsAndPrintFormat) {
  const EventFormat format =
      parseFormat("timer", std::string("name: hrtimer_start\nID: 308\nformat:\n") + common +
                               "\tfield:void * hrtimer;\toffset:8;\tsize:8;\tsigned:0;\n"
                               "\tfield:s64 expires;\toffset:16;\tsize:8;\tsigned:1;\n\n"
                               "print fmt: \"a %p\",\n REC->hrtimer\n");
  EXPECT_EQ(format.system, "timer");
  EXPECT_EQ(format.name, "hrtimer_start");
  EXPECT_EQ(format.id, 308);
  ASSERT_EQ(format.common.size(), 2U);
  EXPECT_EQ(format.common[0].name, "common_type");
  EXPECT_FALSE(format.common[0].isSigned);
  EXPECT_TRUE(format.common[1].isSigned);
  ASSERT_EQ(format.fields.size(), 2U);
  EXPECT_EQ(format.fields[0].kind, Kind::Pointer);
  EXPECT_EQ(format.fields[1].kind, Kind::Integer);
  EXPECT_EQ(format.fields[1].declaration, "s64");
  EXPECT_EQ(format.printFormat, "\"a %p\",\n REC->hrtimer");
  EXPECT_TRUE(format.problems.empty());
  ASSERT_NE(format.find("expires"), nullptr);
  EXPECT_EQ(format.find("expires")->offset, 16U);
  EXPECT_NE(format.find("common_pid"), nullptr);
  EXPECT_EQ(format.find("expire"), nullptr);
}

TEST(FormatText, TellsKindsOfFields) {
  struct Case {
    const char* line;
    const char* name;
    Kind kind;
    u32 elementSize;
    bool isChars;
  };
  const Case cases[] = {
      {"char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;", "prev_comm", Kind::Chars, 1, true},
      {"char comm[TASK_COMM_LEN];\toffset:8;\tsize:16;\tsigned:0;", "comm", Kind::Chars, 1, true},
      {"char buf[];\toffset:8;\tsize:0;\tsigned:0;", "buf", Kind::Chars, 1, true},
      {"unsigned long args[6];\toffset:8;\tsize:48;\tsigned:0;", "args", Kind::Array, 8, false},
      {"unsigned long caller[8];\toffset:8;\tsize:32;\tsigned:0;", "caller", Kind::Array, 4, false},
      {"u8 mac[6];\toffset:8;\tsize:6;\tsigned:0;", "mac", Kind::Array, 1, false},
      {"__data_loc char[] name;\toffset:8;\tsize:4;\tsigned:0;", "name", Kind::DataLoc, 1, true},
      {"__data_loc char[] what;\toffset:8;\tsize:8;\tsigned:1;", "what", Kind::DataLoc, 1, true},
      {"__rel_loc char[] name;\toffset:8;\tsize:4;\tsigned:0;", "name", Kind::RelLoc, 1, true},
      {"__data_loc u32[] list;\toffset:8;\tsize:4;\tsigned:0;", "list", Kind::DataLoc, 4, false},
      {"__data_loc cpumask_t mask;\toffset:8;\tsize:4;\tsigned:0;", "mask", Kind::DataLoc, 1,
       false},
      {"const char * msg;\toffset:8;\tsize:8;\tsigned:0;", "msg", Kind::Pointer, 0, false},
      {"const char *msg;\toffset:8;\tsize:4;\tsigned:0;", "msg", Kind::Pointer, 0, false},
      {"enum hrtimer_mode mode;\toffset:8;\tsize:4;\tsigned:0;", "mode", Kind::Integer, 0, false},
      {"char __attribute__((btf_type_tag(\"user\"))) * p;\toffset:8;\tsize:8;\tsigned:0;", "p",
       Kind::Pointer, 0, false},
      {"struct in6_addr addr;\toffset:8;\tsize:16;\tsigned:0;", "addr", Kind::Array, 1, false},
      {"pid_t pid;\toffset:8;\tsize:4;\tsigned:1;", "pid", Kind::Integer, 0, false},
  };
  for (const Case& c : cases) {
    const EventFormat format = withField(c.line);
    ASSERT_EQ(format.fields.size(), 1U) << c.line;
    const FormatField& field = format.fields[0];
    EXPECT_EQ(field.name, c.name) << c.line;
    EXPECT_EQ(field.kind, c.kind) << c.line;
    EXPECT_EQ(field.elementSize, c.elementSize) << c.line;
    EXPECT_EQ(field.isChars, c.isChars) << c.line;
    EXPECT_TRUE(format.problems.empty()) << c.line << ": " << format.problems[0];
  }
}

TEST(FormatText, NamesFieldsThatCannotBeUsed) {
  for (const char* line :
       {"s64 x;\toffset:24;\tsize:3;\tsigned:1;", "s64 x;\toffset:24;\tsize:16;\tsigned:1;",
        "void * x;\toffset:8;\tsize:0;\tsigned:0;", "s64 x;\toffset:x;\tsize:8;\tsigned:1;",
        "int x;\toffset:-8;\tsize:4;\tsigned:1;", "s64 x;\toffset:65530;\tsize:8;\tsigned:1;",
        "s64 x;\toffset:8;\tsize:2147483648;\tsigned:1;", "s64 x;",
        "__data_loc char[] x;\toffset:8;\tsize:2;"}) {
    const EventFormat format = withField(line);
    ASSERT_EQ(format.fields.size(), 1U) << line;
    EXPECT_EQ(format.fields[0].kind, Kind::Unusable) << line;
    ASSERT_EQ(format.problems.size(), 1U) << line;
    EXPECT_NE(format.problems[0].find("field x"), std::string::npos) << format.problems[0];
    EXPECT_EQ(format.id, 7) << "the other fields are good";
  }
}

TEST(FormatText, ArrayBoundsThatDisagreeAreSaid) {
  for (const char* line : {"char x[4294967295];\toffset:16;\tsize:8;\tsigned:0;",
                           "char x[-1];\toffset:16;\tsize:8;\tsigned:0;"}) {
    const EventFormat format = withField(line);
    EXPECT_EQ(format.problems.size(), 1U) << line;
    EXPECT_EQ(format.fields.at(0).kind, Kind::Chars);
    EXPECT_EQ(format.fields.at(0).size, 8U) << "the size is what counts";
  }
}

TEST(FormatText, InfersTheSignOfOldFormats) {
  EXPECT_TRUE(onlyField("int x;\toffset:8;\tsize:4;").isSigned);
  EXPECT_FALSE(onlyField("unsigned int x;\toffset:8;\tsize:4;").isSigned);
  EXPECT_FALSE(onlyField("u64 x;\toffset:8;\tsize:8;").isSigned);
}

TEST(FormatText, NeedsANameAnIdAndFields) {
  const auto idOf = [](const std::string& text) { return parseFormat("s", text).id; };
  EXPECT_EQ(idOf(""), 0);
  EXPECT_EQ(idOf("name: a\nID: 5\nformat:\n"), 0);
  EXPECT_EQ(idOf(std::string("ID: 5\nformat:\n") + common), 0);
  EXPECT_EQ(idOf(std::string("name: a\nformat:\n") + common), 0);
  for (const char* id : {"0", "65536", "4294967604", "-1", "5x", ""}) {
    EXPECT_EQ(idOf(std::string("name: a\nID: ") + id + "\nformat:\n" + common), 0) << id;
  }
  EXPECT_EQ(idOf(std::string("name: a\nID: 65535\nformat:\n") + common), 65535);
}

TEST(FormatText, FirstOfTwoFieldsWins) {
  std::string text = std::string("name: a\nID: 5\nformat:\n") + common;
  for (int i = 0; i < 1500; ++i)
    text += "\tfield:int mode;\toffset:" + std::to_string(8 + i) + ";\tsize:4;\tsigned:1;\n";
  const EventFormat format = parseFormat("s", text);
  EXPECT_EQ(format.fields.size(), 1U);
  EXPECT_EQ(format.find("mode")->offset, 8U);
  EXPECT_FALSE(format.problems.empty());
  EXPECT_LE(format.problems.size(), 8U);
}

TEST(FormatText, KeepsOddNamesAndSaysSo) {
  const EventFormat format =
      parseFormat("s", std::string("name: <script>%s\x1b\nID: 5\nformat:\n") + common);
  EXPECT_EQ(format.id, 5);
  EXPECT_EQ(format.name, "<script>%s\x1b");
  EXPECT_EQ(format.problems.size(), 1U);
}

TEST(FormatText, TakesAnyBytes) {
  for (const char* text :
       {"name:", "ID:", "field:", "field: unsigned foo[", "field:int **", "field:__attribute__((",
        "print fmt:", "name: a\nID: 1\n\tfield:;offset:8;size:4;\n",
        "field:int [;offset:1;size:2;"}) {
    EXPECT_NO_THROW(parseFormat("s", text)) << text;
  }
  std::string noise;
  u32 state = 9;
  for (int i = 0; i < 200'000; ++i)
    noise += static_cast<char>((state = state * 1664525U + 1013904223U) >> 24U);
  EXPECT_EQ(parseFormat("s", noise).id, 0);
  const EventFormat big = parseFormat("s", std::string("name: a\nID: 5\nformat:\n") + common +
                                               "\nprint fmt: " + std::string(100'000, '('));
  EXPECT_EQ(big.id, 5);
  EXPECT_FALSE(big.problems.empty());
}

}  // namespace
}  // namespace tickscope::trace_dat
