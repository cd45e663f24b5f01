// SPDX-License-Identifier: GPL-3.0-or-later
// The hrtimer trees of one CPU and what each generation of rules does to expires_next and the clock event device.
#pragma once

#include <array>
#include <bitset>
#include <memory>
#include <vector>

#include "core/model/hrtimer_tree.h"
#include "core/model/kernel_profile.h"

namespace tickscope {

/// Programming calls of one side of an operation; a range where the outcome depends on what is unknown.
struct Calls {
  u8 least = 0, most = 0;
  [[nodiscard]] bool known() const { return least == most; }
  [[nodiscard]] bool admits(u32 seen) const { return least <= seen && seen <= most; }
  bool operator==(const Calls&) const = default;
};
/// Calls made before the operation's own tracepoint would stand (removal) and after it (enqueue).
struct OperationCalls {
  Calls removal, enqueue;
  [[nodiscard]] Calls sum() const {
    return {static_cast<u8>(removal.least + enqueue.least),
            static_cast<u8>(removal.most + enqueue.most)};
  }
};
using CallsByRule = std::array<OperationCalls, hrtimerRuleCount>;
using RuleSet = std::bitset<hrtimerRuleCount>;

/// What one rule's cpu_base holds; each value may be unknown (empty).
struct HrtimerScalars {
  Known<MonoTime> expiresNext,
      softirqExpiresNext;  ///< E, SE; `never` while stopped or in the interrupt
  Known<SpanId> nextTimer,
      softirqNextTimer;  ///< NT, SNT: may point to a timer that is not armed any more
};

/// Times of timers are on the monotonic axis here: x = max(0, expires - offset of the base).
/// A timer is named by its span: a restart of one timer is disarm of the old and arm of the new span in one operation.
class HrtimerModel {
 public:
  explicit HrtimerModel(RuleSet rules);

  /// start(t) of a timer that is not armed, or restart of one that is (`was`: its old span, which is taken out).
  /// `self`: the callback of this very timer runs on this CPU. `owner`: the timer is queued on this CPU (false: the
  /// caller queues it elsewhere with enqueueRemote, this CPU then sees what a remote queue costs: 0; empty: unknown,
  /// least and most calls then cover both).
  struct Start {
    SpanId span;
    Known<SpanId> was;
    ClockBase base;
    MonoTime x;        ///< of hard expires
    BaseTime expires;  ///< key of the tree
    bool online = true;
    bool wasOnThisCpu = true;  ///< the old span was queued here
    bool lazy = false;         ///< HRTIMER_MODE_LAZY_REARM
    bool callbackRuns = false;
  };
  CallsByRule start(const Start& op);
  /// Enqueue by another CPU, by hotplug, or from a seed: no calls here now.
  void enqueueRemote(SpanId span, ClockBase base, MonoTime x, BaseTime expires);
  /// RESTART after the callback: enqueue without programming (model: the interrupt's or softirq's end takes care).
  void enqueueRestart(SpanId span, ClockBase base, MonoTime x, BaseTime expires);
  /// cancel(t) by this CPU. False in `wasQueued`: it was not in a tree here.
  CallsByRule cancel(SpanId span, bool lazy = false);
  /// Removal by another CPU: the tree loses it, scalars keep their dangling values (row 24).
  void cancelRemote(SpanId span);
  /// Taken out to run its callback: no calls.
  void expire(SpanId span);

  /// hrtimer_interrupt: begin (E = INF, raise when now >= SE), whether vec 8 is raised under each rule, and end.
  struct Interrupt {
    std::array<Known<bool>, hrtimerRuleCount> raises;  ///< I25
  };
  Interrupt beginInterrupt(Known<MonoTime> now);
  /// End of a pass: e = UPD, program. One call each (R4: one at the very end).
  CallsByRule endInterrupt();
  /// softirq_raise vec 8 seen / end of the softirq pass: SA cleared, first soft timer reprogrammed if it is earlier.
  void softirqRaised();
  CallsByRule endSoftirq();
  /// retrigger_next_event: offsets changed. One call.
  CallsByRule retrigger();
  /// The hang delay was programmed; until the next interrupt programming is suppressed.
  void hang();

  /// A call that carried its value: E is known, and no timer of this CPU is due before (the floor rises).
  void learnExpiresNext(MonoTime value);
  /// Timers from before the recording whose expiry is not known may be queued here with x at or after this;
  /// `never`: there are none. Predictions that such a timer could change become ranges.
  void setFloor(MonoTime floor) { floor_ = floor; }
  [[nodiscard]] MonoTime floor() const { return floor_; }
  /// Scalars unknown until re-learned (loss, resync, bring-up). Timers stay.
  void forgetScalars();
  /// CPU died: everything leaves; the spans in tree order (base by base) are returned to be queued elsewhere.
  std::vector<SpanId> takeAll();
  void setHighRes(bool on) { highRes_ = on; }
  /// Offsets of a clock base changed: x of its timers is recomputed (newX by span), nothing is programmed.
  void shift(ClockBase base, s64 offsetChange);

  [[nodiscard]] const HrtimerScalars& scalars(HrtimerRule rule) const {
    return scalars_[number(rule)];
  }
  [[nodiscard]] bool inInterrupt() const { return inInterrupt_; }
  [[nodiscard]] bool softirqActivated() const { return softirqActivated_; }
  [[nodiscard]] bool hanging() const { return hang_; }
  [[nodiscard]] const HrtimerTree& tree(ClockBase base) const { return trees_[number(base)]; }
  [[nodiscard]] bool queued(SpanId span) const;
  /// Least x over the hard or the soft trees, known timers only; `never` when empty.
  [[nodiscard]] MonoTime first(bool soft) const;

 private:
  RuleSet rules_;
  std::array<HrtimerTree, clockBaseCount> trees_;
  std::array<HrtimerScalars, hrtimerRuleCount> scalars_;
  MonoTime floor_ = never;
  bool inInterrupt_ = false, softirqActivated_ = false, hang_ = false, highRes_ = true;
};

}  // namespace tickscope
