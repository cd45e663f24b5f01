// SPDX-License-Identifier: GPL-3.0-or-later
// What benchmarks of the analysis share: CPU time, peak memory, lines with goals, the recording asked for.
#pragma once

#include <fmt/format.h>
#include <sys/resource.h>

#include <string>
#include <string_view>

#include "core/base/quantity.h"
#include "tests/support/recordings.h"

namespace tickscope::bench {

/// User and system time of the process, all threads.
inline double cpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// The most memory that the process has held, MiB.
inline double peakMib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

inline double mib(u64 bytes) { return static_cast<double>(bytes) / (1 << 20); }

inline void printGoal(std::string_view what, double value, bool isMost, double goal) {
  const bool isReached = isMost ? value <= goal : value >= goal;
  fmt::print("  {:<52} {:8.2f}   goal {} {:g}  {}\n", what, value, isMost ? "<=" : ">=", goal,
             isReached ? "reached" : "MISSED");
}

/// The one argument, or 20-big.dat of the full set, or the sample; empty: neither, or more arguments.
inline std::string recordingAsked(int count, char** words) {
  if (count > 2) return {};
  if (count == 2) return words[1];
  for (const char* name : {"20-big.dat", "02-ncm-double.dat"}) {
    if (const auto path = support::recording(name)) return *path;
  }
  return {};
}

}  // namespace tickscope::bench
