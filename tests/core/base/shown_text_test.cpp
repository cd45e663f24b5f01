// SPDX-License-Identifier: GPL-3.0-or-later
// Escaping of what is shown.
#include "core/base/shown_text.h"

#include <gtest/gtest.h>

namespace tickscope {
namespace {

TEST(ShownText, PlainTextAndGoodUtf8Stay) {
  EXPECT_EQ(shown("my task: [x]-1"), "my task: [x]-1");
  EXPECT_EQ(shown("äß€😀"), "äß€😀");
}

TEST(ShownText, ControlCharactersAreEscaped) {
  EXPECT_EQ(shown(std::string_view("a\0b\x1b\x7f\r\n\t", 8)), "a\\x00b\\x1b\\x7f\\r\\n\\t");
  EXPECT_EQ(shown("a\n\tb\r", Breaks::Keep), "a\n\tb\\r");
}

TEST(ShownText, BrokenUtf8IsEscapedByteByByte) {
  EXPECT_EQ(shown("\xc3"), "\\xc3");
  EXPECT_EQ(shown("\xc0\xaf"), "\\xc0\\xaf");
  EXPECT_EQ(shown("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(shown("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(shown("\xe2\x82z"), "\\xe2\\x82z");
}

TEST(ShownText, MarksThatTurnTextAreEscaped) {
  EXPECT_EQ(shown("a\xe2\x80\xae"
                  "b"),
            "a\\xe2\\x80\\xaeb");
  EXPECT_EQ(shown("\xc2\x9b"), "\\xc2\\x9b");
}

}  // namespace
}  // namespace tickscope
