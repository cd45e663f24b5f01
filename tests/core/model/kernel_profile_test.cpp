// SPDX-License-Identifier: GPL-3.0-or-later
// The names of facts and values, and facts as text.
#include "core/model/kernel_profile.h"

#include <gmock/gmock.h>

#include <set>

namespace tickscope {
namespace {

using ::testing::ElementsAre;

std::vector<std::string_view> namesOf(std::span<const std::string_view> names) {
  return {names.begin(), names.end()};
}

TEST(KernelProfile, ListsItsFactsByTheNamesThatFactTakes) {
  std::vector<std::string> names;
  for (const FactText& fact : factTexts(KernelProfile{})) names.emplace_back(fact.name);
  EXPECT_THAT(names, ElementsAre("w", "hz", "hres", "nohz", "tick_function", "wheel", "depth",
                                 "bases", "fwd", "next", "raise", "wtrace", "hrule", "htrace", "rt",
                                 "softirq_thread", "threadirqs", "skew", "isolated", "nohz_full",
                                 "clampbug"));
}

TEST(KernelProfile, NamesTheValuesInTheOrderOfTheirEnumeration) {
  EXPECT_THAT(namesOf(valueNames<HrtimerRule>()),
              ElementsAre("RP", "R0", "R1", "R2", "R3", "R4", "R5"));
  EXPECT_EQ(valueText(HrtimerRule::R3), "R3");
  EXPECT_EQ(valueText(HrtimerTrace::HT2), "HT2");
  EXPECT_EQ(valueText(RaiseRule::SR3), "SR3");
  EXPECT_EQ(valueText(ForwardRule::F2), "F2");
  EXPECT_EQ(valueText(NextRule::NX1), "NX1");
  EXPECT_EQ(valueText(WheelTrace::WT0), "WT0");
  EXPECT_EQ(valueText(WheelKind::Levels), "LEVELS");
  EXPECT_EQ(valueText(WheelBases::One), "one");
  EXPECT_EQ(valueText(WheelBases::LocalGlobalDef), "LOCAL/GLOBAL/DEF");
  EXPECT_EQ(valueText(NoHz::Full), "full");
  EXPECT_EQ(valueText(TickFunction::TickNohzHandler), "tick_nohz_handler");
  EXPECT_EQ(valueText(SoftirqThread::Ktimers), "ktimers");
}

TEST(KernelProfile, NamesNoTwoValuesOfAFactAlike) {
  forEachFact(KernelProfile{}, []<class T>(std::string_view name, const Fact<T>&) {
    if constexpr (std::is_enum_v<T>) {
      const auto names = valueNames<T>();
      const std::set<std::string_view> different(names.begin(), names.end());
      EXPECT_EQ(different.size(), names.size()) << name;
    }
  });
}

TEST(KernelProfile, WritesCpusAsRanges) {
  const auto cpus = [](std::initializer_list<int> numbers) {
    CpuList list;
    for (const int number : numbers) list.push_back(static_cast<Cpu>(number));
    return valueText(list);
  };
  EXPECT_EQ(cpus({}), "none");
  EXPECT_EQ(cpus({3}), "3");
  EXPECT_EQ(cpus({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
}

TEST(KernelProfile, JudgesByAFactFromFourFifthsOn) {
  Fact<u32> fact;
  fact.expected = 250;
  fact.confidence = 0.79;
  EXPECT_FALSE(fact.judged());
  fact.confidence = 0.8;
  EXPECT_EQ(fact.judged(), 250U);
}

TEST(KernelProfile, SaysWhatIsKnownAndWhatIsLeft) {
  KernelProfile profile;
  profile.hrtimer.observed = HrtimerRule::R1;
  profile.hrtimer.seenConfidence = 0.9;
  profile.hrtimer.possible = 0b0001100;
  profile.hrtimer.evidence.push_back({EvidenceClass::Symbol, "a function exists"});
  profile.raise.possible = 0b1111;
  profile.next.possible = 0b10;
  profile.next.expected = NextRule::NX1;
  for (const FactText& fact : factTexts(profile)) {
    if (fact.name == "hrule") {
      EXPECT_EQ(fact.expected, "");
      EXPECT_EQ(fact.observed, "R1");
      EXPECT_EQ(fact.possible, "R1, R2");
      EXPECT_EQ(fact.seenConfidence, 0.9);
      ASSERT_EQ(fact.evidence.size(), 1U);
      EXPECT_EQ(nameOf(fact.evidence[0].of), "symbol");
    } else if (fact.name == "next") {
      EXPECT_EQ(fact.expected, "NX1");
      EXPECT_EQ(fact.possible, "");
    } else {
      EXPECT_EQ(fact.expected + fact.observed + fact.possible, "") << fact.name;
    }
  }
}

}  // namespace
}  // namespace tickscope
