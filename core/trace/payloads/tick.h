// SPDX-License-Identifier: GPL-3.0-or-later
// Tick, idle and frequency.
#pragma once

#include "core/trace/field_list.h"

namespace tickscope {

/// Success 0: nohz_full only, the dependency that keeps the tick.
struct TickStop {
  static constexpr std::string_view event = "tick_stop", eventAlias = "";
  s32 success{};
  s32 dependency{};
  using Fields =
      FieldList<Field<"success", &TickStop::success>, Field<"dependency", &TickStop::dependency>>;
};
/// State 4294967295: exit.
struct CpuIdle {
  static constexpr std::string_view event = "cpu_idle", eventAlias = "";
  u32 state{};
  u32 cpuId{};
  using Fields = FieldList<Field<"state", &CpuIdle::state>, Field<"cpu_id", &CpuIdle::cpuId>>;
};
/// The state was too deep or too shallow.
struct CpuIdleMiss {
  static constexpr std::string_view event = "cpu_idle_miss", eventAlias = "";
  u32 cpuId{};
  u32 state{};
  bool below{};
  using Fields =
      FieldList<Field<"cpu_id", &CpuIdleMiss::cpuId>, Field<"state", &CpuIdleMiss::state>,
                Field<"below", &CpuIdleMiss::below>>;
};
/// KHz.
struct CpuFrequency {
  static constexpr std::string_view event = "cpu_frequency", eventAlias = "";
  u32 state{};
  u32 cpuId{};
  using Fields =
      FieldList<Field<"state", &CpuFrequency::state>, Field<"cpu_id", &CpuFrequency::cpuId>>;
};
/// Action is an address of a kernel string.
struct SuspendResume {
  static constexpr std::string_view event = "suspend_resume", eventAlias = "";
  Address action{};
  s32 val{};
  bool start{};
  using Fields =
      FieldList<Field<"action", &SuspendResume::action>, Field<"val", &SuspendResume::val>,
                Field<"start", &SuspendResume::start>>;
};

}  // namespace tickscope
