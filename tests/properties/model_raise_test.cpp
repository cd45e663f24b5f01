// SPDX-License-Identifier: GPL-3.0-or-later
// A tick that raises TIMER without need, put into healthy recordings: the model names the raises and nothing else.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/support/analysed.h"
#include "tests/support/edited_recording.h"
#include "tests/support/recordings.h"

namespace tickscope {
namespace {

using support::EditedRecording;
using Event = EditedRecording::Event;

constexpr u64 hardIrq = 0x08, softIrq = 0x10, timerVector = 1;

/// Healthy recordings of kernels that raise TIMER when a timer is due (SR2, SR3), with a CPU that ticks for long.
struct Ticking {
  const char* name;
  u32 cpu;
  RaiseRule rule;
  u64 named;  ///< at least so many of the raises, as a run after a deletion is explained, and the first of a series wait
};
constexpr Ticking ticking[] = {{"24-hres-nohz-off.dat", 0, RaiseRule::SR2, 60},
                               {"05-tickwake-stock.dat", 1, RaiseRule::SR2, 85},
                               {"05-tickwake-rtfault-stock.dat", 1, RaiseRule::SR3, 60},
                               {"05-tickwake-rtfault-stock.dat", 0, RaiseRule::SR3, 60},
                               {"15-nohzfull.dat", 0, RaiseRule::SR3, 60}};

/// The event of that name and vector nearest before the place, else behind it; all recordings here have some.
const Event& sample(const EditedRecording& edited, std::size_t place, std::string_view name) {
  const auto fits = [&](const Event& event) {
    return edited.is(event, name) && edited.get(event, "vec") == timerVector;
  };
  for (std::size_t at = place; at-- > 0;) {
    if (fits(edited.events[at])) return edited.events[at];
  }
  return edited.events.at(edited.find(place, fits));
}

/// A copy of a row that TIMER raises, enters or leaves, as the task of `beside` would have recorded it.
Event like(const EditedRecording& edited, const Event& from, const Event& beside) {
  Event copy = from;
  copy.cpu = beside.cpu;
  copy.time = beside.time;
  copy.lossBefore = false;
  edited.set(copy, "common_pid", edited.get(beside, "common_pid"));
  return copy;
}

/// Timer interrupts of a CPU as places of their rows: from local_timer_entry to local_timer_exit.
struct Interrupt {
  std::size_t entry, exit;
};

/// The first `count` interrupts of the CPU from `from` on that run the tick, do not raise TIMER themselves and interrupt no
/// softirq.
std::vector<Interrupt> quietTicks(const EditedRecording& edited, Address tick, u32 cpu,
                                  std::size_t from, std::size_t count) {
  std::vector<Interrupt> found;
  std::size_t entry = edited.events.size();
  bool ran = false, raised = false;
  for (std::size_t at = from; at < edited.events.size() && found.size() < count; ++at) {
    const Event& event = edited.events[at];
    if (event.cpu != cpu) continue;
    if (edited.is(event, "local_timer_entry")) {
      entry = at;
      ran = false;
      raised = (edited.get(event, "common_flags") & softIrq) != 0;
    } else if (edited.is(event, "hrtimer_expire_entry")) {
      ran = ran || edited.get(event, "function") == number(tick);
    } else if (edited.is(event, "softirq_raise") && edited.get(event, "vec") == timerVector) {
      raised = true;
    } else if (edited.is(event, "local_timer_exit")) {
      if (entry < at && ran && !raised) found.push_back({entry, at});
      entry = edited.events.size();
    }
  }
  return found;
}

/// Puts a raise into each interrupt and an empty run behind it.
void addEmptyRuns(EditedRecording& edited, const std::vector<Interrupt>& interrupts) {
  std::map<std::size_t, std::array<Event, 3>> added;
  for (const Interrupt& interrupt : interrupts) {
    const Event& exit = edited.events[interrupt.exit];
    Event raise = like(edited, sample(edited, interrupt.exit, "softirq_raise"), exit);
    edited.set(raise, "common_flags", edited.get(exit, "common_flags") | hardIrq);
    added[interrupt.exit] = {std::move(raise),
                             like(edited, sample(edited, interrupt.exit, "softirq_entry"), exit),
                             like(edited, sample(edited, interrupt.exit, "softirq_exit"), exit)};
  }
  std::vector<Event> events;
  events.reserve(edited.events.size() + 3 * added.size());
  for (std::size_t at = 0; at < edited.events.size(); ++at) {
    const auto here = added.find(at);
    if (here != added.end()) events.push_back(here->second[0]);
    events.push_back(std::move(edited.events[at]));
    if (here == added.end()) continue;
    events.push_back(here->second[1]);
    events.push_back(here->second[2]);
  }
  edited.events = std::move(events);
}

/// How many spans end how, by SpanEnd.
std::map<SpanEnd, u64> endsOf(const ReplayTables& tables) {
  std::map<SpanEnd, u64> counts;
  for (const ArmedSpan& span : tables.spans) ++counts[span.end];
  return counts;
}

std::string violatedText(const InvariantCounts& counts) {
  std::string text;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i].violated > 0) text += fmt::format("I{:02}:{} ", i, counts[i].violated);
  }
  return text;
}

TEST(MutationM10, RaisesOfTimerWithoutNeedAreNamed) {
  TICKSCOPE_NEED_TRACES_FOLDER(folder);
  constexpr std::size_t ticks = 100;
  for (const Ticking& one : ticking) {
    const std::string path = (folder / one.name).string();
    EditedRecording edited(path);
    const Analysis before = support::analysed(edited.recording());
    ASSERT_TRUE(before.tables.discrepancies.empty()) << path << "\n"
                                                     << support::discrepancyLines(before);
    ASSERT_EQ(before.profile.raise.judged(), one.rule) << path;
    const auto tick = before.clocks.jiffyMap().tickFunction();
    ASSERT_TRUE(tick) << path;
    const auto chosen = quietTicks(edited, *tick, one.cpu, edited.events.size() / 4, ticks);
    ASSERT_EQ(chosen.size(), ticks) << path;
    const auto from = static_cast<s64>(edited.events[chosen.front().entry].time);
    const auto to = static_cast<s64>(edited.events[chosen.back().exit].time);
    addEmptyRuns(edited, chosen);
    const Analysis analysis = support::analysed(edited.recording());
    const auto counts = support::discrepancyCounts(analysis.tables);
    const InvariantCounts invariants = invariantsOf(analysis, activityOf(analysis, 1));
    SCOPED_TRACE(
        fmt::format("{}: TIMER raised in {} ticks of CPU {} from {} to {}; expected X17 and I12, "
                    "found {}, {}\n{}",
                    path, ticks, one.cpu, from, to, support::textOf(counts),
                    violatedText(invariants), support::discrepancyLines(analysis)));
    ASSERT_TRUE(counts.contains(DiscrepancyKind::RaiseRule));
    EXPECT_EQ(counts.size(), 1U);
    const u64 named = counts.at(DiscrepancyKind::RaiseRule);
    fmt::print("{}: {} of {} raises without need named\n", path, named, ticks);
    EXPECT_GE(named, one.named);
    EXPECT_EQ(violatedText(invariants), fmt::format("I12:{} ", named));
    for (const Discrepancy& found : analysis.tables.discrepancies) {
      EXPECT_EQ(number(found.cpu), one.cpu) << number(found.at);
      const s64 time = analysis.events().time(found.at).value;
      EXPECT_TRUE(time >= from && time <= to) << time;
    }
    EXPECT_EQ(endsOf(analysis.tables), endsOf(before.tables)) << "lives of timers have changed";
  }
}

}  // namespace
}  // namespace tickscope
