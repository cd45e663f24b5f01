// SPDX-License-Identifier: GPL-3.0-or-later
// When wheel bases were run, with what jiffies, and what the tick was armed for.
#pragma once

#include <algorithm>
#include <vector>

#include "core/findings/material.h"
#include "core/model/wheel_geometry.h"

namespace tickscope {

class WheelRuns {
 public:
  /// A TIMER softirq that was seen to begin and to end.
  struct Run {
    Row entry, exit;
    Known<u64> surely;  ///< jiffies that an event had printed when it began; empty: none had
    u32 bracket;        ///< in CpuBrackets::nested
  };
  struct OfCpu {
    Cpu cpu{};
    std::vector<Run> runs;  ///< by entry
  };

  WheelRuns() = default;
  WheelRuns(const Material& material, const WheelGeometry& geometry);

  [[nodiscard]] bool empty() const { return empty_; }
  [[nodiscard]] const std::vector<OfCpu>& cpus() const { return cpus_; }
  /// The latest jiffies that an event of any CPU printed at or before a row.
  [[nodiscard]] Known<u64> printedBefore(Row row) const;
  /// The earliest jiffies that an event of any CPU printed at or after a row.
  [[nodiscard]] Known<u64> printedAfter(Row row) const;
  /// What the tick's hrtimer of a CPU was armed for behind that row (ns mono); empty: it was not, or not known.
  [[nodiscard]] Known<MonoTime> tickArmedFor(Cpu cpu, Row row) const;

  /// Calls f for the runs of a CPU that begin behind `from` and before `to`, until it returns false.
  template <class F>
  void forEach(Cpu cpu, Row from, Row to, F&& f) const {
    const auto found = std::ranges::find(cpus_, cpu, &OfCpu::cpu);
    if (found == cpus_.end()) return;
    for (auto at = std::ranges::upper_bound(found->runs, from, {}, &Run::entry);
         at != found->runs.end() && at->entry < to; ++at) {
      if (!f(*at)) return;
    }
  }

 private:
  struct Printed {
    Row row;
    u64 jiffies;
  };
  struct Tick {
    Cpu cpu;
    Row armed, ended;
    MonoTime expires;
  };
  std::vector<Printed> printed_;  // ascending in both
  std::vector<OfCpu> cpus_;
  std::vector<Tick> ticks_;  // by CPU, then by arm
  bool empty_ = true;
};

}  // namespace tickscope
