// SPDX-License-Identifier: GPL-3.0-or-later
// The formulae of the timer wheel (timer.c calc_wheel_index, 4.8+): bucket of an expiry, and back.
#pragma once

#include "core/model/model_ids.h"

namespace tickscope {

/// jiffies are kept as the kernel's unsigned word; arithmetic is modulo 2^wordBits.
struct WheelGeometry {
  u8 wordBits = 64;       ///< 32 or 64
  u8 depth = 9;           ///< levels: 8 for HZ <= 100, else 9
  bool clampBug = false;  ///< before e2a71bdea816 (5.8): the last level compares absolute values

  [[nodiscard]] u64 wrap(u64 jiffies) const {
    return wordBits == 32 ? jiffies & 0xffffffffU : jiffies;
  }
  /// a - b as the kernel's signed long: negative when a is before b.
  [[nodiscard]] s64 distance(u64 a, u64 b) const {
    return wordBits == 32 ? static_cast<s32>(static_cast<u32>(a - b)) : static_cast<s64>(a - b);
  }
  [[nodiscard]] bool before(u64 a, u64 b) const { return distance(a, b) < 0; }
  [[nodiscard]] u64 earlier(u64 a, u64 b) const { return before(b, a) ? b : a; }
  [[nodiscard]] u64 later(u64 a, u64 b) const { return before(a, b) ? b : a; }
  /// Jiffies of one bucket of a level: 8^level.
  [[nodiscard]] static constexpr u64 granularity(u8 level) { return u64{1} << (3U * level); }
  /// The least delta of a level: 0, then 63 * 8^(level-1).
  [[nodiscard]] static constexpr u64 start(u8 level) {
    return level == 0 ? 0 : u64{63} << (3U * (level - 1U));
  }
  /// The first delta that is clamped, and what it is clamped to.
  [[nodiscard]] u64 cutoff() const { return start(depth); }
  [[nodiscard]] u64 maxTimeout() const {
    return cutoff() - granularity(static_cast<u8>(depth - 1));
  }
};

struct Bucket {
  u16 index = 0;   ///< 64 * level + slot
  u64 expiry = 0;  ///< jiffies at which the bucket is due
  bool clamped = false;
  [[nodiscard]] u8 level() const { return static_cast<u8>(index / 64); }
  [[nodiscard]] u8 slot() const { return static_cast<u8>(index % 64); }
  bool operator==(const Bucket&) const = default;
};

/// calc_wheel_index: the bucket of a timer armed for `expires` on a base whose clk is `clk`.
Bucket bucketFor(const WheelGeometry& geometry, u64 clk, u64 expires);

/// When a base at `clk` next takes the timers of a bucket: the first time at or after clk that falls on it.
/// Empty: the wheel has no such bucket.
Known<u64> nextTurnOf(const WheelGeometry& geometry, u16 index, u64 clk);

/// The bucket expiry from the recorded index alone, for kernels without bucket_expiry. `now` is jiffies at the arm.
/// Where an expiry 63 or more jiffies in the past fits two turns of its slot, the later one is taken: clk is then
/// near `now`. Empty: no clk explains that index (X07).
Known<u64> bucketExpiryOf(const WheelGeometry& geometry, u16 index, u64 expires, u64 now);

/// How far clk must have lagged behind `now` for the index to come out, searching lags that change the level:
/// least and most such lag in jiffies. Empty: none up to the cutoff.
struct ClkLag {
  u64 least, most;
};
Known<ClkLag> impliedLag(const WheelGeometry& geometry, u16 index, u64 expires, u64 now);
/// The same for lags of at most `limit` jiffies behind `latest`, the last clk that comes into question.
Known<ClkLag> impliedLag(const WheelGeometry& geometry, u16 index, u64 expires, u64 latest,
                         u64 limit);

}  // namespace tickscope
