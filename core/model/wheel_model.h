// SPDX-License-Identifier: GPL-3.0-or-later
// One wheel base of one CPU: clk, next_expiry and the pending timers by bucket, as far as the trace tells.
#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <utility>
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

/// As the profile expects them; where it knows nothing, a 64-bit kernel of today with HZ above 100.
WheelRules wheelRulesOf(const KernelProfile& profile);

class WheelModel {
 public:
  explicit WheelModel(const WheelRules& rules) : rules_(rules) {}

  /// timer_start: forwards clk by the rule, places the timer, learns clk where the record decides it.
  /// `deferrable`: the base is DEF, which F0 and F1 never forward. A span that is pending is moved.
  ArmResult arm(SpanId span, const RecordedArm& recorded, bool deferrable);
  /// timer_cancel: false when the timer was not pending here.
  bool disarm(SpanId span);

  /// timer_expire_entry of a pending timer (or one from before the recording: empty span) at bucket time `baseclk`
  /// (empty before 5.2): clk = baseclk + 1. What the rules say of it:
  struct Expiry {
    Known<bool>
        atItsBucket;  ///< I01: it ran when its bucket was due, for which baseclk may be late (CASCADE: I04)
    Known<bool>
        inOrder;  ///< I03, I08: after the last of this base by bucket time, level, then last armed first
    std::vector<SpanId> lost;  ///< X08: pending timers whose bucket time was passed by this run
  };
  Expiry expire(Known<SpanId> span, u64 now, Known<u64> baseclk);
  /// The end of a run of the base (softirq exit): everything due at `now` has been run. `now` is a jiffies value
  /// that the run has surely seen. Timers that were due and stayed pending over two such runs are lost (X08). Not to
  /// be called for a base that another CPU runs at that time (6.9+): a local run then leaves it alone.
  std::vector<SpanId> endOfRun(u64 now);
  /// A tick at `now` raised no TIMER softirq (SR2, SR3), so next_expiry is after it.
  void nothingDue(u64 now);
  /// The idle path recomputed and forwarded at `now` (tick stop). Not for DEF bases, which it does not look at.
  void idle(u64 now);
  /// No timer from before the recording that may be pending here has its bucket before this; next_expiry is known then
  /// if a known timer comes first.
  void setUnseenFrom(Known<u64> bucketExpiry) {
    changed_ = changed_ || unseenFrom_ != bucketExpiry;
    unseenFrom_ = bucketExpiry;
  }
  /// Such a timer was deleted: next_expiry may be its bucket until the next run.
  void unseenDeleted() { changed_ = unseenDeleted_ = true; }
  /// Events were lost: clk and next_expiry unknown; pending timers stay, as uncertain.
  void forgetClk();
  /// CPU bring-up: clk = now, nothing pending.
  void reset(Known<u64> now);

  /// base->clk after the last event of this base; empty: several values come into question.
  [[nodiscard]] Known<u64> clk() const;
  /// The values that do; empty: nothing is known.
  struct ClkRange {
    u64 least, most;
  };
  [[nodiscard]] Known<ClkRange> clkRange() const;
  /// As the kernel keeps it; empty: unknown, as timers from before the recording may be pending, or the first one
  /// was removed and the kernel may or may not have computed it anew, or none is pending.
  [[nodiscard]] Known<u64> nextExpiry() const;
  /// The least bucket expiry of the pending timers. Lost ones, which the base has passed, do not count.
  [[nodiscard]] Known<u64> firstPending() const { return first_; }
  /// An event of the base came since the last call: otherwise clk() and nextExpiry() are what they were.
  [[nodiscard]] bool takeChanged() { return std::exchange(changed_, false); }
  struct Pending {
    Bucket bucket;
    u64 expires;
    u32 order;               ///< of arming: within a bucket the last armed runs first
    bool placed = true;      ///< false: the bucket is not known
    bool uncertain = false;  ///< pending since before events were lost
    bool lost = false;       ///< its bucket time was passed
  };
  [[nodiscard]] const Pending* find(SpanId span) const;
  [[nodiscard]] std::size_t size() const { return placeOf_.size(); }
  /// Pending timers in the kernel's order of collection up to `now`.
  void collect(u64 now, std::vector<SpanId>& due) const;

 private:
  static constexpr u32 none = ~u32{0};
  static constexpr std::size_t bucketCount = 576;
  /// Of one wheel bucket; timers of several bucket times lie in one only after faults and lost events.
  struct List {
    u64 expiry = 0;  // the least of its timers
    u32 head = none;
    bool mixed = false;
  };
  struct Node {
    Pending pending;
    SpanId span{};
    u32 before = none, after = none;
    bool linked = false;
    bool exact = true;  // CASCADE: the slot time is the bucket's expiry and not only at most that
    bool outlived = false;  // was due at the end of a run and stayed
  };
  /// The bucket time that an expiry belongs to, as far as baseclk tells.
  struct RunTime {
    u64 earliest, latest;
  };
  /// Which clk a healthy base can have at an arm.
  struct Admissible {
    u64 latest = 0;
    u64 nearest = 0;       // least lag behind `latest` if the model saw every run
    u64 sure = 0;          // lag behind `latest` up to which known facts allow it
    u64 perhaps = 0;       // up to which a timer from before the recording could be the cause
    bool further = false;  // beyond that nothing speaks against it either
  };

  [[nodiscard]] const WheelGeometry& geometry() const { return rules_.geometry; }
  [[nodiscard]] Admissible admissible(u64 now, bool deferrable) const;
  [[nodiscard]] ArmResult judge(const RecordedArm& recorded, const Admissible& clk) const;
  void learn(const RecordedArm& recorded, const Admissible& clk, const ArmResult& result);
  [[nodiscard]] RunTime runTime(const Node& node, u64 now, u64 baseclk) const;
  void hide(const RecordedArm& recorded, const Admissible& clk);
  ArmResult armCascade(SpanId span, const RecordedArm& recorded);
  void insert(SpanId span, u64 expires, const Known<Bucket>& bucket, bool exact);
  void remove(u32 place);
  void link(u32 place);
  void unlink(u32 place);
  void refreshFirst();
  void passed(u64 baseclk, std::vector<SpanId>& lost);
  void lose(u32 place, std::vector<SpanId>& lost);
  [[nodiscard]] Known<u64> leastAfter(u64 baseclk) const;
  template <class F>
  void forEachUsed(F&& f) const;
  template <class F>
  void forEachDue(u64 now, F&& f) const;
  void raise(Known<u64>& low, u64 value) const;

  WheelRules rules_;
  tsl::robin_map<SpanId, u32> placeOf_;
  std::vector<Node> nodes_;
  std::vector<u32> free_;
  bool changed_ = true;
  std::array<List, bucketCount> lists_;
  std::array<u64, bucketCount / 64> used_{};
  Known<u64> first_;
  u32 order_ = 0;

  Known<u64> unseenFrom_;
  bool unseenDeleted_ = false;
  bool complete_ = false;  // no timer can be pending whose bucket is not known
  bool runsSeen_ = false;
  bool idleSinceRun_ = false;
  Known<u64> clkLow_;   // clk is at least this
  Known<u64> clkHigh_;  // and after the last event at most this
  Known<u64> dueLow_;   // next_expiry is at least this
  Known<u64> kept_;     // next_expiry of the known timers as the kernel keeps it; empty: none
  Known<u64> ranEnd_;   // jiffies of the last end of a run

  struct Last {
    RunTime at;
    u64 printed;  // as baseclk
    u8 level;
    u32 order;
    bool known;  // level and order
  };
  Known<Last> last_;
};

}  // namespace tickscope
