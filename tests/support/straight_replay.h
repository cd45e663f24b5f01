// SPDX-License-Identifier: GPL-3.0-or-later
// Compares the state that the tables of an analysis give with that of a replay which goes row by row.
#pragma once

#include <string>

#include "core/analysis.h"

namespace tickscope::support {

struct StateComparison {
  u32 rows = 0;          ///< that were compared
  u32 differing = 0;     ///< of them
  u32 seededTimers = 0;  ///< timers known from a dump only, summed over these rows
  std::string first;     ///< the first differences, of at most four rows
};

/// stateAt() of `rows` rows at least, all those about checkpoints and the first and the last among them, against the
/// live state of a straight replay of what was analysed. Blind spots are left out: they are known at the end only.
StateComparison compareStates(const Analysis& analysis, unsigned seed, u32 rows);

}  // namespace tickscope::support
