// SPDX-License-Identifier: GPL-3.0-or-later
// What the replay yields: timers, and each life of an armed timer from arm to end.
#pragma once

#include "core/model/model_ids.h"

namespace tickscope {

enum class TimerClass : u8 { Wheel, Hrtimer };

/// One incarnation: from its init (or first mention) to the next init of the same address.
struct ModelTimer {
  TimerClass of{};
  Known<Row>
      init;  ///< timer_init, hrtimer_init or hrtimer_setup; empty: inferred or from before the recording
  Address address{};         ///< of the timer structure
  Address function{};        ///< the callback last seen; 0: not seen
  Known<ClockBase> base;     ///< hrtimers: clock and hard or soft, as last learned
  bool baseGuessed = false;  ///< MONO taken where BOOT would look the same (B08)
};

enum class SpanEnd : u8 {
  Open,       ///< armed when the recording ends
  Restarted,  ///< armed again before it ended
  Cancelled,
  Expired,
  Moved,           ///< to another CPU by hotplug; the next span of the timer goes on
  ReInitialised,   ///< init of an armed timer
  ExpiredAtStart,  ///< hrtimer_start_expired
  Unknown          ///< the trace contradicts that it was still armed
};

/// Rows: `noRow` where there is none, which costs less than an optional in a large table.
inline constexpr Row noRow{~u32{0}};
inline constexpr Cpu noCpu{0xffff};

struct ArmedSpan {
  enum Flag : u8 {
    Restart = 1,         ///< opened by HRTIMER_RESTART of its callback
    MovedHere = 2,       ///< opened by a hotplug move
    Seeded = 4,          ///< known from a timer_list dump
    Uncertain = 8,       ///< events were lost on its CPU while it was open
    Resynced = 16,       ///< the model was corrected by the trace
    OwnerInferred = 32,  ///< the CPU is known from a later row only
    Deferrable = 64,
  };
  TimerId timer{};
  Row armed = noRow;  ///< noRow: before the recording
  Row ended = noRow;  ///< noRow: open at its end
  /// The cancel that announced an expiry or restart in a later row, `ended`: the timer is queued up to here. noRow: none.
  Row left = noRow;
  s64 expires = 0;  ///< wheel: jiffies asked for; hrtimer: hard expiry on the timer's own clock, ns
  s64 second = 0;   ///< wheel: bucket expiry in jiffies; hrtimer: softexpires, ns
  Cpu owner = noCpu;    ///< whose base or tree holds it
  u16 bucketIndex = 0;  ///< wheel: 64 * level + slot
  SpanEnd end = SpanEnd::Open;
  u8 flags = 0;
  u8 base = 0;              ///< ClockBase or WheelBaseKind
  bool expiryKnown = true;  ///< false: armed before the recording, no dump told its times
  bool secondKnown = true;

  [[nodiscard]] bool has(Flag flag) const { return flags & flag; }
  /// The first row behind which the timer is not queued any more; noRow: it still is.
  [[nodiscard]] Row leftAt() const { return left != noRow ? left : ended; }
  [[nodiscard]] ClockBase clockBase() const { return static_cast<ClockBase>(base); }
  [[nodiscard]] WheelBaseKind wheelBase() const { return static_cast<WheelBaseKind>(base); }
};

}  // namespace tickscope
