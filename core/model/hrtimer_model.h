// SPDX-License-Identifier: GPL-3.0-or-later
// The hrtimer trees of one CPU and what each generation of rules does to expires_next and the clock event device.
#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <bitset>
#include <vector>

#include "core/model/hrtimer_tree.h"
#include "core/model/hrtimer_world.h"
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
  /// The two sides may exclude each other: by so much the sum's bounds are closer than those of the sides.
  u8 leastMore = 0, mostLess = 0;
  [[nodiscard]] Calls sum() const {
    return {static_cast<u8>(removal.least + enqueue.least + leastMore),
            static_cast<u8>(removal.most + enqueue.most - mostLess)};
  }
  bool operator==(const OperationCalls&) const = default;
};
using CallsByRule = std::array<OperationCalls, hrtimerRuleCount>;
using RuleSet = std::bitset<hrtimerRuleCount>;

/// What one rule's cpu_base holds; each value may be unknown (empty).
struct HrtimerScalars {
  Known<MonoTime> expiresNext,
      softirqExpiresNext;  ///< E, SE; `never` while stopped or in the interrupt
  Known<SpanId> nextTimer,
      softirqNextTimer;  ///< NT, SNT: may point to a timer that is not armed any more; empty also for null
};

/// Times of timers are on the monotonic axis here: x = max(0, expires - offset of the base).
/// A timer is named by its span: a restart of one timer is disarm of the old and arm of the new span in one operation.
/// Source: kernel/time/hrtimer.c, 4.x (RP), 4.16 (R0) to 7.1 (R4). R5 is R4 but for Start::expiredAtStart.
class HrtimerModel {
 public:
  explicit HrtimerModel(RuleSet rules);

  /// start(t) of a timer that is not armed, or restart of one that is.
  struct Start {
    SpanId span;
    /// The timer's last span: taken out if it is armed; if not, next_timer may still point to it (see `armed`).
    Known<SpanId> was;
    ClockBase base;
    MonoTime x;        ///< of hard expires
    BaseTime expires;  ///< key of the tree
    bool online = true;
    bool wasOnThisCpu = true;   ///< the old span was queued here, or ran here last
    bool lazy = false;          ///< HRTIMER_MODE_LAZY_REARM
    bool callbackRuns = false;  ///< the callback of this very timer runs on this CPU
    bool armed =
        true;  ///< false: `was` ended before (it expired, was cancelled or was taken out elsewhere)
    /// `was` was armed before the recording began, so that no tree holds it; it may be queued here. Taken for true
    /// when `armed` and `was` is in no tree here.
    bool unseen = false;
    /// The timer is queued on this CPU. False: the caller queues it elsewhere with enqueueRemote, which costs no call
    /// here. Empty: not known; the calls cover both, no tree takes the timer, and it counts as unseen from then on.
    Known<bool> owner = true;
    bool expiredAtStart = false;  ///< R5: hrtimer_start_expired follows, the timer is not queued
  };
  CallsByRule start(const Start& op);
  /// Enqueue by another CPU, by hotplug, or from a seed: no calls here now.
  void enqueueRemote(SpanId span, ClockBase base, MonoTime x, BaseTime expires);
  /// RESTART after the callback: enqueue without programming (the interrupt's or softirq's end takes care).
  void enqueueRestart(SpanId span, ClockBase base, MonoTime x, BaseTime expires);
  /// cancel(t) by this CPU. A span that is in no tree here is taken for a timer from before the recording that may
  /// or may not be queued here.
  CallsByRule cancel(SpanId span, bool lazy = false);
  /// Removal by another CPU: the tree loses it, scalars keep their dangling values.
  void cancelRemote(SpanId span);
  /// Taken out to run its callback: no calls.
  void expire(SpanId span);

  /// hrtimer_interrupt, one pass: E = INF; whether vec 8 is raised under each rule (I25). softirqRaised says
  /// whether it was: the trace knows.
  struct Interrupt {
    std::array<Known<bool>, hrtimerRuleCount> raises;
  };
  Interrupt beginInterrupt(Known<MonoTime> now);
  /// End of a pass: e = UPD, program. One call each; with `retried` another pass follows, before which R4 and R5 do
  /// not program.
  CallsByRule endInterrupt(bool retried = false);
  /// softirq_raise vec 8 by the interrupt: SE = INF, soft timers do not program until the softirq ends.
  void softirqRaised();
  /// End of the softirq pass: the first soft timer is programmed if it is earlier.
  CallsByRule endSoftirq();
  /// retrigger_next_event: offsets changed, or the CPU got timers of a dead one. One call.
  CallsByRule retrigger();
  /// The last pass gave up and programmed a delay: one call more (R4, R5: in place of the one at the end). Until the
  /// end of the next interrupt nothing else programs.
  CallsByRule hang();

  /// A call that carried its value: E is known, and no timer of this CPU is due before (the floor rises).
  void learnExpiresNext(MonoTime value);
  /// Timers whose place or expiry is not known may be queued here with x at or after this; `never`: there are
  /// none. Predictions that such a timer could change become ranges.
  void setFloor(MonoTime floor) {
    if (floor.value < ground_.floor) ground_.softBeforeNext = true;
    ground_.floor = floor.value;
  }
  [[nodiscard]] MonoTime floor() const { return MonoTime{ground_.floor}; }
  /// Scalars unknown until re-learned (loss, resync, bring-up). Timers stay.
  void forgetScalars();
  /// CPU died: everything leaves; the spans in tree order (base by base) are returned to be queued elsewhere.
  std::vector<SpanId> takeAll();
  void setHighRes(bool on) { ground_.highRes = on; }
  /// The offset of a clock base against the monotonic one grew: x of its timers is computed anew, nothing programmed.
  void shift(ClockBase base, s64 offsetChange);

  /// Empty where unseen timers leave a value open.
  [[nodiscard]] HrtimerScalars scalars(HrtimerRule rule) const {
    const Worlds& worlds = worlds_[number(rule)];
    return worlds.single() ? scalarsOf(*worlds.begin()) : scalarsOf(worlds);
  }
  /// The possible states behind scalars().
  [[nodiscard]] const Worlds& worlds(HrtimerRule rule) const { return worlds_[number(rule)]; }
  [[nodiscard]] bool inInterrupt() const { return ground_.inInterrupt; }
  [[nodiscard]] bool softirqActivated() const { return ground_.softirqActivated; }
  /// Events were lost: neither inside the interrupt nor between raise and softirq, as far as is known.
  void forgetContext() { ground_.inInterrupt = ground_.softirqActivated = ground_.hang = false; }
  [[nodiscard]] bool hanging() const { return ground_.hang; }
  [[nodiscard]] const HrtimerTree& tree(ClockBase base) const { return trees_[number(base)]; }
  [[nodiscard]] bool queued(SpanId span) const { return places_.contains(number(span)); }
  /// Least x over the hard or the soft trees, known timers only; `never` when empty.
  [[nodiscard]] MonoTime first(bool soft) const;

 private:
  struct Place {
    ClockBase base;
    TreeNode node;
  };
  struct Removed {
    s64 x = 0;
    bool leftmost = false;
  };

  [[nodiscard]] static HrtimerScalars scalarsOf(const World& world) {
    HrtimerScalars known;
    if (world.e.known()) known.expiresNext = MonoTime{world.e.least};
    if (world.se.known()) known.softirqExpiresNext = MonoTime{world.se.least};
    if (world.nt.to == Pointed::To::Span) known.nextTimer = world.nt.span;
    if (world.snt.to == Pointed::To::Span) known.softirqNextTimer = world.snt.span;
    return known;
  }
  [[nodiscard]] static HrtimerScalars scalarsOf(const Worlds& worlds);
  void insert(SpanId span, ClockBase base, MonoTime x, BaseTime expires);
  Known<Removed> take(SpanId span);
  void refreshFirst(ClockBase base);
  void allComputed();
  [[nodiscard]] Firsts firsts() const;
  [[nodiscard]] Pointed firstOf(std::size_t base) const {
    return {Pointed::To::Span, firstSpan_[base]};
  }
  /// Runs `operation(Primitives&, removal, enqueue)` in every world of every rule.
  template <class Operation>
  CallsByRule forAllRules(Operation operation);
  template <class Operation>
  OperationCalls inEveryWorld(HrtimerRule rule, Operation operation);

  RuleSet rules_;
  Ground ground_;
  std::array<HrtimerTree, clockBaseCount> trees_;
  std::array<s64, clockBaseCount> firstX_;
  std::array<SpanId, clockBaseCount> firstSpan_{};
  tsl::robin_map<u32, Place> places_;
  std::array<Worlds, hrtimerRuleCount> worlds_;
};

}  // namespace tickscope
