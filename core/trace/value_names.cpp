// SPDX-License-Identifier: GPL-3.0-or-later
// Tables of value names (events.md 1.1 to 1.7).
#include "core/trace/value_names.h"

#include <fmt/format.h>

#include <array>
#include <span>
#include <utility>

namespace tickscope {
namespace {

using Named = std::pair<u64, std::string_view>;

constexpr u32 modeRelative = 0x01, modePinned = 0x02, modeSoft = 0x04, modeHard = 0x08,
              modeLazy = 0x10;

std::string nameOf(std::span<const Named> names, u64 value) {
  for (const auto& [number, name] : names) {
    if (number == value) return std::string(name);
  }
  return fmt::format("{:#x}", value);
}

/// The names of the bits, `delimiter` between them; bits without a name as hex behind.
std::string flagNames(std::span<const Named> names, u64 value, std::string_view delimiter) {
  std::string text;
  const auto add = [&](std::string_view name) {
    if (!text.empty()) text += delimiter;
    text += name;
  };
  for (const auto& [bit, name] : names) {
    if (!(value & bit)) continue;
    add(name);
    value &= ~bit;
  }
  if (value) add(fmt::format("{:#x}", value));
  return text;
}

constexpr std::array<Named, 4> clockNames{Named{0, "CLOCK_REALTIME"}, Named{1, "CLOCK_MONOTONIC"},
                                          Named{7, "CLOCK_BOOTTIME"}, Named{11, "CLOCK_TAI"}};
constexpr std::array<Named, 10> softirqNames{
    Named{0, "HI"},      Named{1, "TIMER"},    Named{2, "NET_TX"},  Named{3, "NET_RX"},
    Named{4, "BLOCK"},   Named{5, "IRQ_POLL"}, Named{6, "TASKLET"}, Named{7, "SCHED"},
    Named{8, "HRTIMER"}, Named{9, "RCU"}};
constexpr std::array<Named, 7> dependencyNames{
    Named{0, "NONE"},           Named{1, "POSIX_TIMER"}, Named{2, "PERF_EVENTS"}, Named{4, "SCHED"},
    Named{8, "CLOCK_UNSTABLE"}, Named{16, "RCU"},        Named{32, "RCU_EXP"}};
constexpr std::array<Named, 4> alarmNames{Named{1U << 0U, "REALTIME"}, Named{1U << 1U, "BOOTTIME"},
                                          Named{1U << 3U, "REALTIME Freezer"},
                                          Named{1U << 4U, "BOOTTIME Freezer"}};
constexpr std::array<Named, 8> stateNames{Named{0x01, "S"}, Named{0x02, "D"}, Named{0x04, "T"},
                                          Named{0x08, "t"}, Named{0x10, "X"}, Named{0x20, "Z"},
                                          Named{0x40, "P"}, Named{0x80, "I"}};
constexpr u64 reportedStates = 0xff, preempted = 0x100;
constexpr std::array<Named, 4> wheelNames{Named{1U << 18U, "M"}, Named{1U << 19U, "D"},
                                          Named{1U << 20U, "P"}, Named{1U << 21U, "I"}};

}  // namespace

std::string hrtimerModeName(u32 mode) {
  // Hard and soft exclude each other; lazy rearming is only named together with them.
  if (mode & ~(modeRelative | modePinned | modeSoft | modeHard) ||
      (mode & modeSoft && mode & modeHard)) {
    return fmt::format("{:#x}", mode);
  }
  std::string name = mode & modeRelative ? "REL" : "ABS";
  if (mode & modePinned) name += "|PINNED";
  if (mode & modeSoft) name += "|SOFT";
  if (mode & modeHard) name += "|HARD";
  return name;
}

Known<u64> hrtimerModeValue(std::string_view enumerator) {
  constexpr std::string_view prefix = "HRTIMER_MODE_";
  if (!enumerator.starts_with(prefix)) return {};
  std::string_view rest = enumerator.substr(prefix.size());
  u64 value = 0;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('_'), rest.size());
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (word == "REL") {
      value |= modeRelative;
    } else if (word == "PINNED") {
      value |= modePinned;
    } else if (word == "SOFT") {
      value |= modeSoft;
    } else if (word == "HARD") {
      value |= modeHard;
    } else if (word == "LAZY" && rest == "REARM") {
      return value | modeLazy;
    } else if (word != "ABS") {
      return {};
    }
  }
  return value;
}

std::string clockName(s32 clock) { return nameOf(clockNames, static_cast<u32>(clock)); }
std::string softirqName(u32 vector) { return nameOf(softirqNames, vector); }
std::string tickDependencyName(s32 dependency) {
  return nameOf(dependencyNames, static_cast<u32>(dependency));
}

std::string alarmTypeName(u8 type) {
  return type < 32 ? flagNames(alarmNames, 1U << type, " | ") : fmt::format("{:#x}", type);
}

std::string taskStateName(s64 state) {
  const u64 bits = static_cast<u64>(state);
  std::string name =
      bits & reportedStates ? flagNames(stateNames, bits & reportedStates, "|") : "R";
  if (bits & preempted) name += '+';
  return name;
}

std::string wheelFlagNames(u32 flags) {
  constexpr u32 named = 0xfU << 18U;
  return flagNames(wheelNames, flags & named, "|");
}

}  // namespace tickscope
