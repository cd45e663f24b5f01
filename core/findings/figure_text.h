// SPDX-License-Identifier: GPL-3.0-or-later
// Figures of prose: at most four significant digits, with their unit.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/table.h"

namespace tickscope {

/// "812 ns", "1.4 us", "31.2 ms", "-3 us", "2.5 s".
inline std::string nsWords(s64 ns) {
  const double magnitude = std::abs(static_cast<double>(ns));
  const double sign = ns < 0 ? -1 : 1;
  // 999,950 would be printed as "1000 us".
  if (magnitude < 999.95) return fmt::format("{} ns", ns);
  if (magnitude < 999.95e3) return fmt::format("{:.4g} us", sign * magnitude / 1e3);
  if (magnitude < 999.95e6) return fmt::format("{:.4g} ms", sign * magnitude / 1e6);
  return fmt::format("{:.4g} s", sign * magnitude / 1e9);
}

/// "1 time", "3 times": a count with its noun.
inline std::string countWords(u64 count, std::string_view one, std::string_view more) {
  return fmt::format("{} {}", count, count == 1 ? one : more);
}

/// "CPU2", "4 CPUs".
inline std::string cpuWords(const std::vector<Cpu>& cpus) {
  if (cpus.size() == 1) return fmt::format("CPU{}", number(cpus.front()));
  return fmt::format("{} CPUs", cpus.size());
}

/// For tables: us with a decimal.
inline Figure usFigure(Known<s64> ns) {
  return Figure{static_cast<double>(ns.value_or(0)) / 1e3, 1};
}

}  // namespace tickscope
