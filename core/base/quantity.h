// SPDX-License-Identifier: GPL-3.0-or-later
// Instants and differences that cannot be mixed between clocks, and fixed-width integer names.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace tickscope {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

/// A difference of two instants of one clock, in that clock's unit.
template <class Clock>
struct Delta {
  s64 value{};
  auto operator<=>(const Delta&) const = default;
};

/// A point on one clock, in that clock's unit. Points of different clocks do not compare.
template <class Clock>
struct Instant {
  s64 value{};
  auto operator<=>(const Instant&) const = default;

  /// Wraps in unsigned arithmetic, because damaged files hold any value.
  friend Delta<Clock> operator-(Instant a, Instant b) {
    return {static_cast<s64>(static_cast<u64>(a.value) - static_cast<u64>(b.value))};
  }
  friend Instant operator+(Instant a, Delta<Clock> d) {
    return {static_cast<s64>(static_cast<u64>(a.value) + static_cast<u64>(d.value))};
  }
};

/// The recording's own clock: ns, or counts of a counter clock (uptime: 10 ms, x86-tsc: cycles).
using TraceTime = Instant<struct TraceClock>;
using TraceDelta = Delta<struct TraceClock>;
/// ktime of CLOCK_MONOTONIC, ns.
using MonoTime = Instant<struct MonoClock>;
using Ns = Delta<struct MonoClock>;
/// ktime of a timer's own clock, as hrtimer events print it, ns.
using BaseTime = Instant<struct OwnClock>;
/// Jiffies. In events: as recorded, zero-extended, with the width of the format (32-bit kernels wrap).
using Jiffies = Instant<struct JiffyCount>;

/// Half open: filter, zoom, selection, blind spots.
struct TimeSpan {
  TraceTime from, to;
  bool operator==(const TimeSpan&) const = default;
};

/// Empty: the trace cannot say. Never 0, never a guess.
template <class T>
using Known = std::optional<T>;

}  // namespace tickscope
