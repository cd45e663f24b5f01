// SPDX-License-Identifier: GPL-3.0-or-later
// The hrtimers of one CPU the slow way: one list, every minimum searched anew, everything known.
#pragma once

#include <optional>
#include <vector>

#include "core/model/kernel_profile.h"
#include "core/model/model_ids.h"

namespace tickscope::support {

/// One generation of rules, written from the words of the rules and not from the fast model.
class TimersByList {
 public:
  struct Timer {
    u32 id = 0;
    ClockBase base{};
    s64 x = 0, expires = 0;
  };
  struct Made {
    u32 removal = 0, enqueue = 0;
    bool operator==(const Made&) const = default;
  };

  explicit TimersByList(HrtimerRule rule) : rule_(rule) {}

  /// `old`: the last name of the timer, queued or not.
  Made start(std::optional<u32> old, const Timer& timer, bool here = true, bool lazy = false);
  Made cancel(u32 id, bool lazy = false);
  void startByOther(const Timer& timer);
  void takeByOther(u32 id) { remove(id); }
  void restart(const Timer& timer) { list_.push_back(timer); }
  void expire(u32 id) { remove(id); }
  /// Says whether vec 8 is raised.
  bool interrupt(s64 now);
  u32 interruptEnd();
  u32 softirqEnd();
  u32 retrigger() { return force(false); }
  void hang() { hang_ = true; }

  [[nodiscard]] s64 e() const { return e_; }
  [[nodiscard]] s64 se() const { return se_; }
  [[nodiscard]] std::optional<u32> next() const { return next_; }
  [[nodiscard]] bool softirqActivated() const { return activated_; }
  /// In the order of the base.
  [[nodiscard]] std::vector<Timer> ordered(ClockBase base) const;
  [[nodiscard]] bool queued(u32 id) const;
  /// The timers that are due in a walk over the hard or the soft bases.
  [[nodiscard]] std::vector<Timer> due(bool soft, s64 now) const;

 private:
  void remove(u32 id);
  [[nodiscard]] std::optional<Timer> least(bool soft) const;
  std::pair<s64, std::optional<u32>> update();
  u32 force(bool skipEqual);
  u32 reprogram(const Timer& timer, bool here);

  HrtimerRule rule_;
  std::vector<Timer> list_;  ///< in the order of insertion
  s64 e_ = never.value, se_ = never.value;
  std::optional<u32> next_;
  bool activated_ = false, interrupt_ = false, hang_ = false;
};

}  // namespace tickscope::support
