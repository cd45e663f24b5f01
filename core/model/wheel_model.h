// SPDX-License-Identifier: GPL-3.0-or-later
// One wheel base of one CPU: clk, next_expiry and the pending timers by bucket, as far as the trace tells.
#pragma once

#include <map>
#include <vector>

#include "core/model/kernel_profile.h"
#include "core/model/wheel_geometry.h"

namespace tickscope {

struct WheelRules {
  WheelGeometry geometry;
  WheelKind kind = WheelKind::Levels;
  ForwardRule forward = ForwardRule::F2;
  NextRule next = NextRule::NX1;
};

/// What timer_start recorded; empty where the kernel has no such field or it is stale (WT0, WT1).
struct RecordedArm {
  u64 expires = 0, now = 0;
  Known<u16> index;
  Known<u64> bucketExpiry;
};

struct ArmResult {
  Known<Bucket> bucket;  ///< where the timer lies: as recorded if recorded, else as computed
  Known<bool>
      explained;      ///< some admissible clk gives what was recorded; empty: nothing to compare
  Known<ClkLag> lag;  ///< not explained: by how much clk must have lagged behind jiffies
};

class WheelModel {
 public:
  explicit WheelModel(const WheelRules& rules) : rules_(rules) {}

  /// timer_start: forwards clk by the rule, places the timer, learns clk where the record decides it.
  /// `deferrable`: the base is DEF, which F0 and F1 never forward.
  ArmResult arm(SpanId span, const RecordedArm& recorded, bool deferrable);
  /// timer_cancel: false when the timer was not pending here.
  bool disarm(SpanId span);

  /// timer_expire_entry of a pending timer (or one from before the recording: empty span) at bucket time `baseclk`
  /// (empty before 5.2): clk = baseclk + 1. What the rules say of it:
  struct Expiry {
    Known<bool>
        atItsBucket;  ///< I01: baseclk is the bucket's expiry (CASCADE: I04, now at or after expires)
    Known<bool>
        inOrder;  ///< I03, I08: after the last of this base by bucket time, level, then last armed first
    std::vector<SpanId> lost;  ///< X08: pending timers whose bucket time was passed by this run
  };
  Expiry expire(Known<SpanId> span, u64 now, Known<u64> baseclk);
  /// The end of a run of the base (softirq exit): everything due at `now` has been run.
  void endOfRun(u64 now);
  /// The idle path recomputed and forwarded at `now` (tick stop).
  void idle(u64 now);
  /// Events were lost, or the CPU came up: clk and next_expiry unknown; pending timers stay, as uncertain.
  void forgetClk();
  /// CPU bring-up: clk = now, nothing pending.
  void reset(Known<u64> now);

  [[nodiscard]] Known<u64> clk() const { return clk_; }
  /// As the kernel keeps it (may be too early after a removal under NX1); empty: unknown.
  [[nodiscard]] Known<u64> nextExpiry() const { return next_; }
  /// The least bucket expiry of the pending timers.
  [[nodiscard]] Known<u64> firstPending() const;
  struct Pending {
    Bucket bucket;
    u64 expires;
    u32 order;  ///< of arming: within a bucket the last armed runs first
  };
  [[nodiscard]] const Pending* find(SpanId span) const;
  [[nodiscard]] std::size_t size() const;
  /// Pending timers in the kernel's order of collection up to `now`.
  void collect(u64 now, std::vector<SpanId>& due) const;

 private:
  WheelRules rules_;
  Known<u64> clk_, next_;
};

}  // namespace tickscope
