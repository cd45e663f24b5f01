// SPDX-License-Identifier: GPL-3.0-or-later
// Look-ups in the event store.
#include "core/trace/event_store.h"

#include <algorithm>

namespace tickscope {

std::span<const Row> EventStore::rowsOf(Cpu cpu) const {
  for (u32 s = 0; s < streams_.size(); ++s) {
    if (streams_[s].cpu == cpu) return rowsOfStream(s);
  }
  return {};
}

u32 EventStore::lowerBound(TraceTime t) const {
  u32 low = 0;
  u32 high = size();
  while (low < high) {
    const u32 middle = low + (high - low) / 2;
    if (static_cast<u64>(time(static_cast<Row>(middle)).value) < static_cast<u64>(t.value)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

Known<TraceTime> EventStore::firstPossible(EventKind kind) const {
  bool recorded = false;
  for (u16 type = 0; type < types_.size(); ++type) {
    if (kinds_[type] != kind) continue;
    for (u32 s = 0; s < streams_.size(); ++s) recorded = recorded || count(type, s);
  }
  if (!recorded) return {};
  Known<TraceTime> begin;
  for (u32 s = 0; s < streams_.size(); ++s) {
    if (!streams_[s].count) continue;
    const TraceTime first = time(rowsOfStream(s).front());
    if (!begin || first > *begin) begin = first;
  }
  return begin;
}

u64 EventStore::bytes() const {
  u64 sum = order_.size() * sizeof(u32) + rowOf_.size() * sizeof(Row);
  sum += groups_.capacity() * (sizeof(EventGroup*) + sizeof(u32) + sizeof(u16));
  sum += losses_.capacity() * sizeof(Loss) + backward_.capacity() * sizeof(BackwardStep);
  sum += counts_.capacity() * sizeof(u32) + taskComm_.capacity() * sizeof(StringId);
  for (const auto& arena : arenas_) sum += arena->bytes();
  if (pools_) sum += pools_->addresses.bytes() + pools_->strings.bytes() + pools_->tasks.bytes();
  return sum;
}

}  // namespace tickscope
