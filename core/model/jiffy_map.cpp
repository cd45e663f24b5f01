// SPDX-License-Identifier: GPL-3.0-or-later
// Three ways to HZ, and the least distance between readings of jiffies and their boundaries.
#include "core/model/jiffy_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

namespace tickscope {

namespace {

constexpr std::array<u32, 15> usualHz{24,  32,  48,  64,  100,  128,  200, 250,
                                      256, 300, 500, 512, 1000, 1024, 1200};
constexpr u32 leastHz = 24, mostHz = 1200;
/// So often a difference must be seen to be the grid's.
constexpr u32 gridRepeats = 5;
/// Jiffies start 300 s before they pass this (INITIAL_JIFFIES), also on 64 bit.
constexpr u64 bootWrap = u64{1} << 32U;
constexpr s64 second = 1'000'000'000;
/// 58 years of the fastest rate; values beyond are damaged.
constexpr u64 largestJiffies = u64{1} << 41U;

/// Damaged numbers wrap instead of being undefined.
s64 minus(s64 a, s64 b) { return static_cast<s64>(static_cast<u64>(a) - static_cast<u64>(b)); }
s64 plus(s64 a, s64 b) { return static_cast<s64>(static_cast<u64>(a) + static_cast<u64>(b)); }
s64 inNs(u64 jiffies, s64 tick) { return static_cast<s64>(jiffies * static_cast<u64>(tick)); }
s64 floorDiv(s64 a, s64 b) { return a / b - (a % b < 0 ? 1 : 0); }
s64 modulo(s64 a, s64 b) { return a - floorDiv(a, b) * b; }

/// The nearest of the usual rates, if it is near enough and alone there.
Known<u32> usual(double hz) {
  std::array<std::pair<double, u32>, usualHz.size()> off;
  for (std::size_t i = 0; i < usualHz.size(); ++i) {
    off[i] = {std::abs(hz - usualHz[i]) / usualHz[i], usualHz[i]};
  }
  std::partial_sort(off.begin(), off.begin() + 2, off.end());
  if (off[0].first >= 0.02 || off[1].first <= 3 * off[0].first) return {};
  return off[0].second;
}

struct Grid {
  u32 hz = 0;
  s64 tick = 0;
  Known<s64> phase;  ///< of the expiries, modulo tick; empty: CPUs are skewed
  Address function{};
  std::size_t timers = 0, arms = 0;
};

/// A stopped tick is put off for as long as the clocksource can go unread, which is no multiple of
/// a tick.
constexpr s64 putOff = 60 * second;

/// What the arms of a callback's timers say; none when a timer is armed on several CPUs, which
/// ticks are not.
struct Steps {
  std::map<s64, u32> sizes;
  u32 all = 0;
  std::map<u16, std::vector<s64>> times;  ///< by CPU
  std::size_t timers = 0;
};
Known<Steps> stepsOf(std::span<const ArmGroup::Arm> arms) {
  Steps steps;
  std::map<u64, std::pair<u16, s64>> last;
  for (const ArmGroup::Arm& arm : arms) {
    // No tick runs for 10^18 ns; what claims to is stopped for ever or damaged.
    if (arm.time < 0 || isCalendarTime(arm.time)) continue;
    const auto [before, first] = last.try_emplace(number(arm.timer), number(arm.cpu), arm.time);
    if (before->second.first != number(arm.cpu)) return {};
    const s64 step = arm.time - before->second.second;
    if (step > putOff) continue;
    before->second.second = arm.time;
    if (first || step < -putOff || step == 0) continue;
    ++steps.sizes[std::abs(step)];
    ++steps.all;
    steps.times[number(arm.cpu)].push_back(arm.time);
  }
  steps.timers = last.size();
  return steps;
}

/// The rate that ticks of that length belong to.
Known<u32> hzOf(s64 tick) {
  const s64 hz = (second + tick / 2) / tick;
  if (hz < leastHz || hz > mostHz || JiffyMap::tickNs(static_cast<u32>(hz)) != tick) return {};
  return static_cast<u32>(hz);
}

/// Where most of a CPU's times lie modulo a tick; empty: here and there.
Known<s64> phaseOf(const std::vector<s64>& times, s64 tick) {
  std::map<s64, std::size_t> counts;
  for (const s64 time : times) ++counts[time % tick];
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == counts.end() || most->second * 10 < times.size() * 9) return {};
  return most->first;
}

/// The grid of a callback's arms, if it could be the tick.
Known<Grid> gridOf(const ArmGroup& group) {
  if (group.relative || group.slack || group.byTasks * 2 > group.arms.size()) return {};
  const Known<Steps> steps = stepsOf(group.arms);
  if (!steps) return {};
  const auto least = std::find_if(steps->sizes.begin(), steps->sizes.end(),
                                  [](const auto& step) { return step.second >= gridRepeats; });
  if (least == steps->sizes.end()) return {};
  const Known<u32> hz = hzOf(least->first);
  if (!hz) return {};
  Grid grid{*hz, least->first, {}, group.function, steps->timers, group.arms.size()};
  u32 off = 0;
  for (const auto& [size, times] : steps->sizes) {
    if (size % grid.tick != 0) off += times;
  }
  if (off * 10 > steps->all) return {};
  bool same = true;
  for (const auto& [cpu, times] : steps->times) {
    const Known<s64> phase = phaseOf(times, grid.tick);
    same = same && phase && (!grid.phase || *grid.phase == *phase);
    if (phase) grid.phase = phase;
  }
  if (!same) grid.phase = {};
  return grid;
}

/// The rate of a callback that expires at about equal distances, on timers that stay on their CPU.
Known<u32> hzByExpiries(const ArmGroup& group) {
  const Known<Steps> steps = stepsOf(group.expiries);
  if (!steps || steps->all < 20) return {};
  for (const u32 hz : usualHz) {
    const s64 tick = JiffyMap::tickNs(hz), near = tick / 8;
    u32 one = 0, on = 0;
    for (const auto& [size, times] : steps->sizes) {
      const s64 off = modulo(size + near, tick);
      if (off < 2 * near) on += times;
      if (size > tick - near && size < tick + near) one += times;
    }
    // Chance would put a quarter of them there.
    if (one >= gridRepeats && on * 10 >= steps->all * 6) return hz;
  }
  return {};
}

}  // namespace

class JiffyFit {
 public:
  JiffyFit(std::span<const JiffyPoint> points, std::span<const ArmGroup> arms, StampUnit unit,
           Known<u8> wordBits)
      : points_(points.begin(), points.end()), arms_(arms), unit_(unit) {
    map_.wraps_ = wordBits == u8{32};
    std::erase_if(points_, [](const JiffyPoint& p) { return p.jiffies > largestJiffies; });
    unwrap();
  }

  JiffyMap run() {
    measureSlope();
    findGrid();
    decide();
    if (map_.hz_) {
      settleEpoch();
      findPhase();
      index();
    }
    return std::move(map_);
  }

 private:
  struct Timed {
    s64 time;  ///< ns of whichever clock
    u64 jiffies;
  };

  /// 32-bit values: each is taken near the one before it.
  void unwrap() {
    if (points_.empty()) return;
    u64 near = points_.front().jiffies;
    for (JiffyPoint& point : points_) {
      if (map_.wraps_) {
        const auto off = static_cast<s32>(static_cast<u32>(point.jiffies - near));
        point.jiffies = near + static_cast<u64>(static_cast<s64>(off));
      }
      near = point.jiffies;
    }
    map_.reference_ = points_[points_.size() / 2].jiffies;
  }

  /// Readings with a time, by the map or by a clock of known unit.
  [[nodiscard]] std::vector<Timed> timed() const {
    std::vector<Timed> found;
    const bool mapped = std::any_of(points_.begin(), points_.end(),
                                    [](const JiffyPoint& p) { return p.mono.has_value(); });
    for (const JiffyPoint& point : points_) {
      if (mapped) {
        if (point.mono) found.push_back({*point.mono, point.jiffies});
      } else if (unit_ == StampUnit::Nanoseconds) {
        found.push_back({point.stamp, point.jiffies});
      } else if (unit_ == StampUnit::TenMs && -(second * 100) < point.stamp &&
                 point.stamp < second * 100) {
        found.push_back({point.stamp * 10'000'000, point.jiffies});
      }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Timed& a, const Timed& b) { return a.time < b.time; });
    return found;
  }

  /// Of the readings in a part of the time the one that is least late for a given period.
  [[nodiscard]] static const Timed& promptest(std::span<const Timed> of, double period) {
    const Timed& first = of.front();
    const auto late = [&](const Timed& t) {
      return static_cast<double>(minus(t.time, first.time)) -
             period * static_cast<double>(
                          minus(static_cast<s64>(t.jiffies), static_cast<s64>(first.jiffies)));
    };
    return *std::min_element(of.begin(), of.end(),
                             [&](const Timed& a, const Timed& b) { return late(a) < late(b); });
  }

  /// Jiffies are read after their boundary, never before: the least late readings of the first and
  /// the last third give the slope.
  void measureSlope() {
    const std::vector<Timed> readings = timed();
    if (readings.size() < 4) return;
    Timed a = readings.front(), b = readings.back();
    for (int round = 0; round < 3; ++round) {
      const auto jiffies = minus(static_cast<s64>(b.jiffies), static_cast<s64>(a.jiffies));
      const s64 passed = minus(b.time, a.time);
      if (jiffies < 20 || passed <= 0) break;
      const double period = static_cast<double>(passed) / static_cast<double>(jiffies);
      slope_ = 1e9 / period;
      span_ = jiffies;
      const s64 from = readings.front().time;
      const s64 third = minus(readings.back().time, from) / 3;
      const auto at = [&](s64 time) {
        return static_cast<std::size_t>(
            std::partition_point(readings.begin(), readings.end(),
                                 [&](const Timed& t) { return minus(t.time, from) <= time; }) -
            readings.begin());
      };
      const std::size_t early = at(third), late = at(2 * third);
      if (early == 0 || late >= readings.size()) break;
      a = promptest(std::span(readings).first(early), period);
      b = promptest(std::span(readings).subspan(late), period);
    }
  }

  void findGrid() {
    for (const ArmGroup& group : arms_) {
      const Known<Grid> grid = gridOf(group);
      if (!grid) continue;
      // Others count on a grid too: a periodic timer of 5 ms looks like a tick of 200 Hz.
      // A short span tells the slope as far as the lateness of two ticks allows.
      const double tolerance = std::max(0.02, 2.0 / static_cast<double>(std::max<s64>(span_, 1)));
      if (slope_ && std::abs(*slope_ - grid->hz) > tolerance * grid->hz) {
        if (!contrary_ || contrary_->timers < grid->timers) contrary_ = grid;
        continue;
      }
      ambiguous_ |= grid_ && grid_->hz != grid->hz;
      const auto rank = [](const Grid& g) {
        return std::tuple(g.timers, g.phase == s64{0}, g.arms);
      };
      if (!grid_ || rank(*grid_) < rank(*grid)) grid_ = grid;
    }
  }

  /// HZ by how far jiffies are since boot. `hz`: with what rate to judge the wrap of 32-bit values.
  [[nodiscard]] Known<double> sinceBoot() const {
    for (auto point = points_.rbegin(); point != points_.rend(); ++point) {
      if (!point->mono) continue;
      const s64 passed = minus(*point->mono, 300 * second);
      if (-5 * second <= passed && passed <= 5 * second) return {};
      s64 jiffies = static_cast<s64>(point->jiffies - bootWrap);
      if (map_.wraps_) jiffies = static_cast<s32>(static_cast<u32>(point->jiffies));
      return static_cast<double>(jiffies) * 1e9 / static_cast<double>(passed);
    }
    return {};
  }

  void decide() {
    const Known<u32> bySlope = slope_ ? usual(*slope_) : Known<u32>{};
    const Known<double> byBoot = sinceBoot();
    std::string text;
    const auto say = [&](std::string clause) {
      if (!text.empty()) text += "; ";
      text += clause;
    };
    if (!grid_ && !bySlope && contrary_ && !slope_) grid_ = contrary_;
    Known<u32> hz = bySlope;
    double confidence = 0.97;
    bool contradicted = false;
    if (grid_) {
      hz = grid_->hz;
      say(fmt::format("{} arms of one callback lie {} ns apart", grid_->arms, grid_->tick));
      map_.tickFunction_ = grid_->function;
    }
    if (slope_) say(fmt::format("{} jiffies passed at {:.2f} a second", span_, *slope_));
    if (grid_ && ((bySlope && *bySlope != grid_->hz) || (ambiguous_ && !slope_))) {
      confidence = 0.6;
      contradicted = true;
    }
    if (byBoot) say(fmt::format("jiffies since boot make {:.1f} a second", *byBoot));
    if (!hz) {
      confidence = 0.6;
      if (byBoot) hz = usual(*byBoot);
      for (const ArmGroup& group : arms_) {
        if (hz) break;
        hz = hzByExpiries(group);
        if (hz) say(fmt::format("one callback expires about {} times a second", *hz));
      }
    } else if (byBoot && std::abs(*byBoot - *hz) > 0.2 * *hz && !(grid_ && bySlope)) {
      confidence = 0.6;
      contradicted = true;
    }
    if (hz) map_.hz_ = JiffyMap::HzResult{*hz, confidence, std::move(text), contradicted};
  }

  /// 32-bit values of a kernel that is up for longer than 300 s: the rounds that they have wrapped.
  void settleEpoch() {
    if (!map_.wraps_) return;
    const double tick = static_cast<double>(JiffyMap::tickNs(map_.hz_->hz));
    for (const JiffyPoint& point : points_) {
      if (!point.mono) continue;
      const double expected = static_cast<double>(bootWrap) - 300.0 * map_.hz_->hz +
                              static_cast<double>(*point.mono) / tick;
      const double rounds =
          std::round((expected - static_cast<double>(point.jiffies)) / 4294967296.0);
      if (rounds < 1 || rounds > 1000) return;
      const u64 more = static_cast<u64>(rounds) << 32U;
      for (JiffyPoint& each : points_) each.jiffies += more;
      map_.reference_ += more;
      return;
    }
  }

  void findPhase() {
    const s64 tick = JiffyMap::tickNs(map_.hz_->hz);
    std::vector<s64> above;
    bool fine = false;
    for (const JiffyPoint& point : points_) {
      const s64 boundary = inNs(point.jiffies, tick);
      Known<s64> latest = point.notAfter;
      if (point.mono) {
        const s64 most = plus(*point.mono, point.error);
        latest = latest ? std::min(*latest, most) : most;
        fine |= point.error < tick / 4;
      }
      if (latest) above.push_back(minus(*latest, boundary));
    }
    if (above.empty()) return;
    // A reading whose time is not known to a part of a tick says little, many say enough.
    if (!fine && above.size() < 20) return;
    std::sort(above.begin(), above.end());
    // One damaged value must not shift them all.
    std::size_t at = 0;
    if (above.size() >= 10 && minus(above[1], above[0]) > 2 * tick) at = 1;
    map_.phase_ = above[at];
    if (grid_ && grid_->hz == map_.hz_->hz && grid_->phase) {
      map_.phase_ = minus(above[at], modulo(minus(above[at], *grid_->phase), tick));
      map_.onGrid_ = true;
    }
  }

  void index() {
    if (!map_.phase_) return;
    const s64 tick = JiffyMap::tickNs(map_.hz_->hz);
    for (const JiffyPoint& point : points_) {
      if (!point.mono) continue;
      map_.reached_.push_back({plus(*point.mono, point.error), point.jiffies});
      map_.notYet_.push_back({minus(*point.mono, point.error), point.jiffies});
      const s64 boundary = plus(*map_.phase_, inNs(point.jiffies, tick));
      const s64 late = minus(minus(*point.mono, point.error), boundary);
      if (late >= tick) {
        map_.worstLag_ = std::max(map_.worstLag_, static_cast<u64>(late / tick));
      }
    }
    const auto earlier = [](const JiffyMap::Seen& a, const JiffyMap::Seen& b) {
      return a.mono < b.mono;
    };
    std::stable_sort(map_.reached_.begin(), map_.reached_.end(), earlier);
    std::stable_sort(map_.notYet_.begin(), map_.notYet_.end(), earlier);
    u64 most = 0;
    for (JiffyMap::Seen& seen : map_.reached_) most = seen.jiffies = std::max(most, seen.jiffies);
    u64 least = ~u64{0};
    for (auto seen = map_.notYet_.rbegin(); seen != map_.notYet_.rend(); ++seen) {
      least = seen->jiffies = std::min(least, seen->jiffies);
    }
  }

  std::vector<JiffyPoint> points_;
  std::span<const ArmGroup> arms_;
  StampUnit unit_;
  JiffyMap map_;
  Known<double> slope_;
  s64 span_ = 0;
  bool ambiguous_ = false;  // callbacks of several rates could be the tick
  Known<Grid> grid_, contrary_;
};

JiffyMap JiffyMap::fit(std::span<const JiffyPoint> points, std::span<const ArmGroup> arms,
                       StampUnit unit, Known<u8> wordBits) {
  return JiffyFit(points, arms, unit, wordBits).run();
}

u64 JiffyMap::unwrapped(u64 recorded) const {
  if (!wraps_ || recorded > 0xffffffffU) return recorded;
  const auto off = static_cast<s32>(static_cast<u32>(recorded) - static_cast<u32>(reference_));
  return reference_ + static_cast<u64>(static_cast<s64>(off));
}

Known<MonoTime> JiffyMap::monoOf(u64 jiffies) const {
  if (!hz_ || !phase_) return {};
  const u64 whole = unwrapped(jiffies);
  if (whole > largestJiffies) return {};
  return MonoTime{plus(*phase_, inNs(whole, tickNs(hz_->hz)))};
}

Known<JiffyMap::Range> JiffyMap::at(MonoTime t) const {
  if (!hz_ || !phase_) return {};
  const s64 due = floorDiv(minus(t.value, *phase_), tickNs(hz_->hz));
  if (due < 0) return {};
  Range range{static_cast<u64>(due), static_cast<u64>(due)};
  // Jiffies never run ahead of their boundary, but lag as far behind as the readings around allow.
  const auto after = std::partition_point(notYet_.begin(), notYet_.end(),
                                          [&](const Seen& s) { return s.mono < t.value; });
  if (after != notYet_.end()) range.latest = std::min(range.latest, after->jiffies);
  const auto next = std::partition_point(reached_.begin(), reached_.end(),
                                         [&](const Seen& s) { return s.mono <= t.value; });
  range.earliest = next == reached_.begin() ? range.latest - std::min(range.latest, worstLag_)
                                            : std::min(range.latest, std::prev(next)->jiffies);
  return range;
}

}  // namespace tickscope
