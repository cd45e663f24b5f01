// SPDX-License-Identifier: GPL-3.0-or-later
// Values that change at rows.
#include "core/model/replay_tables.h"

#include <gtest/gtest.h>

namespace tickscope {
namespace {

TEST(StepLine, HoldsAValueFromItsRowOn) {
  StepLine line;
  line.set(Row{10}, 5);
  line.set(Row{20}, {});
  line.set(Row{30}, 7);
  EXPECT_EQ(line.at(Row{9}), Known<s64>{}) << "unknown before the first step";
  EXPECT_EQ(line.at(Row{10}), 5);
  EXPECT_EQ(line.at(Row{19}), 5);
  EXPECT_EQ(line.at(Row{20}), Known<s64>{});
  EXPECT_EQ(line.at(Row{29}), Known<s64>{});
  EXPECT_EQ(line.at(Row{4'000'000}), 7);
}

TEST(StepLine, KeepsNoStepThatChangesNothing) {
  StepLine line;
  line.set(Row{1}, {});
  EXPECT_EQ(line.size(), 0U) << "unknown is what it was";
  line.set(Row{2}, 5);
  line.set(Row{3}, 5);
  EXPECT_EQ(line.size(), 1U);
  line.set(Row{4}, 6);
  line.set(Row{4}, 5);
  EXPECT_EQ(line.size(), 1U) << "back to the old value within one row";
  line.set(Row{5}, 8);
  line.set(Row{5}, 9);
  EXPECT_EQ(line.at(Row{5}), 9) << "the last value of a row counts";
}

TEST(StepLine, LeadsFromChangeToChange) {
  StepLine line;
  line.set(Row{10}, 5);
  line.set(Row{20}, 6);
  EXPECT_EQ(line.nextChange(Row{0}), Row{10});
  EXPECT_EQ(line.nextChange(Row{10}), Row{20});
  EXPECT_EQ(line.nextChange(Row{20}), noRow);
  EXPECT_EQ(line.previousChange(Row{10}), noRow);
  EXPECT_EQ(line.previousChange(Row{11}), Row{10});
  EXPECT_EQ(line.previousChange(Row{20}), Row{10});
}

}  // namespace
}  // namespace tickscope
