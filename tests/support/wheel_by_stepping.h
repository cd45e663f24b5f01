// SPDX-License-Identifier: GPL-3.0-or-later
// A wheel base that does what timer.c does, bucket by bucket: slow, obvious, and written apart from the model.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "core/model/wheel_model.h"

namespace tickscope::support {

struct WheelEvent {
  enum class Kind { Start, Cancel, Expire } kind{};
  u32 timer{};
  u64 expires{}, now{};  ///< Start
  u16 index{};           ///< Start, Expire
  u64 bucketExpiry{};    ///< Start
  u64 baseclk{};         ///< Expire
};

class WheelByStepping {
 public:
  using Sink = std::function<void(const WheelEvent&)>;
  /// `forwarded`: false for a DEF base, which F0 and F1 leave alone.
  WheelByStepping(const WheelRules& rules, u64 jiffies, bool forwarded, Sink sink);

  /// mod_timer of an idle or pending timer. False: it stayed in its bucket, which no event tells.
  bool modify(u32 timer, u64 expires, u64 jiffies);
  bool cancel(u32 timer);
  /// __run_timers. The sink may call modify and cancel when it is told of an expiry.
  void run(u64 jiffies);
  /// The idle path's look at the next event; true: the base is idle now.
  bool idle(u64 jiffies);
  void leaveIdle() { idle_ = false; }

  [[nodiscard]] u64 clk() const { return clk_; }
  [[nodiscard]] u64 nextExpiry() const { return next_; }
  /// An empty wheel's next_expiry lies this far ahead of clk.
  [[nodiscard]] static constexpr u64 nothing() { return (u64{1} << 30U) - 1; }
  [[nodiscard]] bool pending(u32 timer) const { return timers_.contains(timer); }
  [[nodiscard]] bool due(u64 jiffies) const;
  /// The least bucket time of the timers on the wheel, by looking at each of them.
  [[nodiscard]] Known<u64> bruteMinimum() const;
  [[nodiscard]] std::size_t size() const { return timers_.size(); }

 private:
  struct Timer {
    u64 expires = 0, bucketExpiry = 0;
    u32 index = 0;
    bool collected = false;
  };
  [[nodiscard]] u64 wrapped(u64 value) const { return value & mask_; }
  [[nodiscard]] bool isAfter(u64 a, u64 b) const;
  void indexOf(u64 expires, u64 clk, u32& index, u64& bucketExpiry) const;
  void forward(u64 jiffies);
  void detach(u32 timer);
  void enqueue(u32 timer, u64 expires, u64 jiffies, u32 index, u64 bucketExpiry);
  [[nodiscard]] u64 searched() const;
  void expireBuckets();

  WheelRules rules_;
  u64 mask_;
  bool forwarded_;
  Sink sink_;
  u64 clk_, next_;
  bool idle_ = false, mustForward_ = false;
  std::array<std::deque<u32>, 576> buckets_;
  std::vector<std::deque<u32>> collected_;
  std::map<u32, Timer> timers_;
};

}  // namespace tickscope::support
