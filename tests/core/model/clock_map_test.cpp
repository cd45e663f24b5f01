// SPDX-License-Identifier: GPL-3.0-or-later
// Clock maps of made buffers with a known truth, and of all recordings.
#include "core/model/clock_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "core/model/clock_scan.h"
#include "tests/support/imported.h"
#include "tests/support/made_events.h"
#include "tests/support/recordings.h"

namespace tickscope {
namespace {

constexpr s64 second = 1'000'000'000, ms = 1'000'000, us = 1'000;
constexpr Context inInterrupt{0x08, 0};
constexpr s64 calendar = 1'796'000'000 * second;

u8 wordBits(const Recording& recording) { return recording.metadata.wordSize == 4 ? 32 : 64; }

Buffer bufferOf(support::EventMaker& maker, const std::string& clock) {
  Buffer buffer;
  buffer.events = maker.finish();
  buffer.clock = {clock, "test", unitOf(clock)};
  return buffer;
}

HrtimerExpireEntry expiry(s64 now, u64 timer = 0xffff888000001000) {
  return {static_cast<Address>(timer), {now}, Address{0xffffffff81000000}};
}

/// Passes of one CPU 2 ms apart, each 3 to 40 us late, on a clock that `stamp` gives from monotonic
/// time.
template <class Stamp>
void addPasses(support::EventMaker& maker, s64 from, s64 to, u32 seed, Stamp&& stamp) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<s64> late(3 * us, 40 * us);
  for (s64 now = from; now < to; now += 2 * ms) {
    maker.add(stamp(now + late(random)), expiry(now), Pid{0}, inInterrupt);
  }
}

TEST(ClockMap, IsTheIdentityForTheMonotonicClock) {
  support::EventMaker maker;
  maker.cpu(0);
  addPasses(maker, 100 * second, 101 * second, 1, [](s64 mono) { return mono; });
  const ClockMap map = ClockMap::fit(bufferOf(maker, "mono"), u8{64});
  const auto mono = map.mono({100'500'000'123}, Cpu{0});
  ASSERT_TRUE(mono);
  EXPECT_EQ(mono->value.value, 100'500'000'123);
  EXPECT_EQ(mono->error.value, 0);
  EXPECT_EQ(map.fitted().kind, "identity");
  EXPECT_THAT(map.fitted().notes, testing::IsEmpty());
}

TEST(ClockMap, SaysWhenStampsComeBeforeTheirOwnTime) {
  support::EventMaker maker;
  maker.cpu(0);
  s64 count = 0;
  addPasses(maker, 100 * second, 101 * second, 1,
            [&](s64 mono) { return mono - (++count % 100 == 0 ? 50 * us : 0); });
  const ClockMap map = ClockMap::fit(bufferOf(maker, "mono"), u8{64});
  EXPECT_EQ(map.fitted().kind, "identity");
  EXPECT_LT(map.fitted().leastResidual->value, 0);
  EXPECT_THAT(map.fitted().notes,
              testing::ElementsAre(testing::HasSubstr("before their own time")));
}

TEST(ClockMap, DoesNotBelieveAFalseName) {
  support::EventMaker maker;
  maker.cpu(0);
  addPasses(maker, 100 * second, 102 * second, 1, [](s64 mono) { return mono + 5 * second; });
  const ClockMap map = ClockMap::fit(bufferOf(maker, "mono"), u8{64});
  EXPECT_EQ(map.fitted().kind, "line");
  const auto mono = map.mono({106 * second}, Cpu{0});
  ASSERT_TRUE(mono);
  EXPECT_LE(std::abs(mono->value.value - 101 * second), mono->error.value);
  EXPECT_THAT(map.fitted().notes, testing::Contains(testing::HasSubstr("called mono")));
}

TEST(ClockMap, TakesBootTimeForMonotonicUntilAnySleep) {
  support::EventMaker maker;
  maker.cpu(0);
  addPasses(maker, 100 * second, 101 * second, 1, [](s64 mono) { return mono; });
  const ClockMap map = ClockMap::fit(bufferOf(maker, "boot"), u8{64});
  EXPECT_EQ(map.fitted().kind, "identity");
  EXPECT_EQ(map.mono({101 * second}, Cpu{0})->error.value, 0);
}

TEST(ClockMap, IsBlindWhereAClockSteps) {
  for (const s64 step : {700 * ms, -1'500 * ms}) {
    support::EventMaker maker;
    maker.cpu(0);
    const s64 border = 103 * second + 1;
    addPasses(maker, 100 * second, 106 * second, 7,
              [&](s64 mono) { return mono + calendar + (mono > border ? step : 0); });
    const ClockMap map = ClockMap::fit(bufferOf(maker, "tai"), u8{64});
    EXPECT_EQ(map.fitted().steps, 1U) << step;
    const std::vector<TimeSpan> blind = map.blindSpans();
    ASSERT_EQ(blind.size(), 1U) << step;
    const auto before = map.mono({calendar + 101 * second}, Cpu{0});
    const auto after = map.mono({calendar + 105 * second + step}, Cpu{0});
    ASSERT_TRUE(before && after) << step;
    EXPECT_LE(std::abs(before->value.value - 101 * second), before->error.value) << step;
    EXPECT_LE(std::abs(after->value.value - 105 * second), after->error.value) << step;
    const s64 middle = std::midpoint(blind[0].from.value, blind[0].to.value);
    EXPECT_FALSE(map.mono({middle}, Cpu{0}))
        << step << ": in the step, or times that were there twice";
    const auto there = map.trace({105 * second}, Cpu{0});
    ASSERT_TRUE(there) << step;
    EXPECT_LE(std::abs(there->value.value - (calendar + 105 * second + step)), there->error.value)
        << step;
  }
}

TEST(ClockMap, HasALineForEachCpuOfALocalClock) {
  support::EventMaker maker;
  for (const u16 cpu : {u16{0}, u16{1}, u16{2}}) {
    maker.cpu(cpu);
    if (cpu == 2) {
      maker.add(6 * second, expiry(101 * second), Pid{0}, inInterrupt);
      continue;
    }
    addPasses(maker, 100 * second, 103 * second, cpu + 1U, [&](s64 mono) {
      return mono - 95 * second + cpu * 300 * us + (mono - 100 * second) / 10'000;
    });
  }
  const ClockMap map = ClockMap::fit(bufferOf(maker, "local"), u8{64});
  EXPECT_EQ(map.fitted().kind, "line a CPU");
  for (const u16 cpu : {u16{0}, u16{1}}) {
    const s64 truth = 101 * second, stamp = 6 * second + cpu * 300 * us + 100 * us;
    const auto mono = map.mono({stamp}, Cpu{cpu});
    ASSERT_TRUE(mono) << cpu;
    EXPECT_LE(std::abs(mono->value.value - truth), mono->error.value) << cpu;
    EXPECT_LT(mono->error.value, 60 * us) << cpu;
  }
  EXPECT_FALSE(map.mono({6 * second}, Cpu{2})) << "one anchor and CPUs that differ";
  EXPECT_THAT(map.fitted().notes, testing::Contains(testing::HasSubstr("CPU 1")));
}

TEST(ClockMap, PutsRowsOfACounterBetweenTheReadingsAroundThem) {
  support::EventMaker maker;
  maker.cpu(0);
  for (s64 i = 0; i < 100; ++i) {
    maker.add(10 * i, expiry(50 * second + i * ms), Pid{0}, inInterrupt);
  }
  const ClockMap map = ClockMap::fit(bufferOf(maker, "counter"), u8{64});
  EXPECT_EQ(map.fitted().kind, "between anchors");
  EXPECT_FALSE(map.fitted().rate);
  for (const s64 count : {5, 10, 123, 500}) {
    const auto mono = map.mono({count}, Cpu{0});
    ASSERT_TRUE(mono) << count;
    const s64 from = 50 * second + count / 10 * ms;
    EXPECT_LE(std::abs(mono->value.value - from), mono->error.value) << count;
    EXPECT_LE(mono->error.value, 2 * ms) << count;
  }
  EXPECT_FALSE(map.mono({-1}, Cpu{0}));
  EXPECT_FALSE(map.mono({10'000}, Cpu{0}));
}

TEST(ClockMap, KnowsNothingWithoutExpiries) {
  support::EventMaker maker;
  maker.cpu(0).add(5, SoftirqRaise{1});
  const ClockMap map = ClockMap::fit(bufferOf(maker, "global"), u8{64});
  EXPECT_FALSE(map.mono({5}, Cpu{0}));
  EXPECT_FALSE(map.trace({5}, Cpu{0}));
  EXPECT_FALSE(map.hz());
  EXPECT_FALSE(map.jiffies(MonoTime{5}));
  EXPECT_FALSE(map.offset(ClockBase::Real, Row{0}));
  EXPECT_EQ(map.offset(ClockBase::MonoSoft, Row{0}), 0);
  EXPECT_EQ(map.fitted().kind, "none");
}

TEST(ClockMap, FollowsAClockThatIsSet) {
  support::EventMaker maker;
  maker.cpu(0);
  // Row 2i: a monotonic timer; row 2i+1: a REAL timer of the same pass.
  for (s64 i = 0; i < 200; ++i) {
    const s64 now = 100 * second + i * 10 * ms;
    const s64 offset = calendar + (i < 100 ? 0 : 700 * ms);
    maker.add(now + 5 * us, expiry(now), Pid{0}, inInterrupt);
    maker.add(now + 9 * us, expiry(now + offset, 0xffff888000002000), Pid{0}, inInterrupt);
  }
  const ClockMap map = ClockMap::fit(bufferOf(maker, "mono"), u8{64});
  ASSERT_EQ(map.epochs(ClockBase::Real).size(), 2U);
  EXPECT_EQ(map.offset(ClockBase::Real, Row{0}), calendar) << "before the first reading";
  EXPECT_EQ(map.offset(ClockBase::RealSoft, Row{199}), calendar);
  EXPECT_EQ(map.offset(ClockBase::Real, Row{200}), Known<s64>{}) << "between the two";
  EXPECT_EQ(map.offset(ClockBase::Real, Row{201}), calendar + 700 * ms);
  EXPECT_EQ(map.boundedOffset(ClockBase::Real, Row{399})->error.value, 0);
  EXPECT_EQ(map.offset(ClockBase::Tai, Row{201}), Known<s64>{});
}

TEST(ClockMap, DoesNotTakeAnInterruptInsideASoftirqForItsPass) {
  support::EventMaker maker;
  maker.cpu(0);
  constexpr Context inSoftirq{0x10, 0};
  // The softirq reads the clock, an interrupt reads it 1 ms later, then the softirq goes on with
  // its own reading.
  for (s64 i = 0; i < 50; ++i) {
    const s64 soft = 100 * second + i * 10 * ms, hard = soft + ms;
    maker.add(soft + 5 * us, expiry(soft), Pid{0}, inSoftirq);
    maker.add(hard + 5 * us, expiry(hard), Pid{0}, inInterrupt);
    maker.add(hard + 50 * us, expiry(soft + calendar, 0xffff888000002000), Pid{0}, inSoftirq);
  }
  const ClockMap map = ClockMap::fit(bufferOf(maker, "mono"), u8{64});
  ASSERT_EQ(map.epochs(ClockBase::Real).size(), 1U);
  EXPECT_EQ(map.offset(ClockBase::Real, Row{0}), calendar);
  EXPECT_EQ(map.boundedOffset(ClockBase::Real, Row{0})->error.value, 0);
}

TEST(ClockMap, BoundsAnOffsetThatIsSeenAlone) {
  support::EventMaker maker;
  maker.cpu(0);
  addPasses(maker, 100 * second, 101 * second, 3, [](s64 mono) { return mono; });
  maker.add(101 * second + 20 * us, expiry(101 * second + calendar), Pid{0}, inInterrupt);
  const ClockMap map = ClockMap::fit(bufferOf(maker, "mono"), u8{64});
  const auto offset = map.boundedOffset(ClockBase::Real, Row{0});
  ASSERT_TRUE(offset);
  EXPECT_LE(std::abs(offset->value - calendar), offset->error.value) << offset->value - calendar;
  EXPECT_LT(offset->error.value, 50 * us);
}

/// HZ of the recordings as their READMEs give it; of all others 250.
const std::vector<std::pair<std::string, u32>>& unusualHz() {
  static const std::vector<std::pair<std::string, u32>> table{
      {"01-idle-6.12-hz1000.dat", 1000},
      {"05-tickwake-rtfault-stock.dat", 1000},
      {"05-tickwake-rtfault.dat", 1000},
      {"06-lost-rt-stock.dat", 1000},
      {"06-lost-rt.dat", 1000},
      {"07-wakestorm-rthard-stock.dat", 1000},
      {"07-wakestorm-rthard.dat", 1000},
      {"15-nohzfull.dat", 1000},
      {"02-ncm-e2-double.dat", 100},
      {"02-ncm-e2-stock.dat", 100},
      {"04-stalebase-hz100-stock.dat", 100},
      {"04-stalebase-hz100.dat", 100},
      {"09-hotplug-e2.dat", 100},
      {"16-posix-e2.dat", 100},
  };
  return table;
}

std::vector<std::filesystem::path> allRecordings(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const char* part : {".", "arch", "formats", "text"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder / part)) {
      if (entry.path().extension() == ".dat") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Rows of timer events whose fields tell HZ.
u32 tellingRows(const EventStore& events) {
  u32 rows = 0;
  for (u32 i = 0; i < events.size(); ++i) {
    const EventKind kind = events.kind(Row{i});
    rows += kind == kindOf<HrtimerStart> || kind == kindOf<HrtimerExpireEntry> ||
            kind == kindOf<TimerStart> || kind == kindOf<TimerExpireEntry>;
  }
  return rows;
}

void expectConsistent(const ClockMap& map, const Buffer& buffer, u8 bits, const std::string& what) {
  const EventStore& events = buffer.events;
  const u32 step = std::max(1U, events.size() / 20'000);
  const u64 mask = bits == 32 ? 0xffffffffU : ~u64{0};
  for (u32 i = 0; i < events.size(); i += step) {
    const Row row{i};
    const auto mono = map.mono(events.time(row), events.cpu(row));
    if (!mono) continue;
    if (const auto trace = map.trace(mono->value, events.cpu(row));
        trace && map.fitted().kind != "between anchors") {
      const s64 off = std::abs(trace->value.value - events.time(row).value);
      ASSERT_LE(off, trace->error.value + 1) << what << " row " << i;
    }
    if (events.kind(row) == kindOf<HrtimerExpireEntry>) {
      const s64 now = events.as<HrtimerExpireEntry>(row).now.value;
      if (!isCalendarTime(now) && now < mono->value.value + second) {
        ASSERT_LE(now, mono->value.value + mono->error.value) << what << " row " << i;
      }
    }
    if (events.kind(row) == kindOf<TimerStart> && events.type(row).recorded(4)) {
      const u64 seen = static_cast<u64>(events.as<TimerStart>(row).now.value);
      if (const auto jiffies = map.jiffies(*mono)) {
        ASSERT_LE(jiffies->earliest & mask, seen) << what << " row " << i;
        ASSERT_GE(jiffies->latest & mask, seen) << what << " row " << i;
        const auto boundary = map.monoOf(seen);
        ASSERT_TRUE(boundary) << what << " row " << i;
        ASSERT_LE(boundary->value, mono->value.value + mono->error.value) << what << " row " << i;
      }
    }
  }
}

TEST(ClockMapOfRecordings, HasTheHzOfTheirReadmesAndHoldsForTheirRows) {
  TICKSCOPE_NEED_TRACES_FOLDER(folder);
  for (const std::filesystem::path& path : allRecordings(folder)) {
    const std::string name = path.filename().string();
    // Its times were made by a script; they fit no clock.
    if (name == "made-stamps-high.dat") continue;
    const Recording recording = support::imported(path.string(), 2);
    u32 expected = 250;
    for (const auto& [file, hz] : unusualHz()) {
      if (name == file) expected = hz;
    }
    for (const Buffer& buffer : recording.buffers) {
      const std::string what = name + " " + buffer.name;
      const ClockMap map = ClockMap::fit(buffer, wordBits(recording));
      const auto hz = map.hz();
      if (tellingRows(buffer.events) >= 50) {
        ASSERT_TRUE(hz) << what << ": HZ unknown, expected " << expected;
      }
      if (hz) {
        EXPECT_EQ(hz->hz, expected) << what << ": " << hz->evidence;
        EXPECT_FALSE(hz->contradicted) << what << ": " << hz->evidence;
      }
      // A clock was set only where the load did it; anything else is a pass that was mistaken for
      // another.
      for (const ClockBase base : {ClockBase::Real, ClockBase::Boot, ClockBase::Tai}) {
        const std::size_t most = name == "17-setclock.dat" && base == ClockBase::Real ? 3 : 1;
        EXPECT_LE(map.epochs(base).size(), most) << what << " base " << number(base);
      }
      expectConsistent(map, buffer, wordBits(recording), what);
      if (HasFatalFailure()) return;
    }
  }
}

/// Mono of the row less expires, of every expiry of the tick that was armed in the recording.
std::vector<s64> ticksLate(const Recording& recording, const ClockMap& map) {
  const EventStore& events = recording.buffers.front().events;
  std::vector<s64> late;
  Known<s64> expires[2];
  for (u32 i = 0; i < events.size(); ++i) {
    const Row row{i};
    const std::size_t cpu = number(events.cpu(row));
    if (cpu > 1) continue;
    if (events.kind(row) == kindOf<HrtimerStart>) {
      const auto start = events.as<HrtimerStart>(row);
      if (start.function == map.jiffyMap().tickFunction()) expires[cpu] = start.expires.value;
    } else if (events.kind(row) == kindOf<HrtimerExpireEntry>) {
      const auto entry = events.as<HrtimerExpireEntry>(row);
      if (entry.function != map.jiffyMap().tickFunction() || !expires[cpu]) continue;
      const auto mono = map.mono(events.time(row), events.cpu(row));
      if (mono) late.push_back(mono->value.value - *expires[cpu]);
      expires[cpu].reset();
    }
  }
  std::sort(late.begin(), late.end());
  return late;
}

TEST(ClockMapOfRecordings, AgreesBetweenTenClocksOfOneLoad) {
  TICKSCOPE_NEED_RECORDING(reference, "12-clocks-mono.dat");
  const Recording first = support::imported(reference);
  const ClockMap mono = ClockMap::fit(first.buffers.front(), u8{64});
  const std::vector<s64> expected = ticksLate(first, mono);
  ASSERT_GT(expected.size(), 50U);
  for (const std::string clock :
       {"boot", "counter", "global", "local", "mono_raw", "perf", "tai", "uptime", "x86-tsc"}) {
    TICKSCOPE_NEED_RECORDING(path, "12-clocks-" + clock + ".dat");
    const Recording recording = support::imported(path);
    const Buffer& buffer = recording.buffers.front();
    const ClockMap map = ClockMap::fit(buffer, u8{64});
    ASSERT_TRUE(map.hz()) << clock;
    EXPECT_EQ(map.hz()->hz, mono.hz()->hz) << clock;
    EXPECT_EQ(map.jiffyMap().phase(), mono.jiffyMap().phase()) << clock;
    const std::vector<s64> late = ticksLate(recording, map);
    ASSERT_GT(late.size(), 50U) << clock;
    s64 error = 0;
    for (u32 i = 0; i < buffer.events.size(); i += 20) {
      const auto at = map.mono(buffer.events.time(Row{i}), buffer.events.cpu(Row{i}));
      if (at) error = std::max(error, at->error.value);
    }
    for (const double part : {0.1, 0.5, 0.75}) {
      const auto of = [&](const std::vector<s64>& all) {
        return all[static_cast<std::size_t>(part * static_cast<double>(all.size()))];
      };
      EXPECT_LE(std::abs(of(late) - of(expected)), error + us)
          << clock << ": lateness of ticks at " << part << ": " << of(late)
          << " ns, by the clock mono " << of(expected) << " ns";
    }
    if (clock != "counter" && clock != "uptime") {
      EXPECT_LT(error, 3 * us) << clock;
    }
  }
}

TEST(ClockMapOfRecordings, FindsTheTickOfOtherMachines) {
  for (const std::string name : {"arch/arch-armhf.dat", "arch/arch-ppc64el-v7none.dat",
                                 "arch/arch-s390x-v6.dat", "formats/base-v7-zstd.dat"}) {
    TICKSCOPE_NEED_RECORDING(path, name);
    const Recording recording = support::imported(path);
    const ClockMap map = ClockMap::fit(recording.buffers.front(), wordBits(recording));
    ASSERT_TRUE(map.hz()) << name;
    EXPECT_EQ(map.hz()->hz, 250U) << name << ": " << map.hz()->evidence;
    EXPECT_TRUE(map.jiffyMap().onGrid()) << name;
    expectConsistent(map, recording.buffers.front(), wordBits(recording), name);
  }
}

TEST(ClockMapOfRecordings, FindsTheTwoTimesThatAClockWasSet) {
  TICKSCOPE_NEED_RECORDING(path, "17-setclock.dat");
  const Recording recording = support::imported(path);
  const ClockMap map = ClockMap::fit(recording.buffers.front(), u8{64});
  const auto& epochs = map.epochs(ClockBase::Real);
  ASSERT_EQ(epochs.size(), 3U);
  EXPECT_NEAR(static_cast<double>(epochs[1].offset - epochs[0].offset), 0.7e9, 5e3);
  EXPECT_NEAR(static_cast<double>(epochs[2].offset - epochs[1].offset), -1.5e9, 5e3);
}

}  // namespace
}  // namespace tickscope
