// SPDX-License-Identifier: GPL-3.0-or-later
// What header_page and header_event say, and what they cannot say.
#include "importers/trace_dat/ring_layout.h"

#include <gtest/gtest.h>

namespace tickscope::trace_dat {
namespace {

std::string page(const char* commit, const char* data) {
  return std::string(
             "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\t") +
         commit +
         ";\tsigned:1;\n\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\tfield: char "
         "data;\t" +
         data + ";\tsigned:1;\n";
}

TEST(HeaderPage, TellsWordAndDataOffset) {
  const auto wide = parseHeaderPage(page("offset:8;\tsize:8", "offset:16;\tsize:65520"));
  ASSERT_TRUE(wide);
  EXPECT_EQ(wide->commitSize, 8);
  EXPECT_EQ(wide->dataOffset, 16U);
  EXPECT_EQ(wide->dataSize, 65520U);
  const auto narrow = parseHeaderPage(page("offset:8;\tsize:4", "offset:12;\tsize:4084"));
  ASSERT_TRUE(narrow);
  EXPECT_EQ(narrow->commitSize, 4);
  EXPECT_EQ(narrow->dataOffset, 12U);
  const auto aligned = parseHeaderPage(page("offset:8;\tsize:4", "offset:16;\tsize:4080"));
  ASSERT_TRUE(aligned) << "32-bit machines that align to 8 bytes";
  EXPECT_EQ(aligned->dataOffset, 16U);
}

TEST(HeaderPage, RefusesWhatCannotBe) {
  EXPECT_FALSE(parseHeaderPage(""));
  EXPECT_FALSE(parseHeaderPage("\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"));
  EXPECT_FALSE(parseHeaderPage(page("offset:1000;\tsize:3", "offset:16;\tsize:4080")));
  EXPECT_FALSE(parseHeaderPage(page("offset:8;\tsize:3", "offset:16;\tsize:4080")));
  EXPECT_FALSE(parseHeaderPage(page("offset:8;\tsize:8", "offset:12;\tsize:4080")));
  EXPECT_FALSE(parseHeaderPage(page("offset:8;\tsize:8", "offset:4000;\tsize:4080")));
  EXPECT_FALSE(parseHeaderPage(page("offset:x;\tsize:8", "offset:16;\tsize:4080")));
}

TEST(HeaderEvent, KnowsTheRecordsOfToday) {
  const std::string usual =
      "# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n\tarray    "
      "   :   32 bits\n\n"
      "\tpadding     : type == 29\n\ttime_extend : type == 30\n\ttime_stamp : type == 31\n\tdata "
      "max type_len  == 28\n";
  EXPECT_EQ(judgeHeaderEvent(usual), HeaderEvent::Usual);
  std::string old = usual;
  old.erase(old.find("\ttime_stamp"), std::string("\ttime_stamp : type == 31\n").size());
  EXPECT_EQ(judgeHeaderEvent(old), HeaderEvent::Usual) << "texts before 4.17 do not name stamps";
  std::string other = usual;
  other.replace(other.find("29"), 2, "28");
  EXPECT_EQ(judgeHeaderEvent(other), HeaderEvent::Odd);
  EXPECT_EQ(judgeHeaderEvent(""), HeaderEvent::Odd);
  EXPECT_EQ(judgeHeaderEvent("\ttype : 2 bits\n\tlen : 3 bits\n"), HeaderEvent::Ancient);
}

}  // namespace
}  // namespace tickscope::trace_dat
