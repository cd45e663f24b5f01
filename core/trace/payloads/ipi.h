// SPDX-License-Identifier: GPL-3.0-or-later
// Inter-processor interrupts and cross calls.
#pragma once

#include "core/trace/field_list.h"

namespace tickscope {

/// arm, arm64; reason is an address of a kernel string.
struct IpiRaise {
  static constexpr std::string_view event = "ipi_raise", eventAlias = "";
  StringId targetCpus{};
  Address reason{};
  using Fields =
      FieldList<Field<"target_cpus", &IpiRaise::targetCpus>, Field<"reason", &IpiRaise::reason>>;
};
struct IpiEntry {
  static constexpr std::string_view event = "ipi_entry", eventAlias = "";
  Address reason{};
  using Fields = FieldList<Field<"reason", &IpiEntry::reason>>;
};
struct IpiExit {
  static constexpr std::string_view event = "ipi_exit", eventAlias = "";
  Address reason{};
  using Fields = FieldList<Field<"reason", &IpiExit::reason>>;
};
/// Just before the IPI (6.4).
struct IpiSendCpu {
  static constexpr std::string_view event = "ipi_send_cpu", eventAlias = "";
  u32 cpu{};
  Address callsite{};
  Address callback{};
  using Fields = FieldList<Field<"cpu", &IpiSendCpu::cpu>, Field<"callsite", &IpiSendCpu::callsite>,
                           Field<"callback", &IpiSendCpu::callback>>;
};
struct IpiSendCpumask {
  static constexpr std::string_view event = "ipi_send_cpumask", eventAlias = "";
  StringId cpumask{};
  Address callsite{};
  Address callback{};
  using Fields = FieldList<Field<"cpumask", &IpiSendCpumask::cpumask>,
                           Field<"callsite", &IpiSendCpumask::callsite>,
                           Field<"callback", &IpiSendCpumask::callback>>;
};
/// Also when no IPI is needed (6.5).
struct CsdQueueCpu {
  static constexpr std::string_view event = "csd_queue_cpu", eventAlias = "";
  u32 cpu{};
  Address callsite{};
  Address func{};
  Address csd{};
  using Fields =
      FieldList<Field<"cpu", &CsdQueueCpu::cpu>, Field<"callsite", &CsdQueueCpu::callsite>,
                Field<"func", &CsdQueueCpu::func>, Field<"csd", &CsdQueueCpu::csd>>;
};
struct CsdFunctionEntry {
  static constexpr std::string_view event = "csd_function_entry", eventAlias = "";
  Address func{};
  Address csd{};
  using Fields =
      FieldList<Field<"func", &CsdFunctionEntry::func>, Field<"csd", &CsdFunctionEntry::csd>>;
};
struct CsdFunctionExit {
  static constexpr std::string_view event = "csd_function_exit", eventAlias = "";
  Address func{};
  Address csd{};
  using Fields =
      FieldList<Field<"func", &CsdFunctionExit::func>, Field<"csd", &CsdFunctionExit::csd>>;
};

}  // namespace tickscope
