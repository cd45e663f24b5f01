// SPDX-License-Identifier: GPL-3.0-or-later
// One load recorded with each trace clock: rate of the tick, lateness and lives of timers agree within what the maps state.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <vector>

#include "tests/support/analysed.h"
#include "tests/support/recordings.h"

namespace tickscope {
namespace {

/// How late callbacks of one function began: from softexpires to the row of the entry, by the map.
struct Lateness {
  std::vector<s64> late;  ///< ns, ascending
  [[nodiscard]] s64 middle() const { return late[late.size() / 2]; }
};

struct Seen {
  u32 hz = 0;
  s64 period = 0;               ///< least positive step of the tick's expiry, ns
  std::map<SpanEnd, u64> ends;  ///< spans of the test's own timers
  std::map<std::string, Lateness> callbacks;
  s64 worstError = 0;
};

Seen seenIn(const Analysis& analysis) {
  Seen seen;
  if (const auto hz = analysis.clocks.hz()) seen.hz = hz->hz;
  const EventStore& events = analysis.events();
  const Symbols& symbols = *analysis.recording->metadata.symbols;
  const auto tick = analysis.clocks.jiffyMap().tickFunction();
  std::map<u32, s64> lastTick;
  for (const ArmedSpan& span : analysis.tables.spans) {
    const ModelTimer& timer = analysis.tables.timers[number(span.timer)];
    if (tick && timer.function == *tick && span.armed != noRow) {
      const auto before = lastTick.find(number(span.timer));
      if (before != lastTick.end() && span.expires > before->second) {
        const s64 step = span.expires - before->second;
        seen.period = seen.period == 0 ? step : std::min(seen.period, step);
      }
      lastTick[number(span.timer)] = span.expires;
    }
    const auto symbol = symbols.at(timer.function);
    const std::string name = symbol ? std::string(symbol->name) : "";
    if (name.starts_with("lab_")) ++seen.ends[span.end];
    if (timer.of != TimerClass::Hrtimer || span.end != SpanEnd::Expired || span.armed == noRow ||
        !span.secondKnown || hardOf(span.clockBase()) != ClockBase::Mono) {
      continue;
    }
    const auto at = analysis.clocks.mono(events.time(span.ended), events.cpu(span.ended));
    if (!at) continue;
    seen.callbacks[name].late.push_back(at->value.value - span.second);
    seen.worstError = std::max(seen.worstError, at->error.value);
  }
  for (auto& [name, lateness] : seen.callbacks) std::ranges::sort(lateness.late);
  return seen;
}

std::string textOf(const Seen& seen) {
  std::string text =
      fmt::format("HZ {} period {} error {}; ends", seen.hz, seen.period, seen.worstError);
  for (const auto& [end, count] : seen.ends)
    text += fmt::format(" {}:{}", static_cast<int>(end), count);
  for (const auto& [name, lateness] : seen.callbacks) {
    text += fmt::format("; {} x{} middle {} most {}", name, lateness.late.size(), lateness.middle(),
                        lateness.late.back());
  }
  return text;
}

/// What two runs of the load differ by in themselves: the exact clocks mono and boot by 0.1 us.
constexpr s64 runs = 1000;

TEST(ClocksOfOneLoad, GiveTheSameFigures) {
  TICKSCOPE_NEED_TRACES_FOLDER(folder);
  const auto recorded = [&](std::string_view clock) {
    return seenIn(
        support::analysedFile((folder / fmt::format("12-clocks-{}.dat", clock)).string()));
  };
  const Seen mono = recorded("mono");
  EXPECT_EQ(mono.hz, 250U);
  EXPECT_EQ(mono.period, 4'000'000);
  EXPECT_EQ(mono.worstError, 0);
  EXPECT_GT(mono.ends.at(SpanEnd::Expired), 0U);
  for (const char* clock :
       {"boot", "tai", "mono_raw", "local", "global", "perf", "x86-tsc", "uptime", "counter"}) {
    const Seen seen = recorded(clock);
    SCOPED_TRACE(fmt::format("mono:  {}\n{}: {}", textOf(mono), clock, textOf(seen)));
    EXPECT_EQ(seen.hz, mono.hz);
    EXPECT_EQ(seen.period, mono.period);
    EXPECT_EQ(seen.ends, mono.ends);
    const bool hasRate =
        std::string_view(clock) != "uptime" && std::string_view(clock) != "counter";
    if (hasRate) {
      EXPECT_LE(seen.worstError, 5'000) << "more than the usual half-width of a map";
    }
    for (const auto& [name, lateness] : seen.callbacks) {
      ASSERT_TRUE(mono.callbacks.contains(name)) << name;
      const Lateness& exact = mono.callbacks.at(name);
      EXPECT_LE(std::abs(lateness.middle() - exact.middle()), seen.worstError + runs) << name;
      EXPECT_GE(lateness.late.front(), -seen.worstError) << name << " runs before its time";
      if (!name.starts_with("lab_") && name != "hrtimer_wakeup") continue;
      // The tick's own depends on what else the two runs did, so that its longest is not compared.
      EXPECT_EQ(lateness.late.size(), exact.late.size()) << name;
      EXPECT_LE(std::abs(lateness.late.back() - exact.late.back()), seen.worstError + runs) << name;
    }
  }
}

}  // namespace
}  // namespace tickscope
