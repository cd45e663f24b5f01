// SPDX-License-Identifier: GPL-3.0-or-later
// Brute minima over one list of hrtimers.
#include "tests/support/timers_by_list.h"

#include <algorithm>
#include <tuple>

namespace tickscope::support {

void TimersByList::remove(u32 id) {
  std::erase_if(list_, [&](const Timer& timer) { return timer.id == id; });
}

bool TimersByList::queued(u32 id) const {
  return std::any_of(list_.begin(), list_.end(), [&](const Timer& t) { return t.id == id; });
}

std::vector<TimersByList::Timer> TimersByList::ordered(ClockBase base) const {
  std::vector<Timer> found;
  for (const Timer& timer : list_) {
    if (timer.base == base) found.push_back(timer);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Timer& a, const Timer& b) { return a.expires < b.expires; });
  return found;
}

std::vector<TimersByList::Timer> TimersByList::due(bool soft, s64 now) const {
  std::vector<Timer> found;
  for (u8 base = soft ? 4 : 0; base < (soft ? 8 : 4); ++base) {
    for (const Timer& timer : ordered(static_cast<ClockBase>(base))) {
      if (timer.x <= now) found.push_back(timer);
    }
  }
  return found;
}

std::optional<TimersByList::Timer> TimersByList::least(bool soft) const {
  std::optional<Timer> best;
  for (u8 base = soft ? 4 : 0; base < (soft ? 8 : 4); ++base) {
    const auto timers = ordered(static_cast<ClockBase>(base));
    if (!timers.empty() && (!best || timers.front().x < best->x)) best = timers.front();
  }
  return best;
}

std::pair<s64, std::optional<u32>> TimersByList::update() {
  const auto hard = least(false);
  std::optional<Timer> soft;
  if (rule_ != HrtimerRule::RP && !activated_) soft = least(true);
  if (rule_ >= HrtimerRule::R1 && !activated_) se_ = soft ? soft->x : never.value;
  std::optional<Timer> first = hard;
  // The oldest rule with soft timers looks at the soft bases first and keeps that timer on a tie.
  if (soft && (!hard || soft->x < hard->x || (rule_ == HrtimerRule::R0 && soft->x == hard->x))) {
    first = soft;
  }
  if (!first) return {never.value, {}};
  return {first->x, first->id};
}

u32 TimersByList::force(bool skipEqual) {
  const auto [e, next] = update();
  next_ = next;
  if (rule_ == HrtimerRule::R0 && next) {
    const auto soft = least(true);
    if (soft && soft->id == *next) se_ = e;
  }
  if (skipEqual && e == e_) return 0;
  e_ = e;
  return hang_ ? 0 : 1;
}

u32 TimersByList::reprogram(const Timer& timer, bool here) {
  if (isSoft(timer.base)) {
    if (rule_ == HrtimerRule::RP || activated_ || timer.x >= se_) return 0;
    se_ = timer.x;
  }
  if (!here || timer.x >= e_ || interrupt_) return 0;
  next_ = timer.id;
  e_ = timer.x;
  return hang_ ? 0 : 1;
}

TimersByList::Made TimersByList::start(std::optional<u32> old, const Timer& timer, bool here,
                                       bool lazy) {
  Made made;
  const bool armed = old && queued(*old);
  const bool isNext = old && next_ == old;
  bool leftmost = false;
  if (armed) {
    for (u8 base = 0; base < clockBaseCount; ++base) {
      const auto timers = ordered(static_cast<ClockBase>(base));
      leftmost = leftmost || (!timers.empty() && timers.front().id == *old);
    }
    remove(*old);
  }
  const bool inPlace = rule_ >= HrtimerRule::R2 && here && isNext;
  if (armed && isNext && !inPlace) {
    const bool silent = rule_ >= HrtimerRule::R4 && (interrupt_ || lazy || !leftmost);
    if (!silent) made.removal = force(true);
  }
  if (!here) return made;
  list_.push_back(timer);
  if (rule_ >= HrtimerRule::R3 && interrupt_) return made;
  if (inPlace) {
    if (rule_ >= HrtimerRule::R4 && lazy && e_ <= timer.x) return made;
    made.enqueue = force(true);
  } else if (ordered(timer.base).front().id == timer.id) {
    made.enqueue = reprogram(timer, true);
  }
  return made;
}

TimersByList::Made TimersByList::cancel(u32 id, bool lazy) {
  bool leftmost = false;
  for (u8 base = 0; base < clockBaseCount; ++base) {
    const auto timers = ordered(static_cast<ClockBase>(base));
    leftmost = leftmost || (!timers.empty() && timers.front().id == id);
  }
  const bool armed = queued(id);
  remove(id);
  if (!armed || next_ != id) return {};
  if (rule_ >= HrtimerRule::R4 && (interrupt_ || lazy || !leftmost)) return {};
  return {force(true), 0};
}

void TimersByList::startByOther(const Timer& timer) {
  list_.push_back(timer);
  if (ordered(timer.base).front().id == timer.id) reprogram(timer, false);
}

bool TimersByList::interrupt(s64 now) {
  interrupt_ = true;
  e_ = never.value;
  if (rule_ == HrtimerRule::RP || now < se_) return false;
  se_ = never.value;
  activated_ = true;
  return true;
}

u32 TimersByList::interruptEnd() {
  std::tie(e_, next_) = update();
  interrupt_ = hang_ = false;
  return 1;
}

u32 TimersByList::softirqEnd() {
  activated_ = false;
  const auto soft = least(true);
  return rule_ != HrtimerRule::RP && soft ? reprogram(*soft, true) : 0;
}

}  // namespace tickscope::support
