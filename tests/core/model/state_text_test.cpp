// SPDX-License-Identifier: GPL-3.0-or-later
// States made by hand, as text.
#include "core/model/state_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "importers/timer_list/timer_list_text.h"
#include "tests/support/made_recording.h"

namespace tickscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr s64 us = 1'000;
constexpr Address timerAddress{0xffff88801f21df80};

/// One CPU with the tick armed for 8 ms, at 5 ms.
class Made {
 public:
  Made() {
    support::BufferMaker maker;
    maker.cpu(0).events(10, 0, 1000 * us);
    recording = support::madeRecording(maker.finish());
    recording->metadata.symbols = std::make_shared<const Symbols>(
        "ffffffff81000000 T tick_sched_timer\nffffffff81000100 T delayed_work_timer_fn\n"
        "ffffffff81000200 T lab_end\n");
    clocks = ClockMap::fit(recording->buffers.front(), u8{64});
    profile.highRes = {.expected = true, .observed = {}, .confidence = 0.95, .evidence = {}};
    profile.hz = {.expected = 250U, .observed = {}, .confidence = 0.97, .evidence = {}};
    tables.timers.resize(2);
    tables.timers[0].of = TimerClass::Hrtimer;
    tables.timers[1].of = TimerClass::Wheel;
    tables.spans.resize(2);
    state.row = Row{5};
    state.time = {5000 * us};
    CpuState& cpu = state.cpus.emplace_back();
    cpu.cpu = Cpu{0};
    StateTimer tick;
    tick.address = timerAddress;
    tick.function = Address{0xffffffff81000000};
    tick.expires = 8000 * us;
    tick.second = 8000 * us;
    tick.armedRow = Row{3};
    tick.armedBy = Pid{4};
    cpu.hrtimers[0].push_back(tick);
    cpu.expiresNext = MonoTime{8000 * us};
    StateTimer work;
    work.timer = TimerId{1};
    work.span = SpanId{1};
    work.address = Address{0xffff88801f226a00};
    work.function = Address{0xffffffff81000100};
    work.expires = 4294893000;
    work.second = 4294893008;
    work.bucketIndex = 122;
    work.armedRow = Row{2};
    work.flags = ArmedSpan::Deferrable;
    cpu.wheel.resize(2);
    cpu.wheel[1].kind = WheelBaseKind::Def;
    cpu.wheel[1].clk = 4294892799;
    cpu.wheel[1].timers.push_back(work);
    at.row = Row{5};
    at.mono = Bounded<MonoTime>{{5500 * us}, {}};
  }

  [[nodiscard]] StateText text() const {
    return {*recording, recording->buffers.front(), profile, clocks, tables};
  }

  std::shared_ptr<Recording> recording;
  ClockMap clocks;
  KernelProfile profile;
  ReplayTables tables;
  SystemState state;
  StateInstant at;
};

std::string base(int index, std::string_view getTime, std::string_view offset,
                 std::string_view timers = "") {
  return fmt::format(
      " clock {}:\n  .index:      {}\n  .resolution: 1 nsecs\n  .get_time:   {}\n  .offset:     "
      "{}\nactive timers:\n{}",
      index, index, getTime, offset, timers);
}

TEST(StateText, PrintsHrtimersAsATimerListDoes) {
  const Made made;
  EXPECT_EQ(made.text().timerList(made.state, made.at, {}),
            "HRTIMER_MAX_CLOCK_BASES: 8\nnow at 5500000 nsecs\n\ncpu: 0\n" +
                base(0, "ktime_get", "0 nsecs",
                     " #0: <ffff88801f21df80>, tick_sched_timer, S:01\n"
                     " # expires at 8000000-8000000 nsecs [in 2500000 to 2500000 nsecs]\n") +
                base(1, "ktime_get_real", "unknown") + base(2, "ktime_get_boottime", "unknown") +
                base(3, "ktime_get_clocktai", "unknown") + base(4, "ktime_get", "0 nsecs") +
                base(5, "ktime_get_real", "unknown") + base(6, "ktime_get_boottime", "unknown") +
                base(7, "ktime_get_clocktai", "unknown") +
                "  .expires_next   : 8000000 nsecs\n  .hres_active    : 1\n");
}

TEST(StateText, PrintsADumpInTheSameLines) {
  const Made made;
  const std::string text = made.text().timerList(made.state, made.at, {});
  // What the recording does not tell cannot be read back.
  std::string readable = "Timer List Version: v0.9\n" + text;
  for (std::size_t at = 0; (at = readable.find("unknown", at)) != std::string::npos;) {
    readable.replace(at, 7, "7 nsecs");
  }
  std::string expected = text;
  for (std::size_t at = 0; (at = expected.find("unknown", at)) != std::string::npos;) {
    expected.replace(at, 7, "7 nsecs");
  }
  EXPECT_EQ(timerListText(parseTimerList(readable), {}), expected);
}

TEST(StateText, LeavesOutHashedPointersOfADump) {
  const std::string dump =
      "Timer List Version: v0.9\nnow at 5 nsecs\n\ncpu: 0\n clock 0:\n  .index:      0\n"
      "active timers:\n #0: <00000000deadbeef>, tick_sched_timer, S:01\n"
      " # expires at 8-9 nsecs [in 3 to 4 nsecs]\n";
  EXPECT_THAT(
      timerListText(parseTimerList(dump), {}),
      HasSubstr(" #0: tick_sched_timer, S:01\n # expires at 8-9 nsecs [in 3 to 4 nsecs]\n"));
}

TEST(StateText, SaysUnknownNeverZero) {
  Made made;
  made.at.mono.reset();
  CpuState& cpu = made.state.cpus.front();
  cpu.expiresNext.reset();
  cpu.hrtimers[0][0].expires.reset();
  cpu.hrtimers[0][0].second.reset();
  cpu.hrtimers[0][0].function = Address{0};
  cpu.hrtimers[0][0].armedRow.reset();
  made.profile.highRes = {};
  EXPECT_THAT(made.text().timerList(made.state, made.at, {}),
              AllOf(HasSubstr("now at unknown\n"),
                    HasSubstr(" #0: <ffff88801f21df80>, unknown, S:01\n # expires at "
                              "unknown-unknown nsecs [in unknown to unknown nsecs]\n"),
                    HasSubstr("  .resolution: unknown\n"),
                    HasSubstr("  .expires_next   : unknown\n  .hres_active    : unknown\n")));
  EXPECT_THAT(made.text().rest(made.state, made.at, {}),
              AllOf(HasSubstr("Monotonic time unknown\nJiffies unknown\n"),
                    HasSubstr("  .softirq_expires_next: unknown\n"),
                    HasSubstr("  .programmed          : unknown\n"),
                    HasSubstr(" wheel STD:\n  .clk:         unknown\n  .next_expiry: unknown\n"),
                    HasSubstr(" clock 0 #0: armed before the recording\n")));
}

TEST(StateText, PrintsWhatNoTimerListShows) {
  Made made;
  CpuState& cpu = made.state.cpus.front();
  cpu.softirqExpiresNext = never;
  cpu.unknown.push_back(BlindSpotKind::LostEvents);
  EXPECT_THAT(
      made.text().rest(made.state, made.at, {}),
      AllOf(HasSubstr("State after event:5 at 0.005000000 on CPU 0: hrtimer_cancel\n"
                      "Monotonic time 0.005500000 s\n"),
            HasSubstr("  .softirq_expires_next: none\n"),
            HasSubstr("  not all is known     : B02 events were lost\n"),
            HasSubstr(" clock 0 #0: armed at event:3 by task-4-4\n"),
            HasSubstr(" wheel DEF:\n  .clk:         4294892799\n  .next_expiry: unknown\n"
                      "pending timers:\n #0: <ffff88801f226a00>, delayed_work_timer_fn, level 1, "
                      "idx 122\n # expires at 4294893000, bucket 4294893008 jiffies, armed at "
                      "event:2 in an interrupt, deferrable\n")));
}

TEST(StateText, LeavesOutCpusThatAreOfflineOrNotAskedFor) {
  Made made;
  CpuState other = made.state.cpus.front();
  other.cpu = Cpu{3};
  made.state.cpus.push_back(other);
  const std::vector<u32> only{3};
  EXPECT_THAT(made.text().timerList(made.state, made.at, only),
              AllOf(HasSubstr("cpu: 3\n"), Not(HasSubstr("cpu: 0\n"))));
  made.state.cpus.back().online = false;
  EXPECT_THAT(made.text().timerList(made.state, made.at, {}),
              AllOf(HasSubstr("cpu: 0\n"), Not(HasSubstr("cpu: 3\n"))));
  EXPECT_THAT(made.text().rest(made.state, made.at, {}), HasSubstr("cpu: 3 (offline)\n"));
}

TEST(StateText, ListsTimersWhoseCpuIsNotKnown) {
  Made made;
  made.state.ownerUnknown.push_back(made.state.cpus.front().hrtimers[0][0]);
  EXPECT_THAT(made.text().rest(made.state, made.at, {}),
              HasSubstr("\nTimers whose CPU or base is not known\n"
                        " #0: <ffff88801f21df80>, tick_sched_timer, S:01\n"
                        " # expires at 8000000-8000000 nsecs [in 2500000 to 2500000 nsecs]\n"
                        " # clock 0, armed at event:3 by task-4-4\n"));
}

}  // namespace
}  // namespace tickscope
