// SPDX-License-Identifier: GPL-3.0-or-later
// What wheel timers asked for against what they got: by the wheel alone, and in the end.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>

#include "core/base/table.h"
#include "core/model/kernel_profile.h"
#include "core/model/replay_tables.h"
#include "core/stats/histogram.h"
#include "core/trace/event_store.h"

namespace tickscope {

/// Ratios of jiffies got to jiffies asked for; mergeable. Percentiles within 3 %, the rest exact.
class RatioStats {
 public:
  /// `late`: behind what was asked for, in ns; empty: HZ is not known.
  void add(s64 got, s64 asked, Known<s64> late);
  /// hrtimers have no ratio.
  void addLate(s64 late);
  void merge(const RatioStats& other);

  [[nodiscard]] u64 count() const { return count_; }
  [[nodiscard]] Known<double> greatest() const;
  [[nodiscard]] Known<double> mean() const;
  /// Of the whole population.
  [[nodiscard]] Known<double> deviation() const;
  [[nodiscard]] Known<double> percentile(double share) const;
  [[nodiscard]] Known<s64> latestNs() const { return latest_; }

 private:
  u64 count_ = 0, ratios_ = 0;
  double sum_ = 0, squares_ = 0, greatest_ = 0;
  Histogram thousandths_;
  Known<s64> latest_;
};

/// assigned: to the bucket that the wheel chose; achieved: to the expiry. Bucket unknown: in achieved only.
struct LatencyStats {
  RatioStats achieved, assigned;
  void merge(const LatencyStats& other);
};

/// Arms and what became of them in one level of one kind of base.
struct LevelStats {
  u64 arms = 0, expiries = 0;
  s64 worstExcess = 0;  ///< jiffies by which a bucket lies behind that of clk = jiffies
  LatencyStats latency;
  void merge(const LevelStats& other);
};

/// Non-deferrable wheel timers whose arm and expiry are both recorded. Levels count deferrable arms too.
struct LatencyTable {
  LatencyStats all;
  std::map<u8, LatencyStats> byLevel;
  std::map<Address, LatencyStats> byCallback;
  std::map<Cpu, LatencyStats> byCpu;  ///< on which they ran
  std::map<std::pair<WheelBaseKind, u8>, LevelStats> levels;
  std::map<Address, RatioStats> hrtimers;  ///< by callback; late only, of the pass that ran them
  void merge(const LatencyTable& other);
};

/// Of spans that are armed in from <= row < to.
LatencyTable latencyOf(const EventStore& events, const ReplayTables& tables,
                       const KernelProfile& profile, Row from = Row{0}, Row to = noRow);

enum class Requested : u8 { Assigned, Achieved };
/// Which rows: all and levels only, or those of callbacks and CPUs too.
enum class LatencyRows : u8 { Levels, All };
/// n, max, avg, std, p50, p99 and the latest in ms. Averages of fewer than 5 and percentiles of fewer than 20 (p99: 200)
/// are left open. `name` gives a callback's name.
Table latencyTable(const LatencyTable& latency, Requested what, LatencyRows rows,
                   const std::function<std::string(Address)>& name);
/// Levels 0..8 of each base with arms, expiries, granule, worst excess and both ratios.
Table levelTable(const LatencyTable& latency, u8 wheelBases);
/// hrtimers by callback: n and the latest in ms.
Table hrtimerLatencyTable(const LatencyTable& latency,
                          const std::function<std::string(Address)>& name);

}  // namespace tickscope
