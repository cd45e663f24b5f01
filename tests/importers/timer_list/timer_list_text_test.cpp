// SPDX-License-Identifier: GPL-3.0-or-later
// Dumps of /proc/timer_list: a real one, and text that only looks like one.
#include "importers/timer_list/timer_list_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "importers/import.h"
#include "tests/support/recordings.h"

namespace tickscope {
namespace {

const ListedValue* valueOf(const std::vector<ListedValue>& values, std::string_view name) {
  for (const ListedValue& value : values) {
    if (value.name == name) return &value;
  }
  return nullptr;
}

TEST(TimerList, ReadsARealDump) {
  TICKSCOPE_NEED_RECORDING(path, "11-timerlist.before.txt");
  const auto source = ByteSource::file(path);
  ASSERT_TRUE(source);
  const auto dump = importTimerList(*source);
  ASSERT_TRUE(dump) << describe(dump.error());
  EXPECT_EQ(dump->version, "v0.9");
  EXPECT_EQ(dump->hrtimerMaxClockBases, 8U);
  EXPECT_EQ(dump->now, MonoTime{2098649925});
  EXPECT_EQ(dump->linesNotUnderstood, 0U);
  ASSERT_EQ(dump->cpus.size(), 2U);
  const ListedCpu& cpu = dump->cpus[1];
  EXPECT_EQ(cpu.cpu, Cpu{1});
  ASSERT_EQ(cpu.bases.size(), 8U);
  EXPECT_EQ(cpu.bases[1].index, 1U);
  EXPECT_EQ(cpu.bases[1].resolution, 1U);
  EXPECT_EQ(cpu.bases[1].getTime, "ktime_get_real");
  EXPECT_EQ(cpu.bases[1].offset, 1796039999913673574);
  ASSERT_EQ(cpu.bases[0].timers.size(), 5U);
  const ListedTimer& timer = cpu.bases[0].timers[3];
  EXPECT_EQ(timer.pointer, "ffff8880003b3e68");
  EXPECT_EQ(timer.function, "hrtimer_wakeup");
  EXPECT_EQ(timer.state, "S:01");
  EXPECT_EQ(timer.softExpires, BaseTime{2102970670});
  EXPECT_EQ(timer.expires, BaseTime{2103970670});
  ASSERT_NE(valueOf(cpu.values, ".last_tick"), nullptr);
  EXPECT_EQ(valueOf(cpu.values, ".last_tick")->value, "2080000000 nsecs");
  ASSERT_NE(valueOf(cpu.values, "jiffies"), nullptr);
  EXPECT_EQ(valueOf(cpu.values, "jiffies")->value, "4294892798");
  ASSERT_NE(valueOf(dump->devices, "Clock Event Device"), nullptr);
  EXPECT_EQ(valueOf(dump->devices, "Clock Event Device")->value, "pit");
  EXPECT_EQ(std::count_if(dump->devices.begin(), dump->devices.end(),
                          [](const ListedValue& v) { return v.name == "Tick Device"; }),
            3);
  EXPECT_EQ(sniff(*source), InputKind::TimerList);
}

TEST(TimerList, ReadsAllRealDumpsWholly) {
  for (const char* name :
       {"11-timerlist.after.txt", "11-timerlist.after1.txt", "11-timerlist.after2.txt",
        "11-timerlist.after3.txt", "11-timerlist.before1.txt", "11-timerlist.before2.txt",
        "11-timerlist.before3.txt"}) {
    TICKSCOPE_NEED_RECORDING(path, name);
    const auto dump = importTimerList(*ByteSource::file(path));
    ASSERT_TRUE(dump) << name;
    EXPECT_EQ(dump->linesNotUnderstood, 0U) << name;
    EXPECT_EQ(dump->cpus.size(), 2U) << name;
    EXPECT_TRUE(dump->now) << name;
  }
}

TEST(TimerList, CountsLinesThatItDoesNotUnderstand) {
  const TimerListDump dump = parseTimerList(
      "Timer List Version: v0.9\nnow at soon nsecs\ncpu: 70000\ncpu: x\ncpu: 3\n"
      " #0: no pointer, f, S:01\n clock 0:\n # expires at 1-2 nsecs\n"
      " #1: <0>, f, S:01\n # expires at 5\n # expires at 18446744073709551615-9223372036854775807 "
      "nsecs\n"
      "  .resolution: none\n  .offset:     -5 nsecs\nwhatever\n");
  EXPECT_FALSE(dump.now);
  ASSERT_EQ(dump.cpus.size(), 1U);
  EXPECT_EQ(dump.cpus[0].cpu, Cpu{3});
  ASSERT_EQ(dump.cpus[0].bases.size(), 1U);
  EXPECT_EQ(dump.cpus[0].bases[0].offset, -5);
  EXPECT_FALSE(dump.cpus[0].bases[0].resolution);
  ASSERT_EQ(dump.cpus[0].bases[0].timers.size(), 1U);
  EXPECT_EQ(dump.cpus[0].bases[0].timers[0].softExpires, BaseTime{-1});
  EXPECT_EQ(dump.cpus[0].bases[0].timers[0].expires, BaseTime{std::numeric_limits<s64>::max()});
  EXPECT_EQ(dump.linesNotUnderstood, 8U);
}

TEST(TimerList, LeavesOutTimersWithoutTheirTimes) {
  const std::string head = "Timer List Version: v0.9\nnow at 5 nsecs\n\ncpu: 0\n clock 0:\n";
  const std::string bare = " #0: <ffff888000000100>, tick_sched_timer, S:01\n";
  const std::string times = " # expires at 7-8 nsecs [in 2 to 3 nsecs]\n";
  for (const std::string& behind : {std::string(), bare + times, std::string("\ncpu: 1\n")}) {
    const TimerListDump dump = parseTimerList(head + bare + behind);
    EXPECT_EQ(dump.linesNotUnderstood, 1U) << behind;
    ASSERT_EQ(dump.cpus.at(0).bases.size(), 1U) << behind;
    EXPECT_EQ(dump.cpus[0].bases[0].timers.size(), behind.starts_with(" #") ? 1U : 0U) << behind;
  }
  EXPECT_EQ(parseTimerList(head + bare + times).linesNotUnderstood, 0U);
}

TEST(TimerList, OlderTimersNameTheirStarter) {
  const TimerListDump dump = parseTimerList(
      "Timer List Version: v0.6\ncpu: 0\n clock 0:\n"
      " #0: <ffff88>, hrtimer_wakeup, S:01, do_nanosleep, sleep/12\n # expires at 1-2 nsecs [in 3 "
      "to 4 nsecs]\n");
  const ListedTimer& timer = dump.cpus.at(0).bases.at(0).timers.at(0);
  EXPECT_EQ(timer.function, "hrtimer_wakeup");
  EXPECT_EQ(timer.state, "S:01");
}

TEST(TimerList, OtherTextIsRefused) {
  const std::string text = "nothing of the kind\n";
  const auto dump = importTimerList(ByteSource::memory({text.begin(), text.end()}));
  ASSERT_FALSE(dump);
  EXPECT_EQ(dump.error().kind, Error::Kind::NotATrace);
}

TEST(TimerList, BytesOfAnyKindAreLines) {
  std::string text = "Timer List Version: v0.9\ncpu: 0\n clock 0:\n";
  for (int i = 0; i < 256; ++i)
    text += std::string(3, static_cast<char>(i)) + " #" + static_cast<char>(i);
  text += std::string(100'000, '#');
  const TimerListDump dump = parseTimerList(text);
  EXPECT_EQ(dump.cpus.size(), 1U);
  EXPECT_GT(dump.linesNotUnderstood, 0U);
}

}  // namespace
}  // namespace tickscope
