// SPDX-License-Identifier: GPL-3.0-or-later
// The options of commands that judge.
#pragma once

#include <string>
#include <vector>

#include "app/options.h"
#include "core/findings/finding.h"

namespace CLI {
class App;
}

namespace tickscope {

struct FindingOptions {
  std::vector<std::string> sets;  ///< NAME=VALUE of thresholds
  std::string only;               ///< "F06,F14a"; empty: all
  std::string leastSeverity;      ///< "S2"; empty: all
  Thresholds thresholds;          ///< filled by readFindingOptions()
};

/// Adds --set, and with `filters` --only and --min-severity. `options` must outlive `app`.
void addFindingOptions(CLI::App& app, FindingOptions& options, bool filters);
/// Error: Usage for thresholds, findings and severities that do not exist.
Result<void> readFindingOptions(FindingOptions& options);

/// "S2". Error: Usage.
Result<Grade> readGrade(std::string_view option, std::string_view text);
/// What --only and --min-severity leave; what was and was not judged of other findings goes too.
void narrow(Findings& findings, const FindingOptions& options);
/// Threads that the options ask for.
int threadsOf(const CommonOptions& options);

}  // namespace tickscope
