// SPDX-License-Identifier: GPL-3.0-or-later
// Fits a grid to times.
#include "core/findings/time_grid.h"

#include <algorithm>

namespace tickscope {

namespace {

s64 modulo(s64 value, s64 period) {
  const s64 rest = value % period;
  return rest < 0 ? rest + period : rest;
}

/// How many lie within the tolerance of k * period + phase, at most one a k.
u64 countOn(const std::vector<s64>& times, s64 period, s64 phase, s64 tolerance) {
  u64 on = 0;
  for (const s64 time : times) {
    const s64 rest = modulo(time - phase + tolerance, period);
    on += rest <= 2 * tolerance;
  }
  return on;
}

/// The difference that most differences lie near of.
s64 mostCommon(std::vector<s64> differences, s64 tolerance) {
  std::ranges::sort(differences);
  std::size_t from = 0, best = 0, bestFrom = 0;
  for (std::size_t to = 0; to < differences.size(); ++to) {
    while (differences[to] - differences[from] > 2 * tolerance) ++from;
    if (to - from + 1 > best) {
      best = to - from + 1;
      bestFrom = from;
    }
  }
  return differences[bestFrom + best / 2];
}

}  // namespace

Known<TimeGrid> gridOf(const std::vector<s64>& times, s64 tolerance, double share, u64 least) {
  if (times.size() < std::max<u64>(least, 3)) return {};
  std::vector<s64> differences;
  for (std::size_t i = 1; i < times.size(); ++i) {
    if (times[i] > times[i - 1]) differences.push_back(times[i] - times[i - 1]);
  }
  if (differences.size() < 2) return {};
  const s64 common = mostCommon(std::move(differences), tolerance);
  for (const s64 part : {1, 2, 5, 10}) {
    const s64 guess = common / part;
    // Nearly all times lie on a grid that is as fine as the tolerance.
    if (guess < 10 * tolerance) break;
    // Over the whole length a small error of the period adds up: the number of periods is known, the length too.
    const s64 length = times.back() - times.front();
    const s64 periods = (length + guess / 2) / guess;
    for (const s64 period : {guess, periods > 0 ? length / periods : guess}) {
      for (const std::size_t at : {std::size_t{0}, times.size() / 2, times.size() - 1}) {
        const s64 phase = modulo(times[at], period);
        const u64 on = countOn(times, period, phase, tolerance);
        if (static_cast<double>(on) >= share * static_cast<double>(times.size())) {
          return TimeGrid{period, phase, on};
        }
      }
    }
  }
  return {};
}

}  // namespace tickscope
