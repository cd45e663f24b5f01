// SPDX-License-Identifier: GPL-3.0-or-later
// Who armed a timer, with which callback, and how regularly it expires.
#pragma once

#include <vector>

#include "core/findings/material.h"

namespace tickscope {

/// A callback and who arms it.
struct TimerUser {
  Address function{};
  Known<Pid> owner;  ///< empty: armed in interrupts only, or before the recording
  bool hrtimer = false;
};

/// Expiries of one timer (by its address) for one user, in their order.
struct TimerSeries {
  u32 user = 0;
  Address timer{};
  std::vector<SpanId> expired;
};

/// What is regular about a series.
struct Period {
  s64 ns = 0;         ///< median step from one requested time to the next
  double spread = 0;  ///< interquartile range of the steps over the median
};

class TimerUsers {
 public:
  /// Periods need so many expiries of one timer.
  static constexpr std::size_t leastExpiries = 20;
  /// Steps that spread wider than this share of their median are no period.
  static constexpr double widestSpread = 0.2;

  explicit TimerUsers(const Material& material);

  [[nodiscard]] const std::vector<TimerUser>& users() const { return users_; }
  [[nodiscard]] u32 userOf(SpanId span) const { return userOf_[number(span)]; }
  [[nodiscard]] const std::vector<TimerSeries>& series() const { return series_; }

 private:
  std::vector<TimerUser> users_;
  std::vector<u32> userOf_;
  std::vector<TimerSeries> series_;
};

/// From one requested time to the next in ns; empty where the clock was set or events were lost between. Wheel timers
/// need HZ.
Known<s64> requestedStep(const Material& material, SpanId from, SpanId to);
/// Steps of a whole series; those that cannot be told are left out.
std::vector<s64> stepsOf(const Material& material, const TimerSeries& series);
/// Empty: fewer than TimerUsers::leastExpiries, or irregular.
Known<Period> periodOf(std::vector<s64> steps);

/// The kernel's priority of the task that stood on the CPU at that row: below 0 deadline, below 100 real time.
Known<s32> priorityAt(const Material& material, Row row);
/// "by task-72", or "in interrupts".
Sentence ownerWords(const Material& material, const TimerUser& user);

}  // namespace tickscope
