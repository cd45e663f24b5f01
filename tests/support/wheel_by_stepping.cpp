// SPDX-License-Identifier: GPL-3.0-or-later
// The slow wheel: every search walks slots one by one, every list is a list.
#include "tests/support/wheel_by_stepping.h"

#include <algorithm>
#include <stdexcept>

namespace tickscope::support {

WheelByStepping::WheelByStepping(const WheelRules& rules, u64 jiffies, bool forwarded, Sink sink)
    : rules_(rules),
      mask_(rules.geometry.wordBits == 32 ? 0xffffffffU : ~u64{0}),
      forwarded_(forwarded),
      sink_(std::move(sink)),
      clk_(jiffies & mask_),
      next_((jiffies + nothing()) & mask_) {}

bool WheelByStepping::isAfter(u64 a, u64 b) const {
  const u64 half = mask_ / 2 + 1;
  const u64 ahead = wrapped(a - b);
  return ahead != 0 && ahead < half;
}

void WheelByStepping::indexOf(u64 expires, u64 clk, u32& index, u64& bucketExpiry) const {
  if (isAfter(clk, expires)) {
    index = static_cast<u32>(clk % 64);
    bucketExpiry = clk;
    return;
  }
  u64 longest = 62;
  u64 unit = 1;
  u32 level = 0;
  while (wrapped(expires - clk) > longest && level + 1 < rules_.geometry.depth) {
    longest = longest * 8 + 7;
    unit *= 8;
    ++level;
  }
  u64 at = expires;
  if (wrapped(expires - clk) > longest) at = wrapped(clk + 62 * unit);
  // The first multiple of the level's unit that lies after it.
  const u64 turn = at - at % unit + unit;
  index = 64 * level + static_cast<u32>(turn / unit % 64);
  bucketExpiry = wrapped(turn);
}

/// How far clk is moved before an index is computed: never past a bucket that has not been run.
void WheelByStepping::forward(u64 jiffies) {
  u64 threshold = 1;
  if (rules_.forward != ForwardRule::F2) {
    threshold = 2;
    if (!forwarded_) return;
    if (rules_.forward == ForwardRule::F0 && !idle_) return;
    if (rules_.forward == ForwardRule::F1) {
      if (!mustForward_) return;
      mustForward_ = idle_;
    }
  }
  if (!isAfter(wrapped(jiffies + 1), wrapped(clk_ + threshold))) return;
  if (isAfter(next_, jiffies)) {
    clk_ = jiffies;
  } else if (!isAfter(clk_, next_)) {
    clk_ = next_;
  }
}

void WheelByStepping::detach(u32 timer) {
  const auto erase = [&](std::deque<u32>& list) {
    const auto found = std::find(list.begin(), list.end(), timer);
    if (found == list.end()) return false;
    list.erase(found);
    return true;
  };
  const Timer& known = timers_.at(timer);
  bool found = false;
  if (known.collected) {
    for (std::deque<u32>& list : collected_) found = found || erase(list);
  } else {
    found = erase(buckets_[known.index]);
  }
  if (!found) throw std::logic_error("a pending timer is in no list");
  timers_.erase(timer);
}

void WheelByStepping::enqueue(u32 timer, u64 expires, u64 jiffies, u32 index, u64 bucketExpiry) {
  buckets_[index].push_front(timer);
  timers_[timer] = {.expires = expires, .bucketExpiry = bucketExpiry, .index = index};
  WheelEvent event;
  event.kind = WheelEvent::Kind::Start;
  event.timer = timer;
  event.expires = expires;
  event.now = jiffies;
  event.index = static_cast<u16>(index);
  event.bucketExpiry = bucketExpiry;
  if (rules_.next == NextRule::NX1) {
    if (isAfter(next_, bucketExpiry)) next_ = bucketExpiry;
  } else if (idle_ && isAfter(next_, expires)) {
    // With the check of 5.8 that clk never goes back.
    next_ = isAfter(clk_, expires) ? clk_ : expires;
  }
  sink_(event);
}

bool WheelByStepping::modify(u32 timer, u64 expires, u64 jiffies) {
  expires = wrapped(expires);
  jiffies = wrapped(jiffies);
  u32 index = 0;
  u64 bucketExpiry = 0;
  const auto found = timers_.find(timer);
  const bool old = rules_.forward == ForwardRule::F0;
  if (!old) forward(jiffies);
  if (found != timers_.end()) {
    indexOf(expires, clk_, index, bucketExpiry);
    if (index == found->second.index) {
      found->second.expires = expires;
      return false;
    }
    detach(timer);
    WheelEvent event;
    event.kind = WheelEvent::Kind::Cancel;
    event.timer = timer;
    sink_(event);
  }
  if (old) forward(jiffies);
  indexOf(expires, clk_, index, bucketExpiry);
  enqueue(timer, expires, jiffies, index, bucketExpiry);
  return true;
}

bool WheelByStepping::cancel(u32 timer) {
  if (!timers_.contains(timer)) return false;
  detach(timer);
  WheelEvent event;
  event.kind = WheelEvent::Kind::Cancel;
  event.timer = timer;
  sink_(event);
  return true;
}

u64 WheelByStepping::searched() const {
  Known<u64> least;
  u64 unit = 1;
  for (u32 level = 0; level < rules_.geometry.depth; ++level, unit *= 8) {
    const u64 first = clk_ % unit == 0 ? clk_ : clk_ - clk_ % unit + unit;
    for (u64 step = 0; step < 64; ++step) {
      const u64 at = first + step * unit;
      if (buckets_[64 * level + (at & mask_) / unit % 64].empty()) continue;
      if (!least || isAfter(*least, wrapped(at))) least = wrapped(at);
      break;
    }
  }
  return least.value_or(wrapped(clk_ + nothing()));
}

Known<u64> WheelByStepping::bruteMinimum() const {
  Known<u64> least;
  for (const auto& [id, timer] : timers_) {
    if (timer.collected) continue;
    if (!least || isAfter(*least, timer.bucketExpiry)) least = timer.bucketExpiry;
  }
  return least;
}

bool WheelByStepping::due(u64 jiffies) const { return !isAfter(next_, wrapped(jiffies)); }

void WheelByStepping::expireBuckets() {
  collected_.clear();
  const u64 at = clk_;
  u64 unit = 1;
  for (u32 level = 0; level < rules_.geometry.depth && at % unit == 0; ++level, unit *= 8) {
    std::deque<u32>& bucket = buckets_[64 * level + at / unit % 64];
    for (const u32 timer : bucket) timers_[timer].collected = true;
    collected_.push_back(std::move(bucket));
    bucket.clear();
  }
  clk_ = wrapped(clk_ + 1);
  if (rules_.next == NextRule::NX1) next_ = searched();
  for (std::size_t level = collected_.size(); level-- > 0;) {
    while (!collected_[level].empty()) {
      const u32 timer = collected_[level].front();
      collected_[level].pop_front();
      WheelEvent event;
      event.kind = WheelEvent::Kind::Expire;
      event.timer = timer;
      event.index = static_cast<u16>(timers_.at(timer).index);
      event.expires = timers_.at(timer).expires;
      event.baseclk = at;
      timers_.erase(timer);
      sink_(event);
    }
  }
}

void WheelByStepping::run(u64 jiffies) {
  jiffies = wrapped(jiffies);
  mustForward_ = false;
  while (!isAfter(clk_, jiffies)) {
    if (rules_.next == NextRule::NX1) {
      if (isAfter(next_, jiffies)) return;
      clk_ = next_;
    } else if (wrapped(jiffies - clk_) > 2) {
      const u64 next = searched();
      if (isAfter(next, jiffies)) {
        clk_ = wrapped(jiffies + 1);
        return;
      }
      clk_ = next;
    }
    expireBuckets();
  }
}

bool WheelByStepping::idle(u64 jiffies) {
  jiffies = wrapped(jiffies);
  next_ = searched();
  if (isAfter(jiffies, clk_)) {
    if (isAfter(next_, jiffies)) {
      clk_ = jiffies;
    } else if (isAfter(next_, clk_)) {
      clk_ = next_;
    }
  }
  idle_ = isAfter(next_, wrapped(jiffies + 1));
  if (idle_) mustForward_ = true;
  return idle_;
}

}  // namespace tickscope::support
