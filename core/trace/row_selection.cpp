// SPDX-License-Identifier: GPL-3.0-or-later
// Bounds of time become bounds of rows where time never steps back.
#include "core/trace/row_selection.h"

#include <algorithm>

namespace tickscope {

void RowSelection::fromTime(u64 time) {
  if (!store_->backwardSteps().empty()) {
    fromTime_ = std::max(fromTime_, time);
    checkTime_ = true;
    return;
  }
  from_ = std::max(from_, store_->lowerBound({static_cast<s64>(time)}));
}

void RowSelection::toTime(u64 time) {
  if (!store_->backwardSteps().empty()) {
    toTime_ = std::min(toTime_, time);
    checkTime_ = true;
    return;
  }
  to_ = std::min(to_, store_->lowerBound({static_cast<s64>(time)}));
}

void RowSelection::onlyCpus(std::span<const u32> cpus) {
  const bool first = streams_.empty();
  streams_.resize(store_->streams().size(), 1);
  for (std::size_t s = 0; s < streams_.size(); ++s) {
    const u32 cpu = number(store_->streams()[s].cpu);
    streams_[s] = (first || streams_[s]) && std::binary_search(cpus.begin(), cpus.end(), cpu);
  }
}

bool RowSelection::hasCpu(Cpu cpu) const {
  if (streams_.empty()) return true;
  for (std::size_t s = 0; s < streams_.size(); ++s) {
    if (store_->streams()[s].cpu == cpu && streams_[s]) return true;
  }
  return false;
}

}  // namespace tickscope
