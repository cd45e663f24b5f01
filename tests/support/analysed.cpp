// SPDX-License-Identifier: GPL-3.0-or-later
// Runs of the reference model for tests.
#include "tests/support/analysed.h"

#include <fmt/format.h>

#include <stdexcept>

#include "tests/support/imported.h"

namespace tickscope::support {

Analysis analysed(std::shared_ptr<const Recording> recording, const ProfileOverrides& overrides) {
  Progress progress;
  AnalysisOptions options;
  options.buffer = recording->mainBuffer();
  options.overrides = overrides;
  const std::string path = recording->path;
  auto made = analyse(std::move(recording), options, progress);
  if (!made) throw std::runtime_error(path + ": " + describe(made.error()));
  return std::move(*made);
}

Analysis analysedFile(const std::string& path) {
  return analysed(std::make_shared<const Recording>(imported(path)));
}

std::map<DiscrepancyKind, u64> discrepancyCounts(const ReplayTables& tables) {
  std::map<DiscrepancyKind, u64> counts;
  for (const Discrepancy& discrepancy : tables.discrepancies) ++counts[discrepancy.kind];
  return counts;
}

std::string textOf(const std::map<DiscrepancyKind, u64>& counts) {
  std::string text;
  for (const auto& [kind, count] : counts) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", codeOf(kind), count);
  }
  return text.empty() ? "none" : text;
}

std::string discrepancyLines(const Analysis& analysis, std::size_t limit) {
  const auto value = [](Known<s64> known) {
    return known ? fmt::format("{}", *known) : std::string("?");
  };
  std::string text;
  for (const Discrepancy& found : analysis.tables.discrepancies) {
    if (limit-- == 0) return text + "    ...\n";
    const u64 address =
        found.timer ? number(analysis.tables.timers[number(*found.timer)].address) : 0;
    text +=
        fmt::format("    {} row {} time {} cpu {} timer {:x} model {} trace {}\n",
                    codeOf(found.kind), number(found.at), analysis.events().time(found.at).value,
                    number(found.cpu), address, value(found.model), value(found.trace));
  }
  return text;
}

std::string textOf(const Ratio& ratio) {
  return fmt::format("{}/{}/{}", ratio.held, ratio.judged, ratio.all);
}

std::string textOf(const CheckRatios& ratios) {
  return fmt::format(
      "index {} bucket {} clk {} calls {} as observed {} was_armed {} soft {} arms {} expiries {} "
      "matched {}",
      textOf(ratios.wheelIndex), textOf(ratios.bucketExpiry), textOf(ratios.baseClk),
      textOf(ratios.programming), textOf(ratios.asObserved), textOf(ratios.wasArmed),
      textOf(ratios.softExpires), textOf(ratios.arms), textOf(ratios.expiries),
      textOf(ratios.matched));
}

}  // namespace tickscope::support
