// SPDX-License-Identifier: GPL-3.0-or-later
// Which rows of a buffer are looked at: a range of time or rows, and some of its CPUs.
#pragma once

#include <vector>

#include "core/trace/event_store.h"

namespace tickscope {

/// All rows, unless narrowed.
class RowSelection {
 public:
  explicit RowSelection(const EventStore& store) : store_(&store), to_(store.size()) {}

  /// Only rows at or after / before that time; compared as unsigned numbers, as the kernel stamps
  /// them.
  void fromTime(u64 time);
  void toTime(u64 time);
  void fromRow(u32 row) { from_ = std::max(from_, std::min(row, store_->size())); }
  void toRow(u32 row) { to_ = std::min(to_, row); }
  /// Only streams of these CPUs, sorted.
  void onlyCpus(std::span<const u32> cpus);

  /// Rows outside of [from(), to()) are not selected; inside only those for which has() holds.
  [[nodiscard]] u32 from() const { return std::min(from_, to_); }
  [[nodiscard]] u32 to() const { return to_; }
  [[nodiscard]] bool has(Row row) const {
    if (!streams_.empty() && !streams_[store_->streamOf(row)]) return false;
    if (!checkTime_) return true;
    const auto time = static_cast<u64>(store_->time(row).value);
    return time >= fromTime_ && time < toTime_;
  }
  [[nodiscard]] bool hasCpu(Cpu cpu) const;
  /// Every row of the buffer is selected.
  [[nodiscard]] bool everything() const {
    return from_ == 0 && to_ == store_->size() && streams_.empty() && !checkTime_;
  }
  /// Calls f(Row) for each selected row in order, until it returns false.
  template <class F>
  void forEach(F&& f) const {
    for (u32 row = from(); row < to_; ++row) {
      if (has(Row{row}) && !f(Row{row})) return;
    }
  }

 private:
  const EventStore* store_;
  u32 from_ = 0, to_;
  u64 fromTime_ = 0, toTime_ = ~u64{0};
  bool checkTime_ = false;   // rows are not strictly ordered by time: each one is looked at
  std::vector<u8> streams_;  // empty: all
};

}  // namespace tickscope
