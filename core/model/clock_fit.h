// SPDX-License-Identifier: GPL-3.0-or-later
// Lines through clock anchors: the lower envelope, its error, and where it steps or bends.
#pragma once

#include <span>
#include <vector>

#include "core/base/quantity.h"

namespace tickscope {

/// The monotonic clock read `now` (ns), and not before that a record was stamped `stamp` (trace
/// units).
struct ClockAnchor {
  s64 stamp, now;
  bool operator==(const ClockAnchor&) const = default;
};

/// Bounds of the rate, monotonic ns a trace unit. Equal: the rate is given. Not above 0: free.
struct RateRule {
  double least = 1, most = 1;
  [[nodiscard]] bool given() const { return least == most && most > 0; }
};

/// mono = now + rate * (stamp - stampAt), good from anchor `from` to anchor `to`.
struct ClockPiece {
  s64 stampAt = 0, nowAt = 0;
  double rate = 1;
  double rateError = 0;  ///< ns a ns: what the error grows by outside the anchored range
  ClockAnchor first{}, last{};
  bool stepBefore = false;  ///< the clock stepped between the piece before and this one (B10)
  bool envelope = true;     ///< else a line through the middle: stamps are too early, too
  u32 anchors = 0;
  s64 leastResidual = 0, medianResidual = 0, worstResidual = 0;  ///< ns
  s64 halfWidth = 0;                                             ///< ns

  [[nodiscard]] s64 monoOf(s64 stamp) const;
  [[nodiscard]] s64 stampOf(s64 mono) const;
  /// Half-width at a monotonic time, which grows outside the anchored range.
  [[nodiscard]] s64 errorAt(s64 mono) const;
};

/// Fits `anchors`, which are sorted by `now`. The stamp of an anchor is never before the line, so
/// the line is an edge of the convex hull below them; of these edges the one with the least sum of
/// residuals. One line as long as it holds in every window of max(1 s, 50 anchors); else pieces,
/// with a step between two that do not meet. Empty without anchors, or with a free rate and only
/// one.
std::vector<ClockPiece> fitClock(std::span<const ClockAnchor> anchors, RateRule rule);

}  // namespace tickscope
