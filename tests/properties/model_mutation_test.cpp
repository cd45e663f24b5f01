// SPDX-License-Identifier: GPL-3.0-or-later
// One thing is changed in a healthy recording: the model names exactly that.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>

#include "core/model/wheel_geometry.h"
#include "tests/support/analysed.h"
#include "tests/support/edited_recording.h"
#include "tests/support/recordings.h"

namespace tickscope {
namespace {

using support::EditedRecording;
using Event = EditedRecording::Event;
using enum DiscrepancyKind;

constexpr unsigned seed = 40193;
constexpr int rounds = 8;

/// Changes the recording near its place `from`. False: nothing there is fit for it.
using Mutation = std::function<bool(EditedRecording&, std::size_t from, std::set<s64>& times)>;

/// Each round changes one thing behind a random place of the latter two thirds, where every timer is known. The kind must
/// appear, others at most within three rows of a changed time.
/// With `invariant`: its violation is counted as well, once a round.
void expectNamed(const std::string& path, DiscrepancyKind kind, const Mutation& mutate,
                 std::size_t invariant = 0) {
  std::mt19937 random(seed);
  const EditedRecording original(path);
  int named = 0, changed = 0;
  for (int round = 0; round < rounds; ++round) {
    EditedRecording edited = original;
    const std::size_t third = edited.events.size() / 3;
    const std::size_t from = third + random() % third;
    std::set<s64> times;
    if (!mutate(edited, from, times)) continue;
    ++changed;
    const Analysis analysis = support::analysed(edited.recording());
    const EventStore& events = analysis.events();
    std::set<u32> near;
    for (const s64 time : times) {
      const u32 row = events.lowerBound({time});
      for (u32 r = row < 3 ? 0 : row - 3; r <= row + 3; ++r) near.insert(r);
    }
    const auto counts = support::discrepancyCounts(analysis.tables);
    const bool seen = counts.contains(kind);
    named += seen;
    const bool others = std::ranges::any_of(
        analysis.tables.discrepancies,
        [&](const Discrepancy& d) { return d.kind != kind && !near.contains(number(d.at)); });
    EXPECT_TRUE(seen && !others) << path << ": " << codeOf(kind) << " expected, changed near place "
                                 << from << " at time " << (times.empty() ? 0 : *times.begin())
                                 << " (seed " << seed << ", round " << round << "), found "
                                 << support::textOf(counts) << "\n"
                                 << support::discrepancyLines(analysis);
    if (invariant == 0) continue;
    const u64 violated = invariantsOf(analysis, activityOf(analysis, 1))[invariant].violated;
    EXPECT_EQ(violated, 1U) << path
                            << fmt::format(": I{:02} expected once, changed at time ", invariant)
                            << (times.empty() ? 0 : *times.begin()) << " (seed " << seed
                            << ", round " << round << ")";
  }
  fmt::print("{}: {} of {} changes named {}\n", path, named, changed, codeOf(kind));
  EXPECT_GT(changed, 0) << path;
}

std::string healthy() { return (support::bundledRecordings() / "base-v7-zstd.dat").string(); }

std::size_t nextOfCpu(const EditedRecording& edited, std::size_t from) {
  const u32 cpu = edited.events[from].cpu;
  return edited.find(from + 1, [&](const Event& event) { return event.cpu == cpu; });
}

/// The start of a timer, found backward from its expiry; events.size(): none.
std::size_t startOf(const EditedRecording& edited, std::size_t expiry, std::string_view name,
                    std::string_view pointer) {
  const u64 timer = edited.get(edited.events[expiry], pointer);
  for (std::size_t at = expiry; at-- > 0;) {
    const Event& event = edited.events[at];
    if (edited.is(event, name) && edited.get(event, pointer) == timer) return at;
  }
  return edited.events.size();
}

s64 timeOf(const Event& event) { return static_cast<s64>(event.time); }

TEST(MutationM6, FlippedWasArmedIsNamed) {
  expectNamed(
      healthy(), WasArmedDiffers,
      [](EditedRecording& edited, std::size_t from, std::set<s64>& times) {
        const std::size_t at = edited.find(
            from, [&](const Event& event) { return edited.is(event, "hrtimer_start"); });
        if (at == edited.events.size()) return false;
        Event& event = edited.events[at];
        edited.set(event, "was_armed", edited.get(event, "was_armed") == 0 ? 1 : 0);
        times.insert(timeOf(event));
        return true;
      },
      19);
}

TEST(MutationM5, ExpiryBeforeSoftExpiresIsNamed) {
  expectNamed(
      healthy(), BeforeSoftExpires,
      [](EditedRecording& edited, std::size_t from, std::set<s64>& times) {
        const std::size_t expiry = edited.find(
            from, [&](const Event& event) { return edited.is(event, "hrtimer_expire_entry"); });
        if (expiry == edited.events.size()) return false;
        const std::size_t start = startOf(edited, expiry, "hrtimer_start", "hrtimer");
        if (start == edited.events.size()) return false;
        edited.set(edited.events[start], "softexpires",
                   edited.get(edited.events[expiry], "now") + 1'000'000);
        times.insert(timeOf(edited.events[expiry]));
        return true;
      },
      14);
}

TEST(MutationM1, ExpiryBeforeItsBucketIsNamed) {
  expectNamed(
      healthy(), BeforeBucket,
      [](EditedRecording& edited, std::size_t from, std::set<s64>& times) {
        const std::size_t expiry = edited.find(
            from, [&](const Event& event) { return edited.is(event, "timer_expire_entry"); });
        if (expiry == edited.events.size()) return false;
        Event& event = edited.events[expiry];
        const u64 before = edited.get(event, "baseclk") - 1;
        edited.set(event, "baseclk", before);
        edited.set(event, "now", before);
        times.insert(timeOf(event));
        return true;
      },
      1);
}

TEST(MutationM7, SecondProgrammingCallIsNamed) {
  expectNamed(
      healthy(), CallCount,
      [](EditedRecording& edited, std::size_t from, std::set<s64>& times) {
        // A task arms a timer that becomes first, and nothing waits for its call behind it.
        for (std::size_t at = from; at + 8 < edited.events.size(); ++at) {
          if (!edited.is(edited.events[at], "hrtimer_start")) continue;
          if ((edited.get(edited.events[at], "common_flags") & 0x18U) != 0) continue;
          const std::size_t call = nextOfCpu(edited, at);
          if (call >= edited.events.size()) return false;
          if (!edited.is(edited.events[call], "function")) continue;
          const std::size_t behind = nextOfCpu(edited, call);
          if (behind >= edited.events.size()) return false;
          const auto name = edited.nameOf(edited.events[behind]);
          if (name.starts_with("hrtimer") || name == "function") continue;
          const Event copy = edited.events[call];
          edited.events.insert(edited.events.begin() + static_cast<std::ptrdiff_t>(call + 1), copy);
          times.insert(timeOf(copy));
          return true;
        }
        return false;
      },
      21);
}

TEST(MutationM8, MissingCallAtTheEndOfAnInterruptIsNamed) {
  expectNamed(
      healthy(), CallCount,
      [](EditedRecording& edited, std::size_t from, std::set<s64>& times) {
        const auto hard = [&](std::size_t at) {
          return at < edited.events.size() &&
                 (edited.get(edited.events[at], "common_flags") & 0x08U) != 0;
        };
        // The only call of an interrupt that ran a timer which its callback did not start again.
        for (std::size_t exit = from; exit < edited.events.size(); ++exit) {
          if (!edited.is(edited.events[exit], "hrtimer_expire_exit") || !hard(exit)) continue;
          const std::size_t call = nextOfCpu(edited, exit);
          if (!hard(call) || !edited.is(edited.events[call], "function")) continue;
          const std::size_t behind = nextOfCpu(edited, call);
          if (behind >= edited.events.size() || hard(behind)) continue;
          times.insert(timeOf(edited.events[exit]));
          times.insert(timeOf(edited.events[call]));
          edited.events.erase(edited.events.begin() + static_cast<std::ptrdiff_t>(call));
          return true;
        }
        return false;
      },
      21);
}

/// A probe of tick_program_event tells the value. Raised at the end of an interrupt, it is later than the first timer.
TEST(MutationM8, LaterValueAtTheEndOfAnInterruptIsNamed) {
  for (const char* name : {"19-kprobe.dat", "02-ncm-stock-kprobe.dat"}) {
    TICKSCOPE_NEED_RECORDING(path, name);
    expectNamed(
        path, ProgrammedTooLate,
        [](EditedRecording& edited, std::size_t from, std::set<s64>& times) {
          for (std::size_t exit = from; exit < edited.events.size(); ++exit) {
            if (!edited.is(edited.events[exit], "hrtimer_expire_exit")) continue;
            if ((edited.get(edited.events[exit], "common_flags") & 0x08U) == 0) continue;
            const std::size_t start = nextOfCpu(edited, exit);
            const std::size_t call =
                start < edited.events.size() && edited.is(edited.events[start], "hrtimer_start")
                    ? nextOfCpu(edited, start)
                    : start;
            if (call >= edited.events.size()) return false;
            Event& event = edited.events[call];
            if (!edited.is(event, "tick_program_event")) continue;
            edited.set(event, "expires", edited.get(event, "expires") + 10'000'000);
            times.insert(timeOf(event));
            return true;
          }
          return false;
        },
        22);
  }
}

TEST(MutationM9, ExpiryOnAnotherCpuIsNamed) {
  expectNamed(healthy(), WrongCpu,
              [](EditedRecording& edited, std::size_t from, std::set<s64>& times) {
                // A timer that its callback armed again is on the CPU of the callback: the tick.
                for (std::size_t entry = from; entry < edited.events.size(); ++entry) {
                  if (!edited.is(edited.events[entry], "hrtimer_expire_entry")) continue;
                  const std::size_t start = startOf(edited, entry, "hrtimer_start", "hrtimer");
                  if (start == edited.events.size() ||
                      (edited.get(edited.events[start], "common_flags") & 0x08U) == 0) {
                    continue;
                  }
                  const std::size_t exit = nextOfCpu(edited, entry);
                  if (exit >= edited.events.size() ||
                      !edited.is(edited.events[exit], "hrtimer_expire_exit")) {
                    continue;
                  }
                  const u32 cpu = edited.events[entry].cpu == 0 ? 1 : 0;
                  for (const std::size_t at : {entry, exit}) {
                    edited.events[at].cpu = cpu;
                    times.insert(timeOf(edited.events[at]));
                  }
                  return true;
                }
                return false;
              });
}

TEST(MutationM2, TimerThatIsNotRunIsNamed) {
  TICKSCOPE_NEED_RECORDING(path, "06-lost-stock.dat");
  expectNamed(path, Lost, [](EditedRecording& edited, std::size_t from, std::set<s64>& times) {
    for (std::size_t entry = from; entry < edited.events.size(); ++entry) {
      if (!edited.is(edited.events[entry], "timer_expire_entry")) continue;
      const u64 timer = edited.get(edited.events[entry], "timer");
      const std::size_t again = edited.find(entry + 1, [&](const Event& event) {
        return edited.nameOf(event).starts_with("timer_") &&
               edited.nameOf(event) != "timer_expire_exit" && edited.get(event, "timer") == timer;
      });
      if (again != edited.events.size()) continue;
      const u64 time = edited.events[entry].time;
      times.insert(static_cast<s64>(time));
      std::erase_if(edited.events, [&](const Event& event) {
        return edited.nameOf(event).starts_with("timer_") && !edited.is(event, "timer_init") &&
               event.time + 1'000'000 > time && event.time < time + 1'000'000 &&
               edited.get(event, "timer") == timer && !edited.is(event, "timer_start");
      });
      return true;
    }
    return false;
  });
}

TEST(MutationM3, BucketsOfAStaleClkAreNamed) {
  TICKSCOPE_NEED_RECORDING(path, "06-lost-stock.dat");
  constexpr u64 lag = 504;
  EditedRecording edited(path);
  const WheelGeometry geometry;
  std::set<s64> times;
  for (std::size_t at = edited.events.size() / 5; at < edited.events.size(); ++at) {
    if (times.size() == 10) break;
    Event& event = edited.events[at];
    if (!edited.is(event, "timer_start")) continue;
    const u64 timer = edited.get(event, "timer");
    const auto isOf = [&](const Event& other) {
      return (edited.is(other, "timer_start") || edited.is(other, "timer_cancel") ||
              edited.is(other, "timer_expire_entry")) &&
             edited.get(other, "timer") == timer;
    };
    const std::size_t end = edited.find(at + 1, isOf);
    if (end == edited.events.size() || !edited.is(edited.events[end], "timer_cancel")) continue;
    const std::size_t behind = edited.find(end + 1, isOf);
    if (behind != edited.events.size() && edited.is(edited.events[behind], "timer_expire_entry"))
      continue;
    const u64 now = edited.get(event, "now"), expires = edited.get(event, "expires");
    const u64 flags = edited.get(event, "flags");
    const Bucket stale = bucketFor(geometry, now - lag, expires);
    if (stale.level() == flags >> 22U >> 6U) continue;
    edited.set(event, "flags", (flags & 0x3fffffU) | u64{stale.index} << 22U);
    times.insert(timeOf(event));
  }
  ASSERT_GT(times.size(), 0U) << path;
  const Analysis analysis = support::analysed(edited.recording());
  std::set<s64> named;
  for (const Discrepancy& found : analysis.tables.discrepancies) {
    if (found.kind == BucketNotExplained) named.insert(analysis.events().time(found.at).value);
    EXPECT_LE(found.model.value_or(0), static_cast<s64>(lag)) << number(found.at);
  }
  EXPECT_EQ(named, times) << support::discrepancyLines(analysis);
  EXPECT_EQ(analysis.tables.discrepancies.size(), times.size())
      << support::discrepancyLines(analysis);
}

TEST(MutationM4, SwappedExpiriesAreNamed) {
  TICKSCOPE_NEED_RECORDING(path, "14-slack.dat");
  expectNamed(
      path, Order,
      [](EditedRecording& edited, std::size_t from, std::set<s64>& times) {
        for (std::size_t first = from; first < edited.events.size(); ++first) {
          if (!edited.is(edited.events[first], "hrtimer_expire_entry")) continue;
          const auto nextNamed = [&](std::size_t at, std::string_view name) {
            const u32 cpu = edited.events[at].cpu;
            return edited.find(at + 1, [&](const Event& event) {
              return event.cpu == cpu && edited.is(event, name);
            });
          };
          const std::size_t second = nextNamed(first, "hrtimer_expire_entry");
          if (second == edited.events.size()) return false;
          Event& a = edited.events[first];
          Event& b = edited.events[second];
          if (edited.get(a, "now") != edited.get(b, "now") ||
              edited.get(a, "function") != edited.get(b, "function")) {
            continue;
          }
          const std::size_t startA = startOf(edited, first, "hrtimer_start", "hrtimer");
          const std::size_t startB = startOf(edited, second, "hrtimer_start", "hrtimer");
          if (startA == edited.events.size() || startB == edited.events.size()) continue;
          if (edited.get(edited.events[startA], "expires") ==
              edited.get(edited.events[startB], "expires")) {
            continue;
          }
          const u64 one = edited.get(a, "hrtimer"), other = edited.get(b, "hrtimer");
          const std::size_t exitA = nextNamed(first, "hrtimer_expire_exit");
          const std::size_t exitB = nextNamed(second, "hrtimer_expire_exit");
          edited.set(a, "hrtimer", other);
          edited.set(b, "hrtimer", one);
          edited.set(edited.events[exitA], "hrtimer", other);
          edited.set(edited.events[exitB], "hrtimer", one);
          times.insert(timeOf(a));
          times.insert(timeOf(b));
          return true;
        }
        return false;
      },
      15);
}

}  // namespace
}  // namespace tickscope
