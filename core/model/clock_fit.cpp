// SPDX-License-Identifier: GPL-3.0-or-later
// Convex hulls below anchors, split where one line does not hold.
#include "core/model/clock_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace tickscope {

namespace {

constexpr s64 second = 1'000'000'000;
constexpr std::size_t windowAnchors = 50;
/// Short recordings are cut into this many windows of at least `leastAnchors`.
constexpr std::size_t windowsWanted = 8, leastAnchors = 5;
/// ns: with a half-width beyond this another line is tried.
constexpr s64 poor = 1'000'000;
constexpr s64 unavoidable = 1'000;  ///< ns: what every half-width has on top

/// Differences of damaged numbers wrap instead of being undefined.
s64 minus(s64 a, s64 b) { return static_cast<s64>(static_cast<u64>(a) - static_cast<u64>(b)); }
s64 plus(s64 a, s64 b) { return static_cast<s64>(static_cast<u64>(a) + static_cast<u64>(b)); }
s64 rounded(double value) {
  constexpr double limit = 9.2e18;
  return static_cast<s64>(std::clamp(std::round(value), -limit, limit));
}

s64 timesFive(s64 value) {
  constexpr s64 limit = std::numeric_limits<s64>::max() / 5;
  return 5 * std::clamp(value, -limit, limit);
}

using Anchors = std::span<const ClockAnchor>;

struct Line {
  s64 stampAt = 0, nowAt = 0;
  double rate = 1;
  [[nodiscard]] s64 monoOf(s64 stamp) const {
    const s64 gone = minus(stamp, stampAt);
    // Near 1 the difference is exact and only the small rest goes through floating point.
    if (std::abs(rate - 1) < 0.01) {
      return plus(nowAt, plus(gone, rounded((rate - 1) * static_cast<double>(gone))));
    }
    return plus(nowAt, rounded(rate * static_cast<double>(gone)));
  }
  [[nodiscard]] s64 residual(const ClockAnchor& anchor) const {
    return minus(monoOf(anchor.stamp), anchor.now);
  }
};

/// The line of a given rate that touches the anchors from below.
Line touching(Anchors anchors, double rate) {
  Line line{anchors.front().stamp, anchors.front().now, rate};
  s64 least = std::numeric_limits<s64>::max();
  std::size_t at = 0;
  for (std::size_t i = 0; i < anchors.size(); ++i) {
    const s64 residual = line.residual(anchors[i]);
    if (residual < least) least = residual, at = i;
  }
  return {anchors[at].stamp, anchors[at].now, rate};
}

/// The edge of the hull below the anchors that has the least sum of residuals: the one over their
/// mean time.
Line lowerEdge(Anchors anchors, RateRule rule) {
  if (rule.given()) return touching(anchors, rule.least);
  const ClockAnchor origin = anchors.front();
  const auto x = [&](const ClockAnchor& a) {
    return static_cast<double>(minus(a.now, origin.now));
  };
  const auto y = [&](const ClockAnchor& a) {
    return static_cast<double>(minus(a.stamp, origin.stamp));
  };
  std::vector<std::size_t> hull;
  double sum = 0;
  for (std::size_t i = 0; i < anchors.size(); ++i) {
    const ClockAnchor& c = anchors[i];
    sum += x(c);
    while (!hull.empty() && anchors[hull.back()].now == c.now &&
           anchors[hull.back()].stamp >= c.stamp) {
      hull.pop_back();
    }
    if (!hull.empty() && anchors[hull.back()].now == c.now) continue;
    while (hull.size() >= 2) {
      const ClockAnchor &a = anchors[hull[hull.size() - 2]], &b = anchors[hull.back()];
      const double turn = (x(b) - x(a)) * (y(c) - y(a)) - (y(b) - y(a)) * (x(c) - x(a));
      if (turn > 0) break;
      hull.pop_back();
    }
    hull.push_back(i);
  }
  const double mean = sum / static_cast<double>(anchors.size());
  Known<Line> edge;
  for (std::size_t i = 0; i + 1 < hull.size(); ++i) {
    const ClockAnchor &a = anchors[hull[i]], &b = anchors[hull[i + 1]];
    if (x(b) < mean && i + 2 < hull.size()) continue;
    if (y(b) > y(a)) edge = Line{a.stamp, a.now, (x(b) - x(a)) / (y(b) - y(a))};
    break;
  }
  const bool free = rule.most <= 0;
  if (!edge) return touching(anchors, free ? 1 : std::clamp(1.0, rule.least, rule.most));
  if (free || (rule.least <= edge->rate && edge->rate <= rule.most)) return *edge;
  return touching(anchors, std::clamp(edge->rate, rule.least, rule.most));
}

struct Range {
  std::size_t from, to;
  [[nodiscard]] std::size_t size() const { return to - from; }
};

/// Ranges of at least a second and 50 anchors; of short recordings, an eighth of the anchors.
std::vector<Range> windowsOf(Anchors anchors) {
  std::vector<Range> windows;
  const auto cut = [&](std::size_t count, s64 duration) {
    windows.clear();
    std::size_t from = 0;
    for (std::size_t i = 0; i < anchors.size(); ++i) {
      const bool full =
          i + 1 - from >= count && minus(anchors[i].now, anchors[from].now) >= duration;
      if (full || i + 1 == anchors.size()) {
        windows.push_back({from, i + 1});
        from = i + 1;
      }
    }
    // The rest is no window of its own.
    if (windows.size() > 1 && windows.back().size() < count / 2) {
      windows[windows.size() - 2].to = windows.back().to;
      windows.pop_back();
    }
  };
  cut(windowAnchors, second);
  if (windows.size() < windowsWanted) {
    cut(std::max(leastAnchors, anchors.size() / windowsWanted), 0);
  }
  return windows;
}

Anchors part(Anchors anchors, Range range) { return anchors.subspan(range.from, range.size()); }

struct Quality {
  s64 least = 0, median = 0, worst = 0;
  s64 worstWindow = 0;  ///< the largest of the least residuals of all windows
  [[nodiscard]] s64 halfWidth() const {
    return std::max({median, worstWindow, minus(0, least)}) + unavoidable;
  }
};

Quality qualityOf(Anchors anchors, const Line& line) {
  std::vector<s64> residuals;
  residuals.reserve(anchors.size());
  for (const ClockAnchor& anchor : anchors) residuals.push_back(line.residual(anchor));
  Quality quality;
  for (const Range window : windowsOf(anchors)) {
    quality.worstWindow =
        std::max(quality.worstWindow,
                 *std::min_element(residuals.begin() + static_cast<std::ptrdiff_t>(window.from),
                                   residuals.begin() + static_cast<std::ptrdiff_t>(window.to)));
  }
  const auto middle = residuals.begin() + static_cast<std::ptrdiff_t>(residuals.size() / 2);
  std::nth_element(residuals.begin(), middle, residuals.end());
  quality.median = *middle;
  const auto [least, worst] = std::minmax_element(residuals.begin(), residuals.end());
  quality.least = *least;
  quality.worst = *worst;
  return quality;
}

/// The rate from window to window, whose median a few steps do not move.
double usualRate(const std::vector<ClockAnchor>& best, RateRule rule) {
  if (rule.given()) return rule.least;
  std::vector<double> rates;
  for (std::size_t i = 0; i + 1 < best.size(); ++i) {
    const s64 gone = minus(best[i + 1].stamp, best[i].stamp);
    const s64 passed = minus(best[i + 1].now, best[i].now);
    if (gone > 0 && passed > 0) {
      rates.push_back(static_cast<double>(passed) / static_cast<double>(gone));
    }
  }
  if (rates.empty()) return rule.most <= 0 ? 1 : std::clamp(1.0, rule.least, rule.most);
  const auto middle = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2);
  std::nth_element(rates.begin(), middle, rates.end());
  return rule.most <= 0 ? *middle : std::clamp(*middle, rule.least, rule.most);
}

class Splitter {
 public:
  Splitter(Anchors anchors, RateRule rule) : anchors_(anchors), rule_(rule) {}

  std::vector<Range> ranges() {
    split({0, anchors_.size()}, 0);
    return std::move(ranges_);
  }

 private:
  /// One line, or two parts and again.
  void split(Range range, int depth) {
    const Anchors here = part(anchors_, range);
    const Known<std::size_t> at = depth < 12 ? border(here) : Known<std::size_t>{};
    if (!at) {
      ranges_.push_back(range);
      return;
    }
    split({range.from, range.from + *at}, depth + 1);
    split({range.from + *at, range.to}, depth + 1);
  }

  /// Where to split, if one line does not hold.
  [[nodiscard]] Known<std::size_t> border(Anchors here) const {
    if (here.size() < 2 * leastAnchors) return {};
    const std::vector<Range> windows = windowsOf(here);
    if (windows.size() < 2) return {};
    const Line whole = lowerEdge(here, rule_);
    std::vector<ClockAnchor> best;
    std::vector<s64> spreads;
    for (const Range window : windows) {
      const Anchors anchors = part(here, window);
      const auto less = [&](const ClockAnchor& a, const ClockAnchor& b) {
        return whole.residual(a) < whole.residual(b);
      };
      best.push_back(*std::min_element(anchors.begin(), anchors.end(), less));
    }
    // Residuals inside a window tell the noise without what the line does over the whole range.
    const double rate = usualRate(best, rule_);
    std::vector<s64> noise;
    for (const Range window : windows) {
      const Anchors anchors = part(here, window);
      const Line line = touching(anchors, rate);
      std::vector<s64> residuals;
      for (const ClockAnchor& anchor : anchors) residuals.push_back(line.residual(anchor));
      const auto middle = residuals.begin() + static_cast<std::ptrdiff_t>(residuals.size() / 2);
      std::nth_element(residuals.begin(), middle, residuals.end());
      noise.push_back(*middle);
    }
    std::nth_element(noise.begin(), noise.begin() + static_cast<std::ptrdiff_t>(noise.size() / 2),
                     noise.end());
    const s64 bound = timesFive(plus(noise[noise.size() / 2], unavoidable));
    if (qualityOf(here, whole).worstWindow <= bound) return {};

    // Detrended least residuals of the windows; the split leaves the least spread on both sides.
    std::vector<s64> level;
    const Line trend{here.front().stamp, here.front().now, rate};
    for (const ClockAnchor& anchor : best) level.push_back(trend.residual(anchor));
    Known<std::size_t> at = jump(here, trend, bound);
    if (at) return at;
    return bend(windows, level);
  }

  /// A step: before it all anchors lie on one side of what comes after.
  [[nodiscard]] static Known<std::size_t> jump(Anchors here, const Line& trend, s64 bound) {
    std::vector<s64> level;
    level.reserve(here.size());
    for (const ClockAnchor& anchor : here) level.push_back(trend.residual(anchor));
    std::vector<s64> after(level.size() + 1, std::numeric_limits<s64>::max());
    for (std::size_t i = level.size(); i-- > 0;) after[i] = std::min(level[i], after[i + 1]);
    s64 before = std::numeric_limits<s64>::max();
    Known<std::size_t> at;
    s64 largest = bound;
    for (std::size_t i = 1; i < level.size(); ++i) {
      before = std::min(before, level[i - 1]);
      const std::size_t support = std::min(i, level.size() - i);
      const s64 size = minus(after[i], before);
      const s64 height = size < 0 ? minus(0, size) : size;
      if (support < leastAnchors || (support < windowAnchors && height < 1'000'000)) continue;
      // The whole height must lie between two neighbours; a ramp is no step. Forward: the last
      // anchor below what follows is the last before the step; backward: the first one below what
      // went before is the first after it.
      const bool edge = size > 0 ? plus(level[i - 1], height / 2) < after[i]
                                 : plus(level[i], height / 2) < before;
      if (!edge || height <= largest) continue;
      largest = height;
      at = i;
    }
    return at;
  }

  /// The rate changed: where the levels of the windows are farthest from the straight line between
  /// their ends.
  [[nodiscard]] static Known<std::size_t> bend(const std::vector<Range>& windows,
                                               const std::vector<s64>& level) {
    if (windows.size() < windowsWanted) return {};
    const double run = static_cast<double>(level.size() - 1);
    const double rise = static_cast<double>(minus(level.back(), level.front()));
    double farthest = 0;
    std::size_t at = 0;
    for (std::size_t i = 2; i + 2 < level.size(); ++i) {
      const double straight =
          static_cast<double>(level.front()) + rise * static_cast<double>(i) / run;
      const double off = std::abs(static_cast<double>(level[i]) - straight);
      if (off > farthest) farthest = off, at = i;
    }
    if (at == 0) return {};
    return windows[at].from;
  }

  Anchors anchors_;
  RateRule rule_;
  std::vector<Range> ranges_;
};

/// A line through the middle, for clocks that run now too slow and now too fast: no envelope is
/// theirs.
Line middle(Anchors anchors, double rate) {
  Line line{anchors.front().stamp, anchors.front().now, rate};
  std::vector<s64> residuals;
  residuals.reserve(anchors.size());
  for (const ClockAnchor& anchor : anchors) residuals.push_back(line.residual(anchor));
  const auto median = residuals.begin() + static_cast<std::ptrdiff_t>(residuals.size() / 2);
  std::nth_element(residuals.begin(), median, residuals.end());
  line.nowAt = minus(line.nowAt, *median);
  return line;
}

/// Rates for that line: the usual one from window to window, and 1 where the clock has ns.
std::vector<double> likelyRates(Anchors anchors, RateRule rule) {
  std::vector<ClockAnchor> ofWindows;
  for (const Range window : windowsOf(anchors)) {
    ofWindows.push_back(anchors[window.from + window.size() / 2]);
  }
  std::vector<double> rates{usualRate(ofWindows, rule)};
  if (rule.least <= 1 && 1 <= rule.most) rates.push_back(1);
  return rates;
}

ClockPiece pieceOf(Anchors anchors, RateRule rule) {
  Line line = lowerEdge(anchors, rule);
  Quality quality = qualityOf(anchors, line);
  bool envelope = true;
  if (quality.halfWidth() > poor && anchors.size() >= 2 * leastAnchors) {
    for (const double rate : likelyRates(anchors, rule)) {
      const Line other = middle(anchors, rate);
      const Quality otherQuality = qualityOf(anchors, other);
      if (otherQuality.halfWidth() > plus(quality.halfWidth(), quality.halfWidth() / 8)) continue;
      line = other;
      quality = otherQuality;
      envelope = false;
    }
  }
  ClockPiece piece;
  piece.envelope = envelope;
  piece.stampAt = line.stampAt;
  piece.nowAt = line.nowAt;
  piece.rate = line.rate;
  piece.first = anchors.front();
  piece.last = anchors.back();
  piece.anchors = static_cast<u32>(anchors.size());
  piece.leastResidual = quality.least;
  piece.medianResidual = quality.median;
  piece.worstResidual = quality.worst;
  piece.halfWidth = quality.halfWidth();
  if (!rule.given()) {
    // A line through two points that are each off by at most the half-width.
    const s64 span = std::max<s64>(1, minus(anchors.back().now, anchors.front().now));
    piece.rateError = 1e-9 + 2 * static_cast<double>(piece.halfWidth) / static_cast<double>(span);
  }
  return piece;
}

bool isStep(const ClockPiece& before, const ClockPiece& after) {
  const s64 here = std::midpoint(before.last.stamp, after.first.stamp);
  const s64 gap = minus(before.monoOf(here), after.monoOf(here));
  const s64 bound = timesFive(std::max(before.halfWidth, after.halfWidth));
  return gap > bound || gap < -bound;
}

/// Windows say only roughly where a rate changed: it is where the lines of both sides cross.
void meetWhereTheyCross(Anchors anchors, RateRule rule, std::vector<Range>& ranges) {
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    Range &left = ranges[i - 1], &right = ranges[i];
    const ClockPiece a = pieceOf(part(anchors, left), rule);
    const ClockPiece b = pieceOf(part(anchors, right), rule);
    if (isStep(a, b) || a.rate == b.rate) continue;
    // Distance of the lines where they meet now, and how fast it changes.
    const s64 gap = minus(b.monoOf(b.first.stamp), a.monoOf(b.first.stamp));
    const double far = static_cast<double>(gap) / (a.rate - b.rate);
    const s64 cross = plus(b.first.stamp, rounded(far));
    const auto at = std::partition_point(anchors.begin() + static_cast<std::ptrdiff_t>(left.from),
                                         anchors.begin() + static_cast<std::ptrdiff_t>(right.to),
                                         [&](const ClockAnchor& c) { return c.stamp < cross; });
    const auto border = static_cast<std::size_t>(at - anchors.begin());
    // Not further than a part of each side, else they meet by accident.
    if (border < left.to - left.size() / 4 || border > right.from + right.size() / 4) continue;
    left.to = right.from = border;
  }
}

}  // namespace

s64 ClockPiece::monoOf(s64 stamp) const { return Line{stampAt, nowAt, rate}.monoOf(stamp); }

s64 ClockPiece::stampOf(s64 mono) const {
  const s64 gone = minus(mono, nowAt);
  if (std::abs(rate - 1) < 0.01) {
    return plus(stampAt, plus(gone, rounded((1 / rate - 1) * static_cast<double>(gone))));
  }
  return plus(stampAt, rounded(static_cast<double>(gone) / rate));
}

s64 ClockPiece::errorAt(s64 mono) const {
  const s64 before = minus(first.now, mono), after = minus(mono, last.now);
  const s64 outside = std::max<s64>({0, before, after});
  return plus(halfWidth, rounded(rateError * static_cast<double>(outside)));
}

std::vector<ClockPiece> fitClock(std::span<const ClockAnchor> anchors, RateRule rule) {
  std::vector<ClockPiece> pieces;
  if (anchors.empty()) return pieces;
  if (rule.most <= 0 && anchors.front().now == anchors.back().now) return pieces;
  std::vector<Range> ranges = Splitter(anchors, rule).ranges();
  meetWhereTheyCross(anchors, rule, ranges);
  for (const Range range : ranges) {
    ClockPiece piece = pieceOf(part(anchors, range), rule);
    if (!pieces.empty()) {
      piece.stepBefore = isStep(pieces.back(), piece);
    }
    pieces.push_back(piece);
  }
  return pieces;
}

}  // namespace tickscope
