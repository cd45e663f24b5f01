// SPDX-License-Identifier: GPL-3.0-or-later
// Findings as text for a terminal: a listing, and one finding with its arithmetic.
#pragma once

#include <string>

#include "core/analysis.h"

namespace tickscope {

/// Findings by number, then what was judged without one, then what was not judged.
std::string findingsText(const Analysis& analysis, const Findings& findings);
/// The finding of that number (from 1) with evidence, counter-evidence, tables and the steps of its confidence. Weak
/// findings count on behind the others. Error: Usage when there is none.
Result<std::string> explainedText(const Analysis& analysis, const Findings& findings, u32 index);
/// All thresholds: name, value, default where it differs, reason.
std::string thresholdsText(const Thresholds& thresholds);

/// A table in columns, `indent` blanks before each line.
std::string tableText(const Table& table, std::size_t indent);

}  // namespace tickscope
