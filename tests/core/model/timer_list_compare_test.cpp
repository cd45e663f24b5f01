// SPDX-License-Identifier: GPL-3.0-or-later
// Comparing timer list dumps with spans made by hand.
#include "core/model/timer_list_compare.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "importers/timer_list/timer_list_text.h"
#include "tests/support/made_recording.h"

namespace tickscope {
namespace {

using Taken = TimerListComparison::Taken;
using Kind = ListedDifference::Kind;

constexpr Address tick{0xffffffff81000000};
constexpr Address periodic{0xffffffff81000100};
constexpr s64 ms = 1'000'000;

/// CPU 0 with a row every millisecond from 0 to 999 ms; spans are added by their times in ms.
class Made {
 public:
  Made() {
    support::BufferMaker maker;
    maker.cpu(0).events(1000, 0, ms);
    recording_ = support::madeRecording(maker.finish());
    recording_->metadata.symbols = std::make_shared<const Symbols>(
        "ffffffff81000000 T tick_sched_timer\nffffffff81000100 T lab_periodic\n"
        "ffffffff81000200 T lab_end\n");
    tables.cpus.emplace_back().cpu = Cpu{0};
  }

  ArmedSpan& span(u64 address, Address function, Row armed, Row ended, s64 soft, s64 hard) {
    ModelTimer timer;
    timer.of = TimerClass::Hrtimer;
    timer.address = static_cast<Address>(address);
    timer.function = function;
    timer.base = ClockBase::Mono;
    tables.timers.push_back(timer);
    ArmedSpan made;
    made.timer = static_cast<TimerId>(tables.timers.size() - 1);
    made.armed = armed;
    made.ended = ended;
    made.end = ended == noRow ? SpanEnd::Open : SpanEnd::Expired;
    made.owner = Cpu{0};
    made.expires = hard;
    made.second = soft;
    tables.spans.push_back(made);
    return tables.spans.back();
  }

  [[nodiscard]] TimerListComparison compare(const std::string& dump) const {
    const Buffer& buffer = recording_->buffers.front();
    return compareTimerList(*recording_, buffer, tables, ClockMap::fit(buffer, u8{64}),
                            parseTimerList(dump));
  }

  ReplayTables tables;

 private:
  std::shared_ptr<Recording> recording_;
};

std::string line(std::string_view pointer, std::string_view function, s64 soft, s64 hard) {
  return fmt::format(" #0: <{}>, {}, S:01\n # expires at {}-{} nsecs [in 1 to 1 nsecs]\n", pointer,
                     function, soft, hard);
}
std::string dump(s64 now, const std::string& lines, std::string_view expiresNext = "0",
                 int base = 0) {
  return fmt::format(
      "Timer List Version: v0.9\nHRTIMER_MAX_CLOCK_BASES: 8\nnow at {} nsecs\n\ncpu: 0\n clock "
      "{}:\n  .base:       ffff88801f21db40\n  .index:      {}\n  .offset:     0 nsecs\nactive "
      "timers:\n{}  .expires_next   : {} nsecs\n  .hres_active    : 1\n",
      now, base, base, lines, expiresNext);
}

std::string words(const TimerListComparison& comparison) {
  std::string text = fmt::format("agree {} X18 {} not judged {}", comparison.agreeing(),
                                 comparison.violations(), comparison.notJudged());
  for (const ListedDifference& one : comparison.differences) {
    text += fmt::format("\n  kind {} judged {} {} ({})", static_cast<int>(one.kind), one.judged,
                        one.function, one.why);
  }
  return text;
}

TEST(TimerListCompare, AgreesWithTheSpanThatIsOpenWhenTheListIsPrinted) {
  Made made;
  made.span(0xffff888000000100, tick, Row{10}, Row{400}, 400 * ms, 400 * ms);
  made.span(0xffff888000000200, periodic, Row{10}, Row{90}, 90 * ms, 95 * ms);
  const auto seen = made.compare(
      dump(100 * ms, line("ffff888000000100", "tick_sched_timer", 400 * ms, 400 * ms)));
  EXPECT_EQ(seen.taken, Taken::During);
  EXPECT_EQ(seen.row, Row{100});
  EXPECT_EQ(words(seen), "agree 1 X18 0 not judged 0");
}

TEST(TimerListCompare, TakesALineOfAnyMomentOfThePrinting) {
  Made made;
  // Restarted 5 ms after the printing began: the list may show either.
  made.span(0xffff888000000100, tick, Row{10}, Row{105}, 300 * ms, 300 * ms);
  made.span(0xffff888000000100, tick, Row{105}, Row{800}, 700 * ms, 700 * ms);
  for (const s64 expires : {300 * ms, 700 * ms}) {
    const auto seen = made.compare(
        dump(100 * ms, line("ffff888000000100", "tick_sched_timer", expires, expires)));
    EXPECT_EQ(words(seen), "agree 1 X18 0 not judged 0") << expires;
  }
}

TEST(TimerListCompare, ReportsOtherTimesOfATimerThatStoodStill) {
  Made made;
  made.span(0xffff888000000100, tick, Row{10}, Row{400}, 400 * ms, 400 * ms);
  for (const std::string pointer : {"ffff888000000100", "00000000deadbeef"}) {
    const auto seen =
        made.compare(dump(100 * ms, line(pointer, "tick_sched_timer", 400 * ms, 404 * ms)));
    EXPECT_EQ(seen.violations(), 1U) << pointer << ": " << words(seen);
    ASSERT_EQ(seen.differences.size(), 1U) << pointer << ": " << words(seen);
    EXPECT_EQ(seen.differences[0].kind, Kind::Different) << pointer;
    EXPECT_EQ(seen.differences[0].modelHard, BaseTime{400 * ms}) << pointer;
    EXPECT_EQ(seen.differences[0].listedHard, BaseTime{404 * ms}) << pointer;
  }
}

TEST(TimerListCompare, ReportsAnArmedTimerThatTheListLacks) {
  Made made;
  made.span(0xffff888000000100, tick, Row{10}, Row{400}, 400 * ms, 400 * ms);
  const auto seen = made.compare(dump(100 * ms, ""));
  EXPECT_EQ(words(seen), "agree 0 X18 1 not judged 0\n  kind 2 judged true tick_sched_timer ()");
  EXPECT_EQ(seen.bases.at(0).extra, 1U);
}

TEST(TimerListCompare, MissesNoTimerInAListThatIsCutOff) {
  Made made;
  made.span(0xffff888000000100, tick, Row{10}, Row{400}, 400 * ms, 400 * ms);
  const std::string whole = dump(100 * ms, "");
  const std::string cut = whole.substr(0, whole.find("  .expires_next"));
  EXPECT_EQ(words(made.compare(cut)),
            "agree 0 X18 0 not judged 1\n  kind 2 judged false tick_sched_timer (the list ends "
            "among the timers of its CPU)");
  EXPECT_EQ(made.compare(cut + "\nTick Device: mode:     1\n").violations(), 1U);
  // Cut between the two lines of a timer.
  const std::string timer = dump(100 * ms, line("ffff888000000100", "tick_sched_timer", 1, 1));
  EXPECT_EQ(made.compare(timer.substr(0, timer.find(" # expires"))).violations(), 0U);
}

TEST(TimerListCompare, TakesAsManyHashedLinesAsADumpHas) {
  Made made;
  made.span(0xffff888000000100, tick, Row{10}, Row{400}, 400 * ms, 400 * ms);
  std::string lines;
  for (int i = 0; i < 50'000; ++i) lines += line("00000000abcdef01", "tick_sched_timer", i, i);
  const auto seen = made.compare(dump(100 * ms, lines));
  EXPECT_EQ(seen.bases.at(0).listed, 50'000U);
  EXPECT_EQ(seen.bases.at(0).notJudged, 50'000U);
  EXPECT_EQ(seen.bases.at(0).extra, 1U);
}

TEST(TimerListCompare, DoesNotJudgeATimerThatEndsWhileTheListIsPrinted) {
  Made made;
  made.span(0xffff888000000100, tick, Row{10}, Row{110}, 400 * ms, 400 * ms);
  EXPECT_EQ(words(made.compare(dump(100 * ms, ""))), "agree 0 X18 0 not judged 0");
}

TEST(TimerListCompare, ReportsAListedTimerThatTheModelKnowsToBeIdle) {
  Made made;
  made.span(0xffff888000000100, tick, Row{10}, Row{50}, 50 * ms, 50 * ms);
  const auto known = made.compare(
      dump(100 * ms, line("ffff888000000100", "tick_sched_timer", 400 * ms, 400 * ms)));
  EXPECT_EQ(words(known), "agree 0 X18 1 not judged 0\n  kind 1 judged true tick_sched_timer ()");
  const auto stranger = made.compare(
      dump(100 * ms, line("ffff888000000900", "tick_sched_timer", 400 * ms, 400 * ms)));
  EXPECT_EQ(stranger.violations(), 0U) << words(stranger);
  EXPECT_EQ(stranger.notJudged(), 1U) << words(stranger);
}

TEST(TimerListCompare, DoesNotJudgeWhatTheModelIsNotSureOf) {
  struct Case {
    const char* what;
    void (*change)(ArmedSpan&);
  };
  for (const Case& one :
       std::vector<Case>{{"lost", [](ArmedSpan& span) { span.flags = ArmedSpan::Uncertain; }},
                         {"CPU", [](ArmedSpan& span) { span.owner = noCpu; }},
                         {"times", [](ArmedSpan& span) {
                            span.armed = noRow;
                            span.expiryKnown = false;
                          }}}) {
    Made made;
    one.change(made.span(0xffff888000000100, tick, Row{10}, Row{400}, 400 * ms, 400 * ms));
    const auto seen = made.compare(dump(100 * ms, ""));
    EXPECT_EQ(seen.violations(), 0U) << one.what << ": " << words(seen);
    EXPECT_EQ(seen.notJudged(), 1U) << one.what << ": " << words(seen);
  }
}

TEST(TimerListCompare, FindsATimerInAnotherClockThanTheModelGuessed) {
  Made made;
  made.span(0xffff888000000100, periodic, Row{10}, Row{400}, 400 * ms, 400 * ms);
  const std::string boot =
      dump(100 * ms, line("ffff888000000100", "lab_periodic", 400 * ms, 400 * ms), "0", 2);
  EXPECT_EQ(made.compare(boot).violations(), 1U) << words(made.compare(boot));
  made.tables.timers[0].baseGuessed = true;
  EXPECT_EQ(words(made.compare(boot)), "agree 1 X18 0 not judged 0");
}

TEST(TimerListCompare, SaysWhereInTheRecordingTheListWasTaken) {
  support::BufferMaker maker;
  maker.cpu(0).events(100, 500 * ms, ms);
  const auto recording = support::madeRecording(maker.finish());
  const Buffer& buffer = recording->buffers.front();
  ReplayTables tables;
  const ClockMap clocks = ClockMap::fit(buffer, u8{64});
  const auto taken = [&](const std::string& text) {
    return compareTimerList(*recording, buffer, tables, clocks, parseTimerList(text)).taken;
  };
  EXPECT_EQ(taken(dump(499 * ms, "")), Taken::Before);
  EXPECT_EQ(taken(dump(500 * ms, "")), Taken::During);
  EXPECT_EQ(taken(dump(700 * ms, "")), Taken::After);
  EXPECT_EQ(taken("Timer List Version: v0.9\ncpu: 0\n"), Taken::Unknown);
}

TEST(TimerListCompare, JudgesNothingBeyondTheEndOfTheRecording) {
  Made made;
  made.span(0xffff888000000100, tick, Row{10}, noRow, 1400 * ms, 1400 * ms);
  made.span(0xffff888000000200, periodic, Row{10}, noRow, 1500 * ms, 1500 * ms);
  const auto seen = made.compare(
      dump(1100 * ms, line("ffff888000000100", "tick_sched_timer", 1400 * ms, 1400 * ms)));
  EXPECT_EQ(seen.taken, Taken::After);
  EXPECT_EQ(words(seen), "agree 1 X18 0 not judged 0");
}

TEST(TimerListCompare, ComparesTheNextExpiry) {
  Made made;
  StepLine& line = made.tables.cpus[0].expiresNext;
  line.set(Row{10}, s64{400 * ms});
  line.set(Row{500}, s64{900 * ms});
  const auto agrees = [&](s64 now, std::string_view listed) {
    return made.compare(dump(now, "", listed)).expiresNext.at(0).agrees;
  };
  EXPECT_EQ(agrees(100 * ms, "400000000"), Known<bool>(true));
  EXPECT_EQ(agrees(100 * ms, "404000000"), Known<bool>(false));
  EXPECT_EQ(agrees(490 * ms, "900000000"), Known<bool>(true)) << "it moved while it was printed";
  EXPECT_EQ(agrees(490 * ms, "404000000"), Known<bool>()) << "it moved while it was printed";
  EXPECT_EQ(agrees(5 * ms, "400000000"), Known<bool>(true)) << "it became known meanwhile";
}

}  // namespace
}  // namespace tickscope
