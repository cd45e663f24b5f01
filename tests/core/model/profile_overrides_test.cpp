// SPDX-License-Identifier: GPL-3.0-or-later
// Facts that a user states: what is taken, what is refused and how it is said.
#include "core/model/profile_overrides.h"

#include <gmock/gmock.h>

#include <map>

namespace tickscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::map<std::string, std::string> textsOf(const ProfileOverrides& overrides) {
  KernelProfile profile;
  apply(profile, overrides);
  std::map<std::string, std::string> texts;
  for (const FactText& fact : factTexts(profile)) {
    if (!fact.expected.empty()) texts.emplace(fact.name, fact.expected);
  }
  return texts;
}

/// What `assignment` makes of the profile: "fact=value", or the error.
std::string outcome(const std::string& assignment) {
  const std::vector<std::string> one{assignment};
  const Result<ProfileOverrides> overrides = parseFacts(one);
  if (!overrides) return overrides.error().what;
  std::string text;
  for (const auto& [name, value] : textsOf(*overrides)) text += name + "=" + value;
  return text;
}

TEST(ProfileOverrides, TakeEveryValueOfEveryEnumerationInAnyCase) {
  forEachFact(KernelProfile{}, []<class T>(std::string_view name, const Fact<T>&) {
    if constexpr (std::is_enum_v<T>) {
      for (const std::string_view value : valueNames<T>()) {
        const std::string asListed = std::string(name) + "=" + std::string(value);
        std::string shouted = asListed;
        for (char& c : shouted) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        EXPECT_EQ(outcome(asListed), asListed);
        EXPECT_EQ(outcome(shouted), asListed);
      }
    }
  });
}

TEST(ProfileOverrides, TakeNumbersWordsAndCpus) {
  const std::map<std::string, std::string> cases{
      {"w=32", "w=32"},
      {"hz=24", "hz=24"},
      {"hz=1200", "hz=1200"},
      {"depth=8", "depth=8"},
      {"hres=on", "hres=yes"},
      {"hres=off", "hres=no"},
      {"rt=yes", "rt=yes"},
      {"rt=NO", "rt=no"},
      {"clampbug=1", "clampbug=yes"},
      {"isolated=none", "isolated=none"},
      {"nohz_full=3,1-2", "nohz_full=1-3"},
      {" hrule = r1 ", "hrule=R1"},
  };
  for (const auto& [given, expected] : cases) EXPECT_EQ(outcome(given), expected) << given;
}

TEST(ProfileOverrides, RefuseWhatTheyDoNotKnowAndSayWhatIsAllowed) {
  EXPECT_THAT(outcome("speed=1"), AllOf(HasSubstr("no fact 'speed'"), HasSubstr("hrule")));
  EXPECT_THAT(outcome("hrule=R9"), AllOf(HasSubstr("--fact"), HasSubstr("hrule cannot be 'R9'"),
                                         HasSubstr("RP, R0, R1, R2, R3, R4, R5")));
  EXPECT_THAT(outcome("hz=23"), HasSubstr("allowed: 24 to 1200"));
  EXPECT_THAT(outcome("hz=1201"), HasSubstr("allowed: 24 to 1200"));
  EXPECT_THAT(outcome("hz=250x"), HasSubstr("hz cannot be '250x'"));
  EXPECT_THAT(outcome("hz=-250"), HasSubstr("hz cannot be"));
  EXPECT_THAT(outcome("w=16"), HasSubstr("allowed: 32, 64"));
  EXPECT_THAT(outcome("depth=10"), HasSubstr("allowed: 8, 9"));
  EXPECT_THAT(outcome("rt=maybe"), HasSubstr("allowed: yes, no"));
  EXPECT_THAT(outcome("isolated=2-1"), HasSubstr("CPU numbers"));
  EXPECT_THAT(outcome("isolated=1,,2"), HasSubstr("CPU numbers"));
  EXPECT_THAT(outcome("isolated=99999999"), HasSubstr("CPU numbers"));
  EXPECT_THAT(outcome("hrule="), HasSubstr("hrule cannot be ''"));
  EXPECT_THAT(outcome("hrule"), HasSubstr("not of the form fact=value"));
  EXPECT_THAT(outcome(""), HasSubstr("not of the form fact=value"));
}

TEST(ProfileOverrides, ReadAFileByLinesWithComments) {
  const auto overrides = parseProfileText(
      "# lab kernel\n\nhz=250 # as configured\r\n  hrule = r2\n\t#fwd=F0\nhrule=R1");
  ASSERT_TRUE(overrides) << overrides.error().what;
  EXPECT_EQ(textsOf(*overrides),
            (std::map<std::string, std::string>{{"hz", "250"}, {"hrule", "R1"}}));
}

TEST(ProfileOverrides, NameTheLineOfAnError) {
  const auto overrides = parseProfileText("hz=250\n# x\nfwd=F9\n");
  ASSERT_FALSE(overrides);
  EXPECT_THAT(overrides.error().what, AllOf(HasSubstr("line 3"), HasSubstr("F0, F1, F2")));
  EXPECT_EQ(overrides.error().kind, Error::Kind::Usage);
}

TEST(ProfileOverrides, HoldOverEarlierOnes) {
  auto file = parseProfileText("hz=250\nrt=yes\n");
  const std::vector<std::string> given{"hz=1000"};
  ASSERT_TRUE(file);
  file->add(*parseFacts(given));
  EXPECT_EQ(textsOf(*file), (std::map<std::string, std::string>{{"hz", "1000"}, {"rt", "yes"}}));
}

TEST(ProfileOverrides, AreCertainAndFirstAmongTheEvidence) {
  KernelProfile profile;
  profile.hrtimer.expected = HrtimerRule::R3;
  profile.hrtimer.confidence = 0.98;
  profile.hrtimer.possible = 0b0010000;
  profile.hrtimer.evidence.push_back({EvidenceClass::Format, "was_armed"});
  const std::vector<std::string> given{"hrule=R1"};
  apply(profile, *parseFacts(given));
  EXPECT_EQ(profile.hrtimer.judged(), HrtimerRule::R1);
  EXPECT_EQ(profile.hrtimer.confidence, 1.0);
  EXPECT_TRUE(profile.hrtimer.contradicted);
  ASSERT_EQ(profile.hrtimer.evidence.size(), 2U);
  EXPECT_EQ(profile.hrtimer.evidence[0].of, EvidenceClass::User);
  EXPECT_THAT(profile.hrtimer.evidence[0].text, HasSubstr("--fact says hrule=R1"));
}

TEST(ProfileOverrides, DoNotContradictWhatWasOpenOrEqual) {
  KernelProfile profile;
  profile.raise.possible = 0b1100;
  profile.hz.expected = 250;
  profile.hz.confidence = 0.97;
  const std::vector<std::string> given{"raise=SR2", "hz=250"};
  apply(profile, *parseFacts(given));
  EXPECT_FALSE(profile.raise.contradicted);
  EXPECT_FALSE(profile.hz.contradicted);
  const std::vector<std::string> other{"hz=100"};
  KernelProfile second;
  second.hz.expected = 250;
  second.hz.confidence = 0.97;
  apply(second, *parseFacts(other));
  EXPECT_TRUE(second.hz.contradicted);
}

TEST(ProfileOverrides, ContradictWithTheLastOfTheirWordsAlone) {
  for (const auto& [given, contradicts] : std::vector<std::pair<std::vector<std::string>, bool>>{
           {{"hz=250", "hz=100"}, true}, {{"hz=100", "hz=250"}, false}}) {
    KernelProfile profile;
    profile.hz.expected = 250;
    profile.hz.confidence = 0.97;
    apply(profile, *parseFacts(given));
    EXPECT_EQ(profile.hz.contradicted, contradicts) << given.front() << " " << given.back();
    EXPECT_EQ(profile.hz.evidence.size(), 1U);
  }
}

}  // namespace
}  // namespace tickscope
