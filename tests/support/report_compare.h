// SPDX-License-Identifier: GPL-3.0-or-later
// Compares an imported recording with `trace-cmd report -R -t` of the same file, event by event.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/trace/recording.h"

namespace tickscope::support {

struct ReportComparison {
  u64 events = 0, fields = 0, losses = 0;
  std::vector<std::string> differences;   ///< the first few, in words
  std::map<std::string, u64> exceptions;  ///< rules that were used, with how often
};

/// `path` is the file that `recording` was imported from. The only differences that pass are rules in the code, each
/// with its reason.
ReportComparison compareWithReport(const std::string& path, const Recording& recording);

}  // namespace tickscope::support
