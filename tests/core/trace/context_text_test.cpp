// SPDX-License-Identifier: GPL-3.0-or-later
// The context columns, flag by flag.
#include <gtest/gtest.h>

#include "core/trace/event_text.h"

namespace tickscope {
namespace {

TEST(ContextText, NothingIsDots) { EXPECT_EQ(contextText({}), "....."); }

TEST(ContextText, FirstColumnTellsInterruptsAndBottomHalves) {
  EXPECT_EQ(contextText({0x01, 0}), "d....");
  EXPECT_EQ(contextText({0x80, 0}), "b....");
  EXPECT_EQ(contextText({0x81, 0}), "D....");
  EXPECT_EQ(contextText({0x02, 0}), "X....");
  EXPECT_EQ(contextText({0x03, 0}), "d....");
}

TEST(ContextText, SecondColumnTellsWhoWantsToRun) {
  EXPECT_EQ(contextText({0x04, 0}), ".n...");
  EXPECT_EQ(contextText({0x20, 0}), ".p...");
  EXPECT_EQ(contextText({0x24, 0}), ".N...");
}

TEST(ContextText, ThirdColumnTellsTheLevel) {
  EXPECT_EQ(contextText({0x08, 0}), "..h..");
  EXPECT_EQ(contextText({0x10, 0}), "..s..");
  EXPECT_EQ(contextText({0x18, 0}), "..H..");
  EXPECT_EQ(contextText({0x40, 0}), "..z..");
  EXPECT_EQ(contextText({0x48, 0}), "..Z..");
}

TEST(ContextText, DepthsAreHex) {
  EXPECT_EQ(contextText({0, 0x01}), "...1.");
  EXPECT_EQ(contextText({0, 0x2f}), "...f2");
  EXPECT_EQ(contextText({0x19, 0x10}), "d.H.1");
}

}  // namespace
}  // namespace tickscope
