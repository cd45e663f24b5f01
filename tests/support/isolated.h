// SPDX-License-Identifier: GPL-3.0-or-later
// Runs code in a process of its own, so that a crash, a hang or greed is a result and not the end of the tests.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/quantity.h"

namespace tickscope::support {

/// Built with a sanitizer: memory cannot be limited, and everything takes longer.
bool underSanitizer();

struct Outcome {
  bool ended = false;  ///< returned by itself
  std::string how;     ///< in words, when it did not: the signal
  std::string output;  ///< what the code returned
  u64 peakBytes = 0;   ///< resident; includes what the parent had
};

struct Limits {
  unsigned cpuSeconds = 2;           ///< of one case; ten times as much under a sanitizer
  u64 addressSpace = u64{1} << 30U;  ///< not under a sanitizer
};

/// `work` returns text for the parent.
Outcome isolated(const std::function<std::string()>& work, const Limits& limits = {});

/// Calls one(i) for i in [0, count) in one process, each under the limit of CPU time; text that is not empty is a
/// failure of that case. `describe(i)` names a case in messages. Returns all failures, crashes among them: after a
/// crash the rest goes on in a new process. At most `mostFailures`.
std::vector<std::string> isolatedCases(u64 count, const std::function<std::string(u64)>& one,
                                       const std::function<std::string(u64)>& describe,
                                       const Limits& limits = {}, std::size_t mostFailures = 10);

}  // namespace tickscope::support
