// SPDX-License-Identifier: GPL-3.0-or-later
// Step lines.
#include "core/model/replay_tables.h"

#include <algorithm>

namespace tickscope {

void StepLine::change(Row row, s64 stored) {
  last_ = stored;
  if (!rows_.empty() && rows_.back() == row) {
    values_.back() = stored;
    if (values_.size() > 1 && values_[values_.size() - 2] == stored) {
      values_.pop_back();
      rows_.pop_back();
    }
    return;
  }
  rows_.push_back(row);
  values_.push_back(stored);
}

Known<s64> StepLine::at(Row row) const {
  const auto after = std::ranges::upper_bound(rows_, row);
  if (after == rows_.begin()) return {};
  const s64 value = values_[static_cast<std::size_t>(after - rows_.begin()) - 1];
  if (value == unknown) return {};
  return value;
}

Row StepLine::nextChange(Row row) const {
  const auto after = std::ranges::upper_bound(rows_, row);
  return after == rows_.end() ? noRow : *after;
}

Row StepLine::previousChange(Row row) const {
  const auto at = std::ranges::lower_bound(rows_, row);
  return at == rows_.begin() ? noRow : *(at - 1);
}

void ReplayTables::trim() {
  endOrder.shrink_to_fit();
  operations.shrink_to_fit();
  timers.shrink_to_fit();
  spans.shrink_to_fit();
  beforeRecording.shrink_to_fit();
  discrepancies.shrink_to_fit();
  blindSpots.shrink_to_fit();
  checkpoints.shrink_to_fit();
  openSpans.shrink_to_fit();
  for (CpuLines& cpu : cpus) {
    for (std::size_t i = 0; i < wheelBaseCount; ++i) {
      cpu.clk[i].trim();
      cpu.nextExpiry[i].trim();
    }
    for (StepLine* line :
         {&cpu.expiresNext, &cpu.softirqExpiresNext, &cpu.programmed, &cpu.context, &cpu.timers}) {
      line->trim();
    }
  }
}

}  // namespace tickscope
