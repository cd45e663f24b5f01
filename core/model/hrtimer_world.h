// SPDX-License-Identifier: GPL-3.0-or-later
// The scalars of a CPU's hrtimer base where some timers are unseen, and the primitives that move them.
#pragma once

#include <algorithm>
#include <array>

#include "core/model/kernel_profile.h"
#include "core/model/model_ids.h"

namespace tickscope {

/// A value of which only bounds may be known, ns of the monotonic clock.
struct Bounds {
  s64 least = 0, most = never.value;
  [[nodiscard]] bool known() const { return least == most; }
  [[nodiscard]] bool holds(s64 value) const { return least <= value && value <= most; }
  bool operator==(const Bounds&) const = default;
};

/// What next_timer or softirq_next_timer points to.
struct Pointed {
  enum class To : u8 {
    None,    ///< null
    Span,    ///< this timer, armed or not any more
    Unseen,  ///< a timer from before the recording, or one whose CPU is not known
    Any      ///< not known
  };
  To to = To::Any;
  SpanId span{};
  bool operator==(const Pointed&) const = default;
};

/// One possible state of the scalars. Where unseen timers may matter a rule has several: the true one is among them.
struct World {
  Bounds e, se;
  Pointed nt, snt;
  bool operator==(const World&) const = default;
};

/// The possible states of one rule. More than fit are joined, which loses knowledge but never truth.
class Worlds {
 public:
  void add(const World& world);
  void clear() { count_ = 0; }
  void set(const World& only) {
    worlds_[0] = only;
    count_ = 1;
  }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] bool single() const { return count_ == 1; }
  [[nodiscard]] World* begin() { return worlds_.data(); }
  [[nodiscard]] World* end() { return worlds_.data() + count_; }
  [[nodiscard]] const World* begin() const { return worlds_.data(); }
  [[nodiscard]] const World* end() const { return worlds_.data() + count_; }

 private:
  std::array<World, 4> worlds_{};
  u32 count_ = 0;
};

/// First known timers of a CPU: over the hard trees and over the soft ones; `never` and null when there are none.
struct Firsts {
  s64 hard = never.value, soft = never.value;
  Pointed hardTimer{Pointed::To::None}, softTimer{Pointed::To::None};
};

/// What all rules share while an operation runs.
struct Ground {
  s64 floor = never.value;  ///< unseen timers are queued at or behind it; `never`: there are none
  bool inInterrupt = false, softirqActivated = false, hang = false, highRes = true;
  /// A timer was taken out by another CPU, or ran outside an interrupt: next_timer may point to it with an old time.
  bool staleNext = false;
  /// Offsets of clocks changed since expires_next was computed: timers may be due before it.
  bool staleOffsets = false;
  /// Since E was last computed over all trees an unseen soft timer may have been queued, which a stale SE of R0 can
  /// keep from being programmed.
  bool softBeforeNext = true;
};

/// The answers to questions that unseen timers leave open, walked through in all combinations.
class Answers {
 public:
  bool next() {
    if (at_ == count_ && count_ < 32) ++count_;
    return at_ < count_ && ((given_ >> at_++) & 1U) != 0;
  }
  [[nodiscard]] bool asked() const { return count_ > 0; }
  /// Turns to the next combination; false when all were had.
  bool turn() {
    at_ = 0;
    while (count_ > 0 && ((given_ >> (count_ - 1)) & 1U)) given_ &= ~(1U << --count_);
    if (count_ == 0) return false;
    given_ |= 1U << (count_ - 1);
    return true;
  }

 private:
  u32 given_ = 0, count_ = 0, at_ = 0;
};

/// One run of an operation in one world under one rule. Each primitive returns the calls it makes (0 or 1).
///
/// An unseen timer u is queued at x(u) >= floor, hard or soft. Outside the interrupt expires_next is at or before
/// every queued hard timer, and every soft one while the softirq is not activated (R0: see softBeforeNext); so what
/// is known of E bounds u as well. A comparison that u can turn either way is answered both ways, and what
/// the answer says of E and SE is kept. E itself is the least of what the known timers make it and u: in the worlds
/// where next_timer is a known timer E is exact, in those where it is unseen E lies in [floor, E of the known].
struct Primitives {
  HrtimerRule rule;
  const Ground& ground;
  World& world;
  Answers& answers;

  /// Least x of unseen timers, from the floor and from what E says.
  [[nodiscard]] s64 leastUnseen(bool soft) const;
  /// hrtimer_update_next_event and its forerunners: the new E, which the caller stores. `force`: called from
  /// hrtimer_force_reprogram, where R0 keeps SE.
  Bounds update(const Firsts& firsts, bool force);
  /// hrtimer_force_reprogram.
  u8 force(const Firsts& firsts, bool skipEqual);
  /// hrtimer_reprogram of a timer that is leftmost of its tree and queued on this CPU (`owner`) or on another one.
  u8 reprogram(Pointed timer, Bounds x, bool soft, bool owner);
  /// The soft part of it, which works on the CPU that owns the timer; false: nothing more to do.
  bool reprogramSoft(Pointed timer, Bounds& x);
  /// next_timer points to this timer. `x`: where it was queued; empty: not queued in a tree here.
  bool isNext(SpanId timer, Known<s64> x, bool unseen);
  /// a < b, keeping in b what the answer tells.
  bool before(Bounds& a, Bounds& b);

 private:
  bool equal(const Bounds& computed);
};

}  // namespace tickscope
