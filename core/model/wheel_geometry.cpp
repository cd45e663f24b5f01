// SPDX-License-Identifier: GPL-3.0-or-later
// Forward and inverse of the wheel's index formula, in the kernel's wrapping arithmetic.
#include "core/model/wheel_geometry.h"

#include <algorithm>

namespace tickscope {
namespace {

constexpr u32 shiftOf(u8 level) { return 3U * level; }

/// One granule up, even for an aligned expiry: that is what makes a wheel timer never early.
Bucket bucketAt(const WheelGeometry& geometry, u64 expires, u8 level) {
  const u64 granule = (geometry.wrap(expires) >> shiftOf(level)) + 1;
  return {.index = static_cast<u16>(64U * level + (granule & 63U)),
          .expiry = geometry.wrap(granule << shiftOf(level))};
}

/// The last value at or before `latest` that falls on a slot of a level and is a multiple of its granule.
u64 lastTurnOf(const WheelGeometry& geometry, u8 level, u8 slot, u64 latest) {
  const u64 granule = geometry.wrap(latest) >> shiftOf(level);
  const u64 back = (granule - slot) & 63U;
  return geometry.wrap((granule - back) << shiftOf(level));
}

/// The greatest positive difference of the kernel's signed long; with 64 bits a quarter of it, which no timer
/// reaches and which leaves room for sums.
s64 farthest(const WheelGeometry& geometry) {
  return geometry.wordBits == 32 ? s64{0x7fffffff} : s64{1} << 61U;
}

/// Widens `found` by the part of [least, most] that lies in [0, limit].
void admit(Known<ClkLag>& found, s64 least, s64 most, u64 limit) {
  least = std::max<s64>(least, 0);
  most = std::min(most, static_cast<s64>(limit));
  if (least > most) return;
  const ClkLag lag{static_cast<u64>(least), static_cast<u64>(most)};
  found = found ? ClkLag{std::min(found->least, lag.least), std::max(found->most, lag.most)} : lag;
}

struct Question {
  u8 level, slot;
  u64 expires, latest, limit;
  s64 ahead;  ///< expires - latest: the delta of a clk is this plus its lag
};

/// An expiry before clk goes into the slot of clk itself.
void admitPast(Known<ClkLag>& found, const Question& q) {
  if (q.level != 0 || q.ahead >= 0) return;
  const s64 first = static_cast<s64>((q.latest - q.slot) & 63U);
  const s64 end = std::min<s64>(-(q.ahead + 1), static_cast<s64>(q.limit));
  if (first <= end) admit(found, first, first + (end - first) / 64 * 64, q.limit);
}

/// Timeouts from the cutoff on go where clk + the longest timeout goes.
void admitClamped(Known<ClkLag>& found, const WheelGeometry& geometry, const Question& q) {
  const s64 first = std::max<s64>(static_cast<s64>(geometry.cutoff()) - q.ahead, 0);
  const u64 top = geometry.wrap(q.latest + geometry.maxTimeout() - static_cast<u64>(first));
  const u64 size = WheelGeometry::granularity(q.level);
  const u64 inside = top & (size - 1);
  const u64 back = ((top >> shiftOf(q.level)) + 1 - q.slot) & 63U;
  const s64 least = first + static_cast<s64>(back == 0 ? 0 : inside + 1 + (back - 1) * size);
  admit(found, least, first + static_cast<s64>(inside + back * size), q.limit);
}

}  // namespace

Bucket bucketFor(const WheelGeometry& geometry, u64 clk, u64 expires) {
  const u64 delta = geometry.wrap(expires - clk);
  const u8 last = static_cast<u8>(geometry.depth - 1);
  for (u8 level = 0; level < last; ++level) {
    if (delta < WheelGeometry::start(static_cast<u8>(level + 1))) {
      return bucketAt(geometry, expires, level);
    }
  }
  if (geometry.before(expires, clk)) {
    return {.index = static_cast<u16>(clk & 63U), .expiry = geometry.wrap(clk)};
  }
  if (geometry.clampBug) {
    if (geometry.wrap(expires) < geometry.cutoff()) return bucketAt(geometry, expires, last);
    Bucket bucket = bucketAt(geometry, geometry.maxTimeout(), last);
    bucket.expiry = nextTurnOf(geometry, bucket.index, clk).value_or(bucket.expiry);
    bucket.clamped = true;
    return bucket;
  }
  if (delta < geometry.cutoff()) return bucketAt(geometry, expires, last);
  Bucket bucket = bucketAt(geometry, clk + geometry.maxTimeout(), last);
  bucket.clamped = true;
  return bucket;
}

Known<u64> nextTurnOf(const WheelGeometry& geometry, u16 index, u64 clk) {
  const u8 level = static_cast<u8>(index / 64);
  if (level >= geometry.depth) return {};
  const u64 size = WheelGeometry::granularity(level);
  const u64 granule = geometry.wrap(clk + size - 1) >> shiftOf(level);
  const u64 ahead = (index - granule) & 63U;
  return geometry.wrap((granule + ahead) << shiftOf(level));
}

Known<u64> bucketExpiryOf(const WheelGeometry& geometry, u16 index, u64 expires, u64 now) {
  const u8 level = static_cast<u8>(index / 64);
  if (level >= geometry.depth) return {};
  const u8 slot = static_cast<u8>(index % 64);
  const u64 latest = geometry.wrap(now + 1);
  // clk is at most one ahead of jiffies, so delta is at least this; a lag only makes it greater.
  const s64 least = geometry.distance(expires, latest);
  if (level == 0 && least < 0) {
    // Before clk it lies at clk, which is after the expiry; else at its own slot.
    const u64 turn = lastTurnOf(geometry, 0, slot, latest);
    return geometry.before(expires, turn) ? Known<u64>(turn) : Known<u64>();
  }
  const Bucket plain = bucketAt(geometry, expires, level);
  const bool fits = plain.index == index;
  const u8 last = static_cast<u8>(geometry.depth - 1);
  if (level < last) {
    if (fits && least < static_cast<s64>(WheelGeometry::start(static_cast<u8>(level + 1)))) {
      return plain.expiry;
    }
    return {};
  }
  if (geometry.clampBug) {
    if (geometry.wrap(expires) < geometry.cutoff()) {
      return fits ? Known<u64>(plain.expiry) : Known<u64>();
    }
    if (bucketAt(geometry, geometry.maxTimeout(), last).index != index) return {};
    return nextTurnOf(geometry, index, now);
  }
  if (fits && least < static_cast<s64>(geometry.cutoff())) return plain.expiry;
  if (!impliedLag(geometry, index, expires, latest, static_cast<u64>(farthest(geometry) / 2))) {
    return {};
  }
  return lastTurnOf(geometry, level, slot, latest + geometry.cutoff());
}

Known<ClkLag> impliedLag(const WheelGeometry& geometry, u16 index, u64 expires, u64 now) {
  return impliedLag(geometry, index, expires, now, geometry.cutoff());
}

Known<ClkLag> impliedLag(const WheelGeometry& geometry, u16 index, u64 expires, u64 latest,
                         u64 limit) {
  const u8 level = static_cast<u8>(index / 64);
  if (level >= geometry.depth) return {};
  const u8 last = static_cast<u8>(geometry.depth - 1);
  const s64 reach = farthest(geometry);
  limit = std::min(limit, static_cast<u64>(reach));
  const Question question{.level = level,
                          .slot = static_cast<u8>(index % 64),
                          .expires = expires,
                          .latest = latest,
                          .limit = limit,
                          .ahead = std::clamp(geometry.distance(expires, latest), -reach, reach)};
  Known<ClkLag> found;
  const bool bugged =
      geometry.clampBug && level == last && geometry.wrap(expires) >= geometry.cutoff();
  const Bucket plain = bucketAt(geometry, bugged ? geometry.maxTimeout() : expires, level);
  if (plain.index == index) {
    const s64 end = level == last && geometry.clampBug
                        ? reach
                        : static_cast<s64>(WheelGeometry::start(static_cast<u8>(level + 1))) - 1;
    const s64 least = static_cast<s64>(WheelGeometry::start(level));
    admit(found, least - question.ahead, end - question.ahead, limit);
  }
  admitPast(found, question);
  if (level == last && !geometry.clampBug) admitClamped(found, geometry, question);
  return found;
}

}  // namespace tickscope
