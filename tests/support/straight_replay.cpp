// SPDX-License-Identifier: GPL-3.0-or-later
// Writes both states as lines and looks for the first that differs.
#include "tests/support/straight_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <set>
#include <sstream>

#include "core/model/replay.h"
#include "core/model/seed_evidence.h"

namespace tickscope::support {
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

  /// Whether the last row of the CPU is a call with a value: whose it is, and what it tells of expires_next, only the next
  /// operation decides. The tables then say it of the call's row.
  bool callWaits(Cpu cpu) const {
    const EventStore& events = analysis.events();
    const auto rows = events.rowsOf(cpu);
    const auto behind = std::ranges::upper_bound(rows, row);
    return behind != rows.begin() && events.kind(*(behind - 1)) == kindOf<ProgramEventProbe>;
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
      const bool open = callWaits(cpu.cpu);
      text += fmt::format(
          "cpu {} online {} interrupt {} softirq {} expires_next {} soft {} programmed {}\n",
          number(cpu.cpu), cpu.online, shown(cpu.inInterrupt), shown(cpu.softirqActivated),
          open ? "open" : shown(cpu.expiresNext), open ? "open" : shown(cpu.softirqExpiresNext),
          shown(cpu.programmed));
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

  static u32 seededIn(const SystemState& state) {
    u32 count = 0;
    const auto add = [&](const std::vector<StateTimer>& timers) {
      for (const StateTimer& timer : timers) {
        count += !timer.armedRow && (timer.flags & ArmedSpan::Seeded) ? 1 : 0;
      }
    };
    for (const CpuState& cpu : state.cpus) std::ranges::for_each(cpu.hrtimers, add);
    add(state.ownerUnknown);
    return count;
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

}  // namespace

StateComparison compareStates(const Analysis& analysis, unsigned seed, u32 rows) {
  StateComparison made;
  const EventStore& events = analysis.events();
  if (events.empty()) return made;
  std::mt19937 random(seed);
  std::uniform_int_distribution<u32> anyRow(0, events.size() - 1);
  std::set<u32> chosen{0, events.size() - 1};
  for (const Checkpoint& checkpoint : analysis.tables.checkpoints) {
    const u32 row = number(checkpoint.row);
    for (const u32 near : {row - 1, row, row + 1}) {
      if (near < events.size()) chosen.insert(near);
    }
  }
  while (chosen.size() < std::min(events.size(), rows)) chosen.insert(anyRow(random));

  TimerListDump armedBefore;
  if (analysis.seeded) {
    armedBefore =
        stillArmed(*analysis.timerList, *analysis.recording, analysis.opened(), analysis.clocks);
  }
  Replay replay({.recording = *analysis.recording,
                 .buffer = analysis.opened(),
                 .profile = analysis.profile,
                 .clocks = analysis.clocks,
                 .seed = analysis.seeded ? &armedBefore : nullptr,
                 .filtered = analysis.filtered});
  made.rows = static_cast<u32>(chosen.size());
  for (u32 row = 0; row < events.size(); ++row) {
    replay.step(Row{row});
    if (!chosen.contains(row)) continue;
    const Reader reader{analysis, Row{row}};
    const SystemState read = stateAt(analysis, Row{row});
    made.seededTimers += Reader::seededIn(read);
    const std::string difference =
        firstDifference(reader.textOf(replay.snapshot()), reader.textOf(read));
    if (difference.empty()) continue;
    if (made.differing++ < 4) made.first += fmt::format("row {}\n{}\n", row, difference);
  }
  return made;
}

}  // namespace tickscope::support
