// SPDX-License-Identifier: GPL-3.0-or-later
// The state read back from the tables equals the live state of a straight replay, row for row.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <sstream>

#include "core/model/replay.h"
#include "tests/support/analysed.h"
#include "tests/support/imported.h"
#include "tests/support/recordings.h"

namespace tickscope {
namespace {

template <class T>
std::string shown(const Known<T>& value) {
  if (!value) return "?";
  if constexpr (std::is_same_v<T, MonoTime>) {
    return fmt::format("{}", value->value);
  } else if constexpr (std::is_enum_v<T>) {
    return fmt::format("{}", number(*value));
  } else {
    return fmt::format("{}", *value);
  }
}

struct Reader {
  const Analysis& analysis;
  Row row;

  /// Timers without an arm row that no dump told are in stateAt() only: a straight replay does not know them yet. Those
  /// that were armed when events were lost are unsure: stateAt() shows them marked, the model no longer holds them.
  bool isInStateAtOnly(const StateTimer& timer) const {
    if (!timer.armedRow) return !(timer.flags & ArmedSpan::Seeded);
    const ArmedSpan& span = analysis.tables.spans[number(timer.span)];
    if (!span.has(ArmedSpan::Uncertain)) return false;
    return std::ranges::any_of(analysis.events().losses(), [&](const Loss& loss) {
      return loss.next && *loss.next > span.armed && *loss.next <= row &&
             (loss.cpu == span.owner || span.owner == noCpu);
    });
  }

  static std::vector<StateTimer> bySpan(std::vector<StateTimer> timers) {
    std::ranges::sort(timers, {}, &StateTimer::span);
    return timers;
  }

  std::string linesOf(std::vector<StateTimer> timers, const std::string& where) const {
    std::erase_if(timers, [&](const StateTimer& timer) { return isInStateAtOnly(timer); });
    std::string text;
    for (const StateTimer& timer : timers) {
      text += fmt::format(
          "{} span {} timer {} at {:x} expires {} second {} index {} armed {} by {}\n", where,
          number(timer.span), number(timer.timer), number(timer.address), shown(timer.expires),
          shown(timer.second), timer.bucketIndex, shown(timer.armedRow), shown(timer.armedBy));
    }
    return text;
  }

  /// A line a timer and a scalar: hrtimers in the order of their tree, others by span. Blind spots are known at the end only, so they are left out.
  std::string textOf(const SystemState& state) const {
    std::string text;
    for (const CpuState& cpu : state.cpus) {
      text += fmt::format(
          "cpu {} online {} interrupt {} softirq {} expires_next {} soft {} programmed {}\n",
          number(cpu.cpu), cpu.online, cpu.inInterrupt, cpu.softirqActivated,
          shown(cpu.expiresNext), shown(cpu.softirqExpiresNext), shown(cpu.programmed));
      for (const WheelBaseState& base : cpu.wheel) {
        const auto kind = static_cast<unsigned>(base.kind);
        text += fmt::format("cpu {} base {} clk {} next_expiry {}\n", number(cpu.cpu), kind,
                            shown(base.clk), shown(base.nextExpiry));
        text += linesOf(bySpan(base.timers), fmt::format("cpu {} base {}", number(cpu.cpu), kind));
      }
      for (std::size_t i = 0; i < cpu.hrtimers.size(); ++i) {
        text += linesOf(cpu.hrtimers[i], fmt::format("cpu {} tree {}", number(cpu.cpu), i));
      }
    }
    return text + linesOf(bySpan(state.ownerUnknown), "no cpu");
  }
};

std::string firstDifference(const std::string& straight, const std::string& read) {
  std::istringstream a(straight), b(read);
  std::string lineA, lineB;
  while (true) {
    const bool moreA = static_cast<bool>(std::getline(a, lineA));
    const bool moreB = static_cast<bool>(std::getline(b, lineB));
    if (!moreA && !moreB) return "";
    if (!moreA) lineA = "(end)";
    if (!moreB) lineB = "(end)";
    if (lineA != lineB) return "  replay  " + lineA + "\n  stateAt " + lineB;
  }
}

void expectEqualStates(const std::string& path, unsigned seed) {
  const auto recording = std::make_shared<const Recording>(support::imported(path));
  const Analysis analysis = support::analysed(recording);
  const EventStore& events = analysis.events();
  ASSERT_GT(events.size(), 0U) << path;
  std::mt19937 random(seed);
  std::uniform_int_distribution<u32> anyRow(0, events.size() - 1);
  std::set<u32> rows{0, events.size() - 1};
  for (const Checkpoint& checkpoint : analysis.tables.checkpoints) {
    const u32 row = number(checkpoint.row);
    for (const u32 near : {row - 1, row, row + 1}) {
      if (near < events.size()) rows.insert(near);
    }
  }
  while (rows.size() < std::min<std::size_t>(events.size(), 400)) rows.insert(anyRow(random));

  Replay replay({.recording = *recording,
                 .buffer = analysis.opened(),
                 .profile = analysis.profile,
                 .clocks = analysis.clocks,
                 .filtered = analysis.filtered});
  unsigned differing = 0;
  std::string first;
  for (u32 row = 0; row < events.size(); ++row) {
    replay.step(Row{row});
    if (!rows.contains(row)) continue;
    const Reader reader{analysis, Row{row}};
    const std::string difference = firstDifference(reader.textOf(replay.snapshot()),
                                                   reader.textOf(stateAt(analysis, Row{row})));
    if (difference.empty()) continue;
    if (differing++ < 4) first += fmt::format("row {}\n{}\n", row, difference);
  }
  EXPECT_EQ(differing, 0U) << path << ": of " << rows.size() << " rows (seed " << seed << ")\n"
                           << first;
}

TEST(StateOfBundledRecordings, EqualsAStraightReplay) {
  for (const char* name : {"base-v7-zstd.dat", "arch-s390x-v6.dat", "lost.dat", "arch-armhf.dat"}) {
    expectEqualStates((support::bundledRecordings() / name).string(), 20251);
  }
}

TEST(StateOfLabRecordings, EqualsAStraightReplay) {
  TICKSCOPE_NEED_TRACES_FOLDER(folder);
  for (const char* name :
       {"01-idle-6.12-hz1000.dat", "02-ncm-stock.dat", "02-ncm-double.dat", "02-ncm-e2-stock.dat",
        "03-softexp-stale.dat", "04-stalebase.dat", "06-lost-rt.dat", "07-wakestorm-rt.dat",
        "09-hotplug.dat", "13-lost-events.dat", "15-nohzfull.dat", "17-setclock.dat",
        "21-reinit.dat", "23-lowres-periodic.dat"}) {
    expectEqualStates((folder / name).string(), 20252);
  }
}

}  // namespace
}  // namespace tickscope
