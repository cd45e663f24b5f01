// SPDX-License-Identifier: GPL-3.0-or-later
// Whether times lie on a grid: a period and a phase.
#pragma once

#include <vector>

#include "core/base/quantity.h"

namespace tickscope {

struct TimeGrid {
  s64 period = 0, phase = 0;  ///< ns; 0 <= phase < period
  u64 on = 0;                 ///< how many of the times lie on it
};

/// The widest grid that holds `share` of the ascending times within `tolerance` ns: the most common difference of
/// neighbours, or a half, fifth or tenth of it. Empty: none does, or there are fewer than `least` times.
Known<TimeGrid> gridOf(const std::vector<s64>& times, s64 tolerance, double share, u64 least);

}  // namespace tickscope
