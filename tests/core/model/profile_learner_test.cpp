// SPDX-License-Identifier: GPL-3.0-or-later
// What is learned of a kernel from formats, symbols, version and rows, on made recordings and on real ones.
#include "core/model/profile_learner.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>

#include "core/trace/store_builder.h"
#include "tests/support/imported.h"
#include "tests/support/recordings.h"

namespace tickscope {
namespace {

using ::testing::HasSubstr;

/// A kernel as a file shows it: the timer events with their fields, its release and its symbols.
class MadeKernel {
 public:
  explicit MadeKernel(std::string release) : pools_(std::make_shared<Pools>()) {
    parts_.arenas.push_back(std::make_shared<EventArena>());
    pools_->strings.intern("swapper/0");
    recording_.metadata.release = std::move(release);
    for (const EventKind kind :
         {kindOf<TimerInit>, kindOf<TimerCancel>, kindOf<TimerExpireExit>, kindOf<HrtimerCancel>,
          kindOf<HrtimerExpireEntry>, kindOf<HrtimerExpireExit>, kindOf<ItimerState>,
          kindOf<ItimerExpire>, kindOf<TickStop>, kindOf<SoftirqRaise>, kindOf<SoftirqEntry>,
          kindOf<SoftirqExit>, kindOf<SchedSwitch>}) {
      event(kind);
    }
  }
  /// An event whose format has all fields but these.
  MadeKernel& event(EventKind kind, std::initializer_list<std::string_view> without = {}) {
    EventType type;
    type.kind = kind;
    type.id = static_cast<u16>(parts_.types.size() + 1);
    type.system = infoOf(kind).event.starts_with("tmigr_") ? "timer_migration" : "timer";
    type.name = infoOf(kind).event;
    for (std::size_t i = 0; i < infoOf(kind).fields.size(); ++i) {
      const std::string_view name = infoOf(kind).fields[i].name;
      if (std::find(without.begin(), without.end(), name) == without.end()) type.has |= 1U << i;
    }
    type.layout = storedLayout(kind, type.has);
    parts_.types.push_back(std::move(type));
    return *this;
  }
  MadeKernel& dropEvent(EventKind kind) {
    std::erase_if(parts_.types, [&](const EventType& type) { return type.kind == kind; });
    return *this;
  }
  MadeKernel& symbols(const std::string& text) {
    recording_.metadata.symbols = std::make_shared<const Symbols>(text);
    return *this;
  }
  MadeKernel& ofAnotherBoot() {
    recording_.metadata.lastBoot = true;
    return *this;
  }
  MadeKernel& task(Pid pid, const std::string& name) {
    recording_.metadata.tasks.add(pid, name);
    return *this;
  }
  MadeKernel& cpu(u16 number) {
    StreamPieces stream;
    stream.cpu = static_cast<Cpu>(number);
    stream.pieces.emplace_back(*parts_.arenas.back(), *pools_, parts_.types);
    if (!parts_.streams.empty()) parts_.streams.back().pieces.back().close();
    parts_.streams.push_back(std::move(stream));
    return *this;
  }
  template <class P>
  MadeKernel& row(s64 time, const P& payload, Pid pid = Pid{0}, u8 flags = 0) {
    for (u16 type = 0; type < parts_.types.size(); ++type) {
      if (parts_.types[type].kind != kindOf<P>) continue;
      if (!parts_.streams.back().pieces.back().append({time}, pid, Context{flags, 0}, type,
                                                      payload)) {
        throw std::runtime_error("no memory for the rows of a test");
      }
      return *this;
    }
    throw std::runtime_error("the made kernel has no such event");
  }

  KernelProfile learn(const std::vector<std::string>& facts = {}, Known<u32> hz = 250,
                      const TimerListDump* dump = nullptr) {
    if (parts_.streams.empty()) cpu(0);
    parts_.streams.back().pieces.back().close();
    Progress progress;
    Result<EventStore> store = assemble(std::move(parts_), pools_, progress);
    if (!store) throw std::runtime_error(store.error().what);
    Buffer buffer;
    buffer.events = std::move(*store);
    Known<ClockMap::HzResult> known;
    if (hz) known = ClockMap::HzResult{*hz, 0.97, "given"};
    const auto overrides = parseFacts(facts);
    if (!overrides) throw std::runtime_error(overrides.error().what);
    return learnProfile(recording_, buffer, *overrides, known, dump);
  }

 private:
  StoreParts parts_;
  std::shared_ptr<Pools> pools_;
  Recording recording_;
};

/// Facts with a value, as "name=value": what is expected, with `~` where it is not judged by, `/seen` where behaviour
/// differs, `!` where evidence contradicts itself.
std::map<std::string, std::string> summary(const KernelProfile& profile) {
  std::map<std::string, std::string> facts;
  for (const FactText& fact : factTexts(profile)) {
    std::string text = fact.expected.empty() ? "?" : fact.expected;
    if (!fact.expected.empty() && fact.confidence < 0.8) text += "~";
    if (!fact.observed.empty() && fact.observed != fact.expected) text += "/" + fact.observed;
    if (fact.contradicted) text += "!";
    facts.emplace(fact.name, text);
  }
  return facts;
}

/// The facts that `expected` ("a=1 b=2") names and that are otherwise, as "a: expected 1, seen 3".
std::string differences(const KernelProfile& profile, std::string_view expected) {
  const std::map<std::string, std::string> facts = summary(profile);
  std::string text;
  while (!expected.empty()) {
    const std::string_view one = expected.substr(0, expected.find(' '));
    expected.remove_prefix(std::min(one.size() + 1, expected.size()));
    const std::size_t equals = one.find('=');
    const std::string name(one.substr(0, equals));
    const std::string_view value = one.substr(equals + 1);
    const auto found = facts.find(name);
    const std::string seen = found == facts.end() ? "no such fact" : found->second;
    if (seen != value) text += fmt::format("{}: expected {}, seen {}; ", name, value, seen);
  }
  return text;
}

/// The events whose formats tell kernels apart.
MadeKernel kernel(const std::string& release, std::initializer_list<std::string_view> startLacks,
                  std::initializer_list<std::string_view> wheelLacks,
                  std::initializer_list<std::string_view> expiryLacks) {
  MadeKernel made(release);
  made.event(kindOf<HrtimerStart>, startLacks).event(kindOf<TimerStart>, wheelLacks);
  made.event(kindOf<TimerExpireEntry>, expiryLacks);
  return made;
}

TEST(ProfileLearner, KnowsTheGenerationsByFormatAndRelease) {
  const auto expect = [](auto&& made, std::string_view release, std::string_view facts) {
    EXPECT_EQ(differences(made.learn(), facts), "") << release;
  };
  expect(kernel("3.2.0", {"mode", "was_armed"}, {"flags", "bucket_expiry"}, {"baseclk"}), "3.2.0",
         "hrule=RP htrace=HT0~ wheel=CASCADE fwd=F0~ next=NX0~ raise=SR0~ wtrace=WT0~ "
         "bases=STD/DEF");
  expect(kernel("4.9.0", {"mode", "was_armed"}, {"bucket_expiry"}, {"baseclk"}), "4.9.0",
         "hrule=RP wheel=LEVELS fwd=F0~ next=NX0~ raise=SR1~ wtrace=WT0~");
  expect(kernel("4.19.0", {"was_armed"}, {"bucket_expiry"}, {"baseclk"}), "4.19.0",
         "hrule=R0~ wheel=LEVELS fwd=F1~ next=NX0~ raise=SR1~ wtrace=WT1");
  expect(kernel("5.4.0", {"was_armed"}, {"bucket_expiry"}, {}), "5.4.0",
         "hrule=R0~ wheel=LEVELS fwd=F1~ next=NX0~ raise=SR1~ wtrace=WT2 clampbug=yes~");
  expect(kernel("5.13.0", {"was_armed"}, {"bucket_expiry"}, {}), "5.13.0",
         "hrule=R1~ fwd=F2 next=NX1 raise=SR2 wtrace=WT2 clampbug=no");
  expect(kernel("6.1.0", {"was_armed"}, {"bucket_expiry"}, {}), "6.1.0",
         "hrule=R2 htrace=HT0~ fwd=F2 next=NX1 raise=SR2 wtrace=WT2 bases=STD/DEF");
  expect(kernel("6.1.192", {}, {"bucket_expiry"}, {}), "6.1.192",
         "hrule=R3 htrace=HT2 fwd=F2 next=NX1 raise=SR2 wtrace=WT2 bases=STD/DEF");
  expect(kernel("6.8.0", {"was_armed"}, {}, {}), "6.8.0",
         "hrule=R2 raise=SR2~ wtrace=WT3 bases=STD/DEF~");
  expect(kernel("6.12.117", {}, {}, {}), "6.12.117",
         "hrule=R3 htrace=HT2 raise=SR3 wtrace=WT3 bases=LOCAL/GLOBAL/DEF");
  expect(kernel("7.1.0", {}, {}, {}).event(kindOf<HrtimerRearm>), "7.1.0",
         "hrule=R4 htrace=HT2 raise=SR3");
  expect(kernel("7.2.0", {}, {}, {}).event(kindOf<HrtimerRearm>).event(kindOf<HrtimerStartExpired>),
         "7.2.0", "hrule=R5 htrace=HT2");
}

TEST(ProfileLearner, TakesFormatsAloneWhereNoReleaseWasRecorded) {
  EXPECT_EQ(differences(kernel("", {}, {"bucket_expiry"}, {}).learn(),
                        "hrule=R3 htrace=HT2 fwd=F2 next=NX1 raise=SR2 wtrace=WT2 bases=STD/DEF "
                        "wheel=LEVELS clampbug=no"),
            "");
  EXPECT_EQ(differences(kernel("", {"was_armed"}, {"bucket_expiry"}, {}).learn(),
                        "hrule=? htrace=? fwd=? next=? raise=? wheel=LEVELS wtrace=WT2"),
            "");
}

TEST(ProfileLearner, KeepsTheStrongerClassAndSaysThatTheyContradict) {
  // No was_armed excludes what a release of 7.1 has at least.
  EXPECT_EQ(differences(kernel("7.1.0", {"was_armed"}, {}, {}).learn(), "hrule=?! htrace=?!"), "");
}

TEST(ProfileLearner, ClaimsNothingFromTheAbsenceOfAnEventWhereTheGroupIsNotWhole) {
  MadeKernel made = kernel("6.1.192", {}, {"bucket_expiry"}, {});
  made.dropEvent(kindOf<ItimerState>).dropEvent(kindOf<TickStop>);
  EXPECT_EQ(differences(made.learn(), "hrule=R3~ nohz=? bases=STD/DEF~"), "");
}

TEST(ProfileLearner, KnowsAKernelWithoutNoHzByTheWholeGroup) {
  MadeKernel made = kernel("6.1.192", {}, {"bucket_expiry"}, {});
  made.dropEvent(kindOf<TickStop>);
  EXPECT_EQ(differences(made.learn(), "nohz=off bases=one nohz_full=none"), "");
}

TEST(ProfileLearner, TakesMigrationAndSymbolsOfNewKernels) {
  EXPECT_EQ(differences(kernel("6.8.0", {"was_armed"}, {}, {}).event(kindOf<TmigrCpuIdle>).learn(),
                        "raise=SR3 bases=LOCAL/GLOBAL/DEF"),
            "");
  MadeKernel made = kernel("5.10.0", {"was_armed"}, {"bucket_expiry"}, {});
  made.symbols("ffffffff81000000 T hrtimer_update_next_event\n");
  KernelProfile profile = made.learn();
  EXPECT_EQ(profile.hrtimer.possible, 0b0001100U);
  EXPECT_EQ(differences(profile, "hrule=?"), "");
}

constexpr s64 tick = 4'000'000;
constexpr u64 tickFunction = 0xffffffff81001000;
constexpr u64 sleeper = 0xffffffff81002000;
const std::string timerSymbols =
    "ffffffff81001000 t tick_sched_timer\nffffffff81002000 t hrtimer_wakeup\n"
    "ffffffff81003000 t other\n";

MadeKernel kernelWithTicks(const std::string& release = "6.1.192") {
  MadeKernel made = kernel(release, {"was_armed"}, {"bucket_expiry"}, {});
  made.symbols(timerSymbols);
  return made;
}
void addTick(MadeKernel& made, s64 n, Pid pid = Pid{0}) {
  made.row(n * tick, HrtimerExpireEntry{Address{1}, {n * tick}, Address{tickFunction}}, pid);
  made.row(n * tick + 1,
           HrtimerStart{Address{1}, Address{tickFunction}, {(n + 1) * tick}, {}, 0, false}, pid);
}

TEST(ProfileLearner, SeesTheTickAsAnHrtimer) {
  MadeKernel made = kernelWithTicks();
  made.cpu(0);
  for (s64 n = 1; n <= 30; ++n) addTick(made, n);
  made.cpu(1);
  for (s64 n = 1; n <= 30; ++n) addTick(made, n);
  EXPECT_EQ(differences(made.learn(), "hres=yes tick_function=tick_sched_timer skew=no"), "");
}

TEST(ProfileLearner, SeesExpiriesAtTickBoundariesOnly) {
  const auto learned = [](s64 offGrid) {
    MadeKernel made = kernelWithTicks();
    made.cpu(0);
    for (s64 n = 1; n <= 60; ++n) {
      const s64 at = n * tick + 1000 * (n % 7) + (n == 30 ? offGrid : 0);
      made.row(at, HrtimerExpireEntry{Address{2}, {at}, Address{sleeper}});
    }
    return made.learn();
  };
  EXPECT_EQ(differences(learned(0), "hres=no"), "");
  EXPECT_EQ(differences(learned(tick / 2), "hres=?"), "");
}

TEST(ProfileLearner, TakesHighResolutionFromAListing) {
  TimerListDump dump;
  dump.cpus.push_back({Cpu{0}, {}, {{".hres_active", "0"}, {".nohz_mode", "0"}}});
  MadeKernel made = kernelWithTicks();
  EXPECT_EQ(differences(made.learn({}, 250, &dump), "hres=no nohz=off"), "");
}

TEST(ProfileLearner, TellsApartWhichOperationsEmitCancels) {
  const auto learned = [](bool beforeExpiry) {
    MadeKernel made = kernelWithTicks();
    made.cpu(0);
    for (s64 n = 0; n < 20; ++n) {
      const s64 at = n * 100;
      if (n % 4 == 0) made.row(at, HrtimerCancel{Address{2}});
      made.row(at, HrtimerStart{Address{2}, Address{3}, {at}, {at}, 0, false});
      if (beforeExpiry) made.row(at + 1, HrtimerCancel{Address{2}});
      made.row(at + 2, HrtimerExpireEntry{Address{2}, {at}, Address{3}});
    }
    return made.learn();
  };
  EXPECT_EQ(differences(learned(true), "htrace=HT0"), "");
  EXPECT_EQ(differences(learned(false), "htrace=HT1"), "");
}

/// A kernel whose ticks all raise TIMER; nothing expires. `deleted`: a timer was deleted before each run.
KernelProfile raisingKernel(const std::string& release, bool deleted) {
  MadeKernel made = kernelWithTicks(release);
  made.cpu(0);
  for (s64 n = 1; n <= 40; ++n) {
    addTick(made, n);
    made.row(n * tick + 2, SoftirqRaise{1});
    if (deleted) made.row(n * tick + 3, TimerCancel{Address{9}});
    made.row(n * tick + 4, SoftirqEntry{1}).row(n * tick + 5, SoftirqExit{1});
  }
  return made.learn();
}

TEST(ProfileLearner, KeepsTheRuleThatAKernelBreaks) {
  EXPECT_EQ(differences(raisingKernel("6.1.192", false), "raise=SR2/SR1"), "");
}

TEST(ProfileLearner, LetsBehaviourDecideWhereTheOldRuleIsPossible) {
  const KernelProfile profile = raisingKernel("5.4.0", false);
  EXPECT_EQ(differences(profile, "raise=SR1"), "");
}

TEST(ProfileLearner, SeesNoRuleInTicksWhoseRaisesWereLeftOut) {
  MadeKernel made = kernelWithTicks();
  made.cpu(0);
  for (s64 n = 1; n <= 40; ++n) {
    addTick(made, n);
    made.row(n * tick + 2, SoftirqRaise{8});
  }
  EXPECT_FALSE(made.learn().raise.observed);
}

TEST(ProfileLearner, TrustsNoSymbolsOfAnotherBoot) {
  MadeKernel made = kernelWithTicks();
  made.ofAnotherBoot().cpu(0);
  for (s64 n = 1; n <= 30; ++n) addTick(made, n);
  EXPECT_EQ(differences(made.learn(), "hres=? tick_function=tick_sched_timer~"), "");
}

TEST(ProfileLearner, TakesNoRunForEmptyThatADeletionExplains) {
  EXPECT_EQ(differences(raisingKernel("6.1.192", true), "raise=SR2"), "");
}

TEST(ProfileLearner, SeesWhoStopsTheTick) {
  const auto learned = [](s32 success, Pid pid) {
    MadeKernel made = kernelWithTicks();
    made.cpu(0);
    for (s64 n = 1; n <= 10; ++n) made.row(n, TickStop{success, 4}, pid);
    return made.learn();
  };
  EXPECT_EQ(differences(learned(1, Pid{0}), "nohz=idle nohz_full=?"), "");
  EXPECT_EQ(differences(learned(1, Pid{7}), "nohz=full nohz_full=0"), "");
  EXPECT_EQ(differences(learned(0, Pid{7}), "nohz=full nohz_full=0"), "");
}

TEST(ProfileLearner, CallsNoHzOffOnlyWhenIdleLeavesNoTickOut) {
  const auto learned = [](bool skip) {
    MadeKernel made = kernelWithTicks();
    made.cpu(0);
    made.row(0, SchedSwitch{}, Pid{5});
    for (s64 n = 1; n <= 200; ++n) addTick(made, skip && n > 100 ? n + 3 : n);
    return made.learn();
  };
  EXPECT_EQ(differences(learned(false), "nohz=off"), "");
  EXPECT_EQ(differences(learned(true), "nohz=?"), "");
}

TEST(ProfileLearner, KnowsRealTimeByItsSleepersAndThreads) {
  const auto learned = [](u32 mode, u8 context) {
    MadeKernel made = kernelWithTicks();
    made.cpu(0);
    for (s64 n = 0; n < 20; ++n) {
      made.row(n * 10, HrtimerStart{Address{2}, Address{sleeper}, {}, {}, mode, false}, Pid{5});
      made.row(n * 10 + 5, HrtimerExpireEntry{Address{2}, {n}, Address{sleeper}}, Pid{5}, context);
    }
    return made.learn();
  };
  constexpr u8 inInterrupt = 0x08;
  constexpr u8 inSoftirq = 0x10;
  EXPECT_EQ(differences(learned(0, inInterrupt), "rt=no"), "");
  EXPECT_EQ(differences(learned(0, inSoftirq), "rt=yes threadirqs=yes"), "");
  EXPECT_EQ(differences(learned(8, inInterrupt), "rt=yes"), "");
  EXPECT_EQ(differences(learned(4, inSoftirq), "rt=?"), "");
}

TEST(ProfileLearner, KnowsRealTimeByItsRelease) {
  for (const char* const release : {"6.1.0-55-rt-amd64", "5.10.0-rt17", "4.18.0-305.rt7.72.el8"}) {
    EXPECT_EQ(differences(kernelWithTicks(release).learn(), "rt=yes"), "") << release;
  }
  for (const char* const release : {"6.1.0-rtl8", "6.1.0-smart", "6.1.0-art-1"}) {
    EXPECT_EQ(differences(kernelWithTicks(release).learn(), "rt=?"), "") << release;
  }
}

TEST(ProfileLearner, KnowsTheThreadThatRunsTimerSoftirqs) {
  const auto learned = [](const std::string& name, Pid pid) {
    MadeKernel made = kernelWithTicks();
    made.task(pid, name).cpu(0);
    for (s64 n = 0; n < 20; ++n) {
      made.row(n * 10, SoftirqEntry{8}, pid).row(n * 10 + 5, SoftirqExit{8}, pid);
    }
    return made.learn();
  };
  EXPECT_EQ(differences(learned("ktimers/0", Pid{9}), "softirq_thread=ktimers rt=yes"), "");
  EXPECT_EQ(differences(learned("ksoftirqd/0", Pid{9}), "softirq_thread=ksoftirqd threadirqs=yes"),
            "");
  EXPECT_EQ(differences(learned("", Pid{0}), "softirq_thread=none threadirqs=no rt=no"), "");
}

TEST(ProfileLearner, SeesSkewedTicks) {
  const auto learned = [](s64 apart) {
    MadeKernel made = kernelWithTicks();
    for (u16 cpu = 0; cpu < 2; ++cpu) {
      made.cpu(cpu);
      for (s64 n = 1; n <= 30; ++n) {
        const s64 at = n * tick + cpu * apart;
        made.row(at, HrtimerStart{Address{cpu}, Address{tickFunction}, {at}, {}, 0, false});
      }
    }
    return made.learn();
  };
  EXPECT_EQ(differences(learned(0), "skew=no"), "");
  EXPECT_EQ(differences(learned(12345), "skew=?"), "");
}

TEST(ProfileLearner, LetsTheUserDecideAndWhatFollows) {
  EXPECT_EQ(differences(kernel("6.1.192", {}, {"bucket_expiry"}, {}).learn({"hz=100", "hrule=R1"}),
                        "hz=100/250! depth=8 hrule=R1!"),
            "");
}

/// Telling operations that only these rules explain.
Observed explainedBy(std::initializer_list<HrtimerRule> rules, u64 operations) {
  Observed observed;
  observed.misses.fill(operations);
  for (const HrtimerRule rule : rules) {
    observed.misses[static_cast<std::size_t>(rule)] = 0;
    observed.fits[static_cast<std::size_t>(rule)] = operations;
  }
  return observed;
}

TEST(ProfileLearner, ObservesARuleThatIsNotTheExpectedOne) {
  using enum HrtimerRule;
  KernelProfile profile = kernel("6.1.192", {}, {"bucket_expiry"}, {}).learn();
  observe(profile, explainedBy({RP, R0, R1}, 900));
  EXPECT_EQ(differences(profile, "hrule=R3/R1"), "");
  EXPECT_EQ(profile.hrtimer.seenConfidence, 0.97);
  observe(profile, explainedBy({R2, R3}, 900));
  EXPECT_EQ(differences(profile, "hrule=R3"), "");
}

TEST(ProfileLearner, ObservesNothingWhereNoRuleExplainsTheCalls) {
  KernelProfile profile = kernel("6.1.192", {}, {"bucket_expiry"}, {}).learn();
  Observed observed = explainedBy({HrtimerRule::R3}, 1000);
  observed.misses[static_cast<std::size_t>(HrtimerRule::R3)] = 11;
  observe(profile, observed);
  EXPECT_FALSE(profile.hrtimer.observed);
  observe(profile, Observed{});
  EXPECT_FALSE(profile.hrtimer.observed);
}

TEST(ProfileLearner, LetsCallsDecideAmongTheRulesThatAreLeft) {
  using enum HrtimerRule;
  MadeKernel made = kernel("5.10.0", {"was_armed"}, {"bucket_expiry"}, {});
  KernelProfile profile = made.learn();
  EXPECT_EQ(differences(profile, "hrule=R0~"), "");
  observe(profile, explainedBy({R2, R3, R4}, 50));
  EXPECT_EQ(differences(profile, "hrule=R2"), "");
  EXPECT_THAT(profile.hrtimer.evidence.back().text, HasSubstr("50 of 50"));
}

TEST(ProfileLearner, ObservesAClockOfTheWheelThatLags) {
  KernelProfile profile = kernel("6.1.192", {}, {"bucket_expiry"}, {}).learn();
  observe(profile, {.tellingArms = 42, .staleArms = 20});
  EXPECT_EQ(differences(profile, "fwd=F2/F0"), "");
  observe(profile, {.tellingArms = 500, .staleArms = 1});
  EXPECT_EQ(differences(profile, "fwd=F2"), "");
}

struct RecordedKernel {
  const char* file;
  u32 hz;
  const char* facts;
};

const char* const own61 =
    "w=64 hres=yes tick_function=tick_sched_timer wheel=LEVELS depth=9 bases=STD/DEF fwd=F2 "
    "next=NX1 wtrace=WT2 hrule=R3 htrace=HT2 rt=no clampbug=no ";
const char* const own612 =
    "w=64 hres=yes tick_function=tick_nohz_handler wheel=LEVELS depth=9 bases=LOCAL/GLOBAL/DEF "
    "fwd=F2 next=NX1 wtrace=WT3 hrule=R3 htrace=HT2 clampbug=no ";
const char* const olderTracepoints =
    "w=64 hres=yes tick_function=tick_sched_timer wheel=LEVELS depth=8 bases=STD/DEF fwd=F2 "
    "next=NX1 raise=SR2 wtrace=WT2 hrule=R2 htrace=HT0 rt=no clampbug=no ";

/// What differs from what the recording's notes say of its kernel.
std::string recordedDifferences(const std::string& path, u32 hz, std::string_view facts) {
  const Recording recording = support::imported(path);
  const Buffer& buffer = recording.buffers[recording.mainBuffer()];
  const KernelProfile profile =
      learnProfile(recording, buffer, {}, ClockMap::HzResult{hz, 0.97, "given"}, nullptr);
  return differences(profile, facts);
}

class RecordedKernels : public ::testing::TestWithParam<RecordedKernel> {};

TEST_P(RecordedKernels, AreKnown) {
  const RecordedKernel& kernel = GetParam();
  TICKSCOPE_NEED_RECORDING(path, kernel.file);
  EXPECT_EQ(recordedDifferences(path, kernel.hz, kernel.facts), "") << kernel.file;
}

std::string nameOfCase(const ::testing::TestParamInfo<RecordedKernel>& info) {
  std::string name(info.param.file);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}

/// Facts that all recordings of a kernel share, and others.
std::vector<RecordedKernel> recordedKernels() {
  static std::vector<std::string> texts;
  texts.reserve(100);
  std::vector<RecordedKernel> kernels;
  const auto add = [&](const char* file, u32 hz, const char* shared, const char* others) {
    texts.push_back(std::string(shared) + others);
    kernels.push_back({file, hz, texts.back().c_str()});
  };
  const char* const plain = "raise=SR2 softirq_thread=none threadirqs=no skew=no";
  add("01-idle-6.1-hz250.dat", 250, own61,
      "raise=SR2 nohz=idle softirq_thread=none threadirqs=no skew=no");
  add("02-ncm-stock.dat", 250, own61, plain);
  add("02-ncm-double.dat", 250, own61, plain);
  add("02-ncm-double-kprobe.dat", 250, own61, plain);
  add("03-softexp-stale.dat", 250, own61, plain);
  add("04-stalebase.dat", 250, own61, plain);
  add("06-lost.dat", 250, own61, plain);
  add("09-hotplug.dat", 250, own61, plain);
  add("12-clocks-x86-tsc.dat", 250, own61, plain);
  add("13-lost-events.dat", 250, own61, "raise=SR2 softirq_thread=none skew=no");
  add("05-tickwake-stock.dat", 250, own61, "raise=SR2 softirq_thread=ksoftirqd threadirqs=yes");
  add("05-tickwake.dat", 250, own61, "raise=SR2/SR1 softirq_thread=ksoftirqd threadirqs=yes");
  add("24-hres-nohz-off.dat", 250, own61, plain);
  add("23-lowres-periodic.dat", 250,
      "w=64 hres=no wheel=LEVELS depth=9 bases=STD/DEF fwd=F2 next=NX1 raise=SR2 wtrace=WT2 "
      "hrule=R3 htrace=HT2 rt=no",
      "");
  add("02-ncm-e2-stock.dat", 100, olderTracepoints, "");
  add("02-ncm-e2-double.dat", 100, olderTracepoints, "");
  add("09-hotplug-e2.dat", 100, olderTracepoints, "");
  add("16-posix-e2.dat", 100, olderTracepoints, "");
  add("01-idle-6.12-hz1000.dat", 1000, own612, "rt=no raise=SR3 nohz=idle softirq_thread=none");
  add("15-nohzfull.dat", 1000, own612, "rt=no raise=SR3 nohz=full nohz_full=1");
  add("05-tickwake-rtfault-stock.dat", 1000, own612,
      "rt=yes raise=SR3 softirq_thread=ktimers threadirqs=yes");
  add("05-tickwake-rtfault.dat", 1000, own612,
      "rt=yes raise=SR3/SR1 softirq_thread=ktimers threadirqs=yes");
  add("07-wakestorm-rthard.dat", 1000, own612, "rt=yes softirq_thread=ktimers");
  const char* const debianRt =
      "w=64 hres=yes tick_function=tick_sched_timer wheel=LEVELS depth=9 bases=STD/DEF fwd=F2 "
      "next=NX1 raise=SR2 wtrace=WT2 hrule=R3 htrace=HT2 rt=yes softirq_thread=ktimers "
      "threadirqs=yes ";
  add("05-tickwake-rt-stock.dat", 250, debianRt, "");
  add("07-wakestorm-rt.dat", 250, debianRt, "nohz=idle");
  const char* const debian =
      "hres=yes wheel=LEVELS depth=9 fwd=F2 next=NX1 raise=SR2 wtrace=WT2 hrule=R3 htrace=HT2 "
      "rt=no softirq_thread=none ";
  add("formats/network.dat", 250, debian, "w=64 bases=STD/DEF nohz=idle threadirqs=no");
  add("arch/arch-arm64.dat", 250, debian, "w=64 bases=STD/DEF nohz=idle threadirqs=no");
  add("arch/arch-armhf.dat", 250, debian, "w=32 bases=STD/DEF nohz=idle threadirqs=no");
  add("arch/arch-ppc64el.dat", 250, debian, "w=64 bases=STD/DEF nohz=idle threadirqs=no");
  // Built without NO_HZ_COMMON.
  add("arch/arch-s390x.dat", 250, debian, "w=64 bases=one nohz=off threadirqs=no");
  add("arch/arch-i386-v7none.dat", 250, debian, "w=32 bases=one nohz=off threadirqs=no");
  // Formats of a few timer events only, or of none: said, but not judged by.
  add("formats/hist-trigger.dat", 250, "hrule=R3~ fwd=F2 raise=SR2", "");
  add("formats/fprobe.dat", 250, "hrule=R3~ raise=SR3 bases=LOCAL/GLOBAL/DEF", "");
  return kernels;
}

INSTANTIATE_TEST_SUITE_P(All, RecordedKernels, ::testing::ValuesIn(recordedKernels()), nameOfCase);

}  // namespace
}  // namespace tickscope
