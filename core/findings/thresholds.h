// SPDX-License-Identifier: GPL-3.0-or-later
// The limits that findings are judged by: data with name, default, unit and reason, changed with --set.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "core/base/quantity.h"
#include "core/base/result.h"

namespace tickscope {

enum class LimitUnit : u8 { Count, Time, Ticks, WheelTime, Share, PerSecond, Ppm, Ratio };

/// Names a threshold; its place in thresholdInfos.
enum class Limit : u8 {
  MinInstances,
  MinOpportunities,
  Show,
  ShowS1,
  Silence,
  StormWindow,
  StormWakes,
  StormIdle,
  StormChance,
  StormGridShare,
  StormGridTolerance,
  TickwakeShare,
  TickwakeTicks,
  LostGrace,
  BaseFactor,
  StallHr,
  SoftstaleRun,
  SoftstaleGap,
  DoubleShare,
  DoubleCost,
  RearmRate,
  RearmExpired,
  RearmRatio,
  StaleExcess,
  StaleRatio,
  StaleS1Ratio,
  StaleS1Jiffies,
  LateHard,
  LateSoft,
  LateWheel,
  CallbackHard,
  CallbackTick,
  CallbackSoft,
  BurstCallbacks,
  BurstTime,
  RtDelay,
  IdleRate,
  SpuriousShare,
  SpuriousRate,
  SpuriousRun,
  IsolationDisturb,
  MigrationFlip,
  MigrationRate,
  MigrationLoop,
  StarveTicks,
  StarveS2Ticks,
  JiffyTicks,
  StepLeast,
  DriftPpm,
  DriftMiss,
  SlackShare,
};
inline constexpr std::size_t limitCount = static_cast<std::size_t>(Limit::SlackShare) + 1;

struct ThresholdInfo {
  std::string_view name;  ///< "storm.window"
  double value;           ///< the default, in ns for LimitUnit::Time, as a fraction for Share
  LimitUnit unit;
  bool scales;  ///< a limit of time that follows the machine's baseline
  std::string_view why;
};
extern const std::array<ThresholdInfo, limitCount> thresholdInfos;

class Thresholds {
 public:
  Thresholds();

  [[nodiscard]] double operator[](Limit limit) const { return values_[static_cast<u8>(limit)]; }
  [[nodiscard]] s64 ns(Limit limit) const { return static_cast<s64>((*this)[limit]); }
  [[nodiscard]] u64 count(Limit limit) const { return static_cast<u64>((*this)[limit]); }

  /// `NAME=VALUE` as --set takes it; a figure without unit has that of the default. Error: Usage, which names the
  /// threshold, or the names that there are.
  Result<void> set(std::string_view assignment);
  [[nodiscard]] bool isDefault(Limit limit) const {
    return (*this)[limit] == thresholdInfos[static_cast<u8>(limit)].value;
  }
  bool operator==(const Thresholds&) const = default;

 private:
  std::array<double, limitCount> values_;
};

/// "200 us", "0.5 ticks", "5 %", "1e-06": with its unit, as --set takes it back.
std::string limitText(LimitUnit unit, double value);

}  // namespace tickscope
