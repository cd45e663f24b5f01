// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the reference model in tests, and says its figures in a line.
#pragma once

#include <array>
#include <map>
#include <string>

#include "core/analysis.h"

namespace tickscope::support {

/// The main buffer's analysis. Throws std::runtime_error when it cannot be made.
Analysis analysed(std::shared_ptr<const Recording>, const ProfileOverrides& overrides = {});
Analysis analysedFile(const std::string& path);

/// How many discrepancies of each kind there are, kinds without any left out. Warm-up does not count.
std::map<DiscrepancyKind, u64> discrepancyCounts(const ReplayTables&);
/// "X07:20 X08:1", "none".
std::string textOf(const std::map<DiscrepancyKind, u64>&);
/// The first `limit` discrepancies, a line each: kind, row, CPU, time, what model and trace say.
std::string discrepancyLines(const Analysis&, std::size_t limit = 12);
/// "held/judged/all".
std::string textOf(const Ratio&);
/// All ratios of a replay in a line.
std::string textOf(const CheckRatios&);

}  // namespace tickscope::support
