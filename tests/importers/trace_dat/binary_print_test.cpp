// SPDX-License-Identifier: GPL-3.0-or-later
// Packed arguments of trace_printk.
#include "importers/trace_dat/binary_print.h"

#include <gtest/gtest.h>

#include "tests/support/made_record.h"

namespace tickscope::trace_dat {
namespace {

using support::MadeRecord;
using support::MadeSurroundings;

/// The packed words of a record that has no common fields.
Bytes packed(const MadeRecord& record) { return Bytes(record.bytes()).subspan(8); }

std::string printed(std::string_view format, const MadeRecord& record, u8 wordSize = 8) {
  const MadeSurroundings around(wordSize);
  const auto text = binaryPrint(format, packed(record), around.around);
  return text ? *text : "refused: " + text.error().what;
}

TEST(BinaryPrint, NumbersAndStringsFollowEachOther) {
  EXPECT_EQ(printed("wheel run %u on cpu %d timer %ps\n",
                    MadeRecord().number(26'425, 4).number(1, 4).number(0xffffffffc0001000, 8)),
            "wheel run 26425 on cpu 1 timer lab_fn [tsdrv]");
  EXPECT_EQ(printed("%s=%d", MadeRecord().text("abc", 4).number(5, 4)), "abc=5");
}

TEST(BinaryPrint, NumbersLieAtMultiplesOfTheirSize) {
  EXPECT_EQ(printed("%s %d", MadeRecord().text("ab", 3).number(0, 1).number(5, 4)), "ab 5");
  EXPECT_EQ(printed("%c%c %hd %lld", MadeRecord().text("xy", 2).number(0xfffe, 2).number(7, 8)),
            "xy -2 7");
  EXPECT_EQ(printed("%d %lld", MadeRecord().number(1, 4).number(1ULL << 33U, 8)), "1 8589934592");
  EXPECT_EQ(printed("%s|%ld", MadeRecord().text("abcdefg", 8).number(3, 4), 4), "abcdefg|3");
}

TEST(BinaryPrint, WidthsComeFirst) {
  EXPECT_EQ(printed("%*d|%.*s", MadeRecord().number(5, 4).number(7, 4).number(2, 4).text("ab", 3)),
            "    7|ab");
}

TEST(BinaryPrint, PointersWithOtherLettersArePackedAsText) {
  EXPECT_EQ(printed("%pI4 %d", MadeRecord().text("10.0.0.1", 9).number(0, 3).number(8, 4)),
            "10.0.0.1 8");
}

TEST(BinaryPrint, BehindAMissingArgumentNothingIsInvented) {
  EXPECT_EQ(printed("%d %d %s", MadeRecord().number(1, 4)), "1 ? ?");
  EXPECT_EQ(printed("%s %d", MadeRecord().text("endless", 7)), "? ?");
}

TEST(BinaryPrint, RefusesConversionsThatItDoesNotKnow) {
  EXPECT_TRUE(printed("%y", MadeRecord()).starts_with("refused: "));
}

}  // namespace
}  // namespace tickscope::trace_dat
